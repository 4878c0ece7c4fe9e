/* Is loaded before the C library and makes time pass a hundred times as fast for a thread that waits for a
 * limit of minutes (base/util/watchdog.h). ranks-fail.sh thereby reaches the limit. */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static long long begin;
    const int status = (int)syscall(SYS_clock_gettime, clock, time);
    const long long now = 1000000000LL * time->tv_sec + time->tv_nsec;
    if (clock != CLOCK_MONOTONIC) return status;
    if (begin == 0) begin = now;
    const long long shown = begin + 100 * (now - begin);
    time->tv_sec = shown / 1000000000;
    time->tv_nsec = shown % 1000000000;
    return status;
}

int pthread_cond_timedwait(pthread_cond_t *change, pthread_mutex_t *lock, const struct timespec *until) {
    (void)change, (void)until;
    (void)pthread_mutex_unlock(lock);
    (void)usleep(10000);
    return pthread_mutex_lock(lock);
}
