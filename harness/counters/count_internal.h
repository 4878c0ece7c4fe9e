/* Declares what CUPTI and PAPI must provide to count.c. Internal to harness/counters. */
#ifndef KF_HARNESS_COUNTERS_COUNT_INTERNAL_H
#define KF_HARNESS_COUNTERS_COUNT_INTERNAL_H

#include "harness/counters/count.h"

typedef struct kf_counter_methods {
    /* Fills counting->own, and counts->metrics and metric_count with the metrics of the set that this device
     * has. */
    kf_status (*open)(kf_counting *counting, kf_error *error);
    void (*close)(kf_counting *counting);
    kf_status (*pass_begin)(kf_counting *counting, kf_error *error);
    kf_status (*pass_end)(kf_counting *counting, bool *done, kf_error *error);
    kf_status (*part_begin)(kf_counting *counting, int part, kf_error *error);
    kf_status (*part_end)(kf_counting *counting, kf_error *error);
    /* Fills counts->values. */
    kf_status (*read)(kf_counting *counting, kf_error *error);
} kf_counter_methods;

struct kf_counting {
    kf_backend *backend;
    const kf_metric_set *set;
    const kf_counter_methods *methods;
    void *own;
    kf_counts *counts;
    int open_part; /* -1: none */
};

/* Counts like kf_count, with these methods. */
kf_status kf_count_with(const kf_counter_methods *methods, kf_backend *backend, const kf_metric_set *set,
                        int parts, kf_counted_restore restore, kf_counted_work replay, void *context,
                        kf_counts *counts, kf_error *error);

extern const kf_counter_methods kf_cupti_methods, kf_papi_methods;

#endif
