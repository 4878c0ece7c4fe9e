/* Tests the cost model of stable_fluids against orders of configs that measurements repeat. Faults: a
 * wrong order, or a config without a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/random.h"
#include "harness/replay/replay.h"
#include "solver/stable_fluids/stable_fluids_cost.h"
#include "solver/stable_fluids/stable_fluids_problem.h"
#include "solver/systems.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/works_by_hand.h"

typedef struct fixture {
    kf_problem *problem;
    kf_space *space;
    kf_cost_model *model;
} fixture;

static fixture opened(const char *scene, int nx, int ny, int nz) {
    fixture f = {NULL, NULL, NULL};
    const kf_problem_options options = {.nodes = {nx, ny, nz}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "stable_fluids", &options, &f.problem, &error) != KF_OK ||
        kf_problem_space(f.problem, &gpu, NULL, 0, &f.space, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_cost_model_open(f.problem, &gpu, NULL, &f.model);
    assert_non_null(f.model);
    return f;
}
static void closed(fixture *f) {
    kf_cost_model_close(f->model);
    kf_space_free(f->space);
    kf_problem_free(f->problem);
}
static kf_prediction predicted(const fixture *f, const kf_config *config) {
    kf_prediction prediction;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_cost_model_predict(f->model, config, NULL, &prediction, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    return prediction;
}
static double preset(const fixture *f, const char *name) {
    kf_config config;
    assert_int_equal(kf_space_preset(f->space, name, &config, NULL), KF_OK);
    return predicted(f, &config).time_us;
}
/* Returns the time of the default with this number of points of rows a thread. */
static double with_points_rows(const fixture *f, long value) {
    kf_config config;
    assert_int_equal(kf_space_preset(f->space, "default", &config, NULL), KF_OK);
    kf_config_set_integer(&config, "points_rows", value);
    return predicted(f, &config).time_us;
}

static void plans_in_order(void **state) {
    (void)state;
    static const int sizes[] = {512, 1024, 2048, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fixture f = opened("decay", sizes[i], sizes[i], 1);
        const double best = preset(&f, "default"), separate = preset(&f, "baseline");
        assert_true(preset(&f, "paper") > separate && separate > 1.3 * best);
        closed(&f);
    }
}

/* 20 values a thread leave threads of 2048 without a full share; a store of doubles is twice as long. */
static void parameters_in_order(void **state) {
    (void)state;
    fixture f = opened("decay", 2048, 2048, 1);
    kf_config config;
    assert_true(with_points_rows(&f, 20) > with_points_rows(&f, 16));
    assert_int_equal(kf_space_preset(f.space, "default", &config, NULL), KF_OK);
    const double single = predicted(&f, &config).time_us;
    kf_config_set_name(&config, "storage_velocity", "f64");
    kf_config_set_name(&config, "storage_spectrum", "f64");
    assert_true(predicted(&f, &config).time_us > 1.5 * single);
    closed(&f);
}

/* No config is predicted below the least traffic at the speed of the cache, nor absurdly slow. */
static void every_config(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int n[3];
    } problems[] = {{"decay", {256, 256, 1}},
                    {"decay", {4096, 4096, 1}},
                    {"plume", {256, 256, 1}},
                    {"plume3d", {64, 64, 64}}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        fixture f = opened(problems[i].scene, problems[i].n[0], problems[i].n[1], problems[i].n[2]);
        const double cells = (double)problems[i].n[0] * problems[i].n[1] * problems[i].n[2];
        const uint64_t size = kf_space_size(f.space);
        uint64_t random = 7;
        for (int sample = 0; sample < 500; sample++) {
            kf_config config;
            kf_space_config(f.space, kf_random_below(&random, size), &config);
            const kf_prediction p = predicted(&f, &config);
            assert_true(p.time_us > 1e6 * cells * 24 / 8e12 && p.time_us < 1e3 + 0.01 * cells);
            assert_non_null(p.longest);
        }
        closed(&f);
    }
}

/* --- By hand -------------------------------------------------------------------------------------------- */

enum { NX = 512, NY = 256 };
static const double C = (double)NX * NY;

static kf_device_info ten = {
    .backend = "cuda", .spec = "cuda:0", .name = "test", .multiprocessors = 10, .warp_size = 32};

static kf_config config_of(const char *plan, const char *fft) {
    kf_config config = {.system = "stable_fluids"};
    static const struct {
        const char *name;
        long value;
    } numbers[] = {{"points_rows", 8},
                   {"points_columns", 16},
                   {"points_inverse", 16},
                   {"rows_per_block", 2},
                   {"columns_per_block", 4},
                   {"tile_columns", 0},
                   {"pad", 0},
                   {"exchange_buffers", 1},
                   {"resident_rows", 0},
                   {"resident_columns", 0},
                   {"block_x", 32},
                   {"block_y", 4},
                   {"steps_per_launch", 1},
                   {"ahead_rows", 0},
                   {"ahead_columns", 0}};
    static const char *const switches[] = {"component_per_thread", "overlap"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        kf_config_set_integer(&config, numbers[i].name, numbers[i].value);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        kf_config_set_boolean(&config, switches[i], false);
    kf_config_set_boolean(&config, "graph", true);
    kf_config_set_name(&config, "plan", plan);
    kf_config_set_name(&config, "fft", fft);
    kf_config_set_name(&config, "storage_velocity", "f32");
    kf_config_set_name(&config, "storage_spectrum", "f32");
    kf_config_set_name(&config, "twiddles", "products");
    return config;
}

static void check(kf_fluid *fluid, const kf_config *config, const expected *wanted, size_t count) {
    const kf_problem problem = {.own = fluid};
    kf_works works = works_of_model(&kf_cost_stable_fluids, &problem, &ten, config);
    compare_all(&works, wanted, count);
    kf_works_free(&works);
}
#define CHECK(fluid, config, wanted) check(fluid, config, wanted, sizeof(wanted) / sizeof *(wanted))

/* Rows of 512 in three stages of 8, 64 threads a row and two rows a block: 42.8 registers, of which 48 are
 * given: ten of 12.8 blocks at a time, in two rounds; one multiprocessor of ten has 13. Columns of 256 in two
 * stages of 16, and rows back with 16 values a thread: all blocks at once. What is computed counts 3/4, a
 * row's mirror image 25. */
static const double ROWS = 0.75 * 13 / 12.8 * C, COLUMNS = 0.75 * 7 / 6.4 * C;
/* A launch fetches its code: 1.9 KiB for each value of a thread that goes one way, 3.1 for one of two
 * components there and back. */
static const double FETCH = 0.067, ROW_CODE = FETCH * 1.9 * 8, BACK_CODE = FETCH * 1.9 * 16,
                    COLUMN_CODE = FETCH * 3.1 * 16;
/* A block waits 0.5 us for what it reads and 0.084 for each stage of a transform. */
static const double THREE_STAGES = 0.5 + 3 * 0.084, FOUR_STAGES = 0.5 + 4 * 0.084;
static void fused_by_hand(void **state) {
    (void)state;
    kf_fluid *fluid = kf_fluid_make(2, (const int[3]){NX, NY, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    const double row = 2.3 * 9 + 2 * (5 + 3) + 9, column = 2.3 * 8 + (5 + 3) + 9;
    kf_config config = config_of("fused", "own");
    expected list[] = {
        {"rows_forward", .dram = 16 * C, .instructions = ROWS * (row + 50 + 25),
         .latency = 0.3 + ROW_CODE + 2 * THREE_STAGES, .in_step = true},
        {"columns", .dram = 16 * C + 16 * C / 64 * 6, /* pieces of 64 bytes lose six */
         .instructions = COLUMNS * (2 * column + 18), .latency = 0.3 + COLUMN_CODE + FOUR_STAGES,
         .in_step = true},
        {"rows_inverse", .dram = 16 * C, .instructions = ROWS * (row + 25),
         .latency = 0.3 + BACK_CODE + THREE_STAGES, .in_step = true},
    };
    CHECK(fluid, &config, list);
    /* Forces and sources act where the fluid arrives: a midpoint, dyes, a solid. These read the force and
     * the mask. */
    fluid->midpoint = true;
    fluid->dye_count = 2;
    fluid->solid = KF_SOLID_STILL;
    fluid->body_amplitude = 0.1;
    list[0].instructions = ROWS * (row + 25 + 50 + 40 + 2 * 25 + 10);
    list[0].dram = C * (16 + 2 * 2 * 4 + 2 * 4 + 4);
    CHECK(fluid, &config, list);
    fluid->midpoint = false;
    fluid->dye_count = 0;
    fluid->solid = KF_SOLID_NONE;
    fluid->body_amplitude = 0;
    fluid->advection = KF_ADVECT_CUBIC;
    list[0].instructions = ROWS * (row + 25 + 160);
    list[0].dram = 16 * C;
    CHECK(fluid, &config, list);
    /* Two exchange buffers, turns all from a table; launches that begin while others end. */
    kf_config_set_integer(&config, "exchange_buffers", 2);
    kf_config_set_name(&config, "twiddles", "table");
    kf_config_set_boolean(&config, "overlap", true);
    const double table_row = 2.3 * 9 + 2 * (4.5 + 6) + 9, table_column = 2.3 * 8 + (4.5 + 6) + 9;
    list[0].instructions = ROWS * (table_row + 25 + 160);
    list[1].instructions = COLUMNS * (2 * table_column + 18);
    list[2].instructions = ROWS * (table_row + 25);
    /* Two buffers of 17664 bytes leave room for six of 6.4 blocks of columns, and twelve of rows. */
    const expected columns = list[1], inverse = list[2];
    list[1].latency = 0.3 + COLUMN_CODE + 2 * FOUR_STAGES;
    list[2].latency = 0.3 + BACK_CODE + 2 * THREE_STAGES;
    for (int i = 0; i < 3; i++)
        list[i].follows = true;
    CHECK(fluid, &config, list);
    /* Tiles of four columns lie in one piece; eight columns of a block are two of them. Rows write them so.
     */
    config = config_of("fused", "own");
    kf_config_set_integer(&config, "tile_columns", 2);
    list[0].instructions = ROWS * (row + 25 + 160);
    list[1] = columns;
    list[2] = inverse;
    list[0].dram = list[2].dram = 16 * C + 8 * C / 32 * 12; /* pieces of 32 bytes */
    list[1].dram = 16 * C;
    list[1].instructions = COLUMNS * (2 * column + 18);
    list[2].instructions = ROWS * (row + 25);
    for (int i = 0; i < 3; i++)
        list[i].follows = false;
    CHECK(fluid, &config, list);
    /* A block of tiles of eight has half of each line of the cache, 64 bytes; rows write whole ones. */
    kf_config_set_integer(&config, "tile_columns", 8);
    list[0].dram = list[2].dram = 16 * C;
    list[1].dram = 16 * C + 16 * C / 64 * 6;
    CHECK(fluid, &config, list);
    kf_fluid_free(fluid);
}

/* Two simulations side by side are twice the blocks, bytes and instructions. */
static void simulations_by_hand(void **state) {
    (void)state;
    kf_fluid *fluid = kf_fluid_make(2, (const int[3]){NX, NY, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    fluid->simulations = 2;
    const double row = 2.3 * 9 + 2 * (5 + 3) + 9, column = 2.3 * 8 + (5 + 3) + 9;
    const kf_config config = config_of("fused", "own");
    const expected list[] = {
        {"rows_forward", .dram = 32 * C, .instructions = 2 * 0.75 * C * (row + 50 + 25),
         .latency = 0.3 + ROW_CODE, .blocks = 25.6, .resident = 10, .waits = THREE_STAGES, .in_turn = true},
        {"columns", .dram = 2 * (16 * C + 16 * C / 64 * 6), .instructions = 2 * ROWS * (2 * column + 18),
         .latency = 0.3 + COLUMN_CODE + 2 * FOUR_STAGES, .in_step = true},
        {"rows_inverse", .dram = 32 * C, .instructions = 2 * 0.75 * 26 / 25.6 * C * (row + 25),
         .latency = 0.3 + BACK_CODE + 2 * THREE_STAGES, .in_step = true},
    };
    CHECK(fluid, &config, list);
    kf_fluid_free(fluid);
}

/* Rows of 1536 in stages of 16, 12 and 8 by 96 threads: 128 butterflies of 12, of which a third of the
 * threads has two, for which all wait. Four blocks of 76.4 registers, 80 given, share a multiprocessor. */
static void left_over_by_hand(void **state) {
    (void)state;
    const double cells = 1536.0 * NY, last = 2.3 * 3 + 8, middle = 2.3 * log2(12) + 8, first = 2.3 * 4 + 9;
    kf_fluid *fluid = kf_fluid_make(2, (const int[3]){1536, NY, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    kf_config config = config_of("fused", "own");
    kf_config_set_integer(&config, "points_rows", 16);
    const kf_problem problem = {.own = fluid};
    kf_works works = works_of_model(&kf_cost_stable_fluids, &problem, &ten, &config);
    compare_by_hand(&works.list[0],
                    &(expected){"rows_forward", .dram = 16 * cells,
                                .instructions = 0.75 * cells * (first + 1.5 * middle + last + 50 + 25),
                                .latency = 0.3 + FETCH * 1.9 * 24, .blocks = 12.8, .resident = 4,
                                .waits = THREE_STAGES, .in_turn = true});
    kf_works_free(&works);
    /* Room for eight leaves each 40 registers: 36.4 are stored and loaded in each of three stages, by
     * instructions that count 2.4, and each load waits 0.0235 us, 0.025 more where it goes far. They take
     * 223642 bytes, of which 256 KiB without eight times 27264 of shared memory are in the nearest cache; the
     * rest is 0.37 as far as memory.
     */
    kf_config_set_integer(&config, "resident_rows", 8);
    works = works_of_model(&kf_cost_stable_fluids, &problem, &ten, &config);
    const double spilled = 26 + 2.1 * 24 - 40, accesses = 2 * 3 * spilled, held = 8 * 192 * 4 * spilled,
                 room = 262144 - 8 * 27264.0, far = (held - room) / held, threads = 128 * 192;
    compare_by_hand(&works.list[0],
                    &(expected){"rows_forward", .dram = 16 * cells + threads * 0.37 * 4 * accesses * far,
                                .instructions = 13 / 12.8 *
                                                (0.75 * cells * (first + 1.5 * middle + last + 50 + 25) +
                                                 threads * 2.4 * accesses),
                                .latency = 0.3 + FETCH * (1.9 * 24 + 0.016 * accesses) +
                                           2 * (THREE_STAGES + (0.0235 + 0.025 * far) * accesses / 2),
                                .in_step = true});
    kf_works_free(&works);
    kf_fluid_free(fluid);
}

/* A mirror image across both axes: passes take a quarter of the box, and write four times as much. */
static void walls_by_hand(void **state) {
    (void)state;
    kf_fluid *fluid = kf_fluid_make(2, (const int[3]){2 * NX, 2 * NY, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    fluid->walls[0] = fluid->walls[1] = true;
    const double row = 2.3 * 9 + 2 * (5 + 3) + 9;
    const kf_config config = config_of("fused", "own");
    const kf_problem problem = {.own = fluid};
    kf_works works = works_of_model(&kf_cost_stable_fluids, &problem, &ten, &config);
    assert_int_equal(works.count, 3);
    compare_by_hand(&works.list[0],
                    &(expected){"rows_forward", .dram = 16 * C, .instructions = ROWS * (row + 50 + 25),
                                .latency = 0.3 + ROW_CODE + 2 * THREE_STAGES, .in_step = true});
    near("rows_inverse", "DRAM", works.list[2].amount[KF_COST_DRAM], 16 * C + 3 * 8 * C);
    kf_works_free(&works);
    kf_fluid_free(fluid);
}

/* A library's transforms have a kernel for each axis and component. Blocks of 128 threads reach 0.92. */
static void parts_by_hand(void **state) {
    (void)state;
    kf_fluid *fluid = kf_fluid_make(2, (const int[3]){NX, NY, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    kf_config config = config_of("paper", "library");
    const expected copy = {"copy_velocity", .dram = 16 * C, .instructions = 12 * C, .latency = 0.8,
                           .efficiency = 0.92},
                   advect = {"advect", .dram = 16 * C, .instructions = 70 * C, .latency = 0.8,
                             .efficiency = 0.85 * 0.92},
                   project = {"project", .dram = 16 * C, .instructions = 40 * C, .latency = 0.8,
                              .efficiency = 0.92},
                   update = {"update", .dram = 16 * C, .instructions = 12 * C, .latency = 0.8,
                             .efficiency = 0.92};
    expected there = {"transform_forward", .dram = 8 * C, .instructions = 30 * C, .latency = 0.8,
                      .efficiency = 0.58};
    expected back = there;
    back.name = "transform_inverse";
    const expected paper[] = {copy,    advect, there, there, there, there,
                              project, back,   back,  back,  back,  update};
    CHECK(fluid, &config, paper);
    kf_config_set_name(&config, "plan", "separate");
    check(fluid, &config, paper + 1, sizeof paper / sizeof *paper - 1);
    /* One call has both components, and its result needs no further pass. */
    kf_config_set_name(&config, "plan", "batched");
    there.dram = back.dram = 16 * C;
    there.instructions = back.instructions = 60 * C;
    const expected batched[] = {advect, there, there, project, back, back};
    CHECK(fluid, &config, batched);
    /* Two lines go together as the real and imaginary part of one. */
    kf_config_set_name(&config, "plan", "packed");
    there.efficiency = back.efficiency = 0.65;
    expected packed[] = {advect, there, there, project, back, back};
    packed[3].efficiency = 0.85 * 0.92;
    CHECK(fluid, &config, packed);
    /* Beside the step: confinement, sources, particles, MacCormack's prediction, the reflection. */
    kf_config_set_integer(&config, "block_y", 2); /* small blocks */
    fluid->confinement = 0.1;
    fluid->advection = KF_ADVECT_MACCORMACK;
    fluid->reflection = true;
    fluid->particle_count = 1000;
    expected all[17] = {
        {"confine", .dram = 16 * C, .instructions = 260 * C, .latency = 0.8, .efficiency = 0.8}};
    int count = 1;
    for (int half = 0; half < 2; half++) {
        all[count++] =
            (expected){"predict", .dram = 16 * C, .instructions = 80 * C, .latency = 0.8, .efficiency = 0.8};
        for (int i = 0; i < 6; i++)
            all[count++] = packed[i];
        all[count - 6].efficiency = 0.85 * 0.8;
        all[count - 6].dram = C * (16 + 8 + 8 + 8); /* the prediction, the force, the reflected velocity */
        all[count - 6].instructions = 120 * C;
        all[count - 3].efficiency = 0.85 * 0.8;
        if (half == 0)
            all[count++] = (expected){"reflect", .dram = 24 * C, .instructions = 20 * C, .latency = 0.8,
                                      .efficiency = 0.9};
    }
    all[count++] = (expected){"particles", .dram = 1000 * 2 * (8 + 4), .instructions = 45 * 1000,
                              .latency = 0.8, .efficiency = 0.9};
    assert_int_equal(count, 17);
    CHECK(fluid, &config, all);
    kf_fluid_free(fluid);
    /* Along an axis of other factors than two they are half as fast. */
    fluid = kf_fluid_make(2, (const int[3]){NX, 240, 1});
    fluid->advection = KF_ADVECT_LINEAR;
    config = config_of("separate", "library");
    const kf_problem problem = {.own = fluid};
    kf_works works = works_of_model(&kf_cost_stable_fluids, &problem, &ten, &config);
    near("transform_forward", "efficiency", works.list[1].efficiency, 0.58);
    near("transform_forward", "efficiency", works.list[2].efficiency, 0.29);
    kf_works_free(&works);
    kf_fluid_free(fluid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_in_order),      cmocka_unit_test(parameters_in_order),
        cmocka_unit_test(every_config),        cmocka_unit_test(fused_by_hand),
        cmocka_unit_test(simulations_by_hand), cmocka_unit_test(left_over_by_hand),
        cmocka_unit_test(walls_by_hand),       cmocka_unit_test(parts_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
