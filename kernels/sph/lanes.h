/* Vectors of 16 floats or integers, with the instructions of AVX-512 that near.h needs. Reading immintrin.h
 * takes as long as compiling the rest of a module, so gcc 12's own functions are called. With other
 * compilers these are the functions of immintrin.h. */
#ifndef KF_KERNELS_SPH_LANES_H
#define KF_KERNELS_SPH_LANES_H

typedef float kf_lanes __attribute__((vector_size(64), may_alias));
typedef int kf_numbers __attribute__((vector_size(64), may_alias));
typedef int kf_loose_numbers __attribute__((vector_size(64), may_alias, aligned(4)));

/* No page of gcc describes these functions. The version of Debian 12 has them, and others may change them. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#define KF_OWN_FUNCTIONS 1
#endif

/* kf_load_lanes      loads the lanes of a mask, and 0 in the others
 * kf_fma_lanes       a b + c
 * kf_less_lanes      the mask of those lanes in which a < b
 * kf_compress        moves the numbers of a mask to the front, and 0 behind them
 * kf_choose_lanes    the lanes of p and q that the numbers tell; 16 is the first of q
 * kf_join            the first halves of p and q
 * kf_low_.., kf_high_pairs    of each four lanes of p and q the low or high two, in turn: p q p q
 * kf_low_.., kf_high_doubles  the same for pairs of lanes
 * kf_insert_four     p with four floats in place of its part of four with that number */
#if KF_OWN_FUNCTIONS
typedef double kf_doubles __attribute__((vector_size(64), may_alias));
typedef float kf_some __attribute__((vector_size(16), may_alias));
typedef float kf_loose_some __attribute__((vector_size(16), may_alias, aligned(4)));
#define kf_load_lanes(lanes, from)   __builtin_ia32_loadups512_mask(from, (kf_lanes){0}, lanes)
#define kf_fma_lanes(a, b, c)        __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4)
#define kf_less_lanes(lanes, a, b)   __builtin_ia32_cmpps512_mask(a, b, 17, lanes, 4)
#define kf_compress(lanes, numbers)  __builtin_ia32_compresssi512_mask(numbers, (kf_numbers){0}, lanes)
#define kf_choose_lanes(p, which, q) __builtin_ia32_vpermt2varps512_mask(which, p, q, (unsigned short)-1)
#define kf_join(p, q)                __builtin_ia32_shuf_f32x4_mask(p, q, 0x44, p, (unsigned short)-1)
#define kf_low_pairs(p, q)           __builtin_ia32_unpcklps512_mask(p, q, p, (unsigned short)-1)
#define kf_high_pairs(p, q)          __builtin_ia32_unpckhps512_mask(p, q, p, (unsigned short)-1)
#define KF_OF_DOUBLES(unpack, p, q)                                                                          \
    (kf_lanes) unpack((kf_doubles)(p), (kf_doubles)(q), (kf_doubles)(p), (unsigned char)-1)
#define kf_low_doubles(p, q)  KF_OF_DOUBLES(__builtin_ia32_unpcklpd512_mask, p, q)
#define kf_high_doubles(p, q) KF_OF_DOUBLES(__builtin_ia32_unpckhpd512_mask, p, q)
#define kf_insert_four(p, from, part)                                                                        \
    __builtin_ia32_insertf32x4_mask(p, (kf_some) * (const kf_loose_some *)(from), part, p, (unsigned short)-1)
#else
#include <immintrin.h>
#define kf_load_lanes(lanes, from)    _mm512_maskz_loadu_ps(lanes, from)
#define kf_fma_lanes(a, b, c)         _mm512_fmadd_ps(a, b, c)
#define kf_less_lanes(lanes, a, b)    _mm512_mask_cmp_ps_mask(lanes, a, b, _CMP_LT_OQ)
#define kf_compress(lanes, numbers)   (kf_numbers) _mm512_maskz_compress_epi32(lanes, (__m512i)(numbers))
#define kf_choose_lanes(p, which, q)  _mm512_permutex2var_ps(p, (__m512i)(which), q)
#define kf_join(p, q)                 _mm512_shuffle_f32x4(p, q, 0x44)
#define kf_low_pairs(p, q)            _mm512_unpacklo_ps(p, q)
#define kf_high_pairs(p, q)           _mm512_unpackhi_ps(p, q)
#define kf_low_doubles(p, q)          (kf_lanes) _mm512_unpacklo_pd((__m512d)(p), (__m512d)(q))
#define kf_high_doubles(p, q)         (kf_lanes) _mm512_unpackhi_pd((__m512d)(p), (__m512d)(q))
#define kf_insert_four(p, from, part) _mm512_insertf32x4(p, _mm_loadu_ps(from), part)
#endif

#endif
