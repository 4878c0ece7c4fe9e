/* Ctrl-C, SIGTERM and a lost connection: a flag that long loops look at. */
#include <signal.h>
#include <string.h>

#include "base/util/program.h"

volatile int kf_interrupted = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    kf_interrupted = 1;
}

void kf_catch_interrupts(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    /* Reset after the first, so that a second Ctrl-C ends a program that does not come to an end by itself;
     * no SA_RESTART, so that waiting calls return. */
    action.sa_flags = (int)SA_RESETHAND;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGHUP, &action, NULL);
}
