/* Velocity profiles along the centre lines of a cavity, and their deviation from tables (data.h). */
#ifndef KF_SOLVER_VALIDATION_PROFILE_H
#define KF_SOLVER_VALIDATION_PROFILE_H

#include "scene/scene.h"
#include "solver/validation/data.h"

/* Returns a velocity over the lid's speed on a line through the middle of a square or cube. The number of
 * nodes along each edge must be even and at least 4. values: density - 1 and velocity [component][z][y][x],
 * from a system's read function. Component 0 is u along y, component 1 is v along x. place: 0 to 1, cubic
 * interpolation between nodes. */
double kf_profile_velocity(const kf_scene *scene, const double *values, int component, double place,
                           double lid);

/* Returns the largest deviation from a table, in lid speeds; NAN when a value is NAN. Points on the walls are
 * left out. */
double kf_profile_deviation(const kf_scene *scene, const double *values, int component, double lid,
                            const kf_profile_point *points, int count);

#endif
