/* Where a free solid is over time, as CSV (table.h). */
#ifndef KF_SOLVER_OUTPUT_MOTION_H
#define KF_SOLVER_OUTPUT_MOTION_H

#include <stdio.h>

#include "base/plan/plan.h"
#include "scene/scene.h"

kf_status kf_motion_open(const char *path, uint64_t from_step, FILE **stream, kf_error *error);
/* A row in SI units, from the lattice's. */
kf_status kf_motion_add(FILE *stream, const char *path, const kf_scene *scene, uint64_t step,
                        const kf_solid_pose *pose, kf_error *error);

#endif
