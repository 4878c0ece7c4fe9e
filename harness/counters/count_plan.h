/* Counts every kernel of a plan's time step. */
#ifndef KF_HARNESS_COUNTERS_COUNT_PLAN_H
#define KF_HARNESS_COUNTERS_COUNT_PLAN_H

#include "base/record/measurement.h"
#include "harness/counters/count.h"

/* Counts each item of a step separately; of a library call all kernels together. It repeats this for each
 * pass that the set needs, always from the plan's initial state. It fills measurement->counters with counted
 * values only. It must not be combined with timing. */
kf_status kf_count_plan(kf_plan *plan, const kf_metric_set *set, kf_measurement *measurement,
                        kf_error *error);

/* Adds the set's derived metrics to the counters of *measurement. They use the times of its kernels, which
 * were measured without counters. For the whole step it adds the sums of bytes and operations. Counters of
 * kernels that *measurement does not contain are dropped. */
void kf_counters_complete(const kf_metric_set *set, kf_measurement *measurement);

/* Visits the counted parts of a step, each the first item of its name. It initialises the plan and runs the
 * first steps, with `begin` before and `end` after each part. */
typedef struct kf_part_visit {
    kf_status (*begin)(void *context, int part, const kf_item *item, kf_error *error);
    kf_status (*end)(void *context, kf_error *error);
    void *context;
} kf_part_visit;
kf_status kf_plan_visit_parts(kf_plan *plan, const kf_part_visit *visit, kf_error *error);

#endif
