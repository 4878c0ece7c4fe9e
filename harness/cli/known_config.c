#include "harness/cli/known_config.h"

#include <inttypes.h>
#include <string.h>

#include "base/plan/trial.h"
#include "base/space/space_nearest.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/placement_argument.h"
#include "harness/tune/knowledge.h"

/* Finds the best config in the store. If there is no store or no match, it is the space's default. */
static kf_status find(const kf_arguments *arguments, const kf_problem *problem, const kf_device_info *device,
                      kf_similar *similar, kf_error *error) {
    kf_space *space = NULL;
    kf_store *store = NULL;
    kf_error missing;
    KF_TRY(kf_problem_space(problem, device, NULL, 0, &space, error));
    const bool asked = kf_argument_given(arguments, "--store");
    kf_status status =
        kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, asked ? error : &missing);
    if (status == KF_OK) {
        const kf_similar_query query = {
            .problem = problem, .device = device, .space = space, .farthest = KF_SIMILAR_FARTHEST};
        status = kf_knowledge_similar(store, &query, similar, error);
        kf_store_close(store);
    } else if (!asked) {
        status = KF_OK;
    }
    if (status == KF_OK && !similar->found)
        status = kf_space_preset(space, "default", &similar->config, error);
    kf_space_free(space);
    return status;
}

/* Takes the default config with the values that the user fixed. The store is not read. */
static kf_status fix(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                     int fixed_count, kf_config *config, kf_error *error) {
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(problem, device, fixed, fixed_count, &space, error));
    kf_status status = kf_space_nearest(space, config, error);
    kf_space_free(space);
    return status;
}

kf_status kf_known_config_verify(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                                 kf_error *error) {
    kf_trial trial;
    kf_verification verification;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK) status = kf_trial_refer(&trial, error);
    if (status == KF_OK) status = kf_trial_verify(&trial, config, backend, &verification, error);
    kf_trial_close(&trial);
    if (status == KF_OK) return KF_OK;
    return kf_fail_context(error, "that config is not right for %s; tune it", problem->name);
}

kf_status kf_known_config(const kf_arguments *arguments, const kf_problem *problem, kf_backend *backend,
                          kf_best_config *best, bool *foreign, kf_error *error) {
    const kf_device_info *device = kf_backend_device(backend);
    const char *const *fixed = NULL;
    const int fixed_count = kf_argument_all(arguments, "--fix", &fixed);
    kf_similar similar = {.found = false};
    KF_TRY(fixed_count > 0 ? fix(problem, device, fixed, fixed_count, &similar.config, error)
                           : find(arguments, problem, device, &similar, error));
    kf_best_config_known(problem, device, &similar.config, similar.time_us,
                         similar.found ? similar.updates_per_us : 0.0, best);
    *foreign = !similar.same_scene;
    if (similar.same_scene) {
        kf_info("%s was tuned before (run %" PRId64 "): running its best config", problem->name, similar.run);
        return KF_OK;
    }
    if (fixed_count > 0)
        kf_info("%s runs with the default config and the values of --fix, verified", problem->name);
    else if (!similar.found)
        kf_warn("%s was never tuned on %s, and nothing like it: running the default config, verified; "
                "'kftune tune --scene %s'%s finds a faster one",
                problem->name, device->name, kf_argument_source(problem->source),
                kf_argument_source(problem->source) == problem->source ? "" : " with the same options");
    else
        kf_warn("%s was never tuned on %s: running what was best for the nearest scene known, %s (%s, run "
                "%" PRId64 "); 'kftune tune' may find a faster one",
                problem->name, device->name, similar.scene_name, similar.facts, similar.run);
    return KF_OK;
}
