/* Tells a profiler the context and device of an open cuda backend. */
#ifndef KF_BASE_BACKEND_CUDA_NATIVE_H
#define KF_BASE_BACKEND_CUDA_NATIVE_H

#include <cuda.h>

#include "base/backend/backend.h"

/* Returns the backend's device and context, and makes the context that of the calling thread. KF_MACHINE for
 * a backend that is not cuda. */
kf_status kf_cuda_native(kf_backend *backend, CUcontext *context, CUdevice *device, kf_error *error);

#endif
