/* Starts other programs with their three streams where the caller wants them, reads from them and waits for
 * them. */
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

/* Starts the program. Returns 0, an errno, or KF_NO_NULL_DEVICE if /dev/null cannot be opened; then nothing
 * is started. The program starts with default signal handling, whatever this process ignores or blocks. */
enum { KF_NO_NULL_DEVICE = -1 };
int kf_spawn_start(const kf_spawn *spawn, pid_t *process);
/* Returns the meaning of a failure of kf_spawn_start, for a message. */
const char *kf_spawn_reason(int failure);
/* Returns this process's environment without the variables of these names (NULL-terminated), and with one
 * more ("NAME=VALUE"; may be NULL). The caller frees the list, but not its texts. */
char **kf_spawn_environment(const char *const *without, char *more);
/* Waits for the process and returns its status as waitpid gives it; -1 if the process is lost. */
int kf_spawn_wait(pid_t process);
/* Reads until the other end is closed, and returns the bytes with a terminating zero, which the caller frees.
 * *length (length may be NULL) does not count the zero. Bytes beyond limit are not kept. drain: they are read
 * nevertheless, so that the writer can end. */
char *kf_spawn_read(int input, size_t limit, bool drain, size_t *length);

#endif
