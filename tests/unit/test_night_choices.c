/* Tests which of several rows of nights counts: nights of a history, the latest series, processes whose
 * counters are averaged, job and program, what is pinned, the night that names what is absent. Faults: the
 * wrong one counts. */
#include "tests/unit/night_fixture.h"

#include "harness/nightly/entry.h"

static void series_of(char series[KF_HASH_HEX]) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    kf_store_series("b", problem, &device, series);
    kf_problem_free(problem);
}

/* Adds nights of benchmark "b", each of which took as many seconds as its number. */
static kf_store *five_nights(const char *name) {
    uint64_t seed = 1;
    kf_store *store = fixture_open_new(name);
    for (int i = 0; i < 5; i++)
        (void)fixture_whole_night(store, "b", i < 3 ? "old" : "new", 100.0 + i, KF_SAME, &seed);
    return store;
}

/* The history has only finished nights and the one that is asked about, and of these only the last few. */
static void which_nights_are_history(void **state) {
    (void)state;
    char series[KF_HASH_HEX];
    kf_error error = {0};
    kf_store *store = five_nights("history.db");
    series_of(series);
    fixture_change(store, "UPDATE night SET state = 'interrupted' WHERE id = 2");
    static const struct {
        int64_t asked;
        int limit, count;
        int64_t nights[5];
    } cases[] = {
        {0, 10, 4, {1, 3, 4, 5}}, {2, 10, 5, {1, 2, 3, 4, 5}}, {0, 2, 2, {4, 5}}, {2, 4, 4, {2, 3, 4, 5}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_history_night *nights = NULL;
        int count = 0;
        assert_int_equal(
            kf_store_history(store, "b", series, cases[c].asked, cases[c].limit, &nights, &count, &error),
            KF_OK);
        assert_int_equal(count, cases[c].count);
        for (int i = 0; i < count; i++) {
            assert_int_equal(nights[i].night, cases[c].nights[i]);
            assert_int_equal(nights[i].process_count, 5);
        }
        free(nights);
    }
    kf_store_close(store);
}

typedef struct listed {
    kf_series_summary list[4];
    int count;
} listed;

static kf_status note_series(void *context, const kf_series_summary *series, kf_error *error) {
    (void)error;
    listed *all = context;
    assert_true(all->count < 4);
    all->list[all->count++] = *series;
    return KF_OK;
}

/* Of a benchmark's series the one that was measured last comes first, even if another has more nights.
 * What was measured of an earlier program for a comparison is not a night of a series. */
static void the_latest_series_comes_first(void **state) {
    (void)state;
    kf_error error = {0};
    kf_store *store = five_nights("series.db");
    listed all = {.count = 0};
    fixture_change(
        store, "UPDATE nightly SET series = replace(hex(zeroblob(32)), '0', 'c') WHERE night IN (1, 2, 4)");
    fixture_change(store, "UPDATE nightly SET arm = 'reference' WHERE night = 5 AND ordinal = 4");
    fixture_change(
        store, "UPDATE nightly SET series = replace(hex(zeroblob(32)), '0', 'd') WHERE arm = 'reference'");
    assert_int_equal(kf_store_series_list(store, note_series, &all, &error), KF_OK);
    assert_int_equal(all.count, 2);
    assert_true(all.list[0].last_night == 5 && all.list[0].nights == 2);
    assert_true(all.list[1].last_night == 4 && all.list[1].nights == 3);
    assert_memory_equal(all.list[1].series, "cccc", 4);
    kf_store_close(store);
}

static void note_counter(void *context, int ordinal, const char *metric, double value) {
    double *values = context;
    assert_true(ordinal == -1 || ordinal == 0);
    assert_string_equal(metric, "cycles");
    values[ordinal + 1] = value;
}

/* A night's counter is the mean over its processes of one arm, separately for each kernel. */
static void counters_are_means_of_an_arm(void **state) {
    (void)state;
    kf_error error = {0};
    kf_store *store = five_nights("counters.db");
    double values[2] = {0, 0};
    fixture_change(store, "UPDATE nightly SET arm = 'candidate' WHERE night = 2 AND ordinal = 4");
    fixture_change(store,
                   "INSERT INTO counter SELECT result, -1, 'cycles', 10 * night + ordinal * ordinal, 1, '1' "
                   "FROM nightly");
    fixture_change(
        store,
        "INSERT INTO counter SELECT result, 0, 'cycles', 7 * night + ordinal * ordinal, 1, '1' FROM nightly");
    assert_int_equal(kf_store_night_counters(store, 2, "b", KF_ARM_NIGHT, note_counter, values, &error),
                     KF_OK);
    assert_true(fabs(values[0] - 23.5) < 1e-9 && fabs(values[1] - 17.5) < 1e-9);
    assert_int_equal(kf_store_night_counters(store, 2, "b", KF_ARM_CANDIDATE, note_counter, values, &error),
                     KF_OK);
    assert_true(fabs(values[0] - 36) < 1e-9);
    kf_store_close(store);
}

/* A night's job and program come from its own first process, not from the program it was compared with. A
 * verdict's seconds come from its own night and benchmark. */
static void whose_job_and_seconds(void **state) {
    (void)state;
    kf_error error = {0};
    kf_store *store = five_nights("jobs.db");
    char program[KF_HASH_HEX] = "", expected[KF_HASH_HEX], *job = NULL;
    kf_verdict verdict;
    uint64_t seed = 1;
    (void)fixture_whole_night(store, "c", "new", 100, KF_SAME, &seed);
    fixture_change(
        store,
        "UPDATE nightly SET job = '{\"a\": ' || ordinal || '}', program = replace(hex(zeroblob(32)), '0', "
        "CASE ordinal WHEN 0 THEN 'e' ELSE 'f' END) WHERE night = 4");
    fixture_change(store, "UPDATE nightly SET arm = 'candidate' WHERE night = 4 AND ordinal = 0");
    fixture_change(store,
                   "UPDATE nightly SET arm = 'reference', program = replace(hex(zeroblob(32)), '0', 'a') "
                   "WHERE night = 4 AND ordinal = 4");
    fixture_change(
        store,
        "UPDATE nightly SET program = replace(hex(zeroblob(32)), '0', 'b') WHERE night = 4 AND ordinal = 1");
    memset(expected, 'b', KF_HASH_HEX - 1);
    expected[KF_HASH_HEX - 1] = '\0';
    assert_int_equal(kf_store_night_job(store, 4, "b", &job, program, &error), KF_OK);
    assert_string_equal(job, "{\"a\": 1}");
    assert_string_equal(program, expected);
    free(job);
    assert_int_equal(kf_store_verdicts(store, 4, fixture_keep_verdict, &verdict, &error), KF_OK);
    assert_string_equal(verdict.program, expected);
    assert_true(fabs(verdict.seconds - 5 * 0.875) < 1e-9);
    kf_store_close(store);
}

/* Adds a failed process of a night. */
static void add_failed(kf_store *store, const kf_night *night) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_measurement m;
    kf_device_info device;
    kf_config config;
    kf_run_row run = {0};
    char series[KF_HASH_HEX];
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_config(&config, 1);
    fixture_run(&run);
    fixture_failure(&m, KF_STATE_CRASH, "as the test wants it");
    kf_store_series("b", problem, &device, series);
    const kf_process_row row = {
        .benchmark = "b", .arm = KF_ARM_NIGHT, .series = series, .program = night->program, .job = "{}"};
    if (kf_store_add_process(store, night, &row, problem, &device, &run, &config, &m, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_problem_free(problem);
}

/* A pin moves to the night that was pinned last, and only that night is shown as pinned. A benchmark that
 * failed on a night is not pinned there. */
static void a_pin_moves(void **state) {
    (void)state;
    char series[KF_HASH_HEX];
    kf_error error = {0};
    kf_store *store = five_nights("pins.db");
    kf_history_night pinned, *nights = NULL;
    kf_night night;
    kf_run_row run = {0};
    bool found = false;
    int count = -1;
    series_of(series);
    assert_int_equal(kf_store_pin(store, 4, &count, &error), KF_OK);
    assert_int_equal(count, 1);
    assert_int_equal(kf_store_pin(store, 2, &count, &error), KF_OK);
    assert_int_equal(count, 1);
    assert_int_equal(kf_store_pinned(store, "b", series, &pinned, &found, &error), KF_OK);
    assert_true(found && pinned.night == 2);
    assert_int_equal(kf_store_history(store, "b", series, 0, 10, &nights, &count, &error), KF_OK);
    for (int i = 0; i < count; i++)
        assert_int_equal(nights[i].pinned, nights[i].night == 2);
    free(nights);
    fixture_night(store, &night, "newer");
    assert_int_equal(fixture_process(store, &night, &run, "b", KF_ARM_REFERENCE, 0, 100, &error), KF_OK);
    add_failed(store, &night);
    assert_int_equal(kf_store_pin(store, night.id, &count, &error), KF_OK);
    assert_int_equal(count, 0);
    assert_int_equal(kf_store_pinned(store, "b", series, &pinned, &found, &error), KF_OK);
    assert_true(found && pinned.night == 2);
    kf_store_close(store);
}

/* Code that was found slower than the release stays so on the next night, however it was found. It does not
 * where the code changed, where another release was meant, or where it was not found slower. */
static void what_is_carried_over(void **state) {
    (void)state;
    static const struct {
        kf_verdict_state last;
        int reference; /* nights 1 and 2 have the pinned code, night 3 has another */
        bool unchanged, held;
    } cases[] = {{KF_SLOW, 1, true, true},   {KF_DRIFT, 1, true, true},  {KF_SLOW, 2, true, true},
                 {KF_DRIFT, 2, true, true},  {KF_SLOW, 3, true, false},  {KF_DRIFT, 3, true, false},
                 {KF_FAST, 1, true, false},  {KF_SAME, 1, true, false},  {KF_AMBIGUOUS, 1, true, false},
                 {KF_SLOW, 1, false, false}, {KF_DRIFT, 1, false, false}};
    static const char *const programs[] = {"release", "release", "other", "slow", "slow"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char name[32], sql[96];
        uint64_t seed = 1;
        kf_error error = {0};
        kf_history_night *nights = NULL;
        int count = 0;
        bool held = false;
        (void)snprintf(name, sizeof name, "carried-%zu.db", c);
        kf_store *store = fixture_open_new(name);
        for (int i = 0; i < 5; i++)
            (void)fixture_whole_night(store, "b", programs[i], 100.0, i == 3 ? cases[c].last : KF_SAME,
                                      &seed);
        (void)snprintf(sql, sizeof sql, "UPDATE verdict SET reference = %d WHERE night = 4",
                       cases[c].reference);
        fixture_change(store, sql);
        assert_int_equal(kf_store_pin(store, 1, &count, &error), KF_OK);
        const kf_suite_benchmark benchmark = {.name = "b"};
        const kf_nightly_request request = {.store = store};
        kf_nightly_result result = {.night = {.id = 5}};
        kf_nightly_session session = {.request = &request, .result = &result};
        kf_entry *entry = kf_allocate_zeroed(1, sizeof *entry);
        entry->benchmark = &benchmark;
        entry->unchanged = cases[c].unchanged;
        series_of(entry->series);
        assert_int_equal(kf_store_history(store, "b", entry->series, 0, 10, &nights, &count, &error), KF_OK);
        assert_int_equal(count, 5);
        if (kf_entry_hold_against_pin(&session, entry, nights, count, false, &held, &error) != KF_OK)
            fail_msg("%s", error.message);
        if (held != cases[c].held) fail_msg("case %zu: %s", c, held ? "held" : "not held");
        assert_int_equal(entry->pinned, 1);
        if (held) {
            assert_true(fabs(entry->verdict.change - 0.031) < 1e-12);
            assert_non_null(strstr(entry->verdict.reason,
                                   "same code as night 4 (slow), which was found 3.1 % "
                                   "slower than the pinned night 1 (release)"));
        }
        free(nights);
        free(entry);
        kf_store_close(store);
    }
}

/* Benchmarks are absent relative to the newest earlier night of this suite that finished. Later nights,
 * other suites and interrupted nights do not count. */
static void absent_from_the_night_before(void **state) {
    (void)state;
    kf_error error = {0};
    uint64_t seed = 1;
    kf_store *store = fixture_open_new("absent.db");
    static const char *const names[] = {"first", "second", "broken", "others", "tonight", "later"};
    for (int i = 0; i < 6; i++)
        (void)fixture_whole_night(store, names[i], "one", 100, KF_SAME, &seed);
    fixture_change(store, "UPDATE night SET state = 'interrupted' WHERE id = 3");
    fixture_change(store, "UPDATE night SET suite = 'another' WHERE id = 4");
    kf_verdict tonight = {.state = KF_SAME};
    kf_copy_text(tonight.benchmark, sizeof tonight.benchmark, "tonight");
    kf_nightly_result result = {.count = 1, .verdicts = &tonight};
    result.night.id = 5;
    kf_copy_text(result.night.suite, sizeof result.night.suite, "test");
    assert_int_equal(kf_nightly_find_absent(store, &result, &error), KF_OK);
    assert_int_equal(result.before, 2);
    assert_int_equal(result.absent_count, 1);
    assert_string_equal(result.absent[0], "second");
    free(result.absent);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_nights_are_history),
        cmocka_unit_test(the_latest_series_comes_first),
        cmocka_unit_test(counters_are_means_of_an_arm),
        cmocka_unit_test(whose_job_and_seconds),
        cmocka_unit_test(a_pin_moves),
        cmocka_unit_test(what_is_carried_over),
        cmocka_unit_test(absent_from_the_night_before),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
