/* Scenes made in memory, in lattice units, and plans that run them: what the cases of flows share. */
#ifndef KF_SOLVER_VALIDATION_FLOW_H
#define KF_SOLVER_VALIDATION_FLOW_H

#include "solver/flow/flow_plan.h"
#include "solver/validation/validation.h"

/* A periodic box of fluid at rest without a solid, ACM-MRT with the default rule. Free with kf_scene_free. */
kf_scene *kf_flow_box(const char *name, int nx, int ny, int nz, double viscosity);

/* Evenly spread samples of a sphere, about samples_per_cell for each cell^2, as deep under its surface as
 * those of a scene are (kf_scene_surface_depth, with the box's viscosity and rates); of the others likewise.
 */
void kf_flow_add_ball(kf_scene *scene, const double center[3], double radius, double samples_per_cell);
/* Samples of a cylinder along z between free-slip faces, which it reaches: those within half a cell of the
 * faces lie on the outermost nodes, whose mirror image is what they would interpolate with. */
void kf_flow_add_cylinder(kf_scene *scene, const double center[3], double radius, double samples_per_cell);
/* Samples of a torus about the z axis. */
void kf_flow_add_torus(kf_scene *scene, const double center[3], double major_radius, double minor_radius,
                       double samples_per_cell);

/* The system's plan of the scene, which then states the accuracy of the running case, initialised. overrides
 * may be NULL. The scene outlives the plan. */
kf_status kf_flow_open(const kf_validation *validation, const kf_system *system, kf_scene *scene,
                       const char *const *overrides, kf_plan **plan, kf_error *error);
/* Opens a plan of a problem, which it takes over, whose config is chosen as of the stated one: the same
 * problem, or one that differs in what its space asks. */
kf_status kf_flow_open_problem(const kf_validation *validation, kf_problem *problem, const kf_problem *stated,
                               const char *const *overrides, kf_plan **plan, kf_error *error);
/* Frees such a plan with its problem; NULL is fine. */
void kf_flow_close(kf_plan *plan);
/* Advances and synchronises; KF_INTERRUPTED when the user wants to end. */
kf_status kf_flow_advance(const kf_validation *validation, kf_plan *plan, uint64_t steps, kf_error *error);

/* Returns the nodes of the scene's grid. */
size_t kf_flow_count(const kf_scene *scene);

/* Mean of |u|^2 / 2 over the nodes of density - 1 and velocity, value[((component * nz + z) *
 * ny + y) * nx + x]; NAN when anything is not finite or faster than
 * the lattice can carry (the run blew up). */
double kf_flow_energy(const kf_scene *scene, const double *values);

/* Writes name.png, the speed in a slice across the axis `normal` (KF_AXIS_AUTO: the picture's choice), where
 * the user wants pictures; most: cells a step at the top of the colours, so that pictures can be compared (0:
 * what nearly all nodes of this one keep). */
kf_status kf_flow_draw(const kf_validation *validation, kf_plan *plan, const char *name, int normal,
                       double most, kf_error *error);

/* The larger of both; NAN when either is. */
double kf_flow_larger(double left, double right);

extern const double kf_pi;

#endif
