/* Triangles of simple bodies, for cases with solids by links and for systems that need a mesh. Lattice
 * units. */
#ifndef KF_SOLVER_VALIDATION_BODY_H
#define KF_SOLVER_VALIDATION_BODY_H

#include "solver/validation/flow.h"

/* Adds an upright sheet from `from` to from + along (x, y), which extends beyond the domain at both ends of
 * z. */
void kf_body_add_sheet(kf_scene *scene, const double from[2], const double along[2]);
/* Adds a box with faces across the axes. */
void kf_body_add_box(kf_scene *scene, const double low[3], const double high[3]);
/* Adds a tube of 256 such sheets along z. */
void kf_body_add_tube(kf_scene *scene, const double center[2], double radius);
/* Makes the shape `ball` the only body of the scene. */
void kf_body_set_ball(kf_scene *scene, const double center[3], double radius);
/* Turns or stretches the triangles about the origin by a matrix, and moves them to a place. */
void kf_body_place(kf_scene *scene, const double matrix[9], const double place[3]);
/* Makes the triangles a solid by links, without samples. */
kf_status kf_body_link(kf_scene *scene, bool half_way, kf_error *error);

#endif
