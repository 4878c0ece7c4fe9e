/* Signals by who caused them: a process itself, by a fault, or another one that sent them. */
#ifndef KF_BASE_UTIL_SIGNALS_H
#define KF_BASE_UTIL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Returns whether a process can bring this signal upon itself by what it computes. Others that end a process
 * come from another one, from a limit, or from the system, which is short of memory. */
bool kf_signal_is_fault(int number);

/* In a handler: was the signal sent, by whomever, and does not come again when the handler returns? */
bool kf_signal_was_sent(const siginfo_t *information);

/* In a handler: was it sent by another process? abort() and raise() are the process's own. */
bool kf_signal_is_foreign(const siginfo_t *information);

/* In a handler, for a signal that is not what it was installed for: gives the signal to what was there
 * before. */
void kf_signal_pass_on(int number, const siginfo_t *information, const struct sigaction *before);

/* In a child: faults end it from now on, whatever handlers its parent has. */
void kf_signals_let_faults_end(void);

#endif
