/* Compiling kernels with NVRTC, loaded at run time. Needs neither a GPU nor a driver. */
#ifndef KF_BASE_BACKEND_CUDA_NVRTC_H
#define KF_BASE_BACKEND_CUDA_NVRTC_H

#include <stddef.h>

#include "base/backend/backend.h"

/* KF_HOST with what to install when NVRTC is missing. text ("NVRTC 13.0") may be NULL. */
kf_status kf_nvrtc_version(char *text, size_t size, kf_error *error);

/* Compiles source for architecture ("sm_90") to machine code, or takes it from the cache, and keeps it there.
 * The caller frees *cubin. */
kf_status kf_nvrtc_build(const char *architecture, const kf_source *source, void **cubin, size_t *size,
                         kf_build *build, kf_error *error);
/* The symbol of the kernel that source->name names, from what kf_nvrtc_build made of such a source. */
const char *kf_nvrtc_symbol(const void *cubin, size_t size);

#endif
