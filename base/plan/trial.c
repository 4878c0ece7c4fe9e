#include "base/plan/trial.h"

#include <string.h>

#include "base/backend/team/world.h"

kf_status kf_trial_open(const kf_problem *problem, kf_trial *trial, kf_error *error) {
    memset(trial, 0, sizeof *trial);
    KF_TRY(problem->system->trial(problem, &trial->problem, &trial->steps, error));
    trial->problem->system = problem->system;
    return KF_OK;
}

kf_status kf_trial_refer(kf_trial *trial, kf_error *error) {
    if (trial->reference != NULL) return KF_OK;
    return trial->problem->system->reference(trial->problem, trial->steps, &trial->reference, error);
}

static kf_status pass(const kf_trial *trial, kf_plan *plan, kf_verification *verification, kf_error *error) {
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(kf_plan_advance(plan, (uint64_t)trial->steps, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(trial->problem->system->verify(plan, trial->reference, verification, error));
    return kf_plan_check_buffers(plan, error);
}

kf_status kf_trial_verify(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                          kf_verification *verification, kf_error *error) {
    kf_plan *plan = NULL;
    /* All processes agree before one begins steps that wait for a process without a plan. */
    kf_status status =
        kf_world_agree(trial->problem->system->plan(trial->problem, config, backend, &plan, error), error);
    if (status == KF_OK) status = kf_world_give_up(pass(trial, plan, verification, error), error);
    if (plan != NULL) kf_plan_free(plan);
    return status;
}

void kf_trial_close(kf_trial *trial) {
    if (trial->reference != NULL) trial->problem->system->free_reference(trial->reference);
    kf_problem_free(trial->problem);
    memset(trial, 0, sizeof *trial);
}
