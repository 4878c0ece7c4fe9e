/* A thread that notices when the main thread does not return in time: a kernel never ends, or a device does
 * not answer. */
#ifndef KF_BASE_UTIL_WATCHDOG_H
#define KF_BASE_UTIL_WATCHDOG_H

#include "base/util/status.h"

typedef struct kf_watchdog kf_watchdog;

/* The clock of the thread, and how the thread waits between two looks. Tests pass their own. */
typedef struct kf_watchdog_clock {
    double (*seconds)(void *context);
    void (*rest)(void *context);
    void *context;
} kf_watchdog_clock;

/* Starts the thread. It calls late(context, seconds) once, when a limit of `seconds` has passed; late must
 * end the process. clock NULL: the machine's. KF_HOST: the thread does not start. */
kf_status kf_watchdog_open(void (*late)(void *context, double seconds), void *context,
                           const kf_watchdog_clock *clock, kf_watchdog **watchdog, kf_error *error);

/* Limit the main thread's work between the two calls to `seconds`. Time in which the whole process was
 * stopped does not count. Once late was called, kf_watchdog_end never returns. Both do nothing if watchdog is
 * NULL. */
void kf_watchdog_begin(kf_watchdog *watchdog, double seconds);
void kf_watchdog_end(kf_watchdog *watchdog);

void kf_watchdog_close(kf_watchdog *watchdog); /* NULL is fine */

#endif
