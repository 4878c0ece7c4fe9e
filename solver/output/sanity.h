/* Whether a simulation is still one: finite and slow enough for the lattice. */
#ifndef KF_SOLVER_OUTPUT_SANITY_H
#define KF_SOLVER_OUTPUT_SANITY_H

#include "base/plan/plan.h"

/* KF_GATE_FAILED, naming step and node, when a density or velocity is not finite or a speed exceeds half a
 * cell a step: the simulation has blown up. */
kf_status kf_fields_check(const kf_fields *fields, uint64_t step, kf_error *error);

#endif
