/* Declarations that the files of base/backend/team share. */
#ifndef KF_BASE_BACKEND_TEAM_INTERNAL_H
#define KF_BASE_BACKEND_TEAM_INTERNAL_H

#include "base/backend/internal.h"

/* How teams combine memories: cpu_share.c, and with KF_HAVE_CUDA cuda_spread.c. */
extern const kf_team_methods kf_cpu_team_methods;
extern const kf_team_methods kf_cuda_team_methods;

/* Maps memory that the processes of a host share (shared.c). It does so only if made is KF_OK on all of
 * them. */
kf_status kf_shared_memory(kf_status made, size_t bytes, void **address, kf_error *error);
/* Finds which other processes' parts this process can reach. parts_of[rank]: the number of parts of each
 * process. Where it can reach none, it says why. All processes call it together. */
kf_status kf_find_reach(kf_backend *first, const int64_t parts_of[], kf_error *error);

/* Frees what processes shared through a backend that is being closed. */
void kf_shared_forget(const kf_backend *first);

/* Closes NCCL's communicator of a backend (nccl.c). */
void kf_nccl_close(kf_backend *first);

#endif
