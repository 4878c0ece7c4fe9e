/* Compiling ahead: child processes build the kernels of proposed configs into the disk cache, so that the
 * worker only loads them. A config whose build fails is no error here: its evaluation will find that and say
 * why. */
#ifndef KF_HARNESS_TUNE_BUILDER_H
#define KF_HARNESS_TUNE_BUILDER_H

#include "harness/measure/evaluate.h"

typedef struct kf_builder kf_builder;

/* processes: how many compile at the same time. bench and device outlive the builder. */
kf_builder *kf_builder_open(const kf_bench *bench, const kf_device_info *device, int processes);
void kf_builder_close(kf_builder *builder); /* ends what is still compiling */

/* Queues the sources of a config that were not queued before. Returns a ticket for kf_builder_ready. */
size_t kf_builder_add(kf_builder *builder, const kf_config *config);
/* The same for a config on a scene that is not the bench's. */
size_t kf_builder_add_scene(kf_builder *builder, const kf_scene *scene, const kf_config *config);
/* The ticket of everything queued so far. */
size_t kf_builder_queued(const kf_builder *builder);
/* Starts and collects processes without waiting; to be called often. */
void kf_builder_poll(kf_builder *builder);
/* True when everything queued up to the ticket is built or has failed. */
bool kf_builder_ready(const kf_builder *builder, size_t ticket);
/* Waits for that until deadline (kf_clock_seconds; 0: for ever) or Ctrl-C; true when ready. idle may be NULL.
 */
bool kf_builder_wait(kf_builder *builder, size_t ticket, double deadline, void (*idle)(void *context),
                     void *context);

#endif
