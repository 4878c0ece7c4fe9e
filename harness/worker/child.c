#include "harness/worker/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/signals.h"
#include "harness/worker/message.h"

/* Forks a child. It ends with its parent, has its own process group, ignores signals for the driver, and dies
 * of a fault at once without a core dump. */
pid_t kf_child_fork(kf_error *error) {
    (void)fflush(NULL); /* otherwise both processes would write what is buffered now */
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) {
        (void)kf_fail(error, KF_MACHINE, "cannot start a process: %s", strerror(errno));
        return child;
    }
    if (child > 0) {
        (void)setpgid(child, child); /* Parent and child both do this, because either may be first. */
        return child;
    }
    /* The parent may have been killed between fork and prctl. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(KF_MACHINE);
    (void)setpgid(0, 0);
    /* A terminal or a job scheduler sends these to every process. The driver alone decides what they mean. */
    static const int of_driver[] = {SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof of_driver / sizeof *of_driver; i++)
        (void)signal(of_driver[i], SIG_IGN);
    /* A fault ends the child at once, and leaves no core dump of gigabytes. */
    kf_signals_let_faults_end();
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGXCPU, SIG_DFL);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    kf_json_check_memory();
    return 0;
}

/* Ends a child and its whole group after waiting for it, and collects its status. The group ends first,
 * because the child's number could be reused after it is collected. */
void kf_child_end(pid_t child, double patience_seconds, int *status) {
    double deadline = kf_clock_seconds() + patience_seconds;
    siginfo_t info = {0};
    /* The child is observed but not collected, because its number must not be reused before its group has
     * ended. */
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
           kf_clock_seconds() < deadline) {
        struct timespec moment = {.tv_nsec = 1000000};
        (void)nanosleep(&moment, NULL);
    }
    (void)kill(-child, SIGKILL);
    (void)kill(child, SIGKILL); /* its group may not exist yet */
    int collected = 0;
    while (waitpid(child, &collected, 0) < 0 && errno == EINTR)
        continue;
    if (status != NULL) *status = collected;
}

pid_t kf_child_fork_connected(int *socket, kf_error *error) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        (void)kf_fail(error, KF_MACHINE, "cannot make a socket for a process: %s", strerror(errno));
        return -1;
    }
    pid_t child = kf_child_fork(error);
    *socket = ends[child == 0 ? 1 : 0];
    (void)close(ends[child == 0 ? 0 : 1]);
    if (child < 0) (void)close(*socket);
    return child;
}

/* --- One question ----------------------------------------------------------------------------------------
 */

/* It precedes the answer. Parent and child are the same program, so it is sent as it is in memory. */
typedef struct reply_head {
    kf_status status;
    kf_error error;
} reply_head;

static bool receive_bytes(int socket, void *bytes, size_t size) {
    for (char *at = bytes; size > 0;) {
        const ssize_t got = recv(socket, at, size, 0);
        if (got < 0 && errno == EINTR && !kf_interrupted) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static _Noreturn void answer_and_leave(int socket, kf_child_work work, const void *context, size_t size) {
    void *answer = kf_allocate_zeroed(1, size);
    reply_head head = {.status = KF_OK};
    head.status = work(context, answer, &head.error);
    const bool sent = kf_send_all(socket, &head, sizeof head) && kf_send_all(socket, answer, size);
    /* The process must use _exit(), because buffers and exit handlers belong to the parent. */
    _exit(sent ? KF_OK : KF_MACHINE);
}

kf_status kf_child_begin(kf_child_work work, const void *context, size_t size, kf_child *child,
                         kf_error *error) {
    child->process = kf_child_fork_connected(&child->socket, error);
    if (child->process < 0) return KF_MACHINE;
    if (child->process == 0) answer_and_leave(child->socket, work, context, size);
    return KF_OK;
}

kf_status kf_child_collect(const kf_child *child, const char *what, void *answer, size_t size,
                           kf_error *error) {
    reply_head head;
    const bool whole =
        receive_bytes(child->socket, &head, sizeof head) && receive_bytes(child->socket, answer, size);
    (void)close(child->socket);
    kf_child_end(child->process, 0.0, NULL);
    if (!whole || !kf_is_status((int)head.status))
        return kf_fail(error, KF_MACHINE, "%s ended the process that did it", what);
    head.error.message[sizeof head.error.message - 1] = '\0';
    if (head.status != KF_OK) return kf_fail(error, head.status, "%s", head.error.message);
    return KF_OK;
}

kf_status kf_child_run(const char *what, kf_child_work work, const void *context, void *answer, size_t size,
                       kf_error *error) {
    kf_child child;
    KF_TRY(kf_child_begin(work, context, size, &child, error));
    const kf_status status = kf_child_collect(&child, what, answer, size, error);
    return kf_interrupted ? kf_fail(error, KF_INTERRUPTED, "interrupted while %s", what) : status;
}
