/* A picture of a scene's mesh in its domain: parallel projection, shaded by the angle to the light, z
 * upright. */
#ifndef KF_SOLVER_PICTURE_SCENE_VIEW_H
#define KF_SOLVER_PICTURE_SCENE_VIEW_H

#include <stdbool.h>

#include "base/util/status.h"
#include "scene/scene.h"

/* Writes a PNG of a scene that has a mesh: the whole domain, or (close) the solid and the room about it, with
 * arrows along the wind. */
kf_status kf_scene_view_write(const kf_scene *scene, bool close, const char *path, kf_error *error);

#endif
