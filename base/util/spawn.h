/* Other programs: started with their three streams where the caller wants them, read, awaited. */
#ifndef KF_BASE_UTIL_SPAWN_H
#define KF_BASE_UTIL_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct kf_spawn {
    const char *const *words; /* the program, found in $PATH, and its arguments; NULL-terminated */
    const char *input;        /* file that it reads; NULL: /dev/null */
    int output, errors;       /* file descriptors that it writes to; -1: /dev/null */
    char *const *environment; /* NULL: this process's */
} kf_spawn;

/* 0, an errno, or KF_NO_NULL_DEVICE where /dev/null cannot be opened, without which nothing is started. The
 * program has the signals of a fresh one, whatever this one ignores or blocks. */
enum { KF_NO_NULL_DEVICE = -1 };
int kf_spawn_start(const kf_spawn *spawn, pid_t *process);
/* Returns what a failure of kf_spawn_start means, for a message. */
const char *kf_spawn_reason(int failure);
/* This process's environment but for the variables of these names (NULL-terminated), and one more
 * ("NAME=VALUE"; may be NULL). The list is the caller's to free, its texts are not. */
char **kf_spawn_environment(const char *const *without, char *more);
/* How it ended, as of waitpid; -1 when the process is lost. */
int kf_spawn_wait(pid_t process);
/* Reads what comes until the other end is closed, zero-terminated; *length (may be NULL) without the zero.
 * Beyond limit bytes it is not kept; drain: but read, lest the writer ends. The caller frees it. */
char *kf_spawn_read(int input, size_t limit, bool drain, size_t *length);

#endif
