/* The list by which ParaView opens numbered files as one series with its times. */
#ifndef KF_SOLVER_OUTPUT_SERIES_FILE_H
#define KF_SOLVER_OUTPUT_SERIES_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

/* The files of a run: those that it wrote, and those that were there when it went on from a checkpoint. */
typedef struct kf_series_files {
    const char *folder;
    uint64_t first_step; /* files of the folder up to it belong to the run; 0: it began anew, none do */
    const char *const
        *written; /* paths of what the run wrote, in order of steps; others than series are skipped */
    size_t written_count;
} kf_series_files;

/* Writes folder/<kind>.vtkhdf.series (JSON) of the run's files <kind>_<step>.vtkhdf, by step; the time of
 * each is step times time_step (s). What another run left in the folder is not listed. */
kf_status kf_series_file_write(const kf_series_files *files, const char *kind, double time_step,
                               kf_error *error);

#endif
