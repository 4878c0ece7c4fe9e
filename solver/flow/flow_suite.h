/* Changes of a flow's problem for suites of fixed comparisons. docs/suites.md lists their keys. */
#ifndef KF_SOLVER_FLOW_FLOW_SUITE_H
#define KF_SOLVER_FLOW_FLOW_SUITE_H

#include "base/record/suite_system.h"

/* A kf_suite_system's change. KF_BAD_INPUT for nested scenes, several solids, and keys that it does not know.
 */
kf_status kf_flow_change(const kf_problem *from, const cJSON *changes, kf_json_place place,
                         const kf_device_info *device, kf_problem **changed, char reason[256],
                         kf_error *error);
/* A kf_suite_system's adjust_trial: the trial turns as fast as the changed problem. */
void kf_flow_adjust_trial(const kf_problem *changed, kf_problem *trial);

#endif
