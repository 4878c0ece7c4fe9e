/* Tests which of several rows of a store counts: the run or the night that is continued, the newest, those
 * that are pruned. Each differs from the others in one thing. Faults: the wrong one counts. */
#include "tests/unit/night_fixture.h"

static void begin_as(kf_store *store, kf_run_row *run, const char *state) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    if (kf_store_begin_run(store, problem, &device, run, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_store_end_run(store, run, state, &error), KF_OK);
    kf_problem_free(problem);
}

/* Returns the run that one like `asked` continues. Runs that it takes are then set to interrupted again. */
static int64_t carried_on(kf_store *store, const kf_run_row *asked, bool sample) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_error error = {0};
    kf_run_row found = *asked;
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    const kf_status status = sample ? kf_store_find_sample(store, problem, &device, &found, &error)
                                    : kf_store_find_unfinished(store, problem, &device, &found, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    if (found.id != 0) assert_int_equal(kf_store_end_run(store, &found, "interrupted", &error), KF_OK);
    kf_problem_free(problem);
    return found.id;
}

/* Of two that were interrupted the newest is continued. Runs that failed, were imported, or had another
 * objective are not. */
static void the_newest_run_is_carried_on(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("carried.db");
    kf_run_row asked, older, newer, other;
    fixture_run(&asked);
    older = newer = asked;
    begin_as(store, &older, "interrupted");
    begin_as(store, &newer, "interrupted");
    other = asked;
    begin_as(store, &other, "failed");
    other = asked;
    begin_as(store, &other, "interrupted");
    fixture_change(store, "UPDATE run SET origin = 'imported' WHERE id = 4");
    other = asked;
    kf_copy_text(other.objective, sizeof other.objective, "energy");
    begin_as(store, &other, "interrupted");
    other = asked;
    other.metrics = "[{\"name\": \"gflops\", \"expression\": \"2*n/time\"}]";
    begin_as(store, &other, "interrupted");
    assert_int_equal(carried_on(store, &asked, false), newer.id);
    assert_int_equal(carried_on(store, &other, false), other.id);
    fixture_change(store, "DELETE FROM run WHERE id = 2");
    assert_int_equal(carried_on(store, &asked, false), older.id);
    kf_store_close(store);
}

/* A sample is continued where it was interrupted, even if a newer one has finished, and otherwise where
 * the newest of its strategy finished. */
static void an_unfinished_sample_comes_first(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("sample.db");
    kf_run_row asked, unfinished, finished, newest, other;
    fixture_run(&asked);
    unfinished = finished = newest = other = asked;
    kf_copy_text(other.strategy, sizeof other.strategy, "model");
    begin_as(store, &unfinished, "interrupted");
    begin_as(store, &finished, "finished");
    begin_as(store, &newest, "finished");
    begin_as(store, &other, "finished");
    assert_int_equal(carried_on(store, &asked, true), unfinished.id);
    fixture_change(store, "DELETE FROM run WHERE id = 1");
    assert_int_equal(carried_on(store, &asked, false), 0);
    assert_int_equal(carried_on(store, &asked, true), newest.id);
    kf_store_close(store);
}

static kf_status find(kf_store *store, const char *name, kf_run_summary *run) {
    kf_error error = {0};
    return kf_store_find_run(store, name, run, &error);
}

/* Without a name the newest run counts that belongs to no night. Digits name a run by its number, and
 * eight or more also by its UUID. */
static void which_run_a_name_is_of(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("names.db");
    kf_run_row run;
    kf_run_summary found;
    fixture_run(&run);
    for (int i = 0; i < 4; i++)
        begin_as(store, &run, "finished");
    fixture_change(store, "UPDATE run SET origin = 'nightly' WHERE id = 4");
    assert_int_equal(find(store, NULL, &found), KF_OK);
    assert_int_equal(found.id, 3);
    fixture_change(store, "UPDATE run SET origin = 'imported' WHERE id = 3");
    assert_int_equal(find(store, NULL, &found), KF_OK);
    assert_int_equal(found.id, 3);

    fixture_change(store, "UPDATE run SET uuid = '12345678' || substr(uuid, 9) WHERE id = 2");
    assert_int_equal(find(store, "12345678", &found), KF_OK);
    assert_int_equal(found.id, 2);
    assert_int_equal(find(store, "1234567", &found), KF_BAD_INPUT);
    assert_int_equal(find(store, "1", &found), KF_OK);
    assert_int_equal(found.id, 1);
    fixture_change(store, "UPDATE run SET uuid = 'abcd' || substr(uuid, 5) WHERE id IN (1, 2)");
    assert_int_equal(find(store, "abcd", &found), KF_BAD_INPUT); /* it is of both */
    fixture_change(store, "UPDATE run SET uuid = 'abce' || substr(uuid, 5) WHERE id = 1");
    assert_int_equal(find(store, "abcd", &found), KF_OK);
    assert_int_equal(found.id, 2);
    kf_store_close(store);
}

/* Exports a run of results in this order and returns the time of the one that is called best. */
static double exported_best(const char *name, const double times[4], const char *const roles[4], int winner) {
    kf_store *store = fixture_open_new(name);
    kf_run_row run;
    kf_error error = {0};
    char sql[96], *text = NULL;
    size_t size = 0;
    fixture_begin(store, &run);
    for (int i = 0; i < 4; i++) {
        kf_config config;
        kf_measurement *m = kf_allocate(sizeof *m);
        fixture_config(&config, i);
        fixture_measurement(m, times[i], 1);
        if (kf_store_add(store, &run, i, roles[i], &config, m, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_measurement_free(m);
        free(m);
    }
    (void)snprintf(sql, sizeof sql, "UPDATE run SET winner = %d WHERE %d >= 0", winner, winner);
    fixture_change(store, sql);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    if (kf_store_export_github(store, run.id, stream, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(fclose(stream), 0);
    cJSON *list = cJSON_Parse(text);
    const cJSON *best = cJSON_GetArrayItem(list, 0);
    assert_true(strstr(cJSON_GetObjectItemCaseSensitive(best, "name")->valuestring, "/best") != NULL);
    const double time = cJSON_GetObjectItemCaseSensitive(best, "value")->valuedouble;
    cJSON_Delete(list);
    free(text);
    kf_store_close(store);
    return time;
}

/* A benchmark's best is what the run chose, else the fastest of the final, else the fastest, wherever in the
 * run it was measured. */
static void which_result_is_exported_as_best(void **state) {
    (void)state;
    static const struct {
        double times[4];
        const char *roles[4];
        int winner; /* -1: not known */
        double best;
    } cases[] = {{{40, 20, 30, 50}, {"search", "search", "search", "search"}, -1, 20},
                 {{10, 20, 30, 50}, {"search", "search", "search", "search"}, -1, 10},
                 {{40, 30, 20, 10}, {"search", "search", "search", "search"}, -1, 10},
                 {{10, 40, 30, 20}, {"search", "final", "final", "search"}, -1, 30},
                 {{10, 30, 40, 20}, {"search", "final", "final", "search"}, -1, 30},
                 {{30, 10, 20, 40}, {"final", "search", "search", "final"}, -1, 30},
                 {{30, 10, 20, 40}, {"final", "search", "search", "final"}, 2, 20},
                 {{30, 10, 20, 40}, {"search", "search", "final", "final"}, 0, 30}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char name[32];
        (void)snprintf(name, sizeof name, "best-%zu.db", c);
        const double best = exported_best(name, cases[c].times, cases[c].roles, cases[c].winner);
        if (fabs(best - cases[c].best) > 1e-4) fail_msg("case %zu: %g", c, best);
    }
}

/* Of runs of the same age nights stay, and otherwise the older ones are removed. */
static void what_is_pruned(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("pruned.db");
    kf_run_row run;
    kf_error error = {0};
    int removed = -1;
    fixture_run(&run);
    for (int i = 0; i < 4; i++)
        begin_as(store, &run, "finished");
    fixture_change(
        store,
        "UPDATE run SET started = '2001-01-01T00:00:00.000000Z', ended = '2001-01-01T00:00:00.000000Z' "
        "WHERE id <> 4");
    fixture_change(store, "UPDATE run SET origin = 'nightly' WHERE id = 2");
    fixture_change(store, "UPDATE run SET origin = 'imported' WHERE id = 3");
    assert_int_equal(kf_store_prune(store, 30, 0, &removed, &error), KF_OK);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run"), 2);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run WHERE id IN (2, 4)"), 2);
    kf_store_close(store);
}

/* A run of this process is running. One whose process is gone was interrupted. */
static void whose_process_is_gone(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("gone.db");
    kf_run_row run;
    kf_run_summary found;
    fixture_begin(store, &run);
    assert_int_equal(find(store, NULL, &found), KF_OK);
    assert_string_equal(found.state, "running");
    fixture_change(store, "UPDATE run SET process = 'boot 1 1'");
    assert_int_equal(find(store, NULL, &found), KF_OK);
    assert_string_equal(found.state, "interrupted");
    kf_store_close(store);
}

static void begin_night(kf_store *store, const char *suite, const char *program, kf_night *night,
                        bool *resumed) {
    kf_error error = {0};
    *night = (kf_night){.id = 0};
    kf_copy_text(night->suite, sizeof night->suite, suite);
    fixture_hash(night->suite_hash, "suite");
    fixture_hash(night->program, program);
    if (kf_store_begin_night(store, 12.0, night, resumed, &error) != KF_OK) fail_msg("%s", error.message);
}

/* Only the newest of a suite's unfinished nights is continued, if it is of this program. The others were
 * interrupted. */
static void only_the_newest_night_is_carried_on(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("nights.db");
    kf_night first, second, other, again;
    bool resumed = false;
    begin_night(store, "test", "one", &first, &resumed);
    fixture_change(store, "UPDATE night SET process = 'boot 1 1'");
    begin_night(store, "test", "two", &second, &resumed);
    assert_false(resumed);
    assert_int_equal(fixture_integer(store->database, "SELECT state = 'interrupted' FROM night WHERE id = 1"),
                     1);
    fixture_change(store, "UPDATE night SET process = 'boot 1 1' WHERE id = 2");
    begin_night(store, "other", "one", &other, &resumed);
    assert_false(resumed);
    fixture_change(store, "UPDATE night SET process = 'boot 1 1' WHERE id = 3");
    begin_night(store, "test", "two", &again, &resumed); /* a newer night of another suite does not count */
    assert_true(resumed);
    assert_int_equal(again.id, second.id);
    fixture_change(store, "UPDATE night SET process = 'boot 1 1' WHERE id = 2");
    begin_night(store, "test", "one", &again,
                &resumed); /* the first is of this program, but not the newest */
    assert_false(resumed);
    assert_true(again.id > other.id);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_run_is_carried_on),
        cmocka_unit_test(an_unfinished_sample_comes_first),
        cmocka_unit_test(which_run_a_name_is_of),
        cmocka_unit_test(which_result_is_exported_as_best),
        cmocka_unit_test(what_is_pruned),
        cmocka_unit_test(whose_process_is_gone),
        cmocka_unit_test(only_the_newest_night_is_carried_on),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
