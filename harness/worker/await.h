/* Starts another program afresh, awaits it, and collects what it prints. */
#ifndef KF_HARNESS_WORKER_AWAIT_H
#define KF_HARNESS_WORKER_AWAIT_H

#include <stdbool.h>

#include "base/util/status.h"
#include "base/util/text.h"

typedef struct kf_await_request {
    const char *const *words; /* the program (looked for in PATH unless it has a '/') and its arguments,
                                 NULL-terminated */
    const char *folder;       /* to work in; NULL: this process's */
    const char *const
        *environment;     /* "NAME=VALUE" to set beside what is inherited, NULL-terminated; or NULL */
    double limit_seconds; /* it is killed then, with all that it started */
} kf_await_request;

typedef struct kf_awaited {
    bool ended;       /* by itself, in time */
    int status;       /* as of waitpid */
    double seconds;   /* from its start until it closed what it prints to */
    kf_text out, err; /* what it printed, at most 64 MiB; owned */
} kf_awaited;

/* Fails (KF_INTERRUPTED) on Ctrl-C, or when no process can be started; a program that cannot be found ends
 * with status 127 and says so on err. *spawned is to be freed in any case. */
kf_status kf_await(const kf_await_request *request, kf_awaited *spawned, kf_error *error);
void kf_awaited_free(kf_awaited *spawned);
/* Returns the last line of what it printed on err, or how it ended, in buffer. */
const char *kf_awaited_complaint(const kf_awaited *spawned, char *buffer, size_t size);

#endif
