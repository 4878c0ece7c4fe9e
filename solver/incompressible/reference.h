/* The reference solution of the incompressible system, shared by incompressible_reference.c and
 * incompressible_verify.c. */
#ifndef KF_SOLVER_INCOMPRESSIBLE_REFERENCE_H
#define KF_SOLVER_INCOMPRESSIBLE_REFERENCE_H

#include "solver/flow/flow_plan.h"

struct kf_reference {
    size_t count;
    double *values; /* as kf_incompressible_read has them */
    kf_solid_load load;
};

#endif
