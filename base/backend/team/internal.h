/* Between the files of base/backend/team. */
#ifndef KF_BASE_BACKEND_TEAM_INTERNAL_H
#define KF_BASE_BACKEND_TEAM_INTERNAL_H

#include "base/backend/internal.h"

/* The methods of a team are in cpu_share.c and, where KF_HAVE_CUDA is set, in cuda_spread.c. */
extern const kf_team_methods kf_cpu_team_methods;
extern const kf_team_methods kf_cuda_team_methods;

/* Maps memory that the processes of a host share (shared.c). It is made only where made is KF_OK on all. */
kf_status kf_shared_memory(kf_status made, size_t bytes, void **address, kf_error *error);
/* Tries which other processes' parts a team reaches; parts_of[rank]: parts of each. Where it cannot, it says
 * why, and reaches its own alone. All processes call it. */
kf_status kf_find_reach(kf_backend *first, const int64_t parts_of[], kf_error *error);

/* Forgets what the processes shared through a backend that is closed. */
void kf_shared_forget(const kf_backend *first);

/* Takes joined parts apart again (nccl.c). */
void kf_nccl_close(kf_backend *first);

#endif
