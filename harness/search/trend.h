/* Fits the straight line from what a prior says to what is measured. Both are logarithms of times, because a
 * prior knows ratios of times. */
#ifndef KF_HARNESS_SEARCH_TREND_H
#define KF_HARNESS_SEARCH_TREND_H

#include <stddef.h>

typedef struct kf_trend {
    double offset, slope; /* measured = offset + slope * prior; slope >= 0, 0: the prior says nothing */
} kf_trend;

/* Fits by least squares over count pairs, with two measurements' worth of belief in slope 1: the prior is
 * right about ratios until shown to be wrong. count 0 gives offset and slope 0. */
kf_trend kf_trend_fit(const double *prior, const double *measured, size_t count);

#endif
