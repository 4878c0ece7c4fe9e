/* Judges samples by numbers alone: their clock, and which of them are outliers. */
#ifndef KF_HARNESS_MEASURE_QUALITY_H
#define KF_HARNESS_MEASURE_QUALITY_H

#include "base/record/measurement.h"

/* Fills clock_mhz and clock_state from the clocks of all samples. */
void kf_classify_clocks(kf_measurement *measurement);

/* Returns whether the last readings differ by at most a hundredth. */
enum { KF_STEADY_READINGS = 5 };
bool kf_clock_is_steady(const double *clocks_mhz, size_t count);

/* Fills outliers: the numbers of samples beyond 1.5 and 3 times the quartiles' distance, and the likely
 * cause. The samples themselves are kept. */
void kf_describe_outliers(kf_measurement *measurement);

#endif
