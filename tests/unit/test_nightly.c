/* Nights: the store's tables and their migration, suite files, and whole nights with programs whose times the
 * test chooses: verdicts, identity, carrying on after kills. */
#include "tests/unit/night_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/cli/command.h"
#include "harness/nightly/job.h"
#include "harness/nightly/suite.h"
#include "solver/systems.h"

/* --- the store
 * ------------------------------------------------------------------------------------------------ */

static kf_status refuse(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)context;
    (void)verdict;
    return kf_fail(error, KF_MACHINE, "unexpected verdict");
}

static kf_status copy_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    *(kf_verdict *)context = *verdict;
    return KF_OK;
}

static void test_store(void **state) {
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
    /* The same process once more is refused, and leaves nothing behind. */
    int before = fixture_integer(store->database, "SELECT count(*) FROM result");
    assert_int_equal(fixture_process(store, &night, &run, "b", KF_ARM_NIGHT, 1, 102, &error), KF_BAD_INPUT);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), before);
    kf_run_row none = {0};
    assert_int_equal(fixture_process(store, &night, &none, "b", KF_ARM_NIGHT, 1, 102, &error), KF_BAD_INPUT);
    assert_int_equal(none.id, 0);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run"), 1);
    /* A verdict and back. */
    assert_int_equal(kf_store_verdicts(store, night.id, refuse, NULL, &error), KF_OK);
    kf_verdict verdict = fixture_verdict("b", KF_SLOW, 100.5), read;
    verdict.reference = night.id;
    assert_int_equal(kf_store_add_verdict(store, night.id, run.id, &verdict, &error), KF_OK);
    assert_int_equal(kf_store_verdicts(store, night.id, copy_verdict, &read, &error), KF_OK);
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
    /* The beginning of a UUID may have digits alone; fewer than eight are a number. */
    assert_int_equal(sqlite3_exec(store->database,
                                  "UPDATE run SET uuid = '12345678' || substr(uuid, 9) WHERE id = 1", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(kf_store_find_run(store, "12345678", &summary, &error), KF_OK);
    assert_int_equal(summary.id, 1);
    assert_int_equal(kf_store_find_run(store, "1234567", &summary, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_find_run(store, "12345679", &summary, &error), KF_BAD_INPUT);
    kf_store_close(store);
}

/* CHECKs: a verdict cannot lie. */
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
    /* A finished night in between, and the first is history. */
    fixture_hash(second.program, "one");
    assert_int_equal(kf_store_begin_night(store, 12, &second, &resumed, &error), KF_OK);
    kf_store_close(store);
}

/* A store of version 1, with content, is brought up to date and keeps it. */
static void test_migration(void **state) {
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
    /* To look at it is not enough reason to change it. */
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
    /* Number 9 was pruned and is not given out again. */
    kf_run_row run;
    fixture_begin(store, &run);
    assert_int_equal(run.id, 10);
    assert_int_equal(fixture_add(store, &run, 0, 100, &error), KF_OK);
    uint64_t seed = 1;
    (void)fixture_whole_night(store, "b", "one", 100, KF_SAME, &seed);
    /* The same tables as in a new store. */
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

/* --- JUnit
 * ------------------------------------------------------------------------------------------------------ */

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void test_junit(void **state) {
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

/* --- suites
 * ------------------------------------------------------------------------------------------------------ */

static void write_text(const char *path, const char *text, mode_t mode) {
    kf_error error = {0};
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_suites(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error = {0};
    kf_suite suite;
    assert_int_equal(kf_suite_read("quick", NULL, &suite, &error), KF_OK);
    assert_int_equal(suite.count, 3);
    char hash[KF_HASH_HEX];
    kf_copy_text(hash, sizeof hash, suite.hash);
    kf_suite_free(&suite);
    assert_int_equal(kf_suite_read("quick", "cpu:1", &suite, &error), KF_OK);
    assert_string_equal(suite.benchmarks[2].device, "cpu:1");
    assert_string_not_equal(suite.hash, hash);
    kf_suite_free(&suite);
    static const char *const bad[] = {
        "[]",
        "{\"suite\": \"s\"}",
        "{\"suite\": \"s\", \"benchmarks\": []}",
        "{\"suite\": \"s\", \"benchmarks\": [1]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\"}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"grid\": [1.5, 2, 3]}]}",
        "{\"suite\": \"s\", \"processes\": 4, \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\"}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\"}, {\"name\": \"a\", "
        "\"scene\": \"ball\"}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"config\": {}}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"config\": {\"preset\": "
        "\"p\", \"best_of_store\": true}}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"config\": "
        "{\"best_of_store\": false}}]}",
        "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\", \"nodes\": 3}]}",
        "{\"suite\": \"s\\u0001\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\"}]}",
    };
    fixture_path(path, "bad.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(path, bad[i], 0644);
        if (kf_suite_read(path, NULL, &suite, &error) != KF_BAD_INPUT) fail_msg("taken: %s", bad[i]);
        assert_null(strchr(error.message, '\n'));
    }
    assert_int_equal(kf_suite_read("no-such-suite", NULL, &suite, &error), KF_BAD_INPUT);
    assert_int_equal(kf_suite_read("toelke", NULL, &suite, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "kftune bench"));
}

/* --- whole nights
 * -------------------------------------------------------------------------------------------------- */

/* A program that answers what a process of a night would, with a step of so many microseconds, give or take a
 * little. It copies the measurement of a real process (template) and changes its times. */
typedef struct stage {
    char folder[KF_PATH], store[KF_PATH], template[KF_PATH];
    kf_suite suite;
} stage;

/* The hash of the scene that the suite names. */
static void scene_hash(const kf_suite_benchmark *benchmark, char hash[KF_HASH_HEX]) {
    kf_problem *problem = NULL;
    kf_error error = {0};
    if (kf_problem_open(benchmark->scene, NULL, &benchmark->options, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_copy_text(hash, KF_HASH_HEX, problem->hash);
    kf_problem_free(problem);
}

static void open_stage(stage *s, const char *name) {
    char path[KF_PATH];
    kf_error error = {0};
    fixture_path(s->folder, name);
    assert_int_equal(kf_make_folders(s->folder, &error), KF_OK);
    assert_int_equal(kf_path(s->store, &error, "%s/store.db", s->folder), KF_OK);
    assert_int_equal(kf_path(path, &error, "%s/suite.json", s->folder), KF_OK);
    write_text(path,
               "{\"suite\": \"staged\", \"device\": \"cpu:1\", \"benchmarks\": ["
               "{\"name\": \"ball\", \"scene\": \"ball\", \"grid\": [16, 12, 12]}]}",
               0644);
    if (kf_suite_read(path, NULL, &s->suite, &error) != KF_OK) fail_msg("%s", error.message);
}

/* A program: a shell script that prints an answer; time_us of its step, +-0.1 % by the process's number.
 * build: the hash of its machine code. state: of its measurement. */
static void write_program(const stage *s, const char *name, double time_us, char build, kf_state measured,
                          char path[KF_PATH]) {
    char hash[KF_HASH_HEX];
    kf_error error = {0};
    scene_hash(&s->suite.benchmarks[0], hash);
    kf_measurement *m = kf_allocate(sizeof *m);
    if (measured == KF_STATE_OK)
        fixture_measurement(m, 1.0, 1);
    else
        fixture_failure(m, measured, "as the test wants it");
    memset(m->build_hash, build, KF_HASH_HEX - 1);
    m->build_hash[KF_HASH_HEX - 1] = '\0';
    cJSON *json = kf_measurement_to_json(m);
    if (measured == KF_STATE_OK) {
        (void)cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "step_us"),
                                                     "median", cJSON_CreateRaw("TIME"));
        cJSON_ReplaceItemInArray(cJSON_GetObjectItemCaseSensitive(json, "samples_us"), 0,
                                 cJSON_CreateRaw("TIME"));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(json, "stop"); /* an earlier program may not know every field */
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    kf_measurement_free(m);
    free(m);
    kf_text script = {0};
    kf_text_append(&script,
                   "#!/bin/sh\nt=$(awk -v seed=$$ 'BEGIN { srand(seed); printf \"%%.6f\", %.9g * (0.999 + "
                   "0.002 * rand()) }')\n",
                   time_us);
    kf_text_append(
        &script,
        "sed \"s/TIME/$t/g\" <<'ANSWER'\n{\"kftune\": \"test\", \"scene_hash\": \"%s\", \"measurement\": ",
        hash);
    kf_text_append(&script, "%s", text);
    kf_text_append(&script, "}\nANSWER\n# %s\n", name);
    free(text);
    assert_int_equal(kf_path(path, &error, "%s/%s", s->folder, name), KF_OK);
    write_text(path, script.text, 0755);
    kf_text_free(&script);
}

static kf_verdict play(const stage *s, const char *program, kf_status expected) {
    kf_error error = {0};
    kf_store *store = fixture_open(s->store);
    const kf_nightly_request request = {
        .suite = &s->suite, .store = store, .executable = program, .label = ""};
    kf_nightly_result result;
    kf_status status = kf_nightly(&request, &result, &error);
    if (status != expected) fail_msg("status %d: %s", (int)status, error.message);
    kf_verdict verdict = status == KF_OK ? result.verdicts[0] : (kf_verdict){0};
    kf_nightly_result_free(&result);
    kf_store_close(store);
    return verdict;
}

static void assert_verdict(const kf_verdict *verdict, kf_verdict_state expected) {
    if (verdict->state != expected)
        fail_msg("%s instead of %s: %s", kf_verdict_names[verdict->state], kf_verdict_names[expected],
                 verdict->reason);
}

static void test_nights(void **state) {
    (void)state;
    stage *s = kf_allocate_zeroed(1, sizeof *s);
    open_stage(s, "nights");
    char base[KF_PATH], same[KF_PATH], slow[KF_PATH], fast[KF_PATH], wrong[KF_PATH], crash[KF_PATH];
    write_program(s, "base", 1000, 'a', KF_STATE_OK, base);
    write_program(s, "same", 1001, 'b', KF_STATE_OK, same);
    write_program(s, "slow", 1030, 'c', KF_STATE_OK, slow);
    write_program(s, "fast", 960, 'd', KF_STATE_OK, fast);
    write_program(s, "wrong", 960, 'e', KF_STATE_WRONG_RESULT, wrong);
    kf_verdict verdict = play(s, base, KF_OK);
    assert_verdict(&verdict, KF_NODATA);
    verdict = play(s, base, KF_OK);
    assert_verdict(&verdict, KF_SAME);
    assert_true(verdict.identical);
    verdict = play(s, same, KF_OK);
    assert_verdict(&verdict, KF_SAME);
    assert_false(verdict.identical);
    verdict = play(s, slow, KF_OK);
    assert_verdict(&verdict, KF_SLOW);
    assert_true(verdict.change > 0.025 && verdict.change < 0.035);
    assert_true(verdict.probability < 0.01 && verdict.reference == 3);
    /* The same slow program once more: nothing new. */
    verdict = play(s, slow, KF_OK);
    assert_verdict(&verdict, KF_SAME);
    assert_true(verdict.identical);
    verdict = play(s, wrong, KF_OK);
    assert_verdict(&verdict, KF_WRONG);
    verdict = play(s, fast, KF_OK);
    assert_verdict(&verdict, KF_FAST);
    /* A program that does not even start has nothing to say; one that dies is wrong. */
    fixture_path(crash, "nights/dies");
    write_text(crash, "#!/bin/sh\nkill -SEGV $$\n", 0755);
    verdict = play(s, crash, KF_OK);
    assert_verdict(&verdict, KF_WRONG);
    assert_non_null(strstr(verdict.reason, "signal 11"));
    write_text(crash, "#!/bin/sh\necho 'kftune: no device here' >&2\nexit 3\n", 0755);
    verdict = play(s, crash, KF_OK);
    assert_verdict(&verdict, KF_NODATA);
    assert_non_null(strstr(verdict.reason, "no device here"));
    kf_suite_free(&s->suite);
    free(s);
}

/* Half a percent a night is never a step; the pinned release sees it. */
static void test_drift(void **state) {
    (void)state;
    stage *s = kf_allocate_zeroed(1, sizeof *s);
    open_stage(s, "drift");
    char program[KF_PATH], name[32];
    kf_verdict verdict = {0};
    int drifted = -1;
    for (int i = 0; i < 14 && drifted < 0; i++) {
        (void)snprintf(name, sizeof name, "program-%d", i);
        write_program(s, name, 1000 * (1 + 0.004 * i), (char)('a' + i % 6), KF_STATE_OK, program);
        verdict = play(s, program, KF_OK);
        if (i == 0) {
            kf_store *store = fixture_open(s->store);
            kf_error error = {0};
            int count = 0;
            assert_int_equal(kf_store_pin(store, 1, &count, &error), KF_OK);
            assert_int_equal(count, 1);
            kf_store_close(store);
        }
        if (verdict.state == KF_DRIFT) drifted = i;
    }
    assert_true(drifted >= 7 && drifted <= 10);
    assert_int_equal(verdict.reference, 1);
    assert_true(kf_verdict_fails(verdict.state));
    kf_suite_free(&s->suite);
    free(s);
}

/* --- kills
 * ---------------------------------------------------------------------------------------------------------
 */

static void play_and_exit(const stage *s, const char *program) {
    kf_error error = {0};
    kf_store *store = NULL;
    kf_nightly_result result;
    if (kf_store_open(s->store, false, &store, &error) != KF_OK) _exit(5);
    const kf_nightly_request request = {
        .suite = &s->suite, .store = store, .executable = program, .label = ""};
    _exit(kf_nightly(&request, &result, &error) == KF_OK ? 0 : 4);
}

/* The store opens after every kill, no process is lost or doubled, and the night after it completes. */
static void test_kills(void **state) {
    (void)state;
    const char *asked = getenv("KFTUNE_KILLS");
    const int kills = asked != NULL ? atoi(asked) : 20; /* tests/e2e/kill.sh kills real measurements */
    stage *s = kf_allocate_zeroed(1, sizeof *s);
    open_stage(s, "kills");
    char programs[2][KF_PATH];
    write_program(s, "one", 1000, 'a', KF_STATE_OK, programs[0]);
    write_program(s, "two", 1080, 'b', KF_STATE_OK, programs[1]);
    (void)play(s, programs[0], KF_OK);
    uint64_t seed = 17;
    int killed = 0, seen = 0;
    for (int i = 0; killed < kills && i < 10 * kills; i++) {
        const char *program =
            programs[killed / 10 % 2]; /* a change now and then, so that comparisons are killed too */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) play_and_exit(s, program);
        (void)usleep((useconds_t)kf_random_below(&seed, 250000));
        (void)kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status);
        if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
        kf_store *store = fixture_open(s->store);
        int now = fixture_integer(store->database, "SELECT count(*) FROM nightly");
        assert_true(now >= seen);
        seen = now;
        assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), now);
        kf_store_close(store);
    }
    assert_int_equal(killed, kills);
    (void)play(s, programs[1], KF_OK);
    kf_store *store = fixture_open(s->store);
    /* Every finished night has all its processes once, and a verdict. */
    assert_int_equal(
        fixture_integer(
            store->database,
            "SELECT count(*) FROM night n WHERE state = 'finished' AND ((SELECT count(*) FROM nightly "
            "WHERE night = n.id AND arm = 'night') <> 5 OR (SELECT count(*) FROM verdict WHERE night = n.id) "
            "<> 1)"),
        0);
    assert_int_equal(
        fixture_integer(store->database,
                        "SELECT count(*) FROM (SELECT 1 FROM nightly GROUP BY night, benchmark, arm "
                        "HAVING max(ordinal) + 1 <> count(*))"),
        0);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM night WHERE state = 'running'"),
                     0);
    assert_int_equal(
        fixture_integer(store->database,
                        "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
        0);
    kf_store_close(store);
    printf("%d kills, %d processes stored\n", killed, seen);
    kf_suite_free(&s->suite);
    free(s);
}

/* A night that was interrupted is no history, but it is there for the night itself that goes on. */
static void test_unfinished_nights_are_no_history(void **state) {
    (void)state;
    char path[KF_PATH], series[KF_HASH_HEX];
    fixture_path(path, "history.db");
    kf_store *store = fixture_open(path);
    kf_error error = {0};
    kf_night night;
    kf_run_row run = {0};
    uint64_t seed = 1;
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    kf_store_series("ball", problem, &device, series);
    kf_problem_free(problem);
    const int64_t whole = fixture_whole_night(store, "ball", "one", 100, KF_SAME, &seed);
    fixture_night(store, &night, "two");
    assert_int_equal(fixture_process(store, &night, &run, "ball", KF_ARM_NIGHT, 0, 100, &error), KF_OK);
    assert_int_equal(kf_store_end_night(store, &night, "interrupted", &error), KF_OK);
    for (int going_on = 0; going_on < 2; going_on++) {
        kf_history_night *nights = NULL;
        int count = 0;
        assert_int_equal(
            kf_store_history(store, "ball", series, going_on ? night.id : 0, 10, &nights, &count, &error),
            KF_OK);
        assert_int_equal(count, 1 + going_on);
        assert_int_equal(nights[0].night, whole);
        assert_int_equal(nights[0].process_count, 5);
        free(nights);
    }
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_verdicts_that_lie),
        cmocka_unit_test(test_resuming_a_night),
        cmocka_unit_test(test_migration),
        cmocka_unit_test(test_junit),
        cmocka_unit_test(test_suites),
        cmocka_unit_test(test_nights),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_kills),
        cmocka_unit_test(test_unfinished_nights_are_no_history),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
