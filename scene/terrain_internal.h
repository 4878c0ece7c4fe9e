/* The readers of terrain share this. */
#ifndef KF_SCENE_TERRAIN_INTERNAL_H
#define KF_SCENE_TERRAIN_INTERNAL_H

#include "scene/terrain.h"

/* Room for so many nodes; KF_BAD_INPUT, which names file, when there are too few or too many. */
kf_status kf_terrain_reserve(const char *file, kf_terrain *terrain, double columns, double rows,
                             kf_error *error);

/* Reads heights from low to high, in proportion to the samples of a grey PNG of 1 to 16 bits
 * (terrain_picture.c). */
kf_status kf_terrain_read_picture(const char *file, double low, double high, kf_terrain *terrain,
                                  kf_error *error);

#endif
