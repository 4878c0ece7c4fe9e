/* Times a small piece of work repeatedly. Internal to harness/roofs. */
#ifndef KF_HARNESS_ROOFS_ROUNDS_H
#define KF_HARNESS_ROOFS_ROUNDS_H

#include "harness/roofs/roofs.h"

/* The state that all roofs share while they are measured. */
typedef struct kf_roof_bench {
    kf_backend *backend;
    const kf_device_info *device;
    bool gpu;
    kf_event *start, *stop;
    kf_buffer *source, *target; /* of `bytes` each, far larger than the last-level cache */
    size_t bytes;
    kf_module *copies, *atomics;
    kf_roofs *roofs;
} kf_roof_bench;

/* Gives the work to the device once. */
typedef kf_status (*kf_roof_work)(const kf_roof_bench *bench, void *context, kf_error *error);

/* Measures the best and median time of one unit of work, in microseconds, from rounds of many units. */
kf_status kf_roof_time(const kf_roof_bench *bench, kf_roof_work work, void *context, double *best_us,
                       double *median_us, kf_error *error);

/* Works for kf_roof_time, whose context is the kf_launch or kf_graph. */
kf_status kf_roof_launch(const kf_roof_bench *bench, void *context, kf_error *error);
kf_status kf_roof_graph(const kf_roof_bench *bench, void *context, kf_error *error);

/* Adds a rate: amount / time, in 10^9 a second. */
void kf_roof_add_rate(const kf_roof_bench *bench, const char *name, const char *unit, double amount,
                      double best_us, double median_us, double theoretical);
/* Adds a time. */
void kf_roof_add_time(const kf_roof_bench *bench, const char *name, double best_us, double median_us);

/* Times a launch of the kernel and adds the rate. */
kf_status kf_roof_add_kernel(const kf_roof_bench *bench, const char *name, const char *unit,
                             const kf_launch *launch, double amount, double theoretical, kf_error *error);

/* These measure the groups of roofs. */
kf_status kf_roofs_of_memory(kf_roof_bench *bench, kf_error *error);
kf_status kf_roofs_of_arithmetic(kf_roof_bench *bench, kf_error *error);
kf_status kf_roofs_of_atomics(kf_roof_bench *bench, kf_error *error);
kf_status kf_roofs_of_launches(kf_roof_bench *bench, kf_error *error);

#endif
