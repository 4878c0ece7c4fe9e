/* For tests: streams of the cpu as queues. Their work is done in a random order that respects the marks, so
 * that a missing signal or await shows on a machine without a GPU. Otherwise the cpu does work at once. */
#ifndef KF_BASE_BACKEND_CPU_QUEUE_H
#define KF_BASE_BACKEND_CPU_QUEUE_H

#include "base/backend/internal.h"

typedef struct kf_cpu_mark {
    kf_mark base;
    uint64_t given, come; /* signals put into streams, and signals done */
} kf_cpu_mark;

/* A piece of work of a stream: a launch, a call, a fill, a copy, a signal or an await. */
typedef struct kf_cpu_work {
    kf_stream *stream;
    kf_launch *launch;         /* owned; or NULL */
    kf_call_function *enqueue; /* or NULL */
    void *object;
    kf_buffer *filled; /* with byte; or NULL */
    unsigned char byte;
    kf_cpu_mark *signal, *await; /* or NULL, both */
    uint64_t target;             /* signals that the await waits for */
    kf_copy copy;                /* the work if all others are NULL */
} kf_cpu_work;

/* Shuffles the work of streams by this seed. 0: there are no queues, as usual. dropped: one of every
 * KF_CPU_DROPS awaits is left out, the one of this index, as if the plan lacked it; -1: none. It holds for
 * the whole process; change it only between plans. */
enum { KF_CPU_DROPS = 7 };
void kf_cpu_shuffle(uint64_t seed, int dropped);
bool kf_cpu_shuffles(void);
/* Adds work to its queue, and takes over what it owns. */
void kf_cpu_queue_put(const kf_cpu_work *work);
/* Does all work that was added. KF_MACHINE where all queues wait for each other. */
kf_status kf_cpu_queue_drain(kf_status (*run)(const kf_cpu_work *work, kf_error *error), kf_error *error);

#endif
