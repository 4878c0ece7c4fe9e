#include "harness/tune/knowledge.h"

#include <math.h>
#include <string.h>

#include "harness/util/text.h"

void kf_knowledge_open(kf_knowledge *knowledge, const kf_system *system, const kf_scene *scene,
                       const kf_device_info *device, kf_store *store, const kf_space *space,
                       kf_strategy *strategy) {
    kf_roofs roofs = {.count = 0};
    *knowledge = (kf_knowledge){.model = NULL};
    /* The model counts what limits a GPU; on the cpu what the compiler makes of a loop counts more. */
    if (strcmp(device->backend, "cuda") != 0) return;
    if (kf_store_roofs(store, device->identity, &roofs, NULL) != KF_OK) roofs.count = 0;
    kf_cost_model_open(system->name, scene, device, roofs.count > 0 ? &roofs : NULL, &knowledge->model);
    if (knowledge->model == NULL) return;
    knowledge->prior = (kf_cost_prior){knowledge->model, space};
    kf_strategy_set_prior(strategy, &(kf_prior){kf_cost_prior_time, &knowledge->prior});
}

void kf_knowledge_close(kf_knowledge *knowledge) {
    kf_cost_model_close(knowledge->model);
    knowledge->model = NULL;
}

/* --- similar scenes ------------------------------------------------------------------------------------- */

/* Factors in nodes and samples between two scenes, as a sum of logarithms; beyond this they are not alike. */
static const double FARTHEST = 1.4; /* a factor of 4 */

typedef struct kf_search_runs {
    const kf_system *system;
    const kf_scene *scene;
    const kf_device_info *device;
    const kf_space *space;
    int64_t nearest; /* 0: none */
    double distance;
    char scene_name[128];
    double best_us; /* of the results seen so far */
    kf_config best;
} kf_search_runs;

static double distance_to(const kf_search_runs *search, const kf_run_summary *run) {
    const int *nodes = search->scene->nodes;
    double here = (double)nodes[0] * nodes[1] * nodes[2];
    double there = (double)run->nodes[0] * run->nodes[1] * run->nodes[2];
    double samples = log(((double)run->samples + 1) / ((double)search->scene->samples.count + 1));
    return fabs(log(there / here)) + fabs(samples);
}

static void look_at_run(void *context, const kf_run_summary *run) {
    kf_search_runs *search = context;
    bool comparable = strcmp(run->system, search->system->name) == 0 &&
                      strcmp(run->device, search->device->name) == 0 && run->ok > 0 &&
                      strcmp(run->origin, "measured") == 0;
    double distance = comparable ? distance_to(search, run) : INFINITY;
    if (strcmp(run->scene_hash, search->scene->hash) == 0) distance = 0;
    if (!comparable || distance > FARTHEST || (search->nearest != 0 && distance >= search->distance)) return;
    search->nearest = run->id;
    search->distance = distance;
    kf_copy_text(search->scene_name, sizeof search->scene_name, run->scene);
}

static kf_status look_at_result(void *context, int sequence, const char *role, const kf_config *config,
                                const kf_measurement *m, kf_error *error) {
    (void)sequence, (void)role, (void)error;
    kf_search_runs *search = context;
    uint64_t index;
    if (m->state != KF_STATE_OK || m->step_us.median >= search->best_us ||
        !kf_space_index(search->space, config, &index, NULL, 0))
        return KF_OK;
    search->best_us = m->step_us.median;
    search->best = *config;
    return KF_OK;
}

kf_status kf_knowledge_similar(kf_store *store, const kf_system *system, const kf_scene *scene,
                               const kf_device_info *device, const kf_space *space, kf_config *config,
                               char scene_name[128], bool *found, kf_error *error) {
    kf_search_runs search = {
        .system = system, .scene = scene, .device = device, .space = space, .best_us = INFINITY};
    *found = false;
    KF_TRY(kf_store_runs(store, look_at_run, &search, error));
    if (search.nearest == 0) return KF_OK;
    KF_TRY(kf_store_results(store, search.nearest, look_at_result, &search, error));
    *found = isfinite(search.best_us);
    *config = search.best;
    memcpy(scene_name, search.scene_name, sizeof search.scene_name);
    return KF_OK;
}
