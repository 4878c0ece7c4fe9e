/* Tests what the cost model says that each kernel of particles reads, writes, issues and waits for,
 * against counts by hand. Faults: wrong bytes or instructions of one search or law. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/sph/arguments.h"
#include "scene/particles.h"
#include "solver/sph/sph_cost.h"
#include "tests/unit/works_by_hand.h"

static const kf_device_info gpu = {.backend = "cuda", .multiprocessors = 132};

/* A box of 20 x 16 x 12 spacings with a support of two: 480 cells of a support. A thousand particles lie in
 * heaps of twenty, out of sight of each other: each has 19 neighbours, where the fluid's inside has 32.5, and
 * as much less of candidates. */
enum { PARTICLES = 1000, HEAP = 20 };
static const double P = PARTICLES, PI = 3.14159265358979323846, NEAR = HEAP - 1;
static const double FULL = (HEAP - 1) / (4.0 / 3.0 * 3.14159265358979323846 * 8 - 1);

static kf_particle_scene box_of(void) {
    static float places[3 * PARTICLES], zeros[3 * PARTICLES];
    for (int i = 0; i < PARTICLES; i++) {
        const int heap = i / HEAP, layer = heap / 30;
        places[3 * i] = 1 + 3.0f * (float)(heap % 6);
        places[3 * i + 1] = 1 + 3.0f * (float)(heap / 6 % 5);
        places[3 * i + 2] = 1 + 3.0f * (float)layer;
    }
    kf_particle_scene scene = {.dimensions = 3,
                               .support = 2,
                               .size = {20, 16, 12},
                               .spacing = 0.01,
                               .sound_speed = 10,
                               .density = 1000,
                               .courant = 0.25,
                               .count = PARTICLES,
                               .position = places,
                               .velocity = zeros,
                               .deviation = zeros};
    for (int side = 0; side < 6; side++)
        scene.sides[side] = KF_SIDE_NO_SLIP;
    return scene;
}

static kf_config config_by_hand(const char *search, long cells, bool prune, const char *layout) {
    kf_config config = {.system = "sph"};
    kf_config_set_name(&config, "search", search);
    kf_config_set_integer(&config, "cells", cells);
    kf_config_set_boolean(&config, "prune", prune);
    kf_config_set_name(&config, "layout", layout);
    kf_config_set_name(&config, "order", "atomic");
    kf_config_set_boolean(&config, "fuse_count", true);
    kf_config_set_integer(&config, "list_period", 1);
    kf_config_set_integer(&config, "skin", 0);
    kf_config_set_integer(&config, "in_flight", 2);
    kf_config_set_name(&config, "cell_order", "rows");
    kf_config_set_integer(&config, "lanes", 1);
    kf_config_set_integer(&config, "threads", 128);
    kf_config_set_integer(&config, "resident_blocks", 0);
    kf_config_set_boolean(&config, "graph", true);
    return config;
}

static void check_works(kf_particle_scene *scene, const kf_device_info *device, const kf_config *config,
                        const expected *wanted, size_t count) {
    const kf_problem problem = {.own = scene};
    kf_works works = works_of_model(&kf_cost_sph, &problem, device, config);
    if (count > 1) compare_all(&works, wanted, count);
    if (count == 1) compare_one(&works, wanted);
    bool graph = true;
    (void)kf_config_boolean(config, "graph", &graph, NULL);
    assert_int_equal(works.one_by_one, strcmp(device->backend, "cuda") == 0 && !graph);
    kf_works_free(&works);
}
#define CHECK(scene, config, wanted)                                                                         \
    check_works(scene, &gpu, config, wanted, sizeof(wanted) / sizeof *(wanted))

/* Returns a kernel of this many threads, in blocks of this many, of which each of 132 multiprocessors
 * holds this many warps. The fullest multiprocessor decides. A warp that is alone takes its waits, and
 * four cycles an instruction. Bytes and instructions are those of a particle. */
static expected kernel(const char *name, double bytes, double instructions, double waits, double all,
                       double threads, double warps) {
    const double blocks = ceil(all / threads) / 132, us = (waits + 4 * instructions * P / all) / 1980;
    return (expected){.name = name,
                      .dram = bytes * P,
                      .instructions = instructions * P * ceil(blocks) / blocks,
                      .latency = 2,
                      .blocks = ceil(blocks) * threads / 32,
                      .resident = warps,
                      .waits = us,
                      .turns = 1,
                      .slowest = us};
}
/* Expects a pass of the sort, which has eight blocks of 256 threads on a multiprocessor, with its rounds
 * of memory and of additions. */
static expected pass(const char *name, double bytes, double instructions, double all, double rounds,
                     double sums) {
    return kernel(name, bytes, instructions, 600 * rounds + 2 * sums, all, 256, 64);
}

/* Gives the share of a warp's pairs in which any of its groups of lanes has a neighbour. */
static double any(double candidates) {
    return 1 - pow(1 - NEAR / candidates, 6);
}
/* Returns the cycles of the L1 cache for places side by side that this many streams of a warp read, a
 * quarter of the warp at a time for 16 bytes, or all of it. */
static double beside(double streams, double lanes, double quarters, double apart) {
    const double together = fmin(lanes, 32 / quarters), particles = 32 / quarters / together;
    return quarters * fmin(fmin(particles, 1 + (streams - 1) / quarters) * (1 + (together - 1) * apart / 128),
                           1 + (particles + together) * apart / 128);
}
/* Returns the same for places of the lanes' own, in 12 rows that are all apart. */
static double own(double quarters) {
    return quarters * 12 * (1 - pow(11 / 12.0, 32 / quarters));
}
/* Returns the passes of a loop that takes this many at a time. */
static double turns(double passes, double in_flight) {
    return fmin(passes, passes / in_flight + 0.5 * (in_flight - 1));
}

/* Beside its sums: six walls, and twice the read of the largest that there is. */
enum { FLOW = 300 + 6 * 35 + 2 * 160, MOTION = FLOW + 100, STRAIN = 250 + 6 * 35 };

/* Every candidate of 27 cells is compared, for which three floats are read. A pair also needs the fourth,
 * and four of the velocity. 50 registers, of which 56 are allocated, let nine blocks of four warps fit. */
static void cells_by_hand(void **state) {
    (void)state;
    kf_particle_scene scene = box_of();
    kf_config config = config_by_hand("cells", 1, false, "float3");
    kf_config_set_boolean(&config, "fuse_count", false);
    const double candidates = 216 * FULL, each = 4 * 0.48, streams = 1 + 32 / (8 * FULL),
                 place = 5 + 0.6 * 3 * beside(streams, 1, 1, 12), fourth = 0.6 * beside(streams, 1, 1, 4),
                 hits = any(candidates) * candidates, pairs = hits * (40 + place + 2 * fourth);
    const double two = FLOW + 27 * 80 + candidates * (9 + 3.5 + place) + pairs, one = two + candidates * 3.5,
                 begin = 4 * 600 + 27 * 600 + hits * 140;
    const double waits = begin + 27 * turns(candidates / 27, 2) * 140;
    expected counted = pass("count_cells", 24, 40, P, 2, 0), last = {"advance_clock", .latency = 3};
    counted.atomics = P;
    expected list[] = {counted,
                       pass("sum_cells", each, 2 * each, 256, 1, 256),
                       pass("sum_groups", 0, 10 / P, 256, 2, 256),
                       pass("begin_cells", 3 * each, 4 * each, 256, 2, 32),
                       pass("scatter", 8 + 2 * 52, 50, P, 3, 0),
                       kernel("flow", 104, two, waits, P, 128, 36),
                       last};
    CHECK(&scene, &config, list);
    kf_config_set_boolean(&config, "graph", false);
    CHECK(&scene, &config, list);
    /* A launch bound of twelve blocks takes ten registers away, and has more warps. */
    kf_config_set_integer(&config, "resident_blocks", 12);
    list[5] = kernel("flow", 104, two + 2 * 10 * hits, waits, P, 128, 48);
    CHECK(&scene, &config, list);
    /* One value in flight; places by numbers, two a cell. */
    kf_config_set_integer(&config, "resident_blocks", 0);
    kf_config_set_integer(&config, "in_flight", 1);
    kf_config_set_name(&config, "order", "ranked");
    const expected ranked[] = {counted,
                               list[1],
                               list[2],
                               list[3],
                               pass("place", 20, 20, P, 3, 0),
                               pass("rank", 120, 60 + 4 / 0.48, P, 5, 0),
                               kernel("flow", 104, one, begin + candidates * 140, P, 128, 36),
                               last};
    CHECK(&scene, &config, ranked);
    /* Large blocks: 65536 registers hold two of 512 threads. */
    kf_config_set_integer(&config, "threads", 512);
    expected flow[] = {kernel("flow", 104, one, begin + candidates * 140, P, 512, 32)};
    CHECK(&scene, &config, flow);
    /* Two dimensions: nine cells of four places, and four walls. */
    scene.dimensions = 2;
    const double full = NEAR / (PI * 4 - 1), few = 36 * full, near = any(few) * few,
                 line = 0.6 * beside(1 + 32 / (4 * full), 1, 1, 4),
                 flat = 5 + 0.6 * 3 * beside(1 + 32 / (4 * full), 1, 1, 12);
    flow[0] = kernel("flow", 104, FLOW - 2 * 35 + 9 * 80 + few * (16 + flat) + near * (40 + flat + 2 * line),
                     4 * 600 + 9 * 600 + few * 140 + near * 140, P, 512, 32);
    CHECK(&scene, &config, flow);
    const expected cells[] = {pass("sum_cells", 4 * 80 / P, 8 * 80 / P, 256, 1, 256)}; /* 10 x 8 */
    CHECK(&scene, &config, cells);
    /* A cpu has neither warps nor blocks, and counts no cache lines. */
    const kf_device_info cpu = {.backend = "cpu"};
    kf_config_set_boolean(&config, "graph", false);
    flow[0] = (expected){"flow", .dram = 104 * P};
    flow[0].instructions = P * (FLOW - 2 * 35 - 320 + 9 * 80 + few * (16 + 5) + near * (40 + 5));
    check_works(&scene, &cpu, &config, flow, 1);
}

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}
/* Returns the candidates of rows that end where the support does: for four by four places of a particle in
 * its cell, with cells of a spacing, the mean or the most of this many random particles. */
static double pruned_candidates(int particles) {
    double cells = 0;
    for (int row = 0; row < 25; row++) {
        double here[16];
        for (int a = 0; a < 16; a++) {
            const int quarter = a / 4;
            const double at[2] = {0.125 + 0.25 * (a % 4), 0.125 + 0.25 * quarter};
            const int offset[2] = {row % 5 - 2, row / 5 - 2};
            double square = 0;
            for (int i = 0; i < 2; i++) {
                const double gap = fmax(0, fmax(offset[i] - at[i], at[i] - offset[i] - 1));
                square += gap * gap;
            }
            here[a] = square < 4 ? fmin(5, 1 + 2 * sqrt(4 - square)) : 0;
        }
        qsort(here, 16, sizeof *here, ascending);
        for (int a = 0; a < 16; a++)
            cells += here[a] * (pow((a + 1) / 16.0, particles) - pow(a / 16.0, particles));
    }
    return cells * FULL;
}

static void rows_by_hand(void **state) {
    (void)state;
    kf_particle_scene scene = box_of();
    kf_config config = config_by_hand("rows", 2, true, "float4");
    const double share = any(pruned_candidates(1)), passes = pruned_candidates(32),
                 streams = fmin(32, 1 + 32 / FULL), four = 3 + 0.6 * beside(streams, 1, 4, 16);
    assert_true(passes > pruned_candidates(1) && passes < 125 * FULL);
    const double pairs = passes * (12.5 + four) + share * passes * (40 + four);
    const double beside_waits = 25 * turns(passes / 25, 2) * 140 + share * passes * 140 + 4 * 600;
    expected flow[] = {
        kernel("flow", 104, FLOW + 25 * 80 + 25 * 38 + pairs, 25 * 600 + beside_waits, P, 128, 36)};
    CHECK(&scene, &config, flow);
    const expected cells[] = {pass("sum_cells", 4 * 20 * 16 * 12 / P, 8 * 20 * 16 * 12 / P, 4 * 256, 1, 256)};
    CHECK(&scene, &config, cells);
    /* Four lanes a particle: each looks for the ranges, seven values are added up twice, and half of a pass
     * of four is left over in each range. */
    kf_config_set_integer(&config, "lanes", 4);
    const double most = pruned_candidates(8) + 25 * 1.5,
                 wide = 3 + 0.6 * beside(fmin(8, 1 + 8 / FULL), 4, 4, 16);
    flow[0] =
        kernel("flow", 104,
               4 * (FLOW + 2 * 5 * 7 + 25 * (80 + 38)) + most * (12.5 + wide) + share * most * (40 + wide),
               25 * 600 + 25 * turns(most / 100, 2) * 140 + share * most / 4 * 140 + 4 * 600, 4 * P, 128, 36);
    CHECK(&scene, &config, flow);
    kf_config_set_integer(&config, "lanes", 1);
    /* A row across a periodic face has images: three ranges, two of them beyond. There is a wall less on
     * each side. */
    scene.sides[4] = scene.sides[5] = KF_SIDE_PERIODIC;
    flow[0] = kernel("flow", 104, FLOW - 2 * 35 + 25 * 80 + 50 * 20 + 75 * 38 + pairs,
                     25 * 600 + beside_waits, P, 128, 36);
    CHECK(&scene, &config, flow);
    scene.sides[4] = scene.sides[5] = KF_SIDE_NO_SLIP;
    /* On terrain a column is found before its cells, and a plane is put through the ground in three reads.
     * Columns are twice as high as what lies there, four supports and three cells more. */
    double heights[9] = {0};
    scene.terrain = (kf_terrain){.nodes = {3, 3}, .cell = 100, .heights = heights};
    flow[0] = kernel("flow", 104, FLOW + 300 + 25 * 80 + 25 * 38 + pairs, 50 * 600 + beside_waits + 3 * 220,
                     P, 128, 36);
    CHECK(&scene, &config, flow);
    const double columns = 20 * 16 * (2 * 4 + 4 * 2 + 3);
    const expected ground[] = {pass("sum_cells", 4 * columns / P, 8 * columns / P, 6 * 256, 1, 256)};
    CHECK(&scene, &config, ground);
    scene.terrain.heights = NULL;
    /* Wall particles are summed over first, and do not look at the others. */
    scene.wall_count = 100;
    const expected dummies[] = {
        kernel("dummies", 32, 60 + 25 * (80 + 38) + passes * (12.5 + four) + share * passes * (30 + four),
               25 * 600 + beside_waits, P, 128, 36)};
    CHECK(&scene, &config, dummies);
    scene.wall_count = 0;
    /* Five cells of a row touch two or three pairs of Morton's order, whose particles lie in eight stretches
     * or more, and two bricks of four. */
    static const struct {
        const char *name;
        double ranges, run;
    } orders[] = {{"morton", 75, 2}, {"bricks", 50, 4}};
    for (int k = 0; k < 2; k++) {
        kf_config_set_name(&config, "cell_order", orders[k].name);
        const double parts = 1 + (32 / orders[k].run - 1) / 4, /* of a quarter of a warp */
            line = 4 * fmin(fmin(8, 1 + (streams - 1) / 4), parts * (1 + (8 / parts + 1) / 8)),
                     ranges = orders[k].ranges;
        flow[0] = kernel("flow", 104,
                         FLOW + ranges * (80 + 38) + passes * (12.5 + 3 + 0.6 * line) +
                             share * passes * (40 + 3 + 0.6 * line),
                         ranges * (600 + turns(passes / ranges, 2) * 140) + share * passes * 140 + 4 * 600, P,
                         128, 36);
        CHECK(&scene, &config, flow);
    }
}

/* The search has two loops, and stores bits between the sums of a scheme with several. */
static void bits_by_hand(void **state) {
    (void)state;
    kf_particle_scene scene = box_of();
    kf_config config = config_by_hand("staged", 1, false, "float4");
    kf_config_set_integer(&config, "threads", 64);
    const double stresses = 4.0 * KF_SPH_STRESSES, state_bytes = 52 + stresses, candidates = 216 * FULL,
                 streams = 1 + 32 / (8 * FULL), bits = 1.25 * NEAR;
    /* A range has a word of bits, or as many words as its candidates need. */
    const double words = 9 * ceil(candidates / 9 / 32),
                 scan = 9 * 80 + candidates * (8 + 3.5 + 3 + 0.6 * beside(streams, 1, 4, 16)) + 12 * words,
                 scan_waits = 9 * 600 + 9 * turns(candidates / 9, 2) * 140 + 4 * 600, four = 3 + 0.6 * own(4);
    /* 57 registers of 64 threads: 16 blocks; the bits of 12 slots take less shared memory than there is. */
    const expected flow[] = {kernel("flow", 104, FLOW + bits * (12.5 + 40 + 2 * four + 6) + scan,
                                    bits * 140 + scan_waits, P, 64, 32)};
    CHECK(&scene, &config, flow);
    /* With a stress: strain first, then motion with what it left. */
    scene.material.law = KF_LAW_BINGHAM;
    const expected strain[] = {kernel("strain", 48 + 2 * stresses + 8 * candidates / 16,
                                      STRAIN + bits * (12.5 + 38 + 2 * four + 6) + scan,
                                      bits * 140 + scan_waits, P, 64, 32)},
                   motion[] = {kernel("motion", 2 * state_bytes + 16 + 8 * candidates / 16,
                                      MOTION + bits * (12.5 + 52 + 3.5 * four + 6), bits * 220 + 4 * 600, P,
                                      64, 36)};
    CHECK(&scene, &config, strain);
    CHECK(&scene, &config, motion);
    /* The thesis: densities, stress rates, forces; masks of the candidates are read again. Before each
     * neighbour a warp looks for as many of the nine ranges as the lane with most does. */
    scene.scheme = KF_SCHEME_THESIS;
    config = config_by_hand("masks", 1, false, "soa");
    const double apart = 7 + 0.6 * 4 * own(1), place = 7 + 0.6 * 3 * beside(streams, 1, 1, 4),
                 hits = any(candidates) * candidates;
    double most = 0;
    for (int k = 1; k < 200; k++)
        most += 1 - pow(1 - pow(9 / (9 + NEAR), k), 32);
    const double looks = most * NEAR;
    const expected thesis[] = {kernel("density", 48 + candidates / 8,
                                      30 + 3 * candidates + 9 * 80 + candidates * (12.5 + place) +
                                          hits * (6 + 0.6 * beside(streams, 1, 1, 4)),
                                      scan_waits, P, 128, 48)},
                   rates[] = {kernel("stress", 48 + stresses + candidates / 8,
                                     80 + bits * (12.5 + 30 + 2 * apart + 6) + looks * 80,
                                     bits * 220 + looks * 600 + 4 * 600, P, 128, 36)},
                   force[] = {kernel("force", 2 * state_bytes + candidates / 8,
                                     FLOW + bits * (12.5 + 40 + 4 * apart + 6) + looks * 80,
                                     bits * 220 + looks * 600 + 4 * 600, P, 128, 32)};
    CHECK(&scene, &config, thesis);
    CHECK(&scene, &config, rates);
    CHECK(&scene, &config, force);
}

/* Lists that serve four steps reach a tenth further in every direction. The displacement is read at each
 * warp's end, too. */
static void lists_by_hand(void **state) {
    (void)state;
    kf_particle_scene scene = box_of();
    kf_config config = config_by_hand("list", 1, false, "float4");
    kf_config_set_boolean(&config, "fuse_count", false);
    kf_config_set_integer(&config, "list_period", 4);
    kf_config_set_integer(&config, "skin", 10);
    const double listed = pow(1.1, 3) * NEAR, candidates = 27 * pow(2.2, 3) * FULL,
                 cells = ceil(20 / 2.2) * ceil(16 / 2.2) * ceil(12 / 2.2),
                 streams = 1 + 32 / (pow(2.2, 3) * FULL), four = 3 + 0.6 * own(4),
                 words = 9 * ceil(candidates / 9 / 32);
    expected make[] = {kernel("make_lists", 32 + 4 * listed,
                              9 * 80 + candidates * (8 + 3.5 + 3 + 0.6 * beside(streams, 1, 4, 16)) +
                                  12 * words + 1.25 * listed * (20 + four),
                              9 * 600 + 9 * turns(candidates / 9, 2) * 140 + 1.25 * listed * 140, P, 128,
                              40)};
    make[0].launches = 0.25;
    CHECK(&scene, &config, make);
    expected sum[] = {pass("sum_cells", 4 * cells / P, 8 * cells / P, 256, 1, 256)};
    sum[0].launches = 0.25;
    CHECK(&scene, &config, sum);
    const double visits = 1.15 * listed;
    const expected flow[] = {kernel("flow", 104 + 4 * listed,
                                    FLOW + 160 + visits * (12.5 + 40 + 2 * four + 0.6),
                                    turns(visits, 2) * 2 * 220 + 4 * 600, P, 128, 36)};
    CHECK(&scene, &config, flow);
    /* Two lanes: each its own line of the list, the second's neighbour beside the first's. */
    kf_config_set_integer(&config, "lanes", 2);
    const double two = (1 + 0.15 / sqrt(2)) * listed + 0.5,
                 quarter = 4 * 12 * (1 - pow(11 / 12.0, 4)) * (1 + 1.7 * 16 / 128.0);
    const expected shared[] = {
        kernel("flow", 104 + 4 * listed,
               2 * (FLOW + 160 + 5 * 7) + two * (12.5 + 40 + 2 * (3 + 0.6 * quarter) + 2 * 0.6),
               turns(two / 2, 2) * 2 * 220 + 4 * 600, 2 * P, 128, 36)};
    CHECK(&scene, &config, shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_by_hand), cmocka_unit_test(rows_by_hand),
                                       cmocka_unit_test(bits_by_hand), cmocka_unit_test(lists_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
