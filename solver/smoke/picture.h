/* Draws smoke on the device: the lit density of tracers, in front of the solid and the road. */
#ifndef KF_SOLVER_SMOKE_PICTURE_H
#define KF_SOLVER_SMOKE_PICTURE_H

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"
#include "solver/picture/viewpoint.h"

typedef struct kf_smoke_picture kf_smoke_picture;

/* Opens a picture of smoke. paint: how the smoke is coloured, KF_PAINT_NONE for white. extinction: of a cell
 * of the scene with one tracer. refinement: of the density's grid (tracers.h). size: width and height in
 * pixels, at least 1. Camera and light are chosen from the scene and the viewpoint `from`; the camera follows
 * a moving solid without turning. backend and scene must outlive the picture. On the device it takes 8 bytes
 * for each node of the density's grid, 16 with paint, and the solid's mesh. */
kf_status kf_smoke_picture_open(kf_backend *backend, const kf_scene *scene, kf_smoke_paint paint,
                                double extinction, int refinement, const int size[2],
                                const kf_viewpoint *from, kf_smoke_picture **picture, kf_error *error);
void kf_smoke_picture_free(kf_smoke_picture *picture);

/* Writes a PNG, which appears whole or not at all. density, paint: from kf_tracers_project_painted; paint is
 * NULL if the picture has none. The solid is drawn at the pose, beyond periodic faces back in the domain. */
kf_status kf_smoke_picture_write(kf_smoke_picture *picture, const kf_buffer *density, const kf_buffer *paint,
                                 const kf_solid_pose *pose, const char *path, kf_error *error);

#endif
