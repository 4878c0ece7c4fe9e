/* Makes child processes by fork() without exec. They have the parent's memory, never outlive it, and do not
 * receive Ctrl-C. */
#ifndef KF_HARNESS_WORKER_CHILD_H
#define KF_HARNESS_WORKER_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/util/status.h"

/* Forks. Returns 0 in the child, which must leave with _exit(); negative with *error on failure. The child
 * leads its own process group, so that programs it starts (a compiler) end with it. */
pid_t kf_child_fork(kf_error *error);

/* Kills the child's group and collects the child. *status (may be NULL) is that of waitpid. The child first
 * gets patience_seconds to end by itself, so that *status says how. */
void kf_child_end(pid_t child, double patience_seconds, int *status);

/* The work of a child, in which a device may be opened. The answer is sent as it is in memory. */
typedef kf_status (*kf_child_work)(const void *context, void *answer, kf_error *error);

/* A child that works while this process does something else. */
typedef struct kf_child {
    pid_t process;
    int socket; /* becomes readable when the answer arrives, or when the child ends without one */
} kf_child;
/* Begins work(context, answer) in a child; size: bytes of the answer. */
kf_status kf_child_begin(kf_child_work work, const void *context, size_t size, kf_child *child,
                         kf_error *error);
/* Waits for the answer and collects the child. Returns the status of `work`; KF_MACHINE if the child ended
 * without an answer. */
kf_status kf_child_collect(const kf_child *child, const char *what, void *answer, size_t size,
                           kf_error *error);
/* Does both. The child's failure is returned. what: words for messages, such as "opening the device".
 * KF_INTERRUPTED on Ctrl-C. */
kf_status kf_child_run(const char *what, kf_child_work work, const void *context, void *answer, size_t size,
                       kf_error *error);

/* Forks with a connected pair of stream sockets. *socket is this process's end. */
pid_t kf_child_fork_connected(int *socket, kf_error *error);

#endif
