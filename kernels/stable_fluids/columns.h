/* The pass along the last axis: forward transform, diffusion and projection, inverse transform; in place.
 * Defines: KF_COLUMN_THREADS, KF_COLUMN_LINES columns of a block, KF_COLUMN_MOST values, KF_COLUMN_R0 .. R4;
 * KF_COMPONENT_PER_THREAD 0: a thread has all components of its columns | 1: one; KF_PREFETCH 1: a block goes on from column
 * to column, and asks for the next ones before it works on the present */
#ifndef KF_KERNELS_STABLE_FLUIDS_COLUMNS_H
#define KF_KERNELS_STABLE_FLUIDS_COLUMNS_H

#define KF_COLUMN_MANY (KF_COMPONENT_PER_THREAD ? 1 : KF_DIMENSIONS) /* components of a thread */
#define KF_COLUMN_ALL  (KF_COLUMN_LINES * KF_DIMENSIONS / KF_COLUMN_MANY) /* lines of the engine */
#ifndef KF_LANES
#define KF_LANES KF_COLUMN_ALL
#endif
#ifndef KF_PREFETCH
#define KF_PREFETCH 0
#endif
#define KF_EXCHANGE_HALVES KF_PREFETCH
#define KF_EXCHANGE_MOST   KF_COLUMN_MOST
#include "modes.h"
#include "transform.h"

#define KF_COLUMN_N    (KF_DIMENSIONS == 3 ? KF_NZ : KF_NY)
#define KF_COLUMN_ALL  (KF_COLUMN_LINES * KF_DIMENSIONS / KF_COLUMN_MANY) /* lines of the engine */
#define KF_COLUMN_RADICES KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4
#define KF_COLUMN_ENGINE KF_COLUMN_N, KF_COLUMN_THREADS, KF_COLUMN_ALL, 1, KF_COLUMN_MANY, KF_COLUMN_MOST, KF_COLUMN_RADICES
#define KF_COLUMN_LAST KF_LAST_OF(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4)
#define KF_COLUMN_FIRST KF_COLUMN_R0
#define KF_COLUMN_SHARED KF_EXCHANGE_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_ALL)
#define KF_COLUMN_TILES ((KF_MODES_X + KF_COLUMN_LINES - 1) / KF_COLUMN_LINES)
#define KF_COLUMN_AT(m, slot, i) KF_AT(m, slot, i, KF_COLUMN_N, KF_COLUMN_MOST)
#define KF_COLUMN_EACH(l, slot, i, radix)                                                                    \
    KF_EACH_VALUE(l, slot, i, KF_COLUMN_N, KF_COLUMN_THREADS, KF_COLUMN_ALL, 1, radix)
/* Column, and component, of line l. */
#define KF_COLUMN_OF(l)    (KF_COMPONENT_PER_THREAD ? (l) / KF_DIMENSIONS : (l))
#define KF_COMPONENT_OF(l) (KF_COMPONENT_PER_THREAD ? (l) % KF_DIMENSIONS : 0)

#if KF_CUDA
/* The same place of the other component's line beside this one. */
KF_FUNCTION kf_complex kf_partner(const kf_wide *v, int at, int l) {
    const unsigned lanes = __activemask();
    return kf_complex_of(__shfl_xor_sync(lanes, v[at].re, 1), __shfl_xor_sync(lanes, v[at].im, 1));
}
#else
KF_FUNCTION kf_complex kf_partner(const kf_wide *v, int at, int l) {
    return kf_get(v, at, l ^ 1);
}
#endif

/* Row of the spectrum of value i of a column; iy: its y in three dimensions. */
#define KF_COLUMN_ROW(i, iy) (KF_DIMENSIONS == 3 ? (i)*KF_NY + (iy) : (i))

/* Twiddles of columns, from their table: forward ones, then inverse ones. */
KF_FUNCTION void kf_column_turns(const kf_fluid_arguments *a, const int sign, kf_turns *turns) {
    kf_take_turns(turns, (const kf_complex *)(KF_DIMENSIONS == 3 ? a->twiddles_z : a->twiddles_y) + (sign < 0 ? 0 : KF_COLUMN_N - 1), sign,
                  KF_COLUMN_ENGINE);
}
/* Both; the same ones where the tables are. */
typedef struct kf_both_turns {
    kf_turns forward, inverse;
} kf_both_turns;
KF_FUNCTION void kf_both_column_turns(const kf_fluid_arguments *a, kf_both_turns *turns) {
    kf_column_turns(a, -1, &turns->forward);
    if (!KF_PALINDROME(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4)) kf_column_turns(a, 1, &turns->inverse);
}
#define KF_COLUMN_INVERSE_TURNS(turns)                                                                       \
    (KF_PALINDROME(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4) ? &(turns)->forward : &(turns)->inverse)

/* Wave numbers of value i of a column, and what its modes are multiplied by. */
#define KF_COLUMN_FACTORS(a, kx, origin, i, iy)                                                                      \
    kf_factors_of(a, KF_R(kx),                                                                               \
                  KF_DIMENSIONS == 3 ? KF_R((iy) + KF_SIGN_SHIFT(iy, KF_NY)) : KF_REAL_VALUE_NUMBER(origin, i) + KF_R(KF_SIGN_SHIFT(i, KF_NY)), \
                  KF_DIMENSIONS == 3 ? KF_REAL_VALUE_NUMBER(origin, i) + KF_R(KF_SIGN_SHIFT(i, KF_NZ)) : KF_R(0), (kx) == 0 && (iy) == 0 && (i) == 0, \
                  (KF_DIMENSIONS == 3 && 2 * (iy) == KF_NY) || 2 * (i) == KF_COLUMN_N)

/* The modes of a block's columns, of one y in three dimensions. */
KF_FUNCTION void kf_read_columns(const kf_fluid_arguments *a, int first, int iy, int simulation, kf_wide *v) {
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        const int place = kf_mode_place(first + KF_COLUMN_OF(l), KF_COLUMN_ROW(i, iy));
#if KF_COMPONENT_PER_THREAD
        kf_set(v, KF_COLUMN_AT(0, slot, i), l, kf_mode_from(*kf_mode(a, simulation, KF_COMPONENT_OF(l), place)));
#elif KF_DIMENSIONS == 2
        kf_complex first_mode, second_mode;
        kf_read_modes(a, simulation, place, &first_mode, &second_mode);
        kf_set(v, KF_COLUMN_AT(0, slot, i), l, first_mode);
        kf_set(v, KF_COLUMN_AT(1, slot, i), l, second_mode);
#else
        KF_UNROLL for (int m = 0; m < KF_COLUMN_MANY; m++)
            kf_set(v, KF_COLUMN_AT(m, slot, i), l, kf_mode_from(*kf_mode(a, simulation, m, place)));
#endif
    }
}

#if KF_PREFETCH
/* The same by way of shared memory: each thread asks for what it will take, while it works on something else. */
#define KF_COLUMN_STAGED(slot) ((slot) * (KF_COLUMN_THREADS * KF_COLUMN_ALL) + (int)threadIdx.x)
KF_FUNCTION void kf_request_columns(const kf_fluid_arguments *a, int first, int simulation, kf_stored_mode *staged) {
    unsigned target = (unsigned)__cvta_generic_to_shared(staged + KF_COLUMN_STAGED(0));
    const int line = KF_LINE_OF(KF_COLUMN_THREADS, KF_COLUMN_ALL, 1), thread = KF_THREAD_OF(KF_COLUMN_THREADS, KF_COLUMN_ALL, 1);
    const kf_stored_mode *source = kf_mode(a, simulation, KF_COMPONENT_OF(line), kf_mode_place(first + KF_COLUMN_OF(line), thread));
    asm volatile("" : "+r"(target), "+l"(source)); /* one register, not one a value */
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        const kf_stored_mode *from = source + KF_DIMENSIONS * kf_mode_place(0, i - kf_t);
        const unsigned to = target + (unsigned)(sizeof *staged * (KF_COLUMN_STAGED(slot) - KF_COLUMN_STAGED(0)));
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof *staged) : "memory");
    }
}
KF_FUNCTION void kf_take_columns(const kf_stored_mode *staged, kf_wide *v) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        kf_set(v, KF_COLUMN_AT(0, slot, i), l, kf_mode_from(staged[KF_COLUMN_STAGED(slot)]));
        (void)i;
    }
}
#endif

/* Transforms, projects and writes what was read. */
KF_FUNCTION void kf_work_on_columns(const kf_fluid_arguments *a, int first, int iy, int simulation, const kf_both_turns *turns,
                                    kf_wide *shared, kf_wide *v) {
    kf_transform(v, shared, &turns->forward, -1, KF_COLUMN_ENGINE);
#if KF_COMPONENT_PER_THREAD && KF_DIMENSIONS == 3
    KF_BARRIER;
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        kf_set(shared, KF_LINE_PLACE(0, i, l, KF_COLUMN_N, KF_COLUMN_ALL), l, kf_get(v, KF_COLUMN_AT(0, slot, i), l));
    }
    KF_BARRIER;
#endif
#if KF_COMPONENT_PER_THREAD && KF_DIMENSIONS == 2
    kf_wide projected[KF_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_MOST)];
#else
    kf_wide *projected = v;
#endif
    kf_real origin = 0;
    if (KF_PREFETCH) KF_OPAQUE(origin);
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_LAST) {
        const kf_mode_factors f = KF_COLUMN_FACTORS(a, first + KF_COLUMN_OF(l), origin, i, iy);
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
        KF_UNROLL for (int m = 0; m < 3; m++)
            c[m] = kf_get(shared, KF_LINE_PLACE(0, i, l / 3 * 3 + m, KF_COLUMN_N, KF_COLUMN_ALL), l / 3 * 3 + m);
        kf_projected_3(&f, c);
        const int component = KF_COMPONENT_OF(l);
        kf_set(v, at, l, component == 0 ? c[0] : component == 1 ? c[1] : c[2]);
#else
        kf_complex c[3];
        KF_UNROLL for (int m = 0; m < 3; m++) c[m] = kf_get(v, KF_COLUMN_AT(m, slot, i), l);
        kf_projected_3(&f, c);
        KF_UNROLL for (int m = 0; m < 3; m++) kf_set(v, KF_COLUMN_AT(m, slot, i), l, c[m]);
        (void)at;
#endif
    }
#if KF_EXCHANGE_BUFFERS == 2
    KF_BARRIER;
#endif
    kf_transform(projected, shared, KF_COLUMN_INVERSE_TURNS(turns), 1, KF_COLUMN_ENGINE);
    KF_COLUMN_EACH(l, slot, i, KF_COLUMN_FIRST) {
        const int place = kf_mode_place(first + KF_COLUMN_OF(l), KF_COLUMN_ROW(i, iy));
#if KF_COMPONENT_PER_THREAD
        *kf_mode(a, simulation, KF_COMPONENT_OF(l), place) = kf_mode_to(kf_get(projected, KF_COLUMN_AT(0, slot, i), l));
#elif KF_DIMENSIONS == 2
        kf_write_modes(a, simulation, place, kf_get(projected, KF_COLUMN_AT(0, slot, i), l), kf_get(projected, KF_COLUMN_AT(1, slot, i), l));
#else
        KF_UNROLL for (int m = 0; m < KF_COLUMN_MANY; m++)
            *kf_mode(a, simulation, m, place) = kf_mode_to(kf_get(projected, KF_COLUMN_AT(m, slot, i), l));
#endif
    }
}

#if !KF_PREFETCH
KF_FUNCTION void kf_columns(const kf_fluid_arguments *a, int block, int simulation, const kf_both_turns *turns, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_MOST)];
    const int first = block % KF_COLUMN_TILES * KF_COLUMN_LINES, iy = KF_DIMENSIONS == 3 ? block / KF_COLUMN_TILES : 0;
    kf_read_columns(a, first, iy, simulation, v);
    kf_work_on_columns(a, first, iy, simulation, turns, shared, v);
}
#else
/* All columns whose turn it is: every so many blocks. */
KF_FUNCTION void kf_columns(const kf_fluid_arguments *a, int block, int simulation, const kf_both_turns *turns, kf_wide *shared) {
    kf_wide v[KF_VALUES(KF_COLUMN_MANY, KF_COLUMN_N, KF_COLUMN_MOST)];
    kf_stored_mode *staged = (kf_stored_mode *)(shared + (KF_COLUMN_SHARED + 1) / 2 * 2);
    const int blocks = (int)gridDim.x;
    kf_request_columns(a, block * KF_COLUMN_LINES, simulation, staged);
    for (; block < KF_COLUMN_TILES; block += blocks) {
        kf_take_columns(staged, v);
        if (block + blocks < KF_COLUMN_TILES) kf_request_columns(a, (block + blocks) * KF_COLUMN_LINES, simulation, staged);
        kf_work_on_columns(a, block * KF_COLUMN_LINES, 0, simulation, turns, shared, v);
    }
}
#endif

#endif
