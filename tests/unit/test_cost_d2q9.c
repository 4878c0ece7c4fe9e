/* What the cost model says of the d2q9 plans, held against what an H200 measured (results/measured), and
 * against the launches that plans make. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "cost_model/d2q9.h"
#include "solver/d2q9/d2q9.h"
#include "solver/flow/flow_problem.h"
#include "solver/systems.h"
#include "tests/unit/model_launches.h"
#include "tests/unit/plan_fixture.h"

static const kf_device_info gpu = {.backend = "cuda",
                                   .spec = "cuda:0",
                                   .name = "test",
                                   .peak_bandwidth = 4.8e12,
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .l2_bytes = (uint64_t)60 << 20,
                                   .memory_bytes = (uint64_t)128 << 30};

/* A scene as the suite changes it: one whose accuracy allows 16 bits. */
typedef struct fixture {
    kf_problem *library, *problem;
    kf_scene scene;
    kf_cost_model *model;
} fixture;

static void opened(fixture *f, const char *scene, int nodes, kf_collision collision) {
    const kf_problem_options options = {.nodes = {nodes, nodes, 1}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "d2q9", &options, &f->library, &error) != KF_OK) fail_msg("%s", error.message);
    f->scene = *kf_problem_scene(f->library);
    f->scene.accuracy = 0.01;
    f->scene.collision = collision;
    f->problem = kf_flow_problem(f->library->system, &f->scene, false);
    kf_cost_model_open(f->problem, &gpu, NULL, &f->model);
    assert_non_null(f->model);
}
static void closed(fixture *f) {
    kf_cost_model_close(f->model);
    kf_problem_free(f->problem);
    kf_problem_free(f->library);
}
static double predicted(const fixture *f, const kf_config *config) {
    kf_prediction prediction;
    kf_error error = {KF_OK, ""};
    if (kf_cost_model_predict(f->model, config, NULL, &prediction, &error) != KF_OK)
        fail_msg("%s", error.message);
    return prediction.time_us;
}

/* --- an H200 -------------------------------------------------------------------------------------------- */

enum { MOST = 64 };
typedef struct pairs {
    double measured[MOST], predicted[MOST];
    size_t count;
} pairs;

static cJSON *measured_figures(void) {
    const char *data = NULL;
    char path[KF_PATH];
    cJSON *root = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_data_folder(&data, &error) != KF_OK ||
        kf_path(path, &error, "%s/results/measured/h200-d2q9.json", data) != KF_OK ||
        kf_json_read_file(path, &root, &error) != KF_OK)
        fail_msg("%s", error.message);
    return root;
}

/* The figures whose name begins and ends so, of one scene. */
static void compare(const cJSON *root, const fixture *f, const char *begin, const char *part, pairs *found) {
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(root, "figures")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "name"));
        const cJSON *given = cJSON_GetObjectItemCaseSensitive(figure, "config"),
                    *step = cJSON_GetObjectItemCaseSensitive(figure, "step_us");
        if (given == NULL || strncmp(name, begin, strlen(begin)) != 0 || strstr(name, part) == NULL) continue;
        kf_config config;
        assert_int_equal(kf_config_from_json("h200-d2q9.json", given, &config, NULL), KF_OK);
        assert_true(found->count < MOST);
        found->measured[found->count] =
            cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(step, "median"));
        found->predicted[found->count++] = predicted(f, &config);
    }
}

/* Adds them as multiples of the fastest. */
static void add_shares(const pairs *some, pairs *all) {
    double measured = INFINITY, predicted_best = INFINITY;
    for (size_t i = 0; i < some->count; i++) {
        measured = fmin(measured, some->measured[i]);
        predicted_best = fmin(predicted_best, some->predicted[i]);
    }
    for (size_t i = 0; i < some->count; i++) {
        all->measured[all->count] = some->measured[i] / measured;
        all->predicted[all->count++] = some->predicted[i] / predicted_best;
    }
}

/* Each scene's configs, and all of them by their distance from the best of their scene. */
static void ranks_of_an_h200(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes;
        kf_collision collision;
        const char *begin, *part;
        size_t configs;
        double least;
    } groups[] = {{"cavity2d", 8192, KF_MRT, "2 MRT ", "", 16, 0.96},
                  {"cavity2d", 8192, KF_BGK, "2 LBGK ", "", 3, 1 - 1e-9},
                  {"cavity2d", 8192, KF_BGK_LINEAR, "2 LBGKL ", "", 3, 1 - 1e-9},
                  {"cylinder_array2d", 512, KF_MRT_LINEAR, "5 ", " 512^2", 10, 0.95},
                  {"cylinder_array2d", 1024, KF_MRT_LINEAR, "5 ", " 1024^2", 10, 0.96},
                  {"cylinder_array2d", 2048, KF_MRT_LINEAR, "5 ", " 2048^2", 10, 0.96},
                  {"cylinder_array2d", 3072, KF_MRT_LINEAR, "5 ", " 3072^2", 10, 0.98}};
    cJSON *root = measured_figures();
    pairs all = {.count = 0};
    double worst_error = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        fixture f;
        pairs found = {.count = 0};
        opened(&f, groups[i].scene, groups[i].nodes, groups[i].collision);
        compare(root, &f, groups[i].begin, groups[i].part, &found);
        closed(&f);
        const double correlation = kf_rank_correlation(found.measured, found.predicted, found.count);
        if (!(correlation >= groups[i].least))
            fail_msg("%s, %d: rank correlation %.4f", groups[i].begin, groups[i].nodes, correlation);
        assert_int_equal(found.count, groups[i].configs);
        add_shares(&found, &all);
        for (size_t j = 0; j < found.count; j++)
            worst_error = fmax(worst_error, fabs(found.predicted[j] / found.measured[j] - 1));
    }
    const double whole = kf_rank_correlation(all.measured, all.predicted, all.count);
    if (!(whole >= 0.95)) fail_msg("all: rank correlation %.4f", whole);
    if (!(worst_error <= 0.355)) fail_msg("a step is off by %.2f", worst_error);
    cJSON_Delete(root);
}

/* --- plans ---------------------------------------------------------------------------------------------- */

static void compare_launches(const char *name, const char *plan_name, const char *way) {
    const kf_scene_options options = {.nodes = {48, 48, 1}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    kf_space *space;
    kf_config config;
    kf_works works = {.count = 0};
    const bool paper = strcmp(plan_name, "toelke") == 0, temporal = strcmp(plan_name, "temporal") == 0;
    must(kf_scene_open(name, &options, &scene, &error), &error);
    const kf_problem *problem = problem_of(&kf_system_d2q9, scene);
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, paper ? "paper" : "default", &config, &error), &error);
    kf_config_set_name(&config, "plan", plan_name);
    kf_config_set_name(&config, "bounce_back", way);
    kf_config_set_integer(&config, "steps_per_launch", temporal ? 3 : 1);
    kf_config_set_integer(&config, "tile_rows", temporal ? 32 : 0);
    kf_config_set_integer(&config, "threads", 64);
    kf_plan *plan = open_plan_of(&kf_system_d2q9, scene, &config);
    void *model = kf_cost_d2q9.open(problem, &gpu);
    must(kf_cost_d2q9.works(model, &config, &works, &error), &error);
    compare_works(plan, &works, plan_name);
    kf_works_free(&works);
    kf_cost_d2q9.close(model);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

static void launches_of_plans(void **state) {
    (void)state;
    compare_launches("cylinder_array2d", "toelke", "full_way");
    compare_launches("cylinder_array2d", "separate", "half_way");
    compare_launches("cylinder_array2d", "pull", "half_way");
    compare_launches("cylinder_array2d", "push", "half_way");
    compare_launches("cylinder_array2d", "inplace", "full_way");
    compare_launches("cavity2d", "temporal", "half_way");
}

/* Never below the least traffic at the speed of the cache, nor absurd. */
static void every_config(void **state) {
    (void)state;
    static const char *const scenes[] = {"cavity2d", "cylinder_array2d"};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        fixture f;
        kf_space *space;
        kf_error error = {KF_OK, ""};
        opened(&f, scenes[i], 512, KF_MRT);
        must(kf_problem_space(f.problem, &gpu, NULL, 0, &space, &error), &error);
        uint64_t random = 7;
        for (int sample = 0; sample < 1000; sample++) {
            kf_config config;
            kf_space_config(space, kf_random_below(&random, kf_space_size(space)), &config);
            const double us = predicted(&f, &config), nodes = 512.0 * 512.0;
            assert_true(us > 1e6 * nodes * 18 * 2 / 7 / 8.2e12 && us < 1e3);
        }
        kf_space_free(space);
        closed(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_of_an_h200),
                                       cmocka_unit_test(launches_of_plans), cmocka_unit_test(every_config)};
    return cmocka_run_group_tests(tests, open_backend_on_one_core, close_backend);
}
