#include "harness/tune/knowledge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

void kf_knowledge_open(kf_knowledge *knowledge, const kf_problem *problem, const kf_device_info *device,
                       kf_store *store, const kf_space *space, kf_strategy *strategy) {
    kf_roofs roofs = {.count = 0};
    *knowledge = (kf_knowledge){.model = NULL};
    /* The model counts the limits of a GPU. On the cpu the compiler's treatment of a loop matters more. */
    if (!kf_device_is_gpu(device)) return;
    if (kf_store_roofs(store, device->identity, &roofs, NULL) != KF_OK) roofs.count = 0;
    kf_cost_model_open(problem, device, roofs.count > 0 ? &roofs : NULL, &knowledge->model);
    if (!kf_cost_model_leads(knowledge->model)) return;
    knowledge->prior = (kf_cost_prior){knowledge->model, space};
    kf_strategy_set_prior(strategy, &(kf_prior){kf_cost_prior_time, &knowledge->prior});
}

void kf_knowledge_close(kf_knowledge *knowledge) {
    kf_cost_model_close(knowledge->model);
    knowledge->model = NULL;
}

/* --- Similar scenes ------------------------------------------------------------------------------------- */

typedef struct kf_similar_run {
    kf_run_summary run;
    double distance; /* sum of the logarithms of the factors between the extensive facts */
} kf_similar_run;

typedef struct kf_candidates {
    const kf_similar_query *query;
    kf_similar_run *list;
    int count, capacity;
} kf_candidates;

/* Returns the distance between two problems. Each amount is increased by one, so that zero has a logarithm. A
 * run that lacks a fact counts as far away. */
static double distance_to(const kf_similar_query *query, const kf_run_summary *run) {
    const kf_facts *facts = &query->problem->facts;
    double distance = 0;
    for (int i = 0; i < facts->count; i++) {
        const kf_fact *fact = &facts->list[i];
        const double there = kf_facts_value(run->facts, fact->name);
        if (fact->extensive)
            distance += isfinite(there) ? fabs(log((there + 1) / (fact->value + 1))) : INFINITY;
    }
    return distance;
}

/* Returns whether a run's device is this one. Results of a single device also count for a team: "NVIDIA H200"
 * for "2 x NVIDIA H200". */
static bool is_device_of(const kf_device_info *device, const char *name) {
    const char *member = device->parts > 1 ? strstr(device->name, " x ") : NULL;
    return strcmp(name, device->name) == 0 || (member != NULL && strcmp(name, member + 3) == 0);
}

/* Keeps a stored run as a candidate if it has the same system and device, and if its scene is similar enough.
 * The same scene comes first. */
static void look_at_run(void *context, const kf_run_summary *run) {
    kf_candidates *candidates = context;
    const kf_similar_query *query = candidates->query;
    bool same = strcmp(run->scene_hash, query->problem->hash) == 0;
    bool comparable = strcmp(run->system, query->problem->system->name) == 0 &&
                      is_device_of(query->device, run->device) && run->ok > 0 &&
                      strcmp(run->origin, "measured") == 0 && (query->before == 0 || run->id < query->before);
    double distance = same ? -1.0 : distance_to(query, run);
    if (same && strcmp(run->device, query->device->name) == 0) distance = -2.0;
    if (!comparable || distance > log(query->farthest) || isinf(distance)) return;
    if (candidates->count == candidates->capacity) {
        candidates->capacity = candidates->capacity > 0 ? 2 * candidates->capacity : 16;
        candidates->list =
            kf_reallocate(candidates->list, (size_t)candidates->capacity * sizeof *candidates->list);
    }
    candidates->list[candidates->count++] = (kf_similar_run){*run, distance};
}

static int nearest_then_newest(const void *left, const void *right) {
    const kf_similar_run *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return (a->run.id < b->run.id) - (a->run.id > b->run.id);
}

typedef struct kf_best_of_run {
    const kf_space *space;
    kf_similar *similar;
} kf_best_of_run;

static kf_status look_at_result(void *context, int sequence, const char *role, const kf_config *config,
                                const kf_measurement *m, kf_error *error) {
    (void)sequence, (void)role, (void)error;
    const kf_best_of_run *best = context;
    kf_similar *similar = best->similar;
    uint64_t index;
    if (m->state != KF_STATE_OK || (similar->found && m->step_us.median >= similar->time_us) ||
        !kf_space_index(best->space, config, &index, NULL, 0))
        return KF_OK;
    similar->found = true;
    similar->time_us = m->step_us.median;
    similar->updates_per_us = m->updates_per_us;
    similar->config = *config;
    return KF_OK;
}

static kf_status best_of(kf_store *store, const kf_similar_query *query, const kf_similar_run *candidate,
                         kf_similar *similar, kf_error *error) {
    const kf_run_summary *run = &candidate->run;
    kf_best_of_run best = {query->space, similar};
    KF_TRY(kf_store_results(store, run->id, look_at_result, &best, error));
    similar->same_scene = candidate->distance < 0.0;
    kf_copy_text(similar->scene_name, sizeof similar->scene_name, run->scene);
    (void)kf_facts_text(run->facts, similar->facts);
    similar->run = run->id;
    return KF_OK;
}

kf_status kf_knowledge_similar(kf_store *store, const kf_similar_query *query, kf_similar *similar,
                               kf_error *error) {
    kf_candidates candidates = {.query = query};
    memset(similar, 0, sizeof *similar);
    kf_status status = kf_store_runs(store, look_at_run, &candidates, error);
    if (candidates.count > 0)
        qsort(candidates.list, (size_t)candidates.count, sizeof *candidates.list, nearest_then_newest);
    for (int i = 0; i < candidates.count && status == KF_OK && !similar->found; i++)
        status = best_of(store, query, &candidates.list[i], similar, error);
    free(candidates.list);
    return status;
}
