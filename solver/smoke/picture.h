/* Draws smoke: the tracers' density, lit, in front of the solid and the road, on the device. */
#ifndef KF_SOLVER_SMOKE_PICTURE_H
#define KF_SOLVER_SMOKE_PICTURE_H

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/picture/viewpoint.h"

typedef struct kf_smoke_picture kf_smoke_picture;

/* Opens a picture of smoke. paint: what the smoke is coloured by, KF_PAINT_NONE for white. extinction: a
 * cell of one tracer a cell, in the scene's cells. refinement: of the density's grid, see tracers.h. size:
 * width and height in pixels, at least 1. Camera (as seen from there) and light are chosen from the scene;
 * the camera goes along with a solid that moves, without turning. backend and scene outlive the picture.
 * Takes 8 bytes a node of the density's grid on the device besides the solid's mesh, 16 with paint. */
kf_status kf_smoke_picture_open(kf_backend *backend, const kf_scene *scene, kf_smoke_paint paint,
                                double extinction, int refinement, const int size[2],
                                const kf_viewpoint *from, kf_smoke_picture **picture, kf_error *error);
void kf_smoke_picture_free(kf_smoke_picture *picture);

/* Writes a PNG, whole or not at all. density, paint: as kf_tracers_project_painted makes them, paint NULL
 * when the picture has none. The solid is drawn where it is after step steps. */
kf_status kf_smoke_picture_write(kf_smoke_picture *picture, const kf_buffer *density, const kf_buffer *paint,
                                 uint64_t step, const char *path, kf_error *error);

#endif
