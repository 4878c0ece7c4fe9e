#include "base/util/log.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/clock.h"
#include "base/util/locale.h"
#include "base/util/text.h"

static kf_log_level current_level = KF_LOG_NORMAL;
/* The terminal shows an unfinished line of progress. */
static bool progress_shown;
/* The last line of progress that was not printed. */
static char progress[1024];
/* The time of the last line. */
static double printed_at;
/* After this many seconds without a line a sign of life is printed. */
static double sign_interval;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*to)(const char *line); /* NULL: stderr */
/* The name before each line, with its separator; "" if this process writes alone. */
static char who[64];

void kf_log_set_level(kf_log_level level) {
    current_level = level;
}

void kf_log_to(void (*sink)(const char *line)) {
    to = sink;
}

void kf_log_as(const char *name) {
    (void)snprintf(who, sizeof who, "%.60s: ", name);
    kf_clean_text(who);
}

/* Escapes in what it quotes must not reach the terminal. */
static void write_line(const char *prefix, const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) return;
    kf_clean_text(text);
    if (to != NULL) {
        to(text);
        free(text);
        return;
    }
    (void)pthread_mutex_lock(&lock);
    if (progress_shown) (void)fputs("\r\033[K", stderr);
    progress_shown = false;
    (void)fprintf(stderr, "%s%s%s\n", who, prefix, text);
    printed_at = kf_clock_seconds();
    (void)pthread_mutex_unlock(&lock);
    free(text);
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

/* Shows progress in one line of the terminal, in place of the previous one. final: the line stays; without a
 * terminal it is printed. */
void kf_progress(bool final, const char *format, ...) {
    if (current_level < KF_LOG_NORMAL) return;
    const bool terminal = isatty(STDERR_FILENO) == 1;
    char line[sizeof progress];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    kf_clean_text(line);
    va_end(arguments);
    if (to != NULL) {
        if (final) to(line);
        return;
    }
    if (who[0] != '\0' && !final) return;
    (void)pthread_mutex_lock(&lock);
    if (terminal && !final) fit_to_terminal(line);
    if (terminal || final)
        (void)fprintf(stderr, "%s%s%s%s", terminal ? "\r\033[K" : "", who, line, final ? "\n" : "");
    progress_shown = terminal && !final;
    kf_copy_text(progress, sizeof progress, final ? "" : line);
    if (final) printed_at = kf_clock_seconds();
    (void)pthread_mutex_unlock(&lock);
}

/* Seconds until the next one is due. */
static double give_sign(double started) {
    (void)pthread_mutex_lock(&lock);
    const double now = kf_clock_seconds();
    if (now >= printed_at + sign_interval) {
        (void)fprintf(stderr, "%.0f s   %s\n", now - started,
                      progress[0] != '\0' ? progress : "still at work");
        printed_at = now;
    }
    const double due = printed_at + sign_interval - now;
    (void)pthread_mutex_unlock(&lock);
    return due;
}

static void *give_signs(void *begun) {
    sigset_t all;
    /* Ctrl-C is for the threads that wait. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    (void)sem_post(begun);
    const double started = kf_clock_seconds();
    for (;;) {
        const double wait = give_sign(started);
        const struct timespec span = {(time_t)wait, (long)(1e9 * (wait - (double)(time_t)wait))};
        (void)nanosleep(&span, NULL);
    }
    return NULL;
}

static void take_lock(void) {
    (void)pthread_mutex_lock(&lock);
}

static void leave_lock(void) {
    (void)pthread_mutex_unlock(&lock);
}

/* Starts the thread of signs of life. A forked process must not inherit a lock that this thread holds, or one
 * that an allocator takes while the thread starts. */
void kf_log_give_signs(double seconds) {
    if (current_level < KF_LOG_NORMAL || isatty(STDERR_FILENO) == 1 || sign_interval > 0.0) return;
    sign_interval = seconds;
    printed_at = kf_clock_seconds();
    static sem_t begun;
    pthread_t thread;
    if (sem_init(&begun, 0, 0) != 0 || pthread_atfork(take_lock, leave_lock, leave_lock) != 0 ||
        kf_thread_start(&thread, give_signs, &begun) != 0)
        return;
    (void)pthread_detach(thread);
    while (sem_wait(&begun) != 0 && errno == EINTR)
        continue;
}
