/* Tables over time, as CSV: one row as soon as it is known, flushed. */
#ifndef KF_SOLVER_OUTPUT_TABLE_H
#define KF_SOLVER_OUTPUT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/util/status.h"

/* Starts path afresh with the header, a line with its end (from_step 0), or keeps the rows up to from_step,
 * the first column, of a file with that header and goes on behind them. KF_BAD_INPUT: the file has rows of
 * other columns, which would be lost. */
kf_status kf_table_open(const char *path, const char *header, uint64_t from_step, FILE **stream,
                        kf_error *error);

/* Adds ",value" to the row; an undefined number is "nan" on every machine. */
void kf_table_add(FILE *stream, int count, const double *values);

/* Ends the row. */
kf_status kf_table_end_row(FILE *stream, const char *path, kf_error *error);

#endif
