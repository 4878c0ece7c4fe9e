/* Tests signals that another process sends. Faults: a config, kernel, file or library is blamed, or the
 * process does not end at the first one. */
#include "tests/unit/scale_kernel.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/confined.h"
#include "base/util/file.h"
#include "solver/output/library_guard.h"
#include "tests/unit/caught_child.h"

enum { OF_HOST = 42, GOES_ON = 43 };

/* Sends a signal to the calling process from another one. */
static void be_sent(int number) {
    const pid_t here = getpid(), other = fork();
    if (other == 0) _exit(kill(here, number) == 0 ? 0 : 1);
    (void)waitpid(other, NULL, 0);
}

static void leave(int number) {
    (void)number;
    _exit(OF_HOST);
}

/* Calls `begin` in a child and then sends it the signal. Returns the signal that ended it, or else minus
 * its status. `handler` is the program's earlier handler of the signal. */
static int ending(void (*begin)(void), int number, void (*handler)(int), char said[512]) {
    const caught_child child = fork_caught(STDERR_FILENO);
    if (child.process == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(number, handler);
        begin();
        be_sent(number);
        _exit(GOES_ON);
    }
    const int status = end_caught(child, said, 512);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void keep_a_partial_buffer(void) {
    const size_t kept[1][2] = {{1 << 16, 1 << 17}};
    kf_buffer *buffer = NULL;
    kf_error error = {0};
    if (kf_buffer_partial(open_cpu(), 1 << 20, 1 << 20, kept, 1, &buffer, &error) != KF_OK) _exit(90);
}

static void guard_a_file(void) {
    kf_file_guard("/a/checkpoint");
}

static void guard_two_files(void) {
    kf_file_guard("/a/checkpoint");
    kf_file_guard("/a/second");
    kf_file_guard(NULL);
}

static void guard_a_library(void) {
    kf_library_guard_begin("a.vtkhdf", "HDF5", "try again");
}

static void test_the_first_signal_ends_the_process(void **state) {
    (void)state;
    static const struct {
        const char *name;
        void (*begin)(void);
        int number;
    } cases[] = {{"a partial buffer", keep_a_partial_buffer, SIGSEGV},
                 {"a mapped file", guard_a_file, SIGBUS},
                 {"a mapped file no more", guard_two_files, SIGBUS},
                 {"a library", guard_a_library, SIGSEGV},
                 {"a library", guard_a_library, SIGBUS},
                 {"a library", guard_a_library, SIGABRT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[512];
        const int by_default = ending(cases[i].begin, cases[i].number, SIG_DFL, said);
        if (by_default != cases[i].number || said[0] != '\0')
            fail_msg("%s: signal %d leads to %d and '%s'", cases[i].name, cases[i].number, by_default, said);
        const int by_host = ending(cases[i].begin, cases[i].number, leave, said);
        if (by_host != -OF_HOST || said[0] != '\0')
            fail_msg("%s: with a handler before, signal %d leads to %d and '%s'", cases[i].name,
                     cases[i].number, by_host, said);
        assert_int_equal(ending(cases[i].begin, cases[i].number, SIG_IGN, said), -GOES_ON);
        assert_string_equal(said, "");
    }
}

static kf_status be_sent_one(const void *context, kf_answer *answer, kf_error *error) {
    (void)answer, (void)error;
    be_sent(*(const int *)context);
    return KF_OK;
}

/* A signal from another process does not say that a file is damaged. */
static void test_no_file_is_blamed(void **state) {
    (void)state;
    static const kf_confinement limits = {.memory_bytes = (size_t)64 << 20, .cpu_seconds = 5};
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGALRM, SIGKILL};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        kf_answer answer;
        kf_error error = {KF_OK, ""};
        const kf_status status = kf_confined_run("x.ply", &limits, be_sent_one, &numbers[i], &answer, &error);
        if (status != KF_HOST || strncmp(error.message, "x.ply: ", 7) != 0 ||
            strstr(error.message, "damaged") != NULL)
            fail_msg("signal %d leads to status %d: %s", numbers[i], (int)status, error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_signal_ends_the_process),
        cmocka_unit_test(test_no_file_is_blamed),
    };
    return cmocka_run_group_tests(tests, write_sources, fixture_teardown);
}
