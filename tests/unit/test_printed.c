/* Tests times that other programs print, as text and in JSON. Faults: a number that is read only as far as
 * the reader understands it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "harness/nightly/printed.h"

#define REFUSED ((double)NAN)

/* Where unit_us is 0, no unit is printed. */
static const struct {
    const char *output;
    kf_comma comma;
    double number, unit_us;
} texts[] = {
    {"time per step: 12.5 ms\n", KF_COMMA_UNKNOWN, 12.5, 1e3},
    {"time per step: 1\ntime per step: 2\n", KF_COMMA_UNKNOWN, 2.0, 0},
    {"time per step: about 12.5 (mean)", KF_COMMA_UNKNOWN, 12.5, 0},
    /* These have thousands, and commas that could be of decimals. */
    {"time per step: 1,234.5 ms", KF_COMMA_UNKNOWN, 1234.5, 1e3},
    {"time per step: 1,234,567 ns/iter (+/- 12)", KF_COMMA_UNKNOWN, 1234567.0, 1e-3},
    {"time per step: 1,234 ns/iter", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1,234 ns/iter", KF_COMMA_THOUSANDS, 1234.0, 1e-3},
    {"time per step: 1,234 ms", KF_COMMA_DECIMAL, 1.234, 1e3},
    {"time per step: 0,95 s", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 0,95 s", KF_COMMA_DECIMAL, 0.95, 1e6},
    {"time per step: 1.234,5 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 12,34,567 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1'234.5 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1_234 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1 234 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1\xe2\x80\xaf"
     "234 ms",
     KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1.5\xc2\xa0ms", KF_COMMA_UNKNOWN, 1.5, 1e3},
    {"times 12 1234", KF_COMMA_UNKNOWN, 12.0, 0},
    /* These have colours. */
    {"\x1b[1mtime per step:\x1b[0m \x1b[32;1m12.5\x1b[0m ms\n", KF_COMMA_UNKNOWN, 12.5, 1e3},
    {"time \x1b[36mper\x1b[m step: 7 us", KF_COMMA_UNKNOWN, 7.0, 1.0},
    /* These have units beside the number, and values that are no time. */
    {"time per step: 980 \xc2\xb5s", KF_COMMA_UNKNOWN, 980.0, 1.0},
    {"time per step: 980\xce\xbcs", KF_COMMA_UNKNOWN, 980.0, 1.0},
    {"time per step: 1.5 seconds for each", KF_COMMA_UNKNOWN, 1.5, 1e6},
    {"time per step: 2 min", KF_COMMA_UNKNOWN, 2.0, 60e6},
    {"time per step [12 ms]", KF_COMMA_UNKNOWN, 12.0, 1e3},
    {"time per step: 12 steps/s", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 12 %", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 12k", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 0m1.25s", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 0:01.25", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 10-12 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 0x1f", KF_COMMA_UNKNOWN, REFUSED, 0},
    /* These have signs, exponents or no values. */
    {"time per step: -3 ms", KF_COMMA_UNKNOWN, -3.0, 1e3},
    {"time per step: 1.25E-03", KF_COMMA_UNKNOWN, 1.25e-3, 0},
    {"time per step: 1.25D-03", KF_COMMA_UNKNOWN, 1.25e-3, 0},
    {"time per step: 1.25-103", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: .5 s", KF_COMMA_UNKNOWN, 0.5, 1e6},
    {"time per step: nan ms (100 runs)", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: inf ms (100 runs)", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: info 12 ms", KF_COMMA_UNKNOWN, 12.0, 1e3},
    {"time per step of O2: 12 ms", KF_COMMA_UNKNOWN, 12.0, 1e3},
    {"time per step:\n12 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"no such words: 12 ms", KF_COMMA_UNKNOWN, REFUSED, 0},
    {"time per step: 1234567890123456789012345678901234567890123456789012345678901234567890 ms",
     KF_COMMA_UNKNOWN, REFUSED, 0},
};

static void check(const char *what, bool found, const kf_printed *printed, double number, double unit_us) {
    if (found != !isnan(number))
        fail_msg("%s: %s %g", what, found ? "read as" : printed->why, printed->number);
    if (!found && printed->why[0] == '\0') fail_msg("%s: refused without a word", what);
    if (found && (fabs(printed->number / number - 1.0) > 1e-12 || printed->unit_us != unit_us))
        fail_msg("%s: %g of %g us", what, printed->number, printed->unit_us);
}

static void test_numbers_in_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *mark = strstr(texts[i].output, "times") != NULL ? "times" : "per";
        kf_printed printed;
        if (strstr(texts[i].output, "\x1b[36m") != NULL) mark = "per step:";
        const bool found = kf_printed_in_text(texts[i].output, mark, texts[i].comma, &printed);
        check(texts[i].output, found, &printed, texts[i].number, texts[i].unit_us);
    }
}

/* A refusal of a comma names the key that declares its meaning, where that would help. */
static void test_cures_of_commas(void **state) {
    (void)state;
    static const char *const decimal[] = {"per step: 12,5 ms", "per step: 0,95 s", "per step: 1,234 ms"},
                             *const never[] = {"per step: 1.234,5 ms", "per step: 12,34,567 ms",
                                               "per step: 1'234 ms"};
    for (int i = 0; i < 3; i++) {
        kf_printed printed;
        assert_false(kf_printed_in_text(decimal[i], "per step:", KF_COMMA_UNKNOWN, &printed));
        if (strstr(printed.why, "\"decimal\"") == NULL) fail_msg("%s: %s", decimal[i], printed.why);
        assert_false(kf_printed_in_text(never[i], "per step:", KF_COMMA_UNKNOWN, &printed));
        if (strstr(printed.why, "print 1234.5") == NULL) fail_msg("%s: %s", never[i], printed.why);
    }
}

/* Google Benchmark, nvbench, hyperfine and pytest-benchmark write these. */
static const struct {
    const char *file, *path;
    double number, unit_us;
} files[] = {
    {"google-benchmark", "benchmarks[name=BM_sort/1024_median].real_time", 29.434748358868386, 1.0},
    {"google-benchmark", "benchmarks.0.real_time", 29.955599319244712, 1.0},
    {"google-benchmark", "benchmarks[name=BM_sort/8192][repetition_index=1].real_time", 910.6934634147469,
     1.0},
    {"google-benchmark", "benchmarks[name=BM_sort/8192].real_time", REFUSED, 0},
    {"google-benchmark", "benchmarks[name=BM_sort/1].real_time", REFUSED, 0},
    {"google-benchmark", "benchmarks.99.real_time", REFUSED, 0},
    {"google-benchmark", "benchmarks.real_time", REFUSED, 0},
    {"google-benchmark", "benchmarks[name=BM_sort/1024_median", REFUSED, 0},
    {"google-benchmark", "benchmarks.0", REFUSED, 0},
    {"google-benchmark", "benchmarks.0.name", REFUSED, 0},
    {"nvbench", "benchmarks[name=copy].states.1.summaries[tag=nv/cold/time/gpu/mean].data[name=value].value",
     5.0625e-05, 0},
    {"nvbench",
     "benchmarks.0.states[name=Device=0 Elements=1048576].summaries[tag=nv/cold/time/gpu/mean].data.0.value",
     4.375e-06, 0},
    {"hyperfine", "results[command=sleep 0.02].median", 0.018759582800000004, 0},
    {"hyperfine", "results.1.times.2", 0.032692512800000004, 0},
};

static cJSON *read_file(const char *name) {
    char path[KF_PATH];
    kf_error error = {KF_OK, ""};
    cJSON *json = NULL;
    const char *data = NULL;
    assert_int_equal(kf_data_folder(&data, &error), KF_OK);
    assert_int_equal(kf_path(path, &error, "%s/tests/data/benchmarks/%s.json", data, name), KF_OK);
    if (kf_json_read_file(path, &json, &error) != KF_OK) fail_msg("%s", error.message);
    return json;
}

/* A condition on a member is met by a text, a number or a truth value of its kind. */
static void test_conditions_of_each_kind(void **state) {
    (void)state;
    static const char text[] =
        "{\"runs\": [{\"ok\": true, \"n\": 2, \"s\": \"a\", \"v\": 1}, {\"ok\": false, \"n\": 2.5, "
        "\"s\": \"true\", \"v\": 2}, {\"ok\": null, \"s\": \"2\", \"v\": 3}]}";
    static const struct {
        const char *condition;
        double number;
    } cases[] = {{"ok=true", 1},     {"ok=false", 2},      {"n=2", 1},       {"n=2.5", 2},
                 {"n=2.0", 1},       {"s=a", 1},           {"s=true", 2},    {"s=2", 3},
                 {"v=3", 3},         {"ok=null", REFUSED}, {"ok=", REFUSED}, {"n=", REFUSED},
                 {"n=2x", REFUSED},  {"s=", REFUSED},      {"s=b", REFUSED}, {"ok=True", REFUSED},
                 {"none=1", REFUSED}};
    cJSON *json = cJSON_Parse(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        kf_printed printed;
        (void)snprintf(path, sizeof path, "runs[%s].v", cases[i].condition);
        const bool found = kf_printed_at(json, path, &printed);
        check(path, found, &printed, cases[i].number, 0);
    }
    cJSON_Delete(json);
}

static void test_numbers_in_files_of_libraries(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cJSON *json = read_file(files[i].file);
        kf_printed printed;
        const bool found = kf_printed_at(json, files[i].path, &printed);
        check(files[i].path, found, &printed, files[i].number, files[i].unit_us);
        /* The number is read in the same way from a program's output between other lines. */
        char *text = cJSON_Print(json);
        const size_t size = strlen(text) + 64;
        char *output = malloc(size);
        assert_non_null(output);
        (void)snprintf(output, size, "running [1/2]\n%s\n{\"other\": 1}\ndone\n", text);
        assert_true(kf_printed_in_json(output, files[i].path, &printed) == found);
        if (found) check("printed", true, &printed, files[i].number, files[i].unit_us);
        free(output);
        free(text);
        cJSON_Delete(json);
    }
    /* The name has brackets. */
    cJSON *json = read_file("pytest-benchmark");
    kf_printed median, sample;
    assert_true(kf_printed_at(json, "benchmarks[name=test_sort[1000]].stats.median", &median));
    assert_true(kf_printed_at(json, "benchmarks.1.stats.median", &sample));
    assert_true(median.number == sample.number && median.number > 0.0);
    cJSON_Delete(json);
}

static void test_numbers_at_paths_of_json(void **state) {
    (void)state;
    static const struct {
        const char *output, *path;
        double number, unit_us;
    } cases[] = {
        {"{\"a\": {\"b\": 3}}", "a.b", 3.0, 0},
        {"{\"a.b\": 3}", "[\"a.b\"]", 3.0, 0},
        {"[{\"name\": \"x\", \"value\": 2, \"unit\": \"ms\"}]", "0.value", 2.0, 1e3},
        {"[{\"name\": \"x\", \"value\": 2, \"unit\": \"ms\"}]", "[name=x].value", 2.0, 1e3},
        {"[{\"value\": 2, \"unit\": \"iter/sec\"}]", "0.value", REFUSED, 0},
        {"{\"time_wall_clock\": {\"value\": 1.5, \"unit\": \"second\"}}", "time_wall_clock.value", 1.5, 1e6},
        {"{\"a\": \"1,234.5\"}", "a", 1234.5, 0},
        {"{\"a\": \"12 ms\"}", "a", 12.0, 1e3},
        {"{\"a\": \"about 12\"}", "a", REFUSED, 0},
        {"{\"a\": \"12 apples\"}", "a", REFUSED, 0},
        {"{\"a\": -3}", "a", -3.0, 0},
        {"{\"a\": true}", "a", REFUSED, 0},
        {"{\"a\": null}", "a", REFUSED, 0},
        {"{\"a\": 1}\n{\"a\": 2}\n", "a", 2.0, 0},
        {"no JSON", "a", REFUSED, 0},
        {"", "a", REFUSED, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_printed printed;
        const bool found = kf_printed_in_json(cases[i].output, cases[i].path, &printed);
        check(cases[i].output, found, &printed, cases[i].number, cases[i].unit_us);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_in_texts), cmocka_unit_test(test_cures_of_commas),
        cmocka_unit_test(test_numbers_in_files_of_libraries), cmocka_unit_test(test_conditions_of_each_kind),
        cmocka_unit_test(test_numbers_at_paths_of_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
