/* Tests plans of stable_fluids against their reference, feature by feature, in double precision, where
 * only rounding may differ. Faults: a wrong term in one plan. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "stable_fluids_support.h"

static void fused_in_two_dimensions(void **state) {
    (void)state;
    holds(box(32, 32, 1), F64, 6);
    holds(box(32, 32, 1), "", 6);
    holds(box(60, 45, 1), F64 "points_rows=20 points_columns=16 twiddles=products", 6);
    holds(box(27, 50, 1), F64 "points_rows=4 points_columns=4 points_inverse=16", 6);
    holds(box(64, 32, 1), F64 "points_rows=32 points_columns=32 points_inverse=32", 6);
    holds(box(96, 160, 1), "points_rows=32 points_columns=32 points_inverse=32 twiddles=products", 6);
}
/* The gate's trial is a small grid. Lines of the length that is timed are compared with the reference
 * here. */
static void long_lines(void **state) {
    static const int lengths[] = {8192, 1920, 1024, 4096, 512, 2048};
    (void)state;
    for (size_t i = 0; i < cases_taken(4, sizeof lengths / sizeof *lengths); i++) {
        const int n = lengths[i];
        const char *config =
            "points_rows=16 points_columns=16 points_inverse=16 rows_per_block=4 columns_per_block=4";
        const bool gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
        if (gpu)
            config = "points_rows=16 points_columns=16 points_inverse=16 rows_per_block=1 "
                     "columns_per_block=1 twiddles=products";
        holds(box(n, 8, 1), config, 2);
        holds(box(8, n, 1), config, 2);
        if (n != 8192 && !gpu) continue;
        config =
            gpu ? "points_rows=32 points_columns=32 points_inverse=32 rows_per_block=1 columns_per_block=1"
                : "points_rows=32 points_columns=32 points_inverse=32 rows_per_block=4 columns_per_block=4";
        holds(box(n, 8, 1), config, 2);
        holds(box(8, n, 1), config, 2);
    }
}
static void fused_in_three_dimensions(void **state) {
    (void)state;
    holds(box(16, 24, 20), F64, 4);
    holds(box(15, 9, 16), "", 4);
}
/* These parameters exist only on a GPU: blocks that wait for each other, threads with a component each,
 * tiles, twiddles before the data, overlapping passes. */
static void plans_of_a_gpu(void **state) {
    static const char *const twiddles[] = {"products", "table", "early"};
    (void)state;
    if (strcmp(kf_backend_device(backend)->backend, "cuda") != 0) skip();
    for (int i = 0; i < 3; i++)
        for (int buffers = 1; buffers < 3; buffers++) {
            char config[256];
            const int n = i == 0 ? 64 : i == 1 ? 128 : 60;
            (void)snprintf(config, sizeof config,
                           F64 "plan=persistent steps_per_launch=16 component_per_thread=%s "
                               "exchange_buffers=%d twiddles=%s rows_per_block=%d columns_per_block=%d",
                           buffers == 1 ? "true" : "false", buffers, twiddles[i], 1 << i, 1 + i % 2);
            if (i < 2) holds(box(n, n, 1), config, 21);
            (void)snprintf(config, sizeof config,
                           F64 "component_per_thread=%s exchange_buffers=%d twiddles=%s tile_columns=%d "
                               "pad=%d graph=true overlap=true columns_per_block=2",
                           buffers == 1 ? "true" : "false", buffers, twiddles[i], i == 0 ? 0 : 2 * i,
                           buffers == 1 ? 0 : 16);
            holds(box(n, 2 * n, 1), config, 6);
            holds(box(16, 24, n / 2), config, 4);
        }
    holds(box(64, 256, 1), F64 "component_per_thread=true columns_per_block=2 overlap=true", 6);
    holds(box(600, 300, 1),
          F64 "rows_per_block=1 columns_per_block=2 tile_columns=4 ahead_rows=1 ahead_columns=1", 4);
    holds(box(300, 600, 1), "rows_per_block=1 columns_per_block=1 ahead_rows=1", 4);
    holds(box(16, 1920, 1), "points_columns=16 columns_per_block=1 twiddles=products", 4);
    for (int points = 16; points <= 32; points += 16) {
        char config[256];
        (void)snprintf(config, sizeof config,
                       "points_columns=%d columns_per_block=1 component_per_thread=%s twiddles=products",
                       points, points == 32 ? "true" : "false");
        holds(box(16, 8192, 1), config, 4);
    }
    holds(box(4096, 16, 1), "points_rows=16 points_inverse=16 rows_per_block=1 twiddles=products", 4);
    holds(box(32, 4096, 1),
          "component_per_thread=true points_columns=16 columns_per_block=1 twiddles=products "
          "resident_columns=2",
          4);
}
static void separate_plans(void **state) {
    static const char *const plans[] = {"paper", "separate", "packed", "batched"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        char config[128];
        (void)snprintf(config, sizeof config, F64 "plan=%s", plans[i]);
        /* Lengths along x are even and odd. */
        holds(box(24, 20, 1), config, 5);
        holds(box(25, 18, 1), config, 5);
        for (size_t n = 0; n < cases_taken(1, 2); n++)
            holds((i + (int)n) % 2 == 0 ? box(12, 10, 8) : box(9, 8, 10), config, 3);
    }
}
static void library_transforms(void **state) {
    static const char *const plans[] = {"paper", "packed", "batched"};
    kf_error error;
    (void)state;
    if (kf_fft_available(kf_backend_device(backend)->backend, &error) != KF_OK) {
        print_message("%s\n", error.message);
        skip();
    }
    for (int i = 0; i < 3; i++) {
        char config[128];
        (void)snprintf(config, sizeof config, F64 "plan=%s fft=library", plans[i]);
        holds(box(24, 20, 1), config, 5);
        holds(box(12, 10, 8), config, 3);
    }
    holds(box(24, 20, 1), "plan=separate fft=library", 5);
}
/* Each plan has its own order of launches. Two and three dimensions alternate. */
static void advection_schemes(void **state) {
    static const char *const plans[] = {"fused", "paper", "separate", "packed", "batched"};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (int scheme = KF_ADVECT_NONE; scheme < KF_ADVECTIONS; scheme++)
            for (size_t n = 0; n < cases_taken(1, 2); n++) {
                char config[128];
                const bool deep = (i + (size_t)scheme + n) % 2 == 1;
                kf_fluid *f = deep ? box(12, 10, 9) : box(24, 20, 1);
                f->advection = (kf_fluid_advection)scheme;
                f->midpoint = true;
                f->exponential = true;
                (void)snprintf(config, sizeof config, F64 "plan=%s", plans[i]);
                holds(f, config, 4);
            }
}
static void plans_with_reflection(void **state) {
    (void)state;
    static const char *const plans[] = {"fused", "separate", "packed", "batched"};
    for (int i = 0; i < 4; i++) {
        char config[128];
        kf_fluid *f = box(24, 20, 1);
        f->reflection = true;
        f->advection = i == 0 ? KF_ADVECT_MACCORMACK : KF_ADVECT_LINEAR;
        (void)snprintf(config, sizeof config, F64 "plan=%s", plans[i]);
        holds(f, config, 5);
    }
}

/* The scene has buoyant dyes, sources, pushes and confinement. */
static kf_fluid *busy(int nx, int ny, int nz) {
    kf_fluid *f = box(nx, ny, nz);
    f->dye_count = 2;
    f->dyes[0] = (kf_fluid_dye){.dissipation = 0.01, .lift = 0.02};
    f->dyes[1] = (kf_fluid_dye){.dissipation = 0, .lift = -0.01};
    f->confinement = 0.05;
    f->source_count = 1;
    f->sources = kf_allocate_zeroed(1, sizeof *f->sources);
    f->sources[0] = (kf_fluid_source){.first = 1,
                                      .last = 3,
                                      .center = {5.3, 4.1, nz > 1 ? 3.2 : 0},
                                      .radius = 2.7,
                                      .velocity = {0.1, 0.5, 0},
                                      .pull = 0.5,
                                      .acceleration = {0, 0, 0.1},
                                      .dye = {1, 0.5, 0}};
    f->impulse_count = 2;
    f->impulses = kf_allocate_zeroed(2, sizeof *f->impulses);
    f->impulses[0] = (kf_fluid_impulse){.step = 0, .cell = {1, 2, 0}, .reach = 3, .vector = {3, 1, 0}};
    f->impulses[1] = (kf_fluid_impulse){.step = 2, .cell = {nx - 1, 0, 0}, .reach = 2, .vector = {-1, 2, 0}};
    return f;
}
/* A limiter jumps where rounding moves a place across a cell's centre: with reflection, in three dimensions,
 * right configs were refused. In two dimensions, without a limiter or without reflection the bound stays. */
static void limiters_jump(void **state) {
    (void)state;
    static const struct {
        int dimensions;
        kf_fluid_advection advection;
        bool reflection;
        double bound;
    } cases[] = {{3, KF_ADVECT_MACCORMACK, true, 4e-4},
                 {3, KF_ADVECT_CUBIC, true, 4e-4},
                 {3, KF_ADVECT_LINEAR, true, 2e-5},
                 {3, KF_ADVECT_CUBIC, false, 2e-5},
                 {2, KF_ADVECT_CUBIC, true, 2e-5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_fluid *f = box(10, 12, cases[c].dimensions == 2 ? 1 : 10);
        f->advection = cases[c].advection;
        f->reflection = cases[c].reflection;
        kf_problem problem = {.own = f, .system = &kf_system_stable_fluids};
        kf_config config;
        kf_plan *plan = NULL;
        kf_reference *reference = NULL;
        kf_verification v;
        kf_fluid_finish(f);
        test_config(&config, "");
        assert_int_equal(kf_fluid_make_plan(&problem, &config, backend, &plan, NULL), KF_OK);
        assert_int_equal(kf_plan_initialise(plan, NULL), KF_OK);
        assert_int_equal(kf_plan_advance(plan, 1, NULL), KF_OK);
        assert_int_equal(kf_fluid_reference(&problem, 1, &reference, NULL), KF_OK);
        assert_int_equal(kf_fluid_verify(plan, reference, &v, NULL), KF_OK);
        assert_true(fabs(v.bound / cases[c].bound - 1) < 1e-9);
        kf_fluid_free_reference(reference);
        kf_plan_free(plan);
        kf_fluid_free(f);
    }
}
static void what_acts(void **state) {
    (void)state;
    holds(busy(24, 20, 1), F64, 5);
    holds(busy(24, 20, 1), F64 "plan=separate", 5);
    holds(busy(24, 20, 1), F64 "plan=paper", 5);
    holds(busy(12, 10, 9), F64, 4);
    kf_fluid *f = busy(24, 20, 1);
    f->advection = KF_ADVECT_MACCORMACK;
    f->reflection = true;
    holds(f, F64, 5);
    f = box(16, 16, 1);
    f->body_amplitude = 0.01;
    holds(f, F64, 5);
}
static void plans_with_solids(void **state) {
    (void)state;
    for (int moving = 0; moving < 2; moving++)
        for (int deep = 0; deep < 2; deep++) {
            kf_fluid *f = deep ? box(16, 12, 10) : box(24, 20, 1);
            f->solid = moving ? KF_SOLID_MOVING : KF_SOLID_STILL;
            f->mask = kf_allocate_zeroed(kf_fluid_cell_count(f), sizeof *f->mask);
            for (int y = 4; y < 9; y++)
                for (int x = 5; x < 9; x++)
                    f->mask[(size_t)((deep ? 4 * f->cells[1] : 0) + y) * (size_t)f->cells[0] + (size_t)x] =
                        0.8F;
            f->drag = 30;
            f->rebound = deep ? 0 : 0.5;
            f->motion = (kf_fluid_motion){
                .center = {7, 6, deep ? 4 : 0}, .velocity = {0.3, -0.2, 0}, .axis = {0, 0, 1}, .spin = 0.05};
            holds(f, F64, 5);
        }
}
static void plans_with_particles(void **state) {
    (void)state;
    for (int midpoint = 0; midpoint < 2; midpoint++)
        for (int deep = 0; deep < 2; deep++) {
            kf_fluid *f = deep ? box(12, 10, 9) : box(24, 20, 1);
            f->particle_count = 200;
            f->particle_midpoint = midpoint;
            holds(f, F64, 5);
        }
    kf_fluid *f = box(80, 6, 1);
    f->particle_count = 999;
    f->simulations = 2;
    holds(f, "", 7);
}
static void half_precision(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 0x7c00; bits++)
        assert_int_equal(kf_half_of(kf_half_value((uint16_t)bits)), bits);
    assert_int_equal(kf_half_of(1.0), 0x3c00);
    assert_int_equal(kf_half_of(-2.5), 0xc100);
    assert_int_equal(kf_half_of(1.0 + 0x1p-11), 0x3c00); /* between two values: the even one */
    assert_int_equal(kf_half_of(1.0 + 0x1.8p-10), 0x3c02);
    assert_int_equal(kf_half_of(1e6), 0x7c00);
    kf_fluid *f = box(32, 32, 1);
    f->accuracy = 0.01;
    holds(f, "storage_velocity=f16 storage_spectrum=f16", 5);
    f = box(16, 16, 12);
    f->accuracy = 0.01;
    holds(f, "storage_spectrum=f16", 5);
}

/* A plan that continues from a checkpoint of another plan ends with the same bits. */
static void a_checkpoint_of_another_plan_continues(void **state) {
    (void)state;
    kf_error error;
    kf_fluid *f = busy(24, 20, 1);
    f->particle_count = 50;
    kf_fluid_finish(f);
    kf_problem problem = {.own = f, .system = &kf_system_stable_fluids};
    kf_config config;
    test_config(&config, "");
    size_t bytes = 0;
    char *states[2] = {NULL, NULL}, *middle = NULL;
    for (int run = 0; run < 2; run++) {
        kf_plan *plan = NULL;
        assert_int_equal(kf_fluid_make_plan(&problem, &config, backend, &plan, &error), KF_OK);
        assert_int_equal(plan->methods->state_size(plan, &bytes, &error), KF_OK);
        states[run] = kf_allocate(bytes);
        if (run == 0) {
            middle = kf_allocate(bytes);
            assert_int_equal(kf_plan_initialise(plan, &error), KF_OK);
            assert_int_equal(kf_plan_advance(plan, 3, &error), KF_OK);
            assert_int_equal(plan->methods->save(plan, middle, &error), KF_OK);
        } else {
            assert_int_equal(plan->methods->restore(plan, middle, 3, &error), KF_OK);
        }
        assert_int_equal(kf_plan_advance(plan, 4, &error), KF_OK);
        assert_int_equal(plan->methods->save(plan, states[run], &error), KF_OK);
        kf_plan_free(plan);
    }
    assert_memory_equal(states[0], states[1], bytes);
    free(states[0]);
    free(states[1]);
    free(middle);
    kf_fluid_free(f);
}

static void sizes_that_have_a_transform(void **state) {
    int below, above;
    (void)state;
    assert_true(kf_fluid_size_fits(1920));
    assert_false(kf_fluid_size_fits(77));
    assert_false(kf_fluid_size_fits(4));
    kf_fluid_nearest_sizes(77, &below, &above);
    assert_int_equal(below, 75);
    assert_int_equal(above, 80);
    kf_line_engine engine;
    kf_error error;
    for (int n = 8; n < 5000; n++) {
        if (!kf_fluid_size_fits(n)) continue;
        int product = 1;
        assert_int_equal(kf_line_design(n, 16, 1, 1024, &engine, &error), KF_OK);
        for (int i = 0; i < 5; i++)
            product *= engine.radices[i];
        assert_int_equal(product, n);
        assert_true(engine.most >= 1 && engine.most <= 32 && engine.threads <= 1024);
    }
}

/* The default is valid on any device and for any size, as a user's first command needs it. */
static void defaults_at_every_size(void **state) {
    static const int boxes[][3] = {{8, 8, 1},       {64, 48, 1},     {256, 256, 1},   {512, 512, 1},
                                   {1024, 1024, 1}, {1920, 1080, 1}, {2048, 2048, 1}, {4096, 4096, 1},
                                   {8192, 8192, 1}, {8192, 8, 1},    {16, 8192, 1},   {6561, 3125, 1},
                                   {32, 32, 32},    {64, 64, 128},   {256, 256, 256}, {512, 512, 512},
                                   {96, 1024, 60},  {1024, 64, 1024}};
    (void)state;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        for (int gpu = 0; gpu < 2; gpu++)
            for (int simulations = 1; simulations < 3; simulations++) {
                kf_device_info device = {
                    .multiprocessors = gpu ? 132 : 16, .warp_size = 32, .memory_bytes = 1ULL << 36};
                kf_copy_text(device.backend, sizeof device.backend, gpu ? "cuda" : "cpu");
                kf_fluid *f = box(boxes[i][0], boxes[i][1], boxes[i][2]);
                f->simulations = simulations;
                kf_fluid_finish(f);
                kf_problem *problem = kf_fluid_problem(f, true);
                kf_space *space = NULL;
                kf_error error = {KF_OK, ""};
                const kf_status status = kf_problem_space(problem, &device, NULL, 0, &space, &error);
                if (status != KF_OK)
                    print_error("%d x %d x %d, gpu %d: %s\n", f->cells[0], f->cells[1], f->cells[2], gpu,
                                error.message);
                assert_int_equal(status, KF_OK);
                kf_config config;
                kf_fluid_options options;
                kf_fluid_design design;
                assert_int_equal(kf_space_preset(space, "default", &config, &error), KF_OK);
                assert_int_equal(kf_fluid_read_options(f, &config, gpu, &options, &error), KF_OK);
                assert_int_equal(kf_fluid_design_of(f, &options, &design, &error), KF_OK);
                kf_space_free(space);
                kf_problem_free(problem);
            }
}

/* There are as few factors as possible, and of these the smallest. Two ways make 1024 of three factors. */
static void radices_of_a_line(void **state) {
    (void)state;
    static const struct {
        int n, points, radices[5];
    } lines[] = {{1024, 16, {16, 8, 8, 1, 1}},
                 {512, 16, {8, 8, 8, 1, 1}},
                 {60, 20, {10, 6, 1, 1, 1}},
                 {16, 16, {16, 1, 1, 1, 1}}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        kf_line_engine engine;
        kf_error error;
        assert_int_equal(kf_line_design(lines[i].n, lines[i].points, 1, 0, &engine, &error), KF_OK);
        for (int s = 0; s < 5; s++)
            assert_int_equal(engine.radices[s], lines[i].radices[s]);
        assert_int_equal(engine.threads, (lines[i].n + lines[i].points - 1) / lines[i].points);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_that_have_a_transform),
                                       cmocka_unit_test(radices_of_a_line),
                                       cmocka_unit_test(defaults_at_every_size),
                                       cmocka_unit_test(fused_in_two_dimensions),
                                       cmocka_unit_test(fused_in_three_dimensions),
                                       cmocka_unit_test(long_lines),
                                       cmocka_unit_test(plans_of_a_gpu),
                                       cmocka_unit_test(separate_plans),
                                       cmocka_unit_test(library_transforms),
                                       cmocka_unit_test(advection_schemes),
                                       cmocka_unit_test(plans_with_reflection),
                                       cmocka_unit_test(limiters_jump),
                                       cmocka_unit_test(what_acts),
                                       cmocka_unit_test(plans_with_solids),
                                       cmocka_unit_test(plans_with_particles),
                                       cmocka_unit_test(half_precision),
                                       cmocka_unit_test(a_checkpoint_of_another_plan_continues)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
