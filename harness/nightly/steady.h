/* Removes the effect of a throttling device from the measurement of a process. */
#ifndef KF_HARNESS_NIGHTLY_STEADY_H
#define KF_HARNESS_NIGHTLY_STEADY_H

#include "base/record/measurement.h"

/* Removes samples whose clock was more than 2 % below that of the fastest quarter, if clocks are known. It
 * removes all samples if the device reports that it slowed down (NVML: heat, power brake) before and after;
 * without clocks, before or after. The remaining samples are summarised again, and `outliers` gives the
 * number of removed ones. If none remains, the state becomes KF_STATE_SKIPPED with the reason. Returns the
 * number of removed samples. */
size_t kf_leave_out_throttled(kf_measurement *measurement);

#endif
