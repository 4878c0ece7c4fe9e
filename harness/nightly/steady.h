/* Finds what a device that throttled did to a process of a night. */
#ifndef KF_HARNESS_NIGHTLY_STEADY_H
#define KF_HARNESS_NIGHTLY_STEADY_H

#include "base/record/measurement.h"

/* Takes out samples that ran at a clock more than 2 % below that of the fastest quarter, where clocks are
 * known, and all of them where the device says that it slowed down (NVML: heat, power brake) before and after
 * or, without clocks, at either end. What is left is summed up anew, outliers says how many went; where none
 * is left the state becomes KF_STATE_SKIPPED, with the reason. Returns how many went. */
size_t kf_leave_out_throttled(kf_measurement *measurement);

#endif
