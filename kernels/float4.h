/* Four numbers that a GPU writes in one access. */
#ifndef KF_KERNELS_FLOAT4_H
#define KF_KERNELS_FLOAT4_H

#include "portable.h"

typedef struct
#if KF_CUDA
    __align__(16)
#endif
        kf_float4 {
    float x, y, z, w;
}
kf_float4;

#endif
