/* Validation cases that compare one system with another, and the list of all cases. */
#ifndef KF_SOLVER_COMPARE_COMPARISONS_H
#define KF_SOLVER_COMPARE_COMPARISONS_H

#include "solver/validation/validation.h"

/* Writes the cases of a system into list: its own (kf_system.cases), then those that compare it with another
 * system. Returns their number; the list must have room for KF_MOST_CASES. */
enum { KF_MOST_CASES = 128 };
int kf_cases_of(const kf_system *system, const kf_case *list[KF_MOST_CASES]);
/* Lists the cases of all systems (solver/systems.h), in the order of the table. */
int kf_cases_of_all(const kf_case *list[KF_MOST_CASES]);

/* Cases that run incompressible beside kinetic (wake.c, drag.c), and stable_fluids beside d2q9
 * (cylinder.c). */
kf_status kf_case_wake(kf_validation *validation, kf_error *error);
kf_status kf_case_beside(kf_validation *validation, kf_error *error);
kf_status kf_case_cylinder(kf_validation *validation, kf_error *error);

#endif
