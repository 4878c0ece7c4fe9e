/* Passes along x: advection with the forward transform of rows, and the inverse transform to velocities. A
 * complex line transforms two real rows at once. In two dimensions these are u and v of a row. In three,
 * three complex lines are u and v of a row, u and v of the next row, and w of both.
 *
 * Defines that a config sets:
 *   KF_ROW_THREADS    threads of a line
 *   KF_ROW_LINES      lines of a block
 *   KF_ROW_MOST       most values of a thread
 *   KF_ROW_R0 .. R4   radices */
#ifndef KF_KERNELS_STABLE_FLUIDS_ROWS_H
#define KF_KERNELS_STABLE_FLUIDS_ROWS_H

#define KF_ROW_MANY (KF_DIMENSIONS == 3 ? 3 : 1) /* complex lines at once */
#define KF_LANES    KF_ROW_LINES
#include "modes.h"
/* Between walls a row of L cells has cosine and sine transforms, by a complex transform of the row in the
 * order of Makhoul 1980 (IEEE Trans. ASSP 28, 27): the cells of even x forwards, then those of odd x
 * backwards. With V the Fourier transform of a line in this order and w_k = exp(-i pi k / (2 L)), its
 * cosine transform is C_k - i C_(L-k) = 2 w_k V_k. The component u is a sum of sines. With the sign of its
 * odd cells changed it gives S_(L-k) - i S_k in the same way. */
#define KF_ROW_X(i)    (KF_FOLD_X ? (2 * (i) < KF_LINE_X ? 2 * (i) : 2 * (KF_LINE_X - (i)) - 1) : (i))
#define KF_ROW_SIGN(i) (KF_FOLD_X && 2 * (i) >= KF_LINE_X ? KF_R(-1) : KF_R(1))
#define KF_STRIP_X(i)  KF_ROW_X(i)
#include "advection.h"
#include "transform.h"

#ifndef KF_KEEP
#define KF_KEEP 0
#endif
#define KF_ROW_RADICES        KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4
#define KF_ROW_ENGINE         KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_MANY, KF_ROW_MOST, KF_ROW_RADICES
#define KF_ROW_LAST           KF_LAST_OF(KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4)
#define KF_ROW_FIRST          KF_ROW_R0
#define KF_ROW_PLACE(m, x, l) KF_LINE_PLACE(m, x, l, KF_LINE_X, KF_ROW_LINES)
#define KF_ROW_SHARED         KF_EXCHANGE_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_LINES)
/* The number of rows that a line has, and the y and z of a row. */
#define KF_ROWS_A_LINE (KF_DIMENSIONS == 3 ? 2 : 1)
#define KF_ROW_Y(row)  (KF_DIMENSIONS == 3 ? (row) % KF_NY : (row))
#define KF_ROW_Z(row)  (KF_DIMENSIONS == 3 ? (row) / KF_NY : 0)
/* Returns the number of lines from those of this block on. */
#define KF_LINES_IN_ALL ((KF_ROWS + KF_ROWS_A_LINE - 1) / KF_ROWS_A_LINE)
#define KF_LINES_LEFT(block)                                                                                 \
    (KF_LINES_IN_ALL % KF_ROW_LINES == 0 ? KF_ROW_LINES : KF_LINES_IN_ALL - (block)*KF_ROW_LINES)

#define KF_ROW_AT(m, slot, x) KF_AT(m, slot, x, KF_LINE_X, KF_ROW_MOST)
/* Read and write value x of line l that this thread holds, and the mirrored value, which another thread
 * may hold. On the cpu all values are among the lines in shared memory. */
#if KF_CUDA
#define KF_ROW_GET(m, slot, x, l)           kf_get(v, KF_ROW_AT(m, slot, x), l)
#define KF_ROW_SET(m, slot, x, l, value)    kf_set(v, KF_ROW_AT(m, slot, x), l, value)
#define KF_ROW_GET_MIRRORED(m, x, l)        kf_get(shared, KF_ROW_PLACE(m, x, l), l)
#define KF_ROW_SET_MIRRORED(m, x, l, value) kf_set(shared, KF_ROW_PLACE(m, x, l), l, value)
#else
#define KF_ROW_GET(m, slot, x, l) kf_get_along(shared, KF_ALONG_PLACE(m, l, x, KF_LINE_X), KF_LINE_X)
#define KF_ROW_SET(m, slot, x, l, value)                                                                     \
    kf_set_along(shared, KF_ALONG_PLACE(m, l, x, KF_LINE_X), KF_LINE_X, value)
#define KF_ROW_GET_MIRRORED(m, x, l)        KF_ROW_GET(m, 0, x, l)
#define KF_ROW_SET_MIRRORED(m, x, l, value) KF_ROW_SET(m, 0, x, l, value)
#endif

/* Separates the spectra of two real rows from that of first + i second. */
KF_FUNCTION void kf_split(kf_complex here, kf_complex mirrored, kf_complex *first, kf_complex *second) {
    const kf_real half = KF_R(0.5 / KF_LINE_X);
    *first = kf_complex_of(half * (here.re + mirrored.re), half * (here.im - mirrored.im));
    *second = kf_complex_of(half * (here.im + mirrored.im), half * (mirrored.re - here.re));
}

/* Loads the twiddles of rows. The table has the forward ones, then the inverse ones. */
KF_FUNCTION void kf_row_twiddles(const kf_fluid_arguments *a, const int sign, kf_twiddles *twiddles) {
    kf_load_twiddles(twiddles, (const kf_complex *)a->twiddles_x + (sign < 0 ? 0 : KF_LINE_X - 1), sign,
                     KF_ROW_ENGINE);
}

#if KF_FOLD_X
/* Returns what is stored of mode x: of u the sines S_x - i S_(L-x), of v the cosines C_x - i C_(L-x).
 * Those of L / 2 are stored with x = 0. The input has Makhoul's order. middle: the mode of u + i v at L /
 * 2. */
KF_FUNCTION void kf_to_waves(const kf_fluid_arguments *a, int x, kf_complex middle, kf_complex *u,
                             kf_complex *v) {
    const kf_complex w = ((const kf_complex *)a->twiddles_x)[2 * (KF_LINE_X - 1) + x], first = *u,
                     second = *v;
    const kf_real half = KF_R(KF_LINE_X % 2 == 0 ? 0.70710678118654752440 / KF_LINE_X : 0);
    u->re = x == 0 ? KF_R(0) : -(w.re * first.im + w.im * first.re);
    u->im = x == 0 ? -half * middle.re : -(w.re * first.re - w.im * first.im);
    v->re = x == 0 ? second.re : w.re * second.re - w.im * second.im;
    v->im = x == 0 ? -half * middle.im : w.re * second.im + w.im * second.re;
}
/* The inverse of kf_to_waves. It returns the mode at L / 2. */
KF_FUNCTION kf_complex kf_from_waves(const kf_fluid_arguments *a, int x, kf_complex *u, kf_complex *v) {
    const kf_complex w = ((const kf_complex *)a->twiddles_x)[2 * (KF_LINE_X - 1) + x], sines = *u,
                     cosines = *v;
    const kf_real half = KF_R(-1.41421356237309504880);
    u->re = x == 0 ? KF_R(0) : -(w.re * sines.im + w.im * sines.re);
    u->im = x == 0 ? KF_R(0) : w.im * sines.im - w.re * sines.re;
    v->re = x == 0 ? cosines.re : w.re * cosines.re + w.im * cosines.im;
    v->im = x == 0 ? KF_R(0) : w.re * cosines.im - w.im * cosines.re;
    return kf_complex_of(half * sines.im, half * cosines.im);
}
#endif

/* Writes a velocity to a cell of a row, and to the cell's images. */
KF_FUNCTION void kf_put_row(const kf_fluid_arguments *a, void *field, int simulation, int row, int x,
                            kf_vector velocity) {
    if (KF_IMAGES == 1)
        kf_put_velocity(a, field, simulation, row * KF_NX + x, velocity);
    else
        kf_put_images(a, field, simulation, x, KF_ROW_Y(row), KF_ROW_Z(row), velocity);
}

/* With KF_ROW_QUADS the cpu moves four rows at a time from memory to lanes and back, and separates and
 * joins spectra on the way. */
#define KF_ROW_QUADS                                                                                         \
    (!KF_CUDA && KF_DIMENSIONS == 2 && !KF_FOLD_X && !KF_FOLD_LAST && KF_SPECTRUM_BITS != 16 &&              \
     KF_VELOCITY_BITS != 16 && KF_ROW_LINES % 4 == 0)
#if KF_ROW_QUADS
/* Returns the number of lines that a block has. */
KF_FUNCTION int kf_lines_here(int block) {
    const int left = KF_LINES_LEFT(block);
    return left < KF_ROW_LINES ? left : KF_ROW_LINES;
}
/* Returns the row of line l of a block. The last row stands for those that do not exist. */
KF_FUNCTION int kf_row_there(int block, int l) {
    const int row = block * KF_ROW_LINES + l;
    return row < KF_ROWS ? row : KF_ROWS - 1;
}
KF_FUNCTION kf_real *kf_row_modes(const kf_fluid_arguments *a, int simulation, int row) {
    return (kf_real *)a->spectrum + 4 * (KF_SPECTRUM_MODES * simulation + kf_mode_place(0, row));
}
/* Writes the modes that kf_split separates. */
KF_FUNCTION void kf_lanes_to_modes(const kf_fluid_arguments *a, int block, int simulation, kf_wide *v) {
    const kf_real half = KF_R(0.5 / KF_LINE_X);
    const int here = kf_lines_here(block);
    for (int l = 0; l < here; l += 4)
        for (int x = 0; x < KF_MODES_X; x++) {
            const int mirror = x == 0 ? 0 : KF_LINE_X - x;
            const kf_quad re = *kf_four_lanes(v, x, 0, l), im = *kf_four_lanes(v, x, 1, l);
            const kf_quad mirrored_re = *kf_four_lanes(v, mirror, 0, l),
                          mirrored_im = *kf_four_lanes(v, mirror, 1, l);
            kf_quad q[4] = {half * (re + mirrored_re), half * (im - mirrored_im), half * (im + mirrored_im),
                            half * (mirrored_re - re)};
            kf_transpose(q);
            KF_UNROLL
            for (int i = 0; i < 4; i++)
                if (l + i < here)
                    *(kf_quad *)(kf_row_modes(a, simulation, block * KF_ROW_LINES + l + i) + 4 * x) = q[i];
        }
}
/* Reads the modes that kf_joined joins. */
KF_FUNCTION void kf_modes_to_lanes(const kf_fluid_arguments *a, int block, int simulation, kf_wide *v) {
    for (int l = 0; l < KF_ROW_LINES; l += 4) {
        const kf_real *rows[4];
        KF_UNROLL
        for (int i = 0; i < 4; i++)
            rows[i] = kf_row_modes(a, simulation, kf_row_there(block, l + i));
        for (int x = 0; x < KF_MODES_X; x++) {
            kf_quad q[4];
            KF_UNROLL
            for (int i = 0; i < 4; i++)
                q[i] = *(const kf_quad *)(rows[i] + 4 * x);
            kf_transpose(q);
            *kf_four_lanes(v, x, 0, l) = q[0] - q[3], *kf_four_lanes(v, x, 1, l) = q[1] + q[2];
            *kf_four_lanes(v, KF_LINE_X - x, 0, l) = q[0] + q[3],
                                                *kf_four_lanes(v, KF_LINE_X - x, 1, l) = q[2] - q[1];
        }
    }
    if (KF_LINE_X % 2 == 0) v[KF_LINE_X / 2] = kf_wide_of((kf_lanes){0}, (kf_lanes){0});
}
/* Writes rows of velocities, four lines and two cells at a time. kf_transpose turns their lanes into pairs
 * (u, v). */
KF_FUNCTION void kf_lanes_to_velocity(const kf_fluid_arguments *a, int block, int simulation, kf_wide *v) {
    const int here = kf_lines_here(block);
    for (int l = 0; l < here; l += 4) {
        kf_real *rows[4];
        KF_UNROLL
        for (int i = 0; i < 4; i++)
            rows[i] = (kf_real *)a->target +
                      2 * ((long long)KF_CELLS * simulation + (long long)kf_row_there(block, l + i) * KF_NX);
        for (int x = 0; x + 1 < KF_LINE_X; x += 2) {
            kf_quad q[4];
            KF_UNROLL
            for (int i = 0; i < 4; i++)
                q[i] = *kf_four_lanes(v, x + i / 2, i % 2, l);
            kf_transpose(q);
            KF_UNROLL
            for (int i = 0; i < 4; i++)
                if (l + i < here) *(kf_quad *)(rows[i] + 2 * x) = q[i];
        }
        if (KF_LINE_X % 2 == 1)
            for (int i = 0; i < 4 && l + i < here; i++) {
                const kf_complex pair = kf_get(v, KF_LINE_X - 1, l + i);
                rows[i][2 * KF_LINE_X - 2] = pair.re, rows[i][2 * KF_LINE_X - 1] = pair.im;
            }
    }
}
#endif

/* Prefetches the velocity in the rows of a later block. */
KF_FUNCTION void kf_ask_for_velocity(const kf_fluid_arguments *a, int block, int simulation) {
#if KF_CUDA && KF_AHEAD && KF_DIMENSIONS == 2
    if (threadIdx.x == 0 && (block + 1) * KF_ROW_LINES <= KF_ROWS)
        kf_ask_for((const kf_stored_pair *)a->wind + (long long)KF_CELLS * simulation +
                       (long long)block * KF_ROW_LINES * KF_NX,
                   KF_ROW_LINES * KF_NX * (unsigned)sizeof(kf_stored_pair));
#else
    (void)a, (void)block, (void)simulation;
#endif
}
/* Prefetches the modes of a later block. In tiles the modes of a group of blocks are contiguous, and each
 * block prefetches its part of them. */
KF_FUNCTION void kf_ask_for_modes(const kf_fluid_arguments *a, int block, int simulation) {
#if KF_CUDA && KF_AHEAD && KF_DIMENSIONS == 2
    const unsigned mode = (unsigned)sizeof(kf_mode_pair);
#if KF_TILE > 0
    const int group = 8, first = block / group * group * KF_ROW_LINES;
    if (first + group * KF_ROW_LINES > KF_ROWS) return;
    for (int tile = block % group + group * (int)threadIdx.x; tile * KF_TILE < KF_MODES_X;
         tile += group * KF_ROW_THREADS * KF_ROW_LINES)
        kf_ask_for(kf_modes(a, simulation, kf_mode_place(tile * KF_TILE, first)),
                   group * KF_ROW_LINES * KF_TILE * mode);
#else
    if (threadIdx.x == 0 && (block + 1) * KF_ROW_LINES <= KF_ROWS)
        kf_ask_for(kf_modes(a, simulation, kf_mode_place(0, block * KF_ROW_LINES)),
                   KF_ROW_LINES * KF_PITCH * mode);
#endif
#else
    (void)a, (void)block, (void)simulation;
#endif
}

KF_FUNCTION void kf_rows_forward(const kf_fluid_arguments *a, int block, int simulation,
                                 const kf_twiddles *twiddles, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_MOST)];
    kf_ask_for_velocity(a, block + a->ahead, simulation);
    const int here = KF_LINES_LEFT(block);
#if KF_STRIPS
    kf_strip strips[KF_ROWS_A_LINE];
#define KF_ROW_FETCHED(k, i) &strips[k], (i)-kf_from
#define KF_ROW_FETCH(k)                                                                                      \
    kf_fetch(a, simulation, KF_ROW_Y(KF_ROW_NEXT(k)), KF_ROW_Z(KF_ROW_NEXT(k)), kf_from, kf_to,              \
             &strips[(k) % KF_ROWS_A_LINE])
#else
#define KF_ROW_FETCHED(k, i) 0, 0
#define KF_ROW_FETCH(k)      (void)0
#endif
/* Row k of line l. The last line may have only one row, which then counts twice. */
#define KF_ROW_OF(l)   ((block * KF_ROW_LINES + (l)) * KF_ROWS_A_LINE)
#define KF_ROW_NEXT(k) (KF_ROW_OF(l) + (k) < KF_ROWS ? KF_ROW_OF(l) + (k) : KF_ROW_OF(l))
    KF_EACH_VALUE_IN_STRIPS(l, here, slot, i, KF_LINE_X, KF_STRIP,
                            (KF_ROW_FETCH(0), KF_DIMENSIONS == 3 ? KF_ROW_FETCH(1) : (void)0), KF_LINE_X,
                            KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_FIRST) {
        const int row = KF_ROW_OF(l), x = KF_ROW_X(i);
        const kf_vector first =
            kf_arrived(a, simulation, x, KF_ROW_Y(row), KF_ROW_Z(row), KF_ROW_FETCHED(0, i));
#if KF_KEEP
        if (a->kept != 0) kf_put_row(a, a->kept, simulation, row, x, first);
#endif
        KF_ROW_SET(0, slot, i, l, kf_complex_of(KF_ROW_SIGN(i) * first.u, first.v));
#if KF_DIMENSIONS == 3
        const int next = KF_ROW_NEXT(1);
        const kf_vector second =
            kf_arrived(a, simulation, x, KF_ROW_Y(next), KF_ROW_Z(next), KF_ROW_FETCHED(1, i));
#if KF_KEEP
        if (a->kept != 0) kf_put_row(a, a->kept, simulation, next, x, second);
#endif
        KF_ROW_SET(1, slot, i, l, kf_complex_of(second.u, second.v));
        KF_ROW_SET(2, slot, i, l, kf_complex_of(first.w, second.w));
#endif
    }
#if !KF_CUDA
    kf_turn_lines(v, shared, KF_ROW_MANY, KF_LINE_X, 1);
#endif
    kf_transform(v, shared, twiddles, -1, KF_ROW_ENGINE);
#if KF_CUDA
    KF_BARRIER;
    KF_EACH_VALUE(l, slot, x, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_LAST) {
        KF_UNROLL
        for (int m = 0; m < KF_ROW_MANY; m++)
            shared[KF_ROW_PLACE(m, x, l)] = v[KF_ROW_AT(m, slot, x)];
    }
    KF_BARRIER;
#elif !KF_ROW_QUADS
    kf_turn_lines(v, shared, KF_ROW_MANY, KF_LINE_X, 0);
    for (int m = 0; m < KF_ROW_MANY; m++)
        for (int l = 0; l < KF_ROW_LINES; l++)
            KF_ROW_SET(m, 0, KF_LINE_X, l, KF_ROW_GET(m, 0, 0, l));
#endif
#if KF_ROW_QUADS
    kf_lanes_to_modes(a, block, simulation, v);
#else
    KF_EACH_VALUE_ALONG(l, here, slot, x, KF_MODES_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_LAST) {
        const int row = KF_ROW_OF(l);
        const int mirror = KF_MIRRORED(x, KF_LINE_X), place = kf_mode_place(x, row);
        kf_complex first, second;
        kf_split(KF_ROW_GET(0, slot, x, l), KF_ROW_GET_MIRRORED(0, mirror, l), &first, &second);
#if KF_FOLD_X
        kf_to_waves(a, x, KF_ROW_GET_MIRRORED(0, KF_LINE_X / 2, l), &first, &second);
#endif
#if KF_DIMENSIONS == 2
        kf_write_modes(a, simulation, place, first, second);
#else
        *kf_mode(a, simulation, 0, place) = kf_mode_to(first);
        *kf_mode(a, simulation, 1, place) = kf_mode_to(second);
        kf_split(KF_ROW_GET(2, slot, x, l), KF_ROW_GET_MIRRORED(2, mirror, l), &first, &second);
        *kf_mode(a, simulation, 2, place) = kf_mode_to(first);
        if (row + 1 < KF_ROWS) {
            const int next = kf_mode_place(x, row + 1);
            *kf_mode(a, simulation, 2, next) = kf_mode_to(second);
            kf_split(KF_ROW_GET(1, slot, x, l), KF_ROW_GET_MIRRORED(1, mirror, l), &first, &second);
            *kf_mode(a, simulation, 0, next) = kf_mode_to(first);
            *kf_mode(a, simulation, 1, next) = kf_mode_to(second);
        }
#endif
    }
#endif
}

/* Returns first + i second, and the same at the mirrored wave number. */
KF_FUNCTION kf_complex kf_joined(kf_complex first, kf_complex second) {
    return kf_complex_of(first.re - second.im, first.im + second.re);
}
KF_FUNCTION kf_complex kf_joined_mirror(kf_complex first, kf_complex second) {
    return kf_complex_of(first.re + second.im, second.re - first.im);
}

KF_FUNCTION void kf_rows_inverse(const kf_fluid_arguments *a, int block, int simulation,
                                 const kf_twiddles *twiddles, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_ROW_MANY, KF_LINE_X, KF_ROW_MOST)];
#if KF_ROW_QUADS
    kf_modes_to_lanes(a, block, simulation, v);
    kf_transform(v, shared, twiddles, 1, KF_ROW_ENGINE);
    kf_lanes_to_velocity(a, block, simulation, v);
#else
    const int here = KF_LINES_LEFT(block);
    kf_ask_for_modes(a, block + a->ahead, simulation);
#if !KF_CUDA
    if (KF_LINE_X % 2 == 0)
        for (int m = 0; m < KF_ROW_MANY; m++)
            for (int l = 0; l < KF_ROW_LINES; l++)
                KF_ROW_SET(m, 0, KF_LINE_X / 2, l, kf_complex_of(0, 0));
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
        KF_UNROLL
        for (int m = 0; m < KF_ROW_MANY; m++) {
            KF_ROW_SET(m, slot, x, l, kf_joined(first[m], second[m]));
            if (x > 0 || !KF_CUDA)
                KF_ROW_SET_MIRRORED(m, KF_LINE_X - x, l, kf_joined_mirror(first[m], second[m]));
            if (x == 0 && KF_LINE_X % 2 == 0 && (KF_CUDA || KF_FOLD_X))
                KF_ROW_SET_MIRRORED(m, KF_LINE_X / 2, l, middle);
        }
    }
#if KF_CUDA
    KF_BARRIER;
    KF_EACH_VALUE(l, slot, x, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, 0, KF_ROW_LAST) {
        if (x >= KF_MODES_X) {
            KF_UNROLL
            for (int m = 0; m < KF_ROW_MANY; m++)
                v[KF_ROW_AT(m, slot, x)] = shared[KF_ROW_PLACE(m, x, l)];
        }
    }
#if KF_EXCHANGE_BUFFERS == 2
    KF_BARRIER;
#endif
#else
    kf_turn_lines(v, shared, KF_ROW_MANY, KF_LINE_X, 1);
#endif
    kf_transform(v, shared, twiddles, 1, KF_ROW_ENGINE);
#if !KF_CUDA
    kf_turn_lines(v, shared, KF_ROW_MANY, KF_LINE_X, 0);
#endif
    KF_EACH_VALUE_ALONG(l, here, slot, i, KF_LINE_X, KF_LINE_X, KF_ROW_THREADS, KF_ROW_LINES, KF_ROW_FIRST) {
        const int row = (block * KF_ROW_LINES + l) * KF_ROWS_A_LINE, x = KF_ROW_X(i);
        const kf_complex pair = KF_ROW_GET(0, slot, i, l);
        kf_vector velocity;
        velocity.u = KF_ROW_SIGN(i) * pair.re, velocity.v = pair.im, velocity.w = 0;
#if KF_DIMENSIONS == 3
        const kf_complex thirds = KF_ROW_GET(2, slot, i, l), above = KF_ROW_GET(1, slot, i, l);
        velocity.w = thirds.re;
#endif
        kf_put_row(a, a->target, simulation, row, x, velocity);
#if KF_DIMENSIONS == 3
        velocity.u = above.re, velocity.v = above.im, velocity.w = thirds.im;
        if (row + 1 < KF_ROWS) kf_put_row(a, a->target, simulation, row + 1, x, velocity);
#endif
    }
#endif
}

#endif
