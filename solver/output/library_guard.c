#include "solver/output/library_guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/file.h"
#include "base/util/signals.h"
#include "base/util/status.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof *signals, STACK_BYTES = 1 << 16 };

static struct {
    volatile sig_atomic_t active;
    bool at_exit;
    char line[KF_PATH + 256];
    struct sigaction before[SIGNALS];
    stack_t stack_before;
    /* The stack of the handler, because the library may have used up that of the thread. */
    char stack[STACK_BYTES];
} guard;

/* Ends the process with calls that a signal handler may make. */
static _Noreturn void end(void) {
    (void)kf_write_all(STDERR_FILENO, guard.line, strlen(guard.line));
    _exit(KF_MACHINE);
}

/* Handles a fault. A signal from another process is not a fault of the library. */
static void on_signal(int number, siginfo_t *information, void *context) {
    (void)context;
    if (!kf_signal_is_foreign(information)) end();
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number) kf_signal_pass_on(number, information, &guard.before[i]);
}

static void on_exit_called(void) {
    if (guard.active) end();
}

/* Prepares the line that is printed if the library ends the program or crashes, because inside a signal
 * handler nothing can be formatted. */
void kf_library_guard_begin(const char *file, const char *library, const char *advice) {
    (void)snprintf(
        guard.line, sizeof guard.line,
        "kftune: %s: the %s library broke off at this file, as it does without memory; free some, and %s",
        file, library, advice);
    kf_clean_text(guard.line);
    (void)strncat(guard.line, "\n", sizeof guard.line - strlen(guard.line) - 1);
    if (!guard.at_exit) guard.at_exit = atexit(on_exit_called) == 0;
    const stack_t stack = {.ss_sp = guard.stack, .ss_size = sizeof guard.stack};
    (void)sigaltstack(&stack, &guard.stack_before);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &action, &guard.before[i]);
    guard.active = 1;
}

void kf_library_guard_end(void) {
    guard.active = 0;
    for (int i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &guard.before[i], NULL);
    (void)sigaltstack(&guard.stack_before, NULL);
}
