/* Pictures of solids in parallel projection, shaded by the angle to the light: a scene's mesh in its domain,
 * z upright; and a surface with what acts on it. */
#ifndef KF_SOLVER_PICTURE_SCENE_VIEW_H
#define KF_SOLVER_PICTURE_SCENE_VIEW_H

#include <stdbool.h>

#include "base/plan/snapshot.h"
#include "scene/scene.h"
#include "solver/picture/viewpoint.h"

/* Writes a PNG of a scene that has a mesh: the whole domain, or (close) the solid and the room about it, with
 * arrows along the wind. Of nested grids always the whole domain, with their boxes. */
kf_status kf_scene_view_write(const kf_scene *scene, bool close, const char *path, kf_error *error);

/* Quantities by which a surface can be coloured. */
typedef enum kf_surface_kind { KF_SURFACE_PRESSURE, KF_SURFACE_Y_PLUS, KF_SURFACE_KINDS } kf_surface_kind;
extern const char *const kf_surface_kinds[KF_SURFACE_KINDS]; /* "surface", "y_plus" */

/* Writes a PNG of a surface (a snapshot of particles with triangles, as kf_flow_surface makes it), coloured
 * by its quantity "pressure_coefficient" or "kinematic_pressure", or "y_plus", from low to high; low >= high:
 * as far below 0 as above it, of y+ from 0 on. */
kf_status kf_surface_view_write(const kf_scene *scene, const kf_snapshot *surface, kf_surface_kind kind,
                                const kf_viewpoint *from, double low, double high, const char *path,
                                kf_error *error);

#endif
