#include "harness/search/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/wide.h"

/* Candidates are processed in blocks. A loop over a block has a fixed length, so compilers vectorise it, and
 * all rows of a block are contiguous. */
enum { BLOCK = 32, BLOCKS = KF_SURROGATE_CANDIDATES / BLOCK, POINTS = KF_SURROGATE_POINTS };

/* A config far from all others is assumed to work, as if neighbours with this much of the kernel had voted
 * for it. */
static const float PRIOR_VOTES = 0.3F;
static const float LEAST_VARIANCE = 1e-7F;

typedef struct kf_block {
    float features[KF_FEATURES][BLOCK]; /* divided by the lengths */
    float rows[POINTS][BLOCK];          /* rows of L^-1 K(points, candidates) */
    float mean[BLOCK], variance[BLOCK], works[BLOCK], fails[BLOCK];
} kf_block;

struct kf_surrogate {
    int feature_count;
    float effect_share; /* share of a single feature's effect in the kernel */
    double noise;
    float inverse[KF_FEATURES];
    int point_count, candidate_count;
    float points[POINTS][KF_FEATURES]; /* divided by the lengths */
    double factor[POINTS][POINTS];     /* lower triangle of L in K = L L^T */
    double targets[POINTS];
    bool has_target[POINTS];
    double weights[POINTS]; /* L^-1 targets; 0 for points without a target */
    bool stale;             /* targets have changed since the weights were computed */
    kf_block *blocks[BLOCKS];
};

kf_surrogate *kf_surrogate_open(void) {
    return kf_allocate_zeroed(1, sizeof(kf_surrogate));
}

void kf_surrogate_close(kf_surrogate *surrogate) {
    if (surrogate == NULL) return;
    for (int b = 0; b < BLOCKS; b++)
        free(surrogate->blocks[b]);
    free(surrogate);
}

void kf_surrogate_reset(kf_surrogate *surrogate, int feature_count, const kf_lengths *lengths) {
    surrogate->feature_count = feature_count;
    surrogate->effect_share = 0.5F / (float)(feature_count > 0 ? feature_count : 1);
    for (int f = 0; f < surrogate->feature_count; f++)
        surrogate->inverse[f] = (float)exp(-lengths->logarithm[f]);
    surrogate->noise = lengths->noise;
    surrogate->point_count = surrogate->candidate_count = 0;
    surrogate->stale = false;
}

int kf_surrogate_point_count(const kf_surrogate *surrogate) {
    return surrogate->point_count;
}
int kf_surrogate_candidate_count(const kf_surrogate *surrogate) {
    return surrogate->candidate_count;
}

/* --- The kernel ----------------------------------------------------------------------------------------- */

/* Computes the kernel from `square`, which is r^2, and `effects`, which is the sum of 1 / (1 + d_f^2). */
static inline float kernel(const kf_surrogate *surrogate, float square, float effects) {
    float sum = 1 + 0.25F * square;
    return 0.5F / (sum * sum) + surrogate->effect_share * effects;
}

static float kernel_between(const kf_surrogate *surrogate, const float *a, const float *b) {
    float square = 0, effects = 0;
    for (int f = 0; f < surrogate->feature_count; f++) {
        float own = (a[f] - b[f]) * (a[f] - b[f]);
        square += own;
        effects += 1 / (1 + own);
    }
    return kernel(surrogate, square, effects);
}

static inline void kernel_block(const kf_surrogate *surrogate, const kf_block *block, const float *point,
                                float *restrict values) {
    float squares[BLOCK] = {0}, effects[BLOCK] = {0};
    for (int f = 0; f < surrogate->feature_count; f++) {
        const float *row = block->features[f], at = point[f];
        for (int k = 0; k < BLOCK; k++) {
            float own = (row[k] - at) * (row[k] - at);
            squares[k] += own;
            effects[k] += 1 / (1 + own);
        }
    }
    for (int k = 0; k < BLOCK; k++)
        values[k] = kernel(surrogate, squares[k], effects[k]);
}

/* Fills row number `point` of a block from the rows before it. It computes four rows at a time, which saves
 * loads and stores and keeps the order of the sums. */
KF_WIDE static void fill_row(const kf_surrogate *surrogate, kf_block *block, int point) {
    const double *factor = surrogate->factor[point];
    float row[BLOCK];
    kernel_block(surrogate, block, surrogate->points[point], row);
    int j = 0;
    for (; j + 4 <= point; j += 4) {
        const float share[4] = {(float)factor[j], (float)factor[j + 1], (float)factor[j + 2],
                                (float)factor[j + 3]};
        const float(*earlier)[BLOCK] = (const float(*)[BLOCK])block->rows + j;
        for (int k = 0; k < BLOCK; k++)
            row[k] = row[k] - share[0] * earlier[0][k] - share[1] * earlier[1][k] - share[2] * earlier[2][k] -
                     share[3] * earlier[3][k];
    }
    for (; j < point; j++)
        for (int k = 0; k < BLOCK; k++)
            row[k] -= (float)factor[j] * block->rows[j][k];
    float scale = (float)(1 / factor[point]);
    for (int k = 0; k < BLOCK; k++)
        block->rows[point][k] = row[k] *= scale;
    for (int k = 0; k < BLOCK; k++)
        block->variance[k] -= row[k] * row[k];
}

static int used_blocks(const kf_surrogate *surrogate) {
    return (surrogate->candidate_count + BLOCK - 1) / BLOCK;
}

/* --- Points --------------------------------------------------------------------------------------------- */

static void scale_features(const kf_surrogate *surrogate, const float *features, float *scaled) {
    for (int f = 0; f < surrogate->feature_count; f++)
        scaled[f] = features[f] * surrogate->inverse[f];
}

/* Multiplies the kernel's values by L^-1 in place. Four rows are computed together, because each sum waits
 * for its last addition. */
KF_WIDE static void substitute(const kf_surrogate *surrogate, int n, double *values) {
    for (int j = 0; j < n; j += 4) {
        const int rows = n - j < 4 ? n - j : 4;
        const double *row[4];
        double sums[4];
        for (int k = 0; k < 4; k++) {
            const int at = k < rows ? j + k : j;
            row[k] = surrogate->factor[at];
            sums[k] = values[at];
        }
        for (int i = 0; i < j; i++)
            for (int k = 0; k < 4; k++)
                sums[k] -= values[i] * row[k][i];
        for (int k = 0; k < rows; k++) {
            for (int i = j; i < j + k; i++)
                sums[k] -= values[i] * row[k][i];
            values[j + k] = sums[k] / row[k][j + k];
        }
    }
}

/* Adds a point to the surrogate: one more row of the Cholesky factor, in O(n^2), and of the blocks of
 * candidates. Returns the point's number. */
int kf_surrogate_add_point(kf_surrogate *surrogate, const float *features) {
    int n = surrogate->point_count++;
    float *point = surrogate->points[n];
    double *factor = surrogate->factor[n], rest = 1 + surrogate->noise;
    scale_features(surrogate, features, point);
    for (int j = 0; j < n; j++)
        factor[j] = (double)kernel_between(surrogate, point, surrogate->points[j]);
    substitute(surrogate, n, factor);
    for (int j = 0; j < n; j++)
        rest -= factor[j] * factor[j];
    factor[n] = sqrt(fmax(rest, 1e-6));
    surrogate->has_target[n] = false;
    surrogate->weights[n] = 0;
    for (int b = 0; b < used_blocks(surrogate); b++)
        fill_row(surrogate, surrogate->blocks[b], n);
    return n;
}

void kf_surrogate_set_target(kf_surrogate *surrogate, int point, double target) {
    surrogate->targets[point] = target;
    surrogate->has_target[point] = true;
    surrogate->stale = true;
}

/* Returns the weight of a point from those before it. It is 0 for a point without a target, whose target is
 * then the prediction. */
static double weight_of(const kf_surrogate *surrogate, const double *weights, int i, double mean) {
    if (!surrogate->has_target[i]) return 0;
    double sum = surrogate->targets[i] - mean;
    for (int j = 0; j < i; j++)
        sum -= surrogate->factor[i][j] * weights[j];
    return sum / surrogate->factor[i][i];
}

static void update_weights(kf_surrogate *surrogate) {
    if (!surrogate->stale) return;
    surrogate->stale = false;
    for (int i = 0; i < surrogate->point_count; i++) {
        const double weight = weight_of(surrogate, surrogate->weights, i, 0);
        float change = (float)(weight - surrogate->weights[i]);
        if (weight == surrogate->weights[i]) continue;
        surrogate->weights[i] = weight;
        for (int b = 0; b < used_blocks(surrogate); b++) {
            kf_block *block = surrogate->blocks[b];
            for (int k = 0; k < BLOCK; k++)
                block->mean[k] += change * block->rows[i][k];
        }
    }
}

KF_WIDE static void vote(kf_surrogate *surrogate, const float *features, bool works) {
    float point[KF_FEATURES], values[BLOCK];
    scale_features(surrogate, features, point);
    for (int b = 0; b < used_blocks(surrogate); b++) {
        kf_block *block = surrogate->blocks[b];
        float *votes = works ? block->works : block->fails;
        kernel_block(surrogate, block, point, values);
        for (int k = 0; k < BLOCK; k++) /* squared, because failures have sharper borders than times */
            votes[k] += values[k] * values[k];
    }
}
void kf_surrogate_vote(kf_surrogate *surrogate, const float *features, bool works) {
    vote(surrogate, features, works);
}

/* --- Candidates ----------------------------------------------------------------------------------------- */

static kf_block *open_block(kf_surrogate *surrogate, int number) {
    if (surrogate->blocks[number] == NULL)
        surrogate->blocks[number] = kf_allocate_zeroed(1, sizeof(kf_block));
    kf_block *block = surrogate->blocks[number];
    memset(block->features, 0, sizeof block->features);
    for (int k = 0; k < BLOCK; k++) {
        block->mean[k] = block->works[k] = block->fails[k] = 0;
        block->variance[k] = 1;
    }
    return block;
}

/* Computes the rows of a single candidate that is added after points exist. */
static void catch_up(kf_surrogate *surrogate, kf_block *block, int k, const float *scaled) {
    float mean = 0, variance = 1;
    for (int i = 0; i < surrogate->point_count; i++) {
        float value = kernel_between(surrogate, scaled, surrogate->points[i]);
        for (int j = 0; j < i; j++)
            value -= (float)surrogate->factor[i][j] * block->rows[j][k];
        value /= (float)surrogate->factor[i][i];
        block->rows[i][k] = value;
        mean += (float)surrogate->weights[i] * value;
        variance -= value * value;
    }
    block->mean[k] = mean;
    block->variance[k] = variance;
}

int kf_surrogate_add_candidate(kf_surrogate *surrogate, const float *features) {
    int number = surrogate->candidate_count++, k = number % BLOCK;
    kf_block *block = k == 0 ? open_block(surrogate, number / BLOCK) : surrogate->blocks[number / BLOCK];
    float scaled[KF_FEATURES];
    scale_features(surrogate, features, scaled);
    for (int f = 0; f < surrogate->feature_count; f++)
        block->features[f][k] = scaled[f];
    catch_up(surrogate, block, k, scaled);
    return number;
}

/* --- Predictions ---------------------------------------------------------------------------------------- */

/* Returns the standard deviation of the signal. Its variance is the mean square of the weights. */
static float signal_deviation(const kf_surrogate *surrogate) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < surrogate->point_count; i++) {
        if (!surrogate->has_target[i]) continue;
        sum += surrogate->weights[i] * surrogate->weights[i];
        count++;
    }
    return count > 0 ? (float)sqrt(fmax(sum / count, 1e-12)) : 1.0F;
}

/* Far below the best only the asymptotic series (of Mills' ratio) is accurate in single precision. */
float kf_log_improvement(float u) {
    if (u > -5) {
        float density = 0.39894228F * expf(-0.5F * u * u);
        return logf(density + u * 0.5F * erfcf(-0.70710678F * u) + 1e-12F);
    }
    const float t = 1 / (u * u);
    return -0.5F * u * u - 0.9189385F + logf(t * (1 - t * (3 - t * (15 - 105 * t))));
}

/* Returns an upper bound of kf_log_improvement, with which most candidates need no further computation. */
static float improvement_bound(float u) {
    return u > 0 ? logf(0.39894229F + u) : -0.5F * u * u - 0.91893853F;
}

int kf_surrogate_choose(kf_surrogate *surrogate, double best, const float *offsets, const bool *skip,
                        float boldness) {
    update_weights(surrogate);
    const float signal = boldness * signal_deviation(surrogate), goal = (float)best;
    int chosen = -1;
    float most = -INFINITY;
    for (int i = 0; i < surrogate->candidate_count; i++) {
        if (skip[i]) continue;
        const kf_block *block = surrogate->blocks[i / BLOCK];
        int k = i % BLOCK;
        float deviation = signal * sqrtf(fmaxf(block->variance[k], LEAST_VARIANCE));
        float u = (goal - block->mean[k] - offsets[i]) / deviation, scale = logf(deviation);
        if (chosen >= 0 && improvement_bound(u) + scale < most) continue;
        float votes = block->works[k] + PRIOR_VOTES;
        float score = kf_log_improvement(u) + scale + logf(votes / (votes + block->fails[k]));
        if (chosen >= 0 && score <= most) continue;
        most = score;
        chosen = i;
    }
    return chosen;
}

void kf_surrogate_predict(kf_surrogate *surrogate, int candidate, double *mean, double *deviation) {
    update_weights(surrogate);
    const kf_block *block = surrogate->blocks[candidate / BLOCK];
    *mean = (double)block->mean[candidate % BLOCK];
    *deviation = (double)(signal_deviation(surrogate) *
                          sqrtf(fmaxf(block->variance[candidate % BLOCK], LEAST_VARIANCE)));
}

/* A target minus its prediction from the others is row i of K^-1 targets divided by the diagonal of K^-1.
 * With v = L^-1 e_i these are v * L^-1 targets and v * v. */
double kf_surrogate_agreement(const kf_surrogate *surrogate) {
    const int n = surrogate->point_count;
    double *weights = kf_allocate(4 * (size_t)POINTS * sizeof *weights), *row = weights + POINTS,
           *targets = row + POINTS, *predicted = targets + POINTS, mean = 0;
    size_t count = 0;
    for (int i = 0; i < n; i++) {
        if (!surrogate->has_target[i]) continue;
        mean += surrogate->targets[i];
        count++;
    }
    mean /= (double)(count > 0 ? count : 1);
    for (int i = 0; i < n; i++)
        weights[i] = weight_of(surrogate, weights, i, mean);
    count = 0;
    for (int i = 0; i < n; i++) {
        if (!surrogate->has_target[i]) continue;
        double along = 0, square = 0;
        for (int j = 0; j < n; j++)
            row[j] = j == i ? 1.0 : 0.0;
        substitute(surrogate, n, row);
        for (int j = i; j < n; j++) {
            along += row[j] * weights[j];
            square += row[j] * row[j];
        }
        targets[count] = surrogate->targets[i];
        predicted[count++] = surrogate->targets[i] - along / square;
    }
    const double found = kf_rank_correlation(targets, predicted, count);
    free(weights);
    return found;
}
