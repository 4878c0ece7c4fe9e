/* Which thread of a block has which value of which line (transform.h), before the first stage and after
 * the last, and where values are in shared memory. On the cpu one thread has all lines, as the lanes of
 * vectors. */
#ifndef KF_KERNELS_STABLE_FLUIDS_LINES_H
#define KF_KERNELS_STABLE_FLUIDS_LINES_H

#include "roots.h"

#ifndef KF_EXCHANGE_BUFFERS
#define KF_EXCHANGE_BUFFERS 1
#endif
#ifndef KF_SURPLUS
#define KF_SURPLUS 0
#endif

/* Return the number of butterflies of this radix that a thread has, and whether some threads lack the last
 * one. */
#define KF_SLOTS_OF(n, threads, radix) (((n) / (radix) + (threads)-1) / (threads))
#define KF_RAGGED(n, threads, radix)   ((n) / (radix) % (threads) != 0)
/* Returns the last radix of the forward transform, which decides where the results are. */
#define KF_LAST_OF(r0, r1, r2, r3, r4)                                                                       \
    ((r4) > 1 ? (r4) : (r3) > 1 ? (r3) : (r2) > 1 ? (r2) : (r1) > 1 ? (r1) : (r0))

/* Returns whether the radices are the same in both directions. Then forward and inverse tables are the
 * same, too. */
#define KF_PALINDROME(r0, r1, r2, r3, r4)                                                                    \
    ((r4) > 1   ? (r0) == (r4) && (r1) == (r3)                                                               \
     : (r3) > 1 ? (r0) == (r3) && (r1) == (r2)                                                               \
     : (r2) > 1 ? (r0) == (r2)                                                                               \
     : (r1) > 1 ? (r0) == (r1)                                                                               \
                : 1)

#if KF_CUDA
/* Return a thread's number among those of its line, its line, and whether it has a line. */
#define KF_THREAD_OF(threads, lines, across)                                                                 \
    ((across) ? (int)(threadIdx.x / (unsigned)(lines)) : (int)(threadIdx.x % (unsigned)(threads)))
#define KF_LINE_OF(threads, lines, across)                                                                   \
    ((across) ? (int)(threadIdx.x % (unsigned)(lines)) : (int)(threadIdx.x / (unsigned)(threads)))
#define KF_HAS_LINE(t, l, threads, lines, across)                                                            \
    (!KF_SURPLUS || ((across) ? (t) < (threads) : (l) < (lines)))
/* Runs a statement for each value i of each line l that this thread holds, in `slot`, in the order of a
 * stage of this radix. across: lines that are adjacent in memory are in adjacent threads. Otherwise
 * adjacent threads have values of one line. */
#define KF_EACH_VALUE(l, slot, i, n, threads, lines, across, radix)                                          \
    for (int kf_t = KF_THREAD_OF(threads, lines, across), l = KF_LINE_OF(threads, lines, across),            \
             kf_once = 1;                                                                                    \
         kf_once && KF_HAS_LINE(kf_t, l, threads, lines, across); kf_once = 0)                               \
        KF_UNROLL                                                                                            \
    for (int slot = 0; slot < KF_SLOTS_OF(n, threads, radix) * (radix); slot++)                              \
        for (int kf_b = slot % KF_SLOTS_OF(n, threads, radix), kf_q = slot / KF_SLOTS_OF(n, threads, radix), \
                 i = kf_t + (threads)*kf_b + (n) / (radix)*kf_q, kf_here = 1;                                \
             kf_here && (!KF_RAGGED(n, threads, radix) || kf_t + (threads)*kf_b < (n) / (radix));            \
             kf_here = 0)
/* Returns origin + i with one addition of a constant, since the thread's part of i is common to all its
 * values. */
#define KF_REAL_VALUE_NUMBER(origin, i) (KF_R(kf_t) + (origin) + KF_R((i)-kf_t))
/* Visits the values x < most of the lines l < last, with adjacent threads on one line. */
#define KF_EACH_VALUE_ALONG(l, last, slot, x, most, n, threads, lines, radix)                                \
    KF_EACH_VALUE(l, slot, x, n, threads, lines, 0, radix)                                                   \
    if (x < (most) && ((last) == (lines) || l < (last)))
/* Visits the same values. On the cpu it visits them in strips, and runs `prepare` before each, for the
 * values kf_from .. kf_to - 1 of line l. */
#define KF_EACH_VALUE_IN_STRIPS(l, last, slot, x, most, strip, prepare, n, threads, lines, radix)            \
    KF_EACH_VALUE_ALONG(l, last, slot, x, most, n, threads, lines, radix)

/* Return the size of the array for a thread's values of `many` lines, and the place of one of them. */
#define KF_VALUES(many, n, most)   ((many) * (most))
#define KF_AT(m, slot, x, n, most) ((m) * (most) + (slot))
KF_FUNCTION kf_complex kf_get(const kf_wide *v, int at, int l) {
    return v[at];
}
KF_FUNCTION void kf_set(kf_wide *v, int at, int l, kf_complex value) {
    v[at] = value;
}
/* Places of value i of line l in shared memory. A blank after every 16 values keeps a stride of a power of
 * two from hitting one bank. */
#define KF_LINE_PITCH(n, lines)            ((n) + ((n) >> 4) + ((lines) > 1 && (lines) < 16 ? 16 / (lines) : 1))
#define KF_EXCHANGE_VALUES(many, n, lines) (KF_EXCHANGE_BUFFERS * (many) * (lines)*KF_LINE_PITCH(n, lines))
#define KF_MIRRORED(x, n)                  ((x) == 0 ? 0 : (n) - (x))
#define KF_LINE_PLACE(m, i, l, n, lines)   (((m) * (lines) + (l)) * KF_LINE_PITCH(n, lines) + (i) + ((i) >> 4))
/* Returns the place of value i + step, where step is a constant. Where no carry can reach the padding, the
 * constant is added to the place, so that it becomes part of the access. low: i is below it, or a multiple
 * of low and of 16. */
#define KF_NO_CARRY(step, low) ((step) % 16 == 0 || (16 % (low) == 0 && (step) % (low) == 0))
#define KF_LINE_STEP(m, i, step, low, l, n, lines)                                                           \
    (KF_NO_CARRY(step, low) ? KF_LINE_PLACE(m, i, l, n, lines) + (step) + ((step) >> 4)                      \
                            : KF_LINE_PLACE(m, (i) + (step), l, n, lines))
#else
/* Visit each value x of each line l. The inner loop, which vectorises, is over the lines, or over the
 * values of a line (along). The empty statement keeps the compiler from exchanging the loops. */
#define KF_NEXT_LINE(l)                                                                                      \
    ({                                                                                                       \
        __asm__ volatile("");                                                                                \
        (l)++;                                                                                               \
    })
#define KF_EACH_VALUE(l, slot, x, n, threads, lines, across, radix)                                          \
    for (int x = 0, slot = 0; x < (n); slot = ++x)                                                           \
    _Pragma("omp simd") for (int l = 0; l < (lines); l++)
#define KF_EACH_VALUE_ALONG(l, last, slot, x, most, n, threads, lines, radix)                                \
    for (int l = 0, slot = 0; l < ((last) < (lines) ? (last) : (lines)); KF_NEXT_LINE(l))                    \
    _Pragma("omp simd") for (int x = 0; x < (most); x++)
#define KF_EACH_VALUE_IN_STRIPS(l, last, slot, x, most, strip, prepare, n, threads, lines, radix)            \
    for (int l = 0, slot = 0; l < ((last) < (lines) ? (last) : (lines)); KF_NEXT_LINE(l))                    \
        for (int kf_from = 0, kf_to = 0; kf_from < (most); kf_from = kf_to)                                  \
            for (int kf_once =                                                                               \
                     (kf_to = kf_from + (strip) < (most) ? kf_from + (strip) : (most), prepare, 1);          \
                 kf_once; kf_once = 0)                                                                       \
    _Pragma("omp simd") for (int x = kf_from; x < kf_to; x++)
#define KF_REAL_VALUE_NUMBER(origin, i)    ((origin) + KF_R(i))
#define KF_VALUES(many, n, most)           ((many) * ((n) + 1))
#define KF_AT(m, slot, x, n, most)         ((m) * ((n) + 1) + (x) + 0 * (slot))
#define KF_EXCHANGE_VALUES(many, n, lines) ((many)*KF_ALONG_PITCH(n))
/* The first value is stored behind the last once more. */
#define KF_MIRRORED(x, n)                  ((n) - (x))
#define KF_LINE_PLACE(m, i, l, n, lines)   ((m) * ((n) + 1) + (i))
KF_FUNCTION kf_complex kf_get(const kf_wide *v, int at, int l) {
    const kf_real *values = (const kf_real *)v;
    return kf_complex_of(values[2 * KF_LANES * at + l], values[2 * KF_LANES * at + KF_LANES + l]);
}
KF_FUNCTION void kf_set(kf_wide *v, int at, int l, kf_complex value) {
    kf_real *values = (kf_real *)v;
    values[2 * KF_LANES * at + l] = value.re, values[2 * KF_LANES * at + KF_LANES + l] = value.im;
}

/* Places in lines that are stored one after the other: the real parts of line l, then its imaginary parts.
 * The pitch is no power of two, and a line begins with a cache line. */
#define KF_ALONG_PITCH(n)                  (((n) + 15) / 16 * 16 + 16)
#define KF_ALONG_PLACE(m, l, x, n)         (2 * ((m)*KF_LANES + (l)) * KF_ALONG_PITCH(n) + (x))
KF_FUNCTION kf_complex kf_get_along(const kf_wide *lines, int place, int n) {
    const kf_real *values = (const kf_real *)lines + place;
    return kf_complex_of(values[0], values[KF_ALONG_PITCH(n)]);
}
KF_FUNCTION void kf_set_along(kf_wide *lines, int place, int n, kf_complex value) {
    kf_real *values = (kf_real *)lines + place;
    values[0] = value.re, values[KF_ALONG_PITCH(n)] = value.im;
}
/* Four adjacent numbers. kf_transpose turns four of them from rows into columns. */
typedef kf_real kf_quad
    __attribute__((vector_size(4 * sizeof(kf_real)), aligned(sizeof(kf_real)), may_alias));
#if defined(__clang__)
#define KF_SHUFFLED(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#if KF_VELOCITY_BITS == 64
typedef kf_int64 kf_quad_places __attribute__((vector_size(4 * sizeof(kf_real))));
#else
typedef int kf_quad_places __attribute__((vector_size(4 * sizeof(kf_real))));
#endif
#define KF_SHUFFLED(a, b, i, j, k, l) __builtin_shuffle(a, b, (kf_quad_places){i, j, k, l})
#endif
KF_FUNCTION void kf_transpose(kf_quad *q) {
    const kf_quad a = KF_SHUFFLED(q[0], q[1], 0, 4, 1, 5), b = KF_SHUFFLED(q[0], q[1], 2, 6, 3, 7);
    const kf_quad c = KF_SHUFFLED(q[2], q[3], 0, 4, 1, 5), d = KF_SHUFFLED(q[2], q[3], 2, 6, 3, 7);
    q[0] = KF_SHUFFLED(a, c, 0, 1, 4, 5), q[1] = KF_SHUFFLED(a, c, 2, 3, 6, 7);
    q[2] = KF_SHUFFLED(b, d, 0, 1, 4, 5), q[3] = KF_SHUFFLED(b, d, 2, 3, 6, 7);
}
/* Returns value `at` of the four lines from l on: its real parts (part 0) or imaginary parts. */
KF_FUNCTION kf_quad *kf_four_lanes(kf_wide *v, int at, int part, int l) {
    return (kf_quad *)((kf_real *)v + (2 * at + part) * KF_LANES + l);
}
/* Moves lines into the lanes of vectors, or back. */
KF_FUNCTION void kf_turn_lines(kf_wide *v, kf_wide *shared, const int many, const int n, const int to_lanes) {
    const int whole = KF_LANES % 4 == 0 ? n / 4 * 4 : 0, pitch = KF_ALONG_PITCH(n);
    for (int m = 0; m < many; m++) {
        kf_real *lines = (kf_real *)shared + KF_ALONG_PLACE(m, 0, 0, n);
        for (int l = 0; l < (whole > 0 ? KF_LANES : 0); l += 4)
            for (int x = 0; x < whole; x += 4) {
                KF_UNROLL
                for (int part = 0; part < 2; part++) {
                    kf_real *line = lines + (2 * l + part) * pitch + x;
                    kf_quad q[4];
                    KF_UNROLL
                    for (int i = 0; i < 4; i++)
                        q[i] = to_lanes ? *(const kf_quad *)(line + 2 * pitch * i)
                                        : *kf_four_lanes(v, m * (n + 1) + x + i, part, l);
                    kf_transpose(q);
                    KF_UNROLL
                    for (int i = 0; i < 4; i++)
                        *(to_lanes ? kf_four_lanes(v, m * (n + 1) + x + i, part, l)
                                   : (kf_quad *)(line + 2 * pitch * i)) = q[i];
                }
            }
        for (int x = whole; x < n; x++)
            for (int l = 0; l < KF_LANES; l++)
                if (to_lanes)
                    kf_set(v, m * (n + 1) + x, l, kf_get_along(shared, KF_ALONG_PLACE(m, l, x, n), n));
                else
                    kf_set_along(shared, KF_ALONG_PLACE(m, l, x, n), n, kf_get(v, m * (n + 1) + x, l));
    }
}
#endif

#endif
