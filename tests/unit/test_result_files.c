/* Tests files of times of other libraries: which numbers count, in which unit, under which name. Faults: a
 * rule that holds for one library and misreads another. */
#include "base/util/random.h"
#include "harness/nightly/result_files.h"
#include "tests/unit/store_fixture.h"

static kf_status read_text(const char *text, kf_result_file *file, kf_error *error) {
    char path[KF_PATH];
    fixture_path(path, "times.json");
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), error), KF_OK);
    return kf_result_file_read(path, file, error);
}

/* Compares the times in microseconds by name, as "name: 1 2; other: 3", in the order of the file. */
static void assert_times(const char *json, const char *expected) {
    kf_error error = {0};
    kf_result_file file;
    if (read_text(json, &file, &error) != KF_OK) fail_msg("%s: %s", json, error.message);
    kf_text text = {0};
    for (size_t i = 0; i < file.count; i++) {
        kf_text_append(&text, "%s%s:", i > 0 ? "; " : "", file.list[i].name);
        for (size_t k = 0; k < file.list[i].count; k++)
            kf_text_append(&text, " %.9g", file.list[i].us[k]);
    }
    assert_string_equal(text.text, expected);
    kf_text_free(&text);
    kf_result_file_free(&file);
}

static void test_which_times_count(void **state) {
    (void)state;
    /* Repetitions count. Aggregates count only where there are no repetitions, and of these the median.
     * Without a unit times are in ns. */
    assert_times("{\"benchmarks\": ["
                 "{\"name\": \"a/1\", \"run_name\": \"a\", \"run_type\": \"iteration\", \"real_time\": 3000},"
                 "{\"name\": \"a/2\", \"run_name\": \"a\", \"run_type\": \"iteration\", \"real_time\": 4, "
                 "\"time_unit\": \"ms\"},"
                 "{\"name\": \"b\", \"real_time\": 7, \"time_unit\": \"us\"},"
                 "{\"name\": \"a_median\", \"run_name\": \"a\", \"run_type\": \"aggregate\", "
                 "\"aggregate_name\": \"median\", \"real_time\": 9000}]}",
                 "a: 3 4000; b: 7");
    assert_times("{\"benchmarks\": ["
                 "{\"name\": \"a_mean\", \"run_name\": \"a\", \"run_type\": \"aggregate\", "
                 "\"aggregate_name\": \"mean\", \"real_time\": 8000},"
                 "{\"name\": \"a_median\", \"run_name\": \"a\", \"run_type\": \"aggregate\", "
                 "\"aggregate_name\": \"median\", \"real_time\": 9000}]}",
                 "a: 9");
    /* Times are in seconds. The samples count where they are kept, otherwise the median. The full name
     * counts where there is one. */
    assert_times("{\"benchmarks\": ["
                 "{\"name\": \"sort\", \"fullname\": \"t.py::sort\", \"stats\": {\"median\": 5, \"data\": "
                 "[0.002, 0.003]}},"
                 "{\"name\": \"plain\", \"fullname\": \"\", \"stats\": {\"median\": 0.25}}]}",
                 "t.py::sort: 2000 3000; plain: 250000");
    /* Times are in seconds. What was skipped has none. */
    assert_times("{\"benchmarks\": [{\"name\": \"copy\", \"states\": ["
                 "{\"name\": \"n=1\", \"is_skipped\": true, \"summaries\": []},"
                 "{\"name\": \"n=2\", \"is_skipped\": false, \"summaries\": ["
                 "{\"tag\": \"nv/cold/time/cpu/mean\", \"data\": [{\"name\": \"value\", \"value\": \"9\"}]},"
                 "{\"tag\": \"nv/cold/time/gpu/mean\", \"data\": [{\"name\": \"value\", \"value\": "
                 "\"0.5\"}]}]}]}]}",
                 "copy n=2: 500000");
    /* Times are in seconds. Single times count rather than the median, and a name rather than the command.
     * Version 2 measures with units. */
    assert_times(
        "{\"results\": ["
        "{\"command\": \"sleep 1\", \"median\": 9, \"times\": [1, 1.5]},"
        "{\"command\": \"sleep 2\", \"name\": \"two\", \"median\": 2},"
        "{\"command\": \"sleep 3\", \"measurements\": [{\"time_wall_clock\": {\"value\": 3, \"unit\": "
        "\"s\"}}]}]}",
        "sleep 1: 1000000 1500000; two: 2000000; sleep 3: 3000000");
    /* Each has its unit. Two of one name are one benchmark. */
    assert_times("[{\"name\": \"x\", \"value\": 2, \"unit\": \"ms\"}, {\"name\": \"y\", \"value\": 3, "
                 "\"unit\": \"us\"}, {\"name\": \"x\", \"value\": 4, \"unit\": \"s\"}]",
                 "x: 2000 4000000; y: 3");
}

static void test_what_is_no_time(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"[]", "holds no time"},
        {"{\"benchmarks\": []}", "is no file of times"},
        {"{\"results\": [{\"mean\": 1}]}", "is no file of times"},
        {"[{\"name\": \"x\", \"value\": 2, \"unit\": \"parsecs\"}]", "x: 'parsecs' is no unit of time"},
        {"[{\"name\": \"x\", \"value\": 0, \"unit\": \"s\"}]", "x: a time must be a number above 0"},
        {"{\"results\": [{\"command\": \"c\", \"times\": [1, \"2\"]}]}",
         "c: a time must be a number above 0"},
        {"{\"results\": [{\"command\": \"c\"}]}", "c: median: "},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        kf_error error = {0};
        kf_result_file file;
        if (read_text(refused[i][0], &file, &error) != KF_BAD_INPUT) fail_msg("taken: %s", refused[i][0]);
        if (strstr(error.message, refused[i][1]) == NULL) fail_msg("%s: %s", refused[i][0], error.message);
    }
}

/* Adds `count` times of about 100 us times `ratio` to a file of test_held_against_each_other. */
static void add(kf_result_file *file, const char *name, size_t count, double ratio, double noise) {
    uint64_t seed = 11 + count + (uint64_t)(100.0 * ratio);
    file->list = kf_grow(file->list, file->count, &file->room, sizeof *file->list);
    kf_named_times *times = &file->list[file->count++];
    *times = (kf_named_times){.us = kf_allocate(count * sizeof *times->us), .count = count, .room = count};
    kf_copy_text(times->name, sizeof times->name, name);
    for (size_t i = 0; i < count; i++)
        times->us[i] =
            100.0 * ratio * (1.0 + noise * ((double)kf_random_below(&seed, 10000) / 10000.0 - 0.5));
}

/* Five values on each side are enough, and four on either side are not. A change that no value excludes is
 * uncertain. */
static void test_held_against_each_other(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t old_count, new_count;
        double ratio, noise;
        kf_verdict_state expected;
    } cases[] = {
        {"same", 5, 5, 1.0, 0.002, KF_SAME},           {"slower", 5, 5, 1.2, 0.002, KF_SLOW},
        {"faster", 5, 5, 0.8, 0.002, KF_FAST},         {"few then", 4, 40, 1.2, 0.002, KF_AMBIGUOUS},
        {"few now", 40, 4, 1.2, 0.002, KF_AMBIGUOUS},  {"few same", 4, 4, 1.0, 0.002, KF_AMBIGUOUS},
        {"noisy", 5, 5, 1.0, 0.8, KF_AMBIGUOUS},       {"gone", 5, 0, 1.0, 0.002, KF_NODATA},
        {"a hair more", 40, 40, 1.01, 0.002, KF_SAME}, {"new", 0, 5, 1.0, 0.002, KF_NODATA},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    kf_result_file before = {.list = NULL}, after = {.list = NULL};
    for (int i = 0; i < CASES; i++)
        if (cases[i].old_count > 0) add(&before, cases[i].name, cases[i].old_count, 1.0, cases[i].noise);
    for (int i = CASES - 1; i >= 0; i--) /* their order is that of the first file */
        if (cases[i].new_count > 0)
            add(&after, cases[i].name, cases[i].new_count, cases[i].ratio, cases[i].noise);
    kf_file_comparison *held = NULL;
    int count = 0;
    kf_hold_results(&before, &after, 0.02, &held, &count);
    assert_int_equal(count, CASES);
    for (int i = 0; i < CASES; i++) {
        assert_string_equal(held[i].name, cases[i].name);
        if (held[i].state != cases[i].expected)
            fail_msg("%s: %s instead of %s", held[i].name, kf_verdict_names[held[i].state],
                     kf_verdict_names[cases[i].expected]);
        assert_int_equal(held[i].old_count, cases[i].old_count);
        assert_int_equal(held[i].new_count, cases[i].new_count);
        assert_int_equal(isnan(held[i].old_us), cases[i].old_count == 0);
        assert_int_equal(isnan(held[i].new_us), cases[i].new_count == 0);
        if (cases[i].noise < 0.01 && cases[i].old_count > 0 && cases[i].new_count > 0) {
            assert_true(fabs(held[i].new_us / held[i].old_us - cases[i].ratio) < 0.004);
            assert_true(fabs(held[i].comparison.shift - log(cases[i].ratio)) < 0.004);
        }
    }
    free(held);
    kf_result_file_free(&before);
    kf_result_file_free(&after);
}

/* Of many benchmarks that did not change some seem changed by chance. The more there are, the surer a
 * change must be. */
static void test_many_benchmarks(void **state) {
    (void)state;
    enum { MANY = 60 };
    for (int many = 0; many < 2; many++) {
        kf_result_file before = {.list = NULL}, after = {.list = NULL};
        add(&before, "odd", 5, 1.0, 0.0), add(&after, "odd", 5, 1.1, 0.0);
        for (int i = 0; i < 5; i++) /* all five are slower: as certain as five values can be */
            before.list[0].us[i] += 0.1 * i, after.list[0].us[i] += 0.1 * i;
        for (int i = 0; many && i < MANY; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "quiet %d", i);
            add(&before, name, 5, 1.0, 0.002), add(&after, name, 5, 1.0, 0.002);
        }
        kf_file_comparison *held = NULL;
        int count = 0;
        kf_hold_results(&before, &after, 0.02, &held, &count);
        assert_int_equal(held[0].state, many ? KF_AMBIGUOUS : KF_SLOW);
        free(held);
        kf_result_file_free(&before);
        kf_result_file_free(&after);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_times_count), cmocka_unit_test(test_what_is_no_time),
        cmocka_unit_test(test_held_against_each_other), cmocka_unit_test(test_many_benchmarks)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
