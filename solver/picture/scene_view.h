/* Pictures of solids in parallel projection, shaded by the angle to the light: a scene's mesh in its domain
 * with z upright, and a surface with the forces on it. */
#ifndef KF_SOLVER_PICTURE_SCENE_VIEW_H
#define KF_SOLVER_PICTURE_SCENE_VIEW_H

#include <stdbool.h>

#include "base/plan/snapshot.h"
#include "scene/scene.h"
#include "solver/picture/viewpoint.h"

/* Writes a PNG of a scene that has a mesh: the whole domain, or (close) the solid and its surroundings, with
 * arrows along the wind. With nested grids it always shows the whole domain with their boxes. */
kf_status kf_scene_view_write(const kf_scene *scene, bool close, const char *path, kf_error *error);

/* Quantities by which a surface can be coloured. */
typedef enum kf_surface_kind { KF_SURFACE_PRESSURE, KF_SURFACE_Y_PLUS, KF_SURFACE_KINDS } kf_surface_kind;
extern const char *const kf_surface_kinds[KF_SURFACE_KINDS]; /* "surface", "y_plus" */

/* Writes a PNG of a surface from kf_flow_surface, coloured from low to high by "pressure_coefficient" or
 * "kinematic_pressure", or by "y_plus". If low >= high, the range is symmetric about 0, for y+ it begins at
 * 0. */
kf_status kf_surface_view_write(const kf_scene *scene, const kf_snapshot *surface, kf_surface_kind kind,
                                const kf_viewpoint *from, double low, double high, const char *path,
                                kf_error *error);

#endif
