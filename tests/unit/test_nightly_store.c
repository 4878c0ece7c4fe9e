/* Tests nights in the store: tables, migration, contradictory verdicts, and JUnit's file. Faults: a night
 * that is lost, changed or taken for another. */
#include "tests/unit/night_fixture.h"

#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/nightly/entry.h"
#include "tests/unit/known_text.h"

static kf_status refuse(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)context;
    (void)verdict;
    return kf_fail(error, KF_MACHINE, "unexpected verdict");
}

static void test_processes_are_stored_once(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "nights.db");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night night;
    kf_run_row run = {0};
    fixture_night(store, &night, "one");
    assert_int_equal(fixture_process(store, &night, &run, "b", KF_ARM_NIGHT, 0, 100, &error), KF_OK);
    int64_t id = run.id;
    assert_true(id > 0);
    assert_int_equal(fixture_process(store, &night, &run, "b", KF_ARM_NIGHT, 1, 101, &error), KF_OK);
    assert_int_equal(run.id, id);
    /* A process that is stored a second time is refused and leaves nothing behind. */
    int before = fixture_integer(store->database, "SELECT count(*) FROM result");
    assert_int_equal(fixture_process(store, &night, &run, "b", KF_ARM_NIGHT, 1, 102, &error), KF_BAD_INPUT);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), before);
    kf_run_row none = {0};
    assert_int_equal(fixture_process(store, &night, &none, "b", KF_ARM_NIGHT, 1, 102, &error), KF_BAD_INPUT);
    assert_int_equal(none.id, 0);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run"), 1);
    /* A verdict is read back as it was stored. */
    assert_int_equal(kf_store_verdicts(store, night.id, refuse, NULL, &error), KF_OK);
    kf_verdict verdict = fixture_verdict("b", KF_SLOW, 100.5), read;
    verdict.reference = night.id;
    assert_int_equal(kf_store_add_verdict(store, night.id, run.id, &verdict, &error), KF_OK);
    assert_int_equal(kf_store_verdicts(store, night.id, fixture_keep_verdict, &read, &error), KF_OK);
    assert_int_equal(read.state, KF_SLOW);
    assert_string_equal(read.kernel, "stream_collide");
    assert_string_equal(read.counter, "registers a thread");
    assert_true(read.change > 0.03 && read.reference == night.id && read.counter_after > 95);
    assert_int_equal(kf_store_add_verdict(store, night.id, run.id, &verdict, &error), KF_BAD_INPUT);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run WHERE state = 'finished'"),
                     1);
    /* Nights are not among the runs. */
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, NULL, &summary, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_find_run(store, "1", &summary, &error), KF_OK);
    assert_string_equal(summary.origin, "nightly");
    /* The beginning of a UUID may have digits alone. Fewer than eight of them are a number. */
    assert_int_equal(sqlite3_exec(store->database,
                                  "UPDATE run SET uuid = '12345678' || substr(uuid, 9) WHERE id = 1", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(kf_store_find_run(store, "12345678", &summary, &error), KF_OK);
    assert_int_equal(summary.id, 1);
    assert_int_equal(kf_store_find_run(store, "1234567", &summary, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_find_run(store, "12345679", &summary, &error), KF_BAD_INPUT);
    /* Pruning keeps nights, also one of their runs that is named by its number. */
    int removed = 0;
    before = fixture_integer(store->database, "SELECT count(*) FROM result");
    assert_int_equal(kf_store_prune(store, 0, 1, &removed, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "run 1 holds a benchmark of nights"));
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), before);
    kf_store_close(store);
}

/* CHECK constraints refuse verdicts that contradict their numbers. */
static void test_verdicts_that_lie(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "lies.db");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night night;
    fixture_night(store, &night, "one");
    kf_verdict verdict = fixture_verdict("b", KF_SLOW, 100);
    verdict.change = -verdict.change;
    verdict.change_low = -1;
    assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_BAD_INPUT);
    verdict = fixture_verdict("b", KF_SLOW, 100);
    verdict.probability = NAN;
    assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_BAD_INPUT);
    verdict = fixture_verdict("b", KF_SLOW, 100);
    verdict.identical = true;
    assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_BAD_INPUT);
    verdict = fixture_verdict("b", KF_SAME, NAN);
    assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_BAD_INPUT);
    verdict = fixture_verdict("b", KF_NODATA, NAN);
    assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_OK);
    kf_store_close(store);
}

static void test_resuming_a_night(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "resume.db");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night first, second;
    bool resumed = true;
    fixture_night(store, &first, "one");
    assert_int_equal(kf_store_end_night(store, &first, "interrupted", &error), KF_OK);
    second = first;
    second.id = 0;
    assert_int_equal(kf_store_begin_night(store, 12, &second, &resumed, &error), KF_OK);
    assert_true(resumed);
    assert_int_equal(second.id, first.id);
    /* Another program begins another night. */
    assert_int_equal(kf_store_end_night(store, &first, "interrupted", &error), KF_OK);
    fixture_night(store, &second, "two");
    assert_true(second.id != first.id);
    assert_int_equal(kf_store_end_night(store, &second, "finished", &error), KF_OK);
    /* With a finished night in between, the first one belongs to the history. */
    fixture_hash(second.program, "one");
    assert_int_equal(kf_store_begin_night(store, 12, &second, &resumed, &error), KF_OK);
    kf_store_close(store);
}

/* A night is named with its label, where it has one. */
static void test_nights_are_named(void **state) {
    (void)state;
    char path[KF_PATH], buffer[KF_NIGHT_TEXT], plain[32], labelled[32];
    fixture_path(path, "named.db");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night night, other;
    bool resumed;
    fixture_night(store, &night, "one");
    assert_int_equal(kf_store_end_night(store, &night, "finished", &error), KF_OK);
    other = night;
    kf_copy_text(night.label, sizeof night.label, "");
    assert_int_equal(kf_store_begin_night(store, 12, &night, &resumed, &error), KF_OK);
    assert_int_equal(kf_store_end_night(store, &night, "finished", &error), KF_OK);
    kf_copy_text(other.label, sizeof other.label, "release 3");
    assert_int_equal(kf_store_begin_night(store, 12, &other, &resumed, &error), KF_OK);
    const kf_nightly_request request = {.store = store};
    kf_nightly_session session = {.request = &request};
    (void)snprintf(plain, sizeof plain, "night %d", (int)night.id);
    (void)snprintf(labelled, sizeof labelled, "night %d (release 3)", (int)other.id);
    assert_string_equal(kf_night_text(&session, night.id, buffer), plain);
    assert_string_equal(kf_night_text(&session, other.id, buffer), labelled);
    kf_store_close(store);
}

/* A store of version 1 with content is brought up to date and keeps its content. */
static void test_an_old_store_is_brought_up_to_date(void **state) {
    (void)state;
    char path[KF_PATH], *old = NULL;
    size_t size = 0;
    kf_error error = {0};
    fixture_path(path, "version-1.db");
    if (kf_file_read("tests/data/store-version-1.sql", 0, &old, &size, &error) != KF_OK)
        fail_msg("%s", error.message);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, old, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(database));
    assert_int_equal(sqlite3_exec(database,
                                  "UPDATE result SET mass_drift = 1e-9, load_error = 2e-6 WHERE id = 1", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    free(old);
    /* A store of an old version that is opened only to read is refused rather than changed. */
    kf_store *store = NULL;
    assert_int_equal(kf_store_open(path, true, &store, &error), KF_BAD_INPUT);
    store = fixture_open(path);
    assert_int_equal(fixture_integer(store->database, "PRAGMA user_version"), KF_STORE_VERSION);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result WHERE state = 'ok'"), 1);
    assert_int_equal(
        fixture_integer(store->database, "SELECT count(*) FROM kernel WHERE launches_per_step IS NULL"), 2);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM counter"), 1);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM night"), 0);
    assert_int_equal(
        fixture_integer(
            store->database,
            "SELECT count(*) FROM problem WHERE facts ->> 'node_count' = 96 * 48 * 48 AND facts ->> "
            "'size_y' = 48 AND facts ->> 'sample_count' = 100 AND facts ->> 'reynolds' = 1000 AND "
            "facts ->> 'collision' = 'acm_mrt' AND units ->> 'sample_count' = 'samples'"),
        1);
    assert_int_equal(
        fixture_integer(store->database,
                        "SELECT count(*) FROM result r JOIN run ON run.id = r.run WHERE r.updates_per_us = 1 "
                        "AND run.updates = 'node' AND json_array_length(r.deviations) = 3 AND "
                        "r.deviations ->> '$[1].name' = 'mass' AND r.deviations ->> '$[1].bound' = 1e-4 AND "
                        "r.deviations ->> '$[2].value' = 2e-6 AND r.deviations ->> '$[2].bound' IS NULL"),
        1);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result WHERE deviations IS NULL"),
                     1);
    /* Number 9 was pruned and is not assigned again. */
    kf_run_row run;
    fixture_begin(store, &run);
    assert_int_equal(run.id, 10);
    assert_int_equal(fixture_add(store, &run, 0, 100, &error), KF_OK);
    uint64_t seed = 1;
    (void)fixture_whole_night(store, "b", "one", 100, KF_SAME, &seed);
    /* It has the same tables as a new store. */
    char fresh_path[KF_PATH];
    fixture_path(fresh_path, "fresh.db");
    kf_store *fresh = fixture_open(fresh_path);
    char attach[KF_PATH + 64];
    (void)snprintf(attach, sizeof attach, "ATTACH '%s' AS fresh", fresh_path);
    kf_store_close(fresh);
    assert_int_equal(sqlite3_exec(store->database, attach, NULL, NULL, NULL), SQLITE_OK);
    static const char *const differences[] = {
        "SELECT count(*) FROM (SELECT type, name FROM main.sqlite_schema EXCEPT SELECT type, name FROM "
        "fresh.sqlite_schema)",
        "SELECT count(*) FROM (SELECT type, name FROM fresh.sqlite_schema EXCEPT SELECT type, name FROM "
        "main.sqlite_schema)",
        "SELECT count(*) FROM (SELECT t.name, c.name, c.type, c.\"notnull\", c.pk FROM main.sqlite_schema t, "
        "pragma_table_xinfo(t.name, 'main') c EXCEPT SELECT t.name, c.name, c.type, c.\"notnull\", c.pk FROM "
        "fresh.sqlite_schema t, pragma_table_xinfo(t.name, 'fresh') c)",
        "SELECT count(*) FROM (SELECT t.name, k.\"table\", k.\"from\", k.on_delete FROM main.sqlite_schema "
        "t, "
        "pragma_foreign_key_list(t.name, 'main') k EXCEPT SELECT t.name, k.\"table\", k.\"from\", "
        "k.on_delete FROM "
        "fresh.sqlite_schema t, pragma_foreign_key_list(t.name, 'fresh') k)",
    };
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        assert_int_equal(fixture_integer(store->database, differences[i]), 0);
    kf_store_close(store);
}

/* Appends each row of a table as its columns that are not null. */
static void dump(sqlite3 *database, const char *table, kf_text *text) {
    char sql[128];
    sqlite3_stmt *rows = NULL;
    (void)snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" ORDER BY 1, 2", table);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        kf_text_append(text, "%s:", table);
        for (int c = 0; c < sqlite3_column_count(rows); c++)
            if (sqlite3_column_type(rows, c) != SQLITE_NULL)
                kf_text_append(text, " %s=%s", sqlite3_column_name(rows, c),
                               (const char *)sqlite3_column_text(rows, c));
        kf_text_append(text, "\n");
    }
    (void)sqlite3_finalize(rows);
}

static void execute(sqlite3 *database, const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%.80s: %s", sql, sqlite3_errmsg(database));
}

/* Every column of rows that differ as migrations tell rows apart is known: runs of each system, a problem
 * without a flow, devices of a team, objectives, what only some versions between had. */
static void test_migrated_rows_are_known(void **state) {
    (void)state;
    static const char first[] =
        "UPDATE result SET verification_error = 0.25, verification_bound = 0.5 WHERE id = 1;"
        "INSERT INTO environment SELECT 2, replace(hash, '1', '9'), backend, '2 x Test device', identity,"
        " architecture, driver, compiler, multiprocessors, warp_size, max_threads_per_block, memory_bytes,"
        " l2_bytes, peak_bandwidth, processor, processor_count, operating_system, container, kftune"
        " FROM environment;"
        "INSERT INTO scene VALUES (2, replace(hex(zeroblob(32)), '0', 'a'), 'gemm', 'gemm.t1.json', 640, 1, "
        "2,"
        " 0, 0, 5, NULL, NULL, NULL);"
        "INSERT INTO run SELECT 10 + n, '00000000-0000-4000-8000-00000000001' || n, e, s, space, name,"
        " strategy, budget, n, origin, state, started, ended, process FROM run JOIN (SELECT 0 AS n, 1 AS e,"
        " 1 AS s, 'd2q9' AS name UNION VALUES (1, 1, 1, 'stable_fluids'), (2, 1, 1, 'sph'), (3, 1, 2, 't1'),"
        " (4, 2, 1, 'kinetic'), (5, 1, 1, 'incompressible')) WHERE id = 4;"
        "INSERT INTO result SELECT id + 10, 14, sequence, role, config,"
        " build, state, reason, measured, step_us, q1_us, q3_us, minimum_us, maximum_us, low_us, high_us,"
        " sample_count, samples, batch, stop, 10 * mlups, bandwidth, verification_error,"
        " verification_bound, 0.125, 2.5, worst, compile_s, verify_s, measure_s,"
        " before_sm_clock_mhz, before_memory_clock_mhz, before_temperature_c, before_power_w,"
        " before_throttle_reasons, after_sm_clock_mhz, after_memory_clock_mhz, after_temperature_c,"
        " after_power_w, after_throttle_reasons FROM result WHERE id = 1;"
        "INSERT INTO kernel SELECT 11, ordinal, name, sample_count, median_us, q1_us, q3_us, minimum_us,"
        " maximum_us, low_us, high_us, bytes, flops, registers, shared_bytes, spill_bytes,"
        " theoretical_occupancy FROM kernel;";
    static const char between[] =
        "UPDATE run SET objective = 'edp', winner = 2, noise_floor = 0.01 WHERE id = 11;"
        "UPDATE run SET objective = 'energy' WHERE id = 12;"
        "UPDATE result SET effort = 0.5, turn_steps = 7, turn_windows = 3, cache = 'hot' WHERE id = 1;";
    char *old = NULL;
    size_t size = 0;
    kf_error error = {0};
    sqlite3 *database = NULL;
    kf_text text = {0};
    if (kf_file_read("tests/data/store-version-1.sql", 0, &old, &size, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    execute(database, old);
    free(old);
    execute(database, first);
    for (int version = 5; version <= KF_STORE_VERSION; version += KF_STORE_VERSION - 5) {
        if (kf_schema_bring_up(database, "old.db", "", kf_migrations, version - 1, version, &error) != KF_OK)
            fail_msg("%s", error.message);
        if (version == 5) execute(database, between);
    }
    static const char *const tables[] = {"problem", "run", "result", "kernel", "counter", "sqlite_sequence"};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        dump(database, tables[t], &text);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    assert_known("migrated.txt", text.text);
}

/* --- JUnit
 * ------------------------------------------------------------------------------------------------------ */

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void test_junit_has_every_verdict(void **state) {
    (void)state;
    char path[KF_PATH], out[KF_PATH];
    fixture_path(path, "junit.db");
    fixture_path(out, "junit.xml");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night night;
    fixture_night(store, &night, "a \"<&>\" \x01 program \xff");
    for (int i = 0; i < KF_VERDICTS; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s <&\"'> \xc3\xa9", kf_verdict_names[i]);
        kf_verdict verdict =
            fixture_verdict(name, (kf_verdict_state)i, i == KF_NODATA ? (double)NAN : 100.0 + i);
        kf_copy_text(verdict.reason, sizeof verdict.reason, "]]> \x02 <b>\"\nnext line");
        assert_int_equal(kf_store_add_verdict(store, night.id, 0, &verdict, &error), KF_OK);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (kf_store_export_junit(store, night.id, stream, &error) != KF_OK) fail_msg("%s", error.message);
    (void)fclose(stream);
    assert_int_equal(occurrences(text, "<testcase "), KF_VERDICTS);
    assert_int_equal(occurrences(text, "<failure "), 2);
    assert_int_equal(occurrences(text, "<error "), 1);
    assert_int_equal(occurrences(text, "<skipped "), 2);
    assert_int_equal(occurrences(text, "tests=\"7\" failures=\"2\" errors=\"1\" skipped=\"2\""), 2);
    assert_null(strstr(text, "<b>"));
    assert_null(strchr(text, '\x01'));
    assert_int_equal(kf_file_write_atomic(out, text, size, &error), KF_OK);
    free(text);
    char command[KF_PATH + 64];
    (void)snprintf(command, sizeof command, "command -v xmllint >/dev/null || exit 0; xmllint --noout '%s'",
                   out);
    assert_int_equal(system(command), 0);
    assert_int_equal(kf_store_export_junit(store, 99, stdout, &error), KF_BAD_INPUT);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes_are_stored_once),
        cmocka_unit_test(test_verdicts_that_lie),
        cmocka_unit_test(test_resuming_a_night),
        cmocka_unit_test(test_nights_are_named),
        cmocka_unit_test(test_an_old_store_is_brought_up_to_date),
        cmocka_unit_test(test_migrated_rows_are_known),
        cmocka_unit_test(test_junit_has_every_verdict),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
