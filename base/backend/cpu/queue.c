#include "base/backend/cpu/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"

typedef struct queue {
    kf_stream *stream;
    kf_cpu_work *works;
    /* Works[first .. count - 1] are not done yet. */
    size_t first, count, room;
} queue;

enum { MOST_QUEUES = KF_MOST_DEVICES * KF_LANES };
static struct {
    uint64_t seed, random;
    int dropped;
    uint64_t awaits;
    queue list[MOST_QUEUES];
    int count;
} queues = {.dropped = -1};

static void forget(void) {
    for (int i = 0; i < queues.count; i++)
        free(queues.list[i].works);
    memset(queues.list, 0, sizeof queues.list);
    queues.count = 0;
}

void kf_cpu_shuffle(uint64_t seed, int dropped) {
    forget();
    queues.seed = seed;
    queues.dropped = dropped;
    queues.awaits = 0;
    queues.random = seed;
}

bool kf_cpu_shuffles(void) {
    return queues.seed != 0;
}

static queue *queue_of(kf_stream *stream) {
    for (int i = 0; i < queues.count; i++)
        if (queues.list[i].stream == stream) return &queues.list[i];
    queues.list[queues.count] = (queue){.stream = stream};
    return &queues.list[queues.count++];
}

void kf_cpu_queue_put(const kf_cpu_work *work) {
    if (work->await != NULL && queues.dropped >= 0 &&
        queues.awaits++ % KF_CPU_DROPS == (uint64_t)queues.dropped)
        return;
    queue *q = queue_of(work->stream);
    q->works = kf_grow(q->works, q->count, &q->room, sizeof *q->works);
    q->works[q->count++] = *work;
}

static bool may_run(const queue *q) {
    if (q->first == q->count) return false;
    const kf_cpu_work *work = &q->works[q->first];
    return work->await == NULL || work->await->come >= work->target;
}

/* Chooses at random one of the queues whose first work may run. Returns NULL without such a queue. */
static queue *draw(void) {
    queue *ready[MOST_QUEUES];
    int count = 0;
    for (int i = 0; i < queues.count; i++)
        if (may_run(&queues.list[i])) ready[count++] = &queues.list[i];
    return count > 0 ? ready[kf_random_below(&queues.random, (uint64_t)count)] : NULL;
}

/* Does the work of the queues in random order until none is left. Work that still waits for a signal then is
 * a deadlock of the plan. */
kf_status kf_cpu_queue_drain(kf_status (*run)(const kf_cpu_work *work, kf_error *error), kf_error *error) {
    kf_status status = KF_OK;
    for (queue *q = draw(); q != NULL && status == KF_OK; q = draw()) {
        const kf_cpu_work work = q->works[q->first++];
        if (work.signal != NULL)
            work.signal->come++;
        else if (work.await == NULL)
            status = run(&work, error);
        free(work.launch);
    }
    size_t waiting = 0;
    for (int i = 0; i < queues.count; i++)
        waiting += queues.list[i].count - queues.list[i].first;
    forget();
    KF_TRY(status);
    if (waiting == 0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "deadlock: %zu pieces of work wait for each other", waiting);
}
