/* Kernels whose counters are known from arithmetic: tests/unit/test_cupti_gpu.c holds what was counted
 * against it. Every block is full, so that the check of the extent never parts a warp. */
#include "../portable.h"

typedef struct truth_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
    int stride, repeats;
} truth_arguments;

/* One multiply-add, two floats read, one written. */
KF_KERNEL(truth_axpy, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->factor * a->source[x] + a->target[x];
}

/* No arithmetic, one float read, one written. */
KF_KERNEL(truth_copy, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->source[x];
}

/* A warp's loads touch 32 * stride floats in a row: 4 * stride sectors of 32 bytes, at most 32. */
KF_KERNEL(truth_stride, truth_arguments) {
    (void)y;
    (void)z;
    a->target[x] = a->source[(kf_int64)x * a->stride];
}

/* Half of every warp works, the other half waits. */
KF_SCALAR_KERNEL(truth_half, truth_arguments) {
    (void)y;
    (void)z;
    float value = a->source[x];
    if (x % 32 < 16)
        for (int i = 0; i < a->repeats; i++)
            value = value * a->factor + 1.0f;
    a->target[x] = value;
}

/* All of every warp works. */
KF_SCALAR_KERNEL(truth_whole, truth_arguments) {
    (void)y;
    (void)z;
    float value = a->source[x];
    for (int i = 0; i < a->repeats; i++)
        value = value * a->factor + 1.0f;
    a->target[x] = value;
}
