#include "harness/cli/known_config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/tune/knowledge.h"

enum { VERIFY_NODES = 24000, VERIFY_STEPS = 10 }; /* as in a tuning run */

static kf_status find(kf_store *store, const kf_system *system, const kf_scene *scene,
                      const kf_device_info *device, kf_similar *similar, kf_error *error) {
    kf_variables variables = {0};
    kf_space *space = NULL;
    system->variables(scene, device, &variables);
    KF_TRY(kf_space_open(system->name, system->space_file, &variables, NULL, 0, &space, error));
    const kf_similar_query query = {
        .system = system, .scene = scene, .device = device, .space = space, .farthest = (double)INFINITY};
    kf_status status = kf_knowledge_similar(store, &query, similar, error);
    kf_space_free(space);
    KF_TRY(status);
    if (similar->found) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: no config of system %s on %s is known that could run %s; 'kftune tune --scene %s' finds one",
        kf_store_path(store), system->name, device->name, scene->name, scene->source);
}

static kf_status advance_and_verify(const kf_system *system, kf_plan *plan, const kf_reference *reference,
                                    kf_error *error) {
    kf_verification verification;
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(kf_plan_advance(plan, VERIFY_STEPS, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    return system->verify(plan, reference, &verification, error);
}

/* The gate that a config passes in tuning. */
static kf_status verify(const kf_system *system, const kf_scene *scene, const kf_config *config,
                        kf_backend *backend, kf_error *error) {
    kf_scene *reduced = NULL;
    kf_reference *reference = NULL;
    kf_plan *plan = NULL;
    KF_TRY(kf_scene_reduce(scene, VERIFY_NODES, &reduced, error));
    kf_status status = system->reference(reduced, VERIFY_STEPS, &reference, error);
    if (status == KF_OK) status = system->plan(reduced, config, backend, &plan, error);
    if (status == KF_OK) status = advance_and_verify(system, plan, reference, error);
    if (plan != NULL) kf_plan_free(plan);
    if (reference != NULL) system->free_reference(reference);
    kf_scene_free(reduced);
    return status;
}

static void fill(const kf_scene *scene, const kf_device_info *device, const kf_similar *similar,
                 kf_best_config *best) {
    memset(best, 0, sizeof *best);
    kf_copy_text(best->version, sizeof best->version, KF_VERSION);
    kf_copy_text(best->scene, sizeof best->scene, scene->source);
    memcpy(best->scene_hash, scene->hash, sizeof best->scene_hash);
    memcpy(best->nodes, scene->nodes, sizeof best->nodes);
    best->samples_per_cell = scene->samples_per_cell;
    best->sample_count = scene->samples.count;
    best->seed = scene->seed;
    best->device = *device;
    best->config = similar->config;
    kf_config_hash(&best->config, best->config_hash);
    best->time_us = similar->time_us;
    best->mlups = (double)similar->nodes[0] * similar->nodes[1] * similar->nodes[2] / similar->time_us;
}

kf_status kf_known_config(const kf_arguments *arguments, const kf_system *system, const kf_scene *scene,
                          kf_backend *backend, kf_best_config *best, kf_error *error) {
    const kf_device_info *device = kf_backend_device(backend);
    kf_store *store = NULL;
    kf_similar similar;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_status status = find(store, system, scene, device, &similar, error);
    kf_store_close(store);
    KF_TRY(status);
    fill(scene, device, &similar, best);
    if (similar.same_scene) {
        kf_info("%s was tuned before (run %" PRId64 "): running its best config", scene->name, similar.run);
        return KF_OK;
    }
    kf_warn("%s was never tuned on %s: running what was best for the nearest scene known, %s (%dx%dx%d "
            "nodes, %" PRIu64 " samples, run %" PRId64 "); 'kftune tune' may find a faster one",
            scene->name, device->name, similar.scene_name, similar.nodes[0], similar.nodes[1],
            similar.nodes[2], similar.samples, similar.run);
    status = verify(system, scene, &best->config, backend, error);
    return status == KF_OK ? KF_OK
                           : kf_fail_context(error, "that config is not right for %s; tune it", scene->name);
}
