/* The pass along the last axis, in place: forward transform, diffusion and projection, inverse transform.
 *
 * Defines that a config sets:
 *   KF_COLUMN_THREADS            threads of a line
 *   KF_COLUMN_LINES              columns of a block
 *   KF_COLUMN_MOST               most values of a thread
 *   KF_COLUMN_R0 .. R4           radices
 *   KF_COMPONENT_PER_THREAD 0|1  0: a thread has all components of its columns; 1: it has one */
#ifndef KF_KERNELS_STABLE_FLUIDS_COLUMNS_H
#define KF_KERNELS_STABLE_FLUIDS_COLUMNS_H

#define KF_COLUMN_MANY (KF_COMPONENT_PER_THREAD ? 1 : KF_DIMENSIONS)      /* components of a thread */
#define KF_COLUMN_ALL  (KF_COLUMN_LINES * KF_DIMENSIONS / KF_COLUMN_MANY) /* lines that transform.h sees */
#ifndef KF_LANES
#define KF_LANES KF_COLUMN_ALL
#endif
#include "modes.h"
#include "transform.h"

#define KF_COLUMN_N       ((KF_DIMENSIONS == 3 ? KF_NZ : KF_NY) / (1 + KF_FOLD_LAST))
#define KF_COLUMN_ALL     (KF_COLUMN_LINES * KF_DIMENSIONS / KF_COLUMN_MANY) /* lines that transform.h sees */
#define KF_COLUMN_RADICES KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4
#define KF_COLUMN_ENGINE                                                                                     \
    KF_COLUMN_N, KF_COLUMN_THREADS, KF_COLUMN_ALL, 1, KF_COLUMN_MANY, KF_COLUMN_MOST, KF_COLUMN_RADICES
#define KF_COLUMN_LAST           KF_LAST_OF(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4)
#define KF_COLUMN_FIRST          KF_COLUMN_R0
#define KF_COLUMN_SHARED         KF_EXCHANGE_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_ALL)
#define KF_COLUMN_TILES          ((KF_MODES_X + KF_COLUMN_LINES - 1) / KF_COLUMN_LINES)
#define KF_COLUMN_AT(m, slot, i) KF_AT(m, slot, i, KF_COLUMN_N, KF_COLUMN_MOST)
#define KF_COLUMN_EACH(l, slot, i, radix)                                                                    \
    KF_EACH_VALUE(l, slot, i, KF_COLUMN_N, KF_COLUMN_THREADS, KF_COLUMN_ALL, 1, radix)
/* Return the column, and the component, of line l. */
#define KF_COLUMN_OF(l)    (KF_COMPONENT_PER_THREAD ? (l) / KF_DIMENSIONS : (l))
#define KF_COMPONENT_OF(l) (KF_COMPONENT_PER_THREAD ? (l) % KF_DIMENSIONS : 0)

#if KF_CUDA
/* Returns the same value of the other component, which the adjacent lane holds. */
KF_FUNCTION kf_complex kf_partner(const kf_wide *v, int at, int l) {
    const unsigned lanes = __activemask();
    return kf_complex_of(__shfl_xor_sync(lanes, v[at].re, 1), __shfl_xor_sync(lanes, v[at].im, 1));
}
#else
KF_FUNCTION kf_complex kf_partner(const kf_wide *v, int at, int l) {
    return kf_get(v, at, l ^ 1);
}
#endif

/* Between walls a column's values are in the order of Makhoul 1980 (rows.h). The component across the
 * walls changes its sign in the second half. */
#define KF_FOLDED (KF_FOLD_X || KF_FOLD_LAST)
#define KF_COLUMN_CELL(i)                                                                                    \
    (KF_FOLD_LAST ? (2 * (i) < KF_COLUMN_N ? 2 * (i) : 2 * (KF_COLUMN_N - (i)) - 1) : (i))
#define KF_COLUMN_SIGN(i, component)                                                                         \
    (KF_FOLD_LAST && (component) == KF_DIMENSIONS - 1 && 2 * (i) >= KF_COLUMN_N ? KF_R(-1) : KF_R(1))
/* Returns the row of the spectrum that has value i of a column. iy: the column's y in three dimensions. */
#define KF_COLUMN_ROW(i, iy) (KF_DIMENSIONS == 3 ? KF_COLUMN_CELL(i) * KF_NY + (iy) : KF_COLUMN_CELL(i))

/* Loads the twiddles of columns. The table has the forward ones, then the inverse ones. */
KF_FUNCTION void kf_column_twiddles(const kf_fluid_arguments *a, const int sign, kf_twiddles *twiddles) {
    kf_load_twiddles(twiddles,
                     (const kf_complex *)(KF_DIMENSIONS == 3 ? a->twiddles_z : a->twiddles_y) +
                         (sign < 0 ? 0 : KF_COLUMN_N - 1),
                     sign, KF_COLUMN_ENGINE);
}
/* The twiddles of both directions. They are the same if the radices are a palindrome. */
typedef struct kf_both_twiddles {
    kf_twiddles forward, inverse;
} kf_both_twiddles;
KF_FUNCTION void kf_both_column_twiddles(const kf_fluid_arguments *a, kf_both_twiddles *twiddles) {
    kf_column_twiddles(a, -1, &twiddles->forward);
    if (!KF_PALINDROME(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4))
        kf_column_twiddles(a, 1, &twiddles->inverse);
}
#define KF_COLUMN_INVERSE_TWIDDLES(twiddles)                                                                 \
    (KF_PALINDROME(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4)                     \
         ? &(twiddles)->forward                                                                              \
         : &(twiddles)->inverse)

/* Returns the factors of the diffusion and projection of value i of a column. */
#define KF_COLUMN_FACTORS(a, kx, i, iy)                                                                      \
    kf_factors_of(a, KF_R(kx),                                                                               \
                  KF_DIMENSIONS == 3 ? KF_R((iy) + KF_SIGN_SHIFT(iy, KF_NY))                                 \
                                     : KF_REAL_VALUE_NUMBER(KF_R(0), i) + KF_R(KF_SIGN_SHIFT(i, KF_NY)),     \
                  KF_DIMENSIONS == 3 ? KF_REAL_VALUE_NUMBER(KF_R(0), i) + KF_R(KF_SIGN_SHIFT(i, KF_NZ))      \
                                     : KF_R(0),                                                              \
                  (kx) == 0 && (iy) == 0 && (i) == 0,                                                        \
                  (KF_DIMENSIONS == 3 && 2 * (iy) == KF_NY) || 2 * (i) == KF_COLUMN_N)

KF_FUNCTION kf_complex kf_signed(kf_real sign, kf_complex c) {
    return kf_complex_of(sign * c.re, sign * c.im);
}

/* Reads the modes of a block's columns. */
KF_FUNCTION void kf_read_columns(const kf_fluid_arguments *a, int first, int iy, int simulation, kf_wide *v) {
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        const int place = kf_mode_place(first + KF_COLUMN_OF(l), KF_COLUMN_ROW(i, iy));
#if KF_COMPONENT_PER_THREAD
        kf_set(v, KF_COLUMN_AT(0, slot, i), l,
               kf_signed(KF_COLUMN_SIGN(i, KF_COMPONENT_OF(l)),
                         kf_mode_from(*kf_mode(a, simulation, KF_COMPONENT_OF(l), place))));
#elif KF_DIMENSIONS == 2
        kf_complex first_mode, second_mode;
        kf_read_modes(a, simulation, place, &first_mode, &second_mode);
        kf_set(v, KF_COLUMN_AT(0, slot, i), l, first_mode);
        kf_set(v, KF_COLUMN_AT(1, slot, i), l, kf_signed(KF_COLUMN_SIGN(i, 1), second_mode));
#else
        KF_UNROLL
        for (int m = 0; m < KF_COLUMN_MANY; m++)
            kf_set(v, KF_COLUMN_AT(m, slot, i), l,
                   kf_signed(KF_COLUMN_SIGN(i, m), kf_mode_from(*kf_mode(a, simulation, m, place))));
#endif
    }
}

#if KF_FOLDED
#define KF_OTHER_X (KF_LINE_X / 2 * 2 == KF_LINE_X ? KF_LINE_X / 2 : 0)
/* Divides by the diffusion and projects all components of one wave vector. kx: a number of half waves
 * between walls. The components were turned so that a derivative along each axis is the same factor, i k
 * or k, for all of them. */
KF_FUNCTION void kf_project_wave(const kf_fluid_arguments *a, int kx, int iy, int last, int highest,
                                 kf_complex *c) {
    const int deep = KF_DIMENSIONS == 3;
    const kf_mode_factors f =
        kf_factors_of(a, KF_R(kx), deep ? KF_R(iy + KF_SIGN_SHIFT(iy, KF_NY)) : KF_R(last),
                      deep ? KF_R(last) : KF_R(0), kx == 0 && iy == 0 && last == 0, highest);
#if KF_DIMENSIONS == 2
    const kf_complex u = c[0], v = c[1];
    c[0] = kf_projected_2(&f, u, v, 0), c[1] = kf_projected_2(&f, u, v, 1);
#else
    kf_projected_3(&f, c);
#endif
}
/* Diffuses and projects one value of a column for all components. Between walls across x its real part
 * belongs to kx half waves, and its imaginary part to L - kx, or to L / 2 if kx is 0. So these need two
 * projections. */
KF_FUNCTION void kf_project_column(const kf_fluid_arguments *a, int kx, int iy, int last, int highest,
                                   kf_complex *c) {
#if KF_FOLD_X
    kf_complex other[3];
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++)
        other[m] = c[m];
    kf_project_wave(a, kx == 0 ? KF_OTHER_X : KF_LINE_X - kx, iy, last,
                    highest || (kx == 0 && KF_OTHER_X == 0), other);
#endif
    kf_project_wave(a, kx, iy, last, highest, c);
#if KF_FOLD_X
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++)
        c[m].im = other[m].im;
#endif
}
KF_FUNCTION kf_complex kf_times_i(kf_complex c) {
    return kf_complex_of(-c.im, c.re);
}

/* Diffuses and projects two values of a folded column: `here` at i, and `there` at n - i, for each
 * component. `back` is what the inverse transform needs at i. */
#if KF_FOLD_LAST
KF_FUNCTION void kf_project_pair(const kf_fluid_arguments *a, int kx, int iy, int i, const kf_complex *here,
                                 const kf_complex *there, kf_complex *back) {
    const int highest = KF_DIMENSIONS == 3 && 2 * iy == KF_NY, across = KF_DIMENSIONS - 1;
    const kf_complex w =
        ((const kf_complex *)(KF_DIMENSIONS == 3 ? a->twiddles_z : a->twiddles_y))[2 * (KF_COLUMN_N - 1) + i];
    kf_complex low[3], high[3]; /* the waves of i and of n - i half waves */
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++) {
        const kf_complex p =
            kf_complex_of(w.re * here[m].re - w.im * here[m].im, w.re * here[m].im + w.im * here[m].re);
        const kf_complex q =
            kf_complex_of(w.re * there[m].re + w.im * there[m].im, w.re * there[m].im - w.im * there[m].re);
        const kf_complex sum = kf_complex_of(p.re + q.re, p.im + q.im),
                         rest = kf_complex_of(q.im - p.im, p.re - q.re);
        low[m] = m == across ? rest : sum, high[m] = m == across ? sum : rest;
    }
    if (!KF_FOLD_X)
        low[across] = kf_times_i(kf_signed(-1, low[across])),
        high[across] = kf_times_i(kf_signed(-1, high[across]));
    kf_project_column(a, kx, iy, i, highest, low);
    kf_project_column(a, kx, iy, KF_COLUMN_N - i, highest || i == 0, high);
    if (!KF_FOLD_X) low[across] = kf_times_i(low[across]), high[across] = kf_times_i(high[across]);
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++) {
        const kf_complex sum = m == across ? high[m] : low[m], rest = m == across ? low[m] : high[m];
        const kf_complex c = kf_complex_of(KF_R(0.5) * (sum.re + rest.im), KF_R(0.5) * (sum.im - rest.re));
        back[m] = kf_complex_of(w.re * c.re + w.im * c.im, w.re * c.im - w.im * c.re);
    }
}
#else
KF_FUNCTION void kf_project_pair(const kf_fluid_arguments *a, int kx, int iy, int i, const kf_complex *here,
                                 const kf_complex *there, kf_complex *back) {
    const int last = i + KF_SIGN_SHIFT(i, KF_COLUMN_N), highest = 2 * i == KF_COLUMN_N;
    kf_complex low[3], high[3]; /* the waves of kx and of L - kx half waves across x */
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++) {
        low[m] =
            kf_complex_of(KF_R(0.5) * (here[m].re + there[m].re), KF_R(0.5) * (here[m].im - there[m].im));
        high[m] =
            kf_complex_of(KF_R(-0.5) * (here[m].im + there[m].im), KF_R(0.5) * (here[m].re - there[m].re));
    }
    low[1] = kf_times_i(low[1]), high[1] = kf_times_i(high[1]);
    kf_project_wave(a, kx, iy, last, highest, low);
    kf_project_wave(a, kx == 0 ? KF_OTHER_X : KF_LINE_X - kx, iy, last,
                    highest || (kx == 0 && KF_OTHER_X == 0), high);
    low[1] = kf_times_i(kf_signed(-1, low[1])), high[1] = kf_times_i(kf_signed(-1, high[1]));
    KF_UNROLL
    for (int m = 0; m < KF_DIMENSIONS; m++)
        back[m] = kf_complex_of(low[m].re + high[m].im, low[m].im - high[m].re);
}
#endif

/* Diffuses and projects folded columns. A value needs its mirror image, which another thread holds, so all
 * go through shared memory. */
KF_FUNCTION void kf_project_folded(const kf_fluid_arguments *a, int first, int iy, kf_wide *shared,
                                   kf_wide *v) {
    KF_BARRIER;
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        KF_UNROLL
        for (int m = 0; m < KF_COLUMN_MANY; m++)
            kf_set(shared, KF_LINE_PLACE(m, i, l, KF_COLUMN_N, KF_COLUMN_ALL), l,
                   kf_get(v, KF_COLUMN_AT(m, slot, i), l));
    }
    KF_BARRIER;
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        const int j = i == 0 ? 0 : KF_COLUMN_N - i;
        kf_complex here[3], there[3], back[3];
        KF_UNROLL
        for (int m = 0; m < KF_DIMENSIONS; m++) {
            const int many = KF_COMPONENT_PER_THREAD ? 0 : m,
                      line = KF_COMPONENT_PER_THREAD ? l / KF_DIMENSIONS * KF_DIMENSIONS + m : l;
            here[m] = kf_get(shared, KF_LINE_PLACE(many, i, line, KF_COLUMN_N, KF_COLUMN_ALL), line);
            there[m] = kf_get(shared, KF_LINE_PLACE(many, j, line, KF_COLUMN_N, KF_COLUMN_ALL), line);
        }
        kf_project_pair(a, first + KF_COLUMN_OF(l), iy, i, here, there, back);
#if KF_COMPONENT_PER_THREAD
        const int component = KF_COMPONENT_OF(l);
        kf_set(v, KF_COLUMN_AT(0, slot, i), l,
               component == 0   ? back[0]
               : component == 1 ? back[1]
                                : back[KF_DIMENSIONS - 1]);
#else
        KF_UNROLL
        for (int m = 0; m < KF_DIMENSIONS; m++)
            kf_set(v, KF_COLUMN_AT(m, slot, i), l, back[m]);
#endif
    }
    KF_BARRIER;
}
#endif

/* Transforms the columns that were read, projects them, transforms them back and writes them. */
KF_FUNCTION void kf_work_on_columns(const kf_fluid_arguments *a, int first, int iy, int simulation,
                                    const kf_both_twiddles *twiddles, kf_wide *shared, kf_wide *v) {
    kf_transform(v, shared, &twiddles->forward, -1, KF_COLUMN_ENGINE);
#if KF_FOLDED
    kf_wide *projected = v;
    kf_project_folded(a, first, iy, shared, v);
#else
#if KF_COMPONENT_PER_THREAD && KF_DIMENSIONS == 3
    KF_BARRIER;
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        kf_set(shared, KF_LINE_PLACE(0, i, l, KF_COLUMN_N, KF_COLUMN_ALL), l,
               kf_get(v, KF_COLUMN_AT(0, slot, i), l));
    }
    KF_BARRIER;
#endif
#if KF_COMPONENT_PER_THREAD && KF_DIMENSIONS == 2
    kf_wide projected[KF_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_MOST)];
#else
    kf_wide *projected = v;
#endif
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        const kf_mode_factors f = KF_COLUMN_FACTORS(a, first + KF_COLUMN_OF(l), i, iy);
        const int at = KF_COLUMN_AT(0, slot, i);
#if KF_DIMENSIONS == 2 && KF_COMPONENT_PER_THREAD
        const kf_complex mine = kf_get(v, at, l), other = kf_partner(v, at, l);
        kf_set(projected, at, l, kf_projected_own(&f, mine, other, KF_COMPONENT_OF(l)));
#elif KF_DIMENSIONS == 2
        const kf_complex u = kf_get(v, at, l), w = kf_get(v, KF_COLUMN_AT(1, slot, i), l);
        kf_set(v, at, l, kf_projected_2(&f, u, w, 0));
        kf_set(v, KF_COLUMN_AT(1, slot, i), l, kf_projected_2(&f, u, w, 1));
#elif KF_COMPONENT_PER_THREAD
        kf_complex c[3];
        KF_UNROLL
        for (int m = 0; m < 3; m++)
            c[m] =
                kf_get(shared, KF_LINE_PLACE(0, i, l / 3 * 3 + m, KF_COLUMN_N, KF_COLUMN_ALL), l / 3 * 3 + m);
        kf_projected_3(&f, c);
        const int component = KF_COMPONENT_OF(l);
        kf_set(v, at, l, component == 0 ? c[0] : component == 1 ? c[1] : c[2]);
#else
        kf_complex c[3];
        KF_UNROLL
        for (int m = 0; m < 3; m++)
            c[m] = kf_get(v, KF_COLUMN_AT(m, slot, i), l);
        kf_projected_3(&f, c);
        KF_UNROLL
        for (int m = 0; m < 3; m++)
            kf_set(v, KF_COLUMN_AT(m, slot, i), l, c[m]);
        (void)at;
#endif
    }
#if KF_EXCHANGE_BUFFERS == 2
    KF_BARRIER;
#endif
#endif
    kf_transform(projected, shared, KF_COLUMN_INVERSE_TWIDDLES(twiddles), 1, KF_COLUMN_ENGINE);
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        const int place = kf_mode_place(first + KF_COLUMN_OF(l), KF_COLUMN_ROW(i, iy));
#if KF_COMPONENT_PER_THREAD
        *kf_mode(a, simulation, KF_COMPONENT_OF(l), place) = kf_mode_to(
            kf_signed(KF_COLUMN_SIGN(i, KF_COMPONENT_OF(l)), kf_get(projected, KF_COLUMN_AT(0, slot, i), l)));
#elif KF_DIMENSIONS == 2
        kf_write_modes(a, simulation, place, kf_get(projected, KF_COLUMN_AT(0, slot, i), l),
                       kf_signed(KF_COLUMN_SIGN(i, 1), kf_get(projected, KF_COLUMN_AT(1, slot, i), l)));
#else
        KF_UNROLL
        for (int m = 0; m < KF_COLUMN_MANY; m++)
            *kf_mode(a, simulation, m, place) =
                kf_mode_to(kf_signed(KF_COLUMN_SIGN(i, m), kf_get(projected, KF_COLUMN_AT(m, slot, i), l)));
#endif
    }
}

/* Prefetches the columns of a later block. In tiles they are contiguous in memory. */
KF_FUNCTION void kf_ask_for_columns(const kf_fluid_arguments *a, int block, int simulation) {
#if KF_CUDA && KF_AHEAD && KF_DIMENSIONS == 2 && KF_TILE > 0
    if (threadIdx.x == 0 && block < KF_COLUMN_TILES && (block + 1) * KF_COLUMN_LINES <= KF_PITCH)
        kf_ask_for(kf_modes(a, simulation, block * KF_COLUMN_LINES * KF_ROWS),
                   KF_COLUMN_LINES * KF_ROWS * (unsigned)sizeof(kf_mode_pair));
#else
    (void)a, (void)block, (void)simulation;
#endif
}
KF_FUNCTION void kf_columns(const kf_fluid_arguments *a, int block, int simulation,
                            const kf_both_twiddles *twiddles, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_MOST)];
    kf_ask_for_columns(a, block + a->ahead, simulation);
    const int first = block % KF_COLUMN_TILES * KF_COLUMN_LINES,
              iy = KF_DIMENSIONS == 3 ? block / KF_COLUMN_TILES : 0;
    kf_read_columns(a, first, iy, simulation, v);
    kf_work_on_columns(a, first, iy, simulation, twiddles, shared, v);
}

#endif
