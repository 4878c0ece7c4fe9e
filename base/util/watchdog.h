/* A thread that notices when the main thread does not come back from something: a kernel that never ends, a
 * device that does not answer. */
#ifndef KF_BASE_UTIL_WATCHDOG_H
#define KF_BASE_UTIL_WATCHDOG_H

#include "base/util/status.h"

typedef struct kf_watchdog kf_watchdog;

/* This is what the thread takes the time from, and how it waits between two looks. */
typedef struct kf_watchdog_clock {
    double (*seconds)(void *context);
    void (*rest)(void *context);
    void *context;
} kf_watchdog_clock;

/* Starts it. late is called in its thread, once, when a limit is over: `seconds` were allowed. It ends the
 * process. clock: NULL for the machine's. KF_HOST when the thread does not start. */
kf_status kf_watchdog_open(void (*late)(void *context, double seconds), void *context,
                           const kf_watchdog_clock *clock, kf_watchdog **watchdog, kf_error *error);

/* The work of the main thread from the first call to the second takes at most so many seconds of a machine
 * that runs: the time in which the whole process was stopped does not count. Once late was called, the second
 * never returns. Both do nothing with NULL. */
void kf_watchdog_begin(kf_watchdog *watchdog, double seconds);
void kf_watchdog_end(kf_watchdog *watchdog);

void kf_watchdog_close(kf_watchdog *watchdog); /* NULL is fine */

#endif
