/* Reads back the fields of a flow that a run wrote. */
#ifndef KF_SOLVER_OUTPUT_VTKHDF_READ_H
#define KF_SOLVER_OUTPUT_VTKHDF_READ_H

#include "base/plan/snapshot.h"

/* Reads an ImageData file of kf_vtkhdf_write: its nodes, moment, and of "velocity", "pressure_coefficient"
 * and "kinematic_pressure" those that are there. KF_BAD_INPUT where the file is none of these. Free with
 * kf_snapshot_free. */
kf_status kf_vtkhdf_read(const char *path, kf_snapshot *snapshot, kf_error *error);

#endif
