/* Does work in a short-lived child that must not be done in this process.
 *
 * A process that has called cuInit cannot fork children that use CUDA, and tuning forks its workers. Asking
 * the driver for devices calls cuInit, and so does compiling with NVRTC. */
#ifndef KF_BASE_BACKEND_CUDA_CHILD_H
#define KF_BASE_BACKEND_CUDA_CHILD_H

#include <stddef.h>

#include "base/util/status.h"

/* Runs work(context, out) in a forked child, and collects what it writes to out until it
 * ends. The caller frees *answer. KF_MACHINE when the child crashes or takes longer than patience_seconds;
 * KF_HOST when it cannot be started. doing: the child's task, for the message. */
kf_status kf_child_ask(void (*work)(void *context, int out), void *context, const char *doing,
                       int patience_seconds, char **answer, size_t *size, kf_error *error);

#endif
