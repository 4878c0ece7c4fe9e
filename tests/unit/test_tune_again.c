/* Tests tuning runs that find an earlier one in the store. Faults: one that measures again what is known,
 * or begins with another problem's best config. */
#include <signal.h>
#include <sys/wait.h>

#include "base/util/program.h"
#include "tests/unit/tune_stage.h"

/* --- Interrupting and resuming --- */

/* Sends Ctrl-C as a terminal does, from a process of its own, once the first run of that store has
 * results. */
static pid_t interrupt_after_results(const char *name, int results) {
    const pid_t driver = getpid(), finger = fork();
    if (finger != 0) return finger;
    kf_store *store = open_store(name);
    counts c = {.last = -1};
    for (int looks = 0; looks < 6000 && c.last + 1 < results; looks++) {
        (void)usleep(10000);
        c = (counts){.last = -1};
        (void)kf_store_results(store, 1, count_result, &c, NULL);
    }
    (void)kill(driver, SIGINT);
    _exit(0);
}

static void interrupted_runs_resume(void **state) {
    (void)state;
    kf_store *store = open_store("resume.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 0.0;
    r.budget.evaluations = 12;
    r.budget_text = "12evals";
    r.strategy = "random";
    /* This is long enough to be interrupted in the middle. */
    r.timing_seconds = 0.3;
    kf_tune_result first;
    kf_error error = {KF_OK, ""};
    kf_catch_interrupts();
    const pid_t finger = interrupt_after_results("resume.db", 2);
    const kf_status status = kf_tune(&r, &first, &error);
    kf_interrupted = 0;
    assert_int_equal(waitpid(finger, NULL, 0), finger);
    assert_int_equal(status, KF_INTERRUPTED);
    assert_non_null(strstr(error.message, "--resume"));
    counts before = stored(store, &first);
    assert_int_equal(before.presets + before.search, first.tried.count);
    assert_true(first.tried.count < 12);

    r.resume = true;
    r.timing_seconds = 0.02;
    kf_tune_result second;
    if (kf_tune(&r, &second, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(second.run.uuid, first.run.uuid);
    assert_int_equal(second.resumed, first.tried.count);
    assert_int_equal(second.tried.count, 12);
    for (int i = 0; i < first.tried.count; i++)
        assert_string_equal(second.tried.items[i].hash, first.tried.items[i].hash);
    counts after = stored(store, &second);
    assert_int_equal(after.presets, 3);
    assert_int_equal(after.presets + after.search, 12);

    /* A finished run is not resumed, so this one is new. */
    kf_tune_result third;
    r.budget.evaluations = 4;
    if (kf_tune(&r, &third, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_not_equal(third.run.uuid, first.run.uuid);
    assert_int_equal(third.resumed, 0);
    kf_tune_result_free(&first);
    kf_tune_result_free(&second);
    kf_tune_result_free(&third);
    kf_store_close(store);
}

/* --- Warm start --- */

typedef struct warm_start {
    int similar, sequence;
    char hash[KF_HASH_HEX];
} warm_start;

static kf_status find_similar(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)measurement, (void)error;
    warm_start *found = context;
    if (strcmp(role, "preset:similar") != 0) return KF_OK;
    found->similar++;
    found->sequence = sequence;
    kf_config_hash(config, found->hash);
    return KF_OK;
}

/* The config that was best for this scene earlier, or for a similar one, is tried after the presets. That
 * of a problem eight times as large is not. */
static void what_was_best_before_is_tried_first(void **state) {
    (void)state;
    kf_store *store = open_store("warm.db");
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    static const char *const fix[] = {"behaviour=right"};
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.budget.seconds = 0.0;
    r.budget.evaluations = 9; /* all there is: the best is known */
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    kf_tune_result_free(&result);
    static const struct { int nodes, similar; } cases[] = {{20000, 1}, {30000, 1}, {160000, 0}};
    for (size_t i = 0; i < 3; i++) {
        warm_start found = {0};
        counter_problem(&problem, cases[i].nodes);
        r.budget.evaluations = 5;
        r.seed = 2 + i;
        if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(kf_store_results(store, result.run.id, find_similar, &found, &error), KF_OK);
        assert_int_equal(found.similar, cases[i].similar);
        if (found.similar > 0) {
            char hash[KF_HASH_HEX];
            const kf_config best = counter_config("right", 1);
            kf_config_hash(&best, hash);
            assert_string_equal(found.hash, hash);
            assert_int_equal(found.sequence, KF_PRESETS);
        }
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_runs_resume),
        cmocka_unit_test(what_was_best_before_is_tried_first),
    };
    counter_prepare();
    kf_log_set_level(KF_LOG_QUIET);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
