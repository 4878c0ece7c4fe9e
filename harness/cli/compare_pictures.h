/* Draws the flows of several runs, and the differences of each from the first one. */
#ifndef KF_HARNESS_CLI_COMPARE_PICTURES_H
#define KF_HARNESS_CLI_COMPARE_PICTURES_H

#include "base/util/status.h"

/* Writes pictures of speed and pressure into a folder: FIELD_a.png, FIELD_b.png … for the runs in their
 * order, and FIELD_b-a.png … for the differences from the first. Pictures of the same kind have the same
 * colour scale. They show the newest means (mean_*.vtkhdf), or the newest fields if a run has no means.
 * KF_BAD_INPUT if a run has no fields, if grids differ, or if a solid is free. */
kf_status kf_compare_pictures(const char *const *folders, int count, const char *folder, kf_error *error);

#endif
