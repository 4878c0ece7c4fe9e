#include "base/util/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static kf_log_level current_level = KF_LOG_NORMAL;
static bool progress_shown; /* an unfinished progress line stands on the terminal */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void kf_log_set_level(kf_log_level level) {
    current_level = level;
}

static void write_line(const char *prefix, const char *format, va_list arguments) {
    (void)pthread_mutex_lock(&lock);
    if (progress_shown) (void)fputs("\r\033[K", stderr);
    progress_shown = false;
    (void)fputs(prefix, stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    (void)pthread_mutex_unlock(&lock);
}

void kf_info(const char *format, ...) {
    if (current_level < KF_LOG_NORMAL) return;
    va_list arguments;
    va_start(arguments, format);
    write_line("", format, arguments);
    va_end(arguments);
}

void kf_detail(const char *format, ...) {
    if (current_level < KF_LOG_VERBOSE) return;
    va_list arguments;
    va_start(arguments, format);
    write_line("", format, arguments);
    va_end(arguments);
}

void kf_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line("kftune: warning: ", format, arguments);
    va_end(arguments);
}

/* Cuts the line to the terminal's width (in characters, not bytes), else it could not be rewritten in place.
 */
static void fit_to_terminal(char *line) {
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 2) return;
    int columns = 0;
    for (char *at = line; *at != '\0'; at++) {
        bool starts_character = ((unsigned char)*at & 0xc0) != 0x80;
        if (starts_character && ++columns >= window.ws_col) {
            *at = '\0';
            return;
        }
    }
}

void kf_progress(bool final, const char *format, ...) {
    if (current_level < KF_LOG_NORMAL) return;
    bool terminal = isatty(STDERR_FILENO) == 1;
    if (!terminal && !final) return;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)pthread_mutex_lock(&lock);
    if (terminal && !final) fit_to_terminal(line);
    (void)fprintf(stderr, "%s%s%s", terminal ? "\r\033[K" : "", line, final ? "\n" : "");
    progress_shown = terminal && !final;
    (void)pthread_mutex_unlock(&lock);
}
