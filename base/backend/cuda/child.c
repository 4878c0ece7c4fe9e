#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/signals.h"

static time_t seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Receives the answer. Returns false when it did not end in time. */
static bool receive(int in, int patience_seconds, char **answer, size_t *size) {
    const time_t limit = seconds_now() + patience_seconds;
    size_t capacity = 1 << 16;
    *answer = kf_allocate(capacity);
    *size = 0;
    while (seconds_now() <= limit) {
        struct pollfd wait = {.fd = in, .events = POLLIN, .revents = 0};
        const int ready = poll(&wait, 1, 1000);
        if (ready < 0 && errno != EINTR) return false;
        if (ready <= 0) continue;
        const ssize_t part = read(in, *answer + *size, capacity - *size);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return part == 0;
        *size += (size_t)part;
        if (*size == capacity) *answer = kf_reallocate(*answer, capacity *= 2);
    }
    return false;
}

static void run_child(void (*work)(void *context, int out), void *context, int out) {
    kf_signals_let_faults_end();
    work(context, out);
    /* Exit handlers belong to the parent. */
    _exit(0);
}

kf_status kf_child_ask(void (*work)(void *context, int out), void *context, const char *doing,
                       int patience_seconds, char **answer, size_t *size, kf_error *error) {
    int ends[2], ended = 0;
    *answer = NULL;
    *size = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_HOST, "cuda: no pipe for %s: %s", doing, strerror(errno));
    const pid_t child = fork();
    if (child == 0) run_child(work, context, ends[1]);
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return kf_fail(error, KF_HOST, "cuda: no process for %s: %s", doing, strerror(errno));
    }
    const bool complete = receive(ends[0], patience_seconds, answer, size);
    (void)close(ends[0]);
    if (!complete) (void)kill(child, SIGKILL);
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    if (complete && WIFEXITED(ended)) return KF_OK;
    free(*answer);
    *answer = NULL;
    if (!complete) return kf_fail(error, KF_MACHINE, "cuda: %s took over %d s", doing, patience_seconds);
    const int number = WTERMSIG(ended);
    if (kf_signal_is_fault(number))
        return kf_fail(error, KF_MACHINE, "cuda: %s crashed (signal %d)", doing, number);
    /* A process ends in this way when another one, or the system for lack of memory, ends it. */
    return kf_fail(error, KF_HOST, "cuda: %s was ended by signal %d (%s)%s", doing, number, strsignal(number),
                   number == SIGKILL ? "; was the machine out of memory?" : "");
}

#endif
