/* Tests the works of a solid in the kinetic plans against counts by hand, from the samples themselves.
 * Figures of an H200 (docs/cost-model.md) stand here as numbers. Faults: samples, segments or the band are
 * miscounted. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "kernels/kinetic/arguments.h"
#include "tests/unit/kinetic_works.h"

typedef struct counted {
    double samples, band, crowd, sectors; /* crowd: samples a cell that has any */
    double segments[65];                  /* by the most samples that a segment may have */
} counted;

/* Counts cells by brute force. */
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
    kf_sample_survey survey; /* test_cost_model compares this count with that of all warps */
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
    /* The chain is like one kernel whose parts wait for each other. What is loaded before is hidden as
     * well. */
    kf_config_set_boolean(&config, "overlap", false);
    kf_config_set_boolean(&config, "band_chain", true);
    expected chain[] = {{"band_chain", .dram = (4 * 4 * 32 + 100) * c.segments[32], .partial = 27 * c.band,
                         .latency = 6 + 0.25 * 8 + 0.75 - 1.5 + 1.0 + 0.3 * 8 * c.segments[32] / c.band + 1,
                         .aside = true},
                        works[2]};
    CHECK(scene, &config, chain);
    kf_config_set_boolean(&config, "keep_streamed", true); /* 27 values of 4 bytes, twice */
    chain[0].dram += 2 * 108 * c.band;
    chain[0].partial = 18 * c.band;
    CHECK(scene, &config, chain);
    /* Several passes; a band that is put aside and restored on one grid. */
    config = config_of("fused", "scatter");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", NZ / 2);
    scene->immersed_passes = 2;
    const double near_nodes = 3 * (4 / 4.0) * c.sectors * c.samples / 32;
    const expected spread = {"band_spread", .dram = 7 * 4 * c.samples, .partial = near_nodes,
                             .atomics = 24 * c.samples * (1 + c.crowd / 350)},
                   join = {"band_join", .dram = 48 * c.band, .latency = 1};
    const expected slabs = {
        "stream_collide", .launches = 2,      .dram = N * 4 * 54 / 2, .instructions = N * 735 / 2,
        .latency = 2.5,   .efficiency = 0.88, .blocks = BLOCKS / 2};
    const expected passes[] = {
        {"band_macroscopic", .partial = 9 * c.band, .latency = 6},
        spread,
        join,
        spread,
        join,
        slabs,
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

/* A moving solid marks its band at every step; a free one is solved for. */
static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = opened(true);
    const counted c = count(scene);
    scene->motion.moving = true;
    kf_config config = config_of("fused", "aggregated");
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_integer(&config, "segment_length", 16);
    kf_config_set_name(&config, "force_sum", "fixed");
    const expected flow = {"stream_collide", .dram = N * 4 * 54, .instructions = N * 735,
                           .latency = 5,     .efficiency = 0.88, .blocks = BLOCKS},
                   macroscopic = {"band_macroscopic", .partial = 9 * c.band, .latency = 6},
                   collide = {"band_collide", .partial = 18 * c.band, .latency = 2.5},
                   pose = {"advance_pose", .latency = 0.5}, release = {"band_release", .partial = 2 * c.band};
    const expected cells[] = {
        pose,
        release,
        {"cell_mark", .dram = 16 * c.samples, .partial = 2 * c.samples, .latency = 6},
        {"cell_fill", .dram = 36 * c.samples, .partial = 3 * c.samples, .latency = 6},
        macroscopic,
        {"cell_forces", .dram = 16 * c.samples, .partial = 16 * c.segments[16],
         .atomics = 24 * c.segments[16] * 1.5, .latency = 6.5 + 4},
        flow,
        collide,
    };
    CHECK(scene, &config, cells);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_dense_forces),
        cmocka_unit_test(test_moving_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
