/* Finds CUDA's own headers (cuda_fp16.h, cooperative_groups.h, mma.h), which kernels that are not kftune's
 * may include. */
#ifndef KF_BASE_BACKEND_CUDA_HEADERS_H
#define KF_BASE_BACKEND_CUDA_HEADERS_H

#include "base/util/file.h"
#include "base/util/status.h"

/* Finds the folders of the headers, at most two: the toolkit's, and that of its C++ library inside. 0: there
 * are none. nvrtc: the file of NVRTC's library, whose toolkit is preferred. The search happens once in a
 * process. */
int kf_cuda_headers(const char *nvrtc, char folders[2][KF_PATH]);
/* Completes a compiler's error about a file that cannot be included: either CUDA's headers were not found, or
 * the file is not one of them. Returns error->status. */
kf_status kf_cuda_headers_missing(const char *nvrtc, kf_error *error);

#endif
