/* The highest rate of multiply-adds, in independent chains that never leave the registers. ROOF_BITS is 16
 * (pairs, only on a GPU), 32 or 64. */
#include "../portable.h"
#include "arguments.h"

#if ROOF_BITS == 16
/* NVRTC has no half type without a header, but the instruction set has. Two halves are in 32 bits. */
typedef unsigned roof_real;
KF_FUNCTION roof_real roof_start(int k) {
    return 0x3c003c00u + (unsigned)k;
} /* near 1 */
#define ROOF_FACTOR 0x3bff3bffu /* just below 1 */
#define ROOF_TERM   0x10001000u /* 2^-11 */
#define ROOF_MULTIPLY_ADD(sum)                                                                               \
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(sum) : "r"(ROOF_FACTOR), "r"(ROOF_TERM))
#define ROOF_LANES 2
#else
#if ROOF_BITS == 64
typedef double roof_scalar;
#else
typedef float roof_scalar;
#endif
#if KF_CUDA
typedef roof_scalar roof_real;
KF_FUNCTION roof_real roof_start(int k) {
    return (roof_scalar)k;
}
#else
#if defined(__AVX512F__)
typedef roof_scalar roof_real __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef roof_scalar roof_real __attribute__((vector_size(32)));
#else
typedef roof_scalar roof_real __attribute__((vector_size(16)));
#endif
KF_FUNCTION roof_real roof_start(int k) {
    return (roof_scalar)k + (roof_real){0};
}
#endif
#define ROOF_MULTIPLY_ADD(sum) (sum) = (sum) * (roof_scalar)0.999 + (roof_scalar)0.001
#define ROOF_LANES             ((int)(sizeof(roof_real) / sizeof(roof_scalar)))
#endif

#define ROOF_CHAINS(X) X(c0, 0) X(c1, 1) X(c2, 2) X(c3, 3) X(c4, 4) X(c5, 5) X(c6, 6) X(c7, 7)

/* Does KF_ROOF_CHAIN_STEPS fused multiply-adds in each of eight independent chains, `repeats` times, in
 * registers alone. The sum is stored, so that the compiler cannot leave anything out. */
KF_SCALAR_KERNEL(multiply_add, kf_roof_arguments) {
    (void)y;
    (void)z;
#define ROOF_START(chain, k) roof_real chain = roof_start(x + (k));
    ROOF_CHAINS(ROOF_START)
    for (int repeat = 0; repeat < a->repeats; repeat++) {
        KF_UNROLL
        for (int step = 0; step < KF_ROOF_CHAIN_STEPS; step++) {
#define ROOF_STEP(chain, k) ROOF_MULTIPLY_ADD(chain);
            ROOF_CHAINS(ROOF_STEP)
        }
    }
    roof_real *target = (roof_real *)a->target;
    target[x] = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7;
    if (x == 0) *a->lanes = ROOF_LANES;
}
