/* The cases of all systems. */
#include <stddef.h>

#include "solver/validation/d2q9_cases.h"
#include "solver/validation/incompressible_cases.h"
#include "solver/validation/sph_cases.h"
#include "solver/validation/stable_fluids_cases.h"
#include "solver/validation/validation.h"

const kf_case *const kf_case_tables[] = {kf_kinetic_cases, kf_d2q9_cases,           kf_stable_fluids_cases,
                                         kf_sph_cases,     kf_incompressible_cases, NULL};
