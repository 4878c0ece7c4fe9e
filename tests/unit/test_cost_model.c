/* Tests the cost model's arithmetic, its calibration, and its times of the kinetic plans. Faults: a roof
 * or a unit is misapplied, or calibration makes the order of configs worse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "cost_model/model.h"
#include "harness/search/strategy.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cost.h"
#include "solver/systems.h"
#include "tests/unit/check.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/kinetic_plan.h"
#include "tests/unit/model_launches.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/quick_compiler.h"

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

/* Calibration finds the factors that were put in, as far as its ridge lets it. */
static void test_calibration_finds_known_factors(void **state) {
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

/* --- The kinetic system --------------------------------------------------------------------------------- */

typedef struct kf_fixture {
    kf_problem *problem;
    kf_space *space;
    kf_cost_model *model;
} kf_fixture;

static kf_fixture opened_with(const char *scene, int nodes_x, int nodes_y, int nodes_z) {
    kf_fixture fixture = {NULL, NULL, NULL};
    const kf_problem_options options = {.nodes = {nodes_x, nodes_y, nodes_z}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "kinetic", &options, &fixture.problem, &error) != KF_OK ||
        kf_problem_space(fixture.problem, &gpu, NULL, 0, &fixture.space, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_cost_model_open(fixture.problem, &gpu, NULL, &fixture.model);
    assert_non_null(fixture.model);
    return fixture;
}

static kf_fixture opened(const char *scene) {
    return opened_with(scene, 64, 48, 48);
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

/* The band of a static solid has one kernel where GPUs were clearly faster with it, and that is predicted
 * faster, too. Rows at the faces have their own kernel where it was faster beside the band's. */
static void test_chain_by_size(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes[3];
        bool chain, apart;
    } cases[] = {{"ball", {64, 48, 48}, false, false},
                 {"ball", {64, 64, 64}, true, false},
                 {"ball", {96, 96, 96}, true, true},
                 {"ball", {128, 128, 128}, false, false},
                 {"spinning_torus", {64, 64, 64}, false, false},
                 {"spinning_torus", {96, 96, 96}, false, false},
                 {"ball", {256, 128, 128}, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *n = cases[i].nodes;
        kf_fixture fixture = opened_with(cases[i].scene, n[0], n[1], n[2]);
        kf_config config;
        bool chain = false, overlap = false, apart = false;
        assert_int_equal(kf_space_preset(fixture.space, "default", &config, NULL), KF_OK);
        assert_int_equal(kf_config_boolean(&config, "band_chain", &chain, NULL), KF_OK);
        assert_int_equal(kf_config_boolean(&config, "overlap", &overlap, NULL), KF_OK);
        assert_int_equal(kf_config_boolean(&config, "boundary_rows_apart", &apart, NULL), KF_OK);
        assert_int_equal(chain, cases[i].chain);
        assert_int_equal(apart, cases[i].apart);
        assert_int_equal(kf_problem_check_config(fixture.problem, &gpu, &config, NULL), KF_OK);
        if (chain) {
            assert_false(overlap);
            const double one = predicted(&fixture, &config);
            kf_config_set_boolean(&config, "band_chain", false);
            kf_config_set_boolean(&config, "overlap", true);
            kf_config_set_integer(&config, "segment_length", 128);
            kf_config_set_integer(&config, "solid_block", 128);
            assert_int_equal(kf_problem_check_config(fixture.problem, &gpu, &config, NULL), KF_OK);
            assert_true(predicted(&fixture, &config) >= one);
        }
        closed(&fixture);
    }
}

/* These parameters' values have the order that an H200 showed. */
static void test_later_values(void **state) {
    (void)state;
    kf_fixture fixture = opened("ball");
    kf_config config;
    assert_int_equal(kf_space_preset(fixture.space, "default", &config, NULL), KF_OK);
    const double best = predicted(&fixture, &config);
    kf_config_set_boolean(&config, "overlap", false);
    const double apart = predicted(&fixture, &config);
    assert_true(apart > best);
    kf_config_set_integer(&config, "velocities", 19);
    assert_true(predicted(&fixture, &config) < apart);
    kf_config_set_integer(&config, "velocities", 27);
    kf_config_set_boolean(&config, "masked_band", false);
    kf_config_set_boolean(&config, "concurrent_solid", false);
    const double two = predicted(&fixture, &config);
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", 32);
    const double thick = predicted(&fixture, &config);
    kf_config_set_integer(&config, "slab", 8);
    assert_true(thick > two && predicted(&fixture, &config) > thick);
    closed(&fixture);
}

/* Repeated measurements have this order: fewer passes and whole sectors are faster. */
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

/* Every config of every kind of scene has a time that is not absurd, and never below the least traffic. */
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

/* --- By hand -------------------------------------------------------------------------------------------- */

/* Launches of 40 blocks a multiprocessor take 25 us each at the memory and 0.5 us elsewhere. With one at a
 * time there is no queue. With two, the second finds 3/4 of what the first leaves there. */
static void test_queues_of_the_memory(void **state) {
    (void)state;
    kf_ceilings ceilings;
    kf_calibration none;
    kf_ceilings_from(&gpu, NULL, &ceilings);
    kf_calibration_begin(&none);
    for (int resident = 1; resident <= 2; resident++) {
        kf_works works = {.count = 0};
        kf_prediction prediction;
        kf_work *work = kf_works_add(&works, "pass", 1);
        work->amount[KF_COST_DRAM] = 1e-3 * ceilings.rate[KF_COST_DRAM];
        work->amount[KF_COST_LAUNCH] = 0;
        work->blocks = 40;
        work->resident = resident;
        work->wait_us = 0.5;
        const double alone = 1 / (1 + 0.5 / 25), both = 2 / (1 + 0.75 * alone + 0.5 / 25),
                     share = resident == 1 ? alone : both;
        const double time_us = 1000 / (share / pow(1 + pow(share, 8), 0.125));
        kf_cost_predict(&works, &ceilings, &none, &prediction);
        assert_near(prediction.time_us, time_us * (1 + 0.85 * resident / 40), 1e-9);
        kf_works_free(&works);
    }
}

/* These are an H200's rates for what a byte's worth of bandwidth does in other ways; roofs that were
 * measured stand above the data sheet. */
static void test_ceilings_of_an_h200(void **state) {
    (void)state;
    static const double bytes[KF_RESOURCES] = {[KF_COST_DRAM] = 1,
                                               [KF_COST_PARTIAL] = 57,
                                               [KF_COST_SCATTERED] = 110,
                                               [KF_COST_ATOMICS] = 65,
                                               [KF_COST_INSTRUCTIONS] = 0.21};
    const kf_device_info cpu = {.backend = "cpu"};
    kf_roofs roofs = {.count = 3,
                      .list = {{.name = "dram_copy", .value = 3900},
                               {.name = "dram_copy_nt", .value = 4100},
                               {.name = "graph_node", .value = 1.6}}};
    kf_ceilings c;
    kf_ceilings_from(&gpu, &roofs, &c);
    for (int r = 0; r < KF_COST_LATENCY; r++)
        assert_near(c.rate[r] * bytes[r], 4.1e12, 1e-12);
    assert_near(c.rate[KF_COST_LAUNCH], 1e6 / 1.6, 1e-12);
    assert_near(c.rate[KF_COST_LATENCY], 1e6 / 1.2, 1e-12);
    assert_true(c.measured);
    roofs.list[0].value = 4300;
    roofs.list[2].value = 0.4; /* never below what a kernel of a graph takes */
    kf_ceilings_from(&gpu, &roofs, &c);
    assert_near(c.rate[KF_COST_DRAM], 4.3e12, 1e-12);
    assert_near(c.rate[KF_COST_LAUNCH], 1e6, 1e-12);
    roofs.list[0].value = roofs.list[1].value = 0; /* no roof at all */
    kf_ceilings_from(&gpu, &roofs, &c);
    assert_false(c.measured);
    assert_near(c.rate[KF_COST_DRAM], 0.88 * 4.8e12, 1e-12);
    kf_ceilings_from(&cpu, NULL, &c);
    assert_false(c.measured);
    assert_near(c.rate[KF_COST_DRAM], 1.2e10, 1e-12);
    assert_near(c.rate[KF_COST_LAUNCH], 1e6, 1e-12);
    assert_near(c.rate[KF_COST_LATENCY], 1e7, 1e-12);
}

/* All is cached below half of the cache, and nothing from 1.6 times its size on. */
static void test_what_fits_the_cache_is_cached(void **state) {
    (void)state;
    assert_near(kf_cost_cached(10, 100, 0.5), 0.5, 1e-12);
    assert_near(kf_cost_cached(50, 100, 0.5), 0.5, 1e-12);
    assert_near(kf_cost_cached(105, 100, 0.5), 0.75, 1e-12);
    assert_near(kf_cost_cached(160, 100, 0.5), 1, 1e-12);
    assert_near(kf_cost_cached(1e9, 100, 0.5), 1, 1e-12);
    assert_near(kf_cost_cached(1e9, 0, 0.5), 1, 1e-12);
}

/* A ceiling is 1e6 of anything a second, so that an amount is its time in microseconds. */
static kf_prediction predict(const kf_works *works, const kf_calibration *calibration) {
    kf_ceilings ceilings = {.measured = true};
    kf_calibration none;
    kf_prediction prediction;
    kf_calibration_begin(&none);
    for (int r = 0; r < KF_RESOURCES; r++)
        ceilings.rate[r] = 1e6;
    kf_cost_predict(works, &ceilings, calibration != NULL ? calibration : &none, &prediction);
    return prediction;
}

/* Launches in a graph cost their starts, outside of one 2.5 times as much. What runs aside costs what it
 * takes beyond 14 us. A launch that gets half of the memory's roof takes twice as long there. */
static void test_beside_each_other(void **state) {
    (void)state;
    kf_works works = {.count = 0};
    kf_works_add(&works, "flow", 1)->amount[KF_COST_DRAM] = 100;
    works.list[0].amount[KF_COST_LATENCY] = 3;
    works.list[0].efficiency = 0.5;
    works.list[0].amount[KF_COST_INSTRUCTIONS] = 150;
    kf_works_add(&works, "solid", 2)->amount[KF_COST_ATOMICS] = 10;
    works.list[1].amount[KF_COST_DRAM] = 4;
    works.list[1].aside = true;
    kf_prediction p = predict(&works, NULL);
    const double flow = 200 + 3 + 1, solid = 2 * (10 + 1), shown = 1 - 14 / solid;
    assert_near(p.time_us, flow + shown * solid, 1e-12);
    assert_near(p.parts_us[KF_COST_DRAM], 200, 1e-12);
    assert_near(p.parts_us[KF_COST_ATOMICS], shown * 20, 1e-12);
    assert_near(p.parts_us[KF_COST_LAUNCH], 1 + shown * 2, 1e-12);
    assert_near(p.parts_us[KF_COST_LATENCY], 3, 1e-12);
    assert_near(p.busy[KF_COST_DRAM], 108 / p.time_us, 1e-12);
    assert_near(p.busy[KF_COST_INSTRUCTIONS], 150 / p.time_us, 1e-12);
    assert_near(p.busy[KF_COST_ATOMICS], 20 / p.time_us, 1e-12);
    assert_string_equal(p.longest, "flow");
    assert_near(p.longest_us, flow, 1e-12);
    works.list[1].amount[KF_COST_ATOMICS] = 5; /* 12 us in all: they hide */
    p = predict(&works, NULL);
    assert_near(p.time_us, flow, 1e-12);
    works.list[0].follows = true; /* it is started while another ends */
    p = predict(&works, NULL);
    assert_near(p.time_us, 200 + 3 + 0.6, 1e-12);
    works.one_by_one = true;
    p = predict(&works, NULL);
    assert_near(p.time_us, 200 + 3 + 0.75 + 2 * (5 + 2.5), 1e-12);
    works.list[0].follows = false;
    p = predict(&works, NULL);
    assert_near(p.time_us, 200 + 3 + 2.5 + 2 * (5 + 2.5), 1e-12);
    kf_calibration calibration;
    kf_calibration_begin(&calibration);
    calibration.factor[KF_COST_INSTRUCTIONS] = 2; /* which then limits the flow */
    calibration.factor[KF_COST_LAUNCH] = 0.2;
    p = predict(&works, &calibration);
    assert_near(p.time_us, 300 + 3 + 0.5 + 2 * (5 + 0.5), 1e-12);
    assert_near(p.parts_us[KF_COST_INSTRUCTIONS], 300, 1e-12);
    /* Blocks read, compute and write in turn, so the time in which they compute is lost to the memory. */
    works.count = 1;
    works.one_by_one = false;
    works.list[0].blocks = 50;
    works.list[0].resident = 1;
    works.list[0].wait_us = 0.5;
    works.list[0].in_turn = true;
    works.list[0].efficiency = 1;
    works.list[0].amount[KF_COST_DRAM] = 200;
    works.list[0].amount[KF_COST_ATOMICS] = 25;
    p = predict(&works, NULL);
    const double away = (0.5 + (150 + 25) / 50.0) / (200 / 50.0), busy = 1 / (1 + away);
    assert_near(p.parts_us[KF_COST_DRAM], 200 / (busy / pow(1 + pow(busy, 8), 0.125)) * (1 + 0.85 / 50),
                1e-12);
    /* Blocks that all do the same at the same time: a fifth of the rest is seen. */
    works.list[0].in_step = true;
    p = predict(&works, NULL);
    assert_near(p.parts_us[KF_COST_DRAM], 200 + 0.2 * (150 + 25), 1e-12);
    works.list[0].in_step = false;
    /* Fewer blocks than fit end together: a second wave at most. */
    works.list[0].resident = 80;
    works.list[0].in_turn = false;
    works.list[0].wait_us = 0;
    p = predict(&works, NULL);
    assert_true(p.parts_us[KF_COST_DRAM] > 200 * 1.84 && p.parts_us[KF_COST_DRAM] < 200 * 1.86 * 1.1);
    kf_works_free(&works);
}

/* Blocks have equal turns, in rounds: seven blocks of ten turns, three at a time, each turn 2 us of the
 * memory. */
static void test_blocks_take_turns_in_rounds(void **state) {
    (void)state;
    kf_works works = {.count = 0};
    kf_work *work = kf_works_add(&works, "tiles", 1);
    *work =
        (kf_work){.name = "tiles", .launches = 1, .efficiency = 1, .blocks = 7, .resident = 3, .turns = 10};
    work->amount[KF_COST_DRAM] = 7 * 10 * 2;
    /* Nothing waits: two rounds of three, the last of one, a little longer than if all were one queue. */
    const double three = 3 * 2 * pow(1 + pow(3, 8), 0.125) / 3, one = 2 * pow(2, 0.125);
    assert_near(predict(&works, NULL).parts_us[KF_COST_DRAM], 10 * (2 * three + one), 1e-12);
    /* Nothing hides a wait of nine times a turn: a turn takes 20 us however many blocks there are. */
    work->wait_us = 18;
    const double waiting = predict(&works, NULL).parts_us[KF_COST_DRAM];
    assert_true(waiting >= 10 * 3 * 20 && waiting < 10 * 3 * 20 * 1.001);
    /* The slowest block ends the last round. */
    work->slowest_us = 30;
    const double slowest = predict(&works, NULL).parts_us[KF_COST_DRAM];
    assert_true(slowest >= 10 * (2 * 20 + 32) && slowest < 10 * (2 * 20 + 32) * 1.001);
    /* Six blocks fill two rounds; half of a block on a multiprocessor is one on every second. */
    work->blocks = 6;
    work->amount[KF_COST_DRAM] = 6 * 10 * 2;
    work->slowest_us = 0;
    const double full = predict(&works, NULL).parts_us[KF_COST_DRAM];
    assert_true(full >= 10 * 2 * 20 && full < 10 * 2 * 20 * 1.001);
    work->blocks = 0.5;
    work->amount[KF_COST_DRAM] = 0.5 * 10 * 2;
    const double half = predict(&works, NULL).parts_us[KF_COST_DRAM];
    assert_true(half >= 10 * 20 && half < 10 * 20 * 1.001);
    kf_works_free(&works);
}

/* Blocks take the places of those that end: three at a time of seven, and the last one's two turns alone. */
static void test_blocks_in_a_row(void **state) {
    (void)state;
    kf_works works = {.count = 0};
    kf_work *work = kf_works_add(&works, "walks", 1);
    *work = (kf_work){.name = "walks",
                      .launches = 1,
                      .efficiency = 1,
                      .blocks = 7,
                      .resident = 3,
                      .turns = 10,
                      .last_turns = 2};
    work->amount[KF_COST_DRAM] = 7 * 10 * 2;
    const double three = 3 * 2 * pow(1 + pow(3, 8), 0.125) / 3, one = 2 * pow(2, 0.125);
    assert_near(predict(&works, NULL).parts_us[KF_COST_DRAM], 10 * three * 7 / 3 + 2 * one, 1e-12);
    /* All blocks run at once where there is room for all. Where they are few, a multiprocessor has one. */
    work->resident = 9;
    const double seven = 7 * 2 * pow(1 + pow(7, 8), 0.125) / 7;
    assert_near(predict(&works, NULL).parts_us[KF_COST_DRAM], 10 * seven + 2 * one, 1e-12);
    work->blocks = 0.5;
    work->amount[KF_COST_DRAM] = 0.5 * 10 * 2;
    assert_near(predict(&works, NULL).parts_us[KF_COST_DRAM], 12 * one, 1e-12);
    kf_works_free(&works);
}

/* No resource becomes free, or slower than all else together; measurements that failed say nothing. */
static void test_calibration_has_limits(void **state) {
    (void)state;
    kf_calibration calibration;
    kf_prediction predictions[50] = {{0}};
    double measured[50];
    for (int i = 0; i < 50; i++) {
        predictions[i].parts_us[KF_COST_DRAM] = 100;
        measured[i] = i % 2 == 0 ? 1e5 : 0;
    }
    kf_cost_calibrate(predictions, measured, 50, &calibration);
    assert_int_equal(calibration.measurements, 25);
    /* (0.25 + 25 * 0.001) / (0.25 + 25 * 1e-6) by hand: one resource. */
    assert_near(calibration.factor[KF_COST_DRAM], 0.275 / 0.250025, 1e-12);
    for (int i = 0; i < 50; i++)
        measured[i] = 5000;
    kf_cost_calibrate(predictions, measured, 50, &calibration);
    assert_near(calibration.factor[KF_COST_DRAM], (0.25 + 50 * 0.02) / (0.25 + 50 * 0.0004), 1e-12);
    for (int i = 0; i < 50; i++)
        measured[i] = 1;
    kf_cost_calibrate(predictions, measured, 50, &calibration);
    assert_near(calibration.factor[KF_COST_DRAM], 0.05, 1e-12);
    for (int i = 0; i < 50; i++) { /* one resource too little, to be made up by the other */
        predictions[i].parts_us[KF_COST_DRAM] = 1;
        measured[i] = 40;
    }
    kf_prediction *many = kf_allocate(20000 * sizeof *many);
    double *slow = kf_allocate(20000 * sizeof *slow);
    for (int i = 0; i < 20000; i++) {
        many[i] = predictions[0];
        slow[i] = measured[0];
    }
    kf_cost_calibrate(many, slow, 20000, &calibration);
    assert_near(calibration.factor[KF_COST_DRAM], 20, 1e-12);
    free(many);
    free(slow);
}

/* The explanation names the two kernels that take most, and the first launch. It leaves out what is below
 * a percent. */
static void test_explanations_name_the_largest_kernels(void **state) {
    (void)state;
    char text[256];
    kf_prediction p = {.time_us = 1000, .longest = "pass", .longest_us = 700};
    p.parts_us[KF_COST_LAUNCH] = 600;
    p.parts_us[KF_COST_DRAM] = 391;
    p.parts_us[KF_COST_ATOMICS] = 9;
    p.busy[KF_COST_LAUNCH] = 0.5;
    assert_string_equal(kf_cost_explain(&p, text, sizeof text),
                        "launches bound at 50 %, DRAM 39 % of the time; pass takes 700 us");
    p.parts_us[KF_COST_DRAM] = 0;
    assert_string_equal(kf_cost_explain(&p, text, sizeof text), "launches bound at 50 %; pass takes 700 us");
}

/* --- Beside the plan ------------------------------------------------------------------------------------ */

/* The model lists a step's launches, since there is no plan yet. The plan must then launch these. */
static void compare_launches(const char *scene, const char *preset, const char *streaming) {
    const kf_scene_options options = {.nodes = {32, 24, 24}, .samples_per_cell = 4};
    kf_error error = {KF_OK, ""};
    kinetic_plan made;
    kf_works works = {.count = 0};
    if (kinetic_plan_open_streaming(&made, "cpu:1", scene, &options, preset, streaming, &error) != KF_OK)
        fail_msg("%s", error.message);
    void *model = kf_cost_kinetic.open(problem_of(&kf_system_kinetic, made.scene), &gpu);
    assert_int_equal(kf_cost_kinetic.works(model, &made.plan->config, &works, &error), KF_OK);
    char title[128];
    (void)snprintf(title, sizeof title, "%s, %s", scene, preset);
    compare_works(made.plan, &works, title);
    kf_works_free(&works);
    kf_cost_kinetic.close(model);
    kinetic_plan_close(&made);
}

/* No preset has this config on the cpu: rows at the faces have a kernel of their own. */
static void compare_launches_apart(const char *scene) {
    const kf_scene_options options = {.nodes = {32, 24, 24}, .samples_per_cell = 4};
    kf_error error = {KF_OK, ""};
    kinetic_plan made;
    kf_plan *plan;
    kf_works works = {.count = 0};
    if (kinetic_plan_open(&made, "cpu:1", scene, &options, "default", &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_config config = made.plan->config;
    change_config(&config,
                  "streaming=two_grids boundary_kernels=0 staged_nodes=0 prefetch_rows=0 nodes_per_thread=2");
    kf_config_set_boolean(&config, "boundary_rows_apart", true);
    if (kf_system_kinetic.plan(problem_of(&kf_system_kinetic, made.scene), &config, made.backend, &plan,
                               &error) != KF_OK)
        fail_msg("%s", error.message);
    void *model = kf_cost_kinetic.open(problem_of(&kf_system_kinetic, made.scene), &gpu);
    assert_int_equal(kf_cost_kinetic.works(model, &config, &works, &error), KF_OK);
    compare_works(plan, &works, "boundary_rows_apart");
    assert_true(launches_in_works(&works, "stream_collide_boundary") == 1);
    kf_works_free(&works);
    kf_cost_kinetic.close(model);
    kf_plan_free(plan);
    kinetic_plan_close(&made);
}

static void test_launches_of_plans(void **state) {
    (void)state;
    compare_launches_apart("ball");
    compare_launches("ball", "baseline", NULL);
    compare_launches("ball", "paper", NULL);
    compare_launches("ball", "default", NULL);
    compare_launches("ball", "default", "shift");
    compare_launches("torus", "default", NULL);
    compare_launches("settling", "paper", NULL);
    compare_launches("settling", "default", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_add_up),
        cmocka_unit_test(test_calibration_finds_known_factors),
        cmocka_unit_test(test_chain_by_size),
        cmocka_unit_test(test_later_values),
        cmocka_unit_test(test_plans_in_order),
        cmocka_unit_test(test_all_configs),
        cmocka_unit_test(test_queues_of_the_memory),
        cmocka_unit_test(test_launches_of_plans),
        cmocka_unit_test(test_ceilings_of_an_h200),
        cmocka_unit_test(test_what_fits_the_cache_is_cached),
        cmocka_unit_test(test_beside_each_other),
        cmocka_unit_test(test_blocks_take_turns_in_rounds),
        cmocka_unit_test(test_blocks_in_a_row),
        cmocka_unit_test(test_calibration_has_limits),
        cmocka_unit_test(test_explanations_name_the_largest_kernels),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
