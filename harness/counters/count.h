/* Counts hardware events: runs something repeatedly, each time from the same state, until every counter of a
 * set has been read. Counting and timing are never combined. CUPTI counts on a GPU, PAPI on the cpu. */
#ifndef KF_HARNESS_COUNTERS_COUNT_H
#define KF_HARNESS_COUNTERS_COUNT_H

#include "base/backend/backend.h"
#include "harness/counters/metric_set.h"

/* Prepares a process that will count. Call it before the device is opened, because counters may need it. */
void kf_counting_prepare(void);

typedef struct kf_counting kf_counting;

/* `restore` restores the initial state, and `replay` runs all of the work once. Each part that is counted
 * separately lies between kf_counting_begin and kf_counting_end. The parts and their order never change. */
typedef kf_status (*kf_counted_restore)(void *context, kf_error *error);
typedef kf_status (*kf_counted_work)(void *context, kf_counting *counting, kf_error *error);

/* These begin and end a part, numbered from 0. Both wait for the device. */
kf_status kf_counting_begin(kf_counting *counting, int part, kf_error *error);
kf_status kf_counting_end(kf_counting *counting, kf_error *error);

/* The metrics of a set that this device has, with their values. */
typedef struct kf_counts {
    const kf_metric **metrics; /* metrics of the set, which must outlive this */
    int metric_count, part_count, passes;
    double *values; /* [part][metric]; NAN: not known */
} kf_counts;

/* Counts a set. KF_MACHINE if counters cannot be read here; the message gives the reason and the cure. */
kf_status kf_count(kf_backend *backend, const kf_metric_set *set, int parts, kf_counted_restore restore,
                   kf_counted_work replay, void *context, kf_counts *counts, kf_error *error);
void kf_counts_free(kf_counts *counts);

/* Checks whether the cpu's counters can be read here, through PAPI. KF_MACHINE with the reason and the cure
 * if not. */
kf_status kf_papi_check(kf_error *error);

#endif
