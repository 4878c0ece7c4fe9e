/* Kernels that only move memory: `copy` reads and writes a float, `scale_add` reads two and writes one.
 * Arrays are dense, x fastest. */
#include "portable.h"

typedef struct simple_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
} simple_arguments;

KF_FUNCTION kf_int64 simple_index(const simple_arguments *a, int x, int y, int z) {
    return x + a->extent[0] * (y + (kf_int64)a->extent[1] * z);
}

KF_KERNEL(copy, simple_arguments) {
    const kf_int64 i = simple_index(a, x, y, z);
    a->target[i] = a->source[i];
}

KF_KERNEL(scale_add, simple_arguments) {
    const kf_int64 i = simple_index(a, x, y, z);
    a->target[i] += a->factor * a->source[i];
}
