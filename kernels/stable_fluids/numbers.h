/* Numbers of the stable fluids kernels: arithmetic, storage of velocity and spectrum, and indices of the
 * periodic box. KF_VELOCITY_BITS and KF_SPECTRUM_BITS, 16, 32 or 64, are the sizes of stored numbers. 64
 * stands for both, and for the arithmetic. */
#ifndef KF_KERNELS_STABLE_FLUIDS_NUMBERS_H
#define KF_KERNELS_STABLE_FLUIDS_NUMBERS_H

#include "arguments.h"
#include "choices.h"
#include "half.h"
#include "portable.h"

#ifndef KF_VELOCITY_BITS
#define KF_VELOCITY_BITS 32
#endif
#ifndef KF_SPECTRUM_BITS
#define KF_SPECTRUM_BITS 32
#endif
#if KF_VELOCITY_BITS == 64
typedef double kf_real;
#define KF_PARAMETER(a, name) ((a)->double_precision.name)
#define KF_FLOOR(x)           floor(x)
#else
typedef float kf_real;
#define KF_PARAMETER(a, name) ((a)->single_precision.name)
#define KF_FLOOR(x)           floorf(x)
#endif
#define KF_R(value) ((kf_real)(value))

/* With walls across x, or across the last axis, the box in memory is twice the domain, and its upper half
 * is the mirror image of the lower one. With KF_FOLD_X or KF_FOLD_LAST, passes transform the lower half
 * alone, by cosine and sine transforms, and write the upper half beside it. */
#ifndef KF_FOLD_X
#define KF_FOLD_X 0
#endif
#ifndef KF_FOLD_LAST
#define KF_FOLD_LAST 0
#endif

/* Return the smaller and the larger number. If the first is not a number, they return the second. */
KF_FUNCTION kf_real kf_smaller(kf_real x, kf_real y) {
#if KF_CUDA
    return KF_VELOCITY_BITS == 64 ? (kf_real)fmin((double)x, (double)y) : (kf_real)fminf((float)x, (float)y);
#else
    return x < y ? x : y;
#endif
}
KF_FUNCTION kf_real kf_larger(kf_real x, kf_real y) {
#if KF_CUDA
    return KF_VELOCITY_BITS == 64 ? (kf_real)fmax((double)x, (double)y) : (kf_real)fmaxf((float)x, (float)y);
#else
    return x > y ? x : y;
#endif
}

#if KF_CUDA
#define KF_ALIGNED(bytes) __align__(bytes)
#else
#define KF_ALIGNED(bytes) /* gcc does not vectorise members of an aligned struct */
#endif

typedef struct KF_ALIGNED(2 * sizeof(kf_real)) kf_complex {
    kf_real re, im;
} kf_complex;
typedef struct KF_ALIGNED(4) kf_complex_half {
    kf_half re, im;
} kf_complex_half;

KF_FUNCTION kf_complex kf_complex_of(kf_real re, kf_real im) {
    kf_complex c;
    c.re = re, c.im = im;
    return c;
}
/* Numbers in memory. Half precision stores velocities in cells a step, and modes divided by the number of
 * cells of a row, so that both stay near 1. */
#if KF_VELOCITY_BITS == 16
typedef kf_complex_half kf_stored_pair;
typedef kf_half kf_stored_real;
KF_FUNCTION kf_complex kf_pair_from(kf_stored_pair p) {
    return kf_complex_of(kf_from_half(p.re), kf_from_half(p.im));
}
KF_FUNCTION kf_stored_pair kf_pair_to(kf_complex c) {
    kf_stored_pair p;
    p.re = kf_to_half(c.re), p.im = kf_to_half(c.im);
    return p;
}
#define KF_FROM_STORED(value) kf_from_half(value)
#define KF_TO_STORED(value)   kf_to_half(value)
#else
typedef kf_complex kf_stored_pair;
typedef kf_real kf_stored_real;
KF_FUNCTION kf_complex kf_pair_from(kf_stored_pair p) {
    return p;
}
KF_FUNCTION kf_stored_pair kf_pair_to(kf_complex c) {
    return c;
}
#define KF_FROM_STORED(value) (value)
#define KF_TO_STORED(value)   (value)
#endif
#if KF_SPECTRUM_BITS == 16
typedef kf_complex_half kf_stored_mode;
#else
typedef kf_complex kf_stored_mode;
#endif
KF_FUNCTION kf_complex kf_mode_from(kf_stored_mode m) {
#if KF_SPECTRUM_BITS == 16
    return kf_complex_of(kf_from_half(m.re), kf_from_half(m.im));
#else
    return m;
#endif
}
KF_FUNCTION kf_stored_mode kf_mode_to(kf_complex c) {
#if KF_SPECTRUM_BITS == 16
    kf_stored_mode m;
    m.re = kf_to_half(c.re), m.im = kf_to_half(c.im);
    return m;
#else
    return c;
#endif
}

/* Hides a register's value from the compiler. So what depends on it is not computed ahead of a loop and
 * kept. */
#if !KF_CUDA
#define KF_OPAQUE(value) ((void)0)
#elif KF_VELOCITY_BITS == 64
#define KF_OPAQUE(value) asm volatile("" : "+d"(value))
#else
#define KF_OPAQUE(value) asm volatile("" : "+f"(value))
#endif

/* Prefetches bytes that another block will read into the L2 cache: whole multiples of 16 within the range.
 * It does so with KF_AHEAD, from compute capability 9.0 on. */
#ifndef KF_AHEAD
#define KF_AHEAD 0
#endif
KF_FUNCTION void kf_ask_for(const void *range, const unsigned bytes) {
#if KF_CUDA && KF_AHEAD && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned long long from = ((unsigned long long)__cvta_generic_to_global(range) + 15) & ~15ull;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from),
                 "r"(bytes % 16 == 0 ? bytes : (bytes - 16) / 16 * 16)
                 : "memory");
#else
    (void)range, (void)bytes;
#endif
}

/* Returns p a + q b, with the same bits as q b + p a. A compiler might contract only one product into a
 * fused multiply-add. */
KF_FUNCTION kf_real kf_sum_of_products(kf_real p, kf_real a, kf_real q, kf_real b) {
#if !KF_CUDA
    return p * a + q * b;
#elif KF_VELOCITY_BITS == 64
    return __dadd_rn(__dmul_rn(p, a), __dmul_rn(q, b));
#else
    return __fadd_rn(__fmul_rn(p, a), __fmul_rn(q, b));
#endif
}

/* Returns the index of a cell on a periodic axis of n. The result is always a cell, even if the flow
 * diverges. */
#define KF_POWER_OF_TWO(n) (((n) & ((n)-1)) == 0)
KF_FUNCTION int kf_wrapped(int i, int n) {
    if (KF_POWER_OF_TWO(n)) return i & (n - 1);
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}
KF_FUNCTION int kf_next(int i, int n) {
    return KF_POWER_OF_TWO(n) ? (i + 1) & (n - 1) : i + 1 == n ? 0 : i + 1;
}
/* Returns a whole number of cells within the range of an int, even if the flow diverges. On a GPU the
 * conversion itself limits it. */
KF_FUNCTION int kf_whole_cells(kf_real floored) {
#if KF_CUDA && KF_VELOCITY_BITS != 64
    return __float2int_rz(floored);
#else
    return (int)kf_smaller(kf_larger(floored, KF_R(-1.0e8)), KF_R(1.0e8));
#endif
}

#endif
