/* Stores numbers in half precision. A conversion rounds to the nearest value, and ties to the even one. */
#ifndef KF_KERNELS_HALF_H
#define KF_KERNELS_HALF_H

#include "portable.h"

#if KF_CUDA
typedef unsigned short kf_half; /* the 16 bits of a half */
KF_FUNCTION float kf_from_half(kf_half bits) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    return wide;
}
KF_FUNCTION kf_half kf_to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#else
typedef _Float16 kf_half;
KF_FUNCTION float kf_from_half(kf_half value) {
    return (float)value;
}
KF_FUNCTION kf_half kf_to_half(float value) {
    return (kf_half)value;
}
#endif

#endif
