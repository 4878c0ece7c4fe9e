#include "base/statistics/series.h"

#include <math.h>

enum { MSER_BATCH = 5, FEWEST = 16, SETTLED_FEWEST = 40 };
static const double RESEMBLES = 0.3, STEADY = 1e-3;

static double mean_of(const double *values, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Returns the 97.5 % quantile of Student's t by the Cornish-Fisher expansion. The error is 0.2 % at 7 degrees
 * of freedom. */
static double student(size_t freedom) {
    const double z = 1.959963984540054, n = (double)freedom, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n) +
           (3.0 * z5 * z * z + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
}

/* Computes the interval from this number of batches at the end of the values. Less than one batch at the
 * start is left out. */
static void by_batches(const double *values, size_t count, size_t batches, kf_series_mean *found) {
    const size_t size = count / batches;
    const double *from = values + (count - size * batches);
    double square = 0.0, product = 0.0, before = 0.0;
    const double middle = mean_of(from, size * batches);
    for (size_t b = 0; b < batches; b++) {
        const double off = mean_of(from + b * size, size) - middle;
        square += off * off;
        if (b > 0) product += off * before;
        before = off;
    }
    found->batch = size;
    found->correlation = square > 0.0 ? product / square : 0.0;
    found->half = student(batches - 1) * sqrt(square / (double)(batches - 1) / (double)batches);
}

/* Computes the mean of a series of correlated values. The half width of its interval comes from means of
 * batches. It uses the largest number of batches that are still uncorrelated. */
kf_series_mean kf_series_mean_of(const double *values, size_t count) {
    static const size_t batches[] = {20, 15, 10, 8};
    kf_series_mean found = {
        .count = count, .mean = (double)NAN, .half = (double)INFINITY, .rms = (double)NAN};
    if (count == 0) return found;
    found.mean = mean_of(values, count);
    double square = 0.0;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - found.mean) * (values[i] - found.mean);
    found.rms = sqrt(square / (double)count);
    for (size_t b = 0; b < sizeof batches / sizeof *batches && count >= FEWEST; b++) {
        if (count < 2 * batches[b]) continue;
        by_batches(values, count, batches[b], &found);
        if (found.correlation <= RESEMBLES) break;
    }
    return found;
}

/* Returns the index of the first value that MSER-5 keeps. */
static size_t cut_start(const double *values, size_t count) {
    const size_t batches = count / MSER_BATCH;
    double sum = 0.0, square = 0.0, least = (double)INFINITY;
    size_t best = 0;
    for (size_t b = batches; b-- > 0;) {
        const double value = mean_of(values + b * MSER_BATCH, MSER_BATCH);
        sum += value;
        square += value * value;
        const double kept = (double)(batches - b);
        if (b > batches / 2) continue;
        const double error = fmax(0.0, square - sum * sum / kept) / (kept * kept);
        if (error <= least) {
            least = error;
            best = b;
        }
    }
    return best * MSER_BATCH;
}

kf_series_mean kf_series_settled(const double *values, size_t count, bool *settled) {
    const size_t first = count < SETTLED_FEWEST ? 0 : cut_start(values, count);
    kf_series_mean found = kf_series_mean_of(values + first, count - first);
    found.first = first;
    *settled = false;
    if (count < SETTLED_FEWEST || !isfinite(found.half)) return found;
    const size_t half = (count - first) / 2;
    const double drift = fabs(mean_of(values + first, half) - mean_of(values + count - half, half));
    const bool steady = drift <= STEADY * fabs(found.mean);
    *settled = steady || (first + MSER_BATCH <= count / 2 && drift <= 2.0 * found.half);
    found.half = fmax(found.half, 0.5 * drift);
    return found;
}
