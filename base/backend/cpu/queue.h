/* Streams of the cpu as queues, for tests: what was given to them is done in an order drawn at random, as far
 * as their marks allow, so that a signal or an await that lacks shows on a machine without a GPU. Elsewhere
 * work is done when it is given. */
#ifndef KF_BASE_BACKEND_CPU_QUEUE_H
#define KF_BASE_BACKEND_CPU_QUEUE_H

#include "base/backend/internal.h"

typedef struct kf_cpu_mark {
    kf_mark base;
    uint64_t given, come; /* signals put into streams, and done */
} kf_cpu_mark;

/* A stream is given one of these at a time: a launch, a copy, a signal or an await. */
typedef struct kf_cpu_work {
    kf_stream *stream;
    kf_launch *launch;         /* owned; or NULL */
    kf_call_function *enqueue; /* or NULL */
    void *object;
    kf_cpu_mark *signal, *await; /* or NULL, both */
    uint64_t target;             /* signals that the await waits for */
    kf_copy copy;                /* else */
} kf_cpu_work;

/* Shuffles the work of streams. seed 0: no queues, the usual. dropped: of every KF_CPU_DROPS awaits that
 * one, counted from 0, is left out, as if the plan lacked it; -1: none. It holds for the whole process,
 * between plans. */
enum { KF_CPU_DROPS = 7 };
void kf_cpu_shuffle(uint64_t seed, int dropped);
bool kf_cpu_shuffles(void);
/* Takes over what work owns. */
void kf_cpu_queue_put(const kf_cpu_work *work);
/* Does everything that was put. KF_MACHINE where all queues wait for each other. */
kf_status kf_cpu_queue_drain(kf_status (*run)(const kf_cpu_work *work, kf_error *error), kf_error *error);

#endif
