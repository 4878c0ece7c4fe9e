#include "harness/search/trend.h"

#include <math.h>

/* Fits measured = offset + slope * prior by least squares. A slope of 1 is assumed with the weight of two
 * measurements. The slope is never negative. */
kf_trend kf_trend_fit(const double *prior, const double *measured, size_t count) {
    static const double BELIEF = 2,
                        LEAST_VARIANCE = 0.01; /* priors that hardly differ do not determine a slope */
    const double n = (double)count;
    double x = 0, y = 0, variance = 0, covariance = 0;
    if (count == 0) return (kf_trend){0, 0};
    for (size_t i = 0; i < count; i++) {
        x += prior[i] / n;
        y += measured[i] / n;
    }
    for (size_t i = 0; i < count; i++) {
        variance += (prior[i] - x) * (prior[i] - x) / n;
        covariance += (prior[i] - x) * (measured[i] - y) / n;
    }
    const double belief = BELIEF * (variance + LEAST_VARIANCE);
    const double slope = fmax(0, (n * covariance + belief) / (n * variance + belief));
    return (kf_trend){y - slope * x, slope};
}
