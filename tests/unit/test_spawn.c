/* Tests starting other programs. Faults: a stream that goes elsewhere, a wrong environment or signal mask,
 * output that is cut without a word. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/spawn.h"
#include "harness/worker/await.h"

static char input_file[] = "/tmp/kftune-spawn-XXXXXX";

static int make_input(void **state) {
    (void)state;
    const int file = mkstemp(input_file);
    return file >= 0 && write(file, "given\n", 6) == 6 && close(file) == 0 ? 0 : -1;
}

static int remove_input(void **state) {
    (void)state;
    return unlink(input_file);
}

/* Runs the script with a pipe for its output, for its errors, for both or for none. Returns what came
 * through it. */
static char *heard(const char *script, bool output, bool errors, const char *input, char *const *environment,
                   int *exit_status) {
    const char *const words[] = {"sh", "-c", script, NULL};
    int ends[2];
    pid_t process;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const kf_spawn spawn = {.words = words,
                            .input = input,
                            .output = output ? ends[1] : -1,
                            .errors = errors ? ends[1] : -1,
                            .environment = environment};
    assert_int_equal(kf_spawn_start(&spawn, &process), 0);
    (void)close(ends[1]);
    char *text = kf_spawn_read(ends[0], 1000, true, NULL);
    (void)close(ends[0]);
    const int ended = kf_spawn_wait(process);
    assert_true(WIFEXITED(ended));
    *exit_status = WEXITSTATUS(ended);
    return text;
}

static void streams_go_where_they_are_wanted(void **state) {
    (void)state;
    static const struct {
        bool output, errors, input;
        const char *heard;
    } cases[] = {{true, false, true, "given\n"},
                 {false, true, true, "wrong\n"},
                 {true, true, true, "given\nwrong\n"},
                 {false, false, true, ""},
                 {true, true, false, "wrong\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = -1;
        char *text = heard("cat; echo wrong >&2; exit 7", cases[i].output, cases[i].errors,
                           cases[i].input ? input_file : NULL, NULL, &status);
        assert_string_equal(text, cases[i].heard);
        assert_int_equal(status, 7);
        free(text);
    }
}

/* A signal that is ignored and blocked here still ends the other program. */
static void signals_are_as_usual(void **state) {
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
    static const char *const scripts[] = {"kill -INT $$; sleep 1", "kill -TERM $$; sleep 1",
                                          "kill -PIPE $$; sleep 1"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int blocked = 0; blocked < 2; blocked++) {
            const char *const words[] = {"sh", "-c", scripts[i], NULL};
            sigset_t one;
            pid_t process;
            sigemptyset(&one);
            sigaddset(&one, numbers[i]);
            void (*before)(int) = blocked ? SIG_ERR : signal(numbers[i], SIG_IGN);
            if (blocked) assert_int_equal(sigprocmask(SIG_BLOCK, &one, NULL), 0);
            const kf_spawn spawn = {.words = words, .output = -1, .errors = -1};
            assert_int_equal(kf_spawn_start(&spawn, &process), 0);
            if (blocked)
                assert_int_equal(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
            else
                (void)signal(numbers[i], before);
            const int ended = kf_spawn_wait(process);
            assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == numbers[i]);
        }
}

/* Variables of exactly these names are left out, and one is added. */
static void the_environment_is_the_one_given(void **state) {
    (void)state;
    static const char *const without[] = {"KF_ONE", "KF_THREE", NULL};
    char more[] = "KF_MORE=m";
    assert_int_equal(setenv("KF_ONE", "1", 1) | setenv("KF_ONES", "2", 1) | setenv("KF", "3", 1) |
                         setenv("KF_THREE", "4", 1) | setenv("KF_FOUR", "KF_ONE", 1),
                     0);
    char **environment = kf_spawn_environment(without, more);
    static const char script[] = "echo $KF_ONE,$KF_ONES,$KF,$KF_THREE,$KF_FOUR,$KF_MORE";
    int status;
    char *text = heard(script, true, false, NULL, environment, &status);
    assert_string_equal(text, ",2,3,,KF_ONE,m\n");
    free(text);
    text = heard(script, true, false, NULL, NULL, &status);
    assert_string_equal(text, "1,2,3,4,KF_ONE,\n");
    free(text);
    free(environment);
}

/* Output beyond the limit is read and dropped, so that the writer can end. */
static void as_much_is_kept_as_is_wanted(void **state) {
    (void)state;
    for (size_t limit = 0; limit <= 6; limit++) {
        int ends[2];
        size_t length = 99;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], "12345", 5), 5);
        (void)close(ends[1]);
        char *text = kf_spawn_read(ends[0], limit, true, &length), rest;
        assert_int_equal(length, limit < 5 ? limit : 5);
        assert_int_equal(strlen(text), length);
        assert_memory_equal(text, "12345", length);
        assert_int_equal(read(ends[0], &rest, 1), 0);
        free(text);
        (void)close(ends[0]);
    }
}

/* All variables stay, in their order, but those of exactly these names; one more comes last. */
static void variables_are_left_out_by_name(void **state) {
    (void)state;
    static char *all[] = {"A=1", "AB=2", "A_B=A", "B=", "BA=3=4", NULL};
    static char more[] = "C=5";
    static const struct {
        const char *without[3];
        bool more;
        const char *kept;
    } cases[] = {{{NULL}, false, "A=1 AB=2 A_B=A B= BA=3=4 "},
                 {{"A"}, false, "AB=2 A_B=A B= BA=3=4 "},
                 {{"BA"}, false, "A=1 AB=2 A_B=A B= "},
                 {{"AB", "B"}, true, "A=1 A_B=A BA=3=4 C=5 "},
                 {{"C", ""}, true, "A=1 AB=2 A_B=A B= BA=3=4 C=5 "}};
    char **before = environ;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char kept[64] = "";
        environ = all;
        char **variables = kf_spawn_environment(cases[c].without, cases[c].more ? more : NULL);
        environ = before;
        for (char **v = variables; *v != NULL; v++)
            (void)snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%s ", *v);
        free(variables);
        assert_string_equal(kept, cases[c].kept);
    }
}

/* A failed program complains with the last line of its errors, without its end and cut to the room
 * there is. Without a line it is how the program ended. */
static void complaints_are_last_lines(void **state) {
    (void)state;
    enum { ROOM = 16 };
    static const struct {
        const char *errors;
        int status;
        const char *complaint;
    } cases[] = {{"one", 0, "one"},
                 {"one\n", 0, "one"},
                 {"one\ntwo\n\n", 0, "two"},
                 {"\n\none", 0, "one"},
                 {"one\n two ", 0, " two "},
                 {"exactly fifteen\n", 0, "exactly fifteen"},
                 {"a\nsixteen letters!\n", 0, "sixteen letters"},
                 {"\n\n", 3 << 8, "status 3"},
                 {"", SIGKILL, "signal 9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[ROOM], whole[128];
        kf_awaited ended = {.status = cases[i].status};
        kf_text_append(&ended.err, "%s", cases[i].errors);
        if (cases[i].status == 0)
            assert_string_equal(kf_awaited_complaint(&ended, line, sizeof line), cases[i].complaint);
        else
            assert_non_null(strstr(kf_awaited_complaint(&ended, whole, sizeof whole), cases[i].complaint));
        kf_text_free(&ended.err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints_are_last_lines),      cmocka_unit_test(streams_go_where_they_are_wanted),
        cmocka_unit_test(signals_are_as_usual),           cmocka_unit_test(the_environment_is_the_one_given),
        cmocka_unit_test(variables_are_left_out_by_name), cmocka_unit_test(as_much_is_kept_as_is_wanted)};
    return cmocka_run_group_tests(tests, make_input, remove_input);
}
