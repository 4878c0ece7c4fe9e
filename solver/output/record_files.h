/* Files of records over time: one CSV file for each table (table.h). */
#ifndef KF_SOLVER_OUTPUT_RECORD_FILES_H
#define KF_SOLVER_OUTPUT_RECORD_FILES_H

#include <stdio.h>

#include "base/plan/record.h"
#include "base/util/file.h"

typedef struct kf_record_file {
    char path[KF_PATH];
    FILE *stream;
} kf_record_file;

/* The files of a run, in the order of its tables. Set folder and from_step, and all else to zero. */
typedef struct kf_record_files {
    const char *folder;
    uint64_t from_step; /* rows up to this step are kept; 0: the files are new */
    kf_record_file *list;
    size_t count;
} kf_record_files;

/* Adds a row "step,time_s,..." to folder/<table>.csv for each table. The first call opens the files. Columns
 * are called name_unit. */
kf_status kf_record_files_add(kf_record_files *files, const kf_records *records, kf_error *error);
/* Closes the files and frees everything, whatever the status. KF_MACHINE when the last rows cannot be
 * written. */
kf_status kf_record_files_close(kf_record_files *files, kf_error *error);

#endif
