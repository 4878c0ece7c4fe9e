/* Makes child processes by fork() alone: they have the parent's memory, never outlive it, and Ctrl-C does not
 * reach them. */
#ifndef KF_HARNESS_WORKER_CHILD_H
#define KF_HARNESS_WORKER_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/util/status.h"

/* Forks: 0 in the child, which must leave with _exit(); negative with *error on failure. The child leads a
 * process group of its own, so that what it starts (a compiler) ends with it. */
pid_t kf_child_fork(kf_error *error);

/* Kills the child's group and collects it. *status (may be NULL) as of waitpid; a child that is about to end
 * by itself gets patience_seconds to do so, so that *status tells how. */
void kf_child_end(pid_t child, double patience_seconds, int *status);

/* Does the work of a child: what it opens (a device) stays out of this process. Its answer is brought as it
 * is. */
typedef kf_status (*kf_child_work)(const void *context, void *answer, kf_error *error);

/* Holds a child that works while this process does something else. */
typedef struct kf_child {
    pid_t process;
    int socket; /* becomes readable when the answer is there, or the child has ended without one */
} kf_child;
/* Begins work(context, answer) in a child; size is the answer's. */
kf_status kf_child_begin(kf_child_work work, const void *context, size_t size, kf_child *child,
                         kf_error *error);
/* Waits for the answer and collects the child; returns what work returned, KF_MACHINE where the child ended
 * without an answer. */
kf_status kf_child_collect(const kf_child *child, const char *what, void *answer, size_t size,
                           kf_error *error);
/* Does both. The child's failure is returned; what: for messages, "opening the device". KF_INTERRUPTED on
 * Ctrl-C. */
kf_status kf_child_run(const char *what, kf_child_work work, const void *context, void *answer, size_t size,
                       kf_error *error);

/* Forks with a connected pair of stream sockets: *socket is this process's end. */
pid_t kf_child_fork_connected(int *socket, kf_error *error);

#endif
