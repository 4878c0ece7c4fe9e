/* The gate that every config passes before its time counts. Its plan for a small problem of the same kind
 * advances a few steps, agrees with the system's reference, stays inside of its buffers and leaves its inputs
 * alone; from spoilt outputs it comes to the same state again. */
#ifndef KF_BASE_PLAN_TRIAL_H
#define KF_BASE_PLAN_TRIAL_H

#include "base/plan/system.h"

typedef struct kf_whole kf_whole;

typedef struct kf_trial {
    kf_problem *problem; /* the small one; owned */
    int steps;
    kf_reference *reference; /* of the problem after so many steps; NULL: not asked for yet; owned */
    kf_whole *whole;         /* what configs made of the whole problem (kf_trial_recheck); owned */
} kf_trial;

/* The trial that the problem's system makes of it, without its reference. The caller closes it, also after a
 * failure. */
kf_status kf_trial_open(const kf_problem *problem, kf_trial *trial, kf_error *error);
/* Computes the reference unless it is there. */
kf_status kf_trial_refer(kf_trial *trial, kf_error *error);
/* The gate. KF_GATE_FAILED: the config is wrong; other failures are the plan's or the device's. Needs the
 * reference. *verification is filled in where the plan came so far. */
kf_status kf_trial_verify(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                          kf_verification *verification, kf_error *error);
/* These do the same in two halves, for who has no use for the second where a config is too slow: a run that
 * must agree with the reference, and one from spoilt outputs that must come to the same state. *run, which
 * the caller ends before the trial is closed, is NULL after a failure, and where nothing is left to do: the
 * state cannot be kept, or is not this process's alone. */
typedef struct kf_trial_run kf_trial_run;
kf_status kf_trial_begin(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                         kf_verification *verification, kf_trial_run **run, kf_error *error);
kf_status kf_trial_repeat(kf_trial_run *run, kf_verification *verification, kf_error *error);
void kf_trial_end(kf_trial_run *run); /* NULL is fine */
/* Returns whether what the whole problem comes to with such bounds is known already (kf_trial_begin_whole).
 */
bool kf_trial_knows_whole(const kf_trial *trial, const kf_plan *plan, const kf_verification *verification);
/* Before a plan of the whole problem is timed, of a config that has passed both halves: where it is the first
 * with such bounds, what it makes of the problem in a few steps is kept. */
kf_status kf_trial_begin_whole(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                               kf_error *error);
/* Checks that a plan still does what it should after it was timed, with step_us microseconds a step. From
 * spoilt outputs it must come to where the first one with equal bounds came before that was timed. It must
 * take no less time than its device needs. Where this would cost more than a twentieth of `seconds`, the time
 * that the config has taken so far, it takes two steps, and some of its state is looked at. KF_GATE_FAILED
 * says what is wrong. */
kf_status kf_trial_recheck(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                           double step_us, double seconds, kf_error *error);
void kf_trial_close(kf_trial *trial);

/* These are for trial.c alone (recheck.c). */
kf_whole *kf_whole_create(void);
void kf_whole_free(kf_whole *whole); /* NULL is fine */

#endif
