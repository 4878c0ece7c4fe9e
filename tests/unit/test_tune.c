/* Tests the whole tuning run with a real store, on a system whose configs fail in every way. Faults: a
 * failed config that ends the run, wins, or is lost. */
#include "base/util/text.h"
#include "harness/tune/explain.h"
#include "harness/tune/session.h"
#include "tests/unit/tune_stage.h"

/* --- The whole run --- */

static long work_of(const kf_tune_result *result, int tried) {
    long work = 0;
    assert_int_equal(kf_config_integer(&result->tried.items[tried].config, "work", &work, NULL), KF_OK);
    return work;
}

static void a_run_finds_the_fastest_right_config(void **state) {
    (void)state;
    kf_store *store = open_store("whole.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 0.0;
    r.budget.evaluations = 48;
    r.budget_text = "48evals";
    r.strategy = "enumerate";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.space_size, 48);
    assert_int_equal(result.tried.count, 48);
    /* There are eight of each kind, one per value of work. Slow ones that are right may be skipped. */
    assert_int_equal(result.states[KF_STATE_OK] + result.states[KF_STATE_SKIPPED], 8);
    assert_int_equal(result.states[KF_STATE_WRONG_RESULT], 8);
    assert_int_equal(result.states[KF_STATE_CRASH], 8);
    assert_int_equal(result.states[KF_STATE_OUT_OF_MEMORY], 8);
    assert_int_equal(result.states[KF_STATE_COMPILE], 8);
    assert_int_equal(result.states[KF_STATE_INVALID], 8);
    assert_true(result.best >= 0);
    assert_true(behaves(&result.tried.items[result.best].config, "right"));
    assert_int_equal(work_of(&result, result.best), 1);
    assert_true(result.gain[KF_PRESET_BASELINE] > 3.0); /* twelve times the work */
    assert_true(result.gain[KF_PRESET_BASELINE] > result.gain[KF_PRESET_PAPER]);
    assert_true(result.gain[KF_PRESET_PAPER] > result.gain[KF_PRESET_DEFAULT]);
    assert_true(result.gain[KF_PRESET_DEFAULT] > 1.0);
    assert_true(result.best_measurement->step_us.low <= result.best_measurement->step_us.median);
    counts c = stored(store, &result);
    assert_int_equal(c.presets, 3);
    assert_int_equal(c.search, 45);
    assert_in_range(c.finals, 3, 6);
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, result.run.uuid, &summary, &error), KF_OK);
    assert_true(result.best_sequence >= 48); /* its row of the final */
    assert_int_equal(summary.winner, result.best_sequence);
    assert_true(fabs(summary.best_us - result.best_measurement->step_us.median) < 1e-3 * summary.best_us);

    cJSON *json = kf_tune_to_json(&r, &result, "x.json");
    static const char *const keys[] = {"kftune",    "command",     "device",      "scene",  "best",
                                       "gain",      "evaluations", "counted",     "states", "seconds",
                                       "timeline",  "builds",      "noise_floor", "ties",   "alternatives",
                                       "objective", "metrics",     "front",       "out"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(cJSON_HasObjectItem(json, keys[i]));
    assert_int_equal(cJSON_GetArraySize(json), sizeof keys / sizeof *keys);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "states")), KF_STATES);
    const cJSON *best = cJSON_GetObjectItem(json, "best");
    assert_string_equal(cJSON_GetObjectItem(best, "hash")->valuestring, result.tried.items[result.best].hash);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(best, "ci_us")), 2);
    const cJSON *timeline = cJSON_GetObjectItem(json, "timeline");
    static const char *const moments[] = {"scene", "device",  "reference", "worker",
                                          "first", "presets", "search"};
    for (size_t i = 1; i < sizeof moments / sizeof *moments; i++)
        assert_true(cJSON_GetObjectItem(timeline, moments[i])->valuedouble >=
                    cJSON_GetObjectItem(timeline, moments[i - 1])->valuedouble);
    assert_true(cJSON_GetObjectItem(timeline, "best")->valuedouble >=
                cJSON_GetObjectItem(timeline, "first")->valuedouble);
    cJSON_Delete(json);

    kf_best_config emitted;
    kf_tune_best_config(&r, &result, &emitted);
    assert_string_equal(emitted.run_uuid, result.run.uuid);
    assert_true(emitted.time_us == result.best_measurement->step_us.median);
    assert_true(emitted.verification_error <= emitted.verification_bound);
    kf_best_config_free(&emitted);

    char text[8192];
    FILE *stream = fmemopen(text, sizeof text, "w");
    kf_tune_print(&r, &result, "x.json", stream);
    (void)fclose(stream);
    static const char *const parts[] = {"counters, 20000x1 nodes",
                                        "default with work=",
                                        "over baseline",
                                        "count ",
                                        "8 crash",
                                        "kftune run --config x.json",
                                        "MLUPS"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(text, parts[i]) == NULL) fail_msg("'%s' is not in:\n%s", parts[i], text);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

static void time_budgets_hold(void **state) {
    (void)state;
    kf_store *store = open_store("time.db");
    static const char *const fix[] = {"behaviour=right"};
    kf_tune_request r = request(store);
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.budget.seconds = 3.0;
    r.budget_text = "3s";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    /* On a busy machine a config may take long. Only the default may begin after the end of the budget,
     * and a search leaves time for the final. */
    for (int i = 1; i < result.tried.count; i++) {
        const kf_evaluation *tried = &result.tried.items[i];
        const kf_measurement *m = &tried->measurement;
        assert_true(tried->moment - m->verify_seconds - m->measure_seconds < r.budget.seconds);
    }
    assert_in_range(result.tried.count, 1, result.space_size);
    if (result.tried.count > KF_PRESETS) assert_true(result.finals.count >= 2);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* With a short time on a cpu slow presets are left out. They are kept with more or unlimited time, on a
 * GPU, or on request. */
static void slow_presets_are_left_out(void **state) {
    (void)state;
    static const struct {
        const char *backend;
        kf_preset_choice presets;
        double seconds;
        bool left;
    } cases[] = {{"cpu", KF_FITTING_PRESETS, 60.0, true}, {"cpu", KF_FITTING_PRESETS, 600.0, false},
                 {"cpu", KF_FITTING_PRESETS, 0.0, false}, {"cuda", KF_FITTING_PRESETS, 60.0, false},
                 {"cpu", KF_ALL_PRESETS, 60.0, false},    {"cuda", KF_DEFAULT_ALONE, 600.0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_device_info device = {.parts = 1};
        const kf_tune_request r = {.presets = cases[i].presets, .budget.seconds = cases[i].seconds};
        kf_copy_text(device.backend, sizeof device.backend, cases[i].backend);
        assert_false(kf_tune_leaves_out(&r, &device, KF_PRESET_DEFAULT));
        assert_true(kf_tune_leaves_out(&r, &device, KF_PRESET_BASELINE) == cases[i].left);
        assert_true(kf_tune_leaves_out(&r, &device, KF_PRESET_PAPER) == cases[i].left);
    }
}

/* Presets for which there is no time are left out, but never the default. */
static void short_budgets_drop_presets(void **state) {
    (void)state;
    kf_store *store = open_store("short.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 1e-3;
    r.budget_text = "0.001s";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.tried.count, 1);
    assert_true(result.presets[KF_PRESET_DEFAULT] == 0 && result.best == 0);
    assert_true(result.presets[KF_PRESET_BASELINE] < 0 && result.presets[KF_PRESET_PAPER] < 0);
    assert_int_equal(result.searched, 0);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* The second difference has no effect. --fix keeps the search away from the configs in which a difference
 * is reverted. */
static void differences_are_taken_back(void **state) {
    (void)state;
    static const char spare[] =
        "{\"system\": \"counter\", \"format\": 1, \"parameters\": ["
        "{\"name\": \"behaviour\", \"type\": \"name\", \"default\": \"right\", \"values\": [\"right\"]},"
        "{\"name\": \"spare\", \"type\": \"integer\", \"default\": 0, \"values\": [0, 1]},"
        "{\"name\": \"work\", \"type\": \"integer\", \"default\": 8, \"values\": [1, 8, 12]}"
        "], \"constraints\": [], \"presets\": {\"default\": {}, \"baseline\": {\"work\": 12}, \"paper\": "
        "{}}}";
    static const char *const fix[] = {"spare=1"};
    kf_store *store = open_store("back.db");
    kf_tune_request r = request(store);
    r.budget.seconds =
        /* Three configs end it. On a busy machine there is still time to revert differences. */
        120.0;
    r.fixed = fix;
    r.fixed_count = 1;
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    kf_difference differences[KF_CONFIG_VALUES];
    counter_write("variants/counter.json", spare);
    const kf_status status = kf_tune(&r, &result, &error);
    counter_write("variants/counter.json", counter_space);
    if (status != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(work_of(&result, result.best), 1);
    assert_int_equal(kf_tune_differences(&result, differences, KF_CONFIG_VALUES), 2);
    assert_string_equal(differences[0].best->parameter, "work");
    assert_true(differences[0].gain > 1.0);
    assert_string_equal(differences[1].best->parameter, "spare");
    assert_true(fabs(differences[1].gain) < differences[0].gain); /* about 0, where the other is about 7 */
    assert_false(result.tried.items[result.tried.count - 1].eligible);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

static double device_seconds(const kf_tune_result *result, int count) {
    double seconds = 0.0;
    for (int i = 0; i < count; i++)
        seconds += kf_session_device_seconds(&result->tried.items[i].measurement);
    return seconds;
}

/* Time of the device counts for verification and measurement, whatever else the run does. */
static void budgets_of_device_seconds_hold(void **state) {
    (void)state;
    kf_store *store = open_store("device.db");
    static const char *const fix[] = {"behaviour=right"};
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.rounds = -1;
    static const double budgets[] = {1e6, 1e-6, 0.5};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        r.budget = (kf_budget){.device_seconds = budgets[i]};
        if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(result.finals.count, 0);                           /* rounds = -1 */
        const int count = result.tried.count, all = (int)result.space_size; /* the presets are in it */
        assert_in_range(count, KF_PRESETS, all);
        if (i == 0) assert_int_equal(count, all);
        if (i == 1) assert_int_equal(count, KF_PRESETS);
        if (count > KF_PRESETS) assert_true(device_seconds(&result, count - 1) < budgets[i]);
        if (count < all) assert_true(device_seconds(&result, count) * (count + 1) / count > 0.7 * budgets[i]);
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

/* Presets that --fix excludes are measured for comparison. Where they use up all requested configs, one
 * more is tried, because none of them may win. */
static void presets_outside_the_space_do_not_win(void **state) {
    (void)state;
    kf_store *store = open_store("fixed.db");
    static const char *const fix[] = {"behaviour=right", "work=6"};
    static const struct {
        kf_budget budget;
        const char *strategy;
    } cases[] = {{{.seconds = 600}, "enumerate"}, /* one config: the budget covers it */
                 {{.evaluations = 3}, "model"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_tune_request r = request(store);
        r.fixed = fix;
        r.fixed_count = 2;
        r.budget = cases[i].budget;
        kf_tune_result result;
        kf_error error = {KF_OK, ""};
        if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(result.tried.count, 4);
        assert_int_equal(work_of(&result, result.best), 6); /* although the default, with 4, is faster */
        assert_int_equal(work_of(&result, result.presets[KF_PRESET_DEFAULT]), 4);
        for (int p = 0; p < KF_PRESETS; p++)
            assert_true(
                result.gain[p] ==
                kf_measurement_cost(kf_tune_measurement(&result, result.presets[p]), &result.objective) /
                    kf_measurement_cost(result.best_measurement, &result.objective));
        assert_string_equal(result.run.strategy, cases[i].strategy);
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

static void nothing_right_is_a_failure(void **state) {
    (void)state;
    kf_store *store = open_store("wrong.db");
    static const struct {
        const char *fix;
        kf_status status;
        const char *part;
    } cases[] = {{"behaviour=wrong", KF_GATE_FAILED, "wrong_result: deviates by"},
                 {"behaviour=invalid", KF_MACHINE, "invalid: a block of 99999 threads"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_tune_request r = request(store);
        r.fixed = &cases[i].fix;
        r.fixed_count = 1;
        r.budget.seconds = 0.0;
        r.budget.evaluations = 11;
        r.budget_text = "11evals";
        kf_tune_result result;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_tune(&r, &result, &error), cases[i].status);
        if (strstr(error.message, cases[i].part) == NULL) fail_msg("%s", error.message);
        assert_int_equal(result.best, -1);
        assert_int_equal(result.tried.count, 11);
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

/* A run ends when the default fails, and others for the same reason. The store then has few rows, and the
 * run names the reason and a cure, whatever the kind of failure and the search. --keep-going tries all. A
 * default that alone fails ends nothing. */
static void a_hopeless_run_ends_at_once(void **state) {
    (void)state;
    static const struct {
        const char *behaviour, *part;
        kf_status status;
        int configs;
    } cases[] = {{"compile", "ended as compile", KF_MACHINE, 5},
                 {"wrong", "ended as wrong_result: deviates by", KF_GATE_FAILED, 12},
                 {"crash", "ended as crash", KF_MACHINE, 6},
                 {"memory", "ended as out_of_memory", KF_MACHINE, 6},
                 {"invalid", "ended as invalid: a block of 99999 threads", KF_MACHINE, 12}};
    kf_store *store = open_store("hopeless.db");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int keeps_going = 0; keeps_going < (i == 0 ? 3 : 1); keeps_going++) {
            kf_text space = {0};
            kf_text_append(
                &space,
                "{\"system\": \"counter\", \"format\": 1, \"parameters\": [{\"name\": \"behaviour\", "
                "\"type\": \"name\", \"default\": \"%s\", \"values\": [\"%s\", \"right\"]},"
                "{\"name\": \"work\", \"type\": \"integer\", \"default\": 4, \"values\": [1, 2, 3, 4, 5, 6, "
                "7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}], \"constraints\": [{\"expression\": \"behaviour != "
                "'right' or work == 1\", \"reason\": \"one\"}], \"presets\": {\"baseline\": {}, \"paper\": "
                "{}}}",
                cases[i].behaviour, cases[i].behaviour);
            counter_write("variants/counter.json", space.text);
            kf_text_free(&space);
            kf_tune_request r = request(store);
            kf_tune_result result;
            kf_error error = {KF_OK, ""};
            r.budget.seconds = 0.0;
            r.budget.evaluations = 17;
            r.strategy = "enumerate";
            r.keeps_going = keeps_going == 1;
            char same[64];
            (void)snprintf(same, sizeof same, "behaviour=%s", cases[i].behaviour);
            const char *const fixed[] = {keeps_going == 2 ? "behaviour=right" : same};
            r.fixed = fixed;
            r.fixed_count = keeps_going != 1;
            const kf_status status = kf_tune(&r, &result, &error);
            counter_write("variants/counter.json", counter_space);
            if (keeps_going > 0) { /* the one right config, which comes last, or alone */
                if (status != KF_OK) fail_msg("%s", error.message);
                assert_int_equal(result.tried.count, keeps_going == 1 ? 17 : 2);
                kf_tune_result_free(&result);
                continue;
            }
            assert_int_equal(status, cases[i].status);
            if (strstr(error.message, cases[i].part) == NULL || strstr(error.message, "--keep-going") == NULL)
                fail_msg("%s", error.message);
            assert_int_equal(result.tried.count, cases[i].configs);
            assert_int_equal(stored(store, &result).last, cases[i].configs - 1);
            kf_tune_result_free(&result);
        }
    kf_store_close(store);
}

static kf_status refuse_device(const kf_problem *p, const kf_device_info *device, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s: not on %s", p->name, device->spec);
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    kf_store *store = open_store("bad.db");
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    static const char *const fix[] = {"work=5"};
    r.fixed = fix;
    r.fixed_count = 1;
    assert_int_equal(kf_tune(&r, &result, &error), KF_BAD_INPUT);
    kf_tune_result_free(&result);
    r = request(store);
    r.strategy = "lokal";
    assert_int_equal(kf_tune(&r, &result, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "local"));
    kf_tune_result_free(&result);
    r = request(store);
    r.device = "cuda:77";
    assert_int_not_equal(kf_tune(&r, &result, &error), KF_OK);
    kf_tune_result_free(&result);
    /* A system that does not support the device says so before anything is measured. */
    kf_system choosy = counter_system;
    kf_problem refused = problem;
    choosy.accepts_device = refuse_device;
    refused.system = &choosy;
    r = request(store);
    r.problem = &refused;
    assert_int_equal(kf_tune(&r, &result, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "counters: not on cpu"));
    assert_int_equal(result.tried.count, 0);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_finds_the_fastest_right_config), cmocka_unit_test(time_budgets_hold),
        cmocka_unit_test(budgets_of_device_seconds_hold),       cmocka_unit_test(slow_presets_are_left_out),
        cmocka_unit_test(short_budgets_drop_presets),           cmocka_unit_test(differences_are_taken_back),
        cmocka_unit_test(presets_outside_the_space_do_not_win), cmocka_unit_test(nothing_right_is_a_failure),
        cmocka_unit_test(a_hopeless_run_ends_at_once),          cmocka_unit_test(bad_requests_are_refused),
    };
    counter_prepare();
    kf_log_set_level(KF_LOG_QUIET);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
