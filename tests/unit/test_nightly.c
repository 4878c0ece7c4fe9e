/* Tests suites of nights and whole nights, with programs whose times the test chooses. Faults: a wrong
 * verdict or identity, or a killed night that is not completed. test_nightly_store has the store. */
#include "tests/unit/night_stage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/cli/command.h"
#include "harness/nightly/job.h"
#include "harness/nightly/suite.h"
#include "solver/systems.h"

/* --- Suites
 * ------------------------------------------------------------------------------------------------------ */

static void test_a_suite_is_read_with_its_device(void **state) {
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

/* --- Whole nights
 * -------------------------------------------------------------------------------------------------- */

static int not_counted;

static void hear(const char *line) {
    not_counted += strstr(line, "ball: not counted: ") != NULL;
}

/* Notes what --verbose says of counters: one line for a confirmed change, as the program counts nothing. */
static kf_verdict play_aloud(const stage *s, const char *program) {
    kf_log_set_level(KF_LOG_VERBOSE);
    kf_log_to(hear);
    const kf_verdict verdict = play(s, program);
    kf_log_to(NULL);
    kf_log_set_level(KF_LOG_QUIET);
    return verdict;
}

static void test_verdicts_of_one_night_after_another(void **state) {
    (void)state;
    stage *s = new_stage("nights");
    char base[KF_PATH], same[KF_PATH], slow[KF_PATH], fast[KF_PATH], wrong[KF_PATH], crash[KF_PATH];
    write_program(s, "base", 1000, 'a', KF_STATE_OK, base);
    write_program(s, "same", 1001, 'b', KF_STATE_OK, same);
    write_program(s, "slow", 1030, 'c', KF_STATE_OK, slow);
    write_program(s, "fast", 960, 'd', KF_STATE_OK, fast);
    write_program(s, "wrong", 960, 'e', KF_STATE_WRONG_RESULT, wrong);
    kf_verdict verdict = play(s, base);
    assert_verdict(&verdict, KF_NODATA);
    verdict = play(s, base);
    assert_verdict(&verdict, KF_SAME);
    assert_true(verdict.identical);
    verdict = play_aloud(s, same);
    assert_verdict(&verdict, KF_SAME);
    assert_false(verdict.identical);
    assert_int_equal(not_counted, 0);
    verdict = play_aloud(s, slow);
    assert_verdict(&verdict, KF_SLOW);
    assert_int_equal(not_counted, 1);
    assert_true(verdict.change > 0.025 && verdict.change < 0.035);
    assert_true(verdict.probability < 0.01 && verdict.reference == 3);
    /* The slow program comes once more, which is not a new change. */
    verdict = play(s, slow);
    assert_verdict(&verdict, KF_SAME);
    assert_true(verdict.identical);
    verdict = play(s, wrong);
    assert_verdict(&verdict, KF_WRONG);
    verdict = play(s, fast);
    assert_verdict(&verdict, KF_FAST);
    /* A program that does not start gives no data. One that dies is wrong. */
    fixture_path(crash, "nights/dies");
    write_text(crash, "#!/bin/sh\nkill -SEGV $$\n", 0755);
    verdict = play(s, crash);
    assert_verdict(&verdict, KF_WRONG);
    assert_non_null(strstr(verdict.reason, "signal 11"));
    write_text(crash, "#!/bin/sh\nkill -TERM $$\n", 0755); /* somebody else ended it */
    verdict = play(s, crash);
    assert_verdict(&verdict, KF_NODATA);
    assert_non_null(strstr(verdict.reason, "signal 15"));
    write_text(crash, "#!/bin/sh\necho 'kftune: no device here' >&2\nexit 3\n", 0755);
    verdict = play(s, crash);
    assert_verdict(&verdict, KF_NODATA);
    assert_non_null(strstr(verdict.reason, "no device here"));
    free_stage(s);
}

/* The next night is compared with the last night whose program was good, and with no other. */
static void test_which_night_is_good(void **state) {
    (void)state;
    stage *s = new_stage("good");
    char base[KF_PATH], same[KF_PATH], slow[KF_PATH], command[3 * KF_PATH], sql[256];
    write_program(s, "base", 1000, 'a', KF_STATE_OK, base);
    write_program(s, "same", 1001, 'b', KF_STATE_OK, same);
    write_program(s, "slow", 1030, 'c', KF_STATE_OK, slow);
    for (int i = 0; i < 3; i++)
        (void)play(s, i < 2 ? base : same);
    for (int v = 0; v < KF_VERDICTS; v++) {
        (void)snprintf(command, sizeof command, "cp '%s' '%s.before'", s->store, s->store);
        assert_int_equal(system(command), 0);
        kf_store *store = fixture_open(s->store);
        (void)snprintf(sql, sizeof sql,
                       "UPDATE verdict SET state = '%s', reference = 2, threshold = 0.01, probability = "
                       "0.01, change = %s0.01, "
                       "change_low = -0.015, change_high = 0.015 WHERE night = 3",
                       kf_verdict_names[v], v == KF_FAST ? "-" : "");
        if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sql);
        kf_store_close(store);
        const kf_verdict verdict = play(s, slow);
        const int64_t good = v == KF_SAME || v == KF_FAST ? 3 : 2;
        if (verdict.reference != good)
            fail_msg("a night that was %s: held against night %d instead of %d", kf_verdict_names[v],
                     (int)verdict.reference, (int)good);
        (void)snprintf(command, sizeof command, "cp '%s.before' '%s'", s->store, s->store);
        assert_int_equal(system(command), 0);
    }
    free_stage(s);
}

/* Half a percent a night is never a step, but the pinned release shows it. */
static void test_a_pin_shows_a_drift(void **state) {
    (void)state;
    stage *s = new_stage("drift");
    char program[KF_PATH], name[32];
    kf_verdict verdict = {0};
    int drifted = -1;
    for (int i = 0; i < 14 && drifted < 0; i++) {
        (void)snprintf(name, sizeof name, "program-%d", i);
        write_program(s, name, 1000 * (1 + 0.004 * i), (char)('a' + i % 6), KF_STATE_OK, program);
        verdict = play(s, program);
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
    free_stage(s);
}

/* --- Kills
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

/* The store opens after every kill, no process is lost or doubled, and the next night completes the
 * interrupted one. */
static void test_killed_nights_are_completed(void **state) {
    (void)state;
    const char *asked = getenv("KFTUNE_KILLS");
    const int kills = asked != NULL ? atoi(asked) : 20; /* tests/e2e/kill.sh kills real measurements */
    stage *s = new_stage("kills");
    char programs[2][KF_PATH];
    write_program(s, "one", 1000, 'a', KF_STATE_OK, programs[0]);
    write_program(s, "two", 1080, 'b', KF_STATE_OK, programs[1]);
    (void)play(s, programs[0]);
    uint64_t seed = 17;
    int killed = 0, seen = 0;
    for (int i = 0; killed < kills && i < 10 * kills; i++) {
        const char *program =
            /* Some programs change, so that comparisons are interrupted, too. */
            programs[killed / 10 % 2];
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
    (void)play(s, programs[1]);
    kf_store *store = fixture_open(s->store);
    /* Every finished night has each of its processes once, and a verdict. */
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
    free_stage(s);
}

/* An interrupted night is not part of the history, except for that night itself when it continues. */
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
        cmocka_unit_test(test_a_suite_is_read_with_its_device),
        cmocka_unit_test(test_verdicts_of_one_night_after_another),
        cmocka_unit_test(test_which_night_is_good),
        cmocka_unit_test(test_a_pin_shows_a_drift),
        cmocka_unit_test(test_killed_nights_are_completed),
        cmocka_unit_test(test_unfinished_nights_are_no_history),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
