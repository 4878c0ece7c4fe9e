/* Times one plan: the whole step first, then item by item. */
#ifndef KF_HARNESS_MEASURE_MEASURE_H
#define KF_HARNESS_MEASURE_MEASURE_H

#include "harness/measure/policy.h"

/* Initialises the plan, warms up, times. Fills *measurement's step_us, samples, batch, stop, updates_per_us,
 * bandwidth, kernels, device states and measure_seconds; its state becomes ok, or skipped with a reason.
 * incumbent may be NULL. An error of the device is returned; what was timed until then is kept in
 * *measurement. */
kf_status kf_measure_plan(kf_plan *plan, const kf_measure_policy *policy, const kf_incumbent *incumbent,
                          kf_measurement *measurement, kf_error *error);

#endif
