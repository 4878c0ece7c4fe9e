/* The list by which ParaView opens numbered files as one series with its times. */
#ifndef KF_SOLVER_OUTPUT_SERIES_FILE_H
#define KF_SOLVER_OUTPUT_SERIES_FILE_H

#include "base/util/status.h"

/* Writes folder/<kind>.vtkhdf.series (JSON) of all files folder/<kind>_<step>.vtkhdf that are there, by step;
 * the time of each is step times time_step (s). */
kf_status kf_series_file_write(const char *folder, const char *kind, double time_step, kf_error *error);

#endif
