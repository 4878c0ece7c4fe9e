#include "base/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"

/* Ascending; what is not a number comes last, so that the order is total whatever is measured. */
static int ascending(const void *left, const void *right) {
    double a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static double *sorted_copy(const double *values, size_t count) {
    double *sorted = kf_allocate(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted;
}

/* Linear interpolation between the two neighbouring order statistics (type 7 of Hyndman and Fan). */
static double quantile(const double *sorted, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    double weight = place - (double)below;
    if (weight == 0) return sorted[below]; /* or an infinite neighbour would spoil it */
    return sorted[below] + weight * (sorted[below + 1] - sorted[below]);
}

static size_t clamp_rank(double rank, size_t count) {
    if (rank < 1) return 1;
    return rank > (double)count ? count : (size_t)rank;
}

kf_summary kf_summarise(const double *values, size_t count) {
    kf_summary summary = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count == 0) return summary;
    double *sorted = sorted_copy(values, count);
    double n = (double)count, spread = 1.96 * sqrt(n);
    summary.median = quantile(sorted, count, 0.5);
    summary.q1 = quantile(sorted, count, 0.25);
    summary.q3 = quantile(sorted, count, 0.75);
    summary.minimum = sorted[0];
    summary.maximum = sorted[count - 1];
    summary.low = sorted[clamp_rank(floor((n - spread) / 2), count) - 1];
    summary.high = sorted[clamp_rank(ceil(1 + (n + spread) / 2), count) - 1];
    free(sorted);
    return summary;
}

double kf_median(const double *values, size_t count) {
    if (count == 0) return NAN;
    double *sorted = sorted_copy(values, count);
    double median = quantile(sorted, count, 0.5);
    free(sorted);
    return median;
}

double kf_summary_halfwidth(const kf_summary *summary) {
    return (summary->high - summary->low) / (2 * summary->median);
}
