/* Velocity profiles along the centre lines of a cavity, against tables (data.h). */
#ifndef KF_SOLVER_VALIDATION_PROFILE_H
#define KF_SOLVER_VALIDATION_PROFILE_H

#include "scene/scene.h"
#include "solver/validation/data.h"

/* Returns a velocity over the lid's speed on a line through the middle of a square or cube with an even
 * number of nodes, at least 4. values: density - 1 and velocity [component][z][y][x] as a system's read
 * function gives them. It is u (component 0) along y or v (component 1) along x, at place 0 to 1, cubic
 * between nodes. */
double kf_profile_velocity(const kf_scene *scene, const double *values, int component, double place,
                           double lid);

/* Largest deviation from a table, in lid speeds; NAN when a value is. Points on the walls are left out. */
double kf_profile_deviation(const kf_scene *scene, const double *values, int component, double lid,
                            const kf_profile_point *points, int count);

#endif
