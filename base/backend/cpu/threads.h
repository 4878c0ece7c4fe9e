/* The threads that run kernels of the cpu backend. They live as long as the backend. Between two launches
 * they spin for a moment and then sleep. So launches in a row cost a microsecond or two, and an idle program
 * costs nothing. Only base/backend/cpu/ includes this. */
#ifndef KF_BASE_BACKEND_CPU_THREADS_H
#define KF_BASE_BACKEND_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util/status.h"

typedef struct kf_cpu_threads kf_cpu_threads;

/* Does a thread's share of the work: items first .. last - 1. */
typedef void kf_cpu_share(const void *work, int64_t first, int64_t last);

/* Starts a team of `threads` (at least 1); the caller is one of them. bind: each other thread stays on a
 * processor of its own, among those that the process may use. A process that forks must do so before.
 * KF_MACHINE when a thread cannot be started. */
kf_status kf_cpu_threads_start(int threads, bool bind, kf_cpu_threads **team, kf_error *error);

/* Divides `items` in order into one contiguous part for each thread, and returns when all are done. A thread
 * that has finished takes items of others. Only one thread may call this at a time. */
void kf_cpu_threads_run(kf_cpu_threads *team, kf_cpu_share *share, const void *work, int64_t items);

void kf_cpu_threads_stop(kf_cpu_threads *team); /* NULL is fine */

#endif
