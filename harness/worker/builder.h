/* Compiles ahead: child processes build the kernels of proposed configs into the disk cache, so that the
 * worker only loads them. A failed build is not an error here, because the config's evaluation will find it
 * and give the reason. */
#ifndef KF_HARNESS_WORKER_BUILDER_H
#define KF_HARNESS_WORKER_BUILDER_H

#include "harness/worker/evaluate.h"

typedef struct kf_source_builder kf_source_builder;

/* Figures of a builder's work so far. */
typedef struct kf_builder_figures {
    int compilers;            /* number of processes that have started their compiler */
    double started;           /* time at which the first one did (kf_clock_seconds) */
    int sources;              /* number that were built, found in the cache, or failed */
    double compiling_seconds; /* total of all processes */
} kf_builder_figures;

/* Opens a builder with this number of processes that compile at the same time. setting and device must
 * outlive the builder. For a GPU the compiler starts at once. */
kf_source_builder *kf_builder_open(const kf_setting *setting, const kf_device_info *device, int processes);
void kf_builder_close(kf_source_builder *builder); /* ends all compilers */
const kf_builder_figures *kf_builder_tell(const kf_source_builder *builder);

/* Queues the config's sources that were not queued before. Returns a ticket for kf_builder_ready; 0: there
 * was nothing to queue. */
size_t kf_builder_add(kf_source_builder *builder, const kf_config *config);
/* Queues a config of other problems than the setting's in the same way. */
size_t kf_builder_add_problems(kf_source_builder *builder, const kf_problem *trial, const kf_problem *problem,
                               const kf_config *config);
/* Drops all tasks that have not begun. A config that needs them queues them again. */
void kf_builder_drop_queue(kf_source_builder *builder);
/* Starts and collects processes without waiting. It must be called often. */
void kf_builder_poll(kf_source_builder *builder);
/* Returns whether everything for this config is built or has failed. */
bool kf_builder_ready(const kf_source_builder *builder, size_t ticket);
/* Waits for that until deadline (kf_clock_seconds; 0: none) or Ctrl-C. Returns whether it is ready. idle may
 * be NULL. */
bool kf_builder_wait(kf_source_builder *builder, size_t ticket, double deadline, void (*idle)(void *context),
                     void *context);
/* Waits for all tasks. Returns false on Ctrl-C. */
bool kf_builder_wait_all(kf_source_builder *builder, void (*idle)(void *context), void *context);

#endif
