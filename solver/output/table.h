/* Tables over time as CSV. Each row is written and flushed as soon as it is known. */
#ifndef KF_SOLVER_OUTPUT_TABLE_H
#define KF_SOLVER_OUTPUT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/util/status.h"

/* Opens a table. header: its first line with the line's end. from_step 0: the file is new. Otherwise rows up
 * to from_step (the first column) are kept, and new ones follow. KF_BAD_INPUT if the file has other columns,
 * which would be lost. */
kf_status kf_table_open(const char *path, const char *header, uint64_t from_step, FILE **stream,
                        kf_error *error);

/* Adds ",value" to the row for each value. A NaN is written as "nan" on every machine. */
void kf_table_add(FILE *stream, int count, const double *values);

/* Ends the row. */
kf_status kf_table_end_row(FILE *stream, const char *path, kf_error *error);

#endif
