#include "base/util/clock.h"

#include <sched.h>
#include <time.h>

double kf_clock_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rests between two looks. A host with fewer processors than processes becomes slow when all of them look
 * without a pause. */
void kf_clock_rest(int looks) {
    enum { EAGER = 64, PATIENT = 1024 };
    const struct timespec nap = {.tv_nsec = 50000};
    if (looks > PATIENT)
        (void)nanosleep(&nap, NULL);
    else if (looks > EAGER)
        (void)sched_yield();
}
