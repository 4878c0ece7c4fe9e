/* Tests the cost model of particles against whole steps that an H200 took while nothing else ran on it
 * (results/measured/h200-sph.json), and against landscapes of a shared GPU. Faults: times far off, a wrong
 * order of configs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/replay/landscape_prior.h"
#include "solver/systems.h"
#include "tests/unit/modelled_gpu.h"

static kf_problem *opened(const char *scene, int nodes) {
    const kf_problem_options options = {.nodes = {nodes, nodes, nodes}};
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "sph", &options, &problem, &error) != KF_OK) fail_msg("%s", error.message);
    return problem;
}

/* The columns are search, cells, prune, layout, order, fuse_count, list_period, skin, in_flight, threads,
 * resident_blocks, graph. There are a million particles, or an eighth of 8 million (particles_bingham).
 * The model's constants were fitted to these steps. */
typedef struct quiet_step {
    int scene;
    double us;
    const char *search;
    long cells, prune;
    const char *layout, *order;
    long fuse_count, list_period, skin, in_flight, threads, resident_blocks, graph;
} quiet_step;
static const quiet_step quiet[] = {
    {0, 440.66, "list", 2, 1, "float4", "atomic", 0, 8, 10, 4, 128, 5, 1},
    {0, 489.808, "staged", 1, 0, "float4", "atomic", 0, 1, 0, 4, 96, 4, 1},
    {0, 765.688, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0},
    {0, 782.72, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0},
    {0, 506.344, "staged", 1, 1, "float4", "ranked", 1, 1, 0, 4, 64, 16, 1},
    {1, 850.996, "list", 2, 1, "float4", "atomic", 0, 8, 10, 2, 128, 5, 1},
    {1, 1118.14, "staged", 1, 0, "float4", "atomic", 1, 1, 0, 2, 192, 0, 1},
    {1, 1417.34, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0},
    {1, 1413.7, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0},
    {1, 1159.95, "rows", 2, 1, "float4", "ranked", 1, 1, 0, 2, 128, 0, 1},
    {2, 710.61, "list", 2, 1, "float4", "atomic", 0, 8, 10, 4, 128, 5, 1},
    {2, 677.74, "staged", 1, 1, "float4", "atomic", 1, 1, 0, 4, 64, 16, 1},
    {2, 1779.55, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0},
    {2, 1506.79, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0},
};
enum { QUIET = sizeof quiet / sizeof *quiet };

static double predicted(kf_cost_model *model, const quiet_step *q, const char *cell_order, long lanes) {
    kf_config config;
    kf_prediction prediction;
    kf_error error = {KF_OK, ""};
    memset(&config, 0, sizeof config);
    kf_copy_text(config.system, sizeof config.system, "sph");
    kf_config_set_name(&config, "search", q->search);
    kf_config_set_integer(&config, "cells", q->cells);
    kf_config_set_boolean(&config, "prune", q->prune);
    kf_config_set_name(&config, "layout", q->layout);
    kf_config_set_name(&config, "order", q->order);
    kf_config_set_boolean(&config, "fuse_count", q->fuse_count);
    kf_config_set_integer(&config, "list_period", q->list_period);
    kf_config_set_integer(&config, "skin", q->skin);
    kf_config_set_integer(&config, "in_flight", q->in_flight);
    kf_config_set_name(&config, "cell_order", cell_order);
    kf_config_set_integer(&config, "lanes", lanes);
    kf_config_set_integer(&config, "threads", q->threads);
    kf_config_set_integer(&config, "resident_blocks", q->resident_blocks);
    kf_config_set_boolean(&config, "graph", q->graph);
    if (kf_cost_model_predict(model, &config, NULL, &prediction, &error) != KF_OK)
        fail_msg("%s", error.message);
    return prediction.time_us;
}

static void steps_of_a_quiet_gpu(void **state) {
    (void)state;
    static const char *const scenes[] = {"particles_32", "particles_80", "particles_bingham"};
    double measured[QUIET], said[QUIET], square = 0;
    for (int s = 0; s < 3; s++) {
        kf_problem *problem = opened(scenes[s], 100);
        kf_cost_model *model;
        kf_cost_model_open(problem, &gpu, NULL, &model);
        assert_non_null(model);
        assert_false(kf_cost_model_leads(model));
        for (size_t i = 0; i < QUIET; i++) {
            if (quiet[i].scene != s) continue;
            measured[i] = quiet[i].us;
            said[i] = predicted(model, &quiet[i], "rows", 1);
            square += log(said[i] / measured[i]) * log(said[i] / measured[i]);
        }
        kf_cost_model_close(model);
        kf_problem_free(problem);
    }
    const double off = sqrt(square / QUIET), correlation = kf_rank_correlation(measured, said, QUIET);
    print_message("%d steps: off by %.1f %% (rms), rank correlation %.3f\n", (int)QUIET, 100 * off,
                  correlation);
    assert_true(off < 0.175 && correlation > 0.94);
}

/* Steps of configs and parameters to which no constant was fitted: cubes of this many spacings. */
typedef struct later_step {
    int spacings;
    const char *cell_order;
    long lanes;
    quiet_step step;
} later_step;
static const later_step later[] = {
    {100, "rows", 1, {1, 683, "list", 2, 1, "float4", "ranked", 0, 16, 10, 4, 128, 0, 1}},
    {100, "rows", 1, {1, 684, "list", 2, 1, "float4", "atomic", 0, 16, 10, 4, 128, 0, 1}},
    {100, "rows", 1, {1, 1140, "rows", 2, 1, "float4", "ranked", 1, 1, 0, 2, 128, 0, 1}},
    {100, "rows", 1, {1, 1380, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0}},
    {100, "rows", 1, {1, 1410, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0}},
    {100, "rows", 1, {1, 1460, "list", 2, 1, "float4", "atomic", 0, 16, 10, 2, 128, 0, 1}},
    {100, "rows", 1, {0, 334, "list", 1, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 365, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 365, "list", 2, 1, "float4", "ranked", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 387, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 64, 6, 1}},
    {100, "bricks", 1, {0, 390, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 2, {0, 420, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "morton", 1, {0, 434, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 4, {0, 470, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "morton", 2, {0, 495, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 497, "staged", 1, 1, "float4", "ranked", 1, 1, 0, 4, 64, 16, 1}},
    {100, "bricks", 4, {0, 501, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 515, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 16, 1}},
    {100, "rows", 1, {0, 737, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0}},
    {100, "rows", 1, {0, 758, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0}},
    {100, "rows", 1, {1, 665, "list", 2, 1, "float4", "ranked", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {1, 666, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {1, 671, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 0, 1}},
    {100, "bricks", 1, {1, 699, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "morton", 1, {1, 727, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 1, {1, 755, "list", 2, 1, "float4", "atomic", 0, 8, 5, 2, 128, 6, 1}},
    {100, "bricks", 2, {1, 776, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "morton", 2, {1, 800, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "bricks", 4, {1, 834, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "morton", 4, {1, 858, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "rows", 8, {1, 953, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {100, "bricks", 8, {1, 1010, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {200, "rows", 1, {1, 4560, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {200, "rows", 1, {1, 4560, "list", 2, 1, "float4", "ranked", 0, 8, 5, 4, 128, 6, 1}},
    {200, "rows", 1, {1, 4600, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 0, 1}},
    {200, "bricks", 1, {1, 5160, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {200, "rows", 1, {1, 5200, "list", 2, 1, "float4", "atomic", 0, 8, 5, 2, 128, 6, 1}},
    {200, "rows", 2, {1, 5250, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {200, "bricks", 2, {1, 5830, "list", 2, 1, "float4", "atomic", 0, 8, 5, 4, 128, 6, 1}},
    {200, "rows", 1, {1, 7930, "rows", 2, 1, "float4", "ranked", 1, 1, 0, 2, 128, 0, 1}},
    {200, "rows", 1, {1, 10300, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0}},
    {200, "rows", 1, {1, 10600, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 512, 0, 0}},
    {100, "rows", 1, {0, 498, "list", 2, 1, "float4", "atomic", 0, 4, 10, 4, 128, 6, 1}},
    {100, "rows", 1, {0, 499, "list", 2, 1, "float4", "atomic", 0, 8, 20, 8, 128, 5, 1}},
    {200, "rows", 1, {0, 3480, "list", 2, 1, "float4", "atomic", 0, 4, 10, 4, 128, 6, 1}},
    {200, "rows", 1, {0, 3530, "list", 2, 1, "float4", "atomic", 0, 4, 10, 2, 128, 0, 1}},
    {100, "rows", 1, {1, 873, "list", 2, 1, "float4", "atomic", 0, 4, 10, 4, 128, 6, 1}},
    {100, "rows", 1, {1, 914, "list", 2, 1, "float4", "atomic", 0, 4, 10, 2, 128, 0, 1}},
    {200, "rows", 1, {2, 5470, "staged", 1, 1, "float4", "ranked", 1, 1, 0, 4, 64, 16, 1}},
    {200, "rows", 1, {2, 6140, "list", 2, 1, "float4", "atomic", 0, 4, 10, 2, 128, 0, 1}},
    {200, "rows", 1, {2, 5290, "staged", 1, 0, "float4", "atomic", 1, 1, 0, 8, 64, 0, 1}},
    {100, "rows", 1, {0, 503, "staged", 1, 1, "float4", "ranked", 1, 1, 0, 4, 64, 16, 1}},
    {100, "rows", 1, {0, 514, "staged", 1, 1, "float4", "atomic", 0, 1, 0, 2, 96, 4, 1}},
    {200, "rows", 1, {0, 3550, "staged", 1, 1, "float4", "ranked", 1, 1, 0, 4, 64, 16, 1}},
    {200, "rows", 1, {0, 3600, "staged", 1, 1, "float4", "atomic", 0, 1, 0, 2, 96, 4, 1}},
    {100, "rows", 1, {1, 1160, "rows", 2, 1, "float4", "ranked", 1, 1, 0, 2, 128, 0, 1}},
    {100, "rows", 1, {1, 1400, "cells", 1, 0, "float3", "atomic", 0, 1, 0, 2, 128, 0, 0}},
};
enum { LATER = sizeof later / sizeof *later };

static void steps_of_the_day_after(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int number, spacings;
        double least;
    } cubes[] = {
        {"particles_32", 0, 100, 0.89}, {"particles_80", 1, 100, 0.82}, {"particles_80", 1, 200, 0.71}};
    for (size_t c = 0; c < sizeof cubes / sizeof *cubes; c++) {
        double measured[LATER], said[LATER];
        size_t count = 0;
        kf_problem *problem = opened(cubes[c].scene, cubes[c].spacings);
        kf_cost_model *model;
        kf_cost_model_open(problem, &gpu, NULL, &model);
        for (size_t i = 0; i < LATER; i++) {
            const later_step *l = &later[i];
            if (l->step.scene != cubes[c].number || l->spacings != cubes[c].spacings) continue;
            measured[count] = l->step.us;
            said[count++] = predicted(model, &l->step, l->cell_order, l->lanes);
        }
        const double correlation = kf_rank_correlation(measured, said, count);
        print_message("%s of %d spacings, %zu steps: rank correlation %.3f\n", cubes[c].scene,
                      cubes[c].spacings, count, correlation);
        assert_true(correlation >= cubes[c].least);
        kf_cost_model_close(model);
        kf_problem_free(problem);
    }
}

/* These landscapes are of a GPU that was in use, to which no constant was fitted. test_cost_surveys.c has
 * those of a GPU that was not. */
static void landscapes_of_a_gpu(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        double least;
    } landscapes[] = {{"particles_32", 0.46}, {"particles_80", 0.6}, {"particles_bingham", 0.76}};
    for (size_t k = 0; k < sizeof landscapes / sizeof *landscapes; k++) {
        kf_landscape *landscape = NULL;
        kf_landscape_prior none;
        kf_problem *problem = opened(landscapes[k].scene, 100);
        kf_cost_prior prior = {NULL, NULL};
        char path[KF_PATH];
        kf_error error = {KF_OK, ""};
        if (kf_path(path, &error, "results/measured/h200-shared-%s-100x100x100.json.gz",
                    landscapes[k].scene) != KF_OK ||
            kf_landscape_open(path, &landscape, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_false(kf_landscape_prior_open(landscape, &none)); /* it leads no search */
        kf_cost_model_open(problem, &gpu, NULL, &prior.model);
        prior.space = landscape->space;
        double *measured = calloc(landscape->size, sizeof *measured),
               *said = calloc(landscape->size, sizeof *said);
        size_t count = 0;
        for (uint64_t i = 0; i < landscape->size; i++) {
            if (landscape->states[i] != KF_STATE_OK) continue;
            measured[count] = landscape->times_us[i];
            said[count++] = kf_cost_prior_time(&prior, i);
        }
        const double correlation = kf_rank_correlation(measured, said, count);
        print_message("%s, shared: rank correlation %.3f\n", landscapes[k].scene, correlation);
        assert_true(correlation >= landscapes[k].least);
        free(measured);
        free(said);
        kf_cost_model_close(prior.model);
        kf_problem_free(problem);
        kf_landscape_free(landscape);
    }
}

/* A config's time is between that of a copy of the state at the data sheet's speed and that of a thousand
 * pairs a particle. */
static void every_config(void **state) {
    (void)state;
    static const char *const scenes[] = {"particles_32", "dam_break_2d", "column", "avalanche"};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        kf_problem *problem = opened(scenes[s], 48);
        kf_space *space;
        kf_cost_prior prior = {NULL, NULL};
        kf_error error = {KF_OK, ""};
        uint64_t random = 5;
        if (kf_problem_space(problem, &gpu, NULL, 0, &space, &error) != KF_OK) fail_msg("%s", error.message);
        kf_cost_model_open(problem, &gpu, NULL, &prior.model);
        prior.space = space;
        const double particles = kf_facts_value(&problem->facts, "particle_count");
        for (int i = 0; i < 300; i++) {
            const double us = kf_cost_prior_time(&prior, kf_random_below(&random, kf_space_size(space)));
            assert_true(us > 1e6 * particles * 100 / 4.9e12 && us < 300 + 0.05 * particles);
        }
        kf_cost_model_close(prior.model);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_of_a_quiet_gpu),
                                       cmocka_unit_test(steps_of_the_day_after),
                                       cmocka_unit_test(landscapes_of_a_gpu), cmocka_unit_test(every_config)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
