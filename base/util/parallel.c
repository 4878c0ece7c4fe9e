#include "base/util/parallel.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/util/locale.h"
#include "base/util/processors.h"

enum { THREADS = 16 };

typedef struct share {
    void (*work)(void *data, size_t begin, size_t end);
    void *data;
    size_t begin, end;
} share;

static void *run_share(void *argument) {
    const share *s = argument;
    s->work(s->data, s->begin, s->end);
    return NULL;
}

void kf_in_parallel(size_t count, size_t least, void (*work)(void *data, size_t begin, size_t end),
                    void *data) {
    long threads = kf_processors_find().usable;
    if (threads > THREADS) threads = THREADS;
    if (threads < 1 || count < least) threads = 1;
    pthread_t handles[THREADS];
    bool started[THREADS] = {false};
    share shares[THREADS];
    for (long t = 0; t < threads; t++) {
        shares[t] = (share){work, data, count * (size_t)t / (size_t)threads,
                            count * (size_t)(t + 1) / (size_t)threads};
        if (t > 0) started[t] = kf_thread_start(&handles[t], run_share, &shares[t]) == 0;
        if (t > 0 && !started[t]) run_share(&shares[t]);
    }
    run_share(&shares[0]);
    for (long t = 1; t < threads; t++)
        if (started[t]) pthread_join(handles[t], NULL);
}
