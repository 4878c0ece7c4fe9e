/* Compiles ahead: child processes build the kernels of proposed configs into the disk cache, so that the
 * worker only loads them. A config whose build fails is no error here, because its evaluation will find that
 * and say why. */
#ifndef KF_HARNESS_WORKER_BUILDER_H
#define KF_HARNESS_WORKER_BUILDER_H

#include "harness/worker/evaluate.h"

typedef struct kf_source_builder kf_source_builder;

/* Counts what was done so far. */
typedef struct kf_builder_figures {
    int compilers;            /* processes that have started their compiler */
    double started;           /* the first of them; kf_clock_seconds */
    int sources;              /* built, found in the cache, or failed */
    double compiling_seconds; /* of all processes together */
} kf_builder_figures;

/* Opens a builder in which so many processes compile at the same time. setting and device outlive the
 * builder. For a GPU the compiler starts at once. */
kf_source_builder *kf_builder_open(const kf_setting *setting, const kf_device_info *device, int processes);
void kf_builder_close(kf_source_builder *builder); /* ends what is still compiling */
const kf_builder_figures *kf_builder_tell(const kf_source_builder *builder);

/* Queues the sources of a config that were not queued before. Returns a ticket for kf_builder_ready; 0 is one
 * for nothing. */
size_t kf_builder_add(kf_source_builder *builder, const kf_config *config);
/* Queues in the same way a config of problems that are not the setting's. */
size_t kf_builder_add_problems(kf_source_builder *builder, const kf_problem *trial, const kf_problem *problem,
                               const kf_config *config);
/* Drops what no process has begun with; whoever needs it after all queues it again. */
void kf_builder_drop_queue(kf_source_builder *builder);
/* Starts and collects processes without waiting; to be called often. */
void kf_builder_poll(kf_source_builder *builder);
/* Returns true if everything this config needs is built or has failed. */
bool kf_builder_ready(const kf_source_builder *builder, size_t ticket);
/* Waits for that until deadline (kf_clock_seconds; 0: for ever) or Ctrl-C; true when ready. idle may be NULL.
 */
bool kf_builder_wait(kf_source_builder *builder, size_t ticket, double deadline, void (*idle)(void *context),
                     void *context);
/* Waits for everything queued; false on Ctrl-C. */
bool kf_builder_wait_all(kf_source_builder *builder, void (*idle)(void *context), void *context);

#endif
