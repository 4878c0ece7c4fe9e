/* Fits a straight line from a prior to measurements. Both are logarithms of times, because a prior knows only
 * ratios of times. */
#ifndef KF_HARNESS_SEARCH_TREND_H
#define KF_HARNESS_SEARCH_TREND_H

#include <stddef.h>

typedef struct kf_trend {
    double offset, slope; /* measured = offset + slope * prior; slope >= 0; 0: the prior is useless */
} kf_trend;

/* Fits `count` pairs by least squares. A slope of 1 is assumed with the weight of two measurements, because
 * the prior's ratios count as right until proved wrong. For count 0 offset and slope are 0. */
kf_trend kf_trend_fit(const double *prior, const double *measured, size_t count);

#endif
