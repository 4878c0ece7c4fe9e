/* A series whose values follow each other in time and resemble their neighbours, such as a force from step to
 * step: its mean with an interval that knows so, and when it had settled. */
#ifndef KF_BASE_STATISTICS_SERIES_H
#define KF_BASE_STATISTICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kf_series_mean {
    size_t first, count; /* the values that were taken: count of them from first on */
    double mean,
        half;   /* about 95 % confidence: mean - half to mean + half; half INFINITY when it is not known */
    double rms; /* root of the mean square about the mean */
    double correlation; /* of neighbouring batches; above about 0.3 the interval is too short */
    size_t batch;       /* values in a batch */
} kf_series_mean;

/* Mean of all values with the interval of batch means (Law and Kelton, Simulation Modeling and Analysis,
 * section 9.5.3): the series is cut into equal batches, few enough that the means of neighbours no longer
 * resemble each other (20, else 15, 10 or 8), whose scatter by Student's t gives the interval. Below 16
 * values half is INFINITY. A value that is not finite makes the mean NAN. */
kf_series_mean kf_series_mean_of(const double *values, size_t count);

/* From which value on the series counts as settled, and the mean of that part: the start is cut off that
 * leaves the smallest standard error of what remains (White, Simulation 69 (1997) 323: MSER-5, on means of
 * five values), in the first half of the series. *settled: such a start was found before half of the series
 * and the two halves of the rest agree within the interval that their batch means give (twice its half); or,
 * where a steady value is approached, they agree to a part in a thousand. The interval is at least as wide as
 * the halves are apart. */
kf_series_mean kf_series_settled(const double *values, size_t count, bool *settled);

#endif
