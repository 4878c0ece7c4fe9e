/* The cases of the incompressible system. */
#ifndef KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_CASES_H
#define KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_CASES_H

#include "solver/validation/validation.h"

extern const kf_case kf_incompressible_cases[];

#endif
