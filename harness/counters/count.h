/* Counts: runs something again and again until every counter of a set was read, each time from the same
 * state. Counting never goes together with timing. CUPTI counts on a GPU, PAPI on the cpu. */
#ifndef KF_HARNESS_COUNTERS_COUNT_H
#define KF_HARNESS_COUNTERS_COUNT_H

#include "base/backend/backend.h"
#include "harness/counters/metric_set.h"

/* Prepares a process that will count. Call it before the device is opened, because counters may need it. */
void kf_counting_prepare(void);

typedef struct kf_counting kf_counting;

/* These functions do what is counted: restore brings the state back, then replay runs everything once. Each
 * part that is counted for itself lies between kf_counting_begin and kf_counting_end. The parts are always
 * the same, in the same order. */
typedef kf_status (*kf_counted_restore)(void *context, kf_error *error);
typedef kf_status (*kf_counted_work)(void *context, kf_counting *counting, kf_error *error);

/* These begin and end a part, numbered from 0. Both wait for the device. */
kf_status kf_counting_begin(kf_counting *counting, int part, kf_error *error);
kf_status kf_counting_end(kf_counting *counting, kf_error *error);

/* Holds the metrics of a set that this device has, and their values. */
typedef struct kf_counts {
    const kf_metric **metrics; /* of the set, which must outlive this */
    int metric_count, part_count, passes;
    double *values; /* [part][metric]; NAN: not known */
} kf_counts;

/* Counts a set. KF_MACHINE means that counters cannot be read here; the message says why and what helps. */
kf_status kf_count(kf_backend *backend, const kf_metric_set *set, int parts, kf_counted_restore restore,
                   kf_counted_work replay, void *context, kf_counts *counts, kf_error *error);
void kf_counts_free(kf_counts *counts);
/* Returns a value, NAN if it was not counted. */
double kf_counts_value(const kf_counts *counts, int part, const char *metric);

/* Returns KF_OK if the cpu's counters can be read here, through PAPI. Else it is KF_MACHINE with the reason
 * and what helps. */
kf_status kf_papi_check(kf_error *error);

#endif
