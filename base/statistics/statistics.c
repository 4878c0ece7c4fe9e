#include "base/statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

int kf_ascending(const void *left, const void *right) {
    double a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static double *sorted_copy(const double *values, size_t count) {
    double *sorted = kf_allocate(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, kf_ascending);
    return sorted;
}

/* Interpolates linearly between the two neighbouring order statistics (type 7 of Hyndman and Fan). */
static double quantile(const double *sorted, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    double weight = place - (double)below;
    /* Otherwise an infinite neighbour would make the result NaN. */
    if (weight == 0) return sorted[below];
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

/* --- Rank correlation ----------------------------------------------------------------------------------- */

typedef struct ranked_value {
    double value;
    size_t index;
} ranked_value;

static int compare_ranked(const void *left, const void *right) {
    const ranked_value *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static double *ranks(const double *values, size_t count) {
    ranked_value *places = kf_allocate(count * sizeof *places);
    double *ranked = kf_allocate(count * sizeof *ranked);
    for (size_t i = 0; i < count; i++)
        places[i] = (ranked_value){values[i], i};
    qsort(places, count, sizeof *places, compare_ranked);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && places[end].value == places[begin].value; end++)
            continue;
        for (size_t i = begin; i < end; i++)
            ranked[places[i].index] = 0.5 * (double)(begin + end - 1);
    }
    free(places);
    return ranked;
}

static double correlation(const double *a, const double *b, size_t count) {
    double mean_a = 0, mean_b = 0, squares_a = 0, squares_b = 0, products = 0;
    for (size_t i = 0; i < count; i++) {
        mean_a += a[i] / (double)count;
        mean_b += b[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        squares_a += (a[i] - mean_a) * (a[i] - mean_a);
        squares_b += (b[i] - mean_b) * (b[i] - mean_b);
        products += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return products / sqrt(squares_a * squares_b);
}

double kf_rank_correlation(const double *a, const double *b, size_t count) {
    if (count < 2) return NAN;
    double *first = ranks(a, count), *second = ranks(b, count);
    const double found = correlation(first, second, count);
    free(first);
    free(second);
    return found;
}

/* --- Student's t --------------------------------------------------------------------------------------- */

/* Computes the probability by the series of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
double kf_student_outside(double t, int freedom) {
    const double angle = atan(t / sqrt(freedom)), cosine = cos(angle);
    const bool odd = freedom % 2 != 0;
    double term = odd ? cosine : 1.0, sum = 0.0;
    for (int i = odd ? 1 : 0; i <= freedom - 2; i += 2) {
        sum += term;
        term *= (i + 1.0) / (i + 2.0) * cosine * cosine;
    }
    sum *= sin(angle);
    return fmax(0.0, 1.0 - (odd ? 2.0 / acos(-1.0) * (angle + sum) : sum));
}
