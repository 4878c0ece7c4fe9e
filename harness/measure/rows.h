/* Joins rows of the kernel table that several parts of a team have in common. */
#ifndef KF_HARNESS_MEASURE_ROWS_H
#define KF_HARNESS_MEASURE_ROWS_H

#include "base/record/measurement.h"

/* Makes *row, of some parts, that of these and another's: the time and the launches of the slower, the bytes
 * and flops of all to each launch of that, the time of the fastest, and what the compiler made of the first.
 */
void kf_rows_join(kf_kernel_time *row, const kf_kernel_time *other);

/* Joins the rows of several processes by name and gives them to all. All call it together. */
kf_status kf_rows_gather(kf_measurement *measurement, kf_error *error);

#endif
