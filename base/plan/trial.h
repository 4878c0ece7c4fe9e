/* The gate that every config must pass before its time counts. The config's plan for a small problem of the
 * same kind advances a few steps. It must agree with the system's reference, stay inside its buffers and
 * leave its inputs unchanged. A second run from spoilt outputs must reach the same state. */
#ifndef KF_BASE_PLAN_TRIAL_H
#define KF_BASE_PLAN_TRIAL_H

#include "base/plan/system.h"

typedef struct kf_whole kf_whole;

typedef struct kf_trial {
    kf_problem *problem; /* the small one; owned */
    int steps;
    kf_reference *reference; /* of the problem after these steps; NULL: not yet computed; owned */
    kf_whole *whole;         /* results of configs on the whole problem (kf_trial_recheck); owned */
} kf_trial;

/* Opens the trial that the problem's system makes, without computing its reference. The caller closes it,
 * also after a failure. */
kf_status kf_trial_open(const kf_problem *problem, kf_trial *trial, kf_error *error);
/* Computes the reference if it is not there yet. */
kf_status kf_trial_refer(kf_trial *trial, kf_error *error);
/* Runs the gate; the reference must be there. KF_GATE_FAILED: the config is wrong. Other failures are those
 * of the plan or the device. *verification is filled in as far as the plan came. */
kf_status kf_trial_verify(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                          kf_verification *verification, kf_error *error);
/* Run the gate in two halves, for callers that skip the second one if a config is too slow. kf_trial_begin
 * compares a run with the reference. kf_trial_repeat runs again from spoilt outputs, which must give the same
 * state. *run is NULL after a failure, and where no second half is possible: the state cannot be saved, or
 * several processes share it. The caller ends *run before it closes the trial. */
typedef struct kf_trial_run kf_trial_run;
kf_status kf_trial_begin(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                         kf_verification *verification, kf_trial_run **run, kf_error *error);
kf_status kf_trial_repeat(kf_trial_run *run, kf_verification *verification, kf_error *error);
void kf_trial_end(kf_trial_run *run); /* NULL is fine */
/* Returns whether the result on the whole problem is already known for configs with these bounds
 * (kf_trial_begin_whole). */
bool kf_trial_knows_whole(const kf_trial *trial, const kf_plan *plan, const kf_verification *verification);
/* Called before a plan of the whole problem is timed, if its config has passed both halves. The result of a
 * few steps is kept if the config is the first with these bounds. */
kf_status kf_trial_begin_whole(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                               kf_error *error);
/* Checks a plan after it was timed at step_us microseconds a step. From spoilt outputs it must reach the
 * state that the first config with equal bounds reached before its timing. It must not be faster than its
 * device can be. If this check would cost more than a twentieth of `seconds`, the time spent on the config so
 * far, it runs two steps and compares a part of the state. KF_GATE_FAILED says what is wrong. */
kf_status kf_trial_recheck(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                           double step_us, double seconds, kf_error *error);
void kf_trial_close(kf_trial *trial);

/* Only trial.c uses these (recheck.c). */
kf_whole *kf_whole_create(void);
void kf_whole_free(kf_whole *whole); /* NULL is fine */

#endif
