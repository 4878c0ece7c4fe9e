/* Tests series that another program measured. Faults: a change is hidden and becomes SAME without a word,
 * numbers are misread, or two benchmarks with long names become one. */
#include <math.h>
#include <stdlib.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/nightly/series.h"
#include "tests/unit/store_fixture.h"

enum { NIGHTS = 40 };

/* A series of 100 that becomes 100 (1 + percent / 100) from night `changed` on. */
typedef struct plan {
    int changed, each; /* values a night */
    double percent, noise;
    const char *machine;
} plan;

static void write_series(const char *path, const plan *plans, int count) {
    kf_text text = {0};
    kf_error error = {0};
    uint64_t seeds[] = {7, 7}; /* each series has its own noise, whatever stands beside it */
    kf_text_append(&text, "machine,\"time\",commit,value\r\n");
    for (int night = 0; night < NIGHTS; night++)
        for (int p = 0; p < count; p++)
            for (int k = 0; k < plans[p].each; k++) {
                const double noise = (double)kf_random_below(&seeds[p], 10000) / 10000.0 - 0.5;
                const double change = night >= plans[p].changed ? 0.01 * plans[p].percent : 0.0;
                kf_text_append(&text, "\"%s\", 2026-%02d-%02d , c%d,%.6f\r\n", plans[p].machine,
                               1 + night / 28, 1 + night % 28, night,
                               100.0 * (1.0 + change) * (1.0 + plans[p].noise * noise));
            }
    assert_int_equal(kf_file_write_atomic(path, text.text, text.length, &error), KF_OK);
    kf_text_free(&text);
}

static kf_series_verdict judged(const plan *plans, int count, const char *pin, int which) {
    char path[KF_PATH];
    kf_error error = {0};
    kf_series_rows rows = {.list = NULL};
    kf_series_verdict *list = NULL;
    int found = 0;
    fixture_path(path, "series.csv");
    write_series(path, plans, count);
    if (kf_series_read(path, 1, &rows, &error) != KF_OK) fail_msg("%s", error.message);
    if (kf_series_judge(&rows, pin, &list, &found, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(found, count);
    const kf_series_verdict verdict = list[which];
    free(list);
    kf_series_free(&rows);
    return verdict;
}

/* Counts and probability that a reason says are the verdict's own: "6 values against 5, p 0.002". */
static void assert_words_are_figures(const kf_series_verdict *v) {
    size_t since = 0, before = 0;
    double probability = 0.0;
    const char *values = strstr(v->reason, " values against "), *said = strstr(v->reason, ", p ");
    if (values == NULL || strstr(v->reason, "no evidence") != NULL) return;
    const char *number = values;
    while (number > v->reason && number[-1] >= '0' && number[-1] <= '9')
        number--;
    assert_int_equal(sscanf(number, "%zu values against %zu", &since, &before), 2);
    assert_int_equal(since, v->new_count);
    assert_int_equal(before, v->old_count);
    assert_non_null(said);
    assert_int_equal(sscanf(said, ", p %lf", &probability), 1);
    assert_true(fabs(probability - v->comparison.probability) <= 0.05 * probability);
}

static void expect(plan p, const char *pin, kf_verdict_state state, const char *reason) {
    p.machine = "node 7, rack \"\"b\"\"";
    const kf_series_verdict v = judged(&p, 1, pin, 0);
    if (v.state != state || strstr(v.reason, reason) == NULL)
        fail_msg("%s instead of %s: %s", kf_verdict_names[v.state], kf_verdict_names[state], v.reason);
    assert_words_are_figures(&v);
    assert_string_equal(v.machine, "node 7, rack \"b\"");
    assert_string_equal(v.newest, "c39");
    assert_int_equal(v.nights, NIGHTS);
}

static void test_verdicts_of_made_series(void **state) {
    (void)state;
    expect((plan){.changed = 99, .each = 1, .noise = 0.01}, NULL, KF_SAME, "no change of more than 1");
    /* One value is no evidence, five are, whether of one night or of five. */
    expect((plan){.changed = 39, .each = 1, .percent = 5, .noise = 0.01}, NULL, KF_AMBIGUOUS, "since: 1");
    expect((plan){.changed = 35, .each = 1, .percent = 5, .noise = 0.01}, NULL, KF_SLOW, "since c35");
    expect((plan){.changed = 39, .each = 5, .percent = 5, .noise = 0.01}, NULL, KF_SLOW, "since c39");
    expect((plan){.changed = 39, .each = 5, .percent = -5, .noise = 0.01}, NULL, KF_FAST, "since c39");
    /* Older nights are history, and a pin is not. */
    expect((plan){.changed = 20, .each = 1, .percent = 5, .noise = 0.01}, NULL, KF_SAME,
           "since c20, 19 nights ago, which was +5");
    /* A pin that decides nothing says why. */
    expect((plan){.changed = 20, .each = 1, .percent = 5, .noise = 0.01}, "c2", KF_SAME,
           "against the pinned c2, which is no evidence: 5 values against 3, needed: 5 of each");
    expect((plan){.changed = 20, .each = 1, .percent = 5, .noise = 0.01}, "c39", KF_SAME,
           "it is of the pinned c39");
    for (int night = 12; night < 35; night++)
        expect((plan){.changed = night, .each = 1, .percent = 5, .noise = 0.01}, "c10", KF_DRIFT,
               "pinned c10");
    expect((plan){.changed = 37, .each = 3, .percent = 5, .noise = 0.01}, "c10", KF_DRIFT,
           "pinned c10: 9 values against 6");
    expect((plan){.changed = 99, .each = 1, .noise = 0.01}, "c10", KF_SAME, "no change");
    /* Noise hides. */
    expect((plan){.changed = 99, .each = 1, .noise = 0.6}, NULL, KF_NODATA, "would not be seen");
}

/* The value shown is the newest night's, whatever it was compared with. */
static void test_value_is_of_the_newest_night(void **state) {
    (void)state;
    const plan quiet = {.changed = 99, .each = 3, .noise = 0.01, .machine = "a"};
    const kf_series_verdict alone = judged(&quiet, 1, NULL, 0), pinned = judged(&quiet, 1, "c10", 0);
    assert_true(pinned.new_value == alone.new_value);
    assert_true(isnan(pinned.old_value));
    assert_int_equal(pinned.new_count, alone.new_count);
}

/* Appends nights of five values each of a machine, whose last night is another time's. */
static void append_two_nights(kf_text *text, int machine, double before, double after) {
    for (int night = 0; night < 2; night++)
        for (int k = 0; k < 5; k++)
            kf_text_append(text, "m%02d,2026-01-0%d,c%d,%.4f\n", machine, 1 + night, night,
                           (night == 0 ? before : after) + 0.01 * (7 * k % 5));
}

/* Among forty machines one that differs by no more than five values against five can show is not believed,
 * whichever way it differs; alone it is. */
static void test_chance_among_many(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (int machines = 1; machines <= 40; machines += 39) {
            char path[KF_PATH];
            kf_text text = {0};
            kf_error error = {0};
            kf_series_rows rows = {.list = NULL};
            kf_series_verdict *list = NULL;
            int count = 0;
            kf_text_append(&text, "machine,time,commit,value\n");
            for (int m = 0; m < machines; m++)
                append_two_nights(&text, m, 100.0, m == 0 ? 100.0 + 10.0 * sign : 100.0);
            fixture_path(path, "chance.csv");
            assert_int_equal(kf_file_write_atomic(path, text.text, text.length, &error), KF_OK);
            kf_text_free(&text);
            if (kf_series_read(path, 1, &rows, &error) != KF_OK) fail_msg("%s", error.message);
            if (kf_series_judge(&rows, NULL, &list, &count, &error) != KF_OK) fail_msg("%s", error.message);
            assert_int_equal(count, machines);
            const kf_verdict_state expected = machines > 1 ? KF_AMBIGUOUS : sign > 0 ? KF_SLOW : KF_FAST;
            if (list[0].state != expected)
                fail_msg("%d machines: %s: %s", machines, kf_verdict_names[list[0].state], list[0].reason);
            free(list);
            kf_series_free(&rows);
        }
}

static void test_machines_are_apart(void **state) {
    (void)state;
    const plan both[] = {{.changed = 35, .each = 2, .percent = 10, .noise = 0.01, .machine = "fast"},
                         {.changed = 99, .each = 1, .noise = 0.01, .machine = "other"}};
    const kf_series_verdict slow = judged(both, 2, NULL, 0), same = judged(both, 2, NULL, 1);
    assert_int_equal(slow.state, KF_SLOW);
    assert_string_equal(slow.machine, "fast");
    assert_true(fabs(expm1(slow.comparison.shift) - 0.1) < 0.01);
    assert_int_equal(same.state, KF_SAME);
}

/* A series is judged by itself: alone, and after a series of other sizes, it has the same verdict of all
 * its values. */
static void test_series_are_judged_alone(void **state) {
    (void)state;
    const plan huge = {.changed = 0, .each = 1, .percent = 1e8, .noise = 0.01, .machine = "a"},
               quiet = {.changed = 99, .each = 1, .noise = 0.01, .machine = "b"},
               slow = {.changed = 35, .each = 1, .percent = 5, .noise = 0.01, .machine = "b"};
    const plan *own[] = {&quiet, &slow};
    for (int i = 0; i < 2; i++) {
        const kf_series_verdict alone = judged(own[i], 1, NULL, 0),
                                after = judged((const plan[]){huge, *own[i]}, 2, NULL, 1);
        assert_int_equal(after.state, alone.state);
        assert_string_equal(after.reason, alone.reason);
        assert_int_equal(after.old_count, alone.old_count);
        if (i == 1) assert_int_equal(after.old_count, 35);
    }
}

/* A night is called by its commit, however short that is, and by its time where it has none. */
static void test_names_of_nights(void **state) {
    (void)state;
    static const char *const commits[][2] = {{"b", "b"}, {"bb", "bb"}, {"", "2026-01-02"}};
    for (size_t c = 0; c < sizeof commits / sizeof *commits; c++) {
        char path[KF_PATH], text[256];
        kf_error error = {0};
        kf_series_rows rows = {.list = NULL};
        kf_series_verdict *list = NULL;
        int count = 0;
        (void)snprintf(text, sizeof text, "time,commit,value\n2026-01-01,a,5\n2026-01-02,%s,5\n",
                       commits[c][0]);
        fixture_path(path, "names.csv");
        assert_int_equal(kf_file_write_atomic(path, text, strlen(text), &error), KF_OK);
        if (kf_series_read(path, 1, &rows, &error) != KF_OK) fail_msg("%s", error.message);
        if (kf_series_judge(&rows, "a", &list, &count, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(count, 1);
        assert_string_equal(list[0].newest, commits[c][1]);
        free(list);
        list = NULL;
        if (kf_series_judge(&rows, commits[c][1], &list, &count, &error) != KF_OK)
            fail_msg("%s", error.message);
        free(list);
        list = NULL;
        assert_int_equal(kf_series_judge(&rows, "none", &list, &count, &error), KF_BAD_INPUT);
        kf_series_free(&rows);
    }
}

/* Files of one name, a night each: nothing says that their code is the same. */
static void test_files_of_libraries(void **state) {
    (void)state;
    char path[KF_PATH], folder[KF_PATH];
    kf_error error = {0};
    kf_series_rows rows = {.list = NULL};
    kf_series_verdict *list = NULL;
    int count = 0;
    for (int night = 1; night <= 8; night++) {
        char name[32];
        kf_text text = {0};
        (void)snprintf(name, sizeof name, "night-%d", night);
        fixture_path(folder, name);
        assert_int_equal(kf_make_folders(folder, &error), KF_OK);
        assert_int_equal(kf_path(path, &error, "%s/bench.json", folder), KF_OK);
        kf_text_append(&text, "{\"results\": [{\"command\": \"./solver\", \"times\": [");
        for (int k = 0; k < 5; k++)
            kf_text_append(&text, "%s%g", k > 0 ? ", " : "", (night == 8 ? 1.1 : 1.0) + 0.001 * k);
        kf_text_append(&text, "]}]}");
        assert_int_equal(kf_file_write_atomic(path, text.text, text.length, &error), KF_OK);
        kf_text_free(&text);
        if (kf_series_read(path, night, &rows, &error) != KF_OK) fail_msg("%s", error.message);
    }
    if (kf_series_judge(&rows, NULL, &list, &count, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(count, 1);
    if (list[0].state != KF_SLOW) fail_msg("%s: %s", kf_verdict_names[list[0].state], list[0].reason);
    assert_string_equal(list[0].benchmark, "./solver");
    /* Seconds of the files are microseconds here, and the verdict says so. */
    assert_true(list[0].microseconds && fabs(list[0].new_value - 1.102e6) < 1.0);
    free(list);
    kf_series_free(&rows);
}

/* Benchmarks whose names agree for longer than a name may be stay apart, in files of libraries and in a
 * CSV. */
static void test_long_names_stay_apart(void **state) {
    (void)state;
    char stem[200], path[KF_PATH];
    memset(stem, 'x', sizeof stem - 1);
    stem[sizeof stem - 1] = '\0';
    for (int f = 0; f < 2; f++) {
        kf_error error = {0};
        kf_series_rows rows = {.list = NULL};
        kf_series_verdict *list = NULL;
        kf_text text = {0};
        int count = 0;
        if (f == 0)
            kf_text_append(&text,
                           "{\"results\": [{\"command\": \"%s1\", \"times\": [1]}, "
                           "{\"command\": \"%s2\", \"times\": [2]}]}",
                           stem, stem);
        else
            kf_text_append(&text, "time,value,benchmark\n1,1000000,%s1\n1,2000000,%s2\n", stem, stem);
        fixture_path(path, f == 0 ? "long.json" : "long.csv");
        assert_int_equal(kf_file_write_atomic(path, text.text, text.length, &error), KF_OK);
        kf_text_free(&text);
        if (kf_series_read(path, 1, &rows, &error) != KF_OK) fail_msg("%s", error.message);
        if (kf_series_judge(&rows, NULL, &list, &count, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(count, 2);
        assert_string_not_equal(list[0].benchmark, list[1].benchmark);
        assert_true(fabs(list[0].new_value + list[1].new_value - 3e6) < 1.0);
        free(list);
        kf_series_free(&rows);
    }
}

static void refused(const char *text, const char *why) {
    char path[KF_PATH];
    kf_error error = {0};
    kf_series_rows rows = {.list = NULL};
    kf_series_verdict *list = NULL;
    int count = 0;
    fixture_path(path, "bad.csv");
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), &error), KF_OK);
    kf_status status = kf_series_read(path, 1, &rows, &error);
    if (status == KF_OK) status = kf_series_judge(&rows, NULL, &list, &count, &error);
    assert_int_equal(status, KF_BAD_INPUT);
    if (strstr(error.message, why) == NULL) fail_msg("'%s' has no '%s'", error.message, why);
    free(list);
    kf_series_free(&rows);
}

static void test_bad_files(void **state) {
    (void)state;
    refused("", "must name the columns time and value");
    refused("when,value\n1,2\n", "must name the columns time and value");
    refused("time,value\n", "holds no value");
    refused("time,value\n1,2\n2,1.5x\n", ":3: value '1.5x'");
    refused("time,value\n1,-2\n", ":2: value '-2'");
    refused("time,value\n1,nan\n", ":2: value 'nan'");
    refused("time,value\n1,\n", ":2: value ''");
    /* A line with another number of fields than the header is refused, since a decimal comma would make 10
     * of 10,039. */
    refused("time,value\n1\n", ":2: has 1 field, and the first line names 2 columns");
    refused("time,value\n1,10,039\n", ":2: has 3 fields, and the first line names 2 columns; decimals begin");
    refused("time,value,commit\n1,10,039,a\n", ":2: has 4 fields");
    refused("time,value,commit\n1,10\n", ":2: has 2 fields");
    refused("time,value,commit\n1,10,\"a\n", ":2: a quote is not closed");
    refused("time;value\n1;10\n", "separated by commas, not semicolons");
    refused("time\tvalue\n1\t10\n", "separated by commas, not tabs");
    refused("\xff\xfet", "is text in UTF-16; save it as UTF-8");
    refused("time,value\r1,2\r2,1.5x\r", ":3: value '1.5x'");
    refused("time,value\n,1\n", ":2: the time is missing");
    refused("time,value\n1,1\nMonday,2\n", "no order");
    refused("time,value\n1.2.2024,1\n", ":2: time '1.2.2024' cannot be sorted");
    refused("time,value\n12/31/24,1\n", "the year first");
    refused("time,value,value\n1,1,2\n", "names the column value twice");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts_of_made_series),
        cmocka_unit_test(test_value_is_of_the_newest_night),
        cmocka_unit_test(test_machines_are_apart),
        cmocka_unit_test(test_chance_among_many),
        cmocka_unit_test(test_series_are_judged_alone),
        cmocka_unit_test(test_names_of_nights),
        cmocka_unit_test(test_files_of_libraries),
        cmocka_unit_test(test_long_names_stay_apart),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
