/* One grid that moves to and fro by some planes gives what two grids give, bit for bit, and their states are
 * exchangeable. So do planes taken upwards and downwards in turn, and averages added up as they are written.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/kinetic_states.h"

enum { STEPS = 37, MORE = 20 }; /* an odd number of steps, beyond two of the averages */

static size_t populations(const kf_plan *plan) {
    const kf_kinetic *kinetic = plan->system;
    size_t bytes = 0;
    for (int grid = 0; grid < 2; grid++)
        bytes += kinetic->populations[grid] != NULL ? kf_buffer_size(kinetic->populations[grid]) : 0;
    return bytes;
}

/* On a GPU two launches overlap: slabs go in turns into the lane beside the main one and into that itself. */
static void assert_in_turns(const kf_plan *plan) {
    const bool gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    int slabs = 0;
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        if (strcmp(item->name, "stream_collide") != 0) continue;
        if (((const kf_kinetic_arguments *)(const void *)item->kernel->arguments)->source ==
            ((const kf_kinetic *)plan->system)->grids[0])
            assert_int_equal(item->lane, gpu && slabs++ % 2 == 0 ? KF_LANE_BESIDE : KF_LANE_MAIN);
    }
    assert_true(!gpu || slabs > 1);
}

/* The default config with these values: with two grids, and with one that moves in slabs. */
static void compare(const kf_scene *scene, const char *const *values, long slab) {
    kf_error error = {KF_OK, ""};
    size_t bytes;
    kf_config config = default_with(scene, values);
    kf_config_set_boolean(&config, "concurrent_solid", false);
    kf_config_set_boolean(&config, "alternate", false);
    kf_config_set_boolean(&config, "masked_band", false);
    kf_config_set_boolean(&config, "overlap", false);
    kf_plan *two = open_plan(scene, &config);
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", slab);
    kf_plan *one = open_plan(scene, &config);
    /* A grid that moves by as many planes as it has saves nothing. */
    if (2 * slab + 2 < scene->nodes[2]) assert_true(populations(one) < populations(two));
    assert_in_turns(one);
    advance(two, STEPS);
    advance(one, STEPS);
    assert_same_state(one, two);
    void *state = save(one, &bytes);
    must(two->methods->restore(two, state, STEPS, &error), &error);
    free(state);
    advance(two, MORE);
    advance(one, MORE);
    assert_same_state(one, two);
    state = save(two, &bytes);
    must(one->methods->restore(one, state, STEPS + MORE, &error), &error);
    free(state);
    assert_same_state(one, two);
    kf_plan_free(one);
    kf_plan_free(two);
}

static void test_static_solid(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", NULL};
    static const char *const half[] = {"storage=f16", "layout=csoa", "alpha=32", "staged_nodes=0", NULL};
    static const char *const ghosts[] = {"storage=f64", "boundary_kernels=1", NULL};
    kf_scene *scene = open_scene("ball", 3000);
    scene->faces[KF_ZMAX] = KF_OUTFLOW;
    compare(scene, single, 4);
    compare(scene, half, 8);
    compare(scene, ghosts, 5);
    kf_scene_free(scene);
}

/* Periodic along the axis of the slabs: what one end reads of the other may be overwritten by then. */
static void test_from_end_to_end(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", NULL};
    static const char *const groups[] = {"storage=f32", "layout=csoa", "alpha=16", "staged_nodes=16", NULL};
    static const char *const nodes[] = {"storage=f32", "layout=aos", "alpha=1", "staged_nodes=0", NULL};
    kf_scene *scene = open_scene("torus", 3000);
    assert_true(scene->motion.moving);
    scene->motion.velocity[0] = 0.01;
    for (int face = KF_YMIN; face <= KF_ZMAX; face++)
        scene->faces[face] = KF_PERIODIC;
    compare(scene, single, 4);
    compare(scene, groups, 7);
    compare(scene, nodes, 1);
    kf_scene_free(scene);
}

/* Two nodes a thread, whose kernels are those of a GPU. */
static void test_pairs(void **state) {
    (void)state;
    static const char *const pairs[] = {"storage=f16",    "layout=csoa",        "alpha=64",
                                        "staged_nodes=0", "nodes_per_thread=2", NULL};
    kf_scene *scene = open_scene("ball", 2000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    scene->samples.count = 0;
    compare(scene, pairs, 4);
    kf_scene_free(scene);
}

/* Planes in the order that changes from step to step. */
static void compare_orders(const kf_scene *scene, const char *const *values) {
    kf_config config = default_with(scene, values);
    kf_config_set_boolean(&config, "alternate", false);
    kf_plan *upwards = open_plan(scene, &config);
    kf_config_set_boolean(&config, "alternate", true);
    kf_plan *in_turn = open_plan(scene, &config);
    advance(upwards, STEPS);
    advance(in_turn, STEPS);
    assert_same_state(in_turn, upwards);
    kf_plan_free(in_turn);
    kf_plan_free(upwards);
}

static void test_planes_in_turn(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const pairs[] = {
        "storage=f16",       "layout=csoa",         "alpha=64", "nodes_per_thread=2", "staged_nodes=0",
        "masked_band=false", "shell_choices=false", NULL};
    kf_scene *scene = open_scene("ball", 2000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    compare_orders(scene, single);
    compare_orders(scene, pairs);
    kf_scene_free(scene);
}

/* Reciprocals of the averages that the next step reads, where it does not make others. */
static void averages_of(const kf_plan *plan, double averages[3]) {
    const kf_kinetic *kinetic = plan->system;
    float single[3];
    kf_error error = {KF_OK, ""};
    const bool twice = kinetic->real_bytes == sizeof(double);
    void *place = twice ? (void *)averages : (void *)single;
    must(kf_buffer_download(kinetic->averages, 0, place, 3 * kinetic->real_bytes, &error), &error);
    for (int i = 0; i < 3 && !twice; i++)
        averages[i] = single[i];
}

/* Other kernels round otherwise. A node left out, or added up twice, is an average's thousandth. */
static void assert_near_state(kf_plan *plan, kf_plan *other, double rounding) {
    kf_error error = {KF_OK, ""};
    kf_fields fields = {0}, others = {0};
    double averages[3], expected[3];
    averages_of(plan, averages);
    averages_of(other, expected);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(averages[i] - expected[i]) < 10 * rounding * expected[i]);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    must(other->methods->flow->fields(other, &others, &error), &error);
    const int *n = fields.nodes;
    for (int i = 0; i < n[0] * n[1] * n[2]; i++)
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs((double)fields.velocity[axis][i] - (double)others.velocity[axis][i]) < rounding);
    kf_fields_free(&fields);
    kf_fields_free(&others);
}

/* Averages of what the flow's kernels add up as they write it, and of what another kernel reads: from the
 * first step on, beyond two of the averages, and from checkpoints in a step with averages and in one without.
 */
static void compare_sums(const kf_scene *scene, const char *const *values, double rounding) {
    const uint64_t ends[] = {STEPS, 2 * KF_AVERAGE_PERIOD};
    kf_error error = {KF_OK, ""};
    kf_config config = default_with(scene, values);
    size_t bytes;
    double before[3], after[3];
    kf_config_set_boolean(&config, "flow_sums", false);
    kf_plan *read = open_plan(scene, &config);
    kf_config_set_boolean(&config, "flow_sums", true);
    kf_plan *written = open_plan(scene, &config);
    for (int i = 0; i < 2; i++) {
        must(kf_plan_initialise(read, &error), &error);
        must(kf_plan_initialise(written, &error), &error);
        advance(read, 1);
        advance(written, 1);
        assert_same_state(written, read);
        averages_of(written, before);
        advance(read, ends[i] - 1);
        advance(written, ends[i] - 1);
        averages_of(written, after);
        assert_true(fabs(after[1] - before[1]) > 1e-3 * before[1]);
        assert_near_state(written, read, rounding);
        void *state = save(read, &bytes);
        must(written->methods->restore(written, state, ends[i], &error), &error);
        free(state);
        advance(read, MORE);
        advance(written, MORE);
        assert_near_state(written, read, rounding);
    }
    kf_plan_free(written);
    kf_plan_free(read);
}

/* Without a solid nothing else would change the averages. */
static void swirl(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    *density = 1.0 + 0.01 * cos(0.3 * i + j);
    velocity[0] = 0.05 + 0.02 * sin(0.2 * i) * cos(1.0 * k);
    velocity[1] = 0.02 * sin(0.5 * i + k);
    velocity[2] = -0.02 * cos(0.4 * i - j);
}

static void test_sums_as_written(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", "masked_band=true", "staged_nodes=0",
                                         "boundary_kernels=1", NULL};
    static const char *const half[] = {
        "storage=f16",    "layout=csoa",    "alpha=64",           "masked_band=true",
        "alternate=true", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const empty[] = {"storage=f64", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const folded[] = {"storage=f32", NULL};
    kf_scene *scene = open_scene("ball", 3000);
    assert_true(kf_kinetic_is_adaptive(scene, 27));
    scene->faces[KF_ZMAX] = KF_OUTFLOW;
    if (strcmp(kf_backend_device(backend)->backend, "cuda") == 0) {
        compare_sums(scene, folded, 2e-6);
    } else {
        compare_sums(scene, single, 2e-6);
        compare_sums(scene, half, 5e-5);
        scene->samples.count = 0;
        scene->initial_state = swirl;
        compare_sums(scene, empty, 1e-13);
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),    cmocka_unit_test(test_from_end_to_end),
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_planes_in_turn),
        cmocka_unit_test(test_sums_as_written),
    };
    return cmocka_run_group_tests(tests, open_backend_on_one_core, close_backend);
}
