#include "base/util/confined.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/signals.h"
#include "base/util/text.h"

/* The header that the child sends before the parts. Both processes run the same program, so no conversion is
 * needed. */
typedef struct answer_head {
    kf_status status;
    kf_error error;
    size_t bytes[KF_ANSWER_PARTS];
} answer_head;

void kf_answer_free(kf_answer *answer) {
    for (int i = 0; i < KF_ANSWER_PARTS; i++)
        free(answer->part[i]);
    memset(answer, 0, sizeof *answer);
}

/* --- In the child --------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer needs terabytes of address space. */
#define KF_SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KF_SHADOWED 1
#endif
#endif

/* Returns the address space of this process in bytes; 0: unknown. It allocates nothing, because it is also
 * called without free memory. */
static size_t address_space(void) {
    char text[64] = "";
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t got = read(file, text, sizeof text - 1);
    (void)close(file);
    return got <= 0 ? 0 : strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Exit codes of a child without an answer: its memory ran out, at its own limit or below it, or another
 * process has ended it. */
enum { AT_ITS_LIMIT = 10, BELOW_ITS_LIMIT = 11, ENDED_BY_OTHERS = 12 };

/* The child's limit; 0: it has none. */
static size_t most_space;

/* Ends the child when an allocation fails. The allocator requests more from the system than the caller
 * requested from it. */
static void leave_without_memory(size_t bytes) {
    static const size_t slack = (size_t)2 << 20;
    const size_t now = address_space();
    const bool known = now > 0 && most_space > 0;
    _exit(known && (bytes > most_space || now + bytes + slack > most_space) ? AT_ITS_LIMIT : BELOW_ITS_LIMIT);
}

/* Ends the child when C++ has no memory. C++ does not say how much it requested. */
static void leave_without_objects(void) {
    leave_without_memory(most_space / 2);
}

/* Ends the child after a fault. A library that goes on without memory can cause one. */
static void leave_by_fault(int number, siginfo_t *information, void *context) {
    (void)context;
    if (kf_signal_is_foreign(information)) _exit(ENDED_BY_OTHERS);
    if (errno == ENOMEM && (number == SIGSEGV || number == SIGABRT)) leave_without_objects();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* Has libraries in C++ end the child when they have no memory, before they give some other reason. */
static void watch_objects(void) {
    void (*(*set_handler)(void (*)(void)))(void) = NULL;
    void *const found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE"); /* std::set_new_handler */
    memcpy(&set_handler, &found, sizeof set_handler);
    if (set_handler != NULL) (void)set_handler(leave_without_objects);
}

/* Confines the child before it works: limits of memory and time, no output, no core file, and death by its
 * own faults. */
static void confine(const kf_confinement *limits) {
    static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_sigaction = leave_by_fault, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)sigaction(faults[i], &action, NULL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGXCPU, SIG_DFL);
    /* The parent receives the interrupt, and ends this process. */
    (void)signal(SIGINT, SIG_IGN);
    /* The parent does not read an answer that is too long. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifdef KF_SHADOWED
    /* Instrumented code is slower by about this factor. */
    const unsigned seconds = 5 * limits->cpu_seconds;
#else
    const unsigned seconds = limits->cpu_seconds;
#endif
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
#ifndef KF_SHADOWED
    const size_t now = address_space();
    const size_t most = now + limits->memory_bytes;
    most_space = now > 0 ? most : 0;
    (void)setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) (void)dup2(nowhere, STDERR_FILENO);
#else
    (void)address_space;
#endif
}

static _Noreturn void work_and_leave(pid_t parent, const kf_confinement *limits, kf_confined_work *work,
                                     const void *context, int out) {
    /* The parent may have ended between fork and prctl. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    confine(limits);
    kf_on_out_of_memory(leave_without_memory);
    watch_objects();
    errno = 0;
    kf_answer answer = {0};
    answer_head head = {.status = KF_OK};
    head.status = work(context, &answer, &head.error);
    memcpy(head.bytes, answer.bytes, sizeof head.bytes);
    bool sent = kf_write_all(out, &head, sizeof head);
    for (int i = 0; i < KF_ANSWER_PARTS && sent; i++)
        sent = kf_write_all(out, answer.part[i], answer.bytes[i]);
    /* Exit() would write data that the parent has registered and not yet written. */
    _exit(sent ? 0 : 1);
}

/* --- In the parent -------------------------------------------------------------------------------------- */

static bool read_all(int in, void *data, size_t size) {
    for (char *at = data; size > 0;) {
        const ssize_t got = read(in, at, size);
        if (got < 0 && errno == EINTR && !kf_interrupted) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool receive(int in, size_t most, answer_head *head, kf_answer *answer, bool *too_long) {
    *too_long = false;
    if (!read_all(in, head, sizeof *head)) return false;
    head->error.message[sizeof head->error.message - 1] = '\0';
    for (int i = 0; i < KF_ANSWER_PARTS; i++) {
        *too_long = head->bytes[i] > most;
        if (*too_long) return false;
        answer->bytes[i] = head->bytes[i];
        if (head->bytes[i] > 0) answer->part[i] = kf_allocate(head->bytes[i]);
        if (!read_all(in, answer->part[i], head->bytes[i])) return false;
    }
    return true;
}

static kf_status explain(const char *name, const kf_confinement *limits, bool too_long, int ending,
                         kf_error *error) {
    char memory[32];
    const int ended_by = WIFSIGNALED(ending) ? WTERMSIG(ending) : 0;
    if (ended_by == SIGXCPU)
        return kf_fail(error, KF_BAD_INPUT, "%s: reading did not end within %u s; is the file damaged?", name,
                       limits->cpu_seconds);
    if (!too_long && (ended_by == SIGKILL || (ended_by == 0 && WEXITSTATUS(ending) == BELOW_ITS_LIMIT)))
        return kf_fail(error, KF_HOST,
                       "%s: memory ran out while it was read; free some, or read it on another machine",
                       name);
    if (!too_long && ((ended_by != 0 && !kf_signal_is_fault(ended_by)) ||
                      (ended_by == 0 && WEXITSTATUS(ending) == ENDED_BY_OTHERS)))
        return kf_fail(error, KF_HOST, "%s: another process has ended the one that reads it; read it again",
                       name);
    if (!too_long && ended_by == 0 && WEXITSTATUS(ending) != AT_ITS_LIMIT)
        return kf_fail(error, KF_HOST, "%s: the process that reads it could not answer", name);
    if (too_long || ended_by == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: reading it takes more than %s of memory; is the file damaged?", name,
                       kf_human_bytes((double)limits->memory_bytes, memory));
    return kf_fail(error, KF_BAD_INPUT, "%s: the library that reads it crashed (%s); is the file damaged?",
                   name, strsignal(ended_by));
}

static kf_status take(const char *name, const kf_confinement *limits, pid_t child, int in, kf_answer *answer,
                      kf_error *error) {
    answer_head head = {.status = KF_OK};
    bool too_long = false;
    const bool whole = receive(in, limits->memory_bytes, &head, answer, &too_long);
    int ending = 0;
    if (kf_interrupted) (void)kill(child, SIGKILL);
    (void)close(in);
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR)
        continue;
    kf_status status = KF_OK;
    if (kf_interrupted)
        status = kf_fail(error, KF_INTERRUPTED, "interrupted while %s was read", name);
    else if (!whole)
        status = explain(name, limits, too_long, ending, error);
    else if (head.status != KF_OK)
        status = kf_fail(error, head.status, "%s", head.error.message);
    if (status != KF_OK) kf_answer_free(answer);
    return status;
}

kf_status kf_confined_run(const char *name, const kf_confinement *limits, kf_confined_work *work,
                          const void *context, kf_answer *answer, kf_error *error) {
    int ends[2];
    memset(answer, 0, sizeof *answer);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "%s: cannot make a pipe: %s", name, strerror(errno));
    /* Otherwise both processes would write the data that is buffered now. */
    (void)fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        work_and_leave(parent, limits, work, context, ends[1]);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return kf_fail(error, KF_MACHINE, "%s: cannot start a process: %s", name, strerror(errno));
    }
    return take(name, limits, child, ends[0], answer, error);
}
