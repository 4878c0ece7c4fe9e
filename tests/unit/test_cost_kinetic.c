/* The works of the kinetic plans, counted by hand: values a node, blocks that fit a multiprocessor, samples,
 * segments and the band from the samples themselves. Figures that an H200 measured (docs/cost-model.md) stand
 * here as numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "cost_model/kinetic.h"
#include "kernels/kinetic/arguments.h"
#include "solver/kinetic/kinetic.h"
#include "solver/systems.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/works_by_hand.h"

enum { NX = 64, NY = 48, NZ = 40 };
static const double N = (double)NX * NY * NZ;

static kf_device_info gpu = {.backend = "cuda",
                             .spec = "cuda:0",
                             .name = "test",
                             .peak_bandwidth = 4.8e12,
                             .multiprocessors = 100,
                             .warp_size = 32};

static kf_works works_of(const kf_scene *scene, const kf_config *config) {
    return works_of_model(&kf_cost_kinetic, problem_of(&kf_system_kinetic, scene), &gpu, config);
}

static void check(const kf_scene *scene, const kf_config *config, const expected *wanted, size_t count) {
    kf_works works = works_of(scene, config);
    compare_all(&works, wanted, count);
    kf_works_free(&works);
}
#define CHECK(scene, config, wanted) check(scene, config, wanted, sizeof(wanted) / sizeof *(wanted))

/* One launch of a config. */
static void check_launch(const kf_scene *scene, const kf_config *config, const expected *wanted) {
    kf_works works = works_of(scene, config);
    compare_one(&works, wanted);
    kf_works_free(&works);
}

/* All faces slip; no solid unless solid is set. */
static kf_scene *opened(bool solid) {
    const kf_scene_options options = {.nodes = {NX, NY, NZ}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    if (kf_scene_open("ball", &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    scene->collision = KF_BGK;
    scene->immersed_passes = 1;
    assert_true(scene->samples.count > 1000);
    if (!solid) scene->samples.count = 0;
    return scene;
}

static kf_config config_of(const char *plan, const char *immersed) {
    kf_config config = {.system = "kinetic"};
    kf_config_set_name(&config, "plan", plan);
    kf_config_set_name(&config, "immersed_boundary", immersed);
    change_config(&config, "layout=soa storage=f32 streaming=two_grids collision_form=factorised "
                           "boundary_kernels=1 block_x=32 block_y=4");
    return config;
}

/* Blocks of 4 warps in a grid of 2 x 12 x 40. A quarter of the register file holds 16384 / (32 x registers)
 * warps. The device has 100 multiprocessors. */
static const double BLOCKS = 2.0 * 12 * NZ / 100;

/* --- passes --------------------------------------------------------------------------------------------- */

#define PLAIN .efficiency = 0.88, .blocks = BLOCKS, .waits = 0.3

static void test_passes_of_separate_plans(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    const double face_x = 2.0 * NY * NZ * 18, face_y = 2.0 * NX * NZ * 18, face_z = 2.0 * NX * NY * 18;
    kf_config config = config_of("baseline", "scatter");
    const expected baseline[] = {
        {"boundary_x", .scattered = face_x, .latency = 0.8},
        {"boundary_y", .dram = 4 * face_y, .starts = -1},
        {"boundary_z", .dram = 4 * face_z, .starts = -1},
        {"stream", .dram = N * 4 * 54, .latency = 3, PLAIN, .resident = 16},
        {"macroscopic", .dram = N * 4 * 31, .latency = 3, PLAIN, .resident = 16},
        {"collision_terms", .dram = N * 4 * 61, .latency = 3, PLAIN, .resident = 9},
        {"update", .dram = N * 4 * 81, .latency = 3, PLAIN, .resident = 16},
    };
    CHECK(scene, &config, baseline);
    /* Six kernels at the faces; a collision in one kernel, of another form. */
    config = config_of("paper", "scatter");
    kf_config_set_integer(&config, "boundary_kernels", 6);
    kf_config_set_name(&config, "collision_form", "shared");
    const expected paper[] = {
        {"boundary_x", .scattered = face_x, .latency = 1.6, .starts = 2},
        {"boundary_y", .dram = 4 * face_y, .latency = 1.6, .starts = 2},
        {"boundary_z", .dram = 4 * face_z, .latency = 1.6, .starts = 2},
        {"stream", .dram = N * 4 * 54, .latency = 3, PLAIN, .resident = 16},
        {"macroscopic", .dram = N * 4 * 31, .latency = 3, PLAIN, .resident = 16},
        {"collide", .dram = N * 4 * 61, .latency = 3, PLAIN, .resident = 5},
    };
    CHECK(scene, &config, paper);
    /* Split into moments and three kernels that share the way back; two values a node fewer bytes. */
    kf_config_set_integer(&config, "collision_split", 3);
    kf_config_set_name(&config, "storage", "f16");
    const expected split[] = {
        paper[0],
        {"boundary_y", .dram = 2 * face_y, .latency = 1.6, .starts = 2},
        {"boundary_z", .dram = 2 * face_z, .latency = 1.6, .starts = 2},
        {"stream", .dram = N * 2 * 54, .latency = 3, PLAIN, .resident = 16},
        {"macroscopic", .dram = N * 2 * 31, .latency = 3, PLAIN, .resident = 16},
        {"moments", .dram = N * 2 * 61, .latency = 3, PLAIN, .resident = 8},
        {"collide_part_1", .dram = N * 2 * 43, .latency = 3, PLAIN, .resident = 12},
        {"collide_part_2", .dram = N * 2 * 43, .latency = 3, PLAIN, .resident = 12},
        {"collide_part_3", .dram = N * 2 * 43, .latency = 3, PLAIN, .resident = 12},
    };
    CHECK(scene, &config, split);
    kf_scene_free(scene);
}

/* What the order of addresses costs: 0.945 of a copy for groups of 32 nodes, less with each doubling until
 * 2^20; groups shorter than a sector fall into pieces; warps that cover several rows ask for each. */
static void test_layouts(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    kf_config config = config_of("baseline", "scatter");
    expected stream = {"stream", .dram = N * 4 * 54, .latency = 3, PLAIN};
    static const struct {
        int alpha;
        double efficiency, pieces; /* of a warp's access to a value */
    } groups[] = {
        {2, 0.945, 16},    {4, 0.945, 8}, {8, 0.945, 0}, {32, 0.945, 0}, {1 << 10, 0.945 - 0.065 / 3, 0},
        {1 << 21, 0.88, 0}};
    kf_config_set_name(&config, "layout", "csoa");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        kf_config_set_integer(&config, "alpha", groups[i].alpha);
        stream.efficiency = groups[i].efficiency;
        stream.partial = N / 32 * groups[i].pieces * 54;
        check_launch(scene, &config, &stream);
    }
    kf_config_set_name(&config, "layout", "aos");
    stream.efficiency = 0.945;
    stream.partial = N / 32 * 32 * 54;
    check_launch(scene, &config, &stream);
    check_launch(scene, &config,
                 &(expected){"update", .dram = N * 4 * 81, .partial = N * (14 + 27), .latency = 3,
                             .efficiency = 0.945, .blocks = BLOCKS});
    /* Structures: across x each value of its own, else 0.3 of them. */
    check_launch(scene, &config, &(expected){"boundary_x", .scattered = 2.0 * NY * NZ * 18, .latency = 0.8});
    check_launch(scene, &config,
                 &(expected){"boundary_z", .scattered = 0.3 * 2.0 * NX * NY * 18, .starts = -1});
    kf_config_set_name(&config, "layout", "soa");
    kf_config_set_integer(&config, "block_x", 8);
    check_launch(scene, &config,
                 &(expected){"stream", .dram = N * 4 * 54, .latency = 3,
                             .efficiency = 0.88 / (1 + 0.07 * pow(3, 1.5)), .blocks = 8.0 * 12 * NZ / 100,
                             .resident = 32});
    /* Rows end within a block: 64 / 48 is two of them. */
    kf_config_set_integer(&config, "block_x", 48);
    kf_config_set_integer(&config, "block_y", 5);
    check_launch(scene, &config,
                 &(expected){"stream", .dram = N * 4 * 54, .latency = 3, .efficiency = 0.88,
                             .blocks = 2.0 * 10 * NZ / 100, .resident = 8});
    kf_scene_free(scene);
}

/* The fused kernel of each form, type and number of velocities: instructions a node, and registers by the
 * blocks that fit. */
static void test_fused_kernels(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    static const struct {
        const char *form, *storage;
        long velocities, nodes_per_thread, boundary_kernels;
        double instructions, resident;
    } kernels[] = {
        {"factorised", "f32", 27, 1, 1, 735, 10}, /* 48 registers: 10 warps a quarter */
        {"factorised", "f32", 27, 1, 0, 735, 9},  /* 56 */
        {"low_order", "f32", 27, 1, 1, 556, 8},   /* 64 */
        {"low_order", "f32", 27, 1, 0, 556, 7},   /* 72 */
        {"shared", "f32", 27, 1, 1, 2110, 4},     /* 128 */
        {"shared", "f32", 27, 1, 0, 2110, 3},     /* 168 */
        {"expanded", "f32", 27, 1, 1, 2620, 3},   /* 168 */
        {"expanded", "f32", 27, 1, 0, 2620, 2},   /* 255 */
        {"factorised", "f16", 27, 1, 1, 790, 10}, /* conversions */
        {"factorised", "f64", 27, 1, 1, 1470, 4}, /* 112 registers, twice the instructions */
        {"factorised", "f32", 19, 1, 1, 441, 16}, /* 0.6 of them; 32 registers */
        {"factorised", "f32", 27, 2, 1, 635, 5},  /* pairs: 96 registers at least, shared addresses */
        {"expanded", "f64", 27, 1, 1, 5240, 2},   /* 232 */
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const double bytes = kernels[i].storage[1] == '1' ? 2 : kernels[i].storage[1] == '6' ? 8 : 4;
        const bool pairs = kernels[i].nodes_per_thread > 1;
        kf_config config = config_of("fused", "aggregated");
        kf_config_set_name(&config, "collision_form", kernels[i].form);
        kf_config_set_name(&config, "storage", kernels[i].storage);
        kf_config_set_integer(&config, "velocities", kernels[i].velocities);
        kf_config_set_integer(&config, "nodes_per_thread", kernels[i].nodes_per_thread);
        kf_config_set_integer(&config, "boundary_kernels", kernels[i].boundary_kernels);
        check_launch(scene, &config,
                     &(expected){"stream_collide", .dram = N * bytes * 2 * (double)kernels[i].velocities,
                                 .instructions = N * kernels[i].instructions, .latency = pairs ? 10 : 5,
                                 .efficiency = 0.88, .blocks = pairs ? BLOCKS / 2 : BLOCKS,
                                 .resident = kernels[i].resident,
                                 .waits = kernels[i].boundary_kernels > 0 ? 0.3 : 1.0});
    }
    /* A cap of 80 registers takes 80 of the 168: 8 bytes each go to local memory, less 8 that cost nothing.
     */
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_name(&config, "collision_form", "expanded");
    kf_config_set_integer(&config, "register_cap", 80);
    const expected capped = {"stream_collide",
                             .dram = N * (4 * 54 + 8 * 80),
                             .instructions = N * 2620,
                             .latency = 5,
                             .efficiency = 0.88,
                             .blocks = BLOCKS,
                             .resident = 6};
    check_launch(scene, &config, &capped);
    /* Partial accesses: of the 27 values read, four are lost from the L1 cache. */
    config = config_of("fused", "aggregated");
    kf_config_set_name(&config, "layout", "aos");
    check_launch(scene, &config,
                 &(expected){"stream_collide", .dram = N * 4 * 54, .partial = N * 31, .instructions = N * 735,
                             .latency = 5, .efficiency = 0.945, .blocks = BLOCKS});
    /* A processor's threads are no blocks. */
    memcpy(gpu.backend, "cpu", 4);
    config = config_of("fused", "aggregated");
    check_launch(scene, &config,
                 &(expected){"stream_collide", .dram = N * 4 * 54, .instructions = N * 735, .latency = 5,
                             .efficiency = 0.88});
    memcpy(gpu.backend, "cuda", 5);
    kf_scene_free(scene);
}

/* Rows at the faces across y and z: 2 x (48 + 38) of 48 x 40. The others have the registers of a kernel
 * without faces; 32 x 4 threads with 48 instead of 56, pairs with 80 instead of 96. */
static void test_shell_apart(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    static const double SHELL = 2.0 * (NY + NZ - 2) * NX;
    for (long pairs = 1; pairs <= 2; pairs++) {
        kf_config config = config_of("fused", "aggregated");
        kf_config_set_integer(&config, "boundary_kernels", 0);
        kf_config_set_integer(&config, "nodes_per_thread", pairs);
        kf_config_set_boolean(&config, "shell_apart", true);
        const expected shell = {"stream_collide_shell", .dram = SHELL * 4 * 54, .instructions = SHELL * 815,
                                .efficiency = 0.88};
        const expected others = {"stream_collide",
                                 .dram = (N - SHELL) * 4 * 54,
                                 .instructions = (N - SHELL) * (pairs > 1 ? 635 : 735),
                                 .latency = pairs > 1 ? 10 : 5,
                                 .efficiency = 0.88,
                                 .blocks = (double)(NY - 2) * (NZ - 2) / (NY * NZ) * BLOCKS / (double)pairs,
                                 .resident = pairs > 1 ? 6 : 10,
                                 .waits = pairs > 1 ? 1.7 : 1.0};
        check_launch(scene, &config, &shell);
        check_launch(scene, &config, &others);
    }
    kf_scene_free(scene);
    /* Beside a solid's kernels it is a third lane, whose end is waited for. */
    scene = opened(true);
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    change_config(&config, "segment_length=16");
    kf_config_set_boolean(&config, "shell_apart", true);
    kf_config_set_boolean(&config, "concurrent_solid", true);
    check_launch(scene, &config,
                 &(expected){"stream_collide_shell", .dram = SHELL * 4 * 54, .instructions = SHELL * 815,
                             .latency = 1, .efficiency = 0.88});
    kf_scene_free(scene);
}

/* On one grid even and odd steps differ; a grid that moves is passed slab by slab; moments are nine a node.
 */
static void test_other_streamings(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    kf_config config = config_of("fused", "aggregated");
    const double ends = N / 32 * 32; /* bytes, of a sector a row of a block's 32 nodes */
    expected even = {"stream_collide_even",   .launches = 0.5, .dram = N * 4 * 54 + 36 * ends,
                     .instructions = N * 735, .latency = 5,    .efficiency = 0.88 * 0.85,
                     .blocks = BLOCKS,        .resident = 4};
    expected odd = even;
    odd.name = "stream_collide_odd";
    odd.dram = N * 4 * 54;
    odd.efficiency = 0.88;
    odd.resident = 8;
    kf_config_set_name(&config, "streaming", "in_place");
    check_launch(scene, &config, &even);
    check_launch(scene, &config, &odd);
    kf_config_set_boolean(&config, "exchange", true);
    even.dram = N * 4 * 54;
    even.efficiency = 0.88 * 0.87;
    check_launch(scene, &config, &even);
    check_launch(scene, &config, &odd);
    kf_config_set_boolean(&config, "exchange", false);
    kf_config_set_integer(&config, "boundary_kernels", 0); /* folded: 80 registers */
    even.dram = N * 4 * 54 + 36 * ends;
    even.efficiency = 0.88 * 0.85;
    even.resident = odd.resident = 6;
    check_launch(scene, &config, &even);
    check_launch(scene, &config, &odd);
    kf_config_set_name(&config, "streaming", "esoteric");
    even.dram = odd.dram = N * 4 * 54 + 18 * ends;
    even.efficiency = odd.efficiency = 0.88 * 0.93;
    check_launch(scene, &config, &even);
    check_launch(scene, &config, &odd);
    kf_config_set_integer(&config, "block_x", 16); /* two blocks write a line of the cache */
    even.dram += 18 * ends;
    even.efficiency /= 1.22;
    even.blocks = 4.0 * 12 * NZ / 100;
    even.resident = 12;
    check_launch(scene, &config, &even);
    /* 40 planes in slabs of 16 are three launches. */
    config = config_of("fused", "aggregated");
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", 16);
    check_launch(scene, &config,
                 &(expected){"stream_collide", .launches = 3, .dram = N * 4 * 54 / 3,
                             .instructions = N * 735 / 3, .latency = 5, .efficiency = 0.88,
                             .blocks = BLOCKS / 3, .resident = 10});
    const double halo = 34.0 * 6 / (32 * 4);
    config = config_of("moments", "aggregated");
    check_launch(scene, &config,
                 &(expected){"stream_collide", .dram = N * 4 * 9 * (1 + halo), .instructions = N * 470 * halo,
                             .latency = 5, .efficiency = 0.88});
    kf_config_set_name(&config, "storage", "f16"); /* six words of 32 bits */
    check_launch(scene, &config,
                 &(expected){"stream_collide", .dram = N * 4 * 6 * (1 + halo),
                             .instructions = N * (482 * halo + 15), .latency = 5, .efficiency = 0.88});
    kf_scene_free(scene);
}

/* Averages of the adaptive rule: every fourth row along y and z, every 16 steps; not for BGK, nor for 19
 * velocities. Outflows: nothing where the collision does it. */
static void test_what_else_a_step_does(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    kf_config config = config_of("fused", "aggregated");
    kf_works works = works_of(scene, &config);
    const size_t without = works.count;
    kf_works_free(&works);
    scene->collision = KF_ACM_MRT;
    scene->rate_rule = KF_RATE_ADAPTIVE_2020;
    check_launch(scene, &config,
                 &(expected){"average_sum", .launches = 1.0 / 16, .dram = 27.0 * 4 * NX * 12 * 10,
                             .latency = 2, .efficiency = 0.6});
    check_launch(scene, &config, &(expected){"average_finish", .launches = 1.0 / 16, .latency = 2});
    for (int i = 0; i < 3; i++) {
        scene->collision = i == 0 ? KF_BGK : KF_ACM_MRT;
        scene->rate_rule = i == 1 ? KF_RATE_ONES : KF_RATE_ADAPTIVE_2020;
        kf_config_set_integer(&config, "velocities", i == 2 ? 19 : 27);
        works = works_of(scene, &config);
        assert_int_equal(works.count, without);
        kf_works_free(&works);
    }
    scene->faces[KF_YMAX] = KF_OUTFLOW;
    kf_config_set_integer(&config, "velocities", 27);
    scene->collision = KF_BGK;
    check_launch(scene, &config,
                 &(expected){"convect_outflow", .scattered = (double)NX * NZ * 27 / 8, .latency = 0.8});
    kf_config_set_name(&config, "layout", "aos");
    check_launch(scene, &config,
                 &(expected){"convect_outflow", .scattered = (double)NX * NZ * 4, .latency = 0.8});
    kf_config_set_integer(&config, "boundary_kernels", 0);
    works = works_of(scene, &config);
    assert_int_equal(works.count, 1);
    kf_works_free(&works);
    config = config_of("moments", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    check_launch(scene, &config,
                 &(expected){"convect_outflow", .scattered = (double)NX * NZ * 27 / 8, .latency = 0.8});
    kf_scene_free(scene);
}

/* --- the solid ------------------------------------------------------------------------------------------ */

typedef struct counted {
    double samples, band, crowd, sectors; /* crowd: samples a cell that has any */
    double segments[65];                  /* of so many samples at most */
} counted;

/* Cells by brute force. */
static counted count(const kf_scene *scene) {
    counted c = {.samples = (double)scene->samples.count};
    unsigned *cells = kf_allocate_zeroed((size_t)N, sizeof *cells);
    unsigned char *touched = kf_allocate_zeroed((size_t)N, 1);
    double full = 0;
    for (size_t s = 0; s < scene->samples.count; s++) {
        const size_t x = (size_t)scene->samples.x[s], y = (size_t)scene->samples.y[s],
                     z = (size_t)scene->samples.z[s];
        full += cells[x + NX * (y + NY * z)]++ == 0;
        for (size_t i = 0; i < 8; i++)
            touched[x + (i & 1) + NX * (y + (i >> 1 & 1) + NY * (z + (i >> 2)))] = 1;
    }
    for (size_t i = 0; i < (size_t)N; i++) {
        c.band += touched[i];
        for (unsigned length = 1; length <= 64; length++) {
            const unsigned pieces = (cells[i] + length - 1) / length;
            c.segments[length] += pieces;
        }
    }
    c.crowd = c.samples / full;
    free(cells);
    free(touched);
    kf_sample_survey survey; /* how it counts is held against all warps in test_cost_model */
    kf_sample_survey_open(scene, &survey);
    c.sectors = kf_sample_survey_sectors(&survey, 1, true);
    assert_int_equal(survey.count, scene->samples.count);
    near("survey", "samples a cell", survey.samples_per_cell, c.crowd);
    near("survey", "nodes of the band", survey.band_nodes, c.band);
    for (int again = 0; again < 2; again++)
        for (long length = 1; length <= 64; length += 7)
            near("survey", "segments", kf_sample_survey_segments(&survey, length), c.segments[length]);
    near("survey", "segments of no length", kf_sample_survey_segments(&survey, 0), c.samples);
    near("survey", "segments", kf_sample_survey_segments(&survey, 1000), c.samples / c.crowd);
    kf_sample_survey_close(&survey);
    return c;
}

/* A static solid on the band: segments of samples, what waits, what runs beside the flow's kernel. */
static void test_static_solid(void **state) {
    (void)state;
    kf_scene *scene = opened(true);
    const counted c = count(scene);
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_integer(&config, "segment_length", 8);
    const double entries = 8 * c.segments[8] / c.band;
    expected works[] = {
        {"band_macroscopic", .partial = 9 * c.band, .latency = 6},
        {"segment_forces", .dram = (4 * 4 * 8 + 100) * c.segments[8], .latency = 0.75 + 0.25 * 8},
        {"stream_collide", .dram = N * 4 * 54, .instructions = N * 735, .latency = 5, .efficiency = 0.88,
         .blocks = BLOCKS},
        {"band_collide", .partial = 18 * c.band, .latency = 2.5 + 0.3 * entries},
    };
    CHECK(scene, &config, works);
    kf_config_set_boolean(&config, "concurrent_solid", true);
    works[0].aside = works[1].aside = true;
    CHECK(scene, &config, works);
    kf_config_set_boolean(&config, "masked_band", true);
    works[3].aside = true;
    kf_config_set_boolean(&config, "overlap", true); /* hides 1.5 accesses */
    kf_config_set_integer(&config, "segment_lanes", 4);
    works[1].latency = 0; /* of 0.75 + 0.25 * 2 */
    works[3].latency -= 1.5;
    CHECK(scene, &config, works);
    kf_config_set_integer(&config, "segment_length", 32);
    works[1].dram = (4 * 4 * 32 + 100) * c.segments[32];
    works[1].latency = 0.75 + 0.25 * 8 - 1.5;
    works[3].latency = 1.0 + 0.3 * 8 * c.segments[32] / c.band;
    CHECK(scene, &config, works);
    /* Several passes; a band that is put aside and restored on one grid. */
    config = config_of("fused", "scatter");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_name(&config, "streaming", "esoteric");
    scene->immersed_passes = 2;
    const double near_nodes = 3 * (4 / 4.0) * c.sectors * c.samples / 32;
    const expected spread = {"band_spread", .dram = 7 * 4 * c.samples, .partial = near_nodes,
                             .atomics = 24 * c.samples * (1 + c.crowd / 350)},
                   join = {"band_join", .dram = 48 * c.band, .latency = 1};
    expected half = {"stream_collide_even",   .launches = 0.5, .dram = N * 4 * 54 + 18 * N,
                     .instructions = N * 735, .latency = 5,    .efficiency = 0.88 * 0.93,
                     .blocks = BLOCKS};
    const expected even = half;
    half.name = "stream_collide_odd";
    const expected passes[] = {
        {"band_macroscopic", .partial = 9 * c.band, .latency = 6},
        spread,
        join,
        spread,
        join,
        even,
        half,
        {"band_collide", .partial = 18 * c.band, .latency = 2.5},
        {"band_restore", .partial = 18 * c.band, .latency = 2.5},
    };
    CHECK(scene, &config, passes);
    kf_scene_free(scene);
}

/* Forces in fields of the whole domain, gathered or scattered; sums of 64 bits. */
static void test_dense_forces(void **state) {
    (void)state;
    kf_scene *scene = opened(true);
    const counted c = count(scene);
    kf_config config = config_of("paper", "scatter");
    const double sectors = 3 * c.sectors * c.samples / 32;
    const expected penalty = {"penalty", .dram = 15 * 4 * c.samples, .partial = sectors, .latency = 2};
    expected scatter = {"scatter", .dram = 7 * 4 * c.samples,
                        .atomics = 24 * c.samples * (1 + c.crowd / 350)};
    check_launch(scene, &config, &penalty);
    check_launch(scene, &config, &scatter);
    check_launch(scene, &config, &(expected){"load_samples", .dram = 50 * 4 * c.samples, .latency = 2});
    check_launch(scene, &config, &(expected){"macroscopic", .dram = N * 4 * 34, .latency = 3, PLAIN});
    kf_config_set_name(&config, "force_sum", "fixed");
    scatter.atomics *= 1.5;
    check_launch(scene, &config, &scatter);
    kf_config_set_name(&config, "immersed_boundary", "gather");
    check_launch(scene, &config, &(expected){"gather", .partial = 42 * c.samples, .latency = 2});
    check_launch(scene, &config, &(expected){"macroscopic", .dram = N * 4 * 31, .latency = 3, PLAIN});
    /* A warp's sectors by layout: structures 8 of them, groups of two values 4, half precision half. */
    static const struct {
        const char *layout, *storage;
        long alpha;
        double sectors;
    } layouts[] = {{"aos", "f32", 1, 8}, {"csoa", "f32", 2, 4}, {"csoa", "f32", 8, 1}, {"soa", "f64", 1, 2}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const double bytes = layouts[i].storage[1] == '6' ? 8 : 4;
        kf_config_set_name(&config, "layout", layouts[i].layout);
        kf_config_set_name(&config, "storage", layouts[i].storage);
        kf_config_set_integer(&config, "alpha", layouts[i].alpha);
        check_launch(scene, &config,
                     &(expected){"penalty", .dram = 15 * bytes * c.samples,
                                 .partial = layouts[i].sectors * sectors, .latency = 2});
    }
    kf_scene_free(scene);
}

/* A moving solid marks its band at every step and sorts its samples now and then; a free one is solved for.
 */
static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = opened(true);
    const counted c = count(scene);
    scene->motion.moving = true;
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_integer(&config, "segment_length", 16);
    kf_config_set_integer(&config, "reorder_period", 8);
    kf_config_set_name(&config, "force_sum", "fixed");
    const double sort = 1.2 * 10 + 0.3 * c.crowd * c.crowd / 4;
    const expected flow = {"stream_collide", .dram = N * 4 * 54, .instructions = N * 735,
                           .latency = 5,     .efficiency = 0.88, .blocks = BLOCKS},
                   macroscopic = {"band_macroscopic", .partial = 9 * c.band, .latency = 6},
                   collide = {"band_collide", .partial = 18 * c.band, .latency = 2.5},
                   pose = {"advance_pose", .latency = 0.5}, release = {"band_release", .partial = 2 * c.band};
    expected order = {"order",         .launches = 1.0 / 8, .dram = 60 * c.samples, .partial = 4 * c.samples,
                      .latency = sort, .starts = 10};
    const expected cells[] = {
        pose,
        release,
        {"cell_mark", .dram = 16 * c.samples, .partial = 2 * c.samples, .latency = 6},
        {"cell_fill", .dram = 36 * c.samples, .partial = 3 * c.samples, .latency = 6},
        order,
        macroscopic,
        {"cell_forces", .dram = 16 * c.samples, .partial = 16 * c.segments[16],
         .atomics = 24 * c.segments[16] * 1.5, .latency = 6.5 + 4},
        flow,
        collide,
    };
    CHECK(scene, &config, cells);
    /* Without Morton order a block's surface shares a key. */
    kf_config_set_boolean(&config, "morton", false);
    kf_config_set_integer(&config, "sample_block_length", 3);
    order.latency = 12 + 0.3 * pow(9 * c.crowd, 2) / 4;
    check_launch(scene, &config, &order);
    kf_works works = works_of(scene, &config);
    assert_false(works.one_by_one);
    kf_works_free(&works);
    kf_config_set_integer(&config, "reorder_period", 128); /* longer than a graph may be */
    works = works_of(scene, &config);
    assert_true(works.one_by_one);
    kf_works_free(&works);
    /* Free, by atomics of each sample. */
    scene->motion.free = true;
    config = config_of("fused", "scatter");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    const double sectors = 3 * c.sectors * c.samples / 32;
    const expected solved[] = {
        pose,
        release,
        {"band_mark", .dram = 16 * c.samples, .partial = c.samples, .latency = 6},
        macroscopic,
        {"band_body_sums", .dram = 28 * c.samples, .partial = sectors,
         .atomics = c.samples * KF_BODY_SUMS / KF_BODY_CHUNK, .latency = 2},
        {"solve_body", .latency = 2},
        {"band_spread", .dram = 28 * c.samples, .partial = sectors,
         .atomics = 24 * c.samples * (1 + c.crowd / 350)},
        flow,
        collide,
    };
    CHECK(scene, &config, solved);
    /* Gathered: a list at every step. */
    config = config_of("paper", "gather");
    check_launch(scene, &config,
                 &(expected){"order", .dram = 60 * c.samples, .partial = 4 * c.samples,
                             .latency = 1.2 * 8 + 0.3 * c.crowd * c.crowd / 4, .starts = 8});
    check_launch(scene, &config,
                 &(expected){"body_sums", .dram = 28 * c.samples, .partial = sectors,
                             .atomics = c.samples * KF_BODY_SUMS / KF_BODY_CHUNK, .latency = 2});
    kf_scene_free(scene);
}

static void test_another_system(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    kf_config config = config_of("fused", "scatter");
    memcpy(config.system, "d2q9", 5);
    kf_works works = {.count = 0};
    void *model = kf_cost_kinetic.open(problem_of(&kf_system_kinetic, scene), &gpu);
    assert_int_equal(kf_cost_kinetic.works(model, &config, &works, NULL), KF_BAD_INPUT);
    kf_cost_kinetic.close(model);
    kf_works_free(&works);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_of_separate_plans),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_fused_kernels),
        cmocka_unit_test(test_shell_apart),
        cmocka_unit_test(test_other_streamings),
        cmocka_unit_test(test_what_else_a_step_does),
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_dense_forces),
        cmocka_unit_test(test_moving_solid),
        cmocka_unit_test(test_another_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
