/* Tests the cost model of the incompressible system against the launches that plans make, counts by hand,
 * and times of an H200. Faults: a launch that the model forgets, wrong bytes, a wrong order of configs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "scene/scene.h"
#include "solver/incompressible/incompressible.h"
#include "solver/incompressible/incompressible_cost.h"
#include "tests/unit/model_launches.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/works_by_hand.h"

typedef struct fixture {
    kf_scene *scene;
    const kf_problem *problem;
    kf_space *space;
} fixture;

static fixture opened(int x, int y, int z) {
    const kf_scene_options options = {.nodes = {x, y, z}};
    fixture f;
    kf_error error = {KF_OK, ""};
    must(kf_scene_open("ball", &options, &f.scene, &error), &error);
    f.problem = problem_of(&kf_system_incompressible, f.scene);
    must(kf_problem_space(f.problem, &gpu, NULL, 0, &f.space, &error), &error);
    return f;
}
static void closed(fixture *f) {
    kf_space_free(f->space);
    kf_scene_free(f->scene);
}
/* It computes each of eight addresses, as the instructions counted by hand and the measured steps do. */
static kf_config config_of(const fixture *f, const char *solver, int iterations) {
    kf_config config;
    kf_error error = {KF_OK, ""};
    must(kf_space_preset(f->space, "default", &config, &error), &error);
    kf_config_set_name(&config, "solver", solver);
    kf_config_set_integer(&config, "iterations", iterations);
    kf_config_set_name(&config, "addresses", "eight");
    kf_config_set_boolean(&config, "fixed_rows", false);
    kf_config_set_boolean(&config, "overlap", false);
    return config;
}

/* --- Launches ------------------------------------------------------------------------------------------- */

static void launches_of(const char *solver, int iterations) {
    fixture f = opened(32, 16, 16);
    kf_plan *plan;
    kf_error error = {KF_OK, ""};
    kf_config config = config_of(&f, solver, iterations);
    kf_works works = works_of_model(&kf_cost_incompressible, f.problem, &gpu, &config);
    kf_config_set_boolean(&config, "graph", false);
    kf_config_set_integer(&config, "block_x", 1024);
    kf_config_set_integer(&config, "block_y", 1);
    must(kf_system_incompressible.plan(f.problem, &config, backend, &plan, &error), &error);
    compare_works(plan, &works, solver);
    kf_plan_free(plan);
    kf_works_free(&works);
    closed(&f);
}
static void launches_of_plans(void **state) {
    (void)state;
    launches_of("multigrid_cg", 6);
    launches_of("multigrid", 9);
    launches_of("incomplete_cg", 100);
}

/* --- By hand -------------------------------------------------------------------------------------------- */

enum { CELLS = 64 * 32 * 32 };

static double launches_named(const kf_works *works, const char *name) {
    double launches = 0;
    for (size_t i = 0; i < works->count; i++)
        if (strcmp(works->list[i].name, name) == 0) launches += works->list[i].launches;
    return launches;
}

/* 64x32x32, 32x16x16, 16x8x8, 8x4x4 and 4x2x2 cells: four levels above the coarsest. All lie in the cache.
 * The bounds are kept, six values a cell. */
static void works_of_multigrid(void **state) {
    (void)state;
    static const double cached = 0.52;
    /* Accesses that wait, as long as beginning 2 x 9 x 33 blocks of 64 x 4, one a cycle, on all faces; 1024
     * blocks that sum, of a row each. */
    static const double faces = 2 * 9 * 33 / 1975.0 / 1.2, sums = 1024 / 1975.0 / 1.2, one = 1 / 1975.0 / 1.2;
    fixture f = opened(64, 32, 32);
    const kf_config config = config_of(&f, "multigrid_cg", 18);
    kf_works works = works_of_model(&kf_cost_incompressible, f.problem, &gpu, &config);
    const expected predict = {.name = "predict",
                              .dram = cached * CELLS * (12.0 * 4 + 4),
                              .instructions = 21.0 * 65 * CELLS,
                              .latency = 2 + faces,
                              .efficiency = 0.63},
                   correct = {.name = "correct",
                              .dram = cached * CELLS * (15.0 * 4 + 4),
                              .instructions = 21.0 * 88 * CELLS,
                              .latency = 2 + faces,
                              .efficiency = 0.63},
                   divergence = {.name = "divergence",
                                 .dram = cached * CELLS * (4.0 * 4 + 4),
                                 .instructions = 0.6 * 320 * CELLS,
                                 .latency = 3 + sums,
                                 .efficiency = 0.5},
                   advance = {.name = "advance",
                              .launches = 3, /* iterations: 4 x 2.4 / 3.4 */
                              .dram = cached * CELLS * (6.0 * 4 + 4),
                              .instructions = 0.6 * 70 * CELLS,
                              .latency = 3 + sums,
                              .efficiency = 0.5},
                   project = {.name = "project",
                              .dram = cached * CELLS * (10.0 * 4 + 4),
                              .instructions = 0.6 * 200 * CELLS,
                              .latency = 2 + faces,
                              .efficiency = 0.63},
                   coarsest = {.name = "solve_coarsest",
                               .launches = 3,
                               .latency = 3 + 0.33 * 24 + one,
                               .efficiency = 0.63};
    compare_one(&works, &predict);
    compare_one(&works, &correct);
    compare_one(&works, &divergence);
    compare_one(&works, &advance);
    compare_one(&works, &project);
    compare_one(&works, &coarsest);
    assert_false(works.one_by_one);
    /* Both halves, 18 iterations each, of which 15 return at once. */
    assert_true(launches_named(&works, "smooth_first") == 2 * 18 * 4);
    assert_true(launches_named(&works, "smooth") == 2 * 18 * (2 * 4 - 1));
    assert_true(launches_named(&works, "smooth_last") == 2 * 18);
    assert_true(launches_named(&works, "judge") == 2 * 18);
    double least = 0;
    for (size_t i = 0; i < works.count; i++)
        if (strcmp(works.list[i].name, "smooth_first") == 0 && works.list[i].amount[KF_COST_DRAM] > 0)
            least += works.list[i].amount[KF_COST_DRAM];
    near("smooth_first", "bytes of its levels, both halves", least,
         2 * cached * (2.0 * 4 + 4) * (CELLS + CELLS / 8.0 + CELLS / 64.0 + CELLS / 512.0));
    kf_works_free(&works);
    closed(&f);
}

static double instructions_of_prediction(int x, int y, int z) {
    fixture f = opened(x, y, z);
    const kf_config config = config_of(&f, "cg", 20);
    kf_works works = works_of_model(&kf_cost_incompressible, f.problem, &gpu, &config);
    double sum = 0;
    for (size_t i = 0; i < works.count; i++)
        if (strcmp(works.list[i].name, "predict") == 0) sum += works.list[i].amount[KF_COST_INSTRUCTIONS];
    kf_works_free(&works);
    closed(&f);
    return sum;
}

/* Twice as many cells along any axis are twice the instructions of what works on all of them. */
static void cells_along_each_axis_count(void **state) {
    (void)state;
    const double once = instructions_of_prediction(32, 24, 20);
    assert_true(once > 0);
    near("predict", "twice along x", instructions_of_prediction(64, 24, 20), 2 * once);
    near("predict", "twice along y", instructions_of_prediction(32, 48, 20), 2 * once);
    near("predict", "twice along z", instructions_of_prediction(32, 24, 40), 2 * once);
}

/* Solvers take more iterations where more cells are in a row, at most the allowed number, and at least the
 * one asked for. */
static void iterations_of_solvers(void **state) {
    (void)state;
    static const struct {
        const char *solver;
        int most, least;
        double wanted;
    } solves[] = {{"cg", 1600, 0, 86}, /* 1.9 x 64 x 2.4 / 3.4 */
                  {"cg", 50, 0, 50},
                  {"incomplete_cg", 800, 0, 46},
                  {"incomplete_cg", 800, 300, 300}};
    fixture f = opened(64, 32, 32);
    for (size_t i = 0; i < sizeof solves / sizeof *solves; i++) {
        kf_config config = config_of(&f, solves[i].solver, solves[i].most);
        kf_config_set_integer(&config, "least_iterations", solves[i].least);
        kf_works works = works_of_model(&kf_cost_incompressible, f.problem, &gpu, &config);
        const expected advance = {.name = "advance",
                                  .launches = solves[i].wanted,
                                  .dram = 0.52 * CELLS * (6.0 * 4 + 4),
                                  .instructions = 0.6 * 70 * CELLS,
                                  .latency = 3 + 1024 / 1975.0 / 1.2,
                                  .efficiency = 0.5};
        compare_one(&works, &advance);
        kf_works_free(&works);
    }
    closed(&f);
}

/* --- An H200 -------------------------------------------------------------------------------------------- */

/* These are `cube` and `suite_200x100x100` of results/measured/h200-incompressible.json. predict and
 * correct of the first gave two constants. */
static void steps_of_an_h200(void **state) {
    (void)state;
    static const struct {
        int cells, sweeps, iterations;
        const char *solver;
        double measured_ms;
    } steps[] = {{256, 2, 5, "multigrid_cg", 15.94},
                 {256, 2, 6, "multigrid_cg", 17.34},
                 {256, 2, 18, "multigrid_cg", 23.1},
                 {256, 2, 9, "multigrid", 18.57}};
    fixture f = opened(256, 256, 256);
    kf_cost_model *model;
    kf_cost_model_open(f.problem, &gpu, NULL, &model);
    assert_non_null(model);
    assert_false(kf_cost_model_leads(model));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        kf_config config = config_of(&f, steps[i].solver, steps[i].iterations);
        kf_prediction prediction;
        kf_error error = {KF_OK, ""};
        kf_config_set_integer(&config, "sweeps", steps[i].sweeps);
        kf_config_set_name(&config, "bounds", "found");
        must(kf_cost_model_predict(model, &config, NULL, &prediction, &error), &error);
        print_message("%s, %d sweeps, %d iterations: predicted %.1f ms, measured %.1f\n", steps[i].solver,
                      steps[i].sweeps, steps[i].iterations, 1e-3 * prediction.time_us, steps[i].measured_ms);
        assert_true(fabs(1e-3 * prediction.time_us / steps[i].measured_ms - 1) < 0.25);
        assert_string_equal(prediction.longest, "correct");
    }
    kf_cost_model_close(model);
    closed(&f);
}

/* These are candidates of suites in the same file: 100x50x50, 256^3 with bounds that are found again, and
 * others. Steps are as many kinetic ones long. */
static void candidates_of_an_h200(void **state) {
    (void)state;
    static const struct {
        int cells[3], steps;
        const char *solver, *bounds, *addresses;
        int sweeps, iterations;
        double measured_us;
    } steps[] = {
#define GRADIENTS "multigrid_cg"
        {{100, 50, 50}, 1, GRADIENTS, "found", "eight", 2, 3, 689},
        {{100, 50, 50}, 1, GRADIENTS, "found", "eight", 2, 4, 805},
        {{100, 50, 50}, 1, GRADIENTS, "found", "eight", 2, 5, 866},
        {{100, 50, 50}, 1, GRADIENTS, "found", "eight", 2, 6, 932},
        {{100, 50, 50}, 1, GRADIENTS, "found", "eight", 1, 6, 961},
        {{100, 50, 50}, 1, "fourier_cg", "found", "eight", 2, 12, 2281},
        {{100, 50, 50}, 1, "fourier_cg", "found", "eight", 2, 25, 2419},
        {{200, 100, 100}, 1, GRADIENTS, "kept", "eight", 2, 3, 2089},
        {{200, 100, 100}, 1, GRADIENTS, "kept", "one", 2, 3, 1846},
        {{200, 100, 100}, 1, GRADIENTS, "kept", "eight", 2, 4, 2280},
        {{200, 100, 100}, 10, GRADIENTS, "kept", "eight", 2, 5, 2792},
        {{200, 100, 100}, 10, GRADIENTS, "kept", "one", 2, 5, 2549},
        {{200, 100, 100}, 10, GRADIENTS, "kept", "eight", 2, 6, 2868},
        {{200, 100, 100}, 40, GRADIENTS, "kept", "eight", 2, 6, 3345},
        {{200, 100, 100}, 40, GRADIENTS, "kept", "one", 2, 6, 2950},
        {{200, 100, 100}, 40, GRADIENTS, "kept", "eight", 2, 9, 3575},
        {{256, 256, 256}, 10, GRADIENTS, "found", "eight", 2, 5, 15943},
        {{256, 256, 256}, 10, GRADIENTS, "found", "eight", 2, 6, 17339},
        {{256, 256, 256}, 10, GRADIENTS, "found", "eight", 2, 18, 23100},
        {{256, 256, 256}, 10, GRADIENTS, "found", "eight", 1, 9, 19646},
        {{256, 256, 256}, 10, "multigrid", "found", "eight", 2, 9, 18570},
        {{256, 256, 256}, 10, GRADIENTS, "kept", "eight", 2, 5, 15124},
#undef GRADIENTS
    };
    enum { STEPS = sizeof steps / sizeof *steps };
    double measured[STEPS], predicted[STEPS];
    for (size_t i = 0; i < STEPS; i++) {
        kf_error error = {KF_OK, ""};
        kf_cost_model *model;
        kf_prediction prediction;
        fixture f = opened(steps[i].cells[0], steps[i].cells[1], steps[i].cells[2]);
        kf_incompressible_own_model(f.scene)->steps = steps[i].steps;
        kf_config config = config_of(&f, steps[i].solver, steps[i].iterations);
        kf_config_set_integer(&config, "sweeps", steps[i].sweeps);
        kf_config_set_name(&config, "bounds", steps[i].bounds);
        kf_config_set_name(&config, "addresses", steps[i].addresses);
        kf_cost_model_open(f.problem, &gpu, NULL, &model);
        must(kf_cost_model_predict(model, &config, NULL, &prediction, &error), &error);
        measured[i] = steps[i].measured_us;
        predicted[i] = prediction.time_us;
        assert_true(fabs(log(predicted[i] / measured[i])) < log(1.7));
        kf_cost_model_close(model);
        closed(&f);
    }
    const double correlation = kf_rank_correlation(measured, predicted, STEPS);
    if (!(correlation >= 0.97)) fail_msg("rank correlation %.4f", correlation);
}

static void every_config(void **state) {
    (void)state;
    fixture f = opened(64, 32, 32);
    kf_cost_model *model;
    kf_error error = {KF_OK, ""};
    kf_cost_model_open(f.problem, &gpu, NULL, &model);
    for (uint64_t i = 0; i < kf_space_size(f.space); i += 7) {
        kf_config config;
        kf_prediction prediction;
        kf_space_config(f.space, i, &config);
        must(kf_cost_model_predict(model, &config, NULL, &prediction, &error), &error);
        assert_true(prediction.time_us > 10 && prediction.time_us < 1e6);
    }
    kf_cost_model_close(model);
    closed(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_plans),
        cmocka_unit_test(works_of_multigrid),
        cmocka_unit_test(cells_along_each_axis_count),
        cmocka_unit_test(iterations_of_solvers),
        cmocka_unit_test(steps_of_an_h200),
        cmocka_unit_test(candidates_of_an_h200),
        cmocka_unit_test(every_config),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
