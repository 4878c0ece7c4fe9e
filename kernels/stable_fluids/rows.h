/* Passes along x: advection with the forward transform of rows, and the inverse one to velocities. A complex line has
 * two real ones: u and v of a row (2D), or u and v of a row, those of the next, and w of both (3D).
 * Defines: KF_ROW_THREADS of a line, KF_ROW_LINES of a block, KF_ROW_MOST values a thread, KF_ROW_R0 .. R4 radices */
#ifndef KF_KERNELS_STABLE_FLUIDS_ROWS_H
#define KF_KERNELS_STABLE_FLUIDS_ROWS_H

#define KF_ROW_MANY (KF_DIMENSIONS == 3 ? 3 : 1) /* complex lines at once */
#define KF_LANES KF_ROW_LINES
#include "advection.h"
#include "modes.h"
#include "transform.h"

#ifndef KF_KEEP
#define KF_KEEP 0
#endif
#define KF_ROW_RADICES KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4
#define KF_ROW_ENGINE KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_MANY, KF_ROW_MOST, KF_ROW_RADICES
#define KF_ROW_LAST   KF_LAST_OF(KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4)
#define KF_ROW_FIRST  KF_ROW_R0
#define KF_ROW_PLACE(m, x, l) KF_LINE_PLACE(m, x, l, KF_LINE_X, KF_ROW_LINES)
#define KF_ROW_SHARED KF_EXCHANGE_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_LINES)
/* Rows of a line of the engine. */
#define KF_ROWS_A_LINE (KF_DIMENSIONS == 3 ? 2 : 1)
#define KF_ROW_Y(row)  (KF_DIMENSIONS == 3 ? (row) % KF_NY : (row))
#define KF_ROW_Z(row)  (KF_DIMENSIONS == 3 ? (row) / KF_NY : 0)
/* Lines of the engine that are there, from those of a block on. */
#define KF_LINES_IN_ALL ((KF_ROWS + KF_ROWS_A_LINE - 1) / KF_ROWS_A_LINE)
#define KF_LINES_LEFT(block) (KF_LINES_IN_ALL % KF_ROW_LINES == 0 ? KF_ROW_LINES : KF_LINES_IN_ALL - (block)*KF_ROW_LINES)

#define KF_ROW_AT(m, slot, x) KF_AT(m, slot, x, KF_LINE_X, KF_ROW_MOST)
/* Between walls a row is taken in the order of Makhoul 1980 (IEEE Trans. ASSP 28, 27): cells of even x forwards, then those
 * of odd x backwards, u of these with its sign turned. The Fourier transform V of a line in that order is, turned by
 * w_k = exp(-i pi k / (2 L)), its cosine transform C_k - i C_(L-k) = 2 w_k V_k; of u, which is a sum of sines, S_(L-k) - i S_k. */
#define KF_ROW_X(i)    (KF_FOLD_X ? (2 * (i) < KF_LINE_X ? 2 * (i) : 2 * (KF_LINE_X - (i)) - 1) : (i))
#define KF_ROW_SIGN(i) (KF_FOLD_X && 2 * (i) >= KF_LINE_X ? KF_R(-1) : KF_R(1))

/* The spectrum of two real lines from that of (first + i second). */
KF_FUNCTION void kf_split(kf_complex here, kf_complex mirrored, kf_complex *first, kf_complex *second) {
    const kf_real half = KF_R(0.5 / KF_LINE_X);
    *first = kf_complex_of(half * (here.re + mirrored.re), half * (here.im - mirrored.im));
    *second = kf_complex_of(half * (here.im + mirrored.im), half * (mirrored.re - here.re));
}

/* Twiddles of rows, from their table: forward ones, then inverse ones. */
KF_FUNCTION void kf_row_turns(const kf_fluid_arguments *a, const int sign, kf_turns *turns) {
    kf_take_turns(turns, (const kf_complex *)a->twiddles_x + (sign < 0 ? 0 : KF_LINE_X - 1), sign, KF_ROW_ENGINE);
}

#if KF_FOLD_X
/* What is stored of a mode x: of u the sines S_x - i S_(L-x), of v the cosines C_x - i C_(L-x); with x = 0 go those of L / 2.
 * From the modes of lines in Makhoul's order; middle: of u + i v at L / 2. */
KF_FUNCTION void kf_to_waves(const kf_fluid_arguments *a, int x, kf_complex middle, kf_complex *u, kf_complex *v) {
    const kf_complex w = ((const kf_complex *)a->twiddles_x)[2 * (KF_LINE_X - 1) + x], first = *u, second = *v;
    const kf_real half = KF_R(KF_LINE_X % 2 == 0 ? 0.70710678118654752440 / KF_LINE_X : 0);
    u->re = x == 0 ? KF_R(0) : -(w.re * first.im + w.im * first.re);
    u->im = x == 0 ? -half * middle.re : -(w.re * first.re - w.im * first.im);
    v->re = x == 0 ? second.re : w.re * second.re - w.im * second.im;
    v->im = x == 0 ? -half * middle.im : w.re * second.im + w.im * second.re;
}
/* And back. */
KF_FUNCTION kf_complex kf_from_waves(const kf_fluid_arguments *a, int x, kf_complex *u, kf_complex *v) {
    const kf_complex w = ((const kf_complex *)a->twiddles_x)[2 * (KF_LINE_X - 1) + x], sines = *u, cosines = *v;
    const kf_real half = KF_R(-1.41421356237309504880);
    u->re = x == 0 ? KF_R(0) : -(w.re * sines.im + w.im * sines.re);
    u->im = x == 0 ? KF_R(0) : w.im * sines.im - w.re * sines.re;
    v->re = x == 0 ? cosines.re : w.re * cosines.re + w.im * cosines.im;
    v->im = x == 0 ? KF_R(0) : w.re * cosines.im - w.im * cosines.re;
    return kf_complex_of(half * sines.im, half * cosines.im);
}
#endif

/* A row's velocity goes to the cell, and to its images. */
KF_FUNCTION void kf_put_row(const kf_fluid_arguments *a, void *field, int simulation, int row, int x, kf_vector velocity) {
    if (KF_IMAGES == 1)
        kf_put_velocity(a, field, simulation, row * KF_NX + x, velocity);
    else
        kf_put_images(a, field, simulation, x, KF_ROW_Y(row), KF_ROW_Z(row), velocity);
}

KF_FUNCTION void kf_rows_forward(const kf_fluid_arguments *a, int block, int simulation, const kf_turns *turns, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_MOST)];
    const int here = KF_LINES_LEFT(block);
    KF_EACH_VALUE_ALONG(l, here, slot, i, KF_LINE_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_FIRST) {
        const int row = (block * KF_ROW_LINES + l) * KF_ROWS_A_LINE, x = KF_ROW_X(i);
        const kf_vector first = kf_arrived(a, simulation, x, KF_ROW_Y(row), KF_ROW_Z(row));
#if KF_KEEP
        if (a->kept != 0) kf_put_row(a, a->kept, simulation, row, x, first);
#endif
        kf_set(v, KF_ROW_AT(0, slot, i), l, kf_complex_of(KF_ROW_SIGN(i) * first.u, first.v));
#if KF_DIMENSIONS == 3
        const int next = row + 1 < KF_ROWS ? row + 1 : row;
        const kf_vector second = kf_arrived(a, simulation, x, KF_ROW_Y(next), KF_ROW_Z(next));
#if KF_KEEP
        if (a->kept != 0) kf_put_row(a, a->kept, simulation, next, x, second);
#endif
        kf_set(v, KF_ROW_AT(1, slot, i), l, kf_complex_of(second.u, second.v));
        kf_set(v, KF_ROW_AT(2, slot, i), l, kf_complex_of(first.w, second.w));
#endif
    }
    kf_transform(v, shared, turns, -1, KF_ROW_ENGINE);
    const kf_wide *mirrored = KF_MIRROR(v, shared);
#if KF_CUDA
    KF_BARRIER;
    KF_EACH_VALUE(l, slot, x, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_LAST) {
        KF_UNROLL for (int m = 0; m < KF_ROW_MANY; m++) shared[KF_ROW_PLACE(m, x, l)] = v[KF_ROW_AT(m, slot, x)];
    }
    KF_BARRIER;
#else
    for (int m = 0; m < KF_ROW_MANY; m++) v[KF_ROW_AT(m, 0, KF_LINE_X)] = v[KF_ROW_AT(m, 0, 0)];
#endif
    KF_EACH_VALUE_ALONG(l, here, slot, x, KF_MODES_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_LAST) {
        const int row = (block * KF_ROW_LINES + l) * KF_ROWS_A_LINE;
        const int mirror = KF_MIRRORED(x, KF_LINE_X), place = kf_mode_place(x, row);
        kf_complex first, second;
        kf_split(kf_get(v, KF_ROW_AT(0, slot, x), l), kf_get(mirrored, KF_ROW_PLACE(0, mirror, l), l), &first, &second);
#if KF_FOLD_X
        kf_to_waves(a, x, kf_get(mirrored, KF_ROW_PLACE(0, KF_LINE_X / 2, l), l), &first, &second);
#endif
#if KF_DIMENSIONS == 2
        kf_write_modes(a, simulation, place, first, second);
#else
        *kf_mode(a, simulation, 0, place) = kf_mode_to(first);
        *kf_mode(a, simulation, 1, place) = kf_mode_to(second);
        kf_split(kf_get(v, KF_ROW_AT(2, slot, x), l), kf_get(mirrored, KF_ROW_PLACE(2, mirror, l), l), &first, &second);
        *kf_mode(a, simulation, 2, place) = kf_mode_to(first);
        if (row + 1 < KF_ROWS) {
            const int next = kf_mode_place(x, row + 1);
            *kf_mode(a, simulation, 2, next) = kf_mode_to(second);
            kf_split(kf_get(v, KF_ROW_AT(1, slot, x), l), kf_get(mirrored, KF_ROW_PLACE(1, mirror, l), l), &first, &second);
            *kf_mode(a, simulation, 0, next) = kf_mode_to(first);
            *kf_mode(a, simulation, 1, next) = kf_mode_to(second);
        }
#endif
    }
}

/* first + i second, and what that is at the mirrored wave number. */
KF_FUNCTION kf_complex kf_joined(kf_complex first, kf_complex second) {
    return kf_complex_of(first.re - second.im, first.im + second.re);
}
KF_FUNCTION kf_complex kf_joined_mirror(kf_complex first, kf_complex second) {
    return kf_complex_of(first.re + second.im, second.re - first.im);
}

KF_FUNCTION void kf_rows_inverse(const kf_fluid_arguments *a, int block, int simulation, const kf_turns *turns, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_MOST)];
    kf_wide *mirrored = KF_MIRROR(v, shared);
    const int here = KF_LINES_LEFT(block);
#if !KF_CUDA
    if (KF_LINE_X % 2 == 0)
        for (int m = 0; m < KF_ROW_MANY; m++) v[KF_ROW_AT(m, 0, KF_LINE_X / 2)] = kf_wide_of((kf_lanes){0}, (kf_lanes){0});
#endif
    KF_EACH_VALUE_ALONG(l, here, slot, x, KF_MODES_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_LAST) {
        const int row = (block * KF_ROW_LINES + l) * KF_ROWS_A_LINE;
        const int place = kf_mode_place(x, row);
        kf_complex first[KF_ROW_MANY], second[KF_ROW_MANY];
        kf_complex middle = kf_complex_of(0, 0);
#if KF_DIMENSIONS == 2
        kf_read_modes(a, simulation, place, &first[0], &second[0]);
#if KF_FOLD_X
        middle = kf_from_waves(a, x, &first[0], &second[0]);
#endif
#else
        const int next = kf_mode_place(x, row + 1 < KF_ROWS ? row + 1 : row);
        first[0] = kf_mode_from(*kf_mode(a, simulation, 0, place));
        second[0] = kf_mode_from(*kf_mode(a, simulation, 1, place));
        first[1] = kf_mode_from(*kf_mode(a, simulation, 0, next));
        second[1] = kf_mode_from(*kf_mode(a, simulation, 1, next));
        first[2] = kf_mode_from(*kf_mode(a, simulation, 2, place));
        second[2] = kf_mode_from(*kf_mode(a, simulation, 2, next));
#endif
        KF_UNROLL for (int m = 0; m < KF_ROW_MANY; m++) {
            kf_set(v, KF_ROW_AT(m, slot, x), l, kf_joined(first[m], second[m]));
#if KF_CUDA
            if (x > 0) kf_set(mirrored, KF_ROW_PLACE(m, KF_LINE_X - x, l), l, kf_joined_mirror(first[m], second[m]));
            if (x == 0 && KF_LINE_X % 2 == 0) kf_set(mirrored, KF_ROW_PLACE(m, KF_LINE_X / 2, l), l, middle);
#else
            kf_set(mirrored, KF_ROW_PLACE(m, KF_LINE_X - x, l), l, kf_joined_mirror(first[m], second[m]));
            if (KF_FOLD_X && x == 0 && KF_LINE_X % 2 == 0) kf_set(mirrored, KF_ROW_PLACE(m, KF_LINE_X / 2, l), l, middle);
#endif
        }
    }
#if KF_CUDA
    KF_BARRIER;
    KF_EACH_VALUE(l, slot, x, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_LAST) {
        if (x >= KF_MODES_X) {
            KF_UNROLL for (int m = 0; m < KF_ROW_MANY; m++) v[KF_ROW_AT(m, slot, x)] = shared[KF_ROW_PLACE(m, x, l)];
        }
    }
#if KF_EXCHANGE_BUFFERS == 2
    KF_BARRIER;
#endif
#endif
    kf_transform(v, shared, turns, 1, KF_ROW_ENGINE);
    KF_EACH_VALUE_ALONG(l, here, slot, i, KF_LINE_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_FIRST) {
        const int row = (block * KF_ROW_LINES + l) * KF_ROWS_A_LINE, x = KF_ROW_X(i);
        const kf_complex pair = kf_get(v, KF_ROW_AT(0, slot, i), l);
        kf_vector velocity;
        velocity.u = KF_ROW_SIGN(i) * pair.re, velocity.v = pair.im, velocity.w = 0;
#if KF_DIMENSIONS == 3
        const kf_complex thirds = kf_get(v, KF_ROW_AT(2, slot, i), l), above = kf_get(v, KF_ROW_AT(1, slot, i), l);
        velocity.w = thirds.re;
#endif
        kf_put_row(a, a->target, simulation, row, x, velocity);
#if KF_DIMENSIONS == 3
        velocity.u = above.re, velocity.v = above.im, velocity.w = thirds.im;
        if (row + 1 < KF_ROWS) kf_put_row(a, a->target, simulation, row + 1, x, velocity);
#endif
    }
}

#endif
