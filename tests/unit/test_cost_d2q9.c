/* Tests the cost model of d2q9 against times of an H200 (results/measured) and against the launches that
 * plans make. Faults: a launch that the model forgets, a share that is far off, a wrong order of configs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "solver/d2q9/d2q9.h"
#include "solver/d2q9/d2q9_cost.h"
#include "solver/flow/flow_problem.h"
#include "solver/systems.h"
#include "tests/unit/model_launches.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/works_by_hand.h"

/* A scene that the suite changes, with an accuracy that allows 16 bits. */
typedef struct fixture {
    kf_problem *library, *problem;
    kf_scene scene;
    kf_cost_model *model;
} fixture;

static void opened(fixture *f, const char *scene, int nodes, kf_collision collision) {
    const kf_problem_options options = {.nodes = {nodes, nodes, 1}};
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(scene, "d2q9", &options, &f->library, &error) != KF_OK) fail_msg("%s", error.message);
    f->scene = *kf_problem_scene(f->library);
    f->scene.accuracy = 0.01;
    f->scene.collision = collision;
    f->problem = kf_flow_problem(f->library->system, &f->scene, false);
    kf_cost_model_open(f->problem, &gpu, NULL, &f->model);
    assert_non_null(f->model);
}
static void closed(fixture *f) {
    kf_cost_model_close(f->model);
    kf_problem_free(f->problem);
    kf_problem_free(f->library);
}
static double predicted(const fixture *f, const kf_config *config) {
    kf_prediction prediction;
    kf_error error = {KF_OK, ""};
    if (kf_cost_model_predict(f->model, config, NULL, &prediction, &error) != KF_OK)
        fail_msg("%s", error.message);
    return prediction.time_us;
}

/* --- An H200 -------------------------------------------------------------------------------------------- */

enum { MOST = 64 };
typedef struct pairs {
    double measured[MOST], predicted[MOST];
    size_t count;
} pairs;

static cJSON *measured_figures(void) {
    const char *data = NULL;
    char path[KF_PATH];
    cJSON *root = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_data_folder(&data, &error) != KF_OK ||
        kf_path(path, &error, "%s/results/measured/h200-d2q9.json", data) != KF_OK ||
        kf_json_read_file(path, &root, &error) != KF_OK)
        fail_msg("%s", error.message);
    return root;
}

/* Compares the figures of one scene whose names begin and end so. */
static void compare(const cJSON *root, const fixture *f, const char *begin, const char *part, pairs *found) {
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(root, "figures")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "name"));
        const cJSON *given = cJSON_GetObjectItemCaseSensitive(figure, "config"),
                    *step = cJSON_GetObjectItemCaseSensitive(figure, "step_us");
        if (given == NULL || strncmp(name, begin, strlen(begin)) != 0 || strstr(name, part) == NULL) continue;
        kf_config config;
        assert_int_equal(kf_config_from_json("h200-d2q9.json", given, &config, NULL), KF_OK);
        assert_true(found->count < MOST);
        found->measured[found->count] =
            cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(step, "median"));
        found->predicted[found->count++] = predicted(f, &config);
    }
}

/* Adds times as multiples of the fastest one. */
static void add_shares(const pairs *some, pairs *all) {
    double measured = INFINITY, predicted_best = INFINITY;
    for (size_t i = 0; i < some->count; i++) {
        measured = fmin(measured, some->measured[i]);
        predicted_best = fmin(predicted_best, some->predicted[i]);
    }
    for (size_t i = 0; i < some->count; i++) {
        all->measured[all->count] = some->measured[i] / measured;
        all->predicted[all->count++] = some->predicted[i] / predicted_best;
    }
}

/* Ranks each scene's configs, and all of them by their distance from the best of their scene. */
static void ranks_of_an_h200(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes;
        kf_collision collision;
        const char *begin, *part;
        size_t configs;
        double least;
    } groups[] = {{"cavity2d", 8192, KF_MRT, "2 MRT ", "", 16, 0.96},
                  {"cavity2d", 8192, KF_BGK, "2 LBGK ", "", 3, 1 - 1e-9},
                  {"cavity2d", 8192, KF_BGK_LINEAR, "2 LBGKL ", "", 3, 1 - 1e-9},
                  {"cylinder_array2d", 512, KF_MRT_LINEAR, "5 ", " 512^2", 11, 0.95},
                  {"cylinder_array2d", 1024, KF_MRT_LINEAR, "5 ", " 1024^2", 11, 0.96},
                  {"cylinder_array2d", 2048, KF_MRT_LINEAR, "5 ", " 2048^2", 10, 0.95},
                  {"cylinder_array2d", 3072, KF_MRT_LINEAR, "5 ", " 3072^2", 10, 0.97}};
    cJSON *root = measured_figures();
    pairs all = {.count = 0};
    double worst_error = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        fixture f;
        pairs found = {.count = 0};
        opened(&f, groups[i].scene, groups[i].nodes, groups[i].collision);
        compare(root, &f, groups[i].begin, groups[i].part, &found);
        closed(&f);
        const double correlation = kf_rank_correlation(found.measured, found.predicted, found.count);
        if (!(correlation >= groups[i].least))
            fail_msg("%s, %d: rank correlation %.4f", groups[i].begin, groups[i].nodes, correlation);
        assert_int_equal(found.count, groups[i].configs);
        add_shares(&found, &all);
        for (size_t j = 0; j < found.count; j++)
            worst_error = fmax(worst_error, fabs(found.predicted[j] / found.measured[j] - 1));
    }
    const double whole = kf_rank_correlation(all.measured, all.predicted, all.count);
    if (!(whole >= 0.95)) fail_msg("all: rank correlation %.4f", whole);
    if (!(worst_error <= 0.485)) fail_msg("a step is off by %.2f", worst_error);
    cJSON_Delete(root);
}

/* --- Plans ---------------------------------------------------------------------------------------------- */

static void compare_launches(const char *name, const char *plan_name, const char *way) {
    const kf_scene_options options = {.nodes = {48, 48, 1}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    kf_space *space;
    kf_config config;
    kf_works works = {.count = 0};
    const bool paper = strcmp(plan_name, "toelke") == 0, temporal = strcmp(plan_name, "temporal") == 0;
    must(kf_scene_open(name, &options, &scene, &error), &error);
    const kf_problem *problem = problem_of(&kf_system_d2q9, scene);
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, paper ? "paper" : "default", &config, &error), &error);
    kf_config_set_name(&config, "plan", plan_name);
    kf_config_set_name(&config, "bounce_back", way);
    kf_config_set_integer(&config, "steps_per_launch", temporal ? 3 : 1);
    kf_config_set_integer(&config, "tile_rows", temporal ? 32 : 0);
    kf_config_set_integer(&config, "threads", 64);
    kf_plan *plan = open_plan_of(&kf_system_d2q9, scene, &config);
    void *model = kf_cost_d2q9.open(problem, &gpu);
    must(kf_cost_d2q9.works(model, &config, &works, &error), &error);
    compare_works(plan, &works, plan_name);
    kf_works_free(&works);
    kf_cost_d2q9.close(model);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

static void launches_of_plans(void **state) {
    (void)state;
    compare_launches("cylinder_array2d", "toelke", "full_way");
    compare_launches("cylinder_array2d", "separate", "half_way");
    compare_launches("cylinder_array2d", "pull", "half_way");
    compare_launches("cylinder_array2d", "push", "half_way");
    compare_launches("cylinder_array2d", "inplace", "full_way");
    compare_launches("cavity2d", "temporal", "half_way");
}

/* No config is predicted below the least traffic at the speed of the cache, nor absurdly slow. */
static void every_config(void **state) {
    (void)state;
    static const char *const scenes[] = {"cavity2d", "cylinder_array2d"};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        fixture f;
        kf_space *space;
        kf_error error = {KF_OK, ""};
        opened(&f, scenes[i], 512, KF_MRT);
        must(kf_problem_space(f.problem, &gpu, NULL, 0, &space, &error), &error);
        uint64_t random = 7;
        for (int sample = 0; sample < 1000; sample++) {
            kf_config config;
            kf_space_config(space, kf_random_below(&random, kf_space_size(space)), &config);
            const double us = predicted(&f, &config), nodes = 512.0 * 512.0;
            assert_true(us > 1e6 * nodes * 18 * 2 / 7 / 8.2e12 && us < 2e3);
        }
        kf_space_free(space);
        closed(&f);
    }
}

/* --- By hand -------------------------------------------------------------------------------------------- */

enum { NX = 512, NY = 2000 };
static const double N = (double)NX * NY;

static kf_device_info plain = {
    .backend = "cuda", .spec = "cuda:0", .name = "test", .multiprocessors = 100, .warp_size = 32};

static kf_scene *open_by_hand(const char *name, int nx, int ny) {
    const kf_scene_options options = {.nodes = {nx, ny, 1}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    must(kf_scene_open(name, &options, &scene, &error), &error);
    scene->accuracy = 0.01;
    return scene;
}

static kf_config config_of(const char *plan) {
    kf_config config = {.system = "d2q9"};
    kf_config_set_name(&config, "plan", plan);
    kf_config_set_name(&config, "layout", "soa");
    kf_config_set_integer(&config, "alpha", 1);
    kf_config_set_name(&config, "storage", "f32");
    kf_config_set_name(&config, "bounce_back", "half_way");
    kf_config_set_integer(&config, "threads", 128);
    kf_config_set_integer(&config, "nodes_per_thread", 1);
    kf_config_set_integer(&config, "steps_per_launch", 1);
    kf_config_set_integer(&config, "tile_rows", 0);
    kf_config_set_integer(&config, "resident_blocks", 0);
    kf_config_set_boolean(&config, "folded_boundary", false);
    kf_config_set_boolean(&config, "overlap", false);
    kf_config_set_boolean(&config, "alternate", false);
    kf_config_set_boolean(&config, "graph", true);
    return config;
}

static void check(const kf_scene *scene, const kf_config *config, const expected *wanted, size_t count) {
    kf_works works = works_of_model(&kf_cost_d2q9, problem_of(&kf_system_d2q9, scene), &plain, config);
    compare_all(&works, wanted, count);
    kf_works_free(&works);
}
#define CHECK(scene, config, wanted) check(scene, config, wanted, sizeof(wanted) / sizeof *(wanted))

/* Rows of four blocks on 100 multiprocessors, each of which holds 16 blocks of 128 threads with 32
 * registers. A shifted read of a row costs half a sector for each of six values, a shifted write two
 * partial accesses. */
static const double BLOCKS = 4.0 * NY / 100, SHIFTED = 0.5 * 4 * NY * 6 * 32, PUSHED = 2.0 * 4 * NY * 6;
#define PASS .latency = 3, .efficiency = 0.935, .blocks = BLOCKS, .resident = 16, .waits = 0.3

static void passes_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cavity2d", NX, NY);
    const expected boundary = {"boundary", .scattered = 12.0 * NY, .dram = 12.0 * NX * 4, .latency = 0.8};
    kf_config config = config_of("pull");
    expected pull[] = {
        boundary,
        {"stream_collide", .dram = N * 72 + SHIFTED, .instructions = N * 132, PASS},
    };
    CHECK(scene, &config, pull);
    config = config_of("push");
    expected push[] = {
        boundary,
        {"collide_push", .dram = N * 72, .partial = PUSHED, .instructions = N * 132, PASS},
    };
    push[1].efficiency *= 0.93;
    CHECK(scene, &config, push);
    config = config_of("separate");
    const expected separate[] = {
        boundary,
        {"stream", .dram = N * 72 + SHIFTED, .instructions = N * 36, PASS},
        {"collide", .dram = N * 72, .instructions = N * 132, PASS},
    };
    CHECK(scene, &config, separate);
    config = config_of("inplace");
    expected here[] = {
        boundary,
        {"collide_here", .launches = 0.5, .dram = N * 72, .instructions = N * 132, PASS},
        {"collide_neighbours", .launches = 0.5, .dram = N * 72 + SHIFTED, .partial = PUSHED,
         .instructions = N * 132, PASS},
    };
    here[2].efficiency *= 0.85;
    CHECK(scene, &config, here);
    config = config_of("toelke");
    const expected toelke[] = {
        boundary,
        {"lb_coll_prop", .dram = N * 72, .instructions = N * 132, PASS},
        {"lb_exchange", .scattered = 6.0 * 8 * (NY + 2), .latency = 1.55 * 8},
    };
    CHECK(scene, &config, toelke);
    /* One kernel a step: a byte a node tells what is there. */
    config = config_of("pull");
    kf_config_set_boolean(&config, "folded_boundary", true);
    expected folded[] = {{"stream_collide", .dram = N * 73 + SHIFTED, .instructions = N * 162, PASS}};
    CHECK(scene, &config, folded);
    kf_config_set_boolean(&config, "overlap", true);
    folded[0].latency = 1.5;
    folded[0].follows = true;
    folded[0].instructions = 4.0 * NY * 25000; /* which blocks that begin take at least */
    CHECK(scene, &config, folded);
    /* A device of unknown size counts as an H200. Few blocks all run at once. A cpu has no blocks. */
    plain.multiprocessors = 0;
    folded[0].blocks = 4.0 * NY / 132;
    CHECK(scene, &config, folded);
    plain.multiprocessors = 500;
    folded[0].blocks = 0; /* 16 each */
    CHECK(scene, &config, folded);
    plain.multiprocessors = 100;
    memcpy(plain.backend, "cpu", 4);
    config = config_of("push");
    kf_config_set_boolean(&config, "graph", false);
    push[1].blocks = push[1].resident = push[1].waits = 0;
    CHECK(scene, &config, push);
    memcpy(plain.backend, "cuda", 5);
    kf_scene_free(scene);
}

static void layouts_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cavity2d", NX, NY);
    expected list[] = {
        {"boundary", .scattered = 12.0 * NY, .dram = 12.0 * NX * 4, .latency = 0.8},
        {"stream_collide", .dram = N * 72 + SHIFTED, .instructions = N * 132, PASS},
    };
    expected *pass = &list[1];
    kf_config config = config_of("pull");
    kf_config_set_name(&config, "layout", "csoa");
    kf_config_set_integer(&config, "alpha", 4); /* 16 bytes: a warp's access falls into 8 */
    pass->partial = 0.35 * N / 32 * 8 * 9;
    pass->efficiency = 1;
    CHECK(scene, &config, list);
    kf_config_set_integer(&config, "alpha", 8);
    pass->partial = 0;
    CHECK(scene, &config, list);
    kf_config_set_integer(&config, "alpha", 256); /* three of fifteen doublings */
    pass->efficiency = 1 - 0.065 / 5;
    CHECK(scene, &config, list);
    kf_config_set_integer(&config, "alpha", 1);
    kf_config_set_name(&config, "layout", "aos");
    pass->partial = 0.35 * N / 32 * 32 * 9;
    pass->efficiency = 1;
    CHECK(scene, &config, list);
    config = config_of("pull");
    kf_config_set_name(&config, "storage", "f16");
    list[0].dram = 12.0 * NX * 2;
    *pass = (expected){"stream_collide", .dram = N * 36 + SHIFTED, .instructions = N * 150, PASS};
    CHECK(scene, &config, list);
    /* Doubles take 58 registers, of which 64 are allocated. So 8 blocks fit, half of the nodes that a pass
     * asks for. */
    kf_config_set_name(&config, "storage", "f64");
    list[0].dram = 12.0 * NX * 8;
    *pass = (expected){"stream_collide", .dram = N * 144 + SHIFTED, .instructions = N * 264, PASS};
    pass->resident = 8;
    pass->efficiency *= 1 - 0.16 / 2;
    CHECK(scene, &config, list);
    /* Pairs take 48 registers, fours 72. */
    config = config_of("pull");
    list[0].dram = 12.0 * NX * 4;
    for (int each = 2; each <= 4; each += 2) {
        kf_config_set_integer(&config, "nodes_per_thread", each);
        *pass = (expected){"stream_collide", .dram = N * 72 + SHIFTED / each, .instructions = N * 132, PASS};
        pass->blocks = BLOCKS / each;
        pass->resident = each == 2 ? 10 : 7;
        CHECK(scene, &config, list);
    }
    /* One cache holds both grids, and one is as large as they are. */
    config = config_of("push");
    static const double times[] = {2, 1, 0.5}, shares[] = {0.52, 0.52 + 0.48 / 2.2, 1};
    for (int i = 0; i < 3; i++) {
        plain.l2_bytes = (uint64_t)(times[i] * 72 * N);
        list[1] = (expected){"collide_push", .dram = shares[i] * N * 72, .partial = PUSHED,
                             .instructions = N * 132, PASS};
        pass->latency = 3 * shares[i];
        pass->efficiency *= 0.93;
        CHECK(scene, &config, list);
    }
    plain.l2_bytes = 0;
    kf_scene_free(scene);
}

/* Walking rows to and fro takes a share from a cache that holds this much of the grids: nothing while they
 * fit, then more, up to half of the cache for one grid and 0.15 of it for two. A grid that is written
 * where it is read fills the cache like 1.6 grids. */
static void rows_in_turn_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cavity2d", NX, NY);
    static const struct {
        const char *plan;
        double grids, cache, kept, cached; /* in grids */
    } cases[] = {{"pull", 2, 4, 0, 0.52},
                 {"pull", 2, 2 / 1.275, 0.15 / 2, 0.52 + 0.48 * (1.275 - 0.5) / 1.1},
                 {"pull", 2, 1, 0.15, 1},
                 {"inplace", 1, 1 / 0.55, 0, 0.52 + 0.48 * (0.55 * 1.6 - 0.5) / 1.1},
                 {"inplace", 1, 1 / 0.75, 0.53 / 2, 0.52 + 0.48 * (0.75 * 1.6 - 0.5) / 1.1},
                 {"inplace", 1, 0.5, 0.53, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double cache = floor(cases[i].cache * 36 * N);
        plain.l2_bytes = (uint64_t)cache;
        kf_config config = config_of(cases[i].plan);
        kf_config_set_boolean(&config, "folded_boundary", true);
        kf_config_set_boolean(&config, "alternate", true);
        kf_works works = works_of_model(&kf_cost_d2q9, problem_of(&kf_system_d2q9, scene), &plain, &config);
        const kf_work *work = &works.list[works.count - 1];
        const double moved = cases[i].cached * (N * 73 + SHIFTED) - cases[i].kept * cache;
        assert_true(fabs(work->amount[KF_COST_DRAM] / moved - 1) < 1e-6);
        assert_true(fabs(work->amount[KF_COST_LATENCY] - 3 * cases[i].cached - 0.4) < 1e-6);
        kf_works_free(&works);
    }
    plain.l2_bytes = 0;
    kf_scene_free(scene);
}

/* Tiles of 120 x 64 nodes of blocks of 128 threads, three steps a launch: 5 x 32 of them, each 64 + 6 rows.
 */
static void steps_together_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cavity2d", NX, NY);
    kf_config config = config_of("temporal");
    kf_config_set_integer(&config, "steps_per_launch", 3);
    kf_config_set_integer(&config, "tile_rows", 64);
    const double threads = 5 * 32 * 128, read = threads * 68, updates = threads * (68 + 66.0 + 66);
    const double row = 0.5 + 3 * 0.06, bounce = 0.5 + 3 * 0.14; /* in every row at the walls beside */
    expected list[] = {{"temporal", .launches = 1.0 / 3, .dram = read * 37 + N * 36,
                        .instructions = updates * 132, .efficiency = 0.935, .blocks = 1.6, .resident = 8,
                        .waits = row, .turns = 70, .slowest = row + bounce}};
    CHECK(scene, &config, list);
    /* The compiler takes 96 registers where it is told of four blocks. */
    kf_config_set_integer(&config, "resident_blocks", 4);
    list[0].resident = 5;
    CHECK(scene, &config, list);
    kf_config_set_integer(&config, "resident_blocks", 0);
    list[0].resident = 8;
    kf_config_set_name(&config, "storage", "f16");
    list[0].dram = read * 19 + N * 18;
    list[0].instructions += 9 * (read + N);
    CHECK(scene, &config, list);
    /* A launch bound of eight blocks leaves 64 of 71 registers, so seven values more are loaded one after
     * the other. Five steps have tiles of 120 x 128, of which shared memory holds five. */
    config = config_of("temporal");
    kf_config_set_integer(&config, "steps_per_launch", 5);
    kf_config_set_integer(&config, "tile_rows", 128);
    kf_config_set_integer(&config, "resident_blocks", 8);
    kf_config_set_name(&config, "layout", "csoa");
    kf_config_set_integer(&config, "alpha", 2);
    const double wide = 5 * 16 * 128, all = wide * (5 * 136.0 - 16), seen = wide * 136;
    const double late = 8 * 0.5 + 5 * 0.06, late_bounce = 0.5 + 5 * 0.14;
    const expected five[] = {{"temporal", .launches = 0.2, .dram = seen * 37 + N * 36,
                              .partial = 0.35 * N / 32 * 16 * 9, .instructions = all * 132, .efficiency = 1,
                              .blocks = 0.8, .resident = 5, .waits = late, .turns = 140,
                              .slowest = late + late_bounce}};
    CHECK(scene, &config, five);
    kf_scene_free(scene);
}

/* Counts links between fluid and solid from the fluid's side, and nodes where fluid flows in or out. */
static void mask_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cylinder_array2d", 96, 80);
    assert_non_null(scene->mask);
    const int nx = scene->nodes[0], ny = scene->nodes[1];
    const double nodes = (double)nx * ny;
    scene->mask[nx + 1] = KF_NODE_INFLOW;
    scene->mask[2 * nx + 1] = KF_NODE_OUTFLOW;
    scene->mask[3 * nx + 1] = KF_NODE_OUTFLOW;
    for (int walls = 0; walls < 2; walls++) {
        double links = 0;
        for (int face = 0; face < 4; face++)
            scene->faces[face] = walls ? KF_WALL : KF_PERIODIC;
        scene->mask[0] = KF_NODE_SOLID; /* beside the corner: links across faces, where they are periodic */
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                for (int dy = -1; dy <= 1 && scene->mask[x + nx * y] == KF_NODE_FLUID; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        const bool outside = x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny;
                        const int there = (x + dx + nx) % nx + nx * ((y + dy + ny) % ny);
                        links += scene->mask[there] == KF_NODE_SOLID && !(outside && walls);
                    }
        assert_true(links > 100);
        kf_config config = config_of("push");
        expected list[] = {
            {"open_boundary", .scattered = 3 * 27, .latency = 1.6},
            {"boundary", .scattered = 12.0 * ny, .partial = 2 * links, .dram = 12.0 * nx * 4 + 8 * links,
             .latency = 0.8},
            {"collide_push", .dram = nodes * 72, .partial = 2.0 * ny * 6, .instructions = nodes * 132,
             .latency = 3, .efficiency = 0.935 * 0.93},
        };
        CHECK(scene, &config, list);
        kf_config_set_name(&config, "bounce_back", "full_way"); /* a flag a node instead */
        list[1].partial = 0;
        list[1].dram = 12.0 * nx * 4;
        list[2].dram = nodes * 73;
        CHECK(scene, &config, list);
    }
    kf_scene_free(scene);
}

/* One solid node gives eight nodes links in three of eighty rows, so two thirds of these rows of a tile of
 * 24 of 96 columns have one. Between walls the tiles beside have a bounce in every row. */
static void rows_with_links_by_hand(void **state) {
    (void)state;
    kf_scene *scene = open_by_hand("cylinder_array2d", 96, 80);
    memset(scene->mask, KF_NODE_FLUID, (size_t)scene->nodes[0] * (size_t)scene->nodes[1]);
    scene->mask[40 + scene->nodes[0] * 30] = KF_NODE_SOLID;
    kf_config config = config_of("temporal");
    kf_config_set_integer(&config, "threads", 32);
    kf_config_set_integer(&config, "steps_per_launch", 5);
    kf_config_set_integer(&config, "tile_rows", 16);
    const double row = 0.5 + 5 * 0.06, bounce = 0.5 + 5 * 0.14, share = 3.0 / 80 * 2 / 3;
    for (int walls = 0; walls < 2; walls++) {
        for (int face = 0; face < 4; face++)
            scene->faces[face] = walls ? KF_WALL : KF_PERIODIC;
        kf_works works = works_of_model(&kf_cost_d2q9, problem_of(&kf_system_d2q9, scene), &plain, &config);
        near("temporal", "wait_us", works.list[0].wait_us, row + share * bounce);
        near("temporal", "slowest_us", works.list[0].slowest_us, row + (walls ? 1 : share) * bounce);
        kf_works_free(&works);
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_an_h200),    cmocka_unit_test(launches_of_plans),
        cmocka_unit_test(every_config),        cmocka_unit_test(passes_by_hand),
        cmocka_unit_test(layouts_by_hand),     cmocka_unit_test(steps_together_by_hand),
        cmocka_unit_test(mask_by_hand),        cmocka_unit_test(rows_with_links_by_hand),
        cmocka_unit_test(rows_in_turn_by_hand)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
