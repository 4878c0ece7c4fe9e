/* The cases of the kinetic system, by file. */
#ifndef KF_SOLVER_KINETIC_KINETIC_CASES_H
#define KF_SOLVER_KINETIC_KINETIC_CASES_H

#include "solver/kinetic/kinetic.h"
#include "solver/validation/flow.h"

/* Opens the kinetic system's plan of a scene, initialised (kinetic_case_flow.c). kf_flow_close frees it.
 * overrides may be NULL. If the user fixes plan=moments, a scene with the default rates gets the rates that
 * this plan needs. */
kf_status kf_kinetic_case_open(const kf_validation *validation, kf_scene *scene, const char *const *overrides,
                               kf_plan **plan, kf_error *error);
/* Returns the factor by which a case's bounds may be wider with the rates of an opened scene: 2 for rates of
 * 1, which damp more of what a coarse grid does not resolve (docs/gate.md), otherwise 1. */
double kf_kinetic_case_leeway(const kf_scene *scene);
/* kinetic_case_analytic.c */
kf_status kf_case_poiseuille(kf_validation *validation, kf_error *error);
kf_status kf_case_taylor_green_2d(kf_validation *validation, kf_error *error);
kf_status kf_case_galilean(kf_validation *validation, kf_error *error);
/* kinetic_case_vortices.c */
kf_status kf_case_shear_layer(kf_validation *validation, kf_error *error);
kf_status kf_case_taylor_green_3d(kf_validation *validation, kf_error *error);
/* kinetic_case_cavity.c */
kf_status kf_case_cavity_2d(kf_validation *validation, kf_error *error);
kf_status kf_case_cavity_3d(kf_validation *validation, kf_error *error);
/* kinetic_case_conservation.c */
kf_status kf_case_conservation(kf_validation *validation, kf_error *error);
kf_status kf_case_force_balance(kf_validation *validation, kf_error *error);
kf_status kf_case_slip(kf_validation *validation, kf_error *error);
kf_status kf_case_sampling_density(kf_validation *validation, kf_error *error);
kf_status kf_case_torus(kf_validation *validation, kf_error *error);
/* kinetic_case_drag.c */
kf_status kf_case_sphere_drag(kf_validation *validation, kf_error *error);
kf_status kf_case_cylinder_drag(kf_validation *validation, kf_error *error);
kf_status kf_case_links_drag(kf_validation *validation, kf_error *error);
/* kinetic_case_links.c */
kf_status kf_case_links(kf_validation *validation, kf_error *error);
/* kinetic_case_turning.c */
kf_status kf_case_turning_links(kf_validation *validation, kf_error *error);
/* This is a part of the case before (kinetic_case_moving_links.c). */
kf_status kf_case_moving_links(kf_validation *validation, kf_error *error);
/* kinetic_case_wall.c */
kf_status kf_case_wall_law(kf_validation *validation, kf_error *error);
kf_status kf_case_wall_channels(kf_validation *validation, kf_error *error);
kf_status kf_case_wall_channels_k17(kf_validation *validation, kf_error *error);
kf_status kf_case_wall_plate(kf_validation *validation, kf_error *error);
/* kinetic_case_wake.c */
kf_status kf_case_cylinder_wake(kf_validation *validation, kf_error *error);
/* kinetic_case_free.c */
kf_status kf_case_free_solid(kf_validation *validation, kf_error *error);
/* kinetic_case_outflow.c */
kf_status kf_case_outflow(kf_validation *validation, kf_error *error);
/* kinetic_case_models.c */
kf_status kf_case_rate_rules(kf_validation *validation, kf_error *error);
kf_status kf_case_models(kf_validation *validation, kf_error *error);
/* kinetic_case_long.c */
kf_status kf_case_long_runs(kf_validation *validation, kf_error *error);
/* kinetic_case_nineteen.c */
kf_status kf_case_nineteen(kf_validation *validation, kf_error *error);

/* kinetic_case_nested_flows.c */
kf_status kf_case_nested_flows(kf_validation *validation, kf_error *error);
/* kinetic_case_nested.c */
kf_status kf_case_nested(kf_validation *validation, kf_error *error);
kf_status kf_case_nested_drag(kf_validation *validation, kf_error *error);
kf_status kf_case_nested_moving(kf_validation *validation, kf_error *error);

extern const kf_case kf_kinetic_cases[];

#endif
