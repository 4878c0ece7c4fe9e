/* The arguments of the kernel that goes through the small levels of a multigrid cycle, shared by host and
 * device. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_LOWER_H
#define KF_KERNELS_INCOMPRESSIBLE_LOWER_H

#include "arguments.h"

enum { KF_LOWER_LEVELS = 8, KF_LOWER_THREADS = 512 };

/* Places and fields of a level are what they are in kf_incompressible_arguments. */
typedef struct kf_lower_level {
    int cells[3], row, plane, origin;
    void *guess, *other, *wanted;
    const unsigned *open;
} kf_lower_level;

typedef struct kf_lower_arguments {
    int extent[3];
    int faces[6];
    int count, sweeps,
        last_sweeps; /* levels, the largest first; sweeps of each before and after, of the last */
    double damping;
    const kf_solve_state *solve;
    kf_lower_level levels[KF_LOWER_LEVELS];
} kf_lower_arguments;

#endif
