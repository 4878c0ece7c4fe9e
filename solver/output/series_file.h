/* The list with which ParaView opens numbered files as one series in time. */
#ifndef KF_SOLVER_OUTPUT_SERIES_FILE_H
#define KF_SOLVER_OUTPUT_SERIES_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

/* The files of a run: those that it wrote, and those of the run that it continues. */
typedef struct kf_series_files {
    const char *folder;
    /* Files in the folder up to this step belong to the run; 0: none do, because it is new. */
    uint64_t first_step;
    const char *const
        *written; /* paths of what the run wrote, in order of steps; others than series are skipped */
    size_t written_count;
} kf_series_files;

/* Writes folder/<kind>.vtkhdf.series (JSON), the list of the run's files <kind>_<step>.vtkhdf in order of
 * steps, with the time of each (s). The newest is of `step`, at `time`. Times of others are those of the list
 * that is there, else of the files themselves; a file that says none is left out. Files that another run left
 * in the folder are not listed. */
kf_status kf_series_file_write(const kf_series_files *files, const char *kind, uint64_t step, double time,
                               kf_error *error);

#endif
