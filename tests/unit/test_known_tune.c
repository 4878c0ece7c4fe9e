/* Tests what a tuning run says at its end, as known texts: for people, as JSON, and the file of the best
 * config. All numbers of the made-up result differ. Faults: a number in another's place. */
#include <math.h>

#include "base/util/json.h"
#include "base/util/program.h"
#include "harness/tune/tune.h"
#include "tests/unit/known_store.h"
#include "tests/unit/known_text.h"

enum { TRIED = 6, FINALS = 2 };

static const kf_system runs_system = {.name = "kinetic", .update = "node", .runs = true};

/* 0 default, 1 baseline, 2 paper (crashed), 3 the best, 4 a tie, 5 wrong. */
static void make_result(kf_tune_result *result, kf_evaluation tried[TRIED], kf_evaluation finals[FINALS]) {
    static const struct {
        const char *role, *plan, *layout;
        long alpha;
        double time_us;
    } rows[TRIED] = {
        {"preset:default", "fused", "soa", 1, 1600}, {"preset:baseline", "baseline", "aos", 1, 4800},
        {"preset:paper", "paper", "csoa", 64, NAN},  {"search", "fused", "csoa", 32, 1250},
        {"search", "fused", "csoa", 64, 1275},       {"search", "fused", "aos", 1, NAN}};
    for (int i = 0; i < TRIED; i++) {
        kf_evaluation *e = &tried[i];
        memset(e, 0, sizeof *e);
        kf_copy_text(e->role, sizeof e->role, rows[i].role);
        e->sequence = i;
        e->moment = 2.5 + i;
        e->eligible = true;
        known_config(&e->config, rows[i].plan, rows[i].layout, rows[i].alpha, 4, i == 3);
        kf_config_hash(&e->config, e->hash);
        if (isnan(rows[i].time_us))
            fixture_failure(&e->measurement, i == 2 ? KF_STATE_CRASH : KF_STATE_WRONG_RESULT, "why");
        else
            known_measurement(&e->measurement, rows[i].time_us, 3);
        result->states[e->measurement.state]++;
    }
    for (int i = 0; i < FINALS; i++) {
        finals[i] = tried[3 + i];
        finals[i].sequence = TRIED + i;
        kf_copy_text(finals[i].role, sizeof finals[i].role, "final");
        known_measurement(&finals[i].measurement, 1260 + 12 * i, 3);
        known_counters(&finals[i].measurement);
        finals[i].measurement.clock_state = KF_CLOCK_UNSTEADY;
    }
    fixture_device(&result->device);
    result->space_size = 123456;
    result->seconds = 61.25;
    result->timeline = (kf_tune_timeline){0.125, 0.25, 0.5, 0.75, 1.125, 8.5, 40.5, 3.25, 17.5, 4, 99};
    result->searched = 3;
    result->resumed = 0;
    result->tried = (kf_evaluations){tried, TRIED, TRIED};
    result->finals = (kf_evaluations){finals, FINALS, FINALS};
    result->presets[KF_PRESET_DEFAULT] = 0;
    result->presets[KF_PRESET_BASELINE] = 1;
    result->presets[KF_PRESET_PAPER] = 2;
    result->best = 3;
    result->best_measurement = &finals[0].measurement;
    result->best_sequence = TRIED;
    result->gain[KF_PRESET_DEFAULT] = 1.28;
    result->gain[KF_PRESET_BASELINE] = 3.84;
    result->gain[KF_PRESET_PAPER] = NAN;
    result->noise_floor = 0.0125;
    result->ties[0] = 4;
    result->tie_count = 1;
    result->alternatives[0] =
        (kf_alternative){{.parameter = "storage", .kind = KF_VALUE_NAME, .name = "f16"}, 1.72, 0.009};
    result->alternative_count = 1;
    kf_copy_text(result->run.uuid, sizeof result->run.uuid, "00000001-0000-4000-8000-000000000000");
    kf_copy_text(result->run.strategy, sizeof result->run.strategy, "model");
}

static void test_every_member_of_a_result_is_printed(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "tune.db");
    kf_store *store = fixture_open(path);
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_tune_result *result = kf_allocate_zeroed(1, sizeof *result);
    kf_evaluation *tried = kf_allocate_zeroed(TRIED, sizeof *tried),
                  *finals = kf_allocate_zeroed(FINALS, sizeof *finals);
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    problem->system = &runs_system;
    make_result(result, tried, finals);
    const kf_tune_request request = {.problem = problem,
                                     .device = "cuda:0",
                                     .budget = {.seconds = 60},
                                     .budget_text = "60s",
                                     .seed = 42,
                                     .store = store};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    kf_tune_print(&request, result, "beetle.kftune.json", stream);
    (void)fputs("\nwithout a file, resumed, nothing best:\n", stream);
    result->resumed = 4;
    result->best = -1;
    kf_tune_print(&request, result, NULL, stream);
    result->resumed = 0;
    assert_int_equal(fclose(stream), 0);
    assert_known("tune.txt", with_word(text, fixture_folder, "FOLDER"));
    for (int nothing = 1; nothing >= 0; nothing--) {
        result->best = nothing ? -1 : 3;
        cJSON *json = kf_tune_to_json(&request, result, nothing ? NULL : "beetle.kftune.json");
        char *shown = kf_json_text(json, true);
        cJSON_Delete(json);
        assert_known(nothing ? "tune-nothing.json" : "tune.json", with_word(shown, KF_VERSION, "VERSION"));
    }
    kf_best_config *best = kf_allocate_zeroed(1, sizeof *best);
    kf_tune_best_config(&request, result, best);
    fixture_path(path, "best.json");
    if (kf_best_config_write(path, best, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    assert_known("best-config.json", with_word(text, KF_VERSION, "VERSION"));
    kf_best_config_free(best);
    free(best);
    for (int i = 0; i < TRIED; i++)
        kf_measurement_free(&tried[i].measurement);
    for (int i = 0; i < FINALS; i++)
        kf_measurement_free(&finals[i].measurement);
    free(tried);
    free(finals);
    free(result);
    kf_problem_free(problem);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_member_of_a_result_is_printed)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
