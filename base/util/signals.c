#include "base/util/signals.h"

#include <stddef.h>
#include <unistd.h>

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
enum { FAULTS = sizeof faults / sizeof *faults };

bool kf_signal_is_fault(int number) {
    for (int i = 0; i < FAULTS; i++)
        if (faults[i] == number) return true;
    return false;
}

/* Returns whether a process sent a signal. The kernel's own signals have codes above 0 (sigaction(2)). */
bool kf_signal_was_sent(const siginfo_t *information) {
    return information->si_code <= 0;
}

bool kf_signal_is_foreign(const siginfo_t *information) {
    return kf_signal_was_sent(information) && information->si_pid != getpid();
}

void kf_signal_pass_on(int number, const siginfo_t *information, const struct sigaction *before) {
    const bool sent = kf_signal_was_sent(information);
    if (sent && (before->sa_flags & SA_SIGINFO) == 0 && before->sa_handler == SIG_IGN) return;
    (void)sigaction(number, before, NULL);
    /* A fault occurs again by itself. */
    if (sent) (void)raise(number);
}

void kf_signals_let_faults_end(void) {
    for (int i = 0; i < FAULTS; i++)
        (void)signal(faults[i], SIG_DFL);
}
