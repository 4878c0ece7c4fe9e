#include "base/backend/cpu/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/locale.h"
#include "base/util/memory.h"

/* Longer than the time between two launches of a step, and too short to disturb other programs. */
static const double spin_seconds = 50e-6;
enum { LOOKS = 32, CACHE_LINE = 64, PARTICIPANT_BITS = 16 };
/* A thread takes an eighth of the rest of a part, but at least a 128th of the whole part. Parts with fewer
 * items are not divided. */
enum { SHARE_TAKEN = 8, SHARE_LEAST = 128, LEAST_SHARED = 16 };

/* The first item of a thread's part that no thread has taken. */
typedef struct part {
    _Alignas(CACHE_LINE) atomic_int_fast64_t next;
} part;

/* A ticket holds the number of a job and its number of threads. Other threads may miss the job. These cannot,
 * because the next job waits for them. */
typedef struct kf_cpu_threads {
    int threads;
    bool spins;
    kf_cpu_share *share;
    const void *work;
    int64_t items;
    part *parts; /* [threads] */
    _Alignas(CACHE_LINE) atomic_uint_fast64_t ticket;
    /* Workers that wait for `begin`. */
    atomic_int sleepers;
    /* Workers that have not finished their part. */
    _Alignas(CACHE_LINE) atomic_int running;
    atomic_bool caller_sleeps;
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t begin, end;
    struct worker *workers;
    int started;
} cpu_team;

typedef struct worker {
    cpu_team *team;
    /* 1 .. threads - 1; the caller is 0. */
    int rank;
    pthread_t thread;
} worker;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* --- The workers' side --------------------------------------------------------------------------------- */

/* Waits for the next ticket after `seen`. */
static uint64_t await_ticket(cpu_team *team, uint64_t seen) {
    uint64_t ticket = atomic_load_explicit(&team->ticket, memory_order_acquire);
    if (ticket != seen) return ticket;
    const double give_up = team->spins ? kf_clock_seconds() + spin_seconds : 0.0;
    while (team->spins && kf_clock_seconds() < give_up)
        for (int look = 0; look < LOOKS; look++) {
            ticket = atomic_load_explicit(&team->ticket, memory_order_acquire);
            if (ticket != seen) return ticket;
            relax();
        }
    pthread_mutex_lock(&team->lock);
    /* This comes before the next look, because the writer of a ticket reads it after writing. */
    atomic_fetch_add(&team->sleepers, 1);
    while ((ticket = atomic_load(&team->ticket)) == seen)
        pthread_cond_wait(&team->begin, &team->lock);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->lock);
    return ticket;
}

/* Returns the first item of a participant's part. All parts are as equal as possible. */
static int64_t begin_of(const cpu_team *team, int rank, int participants) {
    const int64_t spare = team->items % participants;
    return team->items / participants * rank + (rank < spare ? rank : spare);
}

static bool is_shared(const cpu_team *team, int participants) {
    return participants > 1 && team->items >= (int64_t)LEAST_SHARED * participants;
}

static void lay_out_parts(cpu_team *team, int participants) {
    for (int rank = 0; rank < participants; rank++)
        atomic_store_explicit(&team->parts[rank].next, begin_of(team, rank, participants),
                              memory_order_relaxed);
}

static bool take(cpu_team *team, int rank, int participants, int64_t *first, int64_t *last) {
    atomic_int_fast64_t *next = &team->parts[rank].next;
    const int64_t begin = begin_of(team, rank, participants), end = begin_of(team, rank + 1, participants);
    int64_t taken = 0;
    *first = atomic_load_explicit(next, memory_order_relaxed);
    do {
        if (*first >= end) return false;
        taken = (end - *first) / SHARE_TAKEN;
        if (taken <= (end - begin) / SHARE_LEAST) taken = (end - begin) / SHARE_LEAST + 1;
        *last = *first + taken < end ? *first + taken : end;
    } while (!atomic_compare_exchange_weak_explicit(next, first, *last, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

/* Does the thread's own part, and then the rest of other parts. Cores with the same work differ in speed, by
 * a third when all wait for memory. */
static void do_part(cpu_team *team, int rank, int participants) {
    if (!is_shared(team, participants)) {
        team->share(team->work, begin_of(team, rank, participants), begin_of(team, rank + 1, participants));
        return;
    }
    for (int i = 0; i < participants; i++)
        for (int64_t first, last; take(team, (rank + i) % participants, participants, &first, &last);)
            team->share(team->work, first, last);
}

static void end_part(cpu_team *team) {
    if (atomic_fetch_sub(&team->running, 1) != 1 || !atomic_load(&team->caller_sleeps)) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_signal(&team->end);
    pthread_mutex_unlock(&team->lock);
}

static int participants_of(uint64_t ticket) {
    return (int)(ticket & ((1U << PARTICIPANT_BITS) - 1));
}

static void *work_until_stopped(void *argument) {
    const worker *self = argument;
    cpu_team *team = self->team;
    uint64_t ticket = 0;
    for (;;) {
        ticket = await_ticket(team, ticket);
        const int participants = participants_of(ticket);
        if (participants == 0) return NULL;
        if (self->rank >= participants) continue;
        do_part(team, self->rank, participants);
        end_part(team);
    }
}

/* --- The caller's side ---------------------------------------------------------------------------------- */

static void post(cpu_team *team, int participants) {
    const uint64_t job = (atomic_load_explicit(&team->ticket, memory_order_relaxed) >> PARTICIPANT_BITS) + 1;
    atomic_store(&team->ticket, job << PARTICIPANT_BITS | (unsigned)participants);
    if (atomic_load(&team->sleepers) == 0) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->lock);
}

static void await_workers(cpu_team *team) {
    const double give_up = kf_clock_seconds() + (team->spins ? spin_seconds : 0.0);
    do
        for (int look = 0; look < LOOKS; look++) {
            if (atomic_load_explicit(&team->running, memory_order_acquire) == 0) return;
            relax();
        }
    while (kf_clock_seconds() < give_up);
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->caller_sleeps, true);
    while (atomic_load(&team->running) != 0)
        pthread_cond_wait(&team->end, &team->lock);
    atomic_store(&team->caller_sleeps, false);
    pthread_mutex_unlock(&team->lock);
}

void kf_cpu_threads_run(kf_cpu_threads *team, kf_cpu_share *share, const void *work, int64_t items) {
    const int participants = items < team->threads ? (int)items : team->threads;
    team->share = share;
    team->work = work;
    team->items = items;
    if (participants < 1) return;
    if (is_shared(team, participants)) lay_out_parts(team, participants);
    if (participants > 1) {
        atomic_store_explicit(&team->running, participants - 1, memory_order_relaxed);
        post(team, participants);
    }
    do_part(team, 0, participants);
    if (participants > 1) await_workers(team);
}

/* --- Starting and stopping ------------------------------------------------------------------------------ */

/* Binds a worker. Its rank is an index of the usable processors. */
static void bind_to_own(const worker *self, const cpu_set_t *usable) {
    const size_t bytes = sizeof *usable;
    int rank = 0;
    for (size_t processor = 0; processor < 8 * bytes; processor++) {
        if (!CPU_ISSET_S(processor, bytes, usable) || rank++ != self->rank) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET_S(processor, bytes, &own);
        /* Without the binding the thread is only slower. */
        (void)pthread_setaffinity_np(self->thread, bytes, &own);
    }
}

/* Starts the threads of a device, each bound to a core if `bind`. The calling thread is the first of them. */
kf_status kf_cpu_threads_start(int threads, bool bind, kf_cpu_threads **team, kf_error *error) {
    cpu_set_t usable;
    const bool known = sched_getaffinity(0, sizeof usable, &usable) == 0;
    cpu_team *made = NULL;
    part *parts = NULL;
    *team = NULL;
    if (posix_memalign((void **)&made, CACHE_LINE, sizeof *made) != 0 ||
        posix_memalign((void **)&parts, CACHE_LINE, (size_t)threads * sizeof *parts) != 0) {
        free(made);
        return kf_fail(error, KF_MACHINE, "out of memory for the threads of the cpu backend");
    }
    memset(made, 0, sizeof *made);
    made->parts = parts;
    made->threads = threads;
    made->spins = !known || threads <= CPU_COUNT(&usable);
    made->workers = kf_allocate_zeroed((size_t)threads, sizeof *made->workers);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->end, NULL);
    for (int rank = 1; rank < threads; rank++) {
        worker *started = &made->workers[rank];
        *started = (worker){.team = made, .rank = rank};
        if (kf_thread_start(&started->thread, work_until_stopped, started) != 0) {
            kf_cpu_threads_stop(made);
            return kf_fail(error, KF_MACHINE, "thread %d of %d of the cpu backend does not start: use cpu:%d",
                           rank + 1, threads, rank);
        }
        made->started++;
        if (bind && known) bind_to_own(started, &usable);
    }
    *team = made;
    return KF_OK;
}

void kf_cpu_threads_stop(kf_cpu_threads *team) {
    if (team == NULL) return;
    post(team, 0);
    for (int rank = 1; rank <= team->started; rank++)
        pthread_join(team->workers[rank].thread, NULL);
    pthread_cond_destroy(&team->end);
    pthread_cond_destroy(&team->begin);
    pthread_mutex_destroy(&team->lock);
    free(team->workers);
    free(team->parts);
    free(team);
}
