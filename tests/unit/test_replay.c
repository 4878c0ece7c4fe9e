/* Tests replays of landscapes, those of other tuners too: what strategies must reach, and bad files.
 * Faults: a wrong regret, or a strategy that finds worse configs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "harness/replay/replay.h"
#include "harness/replay/replay_score.h"
#include "tests/unit/sanitized.h"

/* --- Files ---------------------------------------------------------------------------------------------- */

static char scratch[] = "/tmp/kftune-replay-XXXXXX";

static int make_scratch(void **state) {
    (void)state;
    return mkdtemp(scratch) != NULL ? 0 : -1;
}

static int remove_scratch(void **state) {
    (void)state;
    char path[KF_PATH];
    (void)snprintf(path, sizeof path, "%s/landscape.json", scratch);
    (void)unlink(path);
    return rmdir(scratch);
}

static const char *real_file(const char *name) {
    static char path[KF_PATH];
    const char *shared = getenv("KFTUNE_SHARED");
    (void)snprintf(path, sizeof path, "%s/landscapes/%s", shared != NULL ? shared : "../shared", name);
    if (access(path, R_OK) != 0) skip();
    return path;
}

static const char *written(const char *text) {
    static char path[KF_PATH];
    kf_error error;
    (void)snprintf(path, sizeof path, "%s/landscape.json", scratch);
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) fail_msg("%s", error.message);
    return path;
}

static kf_landscape *opened(const char *file) {
    kf_landscape *landscape = NULL;
    kf_error error;
    if (kf_landscape_open(file, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    return landscape;
}

static void replayed(const kf_landscape *landscape, const char *strategy, int evaluations, int repeats,
                     kf_replay_result *result) {
    kf_replay_request request = {landscape, strategy, evaluations, repeats, 1, NULL};
    kf_error error;
    if (kf_replay(&request, result, &error) != KF_OK) fail_msg("%s", error.message);
}

/* Means over many seeds take minutes with sanitizers, which find nothing in them that one seed does not
 * show. */
static int seeds(int count) {
    return SANITIZED ? 1 : count;
}

static void assert_mean(bool holds) {
    if (!SANITIZED) assert_true(holds);
}

/* --- Formats -------------------------------------------------------------------------------------------- */

static const char cache_head[] =
    "{\"device_name\": \"gpu\", \"kernel_name\": \"k\", \"problem_size\": [1],\n\"tune_params_keys\": "
    "[\"a\", "
    "\"b\"], \"tune_params\": {\"a\": [1, 2], \"b\": [0.1, 1.5]},\n\"cache\": {\n";
static const char cache_rows[] =
    "\"1,0.1\": {\"a\": 1, \"b\": 0.1, \"time\": 3.5, \"compile_time\": 1000, \"benchmark_time\": 500},\n"
    "\"1,1.5\": {\"a\": 1, \"b\": 1.5, \"time\": \"RuntimeFailedConfig\"},\n"
    "\"2,0.1\": {\"a\": 2, \"b\": 0.1, \"time\": 1.25}";

static void check_small(const kf_landscape *landscape) {
    kf_config config;
    assert_int_equal(landscape->size, 3);
    assert_int_equal(landscape->ok_count, 2);
    assert_true(fabs(landscape->times_us[landscape->optimum] - 1250) < 1e-9);
    kf_space_config(landscape->space, landscape->optimum, &config);
    char *summary = kf_config_summary(&config);
    assert_string_equal(summary, "a=2 b=0.1");
    free(summary);
    assert_string_equal(landscape->device, "gpu");
}

static void test_kernel_tuner_cache(void **state) {
    (void)state;
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s}}\n", cache_head, cache_rows);
    kf_landscape *landscape = opened(written(text));
    check_small(landscape);
    double most = 0;
    for (uint64_t i = 0; i < landscape->size; i++)
        most = fmax(most, landscape->seconds[i]);
    assert_true(fabs(most - 1.5) < 1e-9);
    kf_landscape_free(landscape);
}

/* A killed job leaves its file like this: with a comma at the end, or half an entry. */
static void test_unfinished_cache(void **state) {
    (void)state;
    static const char *const ends[] = {"", ",", ",\n", ",\n\"2,1.5\": {\"a\": 2, \"b\": 1.5, \"ti"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[2048];
        (void)snprintf(text, sizeof text, "%s%s%s", cache_head, cache_rows, ends[i]);
        kf_landscape *landscape = opened(written(text));
        check_small(landscape);
        kf_landscape_free(landscape);
    }
}

static void test_a_compact_landscape_is_read(void **state) {
    (void)state;
    kf_landscape *landscape = opened(
        written("{\"kftune_landscape\":1,\"system\":\"s\",\"scene\":{\"name\":\"ball\"},\"device\":{\"name\":"
                "\"gpu\"},\"parameters\":{\"n\":[4,1,2],\"on\":[false,true],\"kind\":[\"x\",\"y\"]},"
                "\"presets\":{\"default\":1},\"results\":[[0,0,1,12.5,0.5],[1,1,0,10,0.25],[0,0,0,50,0.1,"
                "\"skipped\"],[2,0,0,\"crash\","
                "null]]}"));
    assert_int_equal(landscape->size, 4);
    assert_int_equal(landscape->ok_count, 3);
    assert_string_equal(landscape->scene, "ball");
    kf_config preset, best;
    assert_int_equal(kf_space_preset(landscape->space, "default", &preset, NULL), KF_OK);
    kf_space_config(landscape->space, landscape->optimum, &best);
    char *summary = kf_config_summary(&preset);
    assert_string_equal(summary, "kind=x n=1 on=true");
    free(summary);
    assert_memory_equal(&preset, &best, sizeof best);
    kf_replay_result result; /* the preset comes first, and is the best */
    replayed(landscape, "random", 3, 2, &result);
    assert_true(result.means[0] == 0 && result.evaluations == 3);
    kf_replay_free(&result);
    kf_landscape_free(landscape);
}

static void test_bad_files(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"cache\": {}}",
        "{\"tune_params\": {\"a\": [1]}, \"cache\": {}}",
        "{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": 1, \"time\": -1}}}",
        "{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": 1, \"time\": \"InvalidConfig\"}}}",
        "{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": {}, \"time\": 1}}}",
        "{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": 7}}",
        "{\"results\": [{\"configuration\": {\"a\": 1}, \"invalidity\": \"perhaps\"}]}",
        "{\"metadata\": {\"timeunit\": \"fortnights\"}, \"results\": []}",
        "{\"kftune_landscape\":2,\"system\":\"s\",\"parameters\":{},\"results\":[]}",
        "{\"kftune_landscape\":1,\"system\":\"s\",\"parameters\":{\"a\":[1]},\"results\":[[1,2,3]]}",
        "{\"kftune_landscape\":1,\"system\":\"s\",\"parameters\":{\"a\":[1]},\"results\":[[0,\"fine\",3]]}",
        "{\"kftune_landscape\":1,\"system\":\"s\",\"parameters\":{\"a\":[1]},\"results\":[[0,2]]}",
        "{\"kftune_landscape\":1,\"system\":\"s\",\"parameters\":{},\"presets\":{\"x\":7},\"results\":[]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_landscape *landscape = NULL;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_landscape_open(written(texts[i]), &landscape, &error), KF_BAD_INPUT);
        assert_null(landscape);
        assert_non_null(strstr(error.message, "landscape.json"));
        assert_null(strchr(error.message, '\n'));
    }
}

/* --- Real landscapes ------------------------------------------------------------------------------------ */

static void test_both_formats_agree(void **state) {
    (void)state;
    kf_landscape *cache = opened(real_file("convolution-A4000.json.gz"));
    kf_landscape *t4 = opened(real_file("convolution-A4000.t4.json.gz"));
    assert_int_equal(cache->size, 4362);
    assert_int_equal(cache->ok_count, 4201);
    assert_int_equal(t4->size, cache->size);
    assert_int_equal(t4->optimum, cache->optimum);
    for (uint64_t i = 0; i < cache->size; i++)
        if (cache->states[i] == KF_STATE_OK)
            assert_true(fabs(cache->times_us[i] - t4->times_us[i]) <= 1e-9 * cache->times_us[i]);
        else
            assert_int_not_equal(t4->states[i], KF_STATE_OK);
    kf_landscape_free(cache);
    kf_landscape_free(t4);
}

/* Random search has a known answer: the published figures are 32 % and 15 %, 10 % and 6 %. */
static void test_random_regret(void **state) {
    (void)state;
    static const struct {
        const char *file;
        double after_50, after_200;
    } known[] = {{"convolution-A4000.json.gz", 0.32, 0.15}, {"dedispersion-W6600.json.gz", 0.10, 0.06}};
    for (size_t i = 0; i < 2; i++) {
        kf_landscape *landscape = opened(real_file(known[i].file));
        kf_replay_result result;
        replayed(landscape, "random", 200, seeds(1000), &result);
        assert_mean(fabs(result.means[49] / known[i].after_50 - 1) < 0.08);
        assert_mean(fabs(result.means[199] / known[i].after_200 - 1) < 0.08);
        assert_true(isfinite(result.seconds[199]) && result.seconds[199] > result.seconds[49]);
        kf_replay_free(&result);
        kf_landscape_free(landscape);
    }
}

/* The model must reach this, on fewer seeds than `kftune bench --suite search` takes. */
static void test_model_reaches_the_target(void **state) {
    (void)state;
    static const struct {
        const char *file;
        double after_50, after_200;
    } bounds[] = {{"convolution-A4000.json.gz", 0.10, 0.02}, {"dedispersion-W6600.json.gz", 0.05, 0.025}};
    for (size_t i = 0; i < 2; i++) {
        kf_landscape *landscape = opened(real_file(bounds[i].file));
        kf_replay_result result;
        replayed(landscape, "model", 200, seeds(12), &result);
        print_message("%s: %.2f %% after 50, %.2f %% after 200, %.0f us a config\n", landscape->name,
                      100 * result.means[49], 100 * result.means[199], result.overhead_us);
        assert_mean(result.means[49] <= bounds[i].after_50);
        assert_mean(result.means[199] <= bounds[i].after_200);
        kf_replay_free(&result);
        kf_landscape_free(landscape);
    }
}

/* A result within a time is that of the last evaluation that had ended by then. Every config costs 10 s. */
static void test_results_within_a_time(void **state) {
    (void)state;
    kf_text text = {0};
    kf_text_append(&text, "{\"kernel_name\": \"k\", \"tune_params\": {\"a\": []}, \"cache\": {\n");
    for (int i = 0; i < 60; i++)
        kf_text_append(&text,
                       "\"%d\": {\"a\": %d, \"time\": %d, \"compile_time\": 1000, "
                       "\"benchmark_time\": 9000}%s\n",
                       i, i, 10 + i, i < 59 ? "," : "}}");
    kf_landscape *landscape = opened(written(text.text));
    kf_text_free(&text);
    for (uint64_t i = 0; i < landscape->size; i++)
        assert_true(landscape->seconds[i] == 10);
    kf_replay_result random;
    replayed(landscape, "random", 4, 50, &random);
    assert_true(fabs(random.seconds[0] - 10) < 1e-9);
    kf_replay_request request = {landscape, "random", 4, 50, 1, NULL};
    kf_summary early = kf_replay_after(&request, &random, 5), late = kf_replay_after(&request, &random, 40.5);
    assert_true(early.minimum == early.maximum &&
                fabs(early.median - 5.9) < 1e-9); /* nothing was found yet */
    assert_true(fabs(late.median - random.summaries[3].median) < 1e-12);
    kf_replay_free(&random);
    kf_landscape_free(landscape);
}

static double known_times(void *context, uint64_t index) {
    const kf_landscape *landscape = context;
    return landscape->times_us[index]; /* NAN for those that fail */
}

static double misleading(void *context, uint64_t index) {
    return 1 / known_times(context, index);
}

/* A good prior finds the optimum at once. A reversed one costs some evaluations, but does not spoil the
 * search. */
static void test_a_good_prior_finds_the_optimum(void **state) {
    (void)state;
    kf_landscape *landscape = opened(real_file("convolution-A4000.json.gz"));
    const kf_prior good = {known_times, landscape}, bad = {misleading, landscape};
    kf_replay_request request = {landscape, "model", 100, 5, 1, &good};
    kf_replay_result result;
    assert_int_equal(kf_replay(&request, &result, NULL), KF_OK);
    assert_true(result.means[0] == 0);
    kf_replay_free(&result);
    request.prior = &bad;
    assert_int_equal(kf_replay(&request, &result, NULL), KF_OK);
    assert_true(result.means[99] < 0.35);
    kf_replay_free(&result);
    kf_landscape_free(landscape);
}

static void test_a_seed_repeats_a_search(void **state) {
    (void)state;
    kf_landscape *landscape = opened(real_file("dedispersion-W6600.json.gz"));
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        kf_replay_result first, again;
        replayed(landscape, kf_strategies[s]->name, 60, 2, &first);
        replayed(landscape, kf_strategies[s]->name, 60, 2, &again);
        assert_memory_equal(first.regrets, again.regrets, 60 * 2 * sizeof(double));
        for (int i = 1; i < 60; i++) /* the best so far never gets worse */
            assert_true(first.means[i] <= first.means[i - 1] && first.means[i] >= 0);
        kf_replay_free(&first);
        kf_replay_free(&again);
    }
    kf_landscape_free(landscape);
}

/* --- The field's score -------------------------------------------------------------------------------- */

enum { FEW = 7 };
static const double few_times[FEW] = {9, 2,  50, 7,
                                      3, 20, 1}; /* of n=0, 1, ..; that of 50 is a config that fails */

/* For every order of the times, adds to the sums what it has found after each evaluation. Returns the
 * number of orders. */
static double all_orders(double *times, int from, double *sums) {
    if (from == FEW) {
        double best = INFINITY;
        for (int i = 0; i < FEW; i++)
            sums[i] += best = fmin(best, times[i]);
        return 1;
    }
    double count = 0;
    for (int i = from; i < FEW; i++) {
        const double first = times[i];
        times[i] = times[from];
        times[from] = first;
        count += all_orders(times, from + 1, sums);
        times[from] = times[i];
        times[i] = first;
    }
    return count;
}

/* Seven configs, one of which fails, take two seconds each to measure, with a default or without one. */
static kf_landscape *few_configs(const char *presets) {
    kf_text text = {0};
    kf_text_append(
        &text,
        "{\"kftune_landscape\":1,\"system\":\"s\",\"parameters\":{\"n\":[0,1,2,3,4,5,6]},%s\"results\":[",
        presets);
    for (int i = 0; i < FEW; i++)
        kf_text_append(&text, i == 2 ? "%s[%d,\"crash\",2]" : "%s[%d,%g,2]", i > 0 ? "," : "", i,
                       few_times[i]);
    kf_text_append(&text, "]}");
    kf_landscape *landscape = opened(written(text.text));
    kf_text_free(&text);
    return landscape;
}

/* The score of random search is compared with all 5,040 orders, and that of a search in the order of the
 * space with the definition. */
static void test_score_of_few(void **state) {
    (void)state;
    kf_landscape *landscape = few_configs("");
    const kf_replay_budget budget = kf_replay_budget_of(landscape);
    /* The correct ones are 1 2 3 7 9 20, with a median of 5. Near enough is 1.2, which one of them
     * reaches: (7 + 1) / 1 - 1 draws. */
    assert_int_equal(budget.evaluations, 7);
    assert_true(fabs(budget.seconds - 14) < 1e-9);
    double times[FEW], sums[FEW] = {0}, ratio = 0, best = INFINITY;
    for (int i = 0; i < FEW; i++)
        times[i] = fmin(few_times[i], 20);
    const double count = all_orders(times, 0, sums);
    double *random = kf_replay_random(landscape, FEW);
    for (int i = 0; i < FEW; i++) {
        assert_true(fabs(random[i] - sums[i] / count) < 1e-9);
        best = fmin(best, i == 2 ? 20 : few_times[i]);
        if (i < FEW - 1) ratio += (sums[i] / count - best) / (sums[i] / count - 1) / (FEW - 1);
    }
    free(random);
    kf_replay_result result;
    replayed(landscape, "enumerate", FEW, 2, &result);
    assert_true(fabs(kf_replay_score_of(landscape, &result).evaluations - ratio) < 1e-9);
    kf_replay_free(&result);
    kf_landscape_free(landscape);
}

/* A search whose first config is the optimum scores 1. Without known times of measuring there is no score
 * by seconds. */
static void test_score_of_the_best(void **state) {
    (void)state;
    kf_landscape *landscape = few_configs("\"presets\":{\"default\":6},");
    kf_replay_result result;
    replayed(landscape, "random", FEW, 3, &result);
    kf_replay_score score = kf_replay_score_of(landscape, &result);
    assert_true(score.evaluations == 1 && score.seconds == 1);
    landscape->seconds[0] = NAN;
    score = kf_replay_score_of(landscape, &result);
    assert_true(score.evaluations == 1 && isnan(score.seconds));
    for (int i = 0; i < FEW; i++) /* every config is the best */
        landscape->states[i] = KF_STATE_OK, landscape->times_us[i] = 1;
    assert_true(isnan(kf_replay_score_of(landscape, &result).evaluations));
    kf_replay_free(&result);
    kf_landscape_free(landscape);
}

/* On a real file random search scores 0 in both ways, and the strategies that learn score more. */
static void test_score_of_strategies(void **state) {
    (void)state;
    kf_landscape *landscape = opened(real_file("convolution-A4000.json.gz"));
    const int evaluations = kf_replay_budget_of(landscape).evaluations;
    static const struct {
        const char *strategy;
        int repeats;
        double least, most;
    } rows[] = {{"random", 400, -0.06, 0.06}, {"annealing", 60, 0.6, 0.95}, {"model", 10, 0.8, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kf_replay_result result;
        replayed(landscape, rows[i].strategy, evaluations, seeds(rows[i].repeats), &result);
        const kf_replay_score score = kf_replay_score_of(landscape, &result);
        print_message("%s: %.3f by evaluations, %.3f by seconds\n", rows[i].strategy, score.evaluations,
                      score.seconds);
        assert_mean(score.evaluations > rows[i].least && score.evaluations < rows[i].most);
        assert_mean(score.seconds > rows[i].least && score.seconds < rows[i].most);
        kf_replay_free(&result);
    }
    kf_landscape_free(landscape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_tuner_cache),
        cmocka_unit_test(test_unfinished_cache),
        cmocka_unit_test(test_a_compact_landscape_is_read),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_both_formats_agree),
        cmocka_unit_test(test_random_regret),
        cmocka_unit_test(test_model_reaches_the_target),
        cmocka_unit_test(test_results_within_a_time),
        cmocka_unit_test(test_a_good_prior_finds_the_optimum),
        cmocka_unit_test(test_a_seed_repeats_a_search),
        cmocka_unit_test(test_score_of_few),
        cmocka_unit_test(test_score_of_the_best),
        cmocka_unit_test(test_score_of_strategies),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
