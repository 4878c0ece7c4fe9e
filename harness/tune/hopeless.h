/* Recognises a run that cannot succeed: the default and enough others fail for the same reason, and nothing
 * works. */
#ifndef KF_HARNESS_TUNE_HOPELESS_H
#define KF_HARNESS_TUNE_HOPELESS_H

#include "harness/tune/session.h"

/* Returns KF_OK while there is hope, else the reason that all share and its cure. The status is the one that
 * a run without a right config ends with. */
kf_status kf_tune_hope(const kf_tune_request *request, const kf_tune_result *result, kf_error *error);

/* Returns the status of a run whose configs ended in that state: KF_GATE_FAILED for wrong results,
 * KF_BAD_INPUT if the user's own kernel does not compile, KF_MACHINE for the rest. */
kf_status kf_tune_status_of(const kf_problem *problem, kf_state state);

/* Asks the device, before any config is measured, whether the reference is of any use (kf_system.examine).
 * With keeps_going what is wrong with it is a warning. */
kf_status kf_tune_examine(kf_session *session, kf_error *error);

#endif
