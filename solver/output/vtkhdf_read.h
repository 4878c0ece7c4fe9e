/* Reads fields of a flow that a run wrote. */
#ifndef KF_SOLVER_OUTPUT_VTKHDF_READ_H
#define KF_SOLVER_OUTPUT_VTKHDF_READ_H

#include "base/plan/snapshot.h"

/* Reads an ImageData file of kf_vtkhdf_write: nodes, step, time, and those of "velocity",
 * "pressure_coefficient" and "kinematic_pressure" that it has. KF_BAD_INPUT for any other file. Free the
 * snapshot with kf_snapshot_free. */
kf_status kf_vtkhdf_read(const char *path, kf_snapshot *snapshot, kf_error *error);
/* Reads the time (s) of any file of kf_vtkhdf_write or kf_vtkhdf_write_levels; NAN if it says none. */
double kf_vtkhdf_read_time(const char *path);

#endif
