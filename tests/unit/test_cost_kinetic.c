/* Tests the works of the kinetic plans against counts by hand: values a node, blocks that fit a
 * multiprocessor. Figures of an H200 (docs/cost-model.md) stand here as numbers. Faults: wrong bytes or
 * occupancy of one parameter's value. */
#include <math.h>
#include <string.h>

#include "tests/unit/kinetic_works.h"

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

/* The order of addresses costs this: 0.945 of a copy's rate for groups of 32 nodes, and less with each
 * doubling up to 2^20. Groups shorter than a sector cost pieces. Warps that cover several rows ask for
 * each row. */
static void test_rates_of_layouts(void **state) {
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
    /* With structures, each value across x is in a sector of its own, and otherwise 0.3 of them. */
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
    /* Planes within one, too: 40 / 16 is three of them, of 32 warps each. */
    kf_config_set_integer(&config, "block_x", 64);
    kf_config_set_integer(&config, "block_y", 1);
    kf_config_set_integer(&config, "block_z", 16);
    check_launch(scene, &config,
                 &(expected){"stream", .dram = N * 4 * 54, .latency = 3, .efficiency = 0.88,
                             .blocks = 1.0 * 48 * 3 / 100, .resident = 2});
    kf_scene_free(scene);
}

/* The fused kernel of each form, type and number of velocities has these instructions a node, and these
 * registers, by the blocks that fit. */
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
    /* A cap of 80 registers spills 88 of 168. Each goes to local memory with 8 bytes, less 8 that cost
     * nothing. */
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

/* The rows at the faces across y and z are 2 x (48 + 38) of 48 x 40. The others have the registers of a
 * kernel without faces: 48 instead of 56 for 32 x 4 threads, 80 instead of 96 for pairs. */
static void test_shell_apart(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    static const double SHELL = 2.0 * (NY + NZ - 2) * NX;
    for (long pairs = 1; pairs <= 2; pairs++) {
        kf_config config = config_of("fused", "aggregated");
        kf_config_set_integer(&config, "boundary_kernels", 0);
        kf_config_set_integer(&config, "nodes_per_thread", pairs);
        kf_config_set_boolean(&config, "boundary_rows_apart", true);
        const expected shell = {"stream_collide_boundary", .dram = SHELL * 4 * 54,
                                .instructions = SHELL * 815, .efficiency = 0.88};
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
    /* With a solid's kernels it is a third lane, whose end is awaited. */
    scene = opened(true);
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    change_config(&config, "segment_length=16");
    kf_config_set_boolean(&config, "boundary_rows_apart", true);
    kf_config_set_boolean(&config, "concurrent_solid", true);
    check_launch(scene, &config,
                 &(expected){"stream_collide_boundary", .dram = SHELL * 4 * 54, .instructions = SHELL * 815,
                             .latency = 1, .efficiency = 0.88});
    kf_scene_free(scene);
}

/* A grid that moves is passed slab by slab. Moments are nine values a node. */
static void test_other_streamings(void **state) {
    (void)state;
    kf_scene *scene = opened(false);
    kf_config config = config_of("fused", "aggregated");
    /* 40 planes in slabs of 16 are three launches. */
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", 16);
    check_launch(scene, &config,
                 &(expected){"stream_collide", .launches = 3, .dram = N * 4 * 54 / 3,
                             .instructions = N * 735 / 3, .latency = 5 / 3.0, .efficiency = 0.88,
                             .blocks = BLOCKS / 3, .resident = 10});
    const double halo = 34.0 * 6 / (32 * 4);
    config = config_of("moments", "aggregated");
    /* Walks of 20, 10 and 10 planes of 24 tiles, for which there is room at once: 28 warps of 72 registers.
     */
    const double own = N * (465 + 155 * (halo - 1)), walk = 40.0 / 3;
    expected moments = {"stream_collide",
                        .dram = N * 4 * 9 * (1 + halo),
                        .instructions = own * (walk + 0.75) / walk,
                        .latency = 5,
                        .efficiency = 0.88,
                        .blocks = 0.72,
                        .resident = 7,
                        .waits = 0.7,
                        .turns = walk + 0.75,
                        .last = 0.2 * 20 + 20 - walk};
    check_launch(scene, &config, &moments);
    kf_config_set_name(&config, "storage", "f16"); /* six words of 32 bits */
    moments.dram = N * 4 * 6 * (1 + halo);
    check_launch(scene, &config, &moments);
    kf_config_set_integer(&config, "march", 8); /* five walks, and places for seven blocks of 24 x 5 */
    gpu.multiprocessors = 1;
    moments.blocks = 120;
    moments.turns = 8.75;
    moments.instructions = own * 8.75 / 8;
    moments.last = 0.2 * 8;
    check_launch(scene, &config, &moments);
    kf_config_set_integer(&config, "march", 0); /* as a file might say: one plane at a time */
    moments.blocks = 24 * 40;
    moments.turns = 1.75;
    moments.instructions = own * 1.75;
    moments.last = 0.2;
    check_launch(scene, &config, &moments);
    gpu.multiprocessors = 100;
    kf_scene_free(scene);
}

/* The adaptive rule averages every fourth row along y and z, every 16 steps. BGK and 19 velocities have no
 * averages. Outflows cost nothing where the collision computes them. */
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
    /* Moments: beside the flow; five sectors of a node across x. */
    config = config_of("moments", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    check_launch(scene, &config,
                 &(expected){"convect_outflow", .scattered = (double)NX * NZ * 27 / 8 + (double)NY * NZ * 5,
                             .latency = 0.8, .aside = true});
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
        cmocka_unit_test(test_rates_of_layouts),
        cmocka_unit_test(test_fused_kernels),
        cmocka_unit_test(test_shell_apart),
        cmocka_unit_test(test_other_streamings),
        cmocka_unit_test(test_what_else_a_step_does),
        cmocka_unit_test(test_another_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
