/* The cases of the incompressible system. */
#ifndef KF_SOLVER_VALIDATION_INCOMPRESSIBLE_CASES_H
#define KF_SOLVER_VALIDATION_INCOMPRESSIBLE_CASES_H

#include "solver/validation/validation.h"

extern const kf_case kf_incompressible_cases[];

/* incompressible_wake.c */
kf_status kf_case_incompressible_wake(kf_validation *validation, kf_error *error);

#endif
