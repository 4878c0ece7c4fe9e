/* Status codes and error messages used by every module.
 *
 * A function that can fail returns kf_status and takes a kf_error * as its last argument. The values are the
 * program's exit statuses, but for KF_HOST. The message is one line: what was wrong, where (file:line or
 * key), what to do. */
#ifndef KF_BASE_UTIL_STATUS_H
#define KF_BASE_UTIL_STATUS_H

#include <stdarg.h>
#include <stdbool.h>

typedef enum kf_status {
    KF_OK = 0,          /* done */
    KF_GATE_FAILED = 1, /* a regression was found, or a check failed */
    KF_BAD_INPUT = 2,   /* the user's input was wrong */
    KF_MACHINE = 3,     /* the machine could not do it */
    /* The machine could not do it, whatever the config: its disk is full, or its compiler or driver is gone.
     * It ends a run and is stored for no config. The program exits with KF_MACHINE. */
    KF_HOST = 4,
    KF_INTERRUPTED = 130, /* the user pressed Ctrl-C; what was measured is kept */
} kf_status;

/* Returns whether a number that came from elsewhere is one of the statuses. */
static inline bool kf_is_status(int number) {
    return (number >= KF_OK && number <= KF_HOST) || number == KF_INTERRUPTED;
}

typedef struct kf_error {
    kf_status status;
    char message[1024];
} kf_error;

/* Fills *error (which may be NULL) and returns status, so that callers write: return kf_fail(error, ...). */
kf_status kf_fail(kf_error *error, kf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether this errno is a fault of the machine (a full disk, no memory, no more files), and not of
 * the file's name or permissions. */
bool kf_errno_is_machines(int number);
/* Returns KF_HOST where the errno is a fault of the machine, else KF_BAD_INPUT. */
kf_status kf_errno_status(int number);

/* Puts "prefix: " before the message already in *error; keeps its status and returns it. */
kf_status kf_fail_context(kf_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* it cannot see into status.c: tell it that a failure never returns KF_OK */
#define kf_fail(error, status, ...) ((void)kf_fail(error, status, __VA_ARGS__), status)
#define kf_fail_context(error, ...) ((void)kf_fail_context(error, __VA_ARGS__), KF_MACHINE)
#endif

#define KF_TRY(expression)                                                                                   \
    do {                                                                                                     \
        kf_status kf_try_status_ = (expression);                                                             \
        if (kf_try_status_ != KF_OK) return kf_try_status_;                                                  \
    } while (0)

#endif
