/* Tests the explanation of why a config is the best. Faults: a parameter that made no difference is named,
 * or the one that did is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/tune/explain.h"

static kf_evaluation evaluated(long block, const char *layout, bool graph, kf_state state, double time) {
    static double sample[8];
    static int next;
    kf_evaluation evaluation = {.moment = 0.0};
    kf_config_set_integer(&evaluation.config, "block", block);
    kf_config_set_name(&evaluation.config, "layout", layout);
    kf_config_set_boolean(&evaluation.config, "graph", graph);
    evaluation.measurement.state = state;
    evaluation.measurement.step_us.median = state == KF_STATE_OK ? time : (double)NAN;
    evaluation.measurement.step_us.low = 0.99 * evaluation.measurement.step_us.median;
    evaluation.measurement.step_us.high = 1.01 * evaluation.measurement.step_us.median;
    if (state == KF_STATE_SKIPPED) {
        sample[next] = time;
        evaluation.measurement.samples_us = &sample[next++];
        evaluation.measurement.sample_count = 1;
    }
    return evaluation;
}

/* The best has block 128, csoa and graph. Undoing the layout costs 10 % (measured), the block 40 % (its
 * first samples), and the graph was never undone alone. */
static void test_differences_have_their_gain(void **state) {
    (void)state;
    /* One by one: gcc 12 that fills variables (make check-sanitize) clears bytes that a list has set. */
    kf_evaluation tried[6];
    tried[0] = evaluated(64, "soa", false, KF_STATE_OK, 200.0);
    tried[1] = evaluated(128, "soa", true, KF_STATE_OK, 110.0);
    tried[2] = evaluated(64, "csoa", true, KF_STATE_SKIPPED, 140.0);
    tried[3] = evaluated(64, "soa", true, KF_STATE_OK, 160.0);
    tried[4] = evaluated(128, "csoa", true, KF_STATE_OK, 100.0);
    tried[5] = evaluated(128, "csoa", false, KF_STATE_CRASH, 0.0);
    kf_tune_result result = {.tried = {.items = tried, .count = 6}, .best = 4, .presets = {-1, -1, -1}};
    kf_difference found[KF_CONFIG_VALUES];
    assert_int_equal(kf_tune_differences(&result, found, KF_CONFIG_VALUES), 0); /* no default was measured */
    result.presets[KF_PRESET_DEFAULT] = 0;
    assert_int_equal(kf_tune_differences(&result, found, KF_CONFIG_VALUES), 3);
    assert_string_equal(found[0].best->parameter, "block");
    assert_true(found[0].base->integer == 64 && fabs(found[0].gain - 0.4) < 1e-12);
    assert_string_equal(found[1].best->parameter, "layout");
    assert_true(fabs(found[1].gain - 0.1) < 1e-12);
    assert_string_equal(found[2].best->parameter, "graph");
    assert_true(isnan(found[2].gain));
    assert_false(found[0].noise || found[1].noise || found[2].noise);
    /* The intervals overlap, so the 10 % are no gain. */
    tried[1].measurement.step_us.low = 101.0;
    assert_int_equal(kf_tune_differences(&result, found, KF_CONFIG_VALUES), 3);
    assert_true(found[1].noise && !found[0].noise && !found[2].noise);
}

static void test_the_text_compares_with_the_default(void **state) {
    (void)state;
    kf_evaluation tried[] = {evaluated(64, "soa", false, KF_STATE_OK, 200.0),
                             evaluated(128, "soa", false, KF_STATE_OK, 160.0)};
    kf_tune_result result = {.tried = {.items = tried, .count = 1},
                             .best = 0,
                             .seconds = 12.0,
                             .presets = {-1, -1, -1},
                             .space_size = 100};
    result.presets[KF_PRESET_DEFAULT] = result.presets[KF_PRESET_BASELINE] = 0;
    result.device.peak_bandwidth = 4e12;
    tried[0].measurement.effective_bandwidth = 1e12;
    tried[1].measurement.effective_bandwidth = 3e12;
    kf_tune_request request = {.budget = {.seconds = 10.0}};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    kf_tune_explain(&request, &result, stream);
    result.tried.count = 2;
    result.best = result.searched = 1;
    result.presets[KF_PRESET_PAPER] = 0;
    result.states[KF_STATE_SKIPPED] = 3;
    kf_tune_explain(&request, &result, stream);
    assert_int_equal(fclose(stream), 0);
    const char *second = strstr(text, "block=128 instead of 64: without it a step takes 25.0 % longer");
    const char *no_search = strstr(text, "the presets used the whole budget"),
               *dropped = strstr(text, "the preset paper was dropped");
    assert_non_null(strstr(text, "12.0 s of a budget of 10 s"));
    assert_non_null(second);
    assert_true(no_search != NULL && no_search < second);
    assert_true(dropped != NULL && dropped < second && strstr(second, "was dropped") == NULL);
    assert_true(strstr(text, "25 % of the memory's peak: launches, waiting or arithmetic limit it") < second);
    assert_non_null(strstr(
        second, "the best moves 458 MiB a step at 3000.0 GB/s, 75 % of the memory's peak: memory limits it"));
    assert_null(strstr(second, "the presets used"));
    assert_non_null(strstr(second, "skipped: clearly slower"));
    free(text);
}

/* A config that was measured again in the final counts as it was there. */
static void test_final_counts(void **state) {
    (void)state;
    kf_evaluation tried[] = {evaluated(64, "soa", false, KF_STATE_OK, 200.0)};
    kf_evaluation finals[] = {evaluated(64, "soa", false, KF_STATE_OK, 400.0)};
    kf_tune_result result = {.tried = {.items = tried, .count = 1},
                             .finals = {.items = finals, .count = 1},
                             .presets = {[KF_PRESET_DEFAULT] = 0, -1, -1}};
    tried[0].measurement.effective_bandwidth = 2e12;
    finals[0].measurement.effective_bandwidth = 1e12;
    const kf_tune_request request = {.problem = NULL};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    kf_tune_explain(&request, &result, stream);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, "limit     the best moves 381 MiB a step at 1000.0 GB/s"));
    assert_null(strstr(text, "2000.0 GB/s"));
    free(text);
}

/* It says what a looser accuracy would give, and which accuracy allows it. A slower config is not
 * recommended. */
static void test_a_looser_accuracy_is_offered(void **state) {
    (void)state;
    kf_problem problem = {.name = "p"};
    kf_tune_result result = {.best = -1, .presets = {-1, -1, -1}, .alternative_count = 2};
    result.alternatives[0] =
        (kf_alternative){{.parameter = "storage", .kind = KF_VALUE_NAME, .name = "f16"}, 1.72, 0.009};
    result.alternatives[1] = (kf_alternative){{.parameter = "passes", .integer = 2}, 0.5, 0.001};
    kf_facts_size(&problem.facts, (const int[3]){64, 32, 1}, "nodes");
    kf_facts_number(&problem.facts, "cell_size", 0.1, "m");
    kf_facts_number(&problem.facts, "time_step", 0.1, "s");
    const kf_tune_request request = {.problem = &problem};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    kf_tune_explain(&request, &result, stream);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, "storage=f16: 1.72x at an error of 0.9 %: allow it with --accuracy 2%"));
    assert_non_null(strstr(text, "passes=2: 0.50x at an error of 0.1 %\n"));
    assert_non_null(strstr(text, "half the grid: about 8 times as fast to the same moment"));
    kf_facts_free(&problem.facts);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences_have_their_gain),
                                       cmocka_unit_test(test_the_text_compares_with_the_default),
                                       cmocka_unit_test(test_final_counts),
                                       cmocka_unit_test(test_a_looser_accuracy_is_offered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
