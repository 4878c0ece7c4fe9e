/* Tests what the doctor says of machines that the test makes up. Faults: a missing part that is not named,
 * or a cure that does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "harness/doctor/checks.h"
#include "tests/unit/output_scratch.h"

static void expect(const kf_diagnosis *check, kf_check_state state, const char *detail, const char *cure) {
    if (check->state != state || strcmp(check->detail, detail) != 0)
        fail_msg("state %d, '%s' instead of '%s'", (int)check->state, check->detail, detail);
    if (strstr(check->cure, cure) == NULL || (check->cure[0] == '\0') != (cure[0] == '\0'))
        fail_msg("%s: the cure is '%s'", detail, check->cure);
}

/* The free memory decides, not all of it. */
static void free_memory_decides(void **state) {
    (void)state;
    static const double GIB = 1024.0 * 1024 * 1024;
    kf_diagnosis check = {.name = "memory"};
    kf_check_memory_of(&check, 1.5 * GIB, 64 * GIB);
    expect(&check, KF_CHECK_DEGRADED, "1.5 GiB of 64 GiB available", "end other programs");
    kf_check_memory_of(&check, 2 * GIB, 2 * GIB);
    expect(&check, KF_CHECK_OK, "2 GiB of 2 GiB available", "");
}

/* First counts a quota below the processors that a process is bound to, then those it is not bound to,
 * then one alone. */
static void what_holds_processors_back(void **state) {
    (void)state;
    static const struct {
        kf_processors found;
        int threads;
        kf_check_state state;
        const char *detail, *cure;
    } cases[] = {
        {{.online = 8, .bound = 8, .usable = 8}, 8, KF_CHECK_OK, "8 processors, 16 float lanes each", ""},
        {{.online = 8, .bound = 8, .usable = 8, .quota = 8.0},
         8,
         KF_CHECK_OK,
         "8 processors, 16 float lanes each",
         ""},
        {{.online = 8, .bound = 8, .usable = 2, .quota = 2.5},
         2,
         KF_CHECK_DEGRADED,
         "a control group's quota allows 2.5 of 8 processors: 2 threads and compilers",
         "CPUQuota"},
        {{.online = 8, .bound = 4, .usable = 2, .quota = 2.5},
         2,
         KF_CHECK_DEGRADED,
         "a control group's quota allows 2.5 of 4 processors: 2 threads and compilers",
         "CPUQuota"},
        {{.online = 8, .bound = 2, .usable = 2, .quota = 4.0},
         2,
         KF_CHECK_DEGRADED,
         "2 of 8 processors may be used",
         "taskset"},
        {{.online = 1, .bound = 1, .usable = 1}, 1, KF_CHECK_DEGRADED, "one processor", "a second processor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_diagnosis check = {.name = "threads"};
        kf_check_threads_of(&check, &cases[i].found, cases[i].threads, 16);
        expect(&check, cases[i].state, cases[i].detail, cases[i].cure);
    }
}

static void others_are_told(void **state) {
    (void)state;
    kf_diagnosis check = {.name = "load"};
    kf_check_load_of(&check, 0.5, 2);
    expect(&check, KF_CHECK_OK, "load 0.50 on 2 processors", "");
    kf_check_load_of(&check, 0.75, 64);
    expect(&check, KF_CHECK_DEGRADED,
           "0.8 other threads on average wanted the 64 processors in the last minute",
           "let other programs end");
}

/* The folders of kernels and of the store are made where their variable says, and their room is told. Where
 * they cannot be made the cure names the variable. */
static void folders_are_looked_at(void **state) {
    (void)state;
    static const struct {
        const char *variable, *folder;
        void (*run)(kf_diagnosis *check);
    } cases[] = {{"XDG_CACHE_HOME", "kftune/kernels", kf_check_cache},
                 {"XDG_DATA_HOME", "kftune", kf_check_store}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[KF_PATH + 64];
        double room = -1.0;
        kf_diagnosis there = {.name = "there"}, none = {.name = "none"};
        char *before = getenv(cases[i].variable) != NULL ? kf_duplicate(getenv(cases[i].variable)) : NULL;
        assert_int_equal(setenv(cases[i].variable, in_scratch("home"), 1), 0);
        cases[i].run(&there);
        (void)snprintf(folder, sizeof folder, "%s/%s, ", in_scratch("home"), cases[i].folder);
        if (there.state == KF_CHECK_OK) {
            assert_memory_equal(there.detail, folder, strlen(folder));
            assert_int_equal(sscanf(there.detail + strlen(folder), "%lf", &room), 1);
            assert_true(room >= 1.0 && strstr(there.detail, "iB free") != NULL);
            assert_string_equal(there.cure, "");
        } else { /* less than a GiB is free here */
            assert_int_equal(there.state, KF_CHECK_DEGRADED);
            assert_non_null(strstr(there.detail, " left"));
            assert_non_null(strstr(there.cure, cases[i].variable));
        }
        FILE *file = fopen(in_scratch("file"), "w");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(setenv(cases[i].variable, in_scratch("file/below"), 1), 0);
        cases[i].run(&none);
        assert_int_equal(none.state, KF_CHECK_MISSING);
        assert_non_null(strstr(none.detail, in_scratch("file")));
        assert_non_null(strstr(none.cure, cases[i].variable));
        assert_int_equal(before != NULL ? setenv(cases[i].variable, before, 1) : unsetenv(cases[i].variable),
                         0);
        free(before);
    }
}

/* A device that copies all but its last item is missing, with the cure that is given for it. It has a folder
 * of kernels of its own. */
static void wrong_results_are_seen(void **state) {
    (void)state;
    static const char wrong[] = "#include \"portable.h\"\n"
                                "typedef struct simple_arguments {\n"
                                "    int extent[3];\n"
                                "    const float *source;\n"
                                "    float *target;\n"
                                "    float factor;\n"
                                "} simple_arguments;\n"
                                "KF_KERNEL(copy, simple_arguments) {\n"
                                "    a->target[x] = x == 999 ? 0.0f : a->source[x];\n"
                                "}\n";
    const char *data = getenv("KFTUNE_DATA");
    char root[KF_PATH], command[3 * KF_PATH], file[KF_PATH];
    assert_non_null(realpath(data != NULL ? data : ".", root));
    kf_copy_text(file, sizeof file, in_scratch("data/kernels/probe/simple.cu"));
    (void)snprintf(command, sizeof command, "mkdir '%s' && cp -rs '%s/kernels' '%s/kernels' && rm '%s'",
                   in_scratch("data"), root, in_scratch("data"), file);
    assert_int_equal(system(command), 0);
    assert_int_equal(kf_file_write_atomic(file, wrong, strlen(wrong), NULL), KF_OK);
    const pid_t child = fork(); /* the folder is found once in a process */
    if (child == 0) {
        kf_diagnosis check = {.name = "cpu"};
        (void)setenv("KFTUNE_DATA", in_scratch("data"), 1);
        kf_check_device(&check, "cpu:1", "mend it");
        if (check.state != KF_CHECK_MISSING || strstr(check.detail, "wrong result") == NULL)
            (void)fprintf(stderr, "state %d: %s\n", (int)check.state, check.detail);
        _exit(check.state == KF_CHECK_MISSING && strstr(check.detail, "wrong result") != NULL &&
                      strcmp(check.cure, "mend it") == 0
                  ? 0
                  : 1);
    }
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_memory_decides), cmocka_unit_test(what_holds_processors_back),
        cmocka_unit_test(folders_are_looked_at), cmocka_unit_test(wrong_results_are_seen),
        cmocka_unit_test(others_are_told)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
