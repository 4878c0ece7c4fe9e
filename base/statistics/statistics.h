/* Order statistics of a sample (docs/measuring.md), and the order that two samples share. */
#ifndef KF_BASE_STATISTICS_STATISTICS_H
#define KF_BASE_STATISTICS_STATISTICS_H

#include <stddef.h>

typedef struct kf_summary {
    size_t count;
    double median, q1, q3, minimum, maximum; /* quartiles by linear interpolation between order statistics */
    double low, high; /* about 95 % confidence interval of the median: the order statistics of ranks
                       * floor((n - 1.96 sqrt n)/2) and ceil(1 + (n + 1.96 sqrt n)/2), kept within 1..n */
} kf_summary;

/* For qsort: ascending doubles; what is not a number comes last, so that the order is total whatever is
 * measured. */
int kf_ascending(const void *left, const void *right);

/* Summarises values, which stay as they are; count 0 gives NANs. */
kf_summary kf_summarise(const double *values, size_t count);
double kf_median(const double *values, size_t count);
/* (high - low) / (2 median): relative half-width of the interval. */
double kf_summary_halfwidth(const kf_summary *summary);

/* Spearman's rank correlation, ties by their mean rank; NAN below two values. */
double kf_rank_correlation(const double *a, const double *b, size_t count);

/* Probability that Student's t with so many degrees of freedom (at least 1) lies further from 0 than t >= 0.
 */
double kf_student_outside(double t, int freedom);

#endif
