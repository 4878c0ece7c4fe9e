/* Tests suite files: every member of every benchmark, stated there, for all, or by default. Faults: the
 * wrong one of these counts. */
#include "harness/nightly/suite.h"
#include "tests/unit/known_text.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/without_keys.h"

static void append_benchmark(kf_text *text, const kf_suite_benchmark *b) {
    static const char *const sources[] = {"preset", "best of store", "file", "parameters"};
    kf_text_append(text, "%s on '%s', %d processes, ", b->name, b->device, b->processes);
    if (b->command != NULL) {
        cJSON *json = kf_command_to_json(b->command);
        char *printed = cJSON_PrintUnformatted(json);
        kf_text_append(text, "%s\n", printed);
        free(printed);
        cJSON_Delete(json);
        return;
    }
    char *config = b->config.count > 0 ? kf_config_text(&b->config) : NULL;
    kf_text_append(text, "%g s: %s %dx%dx%d, %g samples, system '%s', %s %s%s\n", b->seconds, b->scene,
                   b->options.nodes[0], b->options.nodes[1], b->options.nodes[2], b->options.samples_per_cell,
                   b->system, sources[b->source], b->text, config != NULL ? config : "");
    free(config);
}

static void assert_suite(const char *json, const char *device, const char *expected) {
    char path[KF_PATH], folder[KF_PATH];
    kf_error error = {0};
    kf_suite suite;
    fixture_path(path, "suite.json");
    assert_int_equal(kf_file_write_atomic(path, json, strlen(json), &error), KF_OK);
    if (kf_suite_read(path, device, &suite, &error) != KF_OK) fail_msg("%s: %s", json, error.message);
    kf_text text = {0};
    for (int i = 0; i < suite.count; i++)
        append_benchmark(&text, &suite.benchmarks[i]);
    assert_non_null(realpath(fixture_folder, folder));
    char *told = with_word(text.text, folder, "FOLDER");
    if (strcmp(told, expected) != 0) fail_msg("%s\nis not\n%s", told, expected);
    free(told);
    kf_suite_free(&suite);
}

/* A benchmark's own value overrides the suite's, and the command line's device overrides both. */
static void test_whose_value_counts(void **state) {
    (void)state;
    static const char json[] =
        "{\"suite\": \"s\", \"device\": \"cpu:3\", \"processes\": 9, \"seconds\": 0.25, \"benchmarks\": ["
        "{\"name\": \"a\", \"scene\": \"ball\"},"
        "{\"name\": \"b\", \"scene\": \"ball\", \"device\": \"cpu:2\", \"processes\": 7, \"seconds\": 2},"
        "{\"name\": \"c\", \"command\": [\"true\"]},"
        "{\"name\": \"d\", \"command\": [\"true\"], \"device\": \"cpu:4\", \"processes\": 8}]}";
#define TRUE_COMMAND                                                                                         \
    "{\"command\":[\"true\"],\"folder\":\"FOLDER/\",\"environment\":{},\"keep\":[],\"time\":\"wall\","       \
    "\"warm_up\":1,\"repeats\":3,\"timeout\":600,\"instructions\":false}\n"
    assert_suite(json, NULL,
                 "a on 'cpu:3', 9 processes, 0.25 s: ball 0x0x0, 0 samples, system '', preset default\n"
                 "b on 'cpu:2', 7 processes, 2 s: ball 0x0x0, 0 samples, system '', preset default\n"
                 "c on 'cpu:3', 9 processes, " TRUE_COMMAND "d on 'cpu:4', 8 processes, " TRUE_COMMAND);
    assert_suite(json, "cpu:1",
                 "a on 'cpu:1', 9 processes, 0.25 s: ball 0x0x0, 0 samples, system '', preset default\n"
                 "b on 'cpu:1', 7 processes, 2 s: ball 0x0x0, 0 samples, system '', preset default\n"
                 "c on 'cpu:1', 9 processes, " TRUE_COMMAND "d on 'cpu:1', 8 processes, " TRUE_COMMAND);
    assert_suite("{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\"}]}", NULL,
                 "a on '', 5 processes, 0 s: ball 0x0x0, 0 samples, system '', preset default\n");
}

/* A config comes from the named source, and a path prefers a file of the folder to a shipped name. */
static void test_configs_and_paths(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "own.json");
    assert_int_equal(kf_file_write_atomic(path, "{}", 2, &error), KF_OK);
    assert_suite(
        "{\"suite\": \"s\", \"benchmarks\": ["
        "{\"name\": \"a\", \"scene\": \"own.json\", \"grid\": [3, 4, 5], \"samples_per_cell\": 3,"
        " \"config\": {\"preset\": \"safe\"}},"
        "{\"name\": \"b\", \"scene\": \"/etc/../etc/scene\", \"config\": {\"best_of_store\": true}},"
        "{\"name\": \"c\", \"scene\": \"none.json\", \"system\": \"kinetic\", \"config\": {\"file\": "
        "\"own.json\"}},"
        "{\"name\": \"d\", \"scene\": \"ball\", \"system\": \"d2q9\", \"config\": {\"parameters\": "
        "{\"plan\": "
        "\"pull\", \"storage\": \"f32\"}}},"
        "{\"name\": \"e\", \"kind\": \"t1\", \"scene\": \"own.json\"}]}",
        NULL,
        "a on '', 5 processes, 0 s: FOLDER/own.json 3x4x5, 3 samples, system '', preset safe\n"
        "b on '', 5 processes, 0 s: /etc/../etc/scene 0x0x0, 0 samples, system '', best of store default\n"
        "c on '', 5 processes, 0 s: none.json 0x0x0, 0 samples, system 'kinetic', file FOLDER/own.json\n"
        "d on '', 5 processes, 0 s: ball 0x0x0, 0 samples, system 'd2q9', parameters "
        "default{\"parameters\":{\"plan\":"
        "\"pull\",\"storage\":\"f32\"},\"system\":\"d2q9\"}\n"
        "e on '', 5 processes, 0 s: FOLDER/own.json 0x0x0, 0 samples, system 't1', preset default\n");
}

/* Every member of a command is read, and each source of its time. */
static void test_every_member_of_a_command(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "solver.py");
    assert_int_equal(kf_file_write_atomic(path, "#", 1, &error), KF_OK);
    assert_suite(
        "{\"suite\": \"s\", \"benchmarks\": ["
        "{\"name\": \"a\", \"command\": [\"python3\", \"solver.py\", \"-n\", \"3\"], "
        "\"environment\": {\"A\": "
        "\"1\", \"B\": \"\"}, \"keep\": [\"solver.py\"], \"time\": {\"printed\": \"took \", "
        "\"unit\": \"ms\"}, "
        "\"warm_up\": 0, \"repeats\": 4, \"timeout\": 2.5, \"instructions\": true},"
        "{\"name\": \"b\", \"command\": [\"true\"], \"time\": {\"json\": \"a.b\", \"unit\": \"ns\", "
        "\"file\": \"out.json\"}}]}",
        NULL,
        "a on '', 5 processes, "
        "{\"command\":[\"python3\",\"solver.py\",\"-n\",\"3\"],\"folder\":\"FOLDER/"
        "\",\"environment\":{\"A\":\"1\",\"B\":\"\"},\"keep\":[\"solver.py\"],\"time\":{\"printed\":\"took "
        "\",\"unit\":\"ms\"},\"warm_up\":0,\"repeats\":4,\"timeout\":2.5,\"instructions\":true}\n"
        "b on '', 5 processes, "
        "{\"command\":[\"true\"],\"folder\":\"FOLDER/"
        "\",\"environment\":{},\"keep\":[],\"time\":{\"json\":\"a.b\",\"unit\":\"ns\",\"file\":\"out.json\"},"
        "\"warm_up\":1,\"repeats\":3,\"timeout\":600,\"instructions\":false}\n");
}

static kf_status read_suite(const char *path, kf_error *error) {
    kf_suite suite;
    const kf_status status = kf_suite_read(path, "cpu:1", &suite, error);
    if (status == KF_OK) kf_suite_free(&suite);
    return status;
}

/* A suite of all kinds of benchmarks lacks one key after the other. */
static void test_keys_that_are_needed(void **state) {
    (void)state;
    static const char json[] =
        "{\"suite\": \"s\", \"description\": \"d\", \"device\": \"cpu:3\", \"processes\": 9, \"seconds\": "
        "0.25,"
        "\"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"grid\": [16, 12, 12],"
        "\"config\": {\"preset\": \"paper\"}}, {\"name\": \"b\", \"scene\": \"ball\", \"config\": "
        "{\"parameters\":"
        "{\"layout\": \"aos\"}}}, {\"name\": \"c\", \"command\": [\"true\"], \"time\": {\"printed\": "
        "\"took\","
        "\"unit\": \"ms\"}}, {\"name\": \"d\", \"command\": [\"true\"], \"time\": {\"json\": \"a.b\","
        "\"unit\": \"s\", \"file\": \"t.json\"}, \"environment\": {\"A\": \"1\"}, \"warm_up\": 1, "
        "\"repeats\": 3,"
        "\"timeout\": 60}]}";
    char source[KF_PATH], path[KF_PATH];
    kf_error error = {0};
    fixture_path(source, "whole.json");
    fixture_path(path, "without.json");
    assert_int_equal(kf_file_write_atomic(source, json, strlen(json), &error), KF_OK);
    if (read_suite(source, &error) != KF_OK) fail_msg("%s", error.message);
    assert_needed(source, path, read_suite, "needed-night.txt");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_value_counts), cmocka_unit_test(test_configs_and_paths),
        cmocka_unit_test(test_every_member_of_a_command), cmocka_unit_test(test_keys_that_are_needed)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
