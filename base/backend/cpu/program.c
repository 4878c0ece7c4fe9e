#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cpu/cpu.h"
#include "base/util/memory.h"
#include "base/util/signals.h"
#include "base/util/spawn.h"

enum { OUTPUT_LIMIT = 256 << 10 };
/* No compiler ends with this code; 126 and 127 are those of a shell. */
enum { NOT_STARTED = 125 };

/* --- A process that keeps watch -------------------------------------------------------------------------
 * A compiler has children of its own, which nothing ties to this process. So it runs in a group with a
 * process that is told when this one ends, however it ends, and then ends the group: first so that temporary
 * files are removed. */

static volatile pid_t watched;

/* Ends the program's group when the parent ends. Batch systems send the same signal to every process of a
 * job; that signal does not count. */
static void end_group(int number) {
    (void)number;
    if (getppid() != watched) (void)kill(0, SIGTERM);
}

/* Waits up to 5 s until the other processes of the group have ended. A linker that is told to end removes its
 * temporary files first. The processes are children of this one, because it adopts those that a compiler
 * leaves. */
static void await_group(void) {
    static const struct timespec moment = {.tv_nsec = 20000000};
    for (int i = 0; i < 250; i++) {
        pid_t ended = 0;
        do {
            ended = waitpid(-1, NULL, WNOHANG);
        } while (ended > 0);
        if (ended < 0 && errno == ECHILD) return;
        (void)nanosleep(&moment, NULL);
    }
}

/* Runs a program as a watcher between it and kftune. It starts the program in a process group and ends that
 * group when kftune ends. Its exit is that of the program. */
static _Noreturn void keep_watch(pid_t parent, const char *const *words, int output,
                                 char *const *environment) {
    pid_t process = 0;
    watched = parent;
    (void)setpgid(0, 0);
    kf_signals_let_faults_end();
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGUSR2, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGUSR1, end_group);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (prctl(PR_SET_PDEATHSIG, SIGUSR1) != 0 || getppid() != parent) _exit(NOT_STARTED);
    const kf_spawn request = {.words = words, .output = output, .errors = output, .environment = environment};
    const int reason = kf_spawn_start(&request, &process);
    if (reason != 0) (void)dprintf(output, "%s", kf_spawn_reason(reason));
    (void)close(output);
    if (reason != 0) _exit(NOT_STARTED);
    const int ending = kf_spawn_wait(process);
    /* Ends in the same way as the program. The rest of its group ends too. */
    const int number = WIFSIGNALED(ending) ? WTERMSIG(ending) : 0;
    if (getppid() != parent) {
        await_group();
        (void)kill(0, SIGKILL);
    }
    if (number == 0) _exit(WEXITSTATUS(ending));
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    _exit(NOT_STARTED);
}

static int spawn(const char *const *words, int output, pid_t *process) {
    /* The messages must be English, because they are searched for the word "error". */
    static char english[] = "LC_ALL=C";
    static const char *const of_language[] = {"LC_ALL", "LANGUAGE", NULL};
    const pid_t parent = getpid();
    /* The environment is made here. A lack of memory in the watcher would look like a failure of the
     * compiler. */
    char **environment = kf_spawn_environment(of_language, english);
    *process = fork();
    if (*process == 0) keep_watch(parent, words, output, environment);
    const int reason = *process < 0 ? errno : 0;
    free(environment);
    return reason;
}

/* Runs a program to its end and collects its output. A signal, Ctrl-C and a program that cannot be started
 * are different results. */
kf_status kf_program_run(const char *const *words, kf_program_result *result, kf_error *error) {
    *result = (kf_program_result){.exit_status = -1};
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_HOST, "%s cannot be run: no pipe: %s", words[0], strerror(errno));
    pid_t process;
    const int reason = spawn(words, pipe_ends[1], &process);
    close(pipe_ends[1]);
    if (reason != 0) {
        close(pipe_ends[0]);
        return kf_fail(error, KF_HOST, "%s cannot be run: %s", words[0], strerror(reason));
    }
    result->output = kf_spawn_read(pipe_ends[0], OUTPUT_LIMIT, true, NULL);
    close(pipe_ends[0]);
    const int ending = kf_spawn_wait(process);
    if (ending != -1 && WIFEXITED(ending)) result->exit_status = WEXITSTATUS(ending);
    if (ending != -1 && WIFSIGNALED(ending)) result->signal = WTERMSIG(ending);
    kf_status status = KF_OK;
    if (result->signal == SIGINT) status = kf_fail(error, KF_INTERRUPTED, "%s was interrupted", words[0]);
    if (result->exit_status == NOT_STARTED)
        status = kf_fail(error, KF_HOST, "%s cannot be run: %s", words[0], result->output);
    if (status == KF_OK) return KF_OK;
    free(result->output);
    result->output = NULL;
    return status;
}
