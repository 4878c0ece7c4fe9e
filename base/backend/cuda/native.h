/* Gives a profiler what it must know of an opened cuda backend. */
#ifndef KF_BASE_BACKEND_CUDA_NATIVE_H
#define KF_BASE_BACKEND_CUDA_NATIVE_H

#include <cuda.h>

#include "base/backend/backend.h"

/* Returns the backend's context, which becomes the calling thread's, and its device. KF_MACHINE for
 * another backend. */
kf_status kf_cuda_native(kf_backend *backend, CUcontext *context, CUdevice *device, kf_error *error);

#endif
