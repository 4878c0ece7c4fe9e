/* Plans of nested grids (nested.h). Each level has a plan of the kinetic system. The joint plan takes the
 * items of these plans in the order of a step of the coarsest level, and adds the exchanges between levels.
 */
#ifndef KF_SOLVER_KINETIC_NESTED_PLAN_H
#define KF_SOLVER_KINETIC_NESTED_PLAN_H

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/reference.h"

/* Returns KF_BAD_INPUT if the scene's nested grids are not possible, or not supported. */
kf_status kf_nested_accepts(const kf_scene *scene, kf_error *error);
/* Returns KF_BAD_INPUT if several devices cannot run the scene's nested grids. */
kf_status kf_nested_accepts_team(const kf_scene *scene, kf_error *error);
/* These four functions are the plan, sources, reference and verify functions of kf_system for a scene with
 * nested grids. */
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

/* Reads the coarsest level's values as kf_kinetic_read does. */
kf_status kf_nested_read(kf_plan *plan, double **values, kf_error *error);
/* Returns the plan of a level. kf_nested_settle restricts each level to all cells that it covers on the next
 * coarser level; these cells are otherwise out of date. */
kf_plan *kf_nested_level_plan(const kf_plan *plan, int level);
kf_status kf_nested_settle(kf_plan *plan, kf_error *error);

#endif
