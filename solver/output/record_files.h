/* Records over time: a CSV file a table (table.h). */
#ifndef KF_SOLVER_OUTPUT_RECORD_FILES_H
#define KF_SOLVER_OUTPUT_RECORD_FILES_H

#include <stdio.h>

#include "base/plan/record.h"
#include "base/util/file.h"

typedef struct kf_record_file {
    char path[KF_PATH];
    FILE *stream;
} kf_record_file;

/* The files of a run, in the order of its tables. All zero but for folder and from_step: none is open yet. */
typedef struct kf_record_files {
    const char *folder;
    uint64_t from_step; /* 0: files begin afresh; else rows up to it are kept */
    kf_record_file *list;
    size_t count;
} kf_record_files;

/* Adds a row "step,time_s,..." to folder/<table>.csv for each table; the first time opens the files, whose
 * columns are called name_unit. */
kf_status kf_record_files_add(kf_record_files *files, const kf_records *records, kf_error *error);
/* Frees what it owns, whatever the status: KF_MACHINE when last rows cannot be written. */
kf_status kf_record_files_close(kf_record_files *files, kf_error *error);

#endif
