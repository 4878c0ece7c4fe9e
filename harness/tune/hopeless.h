/* Recognises a run that cannot succeed, because the default and enough other configs fail for the same
 * reason, and none works. */
#ifndef KF_HARNESS_TUNE_HOPELESS_H
#define KF_HARNESS_TUNE_HOPELESS_H

#include "harness/tune/session.h"

/* Returns KF_OK while the run may succeed, otherwise the common reason and its cure. The status is that of a
 * run without a correct config. */
kf_status kf_tune_hope(const kf_tune_request *request, const kf_tune_result *result, kf_error *error);

/* Returns the status of a run whose configs all ended in this state: KF_GATE_FAILED for wrong results,
 * KF_BAD_INPUT if the user's kernel does not compile, otherwise KF_MACHINE. */
kf_status kf_tune_status_of(const kf_problem *problem, kf_state state);

/* Checks on the device, before any config is measured, whether the reference is usable (kf_system.examine).
 * With keeps_going a failure is only a warning. */
kf_status kf_tune_examine(kf_session *session, kf_error *error);

#endif
