/* A series whose neighbouring values are correlated, such as a force from step to step: its mean with a
 * confidence interval that accounts for this, and the value from which on it has settled. */
#ifndef KF_BASE_STATISTICS_SERIES_H
#define KF_BASE_STATISTICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kf_series_mean {
    size_t first, count; /* the values that were used: count of them from first on */
    double mean,
        half;   /* half of the 95 % interval, mean - half to mean + half; INFINITY when it is not known */
    double rms; /* root mean square deviation from the mean */
    double correlation; /* between neighbouring batches; above about 0.3 the interval is too short */
    size_t batch;       /* values in a batch */
} kf_series_mean;

/* Returns the mean of all values with the interval of batch means (Law and Kelton, Simulation Modeling and
 * Analysis, section 9.5.3). The series is cut into 20 equal batches, or 15, 10 or 8, until the means of
 * neighbouring batches are uncorrelated. The scatter of the batch means gives the interval by Student's t.
 * Below 16 values half is INFINITY. A value that is not finite makes the mean NAN. */
kf_series_mean kf_series_mean_of(const double *values, size_t count);

/* Cuts off the start of a series that has not settled, and returns the mean of the rest. The cut is where the
 * standard error of the rest is smallest, within the first half of the series (MSER-5: White, Simulation 69
 * (1997) 323, on means of five values). *settled is set if there is such a cut, and the two halves of the
 * rest agree within twice the half-width of their batch means or, for a series that approaches a steady
 * value, to a part in a thousand. The interval is at least as wide as the distance of the two halves. */
kf_series_mean kf_series_settled(const double *values, size_t count, bool *settled);

#endif
