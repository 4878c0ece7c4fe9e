/* Plans of nested grids (nested.h): a plan of the kinetic system for each level, whose items the plan of all
 * takes over in the order of a step of the coarsest level, with kernels between the levels. */
#ifndef KF_SOLVER_KINETIC_NESTED_PLAN_H
#define KF_SOLVER_KINETIC_NESTED_PLAN_H

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/reference.h"

/* KF_BAD_INPUT where the scene has nested grids that cannot be, or that nothing here can run. */
kf_status kf_nested_accepts(const kf_scene *scene, kf_error *error);
/* KF_BAD_INPUT where several devices cannot run them. */
kf_status kf_nested_accepts_team(const kf_scene *scene, kf_error *error);
/* These do for a scene with nested grids what kf_system's plan, sources, reference and verify do. */
kf_status kf_nested_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                              kf_plan **plan, kf_error *error);
kf_status kf_nested_visit_sources(const kf_problem *problem, const kf_config *config,
                                  const kf_device_info *device,
                                  kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                  void *data, kf_error *error);
kf_status kf_nested_reference(const kf_problem *problem, int steps, kf_reference **reference,
                              kf_error *error);
kf_status kf_nested_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                           kf_error *error);

/* Does kf_kinetic_read for the coarsest level. */
kf_status kf_nested_read(kf_plan *plan, double **values, kf_error *error);
/* The plan of a level; after kf_nested_settle its cells that a finer level covers say what that does. */
kf_plan *kf_nested_level_plan(const kf_plan *plan, int level);
kf_status kf_nested_settle(kf_plan *plan, kf_error *error);

#endif
