#include "base/util/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/memory.h"

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

static void add_output(posix_spawn_file_actions_t *actions, int from, int to) {
    if (from >= 0)
        posix_spawn_file_actions_adddup2(actions, from, to);
    else
        posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_WRONLY, 0);
}

/* Returns whether /dev/null opens. A sandbox or a new root may lack it. The program to be started is then not
 * at fault. */
static bool null_device_opens(void) {
    const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (file >= 0) (void)close(file);
    return file >= 0 || (errno != ENOENT && errno != EACCES && errno != EPERM);
}

const char *kf_spawn_reason(int failure) {
    return failure == KF_NO_NULL_DEVICE
               ? "/dev/null cannot be opened here, and programs are started with it; mount /dev"
               : strerror(failure);
}

/* Starts a program with the given input, output and environment, and with default signals. Returns 0 or the
 * reason of a failure. */
int kf_spawn_start(const kf_spawn *spawn, pid_t *process) {
    if (!null_device_opens()) return KF_NO_NULL_DEVICE;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
                                     spawn->input != NULL ? spawn->input : "/dev/null", O_RDONLY, 0);
    add_output(&actions, spawn->output, STDOUT_FILENO);
    add_output(&actions, spawn->errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    default_signals(&attributes);
    /* The function exec does not write to the words, although the type allows it (POSIX). */
    const int reason =
        posix_spawnp(process, spawn->words[0], &actions, &attributes, (char *const *)spawn->words,
                     spawn->environment != NULL ? spawn->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static bool is_one_of(const char *variable, const char *const *names) {
    const size_t length = strcspn(variable, "=");
    for (; *names != NULL; names++)
        if (strlen(*names) == length && strncmp(variable, *names, length) == 0) return true;
    return false;
}

char **kf_spawn_environment(const char *const *without, char *more) {
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **variables = kf_allocate((count + 2) * sizeof *variables);
    for (size_t i = 0; i < count; i++)
        if (!is_one_of(environ[i], without)) variables[kept++] = environ[i];
    if (more != NULL) variables[kept++] = more;
    variables[kept] = NULL;
    return variables;
}

int kf_spawn_wait(pid_t process) {
    int ending = 0;
    pid_t waited;
    do
        waited = waitpid(process, &ending, 0);
    while (waited < 0 && errno == EINTR);
    return waited == process ? ending : -1;
}

/* Reads from a pipe until it is closed, and keeps at most `limit` bytes. With `drain` the rest is read and
 * dropped, so that the writer does not end early. */
char *kf_spawn_read(int input, size_t limit, bool drain, size_t *length) {
    enum { PIECE = 1 << 16 };
    char *text = NULL, surplus[4096] = {0};
    size_t kept = 0, capacity = 0;
    for (;;) {
        const bool full = kept == limit;
        if (full && !drain) break;
        if (!full && capacity - kept < PIECE) {
            capacity = 2 * capacity + PIECE + 1;
            text = kf_reallocate(text, capacity);
        }
        size_t room = full ? sizeof surplus : capacity - kept - 1;
        if (!full && room > limit - kept) room = limit - kept;
        const ssize_t got = read(input, full ? surplus : text + kept, room);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (!full) kept += (size_t)got;
    }
    text = kf_reallocate(text, kept + 1);
    text[kept] = '\0';
    if (length != NULL) *length = kept;
    return text;
}
