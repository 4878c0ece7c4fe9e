/* Tests diagnostics where stderr is no terminal. Faults: a line that comes late or twice, or a long run
 * without a sign of life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "base/util/log.h"
#include "base/util/status.h"
#include "tests/unit/caught_child.h"

static void wait_for(double seconds) {
    const struct timespec span = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&span, NULL);
}

/* Reads what a process that works for a while writes to stderr. */
static void run_process(void (*work)(void), char *text, size_t size) {
    const caught_child child = fork_caught(STDERR_FILENO);
    if (child.process == 0) {
        work();
        _exit(0);
    }
    const int status = end_caught(child, text, size);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void report_without_signs(void) {
    kf_info("begins");
    kf_progress(false, "step 1 of 9");
    wait_for(0.2);
    kf_progress(true, "9 steps");
}

static void report_with_signs(void) {
    kf_log_give_signs(0.1);
    kf_progress(false, "step %d of 9", 1);
    wait_for(0.5);
    kf_progress(true, "9 steps");
    wait_for(0.3);
}

static void report_quietly(void) {
    kf_log_set_level(KF_LOG_QUIET);
    kf_log_give_signs(0.05);
    kf_progress(false, "step 1 of 9");
    wait_for(0.2);
}

static kf_log_level level;
static void report_everything(void) {
    kf_log_set_level(level);
    kf_detail("a detail");
    kf_info("a fact");
    kf_progress(true, "9 steps");
    kf_warn("a doubt");
}

/* A process that is forked while signs of life are printed may itself write. */
static void report_from_a_fork(void) {
    kf_log_give_signs(0.001);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();
        if (child == 0) {
            kf_info("child");
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
}

static int count(const char *text, const char *part) {
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        found++;
    return found;
}

static void test_only_what_is_final_is_printed(void **state) {
    (void)state;
    char text[1024];
    run_process(report_without_signs, text, sizeof text);
    assert_string_equal(text, "begins\n9 steps\n");
}

static void test_signs_of_life(void **state) {
    (void)state;
    char text[1024];
    run_process(report_with_signs, text, sizeof text);
    assert_true(count(text, "   step 1 of 9\n") >= 2);
    assert_int_equal(count(text, "9 steps\n"), 1);
    assert_true(count(text, "   still at work\n") >= 1);
    run_process(report_quietly, text, sizeof text);
    assert_string_equal(text, "");
}

/* Each level prints this of each kind of line. */
static void test_each_level_prints_its_lines(void **state) {
    (void)state;
    static const char *const said[] = {
        [KF_LOG_QUIET] = "kftune: warning: a doubt\n",
        [KF_LOG_NORMAL] = "a fact\n9 steps\nkftune: warning: a doubt\n",
        [KF_LOG_VERBOSE] = "a detail\na fact\n9 steps\nkftune: warning: a doubt\n",
    };
    for (level = KF_LOG_QUIET; level <= KF_LOG_VERBOSE; level++) {
        char text[1024];
        run_process(report_everything, text, sizeof text);
        assert_string_equal(text, said[level]);
    }
}

static void test_a_fork_may_write(void **state) {
    (void)state;
    static char text[1 << 16];
    run_process(report_from_a_fork, text, sizeof text);
    assert_int_equal(count(text, "child"), 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_is_final_is_printed),
        cmocka_unit_test(test_signs_of_life),
        cmocka_unit_test(test_each_level_prints_its_lines),
        cmocka_unit_test(test_a_fork_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
