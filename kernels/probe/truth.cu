/* Kernels whose hardware counters follow from arithmetic. tests/unit/test_cupti_gpu.c compares them with
 * what CUPTI counts. All blocks are full, so that the check of the extent never splits a warp. */
#include "../portable.h"

typedef struct truth_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
    int stride, repeats;
} truth_arguments;

/* An item does one multiply-add, reads two floats and writes one. */
KF_KERNEL(truth_axpy, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->factor * a->source[x] + a->target[x];
}

/* An item does no arithmetic, reads one float and writes one. */
KF_KERNEL(truth_copy, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->source[x];
}

/* A warp's loads span 32 stride floats. They touch 4 stride sectors of 32 bytes, at most 32. */
KF_KERNEL(truth_stride, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->source[(kf_int64)x * a->stride];
}

/* Half of each warp works while the other half waits. */
KF_SCALAR_KERNEL(truth_half, truth_arguments) {
    (void)y;
    (void)z;
    float value = a->source[x];
    if (x % 32 < 16)
        for (int i = 0; i < a->repeats; i++)
            value = value * a->factor + 1.0f;
    a->target[x] = value;
}

/* All of each warp works. */
KF_SCALAR_KERNEL(truth_whole, truth_arguments) {
    (void)y;
    (void)z;
    float value = a->source[x];
    for (int i = 0; i < a->repeats; i++)
        value = value * a->factor + 1.0f;
    a->target[x] = value;
}
