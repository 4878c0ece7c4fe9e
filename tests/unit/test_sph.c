/* Tests the plans of sph against the double precision reference: every law, wall, axis and search, and
 * what a plan promises of its state. Faults: one combination is wrong. */
#include "tests/unit/plan_fixture.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "solver/sph/sph.h"
#include "solver/sph/sph_problem.h"
#include "solver/sph/sph_view.h"

#define SHAKEN "\"particles\": {\"dimensions\": 3, \"spacing\": 0.1, \"shake\": 0.1"
#define FLAT   "\"particles\": {\"dimensions\": 2, \"spacing\": 0.05, \"shake\": 0.1"
#define BLOCK  "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [0.8, 0.7, 0.9]}]"
#define COLUMN "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]"
#define MEETING                                                                                              \
    "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1], \"velocity\": [0.8, -0.5]}, "       \
    "{\"shape\": \"box\", \"low\": [1, 0.5], \"high\": [1.4, 1], \"velocity\": [-1, 0]}, "                   \
    "{\"shape\": \"box\", \"low\": [1.7, 0], \"high\": [2, 1], \"velocity\": [1, 0.3]}]"
#define BOX           "\"box\": {\"size\": [1.4, 0.7, 1.2]}, \"gravity\": [0, 0, -9.81]"
#define MATERIAL(law) "\"material\": {\"density\": 300, \"sound_speed\": 20, " law "}"

static const char *const scenes[] = {
    "{" FLAT
    "}, \"box\": {\"size\": [2, 1.5]}, \"gravity\": [0, -9.81], " MATERIAL("\"viscosity\": 2") ", " COLUMN
                                                                                               "}",
    "{" FLAT "}, \"box\": {\"size\": [1, 1], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", "
    "\"ymin\": \"periodic\", "
    "\"ymax\": \"periodic\"}}, \"model\": {\"shifting\": 2}, " MATERIAL("\"viscosity\": 1") ", " COLUMN "}",
    "{" FLAT "}, \"box\": {\"size\": [2, 1.5], \"faces\": {\"xmin\": \"dummies\", \"ymin\": "
    "\"dummies\"}}, \"gravity\": [0, -9.81], " MATERIAL(
        "\"viscosity\": 2") ", \"model\": {\"impact\": 3}, "
                            "\"obstacles\": [{\"shape\": \"ball\", \"center\": [1.3, 0.2], \"radius\": "
                            "0.2}], " MEETING "}",
    "{" FLAT "}, \"box\": {\"size\": [2, 1.5], \"faces\": {\"ymin\": \"no_slip\"}}, \"gravity\": [0, "
    "-9.81], " MATERIAL("\"law\": \"bingham\", \"viscosity\": 2, \"yield_stress\": 300, "
                        "\"branch\": \"papanastasiou\"") ", " COLUMN "}",
    "{" FLAT "}, \"box\": {\"size\": [2, 1.5], \"faces\": {\"ymin\": \"no_slip\"}}, \"gravity\": [3, -9.81], "
    "\"terrain\": {\"formula\": \"0.3 - 0.2 * x\", \"cell\": 0.1}, " MATERIAL(
        "\"law\": \"mu_i\", \"mu_s\": 0.4, \"mu_2\": 0.7, \"grain_diameter\": 0.01, \"bed_friction\": "
        "0.3") ", "
               "\"fluid\": [{\"shape\": \"polygon\", \"polygon\": [0.1, 1.4], \"depth\": 0.6}]}",
    "{" SHAKEN "}, " BOX
    ", " MATERIAL("\"viscosity\": 2") ", \"model\": {\"tension\": false, \"central_viscosity\": true}, " BLOCK
                                      "}",
    "{" SHAKEN "}, " BOX
    ", " MATERIAL("\"law\": \"herschel_bulkley\", \"consistency\": 20, \"exponent\": 0.6, "
                  "\"yield_stress\": 100") ", \"model\": {\"shifting\": 2}, " BLOCK "}",
    "{" SHAKEN "}, \"box\": {\"size\": [1, 1, 1.2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": "
    "\"periodic\", \"ymin\": \"dummies\", "
    "\"zmin\": \"no_slip\", \"zmax\": \"open\"}}, \"gravity\": [0, 0, -9.81], " MATERIAL("\"law\": "
                                                                                         "\"drucker_"
                                                                                         "prager\", "
                                                                                         "\"cohesion\": "
                                                                                         "50, "
                                                                                         "\"friction_"
                                                                                         "angle\": 25, "
                                                                                         "\"consistency\""
                                                                                         ": 5") ", "
                                                                                                "\"fluid"
                                                                                                "\": "
                                                                                                "[{"
                                                                                                "\"shape"
                                                                                                "\": "
                                                                                                "\"box\","
                                                                                                " \"low\""
                                                                                                ": [0, "
                                                                                                "0, 0], "
                                                                                                "\"high\""
                                                                                                ": [1, "
                                                                                                "0.6, "
                                                                                                "0.7]}]}",
    "{" SHAKEN "}, \"box\": {\"size\": [2, 1.2, 2]}, \"gravity\": [0, 0, -9.81], "
    "\"terrain\": {\"formula\": \"1 - 0.4 * x + 0.1 * y * y\", \"cell\": 0.2}, " MATERIAL(
        "\"law\": \"bingham\", \"viscosity\": 10, \"yield_stress\": 300, \"state\": \"tait\"") ", "
                                                                                               "\"fluid\""
                                                                                               ": "
                                                                                               "[{"
                                                                                               "\"shape\""
                                                                                               ": "
                                                                                               "\"polygon"
                                                                                               "\", "
                                                                                               "\"polygon"
                                                                                               "\": "
                                                                                               "[[0.1, "
                                                                                               "0.1], "
                                                                                               "[1.2, "
                                                                                               "0.1], "
                                                                                               "[1.2, "
                                                                                               "1.1], "
                                                                                               "[0.1, "
                                                                                               "1.1]], "
                                                                                               "\"depth\""
                                                                                               ": 0.6}]}",
    "{" SHAKEN "}, " BOX
    ", " MATERIAL("\"law\": \"power\", \"consistency\": 30, \"exponent\": 1.4") ", " BLOCK "}",
    "{" SHAKEN "}, " BOX
    ", " MATERIAL("\"viscosity\": 5") ", \"model\": {\"scheme\": \"thesis\", \"xsph\": 0.1, \"drag\": 5, "
                                      "\"drag_height\": 0.2, \"speed_limit\": 2.2}, " BLOCK "}",
    "{" SHAKEN "}, " BOX ", " MATERIAL(
        "\"law\": \"bingham\", \"viscosity\": 5, \"yield_stress\": 60") ", \"model\": {\"scheme\": "
                                                                        "\"thesis\", \"xsph\": 0.1, "
                                                                        "\"acceleration_limit\": 40, "
                                                                        "\"viscosity_at_rest\": "
                                                                        "50}, " BLOCK "}",
};
enum { SCENES = sizeof scenes / sizeof scenes[0], STEPS = 6 };

static kf_problem *problem_at(int s) {
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    char name[32];
    (void)snprintf(name, sizeof name, "scene%d.json", s);
    must(kf_particle_scene_parse(name, scenes[s], NULL, &scene, &error), &error);
    return kf_sph_problem(scene);
}

static kf_space *space_of(const kf_problem *problem) {
    kf_variables variables;
    kf_space *space;
    kf_error error = {KF_OK, ""};
    kf_system_sph.variables(problem, kf_backend_device(backend), &variables);
    must(kf_space_open("sph", kf_system_sph.space_file, &variables, NULL, 0, &space, &error), &error);
    return space;
}

static kf_plan *plan_of(const kf_problem *problem, const kf_config *config) {
    kf_plan *plan;
    kf_error error = {KF_OK, ""};
    must(kf_system_sph.plan(problem, config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static double verify(const kf_problem *problem, const kf_config *config, const kf_reference *reference) {
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    kf_plan *plan = plan_of(problem, config);
    bool graph = false;
    must(kf_config_boolean(config, "graph", &graph, &error), &error);
    if (!graph) assert_int_equal(plan->graph_steps, -1);
    advance(plan, STEPS);
    kf_status status = kf_system_sph.verify(plan, reference, &verification, &error);
    if (status == KF_OK) status = kf_plan_check_buffers(plan, &error);
    char *summary = kf_config_summary(config);
    if (status != KF_OK) fail_msg("%s, %s: %s", problem->source, summary, error.message);
    free(summary);
    kf_plan_free(plan);
    return verification.error;
}

static void set(kf_config *config, const char *search, long cells, bool prune, const char *layout,
                bool fused) {
    kf_config_set_name(config, "search", search);
    kf_config_set_integer(config, "cells", cells);
    kf_config_set_boolean(config, "prune", prune);
    kf_config_set_name(config, "layout", layout);
    kf_config_set_boolean(config, "fuse_count", fused);
}

/* Orders cells in the k-th way, where the scene has a choice. On a GPU lists and rows have lanes. */
static void order_cells(kf_config *config, const kf_problem *problem, int k, long lanes) {
    static const char *const orders[] = {"rows", "bricks", "morton"};
    const kf_particle_scene *scene = problem->own;
    const bool columns = scene->terrain.heights != NULL && scene->dimensions == 3;
    kf_config_set_name(config, "cell_order", orders[columns ? 0 : k % 3]);
    const bool gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    kf_config_set_integer(config, "lanes", gpu ? lanes : 1);
}

/* Each scene runs with the default, with the paper's preset, with staged neighbours and with one of the
 * other searches, and lists with each order of cells. */
static void every_scene_agrees_with_the_reference(void **state) {
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        kf_problem *problem = problem_at(s);
        kf_space *space = space_of(problem);
        kf_reference *reference;
        kf_config config;
        kf_error error = {KF_OK, ""};
        must(kf_system_sph.accepts(problem, &error), &error);
        must(kf_system_sph.reference(problem, STEPS, &reference, &error), &error);
        must(kf_space_preset(space, "default", &config, &error), &error);
        double largest = verify(problem, &config, reference);
        set(&config, "staged", 1 + s % 2, s % 2, s % 4 < 2 ? "soa" : "float4", true);
        order_cells(&config, problem, s, 1);
        largest = fmax(largest, verify(problem, &config, reference));
        const bool sums = kf_sph_has_stress(problem->own) || s > 8;
        if (sums && s % 2 == 0) {
            set(&config, "masks", 1 + s / 2 % 2, s / 2 % 2, "float4", true);
            order_cells(&config, problem, s / 2 + 1, 1);
        } else {
            set(&config, "list", 1 + s % 2, s % 2, "float4", false);
            kf_config_set_integer(&config, "list_period", 4);
            kf_config_set_integer(&config, "skin", 10);
            order_cells(&config, problem, s + 1, 2L << s % 3);
        }
        largest = fmax(largest, verify(problem, &config, reference));
        must(kf_space_preset(space, "paper", &config, &error), &error);
        largest = fmax(largest, verify(problem, &config, reference));
        print_message("scene %2d: %5zu particles, %.1e\n", s, ((kf_particle_scene *)problem->own)->count,
                      largest);
        kf_system_sph.free_reference(reference);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* The reference recognises a wrong plan: after one more step the state differs. */
static void a_step_more_is_refused(void **state) {
    (void)state;
    kf_problem *problem = problem_at(0);
    kf_space *space = space_of(problem);
    kf_reference *reference;
    kf_config config;
    kf_error error = {KF_OK, ""};
    kf_verification verification;
    must(kf_space_preset(space, "default", &config, &error), &error);
    must(kf_system_sph.reference(problem, STEPS, &reference, &error), &error);
    kf_plan *plan = plan_of(problem, &config);
    advance(plan, STEPS + 1);
    assert_int_equal(kf_system_sph.verify(plan, reference, &verification, &error), KF_GATE_FAILED);
    kf_plan_free(plan);
    kf_system_sph.free_reference(reference);
    kf_space_free(space);
    kf_problem_free(problem);
}

static void *saved(kf_plan *plan, size_t *bytes) {
    kf_error error = {KF_OK, ""};
    must(kf_sph_methods.state_size(plan, bytes, &error), &error);
    void *bits = malloc(*bytes);
    must(kf_sph_methods.save(plan, bits, &error), &error);
    return bits;
}

/* With ranked orders a restart gives the same bits, and so does another search, layout or order of atomics
 * on the way to the checkpoint. */
static void a_restart_is_bit_for_bit(void **state) {
    (void)state;
    static const int restarted[] = {2, 8};
    for (size_t k = 0; k < sizeof restarted / sizeof restarted[0]; k++) {
        kf_problem *problem = problem_at(restarted[k]);
        kf_space *space = space_of(problem);
        kf_config config;
        kf_error error = {KF_OK, ""};
        size_t bytes;
        must(kf_space_preset(space, "default", &config, &error), &error);
        kf_plan *plan = plan_of(problem, &config), *other = plan_of(problem, &config);
        advance(plan, 5);
        void *middle = saved(plan, &bytes);
        advance(plan, 6);
        void *end = saved(plan, &bytes);
        must(kf_sph_methods.restore(other, middle, 5, &error), &error);
        advance(other, 6);
        void *again = saved(other, &bytes);
        assert_memory_equal(end, again, bytes);
        free(middle);
        free(end);
        free(again);
        kf_plan_free(plan);
        kf_plan_free(other);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* A list that several steps share does not restrict outputs. At any step a snapshot shows the particles,
 * and a restart continues. */
static void a_list_is_kept_and_taken_up_again(void **state) {
    (void)state;
    kf_problem *problem = problem_at(8);
    const kf_particle_scene *scene = problem->own;
    kf_space *space = space_of(problem);
    kf_config plain, kept;
    kf_error error = {KF_OK, ""};
    must(kf_space_preset(space, "default", &plain, &error), &error);
    kept = plain;
    set(&kept, "list", 1, false, "float4", false);
    kf_config_set_integer(&kept, "list_period", 4);
    kf_config_set_integer(&kept, "skin", 10);
    kf_plan *straight = plan_of(problem, &plain), *lists = plan_of(problem, &kept),
            *again = plan_of(problem, &kept);
    for (int step = 1; step <= 13; step++) {
        size_t bytes;
        float *expected, *values, *restarted;
        advance(straight, 1);
        advance(lists, 1);
        void *middle = saved(lists, &bytes);
        must(kf_sph_methods.restore(again, middle, (uint64_t)step, &error), &error);
        free(middle);
        advance(again, 2);
        must(kf_sph_read(straight, &expected, &error), &error);
        must(kf_sph_read(lists, &values, &error), &error);
        for (size_t i = 0; i < scene->count * KF_SPH_STATE_VALUES; i++)
            if (i % KF_SPH_STATE_VALUES < 7) assert_true(fabsf(values[i] - expected[i]) < 2e-4f);
        free(values);
        kf_plan *ahead = plan_of(problem, &plain);
        advance(ahead, (uint64_t)step + 2);
        free(expected);
        must(kf_sph_read(ahead, &expected, &error), &error);
        must(kf_sph_read(again, &restarted, &error), &error);
        for (size_t i = 0; i < scene->count * KF_SPH_STATE_VALUES; i++)
            if (i % KF_SPH_STATE_VALUES < 7) assert_true(fabsf(restarted[i] - expected[i]) < 2e-4f);
        free(expected);
        free(restarted);
        kf_plan_free(ahead);
    }
    kf_plan_free(straight);
    kf_plan_free(lists);
    kf_plan_free(again);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* A particle that falls faster than the estimate takes smaller steps, and never leaves its list. */
static void a_list_stays_complete(void **state) {
    (void)state;
    static const char fast[] = "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05}, \"box\": {\"size\": "
                               "[4, 1.5]}, \"material\": "
                               "{\"density\": 300, \"sound_speed\": 20, \"viscosity\": 1}, \"fluid\": "
                               "[{\"shape\": \"box\", \"low\": [0.5, "
                               "0.2], \"high\": [1, 1], \"velocity\": [8, 0]}, {\"shape\": \"box\", \"low\": "
                               "[2.5, 0.2], \"high\": [3, 1], "
                               "\"velocity\": [-8, 0]}]}";
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_sph_clock clock;
    must(kf_particle_scene_parse("fast.json", fast, NULL, &scene, &error), &error);
    kf_problem *problem = kf_sph_problem(scene);
    kf_space *space = space_of(problem);
    must(kf_space_preset(space, "default", &config, &error), &error);
    set(&config, "list", 1, false, "float4", false);
    kf_config_set_integer(&config, "list_period", 8);
    kf_config_set_integer(&config, "skin", 5);
    kf_plan *plan = plan_of(problem, &config);
    advance(plan, 400);
    must(kf_sph_read_clock(plan, &clock, &error), &error);
    assert_int_equal(clock.flags, 0);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* The windows of a dam break show the column, the water on its way, and the water at the far wall,
 * whatever steps the plan takes in between. */
static void windows_show_the_dam_break(void **state) {
    (void)state;
    static const double reaches[3] = {1.0, 3.55,
                                      4.0}; /* earlier than in the experiment at 3.25: no gate, no friction */
    kf_problem *problem;
    kf_config config;
    kf_error error = {KF_OK, ""};
    const kf_problem_options options = {.nodes = {100, 75, 1}};
    must(kf_sph_problem_open("dam_break_2d", &options, &problem, &error), &error);
    kf_space *space = space_of(problem);
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = plan_of(problem, &config);
    assert_int_equal(plan->windows, 3);
    assert_true(plan->window_steps > 100);
    for (int visit = 0; visit < 4; visit++) {
        const int window = visit % 3;
        kf_records records = {0};
        kf_sph_clock clock;
        must(kf_sph_methods.seek(plan, window, 0.5, &error), &error);
        must(kf_plan_record(plan, &records, &error), &error);
        const double front = kf_record_value(kf_records_find(&records, "runout"), "front_x");
        assert_true(fabs(front - reaches[window]) < 0.15);
        assert_true(kf_record_value(kf_records_find(&records, "runout"), "particles_inside") == 1250.0);
        kf_records_free(&records);
        advance(plan, 25);
        must(kf_sph_read_clock(plan, &clock, &error), &error);
        assert_int_equal(clock.flags, 0);
    }
    must(kf_plan_check_buffers(plan, &error), &error);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* The map of depths over the terrain contains the whole volume. */
static void depths_hold_the_volume(void **state) {
    (void)state;
    kf_problem *problem = problem_at(8);
    const kf_particle_scene *scene = problem->own;
    kf_space *space = space_of(problem);
    kf_config config;
    kf_snapshot snapshot = {0};
    kf_error error = {KF_OK, ""};
    char path[] = "/tmp/kftune-depth-XXXXXX", word[64];
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = plan_of(problem, &config);
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    assert_true(close(mkstemp(path)) == 0);
    must(kf_sph_methods.map(plan, &snapshot, path, &error), &error);
    FILE *file = fopen(path, "r");
    double values[6], sum = 0.0, depth;
    for (int k = 0; k < 6; k++)
        assert_int_equal(fscanf(file, "%63s %lf", word, &values[k]), 2);
    long cells = 0;
    for (; fscanf(file, "%lf", &depth) == 1; cells++)
        sum += depth;
    (void)fclose(file);
    (void)remove(path);
    assert_int_equal(cells, (long)(values[0] * values[1]));
    const double expected = (double)scene->count * pow(scene->spacing, 3.0);
    assert_true(fabs(sum * values[4] * values[4] - expected) < 0.02 * expected);
    kf_snapshot_free(&snapshot);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* The terrain is drawn at its place, up to its far end. */
static void the_whole_terrain_is_seen(void **state) {
    (void)state;
    enum { WIDTH = 160, HEIGHT = 100, POINTS = 15 };
    kf_problem *problem = problem_at(8);
    const kf_particle_scene *scene = problem->own;
    kf_sph_view view;
    kf_sph_view_begin(scene, WIDTH, HEIGHT, &view);
    kf_sph_view_ground(&view);
    int shown = 0;
    for (int i = 0; i < POINTS * POINTS; i++) {
        const int across = i / POINTS;
        const double x = (scene->size[0] - scene->origin[0]) * (1.0 + i % POINTS) / (POINTS + 1),
                     y = (scene->size[1] - scene->origin[1]) * (1.0 + across) / (POINTS + 1);
        const double height =
            kf_terrain_height(&scene->terrain, x + scene->origin[0], y + scene->origin[1], NULL);
        const double place[3] = {x * scene->spacing, y * scene->spacing,
                                 (height - scene->origin[2]) * scene->spacing};
        double depth = 0, right = 0, above = 0;
        for (int a = 0; a < 3; a++) {
            const double way = place[a] - view.eye[a];
            depth += way * view.ahead[a], right += way * view.right[a], above += way * view.above[a];
        }
        const int column = (int)floor(WIDTH / 2.0 + view.focal * right / depth),
                  row = (int)floor(HEIGHT / 2.0 - view.focal * above / depth);
        assert_in_range(column, 0, WIDTH - 1);
        assert_in_range(row, 0, HEIGHT - 1);
        const double seen = (double)view.ground[row * WIDTH + column];
        shown += fabs(seen - depth) < 10 * depth / view.focal;
    }
    assert_int_equal(shown, POINTS * POINTS); /* none is hidden in this scene */
    kf_sph_view_free(&view);
    kf_problem_free(problem);
}

/* Returns the flags that a sum over neighbours leaves when masks have room for this many words. */
static int flags_with(kf_plan *plan, kf_sph_arguments a, int capacity) {
    kf_sph_clock clock;
    kf_error error = {KF_OK, ""};
    must(kf_sph_read_clock(plan, &clock, &error), &error);
    clock.flags = 0;
    must(kf_sph_upload(&((kf_sph *)plan->system)->seen->clock, &clock, sizeof clock, &error), &error);
    a.capacity = capacity;
    must(kf_sph_launch(plan, 0, KF_SPH_SCHEME, "density", &a, a.count, &error), &error);
    must(kf_sph_read_clock(plan, &clock, &error), &error);
    return clock.flags;
}

/* Returns the words of the fullest mask, which are the written ones. */
static int words_used(kf_plan *plan, const kf_sph_arguments *a) {
    const unsigned char nothing = 0xff;
    const int stride = strcmp(kf_backend_device(backend)->backend, "cuda") == 0 ? 32 : 1;
    kf_buffer *hits = NULL;
    kf_error error = {KF_OK, ""};
    for (size_t b = 0; b < plan->buffer_count; b++)
        if (kf_buffer_address(plan->buffers[b]) == (void *)a->hits) hits = plan->buffers[b];
    assert_non_null(hits);
    must(kf_buffer_fill(hits, nothing, &error), &error);
    assert_int_equal(flags_with(plan, *a, a->capacity), 0);
    const size_t bytes = kf_buffer_size(hits);
    unsigned *words = malloc(bytes);
    must(kf_buffer_download(hits, 0, words, bytes, &error), &error);
    int most = 0;
    for (int i = 0; i < a->count; i++)
        for (int w = most; w < a->capacity; w++)
            if (words[(i / stride * a->capacity + w) * stride + i % stride] != UINT_MAX) most = w + 1;
    free(words);
    return most;
}

/* A mask that is too short by a single word is reported. */
static void a_mask_too_short_is_told(void **state) {
    (void)state;
    kf_problem *problem = problem_at(10);
    kf_space *space = space_of(problem);
    kf_config config;
    kf_error error = {KF_OK, ""};
    must(kf_space_preset(space, "default", &config, &error), &error);
    set(&config, "masks", 2, true, "float4", true);
    kf_plan *plan = plan_of(problem, &config);
    advance(plan, 1);
    const kf_sph_arguments a = kf_sph_of_part(plan->system, 0, kf_sph_within(plan->system, 0));
    const int used = words_used(plan, &a);
    assert_in_range(used, 2, a.capacity);
    assert_int_equal(flags_with(plan, a, used), 0);
    assert_int_equal(flags_with(plan, a, used - 1), KF_SPH_OVERFLOW);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* Without walls only gravity changes the momentum, because the sums are antisymmetric. */
static void momentum_is_conserved(void **state) {
    (void)state;
    static const char *const laws[] = {"\"viscosity\": 1",
                                       "\"law\": \"bingham\", \"viscosity\": 2, \"yield_stress\": 300"};
    for (int k = 0; k < 2; k++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "{" SHAKEN
            "}, \"box\": {\"size\": [1, 1, 1], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", "
            "\"ymin\": \"periodic\", \"ymax\": \"periodic\", \"zmin\": \"periodic\", \"zmax\": "
            "\"periodic\"}}, " MATERIAL(
                "%s") ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1, 1, 1]}]}",
            laws[k]);
        kf_particle_scene *scene = NULL;
        kf_error error = {KF_OK, ""};
        kf_config config;
        float *values;
        must(kf_particle_scene_parse("momentum.json", text, NULL, &scene, &error), &error);
        kf_problem *problem = kf_sph_problem(scene);
        kf_space *space = space_of(problem);
        must(kf_space_preset(space, "default", &config, &error), &error);
        kf_plan *plan = plan_of(problem, &config);
        advance(plan, 3);
        must(kf_sph_read(plan, &values, &error), &error);
        double sum[3] = {0, 0, 0}, size = 0.0;
        for (size_t i = 0; i < scene->count; i++)
            for (size_t axis = 0; axis < 3; axis++) {
                const double rate = (double)values[i * KF_SPH_STATE_VALUES + 7 + axis];
                sum[axis] += rate;
                size += fabs(rate) / 3.0;
            }
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs(sum[axis]) < 1e-5 * size);
        free(values);
        kf_plan_free(plan);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_more_is_refused),
        cmocka_unit_test(a_restart_is_bit_for_bit),
        cmocka_unit_test(a_list_is_kept_and_taken_up_again),
        cmocka_unit_test(a_list_stays_complete),
        cmocka_unit_test(windows_show_the_dam_break),
        cmocka_unit_test(depths_hold_the_volume),
        cmocka_unit_test(the_whole_terrain_is_seen),
        cmocka_unit_test(a_mask_too_short_is_told),
        cmocka_unit_test(momentum_is_conserved),
        cmocka_unit_test_setup(every_scene_agrees_with_the_reference, go_on_with_all_cores),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
