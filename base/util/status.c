#include "base/util/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Makes a message one line. A quoted name, for example from a file, may contain line breaks. */
static void make_one_line(char *message) {
    for (char *c = message; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
}

kf_status(kf_fail)(kf_error *error, kf_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        make_one_line(error->message);
    }
    return status;
}

bool kf_errno_is_machines(int number) {
    static const int numbers[] = {ENOSPC, EDQUOT, EIO,    EFBIG,   EMFILE,
                                  ENFILE, ENOMEM, EAGAIN, ENOBUFS, ENOLCK};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number) return true;
    return false;
}

kf_status kf_errno_status(int number) {
    return kf_errno_is_machines(number) ? KF_HOST : KF_BAD_INPUT;
}

kf_status(kf_fail_context)(kf_error *error, const char *format, ...) {
    if (error == NULL) return KF_MACHINE;
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    make_one_line(message);
    if (used >= 0 && (size_t)used < sizeof message)
        (void)snprintf(message + used, sizeof message - (size_t)used, ": %.*s",
                       (int)(sizeof message - (size_t)used - 3), error->message);
    memcpy(error->message, message, sizeof message);
    return error->status;
}
