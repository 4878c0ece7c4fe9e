/* The cost model: its arithmetic, its calibration, and what it says of the kinetic plans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "cost_model/kinetic.h"
#include "cost_model/model.h"
#include "harness/search/strategy.h"
#include "solver/systems.h"

static const kf_device_info gpu = {.backend = "cuda",
                                   .spec = "cuda:0",
                                   .name = "test",
                                   .peak_bandwidth = 4.8e12,
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .memory_bytes = (uint64_t)128 << 30};

static void test_launches_add_up(void **state) {
    (void)state;
    kf_works works = {.count = 0};
    kf_ceilings ceilings;
    kf_calibration none;
    kf_prediction prediction;
    char text[256];
    kf_ceilings_from(&gpu, NULL, &ceilings);
    assert_false(ceilings.measured);
    double rate = ceilings.rate[KF_COST_DRAM];
    assert_true(fabs(rate / (0.88 * 4.8e12) - 1) < 1e-9);
    kf_calibration_begin(&none);
    kf_works_add(&works, "pass", 1)->amount[KF_COST_DRAM] = 1e-3 * rate; /* 1 ms */
    kf_work *spread = kf_works_add(&works, "spread", 0.5);               /* at every second step */
    spread->amount[KF_COST_ATOMICS] = 4e-4 * ceilings.rate[KF_COST_ATOMICS];
    spread->amount[KF_COST_DRAM] = 1e-4 * rate; /* beside the atomics, at the same time */
    kf_cost_predict(&works, &ceilings, &none, &prediction);
    assert_true(fabs(prediction.time_us - (1000 + 200 + 1.5 * 1)) < 1e-6);
    assert_true(fabs(prediction.parts_us[KF_COST_ATOMICS] - 200) < 1e-9);
    assert_true(fabs(prediction.busy[KF_COST_DRAM] - 1050 / prediction.time_us) < 1e-9);
    assert_string_equal(prediction.longest, "pass");
    assert_string_equal(kf_cost_explain(&prediction, text, sizeof text),
                        "DRAM bound at 87 %, atomics 17 % of the time; pass takes 1 ms");
    kf_roofs roofs = {.count = 1, .list = {{.name = "dram_copy", .unit = "GB/s", .value = 4000}}};
    kf_ceilings_from(&gpu, &roofs, &ceilings);
    assert_true(ceilings.measured && fabs(ceilings.rate[KF_COST_DRAM] - 4e12) < 1);
    kf_works_free(&works);
}

/* Factors that were put in come out, as far as the ridge lets them. */
static void test_calibration(void **state) {
    (void)state;
    enum { COUNT = 400 };
    static const double factors[KF_RESOURCES] = {1.2, 0.5, 3, 1, 1.5, 0.9, 0.8};
    kf_prediction predictions[COUNT];
    double measured[COUNT];
    uint64_t random = 5;
    for (int i = 0; i < COUNT; i++) {
        predictions[i] = (kf_prediction){0};
        measured[i] = 0;
        for (int r = 0; r < KF_RESOURCES; r++) {
            if (r == KF_COST_ATOMICS) continue; /* never limits: nothing is learnt of it */
            predictions[i].parts_us[r] = (double)(1 + kf_random_below(&random, 1000));
            measured[i] += factors[r] * predictions[i].parts_us[r];
        }
    }
    kf_calibration calibration;
    kf_cost_calibrate(predictions, measured, COUNT, &calibration);
    assert_int_equal(calibration.measurements, COUNT);
    for (int r = 0; r < KF_RESOURCES; r++)
        assert_true(fabs(calibration.factor[r] / factors[r] - 1) < 0.15);
    assert_true(fabs(calibration.factor[KF_COST_ATOMICS] - 1) < 1e-9);
    kf_cost_calibrate(predictions, measured, 0, &calibration);
    for (int r = 0; r < KF_RESOURCES; r++)
        assert_true(fabs(calibration.factor[r] - 1) < 1e-12);
}

/* --- the kinetic system --------------------------------------------------------------------------------- */

typedef struct kf_fixture {
    kf_problem *problem;
    kf_space *space;
    kf_cost_model *model;
} kf_fixture;

static kf_fixture opened(const char *scene) {
    kf_fixture fixture = {NULL, NULL, NULL};
    const kf_problem_options options = {.nodes = {64, 48, 48}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "kinetic", &options, &fixture.problem, &error) != KF_OK ||
        kf_problem_space(fixture.problem, &gpu, NULL, 0, &fixture.space, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_cost_model_open(fixture.problem, &gpu, NULL, &fixture.model);
    assert_non_null(fixture.model);
    return fixture;
}

static void closed(kf_fixture *fixture) {
    kf_cost_model_close(fixture->model);
    kf_space_free(fixture->space);
    kf_problem_free(fixture->problem);
}

static double predicted(const kf_fixture *fixture, const kf_config *config) {
    kf_prediction prediction;
    assert_int_equal(kf_cost_model_predict(fixture->model, config, NULL, &prediction, NULL), KF_OK);
    return prediction.time_us;
}

static double preset_time(const kf_fixture *fixture, const char *name, const char *parameter,
                          const char *value, long alpha) {
    kf_config config;
    assert_int_equal(kf_space_preset(fixture->space, name, &config, NULL), KF_OK);
    if (parameter[0] != '\0') kf_config_set_name(&config, parameter, value);
    if (alpha > 0) kf_config_set_integer(&config, "alpha", alpha);
    return predicted(fixture, &config);
}

/* What was measured again and again: fewer passes and whole sectors are faster. */
static void test_plans_in_order(void **state) {
    (void)state;
    kf_fixture fixture = opened("ball");
    double baseline = preset_time(&fixture, "baseline", "", "", 0);
    double paper = preset_time(&fixture, "paper", "", "", 0);
    double best = preset_time(&fixture, "default", "", "", 0);
    assert_true(baseline > 2 * paper && paper > 2 * best);
    assert_true(preset_time(&fixture, "default", "layout", "aos", 1) > 3 * best);
    assert_true(preset_time(&fixture, "default", "", "", 2) > 1.5 * best);
    assert_true(preset_time(&fixture, "default", "storage", "f64", 0) > 1.2 * best);
    assert_true(preset_time(&fixture, "default", "layout", "soa", 1) > best);
    closed(&fixture);
}

/* Every config of every kind of scene has a time, and it is not absurd: never below the least traffic. */
static void test_all_configs(void **state) {
    (void)state;
    static const char *const scenes[] = {"ball", "torus", "concave"};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        kf_fixture fixture = opened(scenes[s]);
        uint64_t size = kf_space_size(fixture.space);
        double least = 1e6 * 64 * 48 * 48 * 216 / 4.8e12;
        for (uint64_t i = 0; i < 3000; i++) {
            kf_config config;
            kf_space_config(fixture.space, kf_shuffled(size, 1, i), &config);
            double time = predicted(&fixture, &config);
            const char *storage = "f32";
            (void)kf_config_name(&config, "storage", &storage, NULL);
            if (strcmp(storage, "f32") == 0 || strcmp(storage, "f64") == 0) assert_true(time > least);
            assert_true(time < 1e4 * least);
        }
        closed(&fixture);
    }
}

static double sectors_counted(const kf_scene *scene, int block_length, bool morton) {
    const kf_samples *samples = &scene->samples;
    kf_ordering ordering;
    uint32_t *order = kf_allocate(samples->count * sizeof *order);
    kf_ordering_begin(&ordering, block_length, morton, scene->solid_low, scene->solid_high);
    kf_ordering_sort(&ordering, samples->count, samples->x, samples->y, samples->z, order);
    size_t total = 0, warps = samples->count / 32;
    for (size_t w = 0; w < warps; w++) {
        long long found[256];
        size_t count = 0;
        for (size_t i = 32 * w; i < 32 * (w + 1); i++)
            for (int c = 0; c < 8; c++) {
                long long x = (long long)floor(samples->x[order[i]]) + (c & 1),
                          y = (long long)floor(samples->y[order[i]]) + (c >> 1 & 1),
                          z = (long long)floor(samples->z[order[i]]) + (c >> 2);
                long long sector = (x + scene->nodes[0] * (y + scene->nodes[1] * z)) / 8;
                size_t known = 0;
                while (known < count && found[known] != sector)
                    known++;
                if (known == count) found[count++] = sector;
            }
        total += count;
    }
    free(order);
    return (double)total / (double)warps;
}

/* The survey looks at some warps; all of them say about the same. */
static void test_sectors_of_samples(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {64, 48, 48}};
    kf_scene *scene = NULL;
    assert_int_equal(kf_scene_open("concave", &options, &scene, NULL), KF_OK);
    kf_sample_survey survey;
    kf_sample_survey_open(scene, &survey);
    assert_true(survey.band_nodes > 8 && survey.band_nodes < 64 * 48 * 48);
    assert_true(survey.samples_per_cell > 1);
    static const int lengths[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int morton = 0; morton < 2; morton++) {
            double surveyed = kf_sample_survey_sectors(&survey, lengths[i], morton != 0);
            double counted = sectors_counted(scene, lengths[i], morton != 0);
            print_message("block length %d, morton %d: %.1f sectors surveyed, %.1f counted\n", lengths[i],
                          morton, surveyed, counted);
            assert_true(surveyed > 0.75 * counted && surveyed < 1.35 * counted);
        }
    kf_sample_survey_close(&survey);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_add_up),    cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_plans_in_order),     cmocka_unit_test(test_all_configs),
        cmocka_unit_test(test_sectors_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
