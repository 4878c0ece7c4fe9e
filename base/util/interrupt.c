/* Handles Ctrl-C, a lost connection, and the warnings of batch systems by a flag that long loops read. */
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/util/program.h"

volatile int kf_interrupted = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    kf_interrupted = 1;
}

/* The signals. Those that people send end the program the second time. Batch systems repeat theirs while the
 * checkpoint is still being written; the kernel sends SIGXCPU every second. When SIGXFSZ is caught, write
 * also refuses a file that is too large. */
static const struct {
    int number;
    /* If stays_ignored is set, the signal stays ignored when it was ignored at the start, as by nohup. */
    bool second_ends, stays_ignored;
} caught[] = {{SIGINT, true, false},  {SIGTERM, true, false}, {SIGHUP, true, true},  {SIGUSR1, false, true},
              {SIGUSR2, false, true}, {SIGXCPU, false, true}, {SIGXFSZ, false, true}};

void kf_catch_interrupts(void) {
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) {
        struct sigaction action, before;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        /* SA_RESTART is not set, so waiting calls return. */
        action.sa_flags = caught[i].second_ends ? (int)SA_RESETHAND : 0;
        (void)sigemptyset(&action.sa_mask);
        if (caught[i].stays_ignored && sigaction(caught[i].number, NULL, &before) == 0 &&
            before.sa_handler == SIG_IGN)
            continue;
        (void)sigaction(caught[i].number, &action, NULL);
    }
}
