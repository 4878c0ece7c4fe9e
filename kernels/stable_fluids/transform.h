/* Transforms lines of complex values by a block of threads, by Stockham's algorithm: natural order in and
 * out, radices of 2 to 32 with the factors 2, 3 and 5, and exchanges through shared memory.
 *
 * A block has `lines` lines with `threads` threads each. A thread works on `many` lines at once, which
 * share the twiddles. In each stage thread t has the butterflies j = t + threads b. A butterfly of radix r
 * takes the values j + (n / r) q. So before the first stage a thread's value (b, q) is x = t + threads b +
 * (n / r) q with the first radix r, and after the last stage with the last radix. The inverse transform
 * takes the radices backwards, so it begins where the forward one ended.
 *
 * On the cpu one thread does it all. The lines of a block are the lanes of vectors. A stage reads one
 * array and writes another, so that nothing is exchanged. Passes along lines store them one after the
 * other in shared memory. These are moved into lanes and back four by four.
 *
 * Defines that a config sets:
 *   KF_LANES                   the lines of a block
 *   KF_EXCHANGE_BUFFERS 1|2    2: one barrier less an exchange
 *   KF_TWIDDLES                0: products of the first, which is loaded before the data; 1: all from
 *                              the table, where they are used; 2: all from the table, before the data
 *   KF_KEEP_POWERS 0|1         1: those products may stay in registers from transform to transform
 *   KF_SURPLUS 0|1             1: the block may have more threads than its lines need */
#ifndef KF_KERNELS_STABLE_FLUIDS_TRANSFORM_H
#define KF_KERNELS_STABLE_FLUIDS_TRANSFORM_H

#include "butterflies.h"
#include "lines.h"

#ifndef KF_TWIDDLES
#define KF_TWIDDLES KF_TABLE_TWIDDLES
#endif
#ifndef KF_KEEP_POWERS
#define KF_KEEP_POWERS 0
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

/* Reads the radix - 1 twiddles of butterfly j in the stage before which s values are transformed. The
 * table has that of q at place (q - 1) s + j % s, from s - 1 on. */
KF_FUNCTION void kf_stage_twiddles(kf_complex *w, const kf_complex *table, int j, int s, int radix,
                                   int sign) {
    const int m = (int)((unsigned)j % (unsigned)s);
    KF_UNROLL
    for (int q = 1; q < (KF_TWIDDLES == KF_PRODUCTS_TWIDDLES ? 2 : radix); q++)
        w[q] = kf_twiddle(table, s - 1 + (q - 1) * s + m, sign);
}
/* Computes the other twiddles as products of the first. */
KF_FUNCTION void kf_powers(kf_complex *w, int radix) {
    KF_UNROLL
    for (int q = 2; q < radix; q++) {
        const kf_complex x = w[q >> 1], y = w[q - (q >> 1)];
        w[q] = kf_complex_of(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
    }
}

/* The constants of a transform: values of a line, threads of a line, lines of a block, whether adjacent
 * threads have adjacent lines, lines that a thread works on at once, its most values of one line, and the
 * radices (1 where there are no more). */
#define KF_ENGINE_PARAMETERS                                                                                 \
    const int n, const int threads, const int lines, const int across, const int many, const int most,       \
        const int r0, const int r1, const int r2, const int r3, const int r4

#if KF_CUDA
/* The twiddles of a transform: the table, and those that this thread holds (KF_TWIDDLES 0 and 2), stage
 * after stage, for the forward direction. */
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
/* Loads the twiddles before the data are read. sign as in kf_transform. */
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

/* Returns the twiddles of a thread's butterfly b, j = t + threads b, from those held at `from` on, or from
 * the table. */
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

/* Does one stage: the butterflies, and the exchange into the order of the next stage unless this is the
 * last (next 0). from: place of its twiddles among those held. */
KF_FUNCTION void kf_stage(kf_wide *v, kf_wide *shared, const kf_twiddles *twiddles, const int from,
                          const int sign, const int n, const int threads, const int lines, const int across,
                          const int many, const int most, const int s, const int radix, const int next,
                          const int buffer) {
    const int slots = KF_SLOTS_OF(n, threads, radix);
    const int t = KF_THREAD_OF(threads, lines, across), l = KF_LINE_OF(threads, lines, across);
    const int active = KF_HAS_LINE(t, l, threads, lines, across);
    kf_wide *target =
        shared + (KF_EXCHANGE_BUFFERS == 2 ? buffer * many * lines * KF_LINE_PITCH(n, lines) : 0);
    /* Value q of butterfly j = t + threads b moves to place (j / s) s radix + j % s + q s. If steady, the
     * places of a thread differ by constants. */
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

/* Runs all stages. sign -1 is forward; 1 takes the radices backwards. The caller needs a barrier between
 * its own use of `shared` and this one, and one after it. If the radices are a palindrome, the twiddles of
 * either direction serve. */
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
/* Does one stage from one array to the other. The last stage's results have the places of its inputs, so
 * it may work in place. */
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
