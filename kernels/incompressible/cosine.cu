/* A preconditioner: the direct solution for the box without its solid. It uses cosine transforms along two
 * axes whose faces prescribe no pressure, and a tridiagonal system for each mode along the third.
 *
 * Two lines are transformed as one complex line. The cosine transform of a line is a Fourier transform of
 * its even cells followed by its odd cells backwards (Makhoul, IEEE Trans. ASSP 28 (1980) 27). Stockham's
 * algorithm computes it in shared memory.
 *
 * Defines besides those of grid.h:
 *   KF_AXIS                 axis of the transforms
 *   KF_LINE                 cells of a line
 *   KF_PAIRS                pairs of lines in a block
 *   KF_STAGES, KF_RADICES   stages of the transform and their radices ("4,4,4") */
#include "grid.h"

#define KF_DONE (a->solve->done != 0)

typedef struct kf_spectral_value {
    kf_real re, im;
} kf_spectral_value;

KF_FUNCTION kf_spectral_value kf_times(kf_spectral_value a, kf_spectral_value b) {
    const kf_spectral_value product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return product;
}

KF_CONSTANT int kf_radices[KF_STAGES] = {KF_RADICES};

/* Computes the forward transforms of all pairs. Stages alternate between two arrays, so after an even
 * number of stages the result is in the first one. */
#define KF_TRANSFORM(first, second)                                                                          \
    {                                                                                                        \
        int done = 1;                                                                                        \
        for (int stage = 0; stage < KF_STAGES; stage++) {                                                    \
            const int radix = kf_radices[stage], length = done * radix, apart = KF_LINE / radix;             \
            const kf_spectral_value *from = stage % 2 ? second : first;                                      \
            kf_spectral_value *to = stage % 2 ? first : second;                                              \
            KF_EACH_OF(i, KF_LINE * KF_PAIRS, KF_THREADS) {                                                  \
                const int pair = i % KF_PAIRS, out = i / KF_PAIRS, m = out % length;                         \
                const int in = out / length * done + m % done;                                               \
                const kf_spectral_value twiddle = roots[m * (KF_LINE / length)];                             \
                kf_spectral_value sum = from[in * KF_PAIRS + pair], power = twiddle;                         \
                for (int p = 1; p < radix; p++) {                                                            \
                    const kf_spectral_value term =                                                           \
                        kf_times(power, from[(in + p * apart) * KF_PAIRS + pair]);                           \
                    sum.re += term.re;                                                                       \
                    sum.im += term.im;                                                                       \
                    power = kf_times(power, twiddle);                                                        \
                }                                                                                            \
                to[i] = sum;                                                                                 \
            }                                                                                                \
            KF_BARRIER;                                                                                      \
            done = length;                                                                                   \
        }                                                                                                    \
    }

/* Finds the place of the first cell of the block's first line, the distances to the next line and to the
 * next cell, and the number of lines that are left. */
#define KF_FIND_LINES                                                                                        \
    const int beside = KF_AXIS == 0 ? 1 : 0, deep = 3 - KF_AXIS - beside;                                    \
    const int stride[3] = {1, a->row, a->plane},                                                             \
              groups = (a->cells[beside] + 2 * KF_PAIRS - 1) / (2 * KF_PAIRS);                               \
    const int line = block_y % groups * 2 * KF_PAIRS, left = a->cells[beside] - line;                        \
    const int base = (int)a->origin + line * stride[beside] + block_y / groups * stride[deep];               \
    const kf_spectral_value *roots = (const kf_spectral_value *)a->compact, *quarters = roots + KF_LINE;     \
    (void)block_x;
/* Return the cell and the line of item i of the block. Adjacent items are adjacent in memory. */
#define KF_CELL_OF(i) (KF_AXIS == 0 ? (i) % KF_LINE : (i) / (2 * KF_PAIRS))
#define KF_LINE_OF(i) (KF_AXIS == 0 ? (i) / KF_LINE : (i) % (2 * KF_PAIRS))
/* Returns the place of a cell in the transform's order: the even cells, then the odd ones backwards. */
#define KF_SHUFFLED(x) ((x) % 2 == 0 ? (x) / 2 : KF_LINE - 1 - (x) / 2)

/* Transforms the residual (a->guess) to modes in a->corrected. */
KF_BLOCK_KERNEL(cosines, kf_incompressible_arguments) {
    if (KF_DONE) return;
    KF_SHARED kf_spectral_value one[KF_LINE * KF_PAIRS], two[KF_LINE * KF_PAIRS];
    KF_FIND_LINES
    const kf_real *from = KF_CONSTANTS(a->guess);
    kf_real *to = KF_VALUES(a->corrected), *reals = (kf_real *)one;
    KF_EACH_OF(i, KF_LINE * 2 * KF_PAIRS, KF_THREADS) {
        const int x = KF_CELL_OF(i), l = KF_LINE_OF(i);
        reals[KF_SHUFFLED(x) * 2 * KF_PAIRS + l] =
            l < left ? from[base + l * stride[beside] + x * stride[KF_AXIS]] : KF_R(0);
    }
    KF_BARRIER;
    KF_TRANSFORM(one, two)
    const kf_spectral_value *modes = KF_STAGES % 2 ? two : one;
    KF_EACH_OF(i, KF_LINE * 2 * KF_PAIRS, KF_THREADS) {
        const int k = KF_CELL_OF(i), l = KF_LINE_OF(i);
        const kf_spectral_value here = modes[k * KF_PAIRS + l / 2],
                                there = modes[(k == 0 ? 0 : KF_LINE - k) * KF_PAIRS + l / 2];
        const kf_spectral_value sum = {KF_R(0.5) * (here.re + there.re), KF_R(0.5) * (here.im - there.im)},
                                difference = {KF_R(0.5) * (here.im + there.im),
                                              KF_R(0.5) * (there.re - here.re)};
        const kf_spectral_value own = l % 2 ? difference : sum, quarter = quarters[k];
        if (l < left)
            to[base + l * stride[beside] + k * stride[KF_AXIS]] = quarter.re * own.re - quarter.im * own.im;
    }
}

/* Transforms modes back, in place. */
KF_BLOCK_KERNEL(cosines_back, kf_incompressible_arguments) {
    if (KF_DONE) return;
    KF_SHARED kf_spectral_value one[KF_LINE * KF_PAIRS], two[KF_LINE * KF_PAIRS];
    KF_FIND_LINES
    kf_real *values = KF_VALUES(a->corrected), *reals = (kf_real *)two;
    KF_EACH_OF(i, KF_LINE * 2 * KF_PAIRS, KF_THREADS) {
        const int k = KF_CELL_OF(i), l = KF_LINE_OF(i);
        reals[k * 2 * KF_PAIRS + l] =
            l < left ? values[base + l * stride[beside] + k * stride[KF_AXIS]] : KF_R(0);
    }
    KF_BARRIER;
    /* This is the conjugate of V = (X(k) - i X(n - k)) / quarter of both lines, V1 + i V2. */
    KF_EACH_OF(i, KF_LINE * KF_PAIRS, KF_THREADS) {
        const int k = i / KF_PAIRS;
        const kf_spectral_value none = {KF_R(0), KF_R(0)}, here = two[i],
                                there = k == 0 ? none : two[(KF_LINE - k) * KF_PAIRS + i % KF_PAIRS];
        const kf_spectral_value mixed = {here.re + there.im, here.im - there.re},
                                back = {quarters[k].re, -quarters[k].im};
        const kf_spectral_value whole = kf_times(back, mixed);
        one[i].re = whole.re;
        one[i].im = -whole.im;
    }
    KF_BARRIER;
    KF_TRANSFORM(one, two)
    const kf_spectral_value *cells = KF_STAGES % 2 ? two : one;
    KF_EACH_OF(i, KF_LINE * 2 * KF_PAIRS, KF_THREADS) {
        const int x = KF_CELL_OF(i), l = KF_LINE_OF(i);
        const kf_spectral_value own = cells[KF_SHUFFLED(x) * KF_PAIRS + l / 2];
        if (l < left)
            values[base + l * stride[beside] + x * stride[KF_AXIS]] =
                (l % 2 ? -own.im : own.re) * KF_R(1.0 / KF_LINE);
    }
}

/* Solves the tridiagonal systems along a->stream for each mode of the two other axes, in place. `other`
 * keeps the pivots. The extent is the cells of these two axes, the lower one first. */
KF_SCALAR_KERNEL(tridiagonal, kf_incompressible_arguments) {
    (void)z;
    if (KF_DONE) return;
    const int stride[3] = {1, a->row, a->plane}, along = a->stream, first = along == 0 ? 1 : 0,
              second = along == 2 ? 1 : 2;
    const int n = a->cells[along], step = stride[along],
              k = (int)a->origin + x * stride[first] + y * stride[second];
    const kf_real *first_modes = KF_CONSTANTS(a->modes[0]), *second_modes = KF_CONSTANTS(a->modes[1]);
    const kf_real mode = first_modes[x] + second_modes[y];
    const int low = a->faces[2 * along] == KF_FACE_OUTFLOW, high = a->faces[2 * along + 1] == KF_FACE_OUTFLOW;
    kf_real *values = KF_VALUES(a->corrected) + k, *pivots = KF_VALUES(a->other) + k;
    kf_real pivot = KF_R(0), value = KF_R(0);
    for (int i = 0; i < n; i++) {
        kf_real own = mode + KF_R(2) - KF_R(i == 0 && !low) - KF_R(i == n - 1 && !high);
        /* In a closed box the constant mode is undetermined. This fixes it in the first cell. */
        if (i == 0 && !low && !high && mode <= KF_R(0)) own += KF_R(1);
        pivot = KF_R(1) / (own - pivot);
        value = (values[i * step] + value) * pivot;
        pivots[i * step] = pivot;
        values[i * step] = value;
    }
    for (int i = n - 2; i >= 0; i--) {
        value = values[i * step] + pivots[i * step] * value;
        values[i * step] = value;
    }
}
