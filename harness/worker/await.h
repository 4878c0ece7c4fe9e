/* Starts another program, waits for it, and collects its output. */
#ifndef KF_HARNESS_WORKER_AWAIT_H
#define KF_HARNESS_WORKER_AWAIT_H

#include <stdbool.h>

#include "base/util/status.h"
#include "base/util/text.h"

typedef struct kf_await_request {
    const char *const *words; /* the program (searched in PATH unless it contains a '/') and its arguments,
                                 NULL-terminated */
    const char *folder;       /* its working folder; NULL: this process's */
    const char *const
        *environment; /* "NAME=VALUE" to set in addition to the inherited ones, NULL-terminated; or NULL */
    double limit_seconds; /* it is then killed, with all processes that it started */
} kf_await_request;

typedef struct kf_awaited {
    bool ended;       /* it ended by itself and in time */
    int status;       /* the status of waitpid */
    double seconds;   /* from its start until it closed its output */
    kf_text out, err; /* its output, at most 64 MiB; owned */
} kf_awaited;

/* Fails on Ctrl-C (KF_INTERRUPTED), or if no process can be started. A program that does not exist ends with
 * status 127 and a message on err. The caller frees *spawned in any case. */
kf_status kf_await(const kf_await_request *request, kf_awaited *spawned, kf_error *error);
void kf_awaited_free(kf_awaited *spawned);
/* Returns the last line of its err, otherwise how it ended, in buffer. */
const char *kf_awaited_complaint(const kf_awaited *spawned, char *buffer, size_t size);

#endif
