/* Converts halves to floats and back on the cpu, to the nearest value, ties to even. It converts up to
 * KF_HALVES - 1 values more than `count`, for which both arrays need room. It has explicit vectors, since
 * some compilers (gcc 12) do not vectorise loops of such conversions. */
#ifndef KF_KERNELS_KINETIC_HALVES_H
#define KF_KERNELS_KINETIC_HALVES_H

#include "portable.h"

#if defined(__F16C__) && defined(__GNUC__)
enum { KF_HALVES = 8 };
typedef float kf_floats __attribute__((vector_size(4 * KF_HALVES), aligned(4), may_alias));
typedef short kf_halves __attribute__((vector_size(2 * KF_HALVES), aligned(2), may_alias));
KF_FUNCTION void kf_widen(float *target, const _Float16 *source, int count) {
    for (int i = 0; i < count; i += KF_HALVES)
        *(kf_floats *)(target + i) = __builtin_ia32_vcvtph2ps256(*(const kf_halves *)(source + i));
}
KF_FUNCTION void kf_narrow(_Float16 *target, const float *source, int count) {
    for (int i = 0; i < count; i += KF_HALVES)
        *(kf_halves *)(target + i) = __builtin_ia32_vcvtps2ph256(*(const kf_floats *)(source + i), 0);
}
#else
KF_FUNCTION void kf_widen(float *target, const _Float16 *source, int count) {
    for (int i = 0; i < count; i++)
        target[i] = (float)source[i];
}
KF_FUNCTION void kf_narrow(_Float16 *target, const float *source, int count) {
    for (int i = 0; i < count; i++)
        target[i] = (_Float16)source[i];
}
#endif

#endif
