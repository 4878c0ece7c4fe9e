/* Joins rows of the kernel table that belong to several parts of a team. */
#ifndef KF_HARNESS_MEASURE_ROWS_H
#define KF_HARNESS_MEASURE_ROWS_H

#include "base/record/measurement.h"

/* Joins another part's row to *row. Time and launches become those of the slower row. Each of these launches
 * gets its share of the bytes and flops of both. fastest_us becomes the time of the faster row. Registers and
 * the like stay those of the first row. */
void kf_rows_join(kf_kernel_time *row, const kf_kernel_time *other);

/* Joins the rows of several processes by name, and gives the result to all of them. All processes must call
 * it. */
kf_status kf_rows_gather(kf_measurement *measurement, kf_error *error);

#endif
