/* Compiles kernels with NVRTC, which is loaded at run time. Neither a GPU nor a driver is needed. */
#ifndef KF_BASE_BACKEND_CUDA_NVRTC_H
#define KF_BASE_BACKEND_CUDA_NVRTC_H

#include <stddef.h>

#include "base/backend/backend.h"

/* Writes NVRTC's version, "NVRTC 13.0"; text may be NULL. KF_HOST, with what to install, when it is
 * missing. */
kf_status kf_nvrtc_version(char *text, size_t size, kf_error *error);

/* Compiles source to machine code for an architecture ("sm_90"), or takes it from the cache. New code is
 * stored there. The caller frees *cubin. */
kf_status kf_nvrtc_build(const char *architecture, const kf_source *source, void **cubin, size_t *size,
                         kf_build *build, kf_error *error);
/* Returns the symbol of the kernel source->name in machine code that kf_nvrtc_build made of such a source. */
const char *kf_nvrtc_symbol(const void *cubin, size_t size);

#endif
