/* The gate that every config passes before its time counts: its plan for a small problem of the same kind
 * advances a few steps, agrees with the system's reference, and stays inside of its buffers. */
#ifndef KF_BASE_PLAN_TRIAL_H
#define KF_BASE_PLAN_TRIAL_H

#include "base/plan/system.h"

typedef struct kf_trial {
    kf_problem *problem; /* the small one; owned */
    int steps;
    kf_reference *reference; /* of the problem after so many steps; NULL: not asked for yet; owned */
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
void kf_trial_close(kf_trial *trial);

#endif
