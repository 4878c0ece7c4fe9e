/* Declarations that the readers of terrain share. */
#ifndef KF_SCENE_TERRAIN_INTERNAL_H
#define KF_SCENE_TERRAIN_INTERNAL_H

#include "scene/terrain.h"

/* Allocates the nodes of a terrain. KF_BAD_INPUT, naming the file, when there are too few or too many. */
kf_status kf_terrain_reserve(const char *file, kf_terrain *terrain, double columns, double rows,
                             kf_error *error);

/* Reads heights from a grey PNG of 1 to 16 bits. Black is `low`, white is `high` (terrain_picture.c). */
kf_status kf_terrain_read_picture(const char *file, double low, double high, kf_terrain *terrain,
                                  kf_error *error);

#endif
