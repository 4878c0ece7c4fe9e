/* The threads that kernels of the cpu backend run on. They last as long as the backend; between two launches
 * they spin for a moment and then sleep, so that launches in a row cost a microsecond or two and an idle
 * program costs nothing. Only base/backend/cpu*.c include this. */
#ifndef KF_BASE_BACKEND_CPU_THREADS_H
#define KF_BASE_BACKEND_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util/status.h"

typedef struct kf_cpu_threads kf_cpu_threads;

/* Work of a thread: items first .. last - 1. */
typedef void kf_cpu_share(const void *work, int64_t first, int64_t last);

/* A team of `threads` (at least 1), of which the caller is one; the others start here. bind: each of the
 * others stays on a processor of its own, of those that the process may use. Processes that fork must do it
 * before. KF_MACHINE when a thread cannot be started. */
kf_status kf_cpu_threads_start(int threads, bool bind, kf_cpu_threads **team, kf_error *error);

/* Shares `items` in order, a contiguous part for each thread, and returns when all are done. Who is done with
 * a part of many items takes from others' in turn. One caller at a time. */
void kf_cpu_threads_run(kf_cpu_threads *team, kf_cpu_share *share, const void *work, int64_t items);

void kf_cpu_threads_stop(kf_cpu_threads *team); /* NULL is fine */

#endif
