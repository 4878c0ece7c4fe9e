/* E-divisive means: finds where a series of nights changed its level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/detector.h"
#include "base/statistics/statistics.h"
#include "base/util/memory.h"

/* Sums of |z_i - z_j| over i < row, j < column. */
typedef struct distances {
    int count;
    double *sums; /* [count + 1][count + 1] */
} distances;

static void sum_distances(const double *values, int count, distances *d) {
    size_t side = (size_t)count + 1;
    d->count = count;
    d->sums = kf_allocate_zeroed(side * side, sizeof *d->sums);
    for (size_t i = 1; i < side; i++)
        for (size_t k = 1; k < side; k++)
            d->sums[i * side + k] = fabs(values[i - 1] - values[k - 1]) + d->sums[(i - 1) * side + k] +
                                    d->sums[i * side + k - 1] - d->sums[(i - 1) * side + k - 1];
}

static double between(const distances *d, int row, int row_end, int column, int column_end) {
    size_t side = (size_t)d->count + 1;
    const double *first = d->sums + (size_t)row * side, *last = d->sums + (size_t)row_end * side;
    return last[column_end] - first[column_end] - last[column] + first[column];
}

/* Returns the divergence of [begin, split) and [split, end). */
static double divergence(const distances *d, int begin, int split, int end) {
    double n = split - begin, m = end - split;
    double q = 2.0 / (m + n) * between(d, begin, split, split, end);
    /* The square sums contain each pair twice. */
    if (n > 1) q -= 2.0 * m / ((m + n) * (n - 1)) * 0.5 * between(d, begin, split, begin, split);
    if (m > 1) q -= 2.0 * n / ((m + n) * (m - 1)) * 0.5 * between(d, split, end, split, end);
    return q;
}

static double mean(const double *values, int begin, int end) {
    double sum = 0.0;
    for (int i = begin; i < end; i++)
        sum += values[i];
    return sum / (end - begin);
}

static double squares(const double *values, int begin, int end) {
    double centre = mean(values, begin, end), sum = 0.0;
    for (int i = begin; i < end; i++)
        sum += (values[i] - centre) * (values[i] - centre);
    return sum;
}

/* Returns the two-sided probability of a t test with pooled variance. */
static double t_test(const double *values, int begin, int split, int end) {
    const double n = split - begin, m = end - split;
    const int freedom = end - begin - 2;
    if (freedom < 1) return 1.0;
    double difference = mean(values, split, end) - mean(values, begin, split);
    double variance = (squares(values, begin, split) + squares(values, split, end)) / freedom;
    if (variance <= 0.0) return difference == 0.0 ? 1.0 : 0.0;
    double t = fabs(difference) / sqrt(variance * (1.0 / n + 1.0 / m));
    return kf_student_outside(t, freedom);
}

/* Marks the first nights of new levels in [begin, end). The second part ends where the divergence is largest:
 * behind it may come another level. */
static void split(const double *values, const distances *d, int begin, int end, double probability,
                  bool *marks) {
    int best = -1, best_end = end;
    double most = -1.0;
    for (int at = begin + 1; at < end; at++)
        for (int to = at + 1; to <= end; to++) {
            double q = divergence(d, begin, at, to);
            if (q > most) {
                most = q;
                best = at;
                best_end = to;
            }
        }
    if (best < 0 || t_test(values, begin, best, best_end) >= probability) return;
    marks[best] = true;
    split(values, d, begin, best, probability, marks);
    split(values, d, best, end, probability, marks);
}

/* Computes the marked points, and returns the index of the weakest one; -1 when all are strong enough. */
static int describe(const double *values, int count, const bool *marks, double probability,
                    double least_shift, kf_change_point *points, int *point_count) {
    int weakest = -1, found = 0;
    int begin = 0;
    for (int at = 1; at < count; at++) {
        if (!marks[at]) continue;
        int end = at + 1;
        while (end < count && !marks[end])
            end++;
        kf_change_point *point = &points[found];
        *point = (kf_change_point){.at = at,
                                   .shift = mean(values, at, end) - mean(values, begin, at),
                                   .probability = t_test(values, begin, at, end)};
        bool weak = point->probability >= probability || fabs(point->shift) <= least_shift;
        if (weak && (weakest < 0 || point->probability > points[weakest].probability)) weakest = found;
        begin = at;
        found++;
    }
    *point_count = found;
    return weakest;
}

int kf_change_points(const double *values, int count, double probability, double least_shift,
                     kf_change_point *points) {
    if (count < 3) return 0;
    distances d;
    sum_distances(values, count, &d);
    bool *marks = kf_allocate_zeroed((size_t)count, sizeof *marks);
    /* Splitting uses a high probability, because a later split may confirm an earlier one. Weak points are
     * merged afterwards. */
    split(values, &d, 0, count, 10.0 * probability, marks);
    int found = 0, weakest;
    while ((weakest = describe(values, count, marks, probability, least_shift, points, &found)) >= 0)
        marks[points[weakest].at] = false;
    free(d.sums);
    free(marks);
    return found;
}
