/* The context that every method of the cuda backend enters. */
#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/internal.h"

kf_status kf_cuda_enter(kf_backend *backend, kf_error *error) {
    KF_CUDA_TRY(cuCtxSetCurrent, kf_cuda_of(backend)->context);
    return KF_OK;
}

#endif
