/* Tests that one grid that moves to and fro gives what two grids give, bit for bit, and that their states
 * are exchangeable; the same for planes upwards and downwards in turn, and, to rounding, for a kernel of
 * the rows at the faces and one of the band's chain. Faults: a plane that is overwritten before it is
 * read. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
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
        if (((const kf_flow_arguments *)(const void *)item->kernel->arguments)->populations.source ==
            ((const kf_kinetic *)plan->system)->grids[0])
            assert_int_equal(item->lane, gpu && slabs++ % 2 == 0 ? KF_LANE_BESIDE : KF_LANE_MAIN);
    }
    assert_true(!gpu || slabs > 1);
}

/* Compares the default config with these values on two grids with one that moves in slabs. */
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

/* The domain is periodic along the axis of the slabs, so one end must be read before it is overwritten. */
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
static void test_two_nodes_a_thread(void **state) {
    (void)state;
    static const char *const pairs[] = {"storage=f16",
                                        "layout=csoa",
                                        "alpha=64",
                                        "staged_nodes=0",
                                        "nodes_per_thread=2",
                                        "overlap=false",
                                        "masked_band=false",
                                        "boundary_choices=false",
                                        "boundary_rows_apart=false",
                                        NULL};
    kf_scene *scene = open_scene("ball", 2000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    scene->samples.count = 0;
    compare(scene, pairs, 4);
    kf_scene_free(scene);
}

/* Compares planes in an order that alternates from step to step with planes in one order. */
static void compare_orders(const kf_scene *scene, const char *const *values) {
    kf_config config = default_with(scene, values);
    kf_config_set_boolean(&config, "alternate", false);
    kf_plan *upwards = open_plan(scene, &config);
    kf_config_set_boolean(&config, "alternate", true);
    kf_plan *in_turn = open_plan(scene, &config);
    assert_same_run(in_turn, upwards, STEPS);
}

static void test_planes_in_turn(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const pairs[] = {"storage=f16",
                                        "layout=csoa",
                                        "alpha=64",
                                        "nodes_per_thread=2",
                                        "staged_nodes=0",
                                        "overlap=false",
                                        "masked_band=false",
                                        "boundary_choices=false",
                                        NULL};
    kf_scene *scene = open_scene("ball", 2000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    compare_orders(scene, single);
    compare_orders(scene, pairs);
    kf_scene_free(scene);
}

/* Advances plans without and with a choice that must change no value. */
static void advance_both(const kf_scene *scene, const char *name, const char *const *values,
                         kf_plan *plans[2]) {
    kf_config config = default_with(scene, values);
    for (int i = 0; i < 2; i++) {
        kf_config_set_boolean(&config, name, i == 1);
        plans[i] = open_plan(scene, &config);
        advance(plans[i], STEPS);
    }
}

/* Compares nearly: compilers may round the same arithmetic differently in two kernels. */
static void compare_nearly(const kf_scene *scene, const char *name, const char *const *values) {
    kf_plan *plans[2];
    size_t bytes, other_bytes;
    advance_both(scene, name, values, plans);
    double *without = save(plans[0], &bytes), *with = save(plans[1], &other_bytes);
    assert_int_equal(bytes, other_bytes);
    for (size_t i = 0; i < bytes / sizeof *with; i++)
        /* A word that is no number is the same. */
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): bits */
        if (memcmp(with + i, without + i, sizeof *with) != 0) assert_true(fabs(with[i] - without[i]) < 1e-12);
    free(without);
    free(with);
    kf_plan_free(plans[0]);
    kf_plan_free(plans[1]);
}

/* All faces have inflow and outflow, mirrors, walls that mirror a share, or the other end. On the cpu only
 * pairs of nodes have kernels that select at the ends. */
static void test_shell_apart(void **state) {
    (void)state;
    static const char *const again[] = {"storage=f64",
                                        "layout=csoa",
                                        "alpha=16",
                                        "staged_nodes=0",
                                        "nodes_per_thread=2",
                                        "overlap=false",
                                        "masked_band=false",
                                        "boundary_choices=false",
                                        NULL};
    static const char *const left_out[] = {"storage=f64",
                                           "layout=csoa",
                                           "alpha=16",
                                           "staged_nodes=0",
                                           "nodes_per_thread=2",
                                           "alternate=true",
                                           "masked_band=true",
                                           "boundary_choices=false",
                                           NULL};
    static const char *const single[] = {"storage=f64", NULL};
    static const struct {
        kf_boundary low, high;
        double share;
    } ends[] = {{KF_INFLOW, KF_OUTFLOW, 0.0},
                {KF_OUTFLOW, KF_WALL, 0.5},
                {KF_FREE_SLIP, KF_FREE_SLIP, 0.0},
                {KF_PERIODIC, KF_PERIODIC, 0.0}};
    const bool on_gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    /* Rows are longer than a warp has nodes in pairs; those below are shorter. */
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    must(kf_scene_open("ball", &(kf_scene_options){.nodes = {74, 20, 18}}, &scene, &error), &error);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int axis = 0; axis < 3; axis++) { /* the same at the faces across y and z */
            const size_t j = (i + (size_t)axis) % (sizeof ends / sizeof *ends);
            scene->faces[2 * axis] = ends[j].low;
            scene->faces[2 * axis + 1] = ends[j].high;
            scene->specular_share[2 * axis + 1] = ends[j].share;
        }
        compare_nearly(scene, "boundary_rows_apart", i % 2 == 0 ? again : left_out);
        if (on_gpu) compare_nearly(scene, "boundary_rows_apart", single);
    }
    kf_scene_free(scene);
    scene = open_scene("ball", 3000);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    compare_nearly(scene, "boundary_rows_apart", left_out);
    kf_scene_free(scene);
}

/* The band's kernels are one kernel, between two grids in either order of planes. Each value has the same
 * arithmetic. */
static void test_band_chain(void **state) {
    (void)state;
    static const char *const pairs[] = {
        "storage=f64",        "layout=csoa",       "alpha=16",       "staged_nodes=0",
        "nodes_per_thread=2", "masked_band=true",  "overlap=false",  "boundary_choices=false",
        "segment_lanes=1",    "segment_length=16", "solid_block=64", NULL};
    static const char *const lanes[] = {"storage=f32",       "overlap=false",  "segment_lanes=8",
                                        "segment_length=32", "solid_block=32", NULL};
    kf_scene *scene = open_scene("ball", 3000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    compare_nearly(scene, "band_chain", pairs);
    if (strcmp(kf_backend_device(backend)->backend, "cuda") == 0) compare_nearly(scene, "band_chain", lanes);
    for (int face = 0; face < KF_FACES; face++) /* the solid may lie across the seam */
        scene->faces[face] = KF_PERIODIC;
    compare_nearly(scene, "band_chain", pairs);
    kf_scene_free(scene);
}

static const kf_item *item_named(const kf_plan *plan, const char *name) {
    const kf_item *found = NULL;
    for (size_t i = 0; found == NULL && i < plan->item_count; i++)
        if (strcmp(plan->items[i].name, name) == 0) found = &plan->items[i];
    assert_non_null(found);
    return found;
}

/* The rows at the faces run ahead in a lane of their own, which changes nothing. */
static void test_lane_of_shell(void **state) {
    (void)state;
    static const char *const values[] = {"storage=f64",
                                         "layout=csoa",
                                         "alpha=16",
                                         "staged_nodes=0",
                                         "nodes_per_thread=2",
                                         "alternate=true",
                                         "concurrent_solid=true",
                                         "masked_band=true",
                                         "boundary_choices=false",
                                         NULL};
    kf_scene *scene = open_scene("ball", 3000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    kf_plan *plans[2];
    for (int i = 0; i < 2; i++) {
        kf_config config = default_with(scene, values);
        kf_config_set_boolean(&config, "boundary_rows_apart", i == 0);
        plans[i] = open_plan(scene, &config);
        advance(plans[i], STEPS);
    }
    const kf_item *shell = item_named(plans[0], "stream_collide_boundary"),
                  *flow = item_named(plans[0], "stream_collide"),
                  *band = item_named(plans[0], "band_collide");
    assert_int_equal(shell->lane, KF_LANE_AHEAD);
    assert_int_equal(flow->lane, KF_LANE_MAIN);
    assert_false(flow->kernel->overlaps || shell->kernel->overlaps);
    assert_ptr_equal(flow, shell + 1);
    assert_true(shell > band && band->lane == KF_LANE_ASIDE);
    assert_same_state(plans[1], plans[0]);
    kf_plan_free(plans[1]);
    kf_plan_free(plans[0]);
    kf_scene_free(scene);
}

/* Options of the space's preset on such a device. */
static kf_kinetic_options options_of(const kf_scene *scene, const kf_device_info *device,
                                     const char *preset) {
    kf_space *space = NULL;
    kf_config config;
    kf_error error = {KF_OK, ""};
    kf_kinetic_options options;
    must(kf_problem_space(problem_of(kinetic_system, scene), device, NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, preset, &config, &error), &error);
    must(kf_kinetic_read_options(scene, &config, device, &options, &error), &error);
    kf_space_free(space);
    return options;
}

/* With 27 GB two grids are the default where they fit, and one that moves where they do not, on a team
 * with copied planes. Nothing is said of a device whose memory is not known. */
static void test_where_two_grids_do_not_fit(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 3000);
    scene->nodes[0] = scene->nodes[1] = scene->nodes[2] = 500;
    for (int c = 0; c < 4; c++) {
        const bool on_gpu = c % 2 == 1;
        const int parts = c < 2 ? 1 : 2;
        kf_device_info device = *kf_backend_device(backend);
        if (on_gpu) device = (kf_device_info){.backend = "cuda", .multiprocessors = 132, .warp_size = 32};
        device.parts = parts;
        static const uint64_t memories[] = {0, 24, 48};
        for (int i = 0; i < 3; i++) {
            device.memory_bytes = memories[i] << 30;
            const kf_kinetic_options usual = options_of(scene, &device, "default");
            const bool one = memories[i] == 24;
            assert_int_equal(usual.slab, one ? 16 : 0);
            assert_int_equal(usual.transfer, one && parts > 1 ? KF_PEER_COPIES : KF_DIRECT);
            assert_int_equal(options_of(scene, &device, "paper").transfer, KF_DIRECT);
            assert_int_equal(usual.prefetch_rows, on_gpu ? (one ? 32 : 0) : 1);
            assert_int_equal(usual.concurrent_solid, on_gpu && !one);
            assert_int_equal(options_of(scene, &device, "baseline").slab, 0);
            assert_int_equal(options_of(scene, &device, "paper").slab, 0);
        }
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),       cmocka_unit_test(test_from_end_to_end),
        cmocka_unit_test(test_two_nodes_a_thread), cmocka_unit_test(test_planes_in_turn),
        cmocka_unit_test(test_shell_apart),        cmocka_unit_test(test_lane_of_shell),
        cmocka_unit_test(test_band_chain),         cmocka_unit_test(test_where_two_grids_do_not_fit),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
