/* Tests benchmarks of other programs in suite files. Faults: a member that does not come back the same. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/nightly/command.h"

static const char *const texts[] = {
    "{\"command\":[\"sh\",\"-c\",\"echo 3\"],\"folder\":\"/tmp\",\"environment\":{\"A\":\"1\",\"B\":\"x=y\"},"
    "\"keep\":[],\"time\":{\"printed\":\"step:\",\"unit\":\"ms\"},\"warm_up\":2,\"repeats\":7,\"timeout\":33,"
    "\"instructions\":true}",
    "{\"command\":[\"b\"],\"folder\":\"/"
    "tmp\",\"environment\":{},\"keep\":[],\"time\":{\"json\":\"a.0.b\",\"unit\":\"ns\","
    "\"file\":\"r.json\",\"comma\":\"thousands\"},\"warm_up\":1,\"repeats\":3,\"timeout\":10,"
    "\"instructions\":false}",
    "{\"command\":[\"true\"],\"folder\":\"/"
    "tmp\",\"environment\":{},\"keep\":[],\"time\":\"wall\",\"warm_up\":1,"
    "\"repeats\":3,\"timeout\":10,\"instructions\":false}",
};

static char *read_and_written(const char *text, kf_timed_command *command) {
    kf_error error = {KF_OK, ""};
    cJSON *json = NULL;
    assert_int_equal(kf_json_parse("suite", text, strlen(text), &json, &error), KF_OK);
    if (kf_command_read((kf_json_place){"suite", "benchmarks"}, json, "/", command, &error) != KF_OK)
        fail_msg("%s", error.message);
    cJSON_Delete(json);
    json = kf_command_to_json(command);
    char *written = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return written;
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_timed_command command;
        char *written = read_and_written(texts[i], &command);
        assert_string_equal(written, texts[i]);
        kf_command_free(&command);
        free(written);
    }
}

/* A word that is too long for a path names no file, even where its beginning would name one. */
static void test_long_words_name_nothing(void **state) {
    (void)state;
    enum { SHORT = 2, LONG = KF_PATH / 2 - 2 }; /* with the folder before it, it is too long */
    static char text[KF_PATH + 128];
    for (int parts = SHORT; parts <= LONG; parts += LONG - SHORT) {
        kf_error error = {KF_OK, ""};
        kf_timed_command command;
        int at = sprintf(text, "{\"command\":[\"sh\",\"");
        for (int i = 0; i < parts; i++)
            at += sprintf(text + at, "./");
        (void)sprintf(text + at, "\"],\"folder\":\"/tmp\",\"keep\":[\".\"],\"time\":\"wall\"}");
        free(read_and_written(text, &command));
        const kf_status status =
            kf_command_check_kept((kf_json_place){"suite", "benchmarks"}, &command, &error);
        assert_int_equal(status, parts == SHORT ? KF_OK : KF_BAD_INPUT);
        kf_command_free(&command);
    }
}

/* The unit that a program prints overrides the suite's, whichever they are. The suite's holds where none
 * is printed. */
static void test_units_that_are_printed(void **state) {
    (void)state;
    static const struct {
        const char *said, *printed;
        double us;
    } units[] = {{"ms", "12.5 us", 12.5},  {"us", "12.5 ms", 12500}, {"s", "12.5 ns", 0.0125},
                 {"ns", "12.5 s", 12.5e6}, {"ms", "12.5", 12500},    {"ns", "12.5", 0.0125}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char text[256];
        kf_error error = {KF_OK, ""};
        kf_timed_command command;
        kf_measurement measured;
        (void)snprintf(
            text, sizeof text,
            "{\"command\":[\"echo\",\"step: %s\"],\"folder\":\"/tmp\",\"time\":{\"printed\":\"step:\","
            "\"unit\":\"%s\"},\"warm_up\":0,\"repeats\":1}",
            units[i].printed, units[i].said);
        free(read_and_written(text, &command));
        if (kf_command_measure(&command, false, &measured, &error) != KF_OK) fail_msg("%s", error.message);
        if (!(fabs(measured.step_us.median / units[i].us - 1.0) < 1e-9))
            fail_msg("%s where %s is said: %g us, not %g", units[i].printed, units[i].said,
                     measured.step_us.median, units[i].us);
        kf_measurement_free(&measured);
        kf_command_free(&command);
    }
}

/* The time in a file counts if this run wrote it, and not if an earlier run did. */
static void test_files_of_runs_before(void **state) {
    (void)state;
    char folder[] = "/tmp/kftune-told-XXXXXX", path[64], text[512];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/told.txt", folder);
    static const struct {
        const char *program;
        kf_state state;
        const char *words;
    } cases[] = {{"echo step: 5 >told.txt", KF_STATE_OK, ""},
                 {"true", KF_STATE_INVALID, "/told.txt: was not written by this run"},
                 {"rm told.txt", KF_STATE_INVALID, "/told.txt: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_error error = {KF_OK, ""};
        kf_timed_command command;
        kf_measurement m;
        (void)snprintf(
            text, sizeof text,
            "{\"command\":[\"sh\",\"-c\",\"%s\"],\"folder\":\"%s\",\"time\":{\"printed\":\"step:\",\"unit\":"
            "\"ms\",\"file\":\"told.txt\"},\"warm_up\":0,\"repeats\":1}",
            cases[i].program, folder);
        free(read_and_written(text, &command));
        if (kf_command_measure(&command, false, &m, &error) != KF_OK) fail_msg("%s", error.message);
        if (m.state != cases[i].state || strstr(m.reason, cases[i].words) == NULL)
            fail_msg("%s: state %d, %s", cases[i].program, (int)m.state, m.reason);
        if (m.state == KF_STATE_OK) assert_true(m.step_us.median == 5000.0);
        kf_measurement_free(&m);
        kf_command_free(&command);
    }
    (void)remove(path);
    assert_int_equal(rmdir(folder), 0);
}

/* A program that the machine cannot start, here for want of file descriptors, has not failed. There are
 * enough for the three pipes, but none for its input. */
static void test_started_without_files(void **state) {
    (void)state;
    enum { PIPES = 6 };
    kf_timed_command command;
    kf_measurement measurement = {.state = KF_STATE_OK};
    kf_error error = {KF_OK, ""};
    struct rlimit before, few;
    free(read_and_written(texts[2], &command));
    const int next = open("/dev/null", O_RDONLY);
    assert_int_equal(close(next), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){(rlim_t)next + PIPES, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    const kf_status status = kf_command_measure(&command, false, &measurement, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, KF_HOST);
    assert_string_equal(error.message, "true: cannot be started: Too many open files");
    kf_measurement_free(&measurement);
    kf_command_free(&command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_long_words_name_nothing),
        cmocka_unit_test(test_units_that_are_printed), cmocka_unit_test(test_files_of_runs_before),
        cmocka_unit_test(test_started_without_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
