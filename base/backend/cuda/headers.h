/* CUDA's own headers (cuda_fp16.h, cooperative_groups.h, mma.h), which kernels that are not kftune's include.
 */
#ifndef KF_BASE_BACKEND_CUDA_HEADERS_H
#define KF_BASE_BACKEND_CUDA_HEADERS_H

#include "base/util/file.h"
#include "base/util/status.h"

/* The folders that hold them, at most two: the toolkit's, and that of its C++ library within. 0 where there
 * are none. nvrtc: the file of NVRTC's library, whose toolkit's come first. Looked for once in a process. */
int kf_cuda_headers(const char *nvrtc, char folders[2][KF_PATH]);
/* Adds to a compiler's error that a file to include is not there which of the two it can be: CUDA's headers
 * are nowhere, or they are and the file is not one of them. Returns error->status. */
kf_status kf_cuda_headers_missing(const char *nvrtc, kf_error *error);

#endif
