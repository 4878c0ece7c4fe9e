/* What the cost model says of the particles' plans, held against whole steps that an H200 took when nothing
 * else ran on it (results/measured/h200-sph.json), and against landscapes of a GPU that others used, too. */
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
#include "cost_model/model.h"
#include "harness/replay/landscape_prior.h"
#include "solver/systems.h"

static const kf_device_info gpu = {.backend = "cuda",
                                   .spec = "cuda:0",
                                   .name = "test",
                                   .peak_bandwidth = 4814304000000,
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .memory_bytes = (uint64_t)128 << 30};

static kf_problem *opened(const char *scene, int nodes) {
    const kf_problem_options options = {.nodes = {nodes, nodes, nodes}};
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "sph", &options, &problem, &error) != KF_OK) fail_msg("%s", error.message);
    return problem;
}

/* search, cells, prune, layout, order, fuse_count, list_period, skin, in_flight, threads, resident_blocks,
 * graph; a million particles, or an eighth of 8 million (particles_bingham). Presets by their gain; lists
 * less the copy that they no longer make; in_flight as it was before it could be chosen. The model's
 * constants were fitted to these. */
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

static double predicted(kf_cost_model *model, const quiet_step *q) {
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
            said[i] = predicted(model, &quiet[i]);
            square += log(said[i] / measured[i]) * log(said[i] / measured[i]);
        }
        kf_cost_model_close(model);
        kf_problem_free(problem);
    }
    const double off = sqrt(square / QUIET), correlation = kf_rank_correlation(measured, said, QUIET);
    print_message("%d steps: off by %.1f %% (rms), rank correlation %.3f\n", (int)QUIET, 100 * off,
                  correlation);
    assert_true(off < 0.13 && correlation > 0.9);
}

/* No constant of the model was fitted to these. */
static void landscapes_of_a_gpu_in_use(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        double least;
    } landscapes[] = {{"particles_32", 0.55}, {"particles_80", 0.58}, {"particles_bingham", 0.75}};
    for (int k = 0; k < 3; k++) {
        kf_landscape *landscape;
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
        print_message("%s: rank correlation %.3f\n", landscapes[k].scene, correlation);
        assert_true(correlation >= landscapes[k].least);
        free(measured);
        free(said);
        kf_cost_model_close(prior.model);
        kf_problem_free(problem);
        kf_landscape_free(landscape);
    }
}

/* Between a copy of the state at the data sheet's speed and a thousand pairs a particle. */
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
            assert_true(us > 1e6 * particles * 100 / 4.9e12 && us < 200 + 0.05 * particles);
        }
        kf_cost_model_close(prior.model);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_of_a_quiet_gpu),
                                       cmocka_unit_test(landscapes_of_a_gpu_in_use),
                                       cmocka_unit_test(every_config)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
