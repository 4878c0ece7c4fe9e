/* Triangles of simple bodies, for cases of solids by links and of systems that need a mesh. */
#ifndef KF_SOLVER_VALIDATION_BODY_H
#define KF_SOLVER_VALIDATION_BODY_H

#include "solver/validation/flow.h"

/* An upright sheet from one place on, as long as along says, and beyond the domain at both ends of z. */
void kf_body_add_sheet(kf_scene *scene, const double from[2], const double along[2]);
/* A box with faces across the axes. */
void kf_body_add_box(kf_scene *scene, const double low[3], const double high[3]);
/* A tube of 256 such sheets along z. */
void kf_body_add_tube(kf_scene *scene, const double center[2], double radius);
/* The shape `ball`; the only body of the scene. */
void kf_body_set_ball(kf_scene *scene, const double center[3], double radius);
/* Makes these triangles a solid by links, instead of samples. */
kf_status kf_body_link(kf_scene *scene, bool half_way, kf_error *error);

#endif
