/* Work that must not be done in this process, done in a short-lived child.
 *
 * A process that has called cuInit cannot hand CUDA on to children it forks, and the tuning driver forks its
 * workers. Asking the driver for devices calls cuInit, and so does compiling with NVRTC. */
#ifndef KF_BASE_BACKEND_CUDA_CHILD_H
#define KF_BASE_BACKEND_CUDA_CHILD_H

#include <stddef.h>

#include "base/util/status.h"

/* Runs work(context, out) in a forked child and collects what it writes to out (with kf_child_send) until it
 * ends; the caller frees *answer. KF_MACHINE when the child crashes or does not end within patience_seconds;
 * KF_HOST when there is none to be had; doing says in the message what it was at. */
kf_status kf_child_ask(void (*work)(void *context, int out), void *context, const char *doing,
                       int patience_seconds, char **answer, size_t *size, kf_error *error);
void kf_child_send(int out, const void *data, size_t size);

#endif
