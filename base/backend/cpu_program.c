#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/cpu.h"
#include "base/util/text.h"

enum { OUTPUT_LIMIT = 256 << 10 };
enum { NOT_STARTED = 125 }; /* no compiler ends with this; 126 and 127 are a shell's */

/* Reads until the program has closed its end; keeps the beginning. */
static char *read_output(int file) {
    char *output = kf_allocate(OUTPUT_LIMIT + 1), surplus[4096];
    size_t length = 0;
    for (;;) {
        const size_t room = OUTPUT_LIMIT - length;
        const ssize_t got =
            room > 0 ? read(file, output + length, room) : read(file, surplus, sizeof surplus);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (room > 0) length += (size_t)got;
    }
    output[length] = '\0';
    return output;
}

/* The environment with LC_ALL=C, as error messages are searched for the word "error". The array is the
 * caller's. */
static char **english_environment(void) {
    static char locale[] = "LC_ALL=C";
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **variables = kf_allocate((count + 2) * sizeof *variables);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 && strncmp(environ[i], "LANGUAGE=", 9) != 0)
            variables[kept++] = environ[i];
    variables[kept++] = locale;
    variables[kept] = NULL;
    return variables;
}

/* Signals as they are in a fresh program: this one may ignore or block some. */
static void default_signals(posix_spawnattr_t *attributes) {
    sigset_t ours, none;
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGCHLD);
    posix_spawnattr_setsigdefault(attributes, &ours);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* In the calling process. */
static int spawn_here(const char *const *words, int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    default_signals(&attributes);
    char **variables = english_environment();
    size_t count = 1; /* the program is always there */
    while (words[count] != NULL)
        count++;
    char **arguments = kf_allocate_zeroed(count + 1, sizeof *arguments);
    for (size_t i = 0; i < count; i++)
        arguments[i] = kf_duplicate(words[i]); /* posix_spawn wants them writable */
    const int reason = posix_spawnp(process, words[0], &actions, &attributes, arguments, variables);
    for (size_t i = 0; i < count; i++)
        free(arguments[i]);
    free(arguments);
    free(variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

/* --- a process that keeps watch -------------------------------------------------------------------------
 * A compiler has children of its own, which nothing ties to this process. So it runs in a group with a
 * process that is told when this one ends, however it ends, and then ends the group: first so that temporary
 * files are removed. */

static void end_group(int number) {
    (void)number;
    (void)kill(0, SIGTERM);
}

static _Noreturn void keep_watch(pid_t parent, const char *const *words, int output) {
    pid_t process = 0, waited;
    int ending = 0;
    (void)setpgid(0, 0);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGUSR1, end_group);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGUSR1) != 0 || getppid() != parent) _exit(NOT_STARTED);
    const int reason = spawn_here(words, output, &process);
    if (reason != 0) (void)dprintf(output, "%s", strerror(reason));
    (void)close(output);
    if (reason != 0) _exit(NOT_STARTED);
    do
        waited = waitpid(process, &ending, 0);
    while (waited < 0 && errno == EINTR);
    /* Ends as the program did; what is left of its group ends too. */
    const int number = WIFSIGNALED(ending) ? WTERMSIG(ending) : 0;
    if (getppid() != parent) (void)kill(0, SIGKILL);
    if (number == 0) _exit(WEXITSTATUS(ending));
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    _exit(NOT_STARTED);
}

static int spawn(const char *const *words, int output, pid_t *process) {
    const pid_t parent = getpid();
    *process = fork();
    if (*process == 0) keep_watch(parent, words, output);
    return *process < 0 ? errno : 0;
}

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
    result->output = read_output(pipe_ends[0]);
    close(pipe_ends[0]);
    int ending = 0;
    pid_t waited;
    do
        waited = waitpid(process, &ending, 0);
    while (waited < 0 && errno == EINTR);
    if (waited == process && WIFEXITED(ending)) result->exit_status = WEXITSTATUS(ending);
    if (waited == process && WIFSIGNALED(ending)) result->signal = WTERMSIG(ending);
    kf_status status = KF_OK;
    if (result->signal == SIGINT) status = kf_fail(error, KF_INTERRUPTED, "%s was interrupted", words[0]);
    if (result->exit_status == NOT_STARTED)
        status = kf_fail(error, KF_HOST, "%s cannot be run: %s", words[0], result->output);
    if (status == KF_OK) return KF_OK;
    free(result->output);
    result->output = NULL;
    return status;
}
