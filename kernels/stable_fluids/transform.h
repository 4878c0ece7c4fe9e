/* Fourier transforms of lines of KF_R(n) complex values by a block of threads: Stockham's order (natural in,
 * natural out), radices 2 to 32 of the factors 2, 3 and 5, exchanges through shared memory.
 *
 * A block has `lines` lines with `threads` threads each; a thread works on `many` lines at once, so that they
 * share the twiddles. Stage by stage, thread t has butterflies j = t + threads b; a butterfly of radix r
 * takes the values j + (n / r) q. So value (b, q) that a thread has before the first stage is x = t + threads
 * b + (n / r) q with the first radix, and after the last one with the last: the inverse transform takes the
 * radices backwards and begins where the forward one ended.
 *
 * On the cpu one thread does it all: the lines of a block are the lanes of a vector, and a stage reads one
 * array of values and writes another, so that nothing is exchanged. Passes along lines read and write them as
 * lines in shared memory, value after value, which are turned into lanes and back four by four.
 *
 * Defines: KF_LANES the lines of a block; KF_EXCHANGE_BUFFERS 1 | 2 (one barrier less an exchange);
 * KF_TWIDDLES 0 products of the first, which is asked for before the data | 1 all from the table, where they
 * are used | 2 all from the table, before the data; KF_EXCHANGE_HALVES 1: real and imaginary parts are
 * exchanged one after the other, through half the shared memory; KF_KEEP_POWERS 1: those products may stay in
 * registers from transform to transform; KF_SURPLUS 1: the block may have more threads than its lines need */
#ifndef KF_KERNELS_STABLE_FLUIDS_TRANSFORM_H
#define KF_KERNELS_STABLE_FLUIDS_TRANSFORM_H

#include "roots.h"

KF_FUNCTION void kf_butterfly_2(kf_wide *a) {
    const kf_wide t = a[1];
    a[1] = kf_minus(a[0], t), a[0] = kf_plus(a[0], t);
}
KF_FUNCTION void kf_butterfly_3(kf_wide *a, int sign) {
    const kf_real s = KF_R(0.86602540378443864676) * KF_R(sign);
    const kf_wide sum = kf_plus(a[1], a[2]), difference = kf_scaled(kf_minus(a[1], a[2]), s);
    const kf_wide middle = kf_minus(a[0], kf_scaled(sum, KF_R(0.5)));
    a[0] = kf_plus(a[0], sum);
    a[1] = kf_wide_of(middle.re - difference.im, middle.im + difference.re);
    a[2] = kf_wide_of(middle.re + difference.im, middle.im - difference.re);
}
KF_FUNCTION void kf_butterfly_4(kf_wide *a, int sign) {
    const kf_wide p = kf_plus(a[0], a[2]), q = kf_minus(a[0], a[2]), r = kf_plus(a[1], a[3]);
    const kf_wide s = kf_turned(kf_minus(a[1], a[3]), 360, sign);
    a[0] = kf_plus(p, r), a[1] = kf_plus(q, s), a[2] = kf_minus(p, r), a[3] = kf_minus(q, s);
}
KF_FUNCTION void kf_butterfly_5(kf_wide *a, int sign) {
    const kf_real c1 = KF_R(0.30901699437494742410), c2 = KF_R(-0.80901699437494742410);
    const kf_real s1 = KF_R(0.95105651629515357212) * KF_R(sign),
                  s2 = KF_R(0.58778525229247312917) * KF_R(sign);
    const kf_wide p1 = kf_plus(a[1], a[4]), m1 = kf_minus(a[1], a[4]);
    const kf_wide p2 = kf_plus(a[2], a[3]), m2 = kf_minus(a[2], a[3]);
    const kf_wide e1 = kf_wide_of(a[0].re + c1 * p1.re + c2 * p2.re, a[0].im + c1 * p1.im + c2 * p2.im);
    const kf_wide e2 = kf_wide_of(a[0].re + c2 * p1.re + c1 * p2.re, a[0].im + c2 * p1.im + c1 * p2.im);
    const kf_wide o1 = kf_wide_of(s1 * m1.re + s2 * m2.re, s1 * m1.im + s2 * m2.im);
    const kf_wide o2 = kf_wide_of(s2 * m1.re - s1 * m2.re, s2 * m1.im - s1 * m2.im);
    a[0] = kf_plus(a[0], kf_plus(p1, p2));
    a[1] = kf_wide_of(e1.re - o1.im, e1.im + o1.re), a[4] = kf_wide_of(e1.re + o1.im, e1.im - o1.re);
    a[2] = kf_wide_of(e2.re - o2.im, e2.im + o2.re), a[3] = kf_wide_of(e2.re + o2.im, e2.im - o2.re);
}
KF_FUNCTION void kf_butterfly_small(kf_wide *a, int radix, int sign) {
    if (radix == 2) kf_butterfly_2(a);
    if (radix == 3) kf_butterfly_3(a, sign);
    if (radix == 4) kf_butterfly_4(a, sign);
    if (radix == 5) kf_butterfly_5(a, sign);
}
/* A transform of n = p q values is p-point transforms of every q-th, turned, then q-point ones. */
KF_FUNCTION void kf_butterfly_product(kf_wide *a, int p, int q, int sign) {
    kf_wide b[20], c[5];
    KF_UNROLL
    for (int j = 0; j < q; j++) {
        KF_UNROLL
        for (int i = 0; i < p; i++)
            c[i] = a[q * i + j];
        kf_butterfly_small(c, p, sign);
        KF_UNROLL
        for (int k = 0; k < p; k++)
            b[j * p + k] = kf_turned(c[k], j * k * (1440 / (p * q)), sign);
    }
    KF_UNROLL
    for (int k = 0; k < p; k++) {
        KF_UNROLL
        for (int j = 0; j < q; j++)
            c[j] = b[j * p + k];
        kf_butterfly_small(c, q, sign);
        KF_UNROLL
        for (int j = 0; j < q; j++)
            a[k + p * j] = c[j];
    }
}
/* Transforms 32 values as 4 times 8, with twiddles between: Cooley and Tukey's splitting, unrolled. */
KF_FUNCTION void kf_butterfly_32(kf_wide *a, int sign) {
    kf_wide b[32], c[8];
    KF_UNROLL
    for (int j = 0; j < 4; j++) {
        KF_UNROLL
        for (int i = 0; i < 8; i++)
            c[i] = a[4 * i + j];
        kf_butterfly_product(c, 4, 2, sign);
        KF_UNROLL
        for (int k = 0; k < 8; k++)
            b[j * 8 + k] = kf_turned(c[k], j * k * (1440 / 32), sign);
    }
    KF_UNROLL
    for (int k = 0; k < 8; k++) {
        KF_UNROLL
        for (int j = 0; j < 4; j++)
            c[j] = b[j * 8 + k];
        kf_butterfly_4(c, sign);
        KF_UNROLL
        for (int j = 0; j < 4; j++)
            a[k + 8 * j] = c[j];
    }
}
/* In place, natural order; sign -1: forward. */
KF_FUNCTION void kf_butterfly(kf_wide *a, int radix, int sign) {
    if (radix <= 5) kf_butterfly_small(a, radix, sign);
    if (radix == 6) kf_butterfly_product(a, 3, 2, sign);
    if (radix == 8) kf_butterfly_product(a, 4, 2, sign);
    if (radix == 9) kf_butterfly_product(a, 3, 3, sign);
    if (radix == 10) kf_butterfly_product(a, 5, 2, sign);
    if (radix == 12) kf_butterfly_product(a, 4, 3, sign);
    if (radix == 15) kf_butterfly_product(a, 5, 3, sign);
    if (radix == 16) kf_butterfly_product(a, 4, 4, sign);
    if (radix == 20) kf_butterfly_product(a, 5, 4, sign);
    if (radix == 32) kf_butterfly_32(a, sign);
}

/* --- A block's threads on its lines -------------------------------------------------------------------- */

#ifndef KF_EXCHANGE_BUFFERS
#define KF_EXCHANGE_BUFFERS 1
#endif
#ifndef KF_EXCHANGE_HALVES
#define KF_EXCHANGE_HALVES 0
#endif
#ifndef KF_TWIDDLES
#define KF_TWIDDLES KF_TABLE_TWIDDLES
#endif
#ifndef KF_KEEP_POWERS
#define KF_KEEP_POWERS 0
#endif
#ifndef KF_SURPLUS
#define KF_SURPLUS 0
#endif

/* Slots of a thread for butterflies of that radix, and whether some threads have none in the last one. */
#define KF_SLOTS_OF(n, threads, radix) (((n) / (radix) + (threads)-1) / (threads))
#define KF_RAGGED(n, threads, radix)   ((n) / (radix) % (threads) != 0)
/* Last radix of the forward transform, with which its results lie. */
#define KF_LAST_OF(r0, r1, r2, r3, r4)                                                                       \
    ((r4) > 1 ? (r4) : (r3) > 1 ? (r3) : (r2) > 1 ? (r2) : (r1) > 1 ? (r1) : (r0))

/* Tells whether the radices are the same from both ends: then forward and inverse tables are. */
#define KF_PALINDROME(r0, r1, r2, r3, r4)                                                                    \
    ((r4) > 1   ? (r0) == (r4) && (r1) == (r3)                                                               \
     : (r3) > 1 ? (r0) == (r3) && (r1) == (r2)                                                               \
     : (r2) > 1 ? (r0) == (r2)                                                                               \
     : (r1) > 1 ? (r0) == (r1)                                                                               \
                : 1)

#if KF_CUDA
/* A thread's place among those of its line, its line, and whether it has one. */
#define KF_THREAD_OF(threads, lines, across)                                                                 \
    ((across) ? (int)(threadIdx.x / (unsigned)(lines)) : (int)(threadIdx.x % (unsigned)(threads)))
#define KF_LINE_OF(threads, lines, across)                                                                   \
    ((across) ? (int)(threadIdx.x % (unsigned)(lines)) : (int)(threadIdx.x / (unsigned)(threads)))
#define KF_HAS_LINE(t, l, threads, lines, across)                                                            \
    (!KF_SURPLUS || ((across) ? (t) < (threads) : (l) < (lines)))
/* Runs the statement for each value x of each line l, which its thread has in `slot`; values lie by that
 * radix. Lines next to each other in memory lie fastest among the threads (across), values of one line
 * otherwise. */
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
/* Returns origin + the number i of a value, by one addition of a constant. */
#define KF_REAL_VALUE_NUMBER(origin, i) (KF_R(kf_t) + (origin) + KF_R((i)-kf_t))
/* Visits the values with x < most of lines l < last, along the lines. */
#define KF_EACH_VALUE_ALONG(l, last, slot, x, most, n, threads, lines, radix)                                \
    KF_EACH_VALUE(l, slot, x, n, threads, lines, 0, radix)                                                   \
    if (x < (most) && ((last) == (lines) || l < (last)))
/* Visits them in strips of values; on the cpu `prepare` comes before each, from value kf_from to kf_to - 1 of
 * line l. */
#define KF_EACH_VALUE_IN_STRIPS(l, last, slot, x, most, strip, prepare, n, threads, lines, radix)            \
    KF_EACH_VALUE_ALONG(l, last, slot, x, most, n, threads, lines, radix)

/* A thread's values of so many lines, and where they are. */
#define KF_VALUES(many, n, most)   ((many) * (most))
#define KF_AT(m, slot, x, n, most) ((m) * (most) + (slot))
KF_FUNCTION kf_complex kf_get(const kf_wide *v, int at, int l) {
    return v[at];
}
KF_FUNCTION void kf_set(kf_wide *v, int at, int l, kf_complex value) {
    v[at] = value;
}
/* Shared memory: value i of line l, padded so that a thread's radix is no stride of the banks. */
#define KF_LINE_PITCH(n, lines)                                                                              \
    ((n) + ((n) >> 4) + ((lines) > 1 && (lines) < 16 ? (KF_EXCHANGE_HALVES ? 32 : 16) / (lines) : 1))
#define KF_EXCHANGE_VALUES(many, n, lines)                                                                   \
    (KF_EXCHANGE_BUFFERS * ((many) * (lines)*KF_LINE_PITCH(n, lines) + KF_EXCHANGE_HALVES) /                 \
     (1 + KF_EXCHANGE_HALVES))
#define KF_MIRRORED(x, n)                ((x) == 0 ? 0 : (n) - (x))
#define KF_LINE_PLACE(m, i, l, n, lines) (((m) * (lines) + (l)) * KF_LINE_PITCH(n, lines) + (i) + ((i) >> 4))
/* Place of value i + step, the step a constant: apart where no carry can come into the padding, so that it
 * becomes part of the access. low: i is below it, or a multiple of it and of 16 beyond. */
#define KF_NO_CARRY(step, low) ((step) % 16 == 0 || (16 % (low) == 0 && (step) % (low) == 0))
#define KF_LINE_STEP(m, i, step, low, l, n, lines)                                                           \
    (KF_NO_CARRY(step, low) ? KF_LINE_PLACE(m, i, l, n, lines) + (step) + ((step) >> 4)                      \
                            : KF_LINE_PLACE(m, (i) + (step), l, n, lines))
#else
/* Each value x of each line l: the lines are the lanes; or, along, the values of a line. The empty statement
 * keeps the compiler from exchanging the loops. */
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
#define KF_MIRRORED(x, n)                  ((n) - (x)) /* the first value stands behind the last once more */
#define KF_LINE_PLACE(m, i, l, n, lines)   ((m) * ((n) + 1) + (i))
KF_FUNCTION kf_complex kf_get(const kf_wide *v, int at, int l) {
    const kf_real *values = (const kf_real *)v;
    return kf_complex_of(values[2 * KF_LANES * at + l], values[2 * KF_LANES * at + KF_LANES + l]);
}
KF_FUNCTION void kf_set(kf_wide *v, int at, int l, kf_complex value) {
    kf_real *values = (kf_real *)v;
    values[2 * KF_LANES * at + l] = value.re, values[2 * KF_LANES * at + KF_LANES + l] = value.im;
}

/* Lines in shared memory: real parts of line l, then its imaginary ones; no pitch is a power of two, and none
 * begins amid a line of the cache. */
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
/* Four numbers in a row; four of them become columns. */
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
/* The real (part 0) or imaginary parts of value `at` of four lines from l on. */
KF_FUNCTION kf_quad *kf_four_lanes(kf_wide *v, int at, int part, int l) {
    return (kf_quad *)((kf_real *)v + (2 * at + part) * KF_LANES + l);
}
/* Lines to the lanes of values, or back. */
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

KF_FUNCTION kf_complex kf_twiddle(const kf_complex *table, int place, int sign) {
#if KF_CUDA && KF_VELOCITY_BITS != 64
    const float2 w = __ldg((const float2 *)table + place);
    return kf_complex_of(w.x, sign > 0 ? -w.y : w.y);
#else
    const kf_complex w = table[place];
    return kf_complex_of(w.re, sign > 0 ? -w.im : w.im);
#endif
}

/* The radix - 1 twiddles of a butterfly before which s values are done; table: entries (q - 1) s + m from s -
 * 1 on. */
KF_FUNCTION void kf_stage_twiddles(kf_complex *w, const kf_complex *table, int j, int s, int radix,
                                   int sign) {
    const int m = (int)((unsigned)j % (unsigned)s);
    KF_UNROLL
    for (int q = 1; q < (KF_TWIDDLES == KF_PRODUCTS_TWIDDLES ? 2 : radix); q++)
        w[q] = kf_twiddle(table, s - 1 + (q - 1) * s + m, sign);
}
/* The others as products of the first. */
KF_FUNCTION void kf_powers(kf_complex *w, int radix) {
    KF_UNROLL
    for (int q = 2; q < radix; q++) {
        const kf_complex x = w[q >> 1], y = w[q - (q >> 1)];
        w[q] = kf_complex_of(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
    }
}

/* A line engine is made of constants: values of a line, threads of a line, lines of a block, whether the
 * lines lie fastest, lines a thread works on at once, values it has of one at most, radices (1 where there
 * are no more). */
#define KF_ENGINE_PARAMETERS                                                                                 \
    const int n, const int threads, const int lines, const int across, const int many, const int most,       \
        const int r0, const int r1, const int r2, const int r3, const int r4

#if KF_CUDA
/* The twiddles of a transform: where they are, or those of this thread (KF_TWIDDLES 0 and 2), forward ones,
 * stage after stage. */
typedef struct kf_twiddles {
    const kf_complex *table;
    kf_complex held[128];
} kf_twiddles;
#define KF_TWIDDLES_EACH(radix) ((radix) < 2 ? 0 : KF_TWIDDLES == KF_PRODUCTS_TWIDDLES ? 1 : (radix)-1)
#define KF_TWIDDLES_OF(n, threads, radix)                                                                    \
    ((radix) < 2 ? 0 : KF_SLOTS_OF(n, threads, radix) * KF_TWIDDLES_EACH(radix))
KF_FUNCTION void kf_hold_twiddles(kf_twiddles *twiddles, const int from, const int t, const int n,
                                  const int threads, const int s, const int radix) {
    if (radix < 2) return;
    KF_UNROLL
    for (int b = 0; b < KF_SLOTS_OF(n, threads, radix); b++) {
        const int j = t + threads * b;
        kf_complex w[32];
        if (!KF_RAGGED(n, threads, radix) || j < n / radix) {
            kf_stage_twiddles(w, twiddles->table, j, s, radix, -1);
            KF_UNROLL
            for (int q = 0; q < KF_TWIDDLES_EACH(radix); q++)
                twiddles->held[from + b * KF_TWIDDLES_EACH(radix) + q] = w[1 + q];
        }
    }
}
/* To be had before the data are read; sign as in kf_transform. */
KF_FUNCTION void kf_load_twiddles(kf_twiddles *twiddles, const kf_complex *table, const int sign,
                                  KF_ENGINE_PARAMETERS) {
    const int t = KF_THREAD_OF(threads, lines, across);
    twiddles->table = table;
    if (KF_TWIDDLES == KF_TABLE_TWIDDLES) return;
#define KF_HOLD(from, s, radix) kf_hold_twiddles(twiddles, from, t, n, threads, s, radix)
    if (sign < 0) {
        KF_HOLD(0, r0, r1);
        KF_HOLD(KF_TWIDDLES_OF(n, threads, r1), r0 * r1, r2);
        KF_HOLD(KF_TWIDDLES_OF(n, threads, r1) + KF_TWIDDLES_OF(n, threads, r2), r0 * r1 * r2, r3);
        KF_HOLD(KF_TWIDDLES_OF(n, threads, r1) + KF_TWIDDLES_OF(n, threads, r2) +
                    KF_TWIDDLES_OF(n, threads, r3),
                r0 * r1 * r2 * r3, r4);
    } else {
        if (r4 > 1) KF_HOLD(0, r4, r3);
        if (r3 > 1) KF_HOLD(KF_TWIDDLES_OF(n, threads, r3) * (r4 > 1), r4 * r3, r2);
        if (r2 > 1)
            KF_HOLD(KF_TWIDDLES_OF(n, threads, r3) * (r4 > 1) + KF_TWIDDLES_OF(n, threads, r2) * (r3 > 1),
                    r4 * r3 * r2, r1);
        if (r1 > 1)
            KF_HOLD(KF_TWIDDLES_OF(n, threads, r3) * (r4 > 1) + KF_TWIDDLES_OF(n, threads, r2) * (r3 > 1) +
                        KF_TWIDDLES_OF(n, threads, r1) * (r2 > 1),
                    r4 * r3 * r2 * r1, r0);
    }
#undef KF_HOLD
}

/* The twiddles of a thread's butterfly b, j = t + threads b, from those held at `from`, or from the table. */
KF_FUNCTION void kf_twiddles_of(kf_complex *w, const kf_twiddles *twiddles, const int from, const int sign,
                                const int b, const int j, const int s, const int radix) {
    if (KF_TWIDDLES == KF_TABLE_TWIDDLES)
        kf_stage_twiddles(w, twiddles->table, j, s, radix, sign);
    else
        KF_UNROLL
    for (int q = 0; q < KF_TWIDDLES_EACH(radix); q++) {
        const kf_complex held = twiddles->held[from + b * KF_TWIDDLES_EACH(radix) + q];
        w[1 + q] = kf_complex_of(held.re, sign > 0 ? -held.im : held.im);
    }
    if (KF_TWIDDLES == KF_PRODUCTS_TWIDDLES) {
        if (!KF_KEEP_POWERS) {
            KF_OPAQUE(w[1].re);
            KF_OPAQUE(w[1].im);
        }
        kf_powers(w, radix);
    }
}

/* One stage: butterflies, and the exchange to the order of the next unless it is the last (next 0). from: of
 * its twiddles among those held. */
KF_FUNCTION void kf_stage(kf_wide *v, kf_wide *shared, const kf_twiddles *twiddles, const int from,
                          const int sign, const int n, const int threads, const int lines, const int across,
                          const int many, const int most, const int s, const int radix, const int next,
                          const int buffer) {
    const int slots = KF_SLOTS_OF(n, threads, radix);
    const int t = KF_THREAD_OF(threads, lines, across), l = KF_LINE_OF(threads, lines, across);
    const int active = KF_HAS_LINE(t, l, threads, lines, across);
    kf_wide *target =
        shared + (KF_EXCHANGE_BUFFERS == 2 ? buffer * many * lines * KF_LINE_PITCH(n, lines) : 0);
    /* Value q s of butterfly t + threads b comes to place (t / s) s radix + t % s, and a constant further: */
    const int steady = threads % s == 0 && (threads * radix) % 16 == 0,
              first = (int)((unsigned)t / (unsigned)s * (unsigned)(s * radix) + (unsigned)t % (unsigned)s);
    const int low = (s * radix) % 16 == 0 || 16 % (s * radix) == 0 ? s : n;
#define KF_TARGET(m, b, q)                                                                                   \
    (steady ? KF_LINE_STEP(m, first, threads * (b)*radix + (q)*s, low, l, n, lines)                          \
            : KF_LINE_STEP(m, (t + threads * (b)) / s * s * radix + (t + threads * (b)) % s, (q)*s, low, l,  \
                           n, lines))
    if (active) {
        KF_UNROLL
        for (int b = 0; b < slots; b++) {
            const int j = t + threads * b;
            if (!KF_RAGGED(n, threads, radix) || j < n / radix) {
                kf_complex w[32];
                if (s > 1) kf_twiddles_of(w, twiddles, from, sign, b, j, s, radix);
                KF_UNROLL
                for (int m = 0; m < many; m++) {
                    kf_wide a[32];
                    KF_UNROLL
                    for (int q = 0; q < radix; q++) {
                        a[q] = v[m * most + b + slots * q];
                        if (s > 1 && q > 0) a[q] = kf_times(a[q], w[q]);
                    }
                    kf_butterfly(a, radix, sign);
                    KF_UNROLL
                    for (int q = 0; q < radix; q++) {
                        if (next && KF_EXCHANGE_BUFFERS == 2)
                            target[KF_TARGET(m, b, q)] = a[q];
                        else
                            v[m * most + b + slots * q] = a[q];
                    }
                }
            }
        }
    }
    if (!next) return;
    const int after = KF_SLOTS_OF(n, threads, next ? next : 1), stride = n / (next ? next : 1);
    const int below = threads % 16 == 0 || after == 1 ? stride : n;
#define KF_SOURCE(m, b, q) KF_LINE_STEP(m, t, threads *(b) + stride * (q), below, l, n, lines)
#if KF_EXCHANGE_HALVES
    kf_real *part = (kf_real *)target;
    kf_wide taken[KF_EXCHANGE_MOST];
    KF_UNROLL
    for (int half = 0; half < 2; half++) {
        KF_BARRIER;
        if (active) {
            KF_UNROLL
            for (int b = 0; b < slots; b++) {
                if (!KF_RAGGED(n, threads, radix) || t + threads * b < n / radix) {
                    KF_UNROLL
                    for (int m = 0; m < many; m++) {
                        KF_UNROLL
                        for (int q = 0; q < radix; q++) {
                            const kf_wide value = v[m * most + b + slots * q];
                            part[KF_TARGET(m, b, q)] = half == 0 ? value.re : value.im;
                        }
                    }
                }
            }
        }
        KF_BARRIER;
        if (active) {
            KF_UNROLL
            for (int b = 0; b < after; b++) {
                if (!KF_RAGGED(n, threads, (next ? next : 1)) || t + threads * b < stride) {
                    KF_UNROLL
                    for (int m = 0; m < many; m++) {
                        KF_UNROLL
                        for (int q = 0; q < next; q++) {
                            const kf_real value = part[KF_SOURCE(m, b, q)];
                            if (half == 0)
                                taken[m * most + b + after * q].re = value;
                            else
                                taken[m * most + b + after * q].im = value;
                        }
                    }
                }
            }
        }
    }
    KF_UNROLL
    for (int i = 0; i < many * most; i++)
        v[i] = taken[i];
    return;
#endif
#if KF_EXCHANGE_BUFFERS != 2
    KF_BARRIER;
    if (active) {
        KF_UNROLL
        for (int b = 0; b < slots; b++) {
            const int j = t + threads * b;
            if (!KF_RAGGED(n, threads, radix) || j < n / radix) {
                KF_UNROLL
                for (int m = 0; m < many; m++) {
                    KF_UNROLL
                    for (int q = 0; q < radix; q++)
                        target[KF_TARGET(m, b, q)] = v[m * most + b + slots * q];
                }
            }
        }
    }
#endif
    KF_BARRIER;
    if (active) {
        KF_UNROLL
        for (int b = 0; b < after; b++) {
            const int j = t + threads * b;
            if (!KF_RAGGED(n, threads, (next ? next : 1)) || j < stride) {
                KF_UNROLL
                for (int m = 0; m < many; m++) {
                    KF_UNROLL
                    for (int q = 0; q < next; q++)
                        v[m * most + b + after * q] = target[KF_SOURCE(m, b, q)];
                }
            }
        }
    }
#undef KF_SOURCE
#undef KF_TARGET
}

/* All stages. The caller has a barrier between its own use of shared and this one, and after it. sign 1 takes
 * the radices backwards; twiddles: of this direction, or of the other where the radices are a palindrome. */
KF_FUNCTION void kf_transform(kf_wide *v, kf_wide *shared, const kf_twiddles *twiddles, const int sign,
                              KF_ENGINE_PARAMETERS) {
#define KF_STAGE(from, s, radix, next, buffer)                                                               \
    kf_stage(v, shared, twiddles, from, sign, n, threads, lines, across, many, most, s, radix,               \
             (next) > 1 ? (next) : 0, buffer)
    const int held_0 = KF_TWIDDLES_OF(n, threads, r0), held_1 = KF_TWIDDLES_OF(n, threads, r1),
              held_2 = KF_TWIDDLES_OF(n, threads, r2), held_3 = KF_TWIDDLES_OF(n, threads, r3);
    if (sign < 0) {
        KF_STAGE(0, 1, r0, r1, 0);
        if (r1 > 1) KF_STAGE(0, r0, r1, r2, 1);
        if (r2 > 1) KF_STAGE(held_1, r0 * r1, r2, r3, 0);
        if (r3 > 1) KF_STAGE(held_1 + held_2, r0 * r1 * r2, r3, r4, 1);
        if (r4 > 1) KF_STAGE(held_1 + held_2 + held_3, r0 * r1 * r2 * r3, r4, 0, 0);
    } else {
        const int from_3 = r4 > 1 ? held_3 : 0, from_2 = from_3 + (r3 > 1 ? held_2 : 0),
                  from_1 = from_2 + (r2 > 1 ? held_1 : 0);
        if (r4 > 1) KF_STAGE(0, 1, r4, r3, 0);
        if (r3 > 1) KF_STAGE(0, r4, r3, r2, 1);
        if (r2 > 1) KF_STAGE(from_3, r4 * r3, r2, r1, 0);
        if (r1 > 1) KF_STAGE(from_2, r4 * r3 * r2, r1, r0, 1);
        KF_STAGE(from_1, r4 * r3 * r2 * r1, r0, 0, 0);
    }
    (void)held_0;
#undef KF_STAGE
}
#else
/* One stage from one array to the other. The last one's results lie where its values came from: it may stay
 * in place. */
KF_FUNCTION void kf_stage(const kf_wide *from, kf_wide *to, const kf_complex *table, const int sign,
                          const int n, const int many, const int s, const int radix) {
    for (int m = 0; m < many; m++)
        for (int j = 0; j < n / radix; j++) {
            kf_complex w[32];
            kf_wide a[32];
            if (s > 1) {
                kf_stage_twiddles(w, table, j, s, radix, sign);
                if (KF_TWIDDLES == KF_PRODUCTS_TWIDDLES) kf_powers(w, radix);
            }
            KF_UNROLL
            for (int q = 0; q < radix; q++) {
                a[q] = from[m * (n + 1) + j + n / radix * q];
                if (s > 1 && q > 0) a[q] = kf_times(a[q], w[q]);
            }
            kf_butterfly(a, radix, sign);
            const int place = m * (n + 1) + j / s * s * radix + j % s;
            KF_UNROLL
            for (int q = 0; q < radix; q++)
                to[place + q * s] = a[q];
        }
}
typedef struct kf_twiddles {
    const kf_complex *table;
} kf_twiddles;
KF_FUNCTION void kf_load_twiddles(kf_twiddles *twiddles, const kf_complex *table, const int sign,
                                  KF_ENGINE_PARAMETERS) {
    twiddles->table = table;
    (void)sign, (void)n, (void)threads, (void)lines, (void)across, (void)many, (void)most;
    (void)r0, (void)r1, (void)r2, (void)r3, (void)r4;
}
KF_FUNCTION void kf_transform(kf_wide *v, kf_wide *shared, const kf_twiddles *twiddles, const int sign,
                              KF_ENGINE_PARAMETERS) {
    const kf_complex *table = twiddles->table;
    (void)threads, (void)lines, (void)across, (void)most;
    kf_wide *from = v, *to = shared, *swap;
#define KF_STAGE(s, radix)                                                                                   \
    if ((radix) > 1) {                                                                                       \
        if ((s) * (radix) == n) to = v;                                                                      \
        kf_stage(from, to, table, sign, n, many, s, radix);                                                  \
        swap = from, from = to, to = swap;                                                                   \
    }
    if (sign < 0) {
        KF_STAGE(1, r0)
        KF_STAGE(r0, r1)
        KF_STAGE(r0 * r1, r2)
        KF_STAGE(r0 * r1 * r2, r3)
        KF_STAGE(r0 * r1 * r2 * r3, r4)
    } else {
        KF_STAGE(1, r4)
        KF_STAGE(r4, r3)
        KF_STAGE(r4 * r3, r2)
        KF_STAGE(r4 * r3 * r2, r1)
        KF_STAGE(r4 * r3 * r2 * r1, r0)
    }
#undef KF_STAGE
}
#endif

#endif
