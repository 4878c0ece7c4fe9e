#include "harness/worker/await.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/program.h"
#include "harness/worker/child.h"

enum { LONGEST_OUTPUT = 64 << 20, PATIENCE_SECONDS = 10, NOT_FOUND = 127 };

/* A pipe from the process, and the buffer for its content. */
typedef struct outlet {
    int read, write;
    kf_text *text;
} outlet;

static kf_status open_outlet(outlet *out, kf_text *text, kf_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "cannot make a pipe for a process: %s", strerror(errno));
    *out = (outlet){.read = ends[0], .write = ends[1], .text = text};
    return KF_OK;
}

static void close_outlet(outlet *out) {
    (void)close(out->read);
    if (out->write >= 0) (void)close(out->write);
}

/* Tells the parent, from the child, why the machine cannot start the program. */
static _Noreturn void give_up(int told) {
    const int reason = errno;
    _exit(write(told, &reason, sizeof reason) == sizeof reason ? KF_MACHINE : KF_HOST);
}

/* Sets environment variables. Returns false, with errno, if memory is lacking. */
static bool set_variables(const char *const *pairs) {
    for (; pairs != NULL && *pairs != NULL; pairs++) {
        const char *equals = strchr(*pairs, '=');
        if (equals == NULL) continue;
        char *name = strndup(*pairs, (size_t)(equals - *pairs));
        if (name == NULL || setenv(name, equals + 1, 1) != 0) return false;
        free(name);
    }
    return true;
}

/* Replaces the child by the wanted program, after setting its streams, environment and folder. Errors of the
 * program or its folder go to its stderr, lacks of the machine to the parent. */
static _Noreturn void become(const kf_await_request *request, const outlet *out, const outlet *err,
                             int told) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out->write, 1) < 0 || dup2(err->write, 2) < 0 ||
        !set_variables(request->environment))
        give_up(told);
    if (request->folder != NULL && chdir(request->folder) != 0) {
        (void)fprintf(stderr, "%s: cannot be worked in: %s\n", request->folder, strerror(errno));
        _exit(NOT_FOUND);
    }
    (void)execvp(request->words[0], (char *const *)request->words);
    if (kf_errno_is_machines(errno)) give_up(told);
    (void)fprintf(stderr, "%s: cannot be started: %s\n", request->words[0], strerror(errno));
    _exit(NOT_FOUND);
}

/* Returns the reason why the machine could not start the program, as the child reports it; 0: it was started.
 */
static int reason_told(int told) {
    int reason = 0;
    ssize_t size;
    do
        size = read(told, &reason, sizeof reason);
    while (size < 0 && errno == EINTR);
    return size == sizeof reason ? reason : 0;
}

/* Reads the available content. Returns false at its end. */
static bool collect(outlet *out) {
    char bytes[4097];
    ssize_t size = read(out->read, bytes, sizeof bytes - 1);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    if (size == 0 || out->text->length > LONGEST_OUTPUT) return false;
    bytes[size] = '\0';
    kf_text_append(out->text, "%s", bytes);
    return true;
}

/* Collects until both pipes are closed. Returns false if the time is over, or after Ctrl-C. */
static bool collect_both(outlet *out, outlet *err, double deadline) {
    struct pollfd waiting[] = {{.fd = out->read, .events = POLLIN}, {.fd = err->read, .events = POLLIN}};
    outlet *const outlets[] = {out, err};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        if (kf_interrupted || kf_clock_seconds() > deadline) return false;
        if (poll(waiting, 2, 100) < 0) continue;
        for (int i = 0; i < 2; i++)
            if (waiting[i].fd >= 0 && waiting[i].revents != 0 && !collect(outlets[i])) waiting[i].fd = -1;
    }
    return true;
}

static kf_status start(const kf_await_request *request, outlet *out, outlet *err, kf_awaited *spawned,
                       kf_error *error) {
    double begun = kf_clock_seconds();
    int told[2]; /* closed when the program begins */
    if (pipe2(told, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "cannot make a pipe for a process: %s", strerror(errno));
    pid_t child = kf_child_fork(error);
    if (child == 0) become(request, out, err, told[1]);
    (void)close(told[1]);
    const int reason = child < 0 ? 0 : reason_told(told[0]);
    (void)close(told[0]);
    if (child < 0) return KF_MACHINE;
    (void)close(out->write);
    (void)close(err->write);
    out->write = err->write = -1;
    if (reason != 0) {
        kf_child_end(child, PATIENCE_SECONDS, &spawned->status);
        return kf_fail(error, KF_HOST, "%s: cannot be started: %s", request->words[0], strerror(reason));
    }
    spawned->ended = collect_both(out, err, begun + request->limit_seconds);
    spawned->seconds = kf_clock_seconds() - begun;
    kf_child_end(child, spawned->ended ? PATIENCE_SECONDS : 0.0, &spawned->status);
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted; what was measured is kept");
    return KF_OK;
}

kf_status kf_await(const kf_await_request *request, kf_awaited *spawned, kf_error *error) {
    memset(spawned, 0, sizeof *spawned);
    outlet out, err;
    KF_TRY(open_outlet(&out, &spawned->out, error));
    kf_status status = open_outlet(&err, &spawned->err, error);
    if (status == KF_OK) {
        status = start(request, &out, &err, spawned, error);
        close_outlet(&err);
    }
    close_outlet(&out);
    return status;
}

void kf_awaited_free(kf_awaited *spawned) {
    kf_text_free(&spawned->out);
    kf_text_free(&spawned->err);
}

/* Finds the error message of a failed program: its last line on stderr, otherwise how it ended. */
const char *kf_awaited_complaint(const kf_awaited *spawned, char *buffer, size_t size) {
    const char *text = spawned->err.text != NULL ? spawned->err.text : "";
    size_t length = spawned->err.length;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    size_t begin = length;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    if (length > begin)
        (void)snprintf(buffer, size, "%.*s", (int)(length - begin < size ? length - begin : size - 1),
                       text + begin);
    else if (WIFSIGNALED(spawned->status))
        (void)snprintf(buffer, size, "the process was ended by signal %d (%s)", WTERMSIG(spawned->status),
                       strsignal(WTERMSIG(spawned->status)));
    else
        (void)snprintf(buffer, size, "the process ended with status %d and said nothing",
                       WEXITSTATUS(spawned->status));
    return buffer;
}
