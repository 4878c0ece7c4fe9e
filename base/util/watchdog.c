#include "base/util/watchdog.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/locale.h"
#include "base/util/memory.h"

/* In seconds: the time between two looks, and what one look counts at most. When the thread could not run,
 * the rest of the process could not either. */
static const double look_seconds = 1.0, most_a_look = 2.0;

struct kf_watchdog {
    pthread_t thread;
    /* Protects all members below. */
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool stops, fired;
    /* The seconds allowed for the present work, and those passed; allowed is 0 without work. */
    double allowed, passed;
    void (*late)(void *context, double seconds);
    void *context;
    kf_watchdog_clock clock;
};

static double machine_seconds(void *context) {
    (void)context;
    return kf_clock_seconds();
}

/* Waits until the next look, or until the end. */
static void rest(kf_watchdog *w) {
    if (w->clock.rest != NULL) {
        (void)pthread_mutex_unlock(&w->lock);
        w->clock.rest(w->clock.context);
        (void)pthread_mutex_lock(&w->lock);
        return;
    }
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)look_seconds;
    (void)pthread_cond_timedwait(&w->change, &w->lock, &until);
}

/* Runs the thread of a watchdog. A late look counts as most_a_look at most, so a process that was stopped
 * does not count as hanging. */
static void *keep_watch(void *data) {
    kf_watchdog *w = data;
    (void)pthread_mutex_lock(&w->lock);
    double before = w->clock.seconds(w->clock.context);
    while (!w->stops && !w->fired) {
        rest(w);
        const double now = w->clock.seconds(w->clock.context), since = now - before;
        before = now;
        w->passed += since < most_a_look ? since : most_a_look;
        w->fired = w->allowed > 0 && w->passed > w->allowed;
    }
    const bool fired = w->fired;
    const double allowed = w->allowed;
    (void)pthread_mutex_unlock(&w->lock);
    if (fired) w->late(w->context, allowed);
    return NULL;
}

kf_status kf_watchdog_open(void (*late)(void *context, double seconds), void *context,
                           const kf_watchdog_clock *clock, kf_watchdog **watchdog, kf_error *error) {
    kf_watchdog *w = kf_allocate_zeroed(1, sizeof *w);
    pthread_condattr_t attributes;
    w->late = late;
    w->context = context;
    w->clock = clock != NULL ? *clock : (kf_watchdog_clock){.seconds = machine_seconds};
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->change, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *watchdog = w;
    if (kf_thread_start(&w->thread, keep_watch, w) == 0) return KF_OK;
    free(w);
    *watchdog = NULL;
    return kf_fail(error, KF_HOST, "the watchdog thread, which reports a step that hangs, cannot be started");
}

void kf_watchdog_begin(kf_watchdog *w, double seconds) {
    if (w == NULL) return;
    (void)pthread_mutex_lock(&w->lock);
    w->allowed = seconds;
    w->passed = 0;
    (void)pthread_mutex_unlock(&w->lock);
}

void kf_watchdog_end(kf_watchdog *w) {
    if (w == NULL) return;
    (void)pthread_mutex_lock(&w->lock);
    w->allowed = 0;
    const bool fired = w->fired;
    (void)pthread_mutex_unlock(&w->lock);
    if (!fired) return;
    /* The process is ending. */
    for (;;)
        (void)pause();
}

void kf_watchdog_close(kf_watchdog *w) {
    if (w == NULL) return;
    (void)pthread_mutex_lock(&w->lock);
    w->stops = true;
    (void)pthread_cond_signal(&w->change);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    (void)pthread_cond_destroy(&w->change);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}
