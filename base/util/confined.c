#include "base/util/confined.h"

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

#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"

/* The child sends this before the parts. Both ends are the same program, so it travels as it is. */
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

static bool write_all(int out, const void *data, size_t size) {
    for (const char *at = data; size > 0;) {
        const ssize_t written = write(out, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KF_SHADOWED 1 /* a sanitizer needs terabytes of address space for itself */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KF_SHADOWED 1
#endif
#endif

/* The address space of this process now, in bytes. */
static size_t address_space(void) {
    FILE *stream = fopen("/proc/self/statm", "re");
    size_t pages = 0;
    if (stream == NULL) return 0;
    if (fscanf(stream, "%zu", &pages) != 1) pages = 0;
    (void)fclose(stream);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Confines the child before it works: limits of memory and time, no output, no core file, and death by its
 * own faults. */
static void confine(const kf_confinement *limits) {
    static const int deadly[] = {SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        (void)signal(deadly[i], SIG_DFL);
    (void)signal(SIGINT, SIG_IGN);  /* it is the parent that is interrupted, and ends this process */
    (void)signal(SIGPIPE, SIG_IGN); /* the parent takes no answer that is too long */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){limits->cpu_seconds, limits->cpu_seconds + 1});
#ifndef KF_SHADOWED
    const size_t most = address_space() + limits->memory_bytes;
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
    /* The parent may have been killed between fork and prctl. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    confine(limits);
    kf_answer answer = {0};
    answer_head head = {.status = KF_OK};
    head.status = work(context, &answer, &head.error);
    memcpy(head.bytes, answer.bytes, sizeof head.bytes);
    bool sent = write_all(out, &head, sizeof head);
    for (int i = 0; i < KF_ANSWER_PARTS && sent; i++)
        sent = write_all(out, answer.part[i], answer.bytes[i]);
    _exit(sent ? 0 : 1); /* not exit(): what the parent registered and has not yet written is the parent's */
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

static bool receive(int in, size_t most, answer_head *head, kf_answer *answer) {
    if (!read_all(in, head, sizeof *head)) return false;
    head->error.message[sizeof head->error.message - 1] = '\0';
    for (int i = 0; i < KF_ANSWER_PARTS; i++) {
        if (head->bytes[i] > most) return false;
        answer->bytes[i] = head->bytes[i];
        if (head->bytes[i] > 0) answer->part[i] = kf_allocate(head->bytes[i]);
        if (!read_all(in, answer->part[i], head->bytes[i])) return false;
    }
    return true;
}

static kf_status explain(const char *name, const kf_confinement *limits, int ending, kf_error *error) {
    char memory[32];
    const int ended_by = WIFSIGNALED(ending) ? WTERMSIG(ending) : 0;
    if (ended_by == SIGXCPU)
        return kf_fail(error, KF_BAD_INPUT, "%s: reading it takes more than %u s; is the file damaged?", name,
                       limits->cpu_seconds);
    if (ended_by == 0 || ended_by == SIGKILL) /* kf_allocate exits; the system kills */
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: reading it takes more than %s of memory; is the file damaged?", name,
                       kf_human_bytes((double)limits->memory_bytes, memory));
    return kf_fail(error, KF_BAD_INPUT, "%s: the library that reads it crashed (%s); is the file damaged?",
                   name, strsignal(ended_by));
}

static kf_status take(const char *name, const kf_confinement *limits, pid_t child, int in, kf_answer *answer,
                      kf_error *error) {
    answer_head head = {.status = KF_OK};
    const bool whole = receive(in, limits->memory_bytes, &head, answer);
    int ending = 0;
    if (kf_interrupted) (void)kill(child, SIGKILL);
    (void)close(in);
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR)
        continue;
    kf_status status = KF_OK;
    if (kf_interrupted)
        status = kf_fail(error, KF_INTERRUPTED, "interrupted while %s was read", name);
    else if (!whole)
        status = explain(name, limits, ending, error);
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
    (void)fflush(NULL); /* or both processes would write what is buffered now */
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
