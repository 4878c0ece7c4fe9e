/* Draws the flows of runs beside each other, and how far each is above the first one's. */
#ifndef KF_HARNESS_CLI_COMPARE_PICTURES_H
#define KF_HARNESS_CLI_COMPARE_PICTURES_H

#include "base/util/status.h"

/* Writes into a folder, for speed and pressure, FIELD_a.png, FIELD_b.png … of the runs in their order and
 * FIELD_b-a.png … of the differences from the first: each kind in one scale of colours. Of every run the
 * newest means are taken (mean_*.vtkhdf), where any has none the newest fields of all. KF_BAD_INPUT where a
 * run keeps none, where grids differ, or where a solid is free. */
kf_status kf_compare_pictures(const char *const *folders, int count, const char *folder, kf_error *error);

#endif
