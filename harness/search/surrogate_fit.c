/* Fits the lengths of the surrogate's kernel by maximum posterior likelihood. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/cholesky.h"
#include "base/util/memory.h"
#include "base/util/wide.h"
#include "harness/search/surrogate.h"

/* The prior of a length is about the feature's range, within a factor of e. That of the noise is a thousandth
 * of the variance, within a factor of e^2. */
static const double EXPECTED_LENGTH = 0, EXPECTED_NOISE = -6.9, NOISE_SPREAD = 2.0;
static const double SHORTEST = -3, LONGEST = 5, LEAST_NOISE = -13.8, MOST_NOISE = 0;

typedef struct kf_fit {
    int features, points;
    /* Squared differences of pairs (i, j), j < i: [i][feature][j], with rows of j padded to whole LANES with
     * 0. */
    float *squares;
    const double *targets;
    double *kernel; /* its lower triangle, then that of its factor, then that of its inverse */
    double *solution;
} kf_fit;

/* Loops over pairs process this fixed number at a time, which compilers vectorise. */
enum { LANES = 8 };

static int padded(int pairs) {
    return (pairs + LANES - 1) / LANES * LANES;
}

static void fill_squares(const kf_fit *fit, const float *features) {
    float *square = fit->squares;
    for (int i = 1; i < fit->points; i++)
        for (int f = 0; f < fit->features; f++, square += padded(i))
            for (int j = 0; j < i; j++) {
                float difference = features[i * fit->features + f] - features[j * fit->features + f];
                square[j] = difference * difference;
            }
}

/* Fills the lower triangle of the kernel's matrix for these weights and noise, in lanes. One half is a
 * rational quadratic of all features together, the other the mean of one for each feature. */
KF_WIDE static void fill_kernel(const kf_fit *fit, const double *weights, double noise) {
    const float *square = fit->squares;
    if (fit->points > 0) fit->kernel[0] = 1 + noise;
    for (int i = 1; i < fit->points; i++) {
        double *row = fit->kernel + i * fit->points;
        const int width = padded(i);
        for (int j = 0; j < i; j += LANES) {
            double r2[LANES] = {0}, effects[LANES] = {0}, values[LANES];
            for (int f = 0; f < fit->features; f++)
                for (int k = 0; k < LANES; k++) {
                    double own = weights[f] * (double)square[f * width + j + k];
                    r2[k] += own;
                    effects[k] += 1 / (1 + own);
                }
            for (int k = 0; k < LANES; k++) {
                double together = 1 / ((1 + r2[k] / 4) * (1 + r2[k] / 4));
                values[k] = 0.5 * (together + effects[k] / fit->features);
            }
            for (int k = 0; k < LANES && j + k < i; k++)
                row[j + k] = values[k];
        }
        row[i] = 1 + noise;
        square += fit->features * width;
    }
}

/* Contracts d(-log likelihood)/dK with dK/dparameter for every length and the noise. */
KF_WIDE static void contract(const kf_fit *fit, const double *weights, double noise, double signal,
                             double *gradient) {
    const float *square = fit->squares;
    const double *solution = fit->solution;
    double diagonal = 0, sums[KF_FEATURES][LANES] = {{0}};
    for (int i = 0; i < fit->points; i++) {
        const double *inverse = fit->kernel + i * fit->points;
        const double at_i = solution[i] / signal;
        const int width = padded(i);
        for (int j = 0; j < i; j += LANES) {
            double slope[LANES] = {0}, r2[LANES] = {0}, together[LANES];
            for (int k = 0; k < LANES && j + k < i; k++)
                slope[k] = inverse[j + k] - at_i * solution[j + k];
            for (int f = 0; f < fit->features; f++)
                for (int k = 0; k < LANES; k++)
                    r2[k] += weights[f] * (double)square[f * width + j + k];
            for (int k = 0; k < LANES; k++)
                together[k] = 0.5 / ((1 + r2[k] / 4) * (1 + r2[k] / 4) * (1 + r2[k] / 4));
            for (int f = 0; f < fit->features; f++)
                for (int k = 0; k < LANES; k++) {
                    double own = weights[f] * (double)square[f * width + j + k];
                    sums[f][k] +=
                        slope[k] * own * (together[k] + 1 / (fit->features * (1 + own) * (1 + own)));
                }
        }
        diagonal += 0.5 * (inverse[i] - at_i * solution[i]);
        square += fit->features * width;
    }
    for (int f = 0; f < fit->features; f++) {
        gradient[f] = 0;
        for (int k = 0; k < LANES; k++)
            gradient[f] += sums[f][k];
    }
    gradient[fit->features] = diagonal * noise;
}

/* Returns the negative log posterior at these parameters (log lengths, then log noise), and its gradient. */
static double posterior(kf_fit *fit, const double *parameters, double *gradient) {
    double weights[KF_FEATURES] = {0}, value = 0, squares = 0;
    const int noise_at = fit->features;
    for (int f = 0; f < fit->features; f++)
        weights[f] = exp(-2 * parameters[f]);
    double noise = exp(parameters[noise_at]);
    fill_kernel(fit, weights, noise);
    const size_t n = (size_t)fit->points;
    if (!kf_cholesky_factor(n, fit->kernel)) return INFINITY;
    memcpy(fit->solution, fit->targets, n * sizeof *fit->solution);
    kf_cholesky_solve(n, fit->kernel, fit->solution);
    for (size_t i = 0; i < n; i++) {
        value += log(fit->kernel[i * n + i]);
        squares += fit->targets[i] * fit->solution[i];
    }
    double signal =
        fmax(squares / fit->points, 1e-12); /* the signal variance that is best for these lengths */
    value += 0.5 * fit->points * log(signal);
    kf_cholesky_invert(n, fit->kernel);
    contract(fit, weights, noise, signal, gradient);
    for (int f = 0; f < fit->features; f++) {
        double off = parameters[f] - EXPECTED_LENGTH;
        value += 0.5 * off * off;
        gradient[f] += off;
    }
    double off = (parameters[noise_at] - EXPECTED_NOISE) / NOISE_SPREAD;
    value += 0.5 * off * off;
    gradient[noise_at] += off / NOISE_SPREAD;
    return value;
}

/* Takes an Rprop step. Every parameter has its own step size, which grows while its slope keeps its sign. */
static void step_all(int count, double *parameters, const double *gradient, double *previous, double *steps) {
    for (int i = 0; i < count; i++) {
        double turn = gradient[i] * previous[i];
        steps[i] = turn > 0 ? fmin(1.3 * steps[i], 1.0) : turn < 0 ? 0.5 * steps[i] : steps[i];
        if (gradient[i] != 0) parameters[i] -= gradient[i] > 0 ? steps[i] : -steps[i];
        bool noise = i == count - 1;
        parameters[i] =
            fmin(fmax(parameters[i], noise ? LEAST_NOISE : SHORTEST), noise ? MOST_NOISE : LONGEST);
        previous[i] = gradient[i];
    }
}

/* Takes so many steps from the present lengths and keeps the best lengths, which need not be the last. */
static void descend(kf_fit *fit, kf_lengths *lengths, int steps) {
    double parameters[KF_FEATURES + 1] = {0}, best[KF_FEATURES + 1] = {0}, gradient[KF_FEATURES + 1] = {0};
    double previous[KF_FEATURES + 1] = {0}, sizes[KF_FEATURES + 1], least = INFINITY;
    int count = fit->features + 1;
    memcpy(parameters, lengths->logarithm, (size_t)fit->features * sizeof *parameters);
    parameters[fit->features] = log(lengths->noise);
    for (int i = 0; i < count; i++)
        sizes[i] = 0.2;
    for (int step = 0; step < steps; step++) {
        double value = posterior(fit, parameters, gradient);
        if (!isfinite(value)) break;
        if (value < least) {
            least = value;
            memcpy(best, parameters, (size_t)count * sizeof *best);
        }
        step_all(count, parameters, gradient, previous, sizes);
    }
    if (!isfinite(least)) return;
    memcpy(lengths->logarithm, best, (size_t)fit->features * sizeof *best);
    lengths->noise = exp(best[fit->features]);
}

static kf_fit open_fit(int feature_count, int count, const float *features, const double *targets) {
    const size_t n = (size_t)count;
    kf_fit fit = {.features = feature_count,
                  .points = count,
                  .squares =
                      kf_allocate_zeroed(n * (n + 2 * LANES) / 2 * (size_t)feature_count + 1, sizeof(float)),
                  .targets = targets,
                  .kernel = kf_allocate(n * n * sizeof(double)),
                  .solution = kf_allocate(n * sizeof(double))};
    fill_squares(&fit, features);
    return fit;
}

static void close_fit(const kf_fit *fit) {
    free(fit->kernel);
    free(fit->solution);
    free(fit->squares);
}

void kf_lengths_fit(kf_lengths *lengths, int feature_count, int count, const float *features,
                    const double *targets, int steps) {
    if (count < 2 || feature_count == 0) return;
    kf_fit fit = open_fit(feature_count, count, features, targets);
    descend(&fit, lengths, steps);
    close_fit(&fit);
}

double kf_lengths_posterior(const kf_lengths *lengths, int feature_count, int count, const float *features,
                            const double *targets, double *gradient) {
    double parameters[KF_FEATURES + 1];
    kf_fit fit = open_fit(feature_count, count, features, targets);
    memcpy(parameters, lengths->logarithm, (size_t)feature_count * sizeof *parameters);
    parameters[feature_count] = log(lengths->noise);
    const double value = posterior(&fit, parameters, gradient);
    close_fit(&fit);
    return value;
}
