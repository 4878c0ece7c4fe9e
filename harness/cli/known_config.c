#include "harness/cli/known_config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plan/trial.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/tune/knowledge.h"

static kf_status find(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                      kf_similar *similar, kf_error *error) {
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(problem, device, NULL, 0, &space, error));
    const kf_similar_query query = {
        .problem = problem, .device = device, .space = space, .farthest = (double)INFINITY};
    kf_status status = kf_knowledge_similar(store, &query, similar, error);
    kf_space_free(space);
    KF_TRY(status);
    if (similar->found) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: no config of system %s on %s is known that could run %s; 'kftune tune --scene %s' finds one",
        kf_store_path(store), problem->system->name, device->name, problem->name, problem->source);
}

static kf_status verify(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                        kf_error *error) {
    kf_trial trial;
    kf_verification verification;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK) status = kf_trial_refer(&trial, error);
    if (status == KF_OK) status = kf_trial_verify(&trial, config, backend, &verification, error);
    kf_trial_close(&trial);
    return status;
}

static void fill(const kf_problem *problem, const kf_device_info *device, const kf_similar *similar,
                 kf_best_config *best) {
    memset(best, 0, sizeof *best);
    kf_copy_text(best->version, sizeof best->version, KF_VERSION);
    kf_copy_text(best->scene, sizeof best->scene, problem->source);
    memcpy(best->scene_hash, problem->hash, sizeof best->scene_hash);
    (void)kf_facts_get_size(&problem->facts, best->nodes);
    best->samples_per_cell = fmax(0, kf_facts_value(&problem->facts, "samples_per_cell"));
    best->sample_count = (uint64_t)fmax(0, kf_facts_value(&problem->facts, "sample_count"));
    best->seed = problem->seed;
    best->device = *device;
    best->config = similar->config;
    kf_config_hash(&best->config, best->config_hash);
    best->time_us = similar->time_us;
    best->mlups = (double)similar->nodes[0] * similar->nodes[1] * similar->nodes[2] / similar->time_us;
}

kf_status kf_known_config(const kf_arguments *arguments, const kf_problem *problem, kf_backend *backend,
                          kf_best_config *best, kf_error *error) {
    const kf_device_info *device = kf_backend_device(backend);
    kf_store *store = NULL;
    kf_similar similar;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_status status = find(store, problem, device, &similar, error);
    kf_store_close(store);
    KF_TRY(status);
    fill(problem, device, &similar, best);
    if (similar.same_scene) {
        kf_info("%s was tuned before (run %" PRId64 "): running its best config", problem->name, similar.run);
        return KF_OK;
    }
    kf_warn("%s was never tuned on %s: running what was best for the nearest scene known, %s (%dx%dx%d "
            "nodes, %" PRIu64 " samples, run %" PRId64 "); 'kftune tune' may find a faster one",
            problem->name, device->name, similar.scene_name, similar.nodes[0], similar.nodes[1],
            similar.nodes[2], similar.samples, similar.run);
    status = verify(problem, &best->config, backend, error);
    return status == KF_OK
               ? KF_OK
               : kf_fail_context(error, "that config is not right for %s; tune it", problem->name);
}
