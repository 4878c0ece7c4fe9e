/* The kinetic system's cases, by file. */
#ifndef KF_SOLVER_VALIDATION_KINETIC_CASES_H
#define KF_SOLVER_VALIDATION_KINETIC_CASES_H

#include "solver/validation/flow.h"

/* kinetic_analytic.c */
kf_status kf_case_poiseuille(kf_validation *validation, kf_error *error);
kf_status kf_case_taylor_green_2d(kf_validation *validation, kf_error *error);
kf_status kf_case_galilean(kf_validation *validation, kf_error *error);
/* kinetic_vortices.c */
kf_status kf_case_shear_layer(kf_validation *validation, kf_error *error);
kf_status kf_case_taylor_green_3d(kf_validation *validation, kf_error *error);
/* kinetic_cavity.c */
kf_status kf_case_cavity_2d(kf_validation *validation, kf_error *error);
kf_status kf_case_cavity_3d(kf_validation *validation, kf_error *error);
/* kinetic_conservation.c */
kf_status kf_case_conservation(kf_validation *validation, kf_error *error);
kf_status kf_case_force_balance(kf_validation *validation, kf_error *error);
kf_status kf_case_slip(kf_validation *validation, kf_error *error);
kf_status kf_case_sampling_density(kf_validation *validation, kf_error *error);
kf_status kf_case_torus(kf_validation *validation, kf_error *error);
/* kinetic_drag.c */
kf_status kf_case_sphere_drag(kf_validation *validation, kf_error *error);
kf_status kf_case_cylinder_drag(kf_validation *validation, kf_error *error);
/* kinetic_wake.c */
kf_status kf_case_cylinder_wake(kf_validation *validation, kf_error *error);
/* kinetic_free.c */
kf_status kf_case_free_solid(kf_validation *validation, kf_error *error);
/* kinetic_outflow.c */
kf_status kf_case_outflow(kf_validation *validation, kf_error *error);
/* kinetic_models.c */
kf_status kf_case_rate_rules(kf_validation *validation, kf_error *error);
kf_status kf_case_models(kf_validation *validation, kf_error *error);
/* kinetic_nineteen.c */
kf_status kf_case_nineteen(kf_validation *validation, kf_error *error);

extern const kf_case kf_kinetic_cases[];

#endif
