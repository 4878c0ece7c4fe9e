/* Tests how long a large store takes to list and to add to. `make check` has a small one. The promise is
 * about a million results: KFTUNE_STORE_RESULTS=1000000 build/tests/test_store_speed. Faults: time that
 * grows with the square of the results. */
#include "tests/unit/store_fixture.h"

#include "base/statistics/statistics.h"
#include "base/util/clock.h"
#include "base/util/memory.h"

enum { RUNS = 200, ADDED = 400, LISTS = 5 };
static const double LIST_SECONDS = 1.0, ADD_SECONDS = 0.0002; /* docs/store.md */

static int wanted_results(void) {
    const char *asked = getenv("KFTUNE_STORE_RESULTS");
    return asked != NULL ? atoi(asked) : 20000;
}

static void execute(kf_store *store, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(store->database, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
}

/* Returns "x.a, x.b": the columns of a table without the first ones. */
static char *columns_of(kf_store *store, const char *table, int left_out, const char *prefix) {
    kf_text list = {0};
    char sql[96];
    sqlite3_stmt *statement = NULL;
    (void)snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') WHERE cid >= %d ORDER BY cid",
                   table, left_out);
    assert_int_equal(sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        kf_text_append(&list, "%s%s%s", list.length > 0 ? ", " : "", prefix,
                       (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return list.text;
}

/* Copies rows of "source x" to target, with the first columns as given. */
static void copy_rows(kf_store *store, const char *with, const char *table, int given, const char *names,
                      const char *values, const char *source) {
    char *into = columns_of(store, table, given, ""), *from = columns_of(store, table, given, "x.");
    kf_text sql = {0};
    kf_text_append(&sql, "%s INSERT INTO %s (%s, %s) SELECT %s, %s FROM %s", with, table, names, into, values,
                   from, source);
    execute(store, sql.text);
    kf_text_free(&sql);
    free(into);
    free(from);
}

static void count_from(char with[128], int first, int last) {
    (void)snprintf(with, 128, "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)",
                   first, last);
}

/* Makes copies of the first run, and of its first result with its kernels, in one transaction. */
static void fill(kf_store *store, int results) {
    char with[128], values[64];
    execute(store, "BEGIN");
    count_from(with, 2, RUNS);
    copy_rows(store, with, "run", 2, "id, uuid", "i, printf('%036d', i)", "n, run x WHERE x.id = 1");
    count_from(with, 0, results - 1);
    (void)snprintf(values, sizeof values, "2 + i %% %d, i / %d", RUNS - 1, RUNS - 1);
    copy_rows(store, with, "result", 3, "run, sequence", values,
              "n, result x WHERE x.run = 1 AND x.sequence = 0");
    copy_rows(store, "", "kernel", 1, "result", "r.id",
              "result r, kernel x WHERE r.run > 1 AND x.result = (SELECT id FROM result WHERE run = 1 AND "
              "sequence = 0)");
    execute(store, "COMMIT");
}

static void count_run(void *context, const kf_run_summary *run) {
    *(int *)context += run->results;
}

static double list_seconds(const char *path, int results) {
    double seconds[LISTS];
    for (int i = 0; i < LISTS; i++) {
        kf_store *store = NULL;
        kf_error error = {0};
        int listed = 0;
        const double begin = kf_clock_seconds();
        assert_int_equal(kf_store_open(path, true, &store, &error), KF_OK);
        assert_int_equal(kf_store_runs(store, count_run, &listed, &error), KF_OK);
        kf_store_close(store);
        seconds[i] = kf_clock_seconds() - begin;
        assert_int_equal(listed, results);
    }
    return kf_median(seconds, LISTS);
}

/* Each result is a transaction of its own, with two kernels and 15 samples. */
static double add_seconds(kf_store *store, const kf_run_row *run, int first) {
    double seconds[ADDED];
    kf_config config;
    kf_error error = {0};
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    fixture_measurement(measurement, 100.0, 15);
    for (int i = 0; i < ADDED; i++) {
        fixture_config(&config, i);
        const double begin = kf_clock_seconds();
        if (kf_store_add(store, run, first + i, "search", &config, measurement, &error) != KF_OK)
            fail_msg("%s", error.message);
        seconds[i] = kf_clock_seconds() - begin;
    }
    kf_measurement_free(measurement);
    free(measurement);
    return kf_median(seconds, ADDED);
}

static void a_large_store_is_quick(void **state) {
    (void)state;
    const int results = wanted_results();
    char path[KF_PATH];
    kf_run_row run;
    kf_error error = {0};
    fixture_path(path, "large.db");
    kf_store *store = fixture_open(path);
    fixture_begin(store, &run);
    const double small = add_seconds(store, &run, 0);
    assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    fill(store, results);
    const double large = add_seconds(store, &run, ADDED);
    kf_store_close(store);
    const double list = list_seconds(path, results + 2 * ADDED);
    printf(
        "%d results in %d runs: listed in %.3f s; one is added in %.3f ms, into an empty store in %.3f ms\n",
        results + 2 * ADDED, RUNS, list, 1e3 * large, 1e3 * small);
    assert_true(list < LIST_SECONDS);
    /* With other work on the machine only gross slowness is visible. */
    assert_true(large < (getenv("KFTUNE_STORE_RESULTS") != NULL ? ADD_SECONDS : 50.0 * ADD_SECONDS));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_large_store_is_quick)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
