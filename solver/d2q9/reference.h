/* The reference solution of d2q9, shared by d2q9_reference.c and d2q9_verify.c, for both kinds of
 * bounce-back. */
#ifndef KF_SOLVER_D2Q9_REFERENCE_H
#define KF_SOLVER_D2Q9_REFERENCE_H

#include "solver/flow/flow_plan.h"

typedef struct kf_d2q9_solution {
    double *values; /* density - 1 and velocity [3][y][x], lattice units */
    kf_solid_load load;
} kf_d2q9_solution;

struct kf_reference {
    size_t count;
    kf_d2q9_solution solutions[2]; /* half-way, full-way */
};

#endif
