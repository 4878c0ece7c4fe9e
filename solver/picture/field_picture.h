/* Pictures of a snapshot's quantities on nodes, for systems that are no flows in a scene, with a title
 * (scene, grid, step, time), axes in metres, and a scale of the speed. */
#ifndef KF_SOLVER_PICTURE_FIELD_PICTURE_H
#define KF_SOLVER_PICTURE_FIELD_PICTURE_H

#include <stdbool.h>

#include "base/plan/snapshot.h"

/* The dyes, which are all quantities of one component but "solid", each in a colour of its own on dark
 * ground; in three dimensions summed up along y, as smoke in front of light. Returns whether there are any;
 * nothing is written without. */
kf_status kf_dye_picture(const char *path, const char *scene, const kf_snapshot *snapshot, bool *written,
                         kf_error *error);
/* Length of the quantity "velocity" in colours from 0 to a round number above its largest value; in three
 * dimensions in the plane in the middle of y. */
kf_status kf_speed_picture(const char *path, const char *scene, const kf_snapshot *snapshot, kf_error *error);

enum { KF_FIELD_LEFT = 90, KF_FIELD_TOP = 64 }; /* where the plane's upper left pixel is in both */

#endif
