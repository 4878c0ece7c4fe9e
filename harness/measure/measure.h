/* Times a plan: first the whole step, then each item. */
#ifndef KF_HARNESS_MEASURE_MEASURE_H
#define KF_HARNESS_MEASURE_MEASURE_H

#include "harness/measure/policy.h"

/* Initialises the plan, warms up, and times it. Fills these members of *measurement: step_us, samples, batch,
 * stop, updates_per_us, bandwidth, kernels, device states and measure_seconds. The state becomes ok, or
 * skipped with a reason. incumbent may be NULL. After an error of the device *measurement contains what was
 * timed until then. */
kf_status kf_measure_plan(kf_plan *plan, const kf_measure_policy *policy, const kf_incumbent *incumbent,
                          kf_measurement *measurement, kf_error *error);

#endif
