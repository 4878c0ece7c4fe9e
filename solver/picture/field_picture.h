/* Pictures of a snapshot's quantities on nodes, for systems that are not flows in a scene. They have a title
 * (scene, grid, step, time), axes in metres, and a colour scale. */
#ifndef KF_SOLVER_PICTURE_FIELD_PICTURE_H
#define KF_SOLVER_PICTURE_FIELD_PICTURE_H

#include <stdbool.h>

#include "base/plan/snapshot.h"

/* Draws the dyes, which are all quantities of one component except "solid", each in its own colour on a dark
 * ground. In three dimensions they are summed along y, like smoke in front of a light. *written: false if
 * there is no dye; then no file is written. */
kf_status kf_dye_picture(const char *path, const char *scene, const kf_snapshot *snapshot, bool *written,
                         kf_error *error);
/* Draws the speed, the length of "velocity", with colours from 0 to a round number above its maximum. In
 * three dimensions it is drawn in the middle plane across y. */
kf_status kf_speed_picture(const char *path, const char *scene, const kf_snapshot *snapshot, kf_error *error);

/* Position of the plane's upper left pixel in both pictures. */
enum { KF_FIELD_LEFT = 90, KF_FIELD_TOP = 64 };

#endif
