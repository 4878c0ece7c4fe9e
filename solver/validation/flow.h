/* Shared by the cases of flows: scenes that are made in memory, in lattice units, and plans that run them. */
#ifndef KF_SOLVER_VALIDATION_FLOW_H
#define KF_SOLVER_VALIDATION_FLOW_H

#include "solver/flow/flow_plan.h"
#include "solver/validation/validation.h"

/* Makes a periodic box of fluid at rest without a solid, with ACM-MRT and the default rule. Free it with
 * kf_scene_free. */
kf_scene *kf_flow_box(const char *name, int nx, int ny, int nz, double viscosity);

/* Adds evenly spread samples of a sphere, about samples_per_cell for each cell^2. They lie as deep below the
 * surface as those of any scene (kf_scene_surface_depth, with the box's viscosity and rates); so do those of
 * the next two bodies. */
void kf_flow_add_ball(kf_scene *scene, const double center[3], double radius, double samples_per_cell);
/* Adds samples of a cylinder along z that reaches free-slip faces. Samples within half a cell of a face lie
 * on the outermost nodes, because interpolation would use the mirror image of these nodes. */
void kf_flow_add_cylinder(kf_scene *scene, const double center[3], double radius, double samples_per_cell);
/* Adds samples of a torus about the z axis. */
void kf_flow_add_torus(kf_scene *scene, const double center[3], double major_radius, double minor_radius,
                       double samples_per_cell);

/* Opens the system's plan of a scene, initialised. The scene gets the accuracy of the running case, and must
 * outlive the plan. overrides may be NULL. */
kf_status kf_flow_open(const kf_validation *validation, const kf_system *system, kf_scene *scene,
                       const char *const *overrides, kf_plan **plan, kf_error *error);
/* Opens a plan of a problem, which it takes over. The config is chosen for `stated`: the same problem, or one
 * that differs only in what its space depends on. */
kf_status kf_flow_open_problem(const kf_validation *validation, kf_problem *problem, const kf_problem *stated,
                               const char *const *overrides, kf_plan **plan, kf_error *error);
/* Frees a plan of these two functions with its problem. NULL is fine. */
void kf_flow_close(kf_plan *plan);
/* Advances the plan and synchronises. KF_INTERRUPTED when the user wants to end. */
kf_status kf_flow_advance(const kf_validation *validation, kf_plan *plan, uint64_t steps, kf_error *error);

/* Returns the number of nodes of the scene's grid. */
size_t kf_flow_count(const kf_scene *scene);

/* Returns the mean of |u|^2 / 2 over the nodes. values: density - 1 and velocity, value[((component * nz + z)
 * * ny + y) * nx + x]. NAN when a value is not finite, or faster than the lattice can carry (the run has
 * diverged). */
double kf_flow_energy(const kf_scene *scene, const double *values);

/* Writes name.png, the speed in a slice across the axis `normal` (KF_AXIS_AUTO: the default), if the user
 * wants pictures. most: speed in cells a step at the end of the colour scale, so that pictures can be
 * compared; 0: what nearly all nodes of this picture keep. */
kf_status kf_flow_draw(const kf_validation *validation, kf_plan *plan, const char *name, int normal,
                       double most, kf_error *error);

extern const double kf_pi;

#endif
