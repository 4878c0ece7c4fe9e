/* Marks functions with loops that compilers turn into vector code. */
#ifndef KF_BASE_UTIL_WIDE_H
#define KF_BASE_UTIL_WIDE_H

#include <features.h> /* __GLIBC__ */

/* Put it before a static function (another one would be visible outside libkftune). The function is compiled
 * for 256-bit vectors as well, and the processor decides at run time. AVX2 without FMA is used, so results
 * are the same bit for bit. Not with sanitizers: they instrument the code that chooses, which runs before
 * they are ready. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define KF_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define KF_WIDE
#endif

#endif
