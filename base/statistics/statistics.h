/* Order statistics of a sample (docs/measuring.md), and the rank correlation of two samples. */
#ifndef KF_BASE_STATISTICS_STATISTICS_H
#define KF_BASE_STATISTICS_STATISTICS_H

#include <stddef.h>

typedef struct kf_summary {
    size_t count;
    double median, q1, q3, minimum, maximum; /* quartiles by linear interpolation between order statistics */
    double low, high; /* about 95 % confidence interval of the median: the order statistics of ranks
                       * floor((n - 1.96 sqrt n)/2) and ceil(1 + (n + 1.96 sqrt n)/2), kept within 1..n */
} kf_summary;

/* A comparison for qsort: ascending doubles. NAN comes last, so that the order is total. */
int kf_ascending(const void *left, const void *right);

/* Summarises values without changing them. count 0 gives NANs. */
kf_summary kf_summarise(const double *values, size_t count);
double kf_median(const double *values, size_t count);
/* Returns (high - low) / (2 median), the relative half-width of the interval. */
double kf_summary_halfwidth(const kf_summary *summary);

/* Returns Spearman's rank correlation, with mean ranks for ties; NAN for fewer than two values. */
double kf_rank_correlation(const double *a, const double *b, size_t count);

/* Returns the probability that Student's t with this many degrees of freedom (at least 1) lies further from 0
 * than t >= 0. */
double kf_student_outside(double t, int freedom);

#endif
