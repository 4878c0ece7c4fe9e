/* What the cost model says of the stable fluids plans: orders that were measured again and again, and no
 * config without a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/random.h"
#include "cost_model/cost.h"
#include "cost_model/model.h"
#include "solver/systems.h"

static const kf_device_info gpu = {.backend = "cuda",
                                   .spec = "cuda:0",
                                   .name = "test",
                                   .peak_bandwidth = 4.8e12,
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .l2_bytes = (uint64_t)60 << 20,
                                   .memory_bytes = (uint64_t)128 << 30};

typedef struct fixture {
    kf_problem *problem;
    kf_space *space;
    kf_cost_model *model;
} fixture;

static fixture opened(const char *scene, int nx, int ny, int nz) {
    fixture f = {NULL, NULL, NULL};
    const kf_problem_options options = {.nodes = {nx, ny, nz}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "stable_fluids", &options, &f.problem, &error) != KF_OK ||
        kf_problem_space(f.problem, &gpu, NULL, 0, &f.space, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_cost_model_open(f.problem, &gpu, NULL, &f.model);
    assert_non_null(f.model);
    return f;
}
static void closed(fixture *f) {
    kf_cost_model_close(f->model);
    kf_space_free(f->space);
    kf_problem_free(f->problem);
}
static kf_prediction predicted(const fixture *f, const kf_config *config) {
    kf_prediction prediction;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_cost_model_predict(f->model, config, NULL, &prediction, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    return prediction;
}
static double preset(const fixture *f, const char *name) {
    kf_config config;
    assert_int_equal(kf_space_preset(f->space, name, &config, NULL), KF_OK);
    return predicted(f, &config).time_us;
}
/* The default with one parameter changed. */
static double changed(const fixture *f, const char *name, long value) {
    kf_config config;
    assert_int_equal(kf_space_preset(f->space, "default", &config, NULL), KF_OK);
    kf_config_set_integer(&config, name, value);
    return predicted(f, &config).time_us;
}

static void plans_in_order(void **state) {
    (void)state;
    static const int sizes[] = {512, 1024, 2048, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fixture f = opened("decay", sizes[i], sizes[i], 1);
        const double best = preset(&f, "default"), separate = preset(&f, "baseline");
        assert_true(preset(&f, "paper") > separate && separate > 1.3 * best);
        closed(&f);
    }
}

/* 20 values a thread leave threads of 2048 without a full share; a store of doubles is twice as long. */
static void parameters_in_order(void **state) {
    (void)state;
    fixture f = opened("decay", 2048, 2048, 1);
    kf_config config;
    assert_true(changed(&f, "points_rows", 20) > changed(&f, "points_rows", 16));
    assert_int_equal(kf_space_preset(f.space, "default", &config, NULL), KF_OK);
    const double single = predicted(&f, &config).time_us;
    kf_config_set_name(&config, "storage_velocity", "f64");
    kf_config_set_name(&config, "storage_spectrum", "f64");
    assert_true(predicted(&f, &config).time_us > 1.5 * single);
    closed(&f);
}

/* Never below the least traffic at the speed of the cache, nor absurd. */
static void every_config(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int n[3];
    } problems[] = {{"decay", {256, 256, 1}},
                    {"decay", {4096, 4096, 1}},
                    {"plume", {256, 256, 1}},
                    {"plume3d", {64, 64, 64}}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        fixture f = opened(problems[i].scene, problems[i].n[0], problems[i].n[1], problems[i].n[2]);
        const double cells = (double)problems[i].n[0] * problems[i].n[1] * problems[i].n[2];
        const uint64_t size = kf_space_size(f.space);
        uint64_t random = 7;
        for (int sample = 0; sample < 500; sample++) {
            kf_config config;
            kf_space_config(f.space, kf_random_below(&random, size), &config);
            const kf_prediction p = predicted(&f, &config);
            assert_true(p.time_us > 1e6 * cells * 24 / 8e12 && p.time_us < 1e3 + 0.01 * cells);
            assert_non_null(p.longest);
        }
        closed(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_in_order),
                                       cmocka_unit_test(parameters_in_order), cmocka_unit_test(every_config)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
