/* Tests libraries that abort when memory is short. Faults: the program ends by a signal instead of one
 * line and the machine's status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/util/status.h"
#include "solver/output/library_guard.h"
#include "tests/unit/caught_child.h"

static void follow_null(void) {
    (void)raise(SIGSEGV);
}

/* The compiler must not see that this never ends, nor make a loop of it. */
static volatile int deep = 1;
static int recurse(int level) {
    volatile char room[4096];
    room[0] = (char)level;
    return deep ? recurse(level + 1) + room[0] : 0;
}
static void use_up_the_stack(void) {
    (void)recurse(0);
}

static void call_exit(void) {
    exit(255);
}

static void do_nothing(void) {}

/* Does this in a child, inside of the guard or behind it. Returns the status, or -1 after a signal. */
static int end_of(void (*fault)(void), bool inside, char said[512]) {
    const caught_child child = fork_caught(STDERR_FILENO);
    if (child.process == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGSEGV, SIG_DFL);
        kf_library_guard_begin("a.vtkhdf", "HDF5", "try again");
        if (inside) fault();
        kf_library_guard_end();
        fault();
        _exit(0);
    }
    const int ended = end_caught(child, said, 512);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

static void test_a_library_that_breaks_off(void **state) {
    (void)state;
    static void (*const faults[])(void) = {follow_null, use_up_the_stack, call_exit, abort};
    char said[512];
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(end_of(faults[i], true, said), KF_MACHINE);
        assert_non_null(strstr(said, "kftune: a.vtkhdf: the HDF5 library broke off at this file"));
        assert_non_null(strstr(said, "free some, and try again\n"));
    }
    assert_int_equal(end_of(do_nothing, true, said), 0);
    assert_int_equal(end_of(call_exit, false, said), 255);
    assert_int_equal(end_of(follow_null, false, said), -1);
    assert_string_equal(said, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_library_that_breaks_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
