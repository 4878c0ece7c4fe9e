/* Judges samples: at which clock they were taken, and which lie far off. It decides on numbers alone. */
#ifndef KF_HARNESS_MEASURE_QUALITY_H
#define KF_HARNESS_MEASURE_QUALITY_H

#include "base/record/measurement.h"

/* Fills clock_mhz and clock_state from the clocks of all samples. */
void kf_classify_clocks(kf_measurement *measurement);

/* Returns true if the last readings lie within a hundredth of each other. */
enum { KF_STEADY_READINGS = 5 };
bool kf_clock_is_steady(const double *clocks_mhz, size_t count);

/* Fills outliers: how many samples lie beyond 1.5 and 3 times the quartiles' distance, and the likely cause.
 * All stay in the samples. */
void kf_describe_outliers(kf_measurement *measurement);

#endif
