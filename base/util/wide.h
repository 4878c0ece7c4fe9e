/* Functions whose loops compilers turn into vector code. */
#ifndef KF_BASE_UTIL_WIDE_H
#define KF_BASE_UTIL_WIDE_H

#include <features.h> /* __GLIBC__ */

/* Before a static function (any other would be seen outside of libkftune): it is compiled for 256 bits, too,
 * and the processor decides at run time. AVX2 without FMA: results are the same to the bit with and without.
 * Sanitizers instrument what chooses, which runs before they are ready. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define KF_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define KF_WIDE
#endif

#endif
