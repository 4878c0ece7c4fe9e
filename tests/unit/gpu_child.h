/* Runs a test on a GPU in a forked child, because the test program itself opens no device. */
#ifndef KF_TESTS_UNIT_GPU_CHILD_H
#define KF_TESTS_UNIT_GPU_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"

/* In the child cmocka's assertions would carry on as a second copy of the test program. The program has an
 * error `problem`, of the child's last call that failed. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: not true: %s; last error: %s\n", __FILE__, __LINE__, #condition,   \
                          problem.message);                                                                  \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)
#define WORKS(call) CHECK((call) == KF_OK)

static inline void need_gpu(void) {
    char why[512] = "";
    if (kf_cuda_device_count(why, sizeof why) > 0) return;
    print_message("%s\n", why);
    skip();
}

/* Lets a child run the test by `run`, which opens the device and ends like any program, through the driver's
 * exit handlers. */
static inline void run_in_child(void (*run)(void (*test)(void)), void (*test)(void)) {
    need_gpu();
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handler would carry on with the tests */
        run(test);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
