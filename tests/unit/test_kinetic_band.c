/* Tests the band of a solid: left out of the flow's kernel, with segments that lanes share, samples that
 * crowd in a cell, and an outflow beside it. Faults: a node of the band is collided twice or never, or a
 * sample is lost. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/free_torus.h"
#include "tests/unit/kinetic_states.h"

enum { STEPS = 21 }; /* beyond the averages */

static bool on_gpu(void) {
    return strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
}

/* Checks that a config gives the same state, bit for bit, whether the flow's kernel writes the band's
 * nodes or leaves them out. */
static void compare(const kf_scene *scene, const char *const *values) {
    kf_config config = default_with(scene, values);
    const bool overlaps = on_gpu();
    kf_config_set_boolean(&config, "masked_band", false);
    kf_config_set_boolean(&config, "overlap", false);
    kf_plan *written = open_plan(scene, &config);
    kf_config_set_boolean(&config, "masked_band", true);
    kf_config_set_boolean(&config, "overlap", overlaps);
    kf_plan *left_out = open_plan(scene, &config);
    assert_same_run(left_out, written, STEPS);
}

/* Compares with the reference, since the compiler rounds differently where stores depend on the node. */
static void verify(const kf_scene *scene, const char *const *values) {
    const kf_config config = default_with(scene, values);
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
    (void)verify_config(kinetic_system, scene, &config, reference, STEPS);
    kinetic_system->free_reference(reference);
}

static void test_left_out(void **state) {
    (void)state;
    static const char *const single[] = {"masked_band=true",       "storage=f32",    "boundary_kernels=1",
                                         "boundary_choices=false", "staged_nodes=0", NULL};
    static const char *const twice[] = {
        "masked_band=true",       "storage=f64",    "layout=csoa", "alpha=8", "boundary_kernels=1",
        "boundary_choices=false", "staged_nodes=0", NULL};
    kf_scene *scene = open_scene("ball", 3000);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    scene->faces[KF_ZMAX] = KF_OUTFLOW;
    verify(scene, single);
    verify(scene, twice);
    kf_scene_free(scene);
}

/* Pairs of which both nodes, one or none is in the band; the boundaries folded in, as on a GPU. */
static void test_left_out_of_pairs(void **state) {
    (void)state;
    static const char *const pairs[] = {"storage=f16",
                                        "layout=csoa",
                                        "alpha=64",
                                        "staged_nodes=0",
                                        "nodes_per_thread=2",
                                        "boundary_choices=false",
                                        NULL};
    kf_scene *scene = open_scene("ball", 3000);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    compare(scene, pairs);
    kf_scene_free(scene);
}

/* Folded boundaries, one node a thread: on the cpu whole rows are written. */
static void test_left_out_on_gpu(void **state) {
    (void)state;
    static const char *const branches[] = {"storage=f32", "boundary_choices=false", NULL};
    static const char *const choices[] = {"storage=f32", "boundary_choices=true", "concurrent_solid=false",
                                          NULL};
    if (!on_gpu()) skip();
    kf_scene *scene = open_scene("ball", 30000);
    compare(scene, branches);
    compare(scene, choices);
    kf_scene_free(scene);
}

/* Lanes add in another order, so they are compared with the reference. */
static void test_sums_by_lanes(void **state) {
    (void)state;
    static const char *const lanes[][5] = {
        {"storage=f32", "segment_lanes=8", "segment_length=8", NULL},
        {"storage=f32", "segment_lanes=8", "segment_length=128", NULL},
        {"storage=f64", "segment_lanes=8", "segment_length=32", NULL},
        {"storage=f32", "segment_lanes=32", "segment_length=32", NULL},
        {"storage=f32", "segment_lanes=32", "segment_length=128", NULL},
        {"storage=f32", "segment_lanes=1", "segment_length=16", "overlap=true", NULL},
        {"storage=f32", "segment_lanes=8", "segment_length=32", "overlap=true", NULL}};
    if (!on_gpu()) skip();
    kf_scene *scene = open_scene("ball", 30000);
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        verify(scene, lanes[i]);
    kf_scene_free(scene);
}

/* Checks that sums of integers are the same however samples are put together: cell by cell from all of
 * them, or patch by patch. */
static void compare_patches(const kf_scene *scene, const char *const *values, long length) {
    kf_config config = default_with(scene, values);
    kf_config_set_integer(&config, "patch_length", 0);
    kf_plan *cells = open_plan(scene, &config);
    kf_config_set_integer(&config, "patch_length", length);
    if (on_gpu()) kf_config_set_integer(&config, "segment_lanes", 8);
    kf_plan *patches = open_plan(scene, &config);
    assert_same_run(patches, cells, STEPS);
}

static void test_sums_by_patches(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", "force_sum=fixed", NULL};
    static const char *const twice[] = {"storage=f64", "force_sum=fixed", NULL};
    static const char *const floating[][6] = {
        {"storage=f32", "force_sum=float", "patch_length=256", NULL},
        {"storage=f32", "force_sum=float", "patch_length=256", "segment_lanes=8", NULL},
        {"storage=f32", "force_sum=fixed", "patch_length=1024", "segment_lanes=32", "segment_length=32",
         NULL}};
    kf_scene *scene = open_scene("torus", 3000);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    assert_true(scene->motion.moving && scene->samples.count > 256 && scene->samples.count % 256 != 0);
    compare_patches(scene, single, 256);
    compare_patches(scene, twice, 512);
    for (size_t i = 0; i < (on_gpu() ? 3 : 1); i++)
        verify(scene, floating[i]);
    set_free_torus(scene);
    compare_patches(scene, single, 1024);
    kf_scene_free(scene);
}

/* Populations that stream to the band's nodes are the same whether they are kept or loaded again. */
static void test_kept_populations_are_those_loaded_again(void **state) {
    (void)state;
    static const char *const values[][3] = {
        {"storage=f32", NULL}, {"storage=f16", NULL}, {"storage=f64", "force_sum=fixed", NULL}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        kf_scene *scene = open_scene(i == 2 ? "torus" : "ball", 3000);
        scene->collision = KF_BGK;
        scene->viscosity = 0.05;
        kf_config config = default_with(scene, values[i]);
        kf_plan *again = open_plan(scene, &config);
        kf_config_set_boolean(&config, "keep_streamed", true);
        kf_plan *kept = open_plan(scene, &config);
        assert_same_run(kept, again, STEPS);
        kf_scene_free(scene);
    }
}

/* Samples around a corner of the lattice move into one cell. They are more than the rows hold, which have
 * room for half as many again as the fullest cell had at the start. */
static void test_samples_that_crowd(void **state) {
    (void)state;
    enum { SIDE = 4, COUNT = SIDE * SIDE * SIDE };
    static const char *const values[] = {"storage=f64", "segment_length=16", "immersed_boundary=aggregated",
                                         NULL};
    kf_scene *scene = open_scene("torus", 3000);
    kf_samples *samples = &scene->samples;
    assert_true(scene->motion.moving && samples->count > COUNT);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    samples->count = COUNT;
    double *const along[3] = {samples->x, samples->y, samples->z};
    for (int axis = 0; axis < 3; axis++) {
        const double corner = floor(0.5 * scene->nodes[axis]);
        scene->motion.center[axis] = corner;
        scene->motion.velocity[axis] = 0.05;
        scene->solid_low[axis] = corner - 0.3;
        scene->solid_high[axis] = corner + 0.3;
        for (int s = 0; s < COUNT; s++) {
            const int place = axis == 0 ? s % SIDE : axis == 1 ? s / SIDE % SIDE : s / SIDE / SIDE;
            along[axis][s] = corner + 0.2 * (place - 1.5);
        }
    }
    for (int s = 0; s < COUNT; s++)
        samples->area[s] = 0.5 / COUNT;
    const kf_config config = default_with(scene, values);
    kf_plan *plan = open_plan(scene, &config);
    const kf_kinetic *kinetic = plan->system;
    assert_true(16 * kinetic->arguments.patches.cell_rows < COUNT);
    kf_plan_free(plan);
    verify(scene, values);
    compare_patches(scene, values, 256);
    kf_scene_free(scene);
}

/* The band reaches the outflow. On one grid its nodes are written back after the others, with what waits
 * outside. */
static void test_band_at_the_outflow(void **state) {
    (void)state;
    static const char *const values[][8] = {
        {"storage=f64", "layout=soa", "streaming=shift", "slab=4", "staged_nodes=0", NULL},
        {"storage=f64", "layout=csoa", "alpha=32", "streaming=shift", "slab=4", "staged_nodes=0", NULL}};
    kf_scene *scene = open_scene("ball", 3000);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    assert_int_equal(scene->faces[KF_XMAX], KF_OUTFLOW);
    assert_true(kf_scene_outflow_speed(scene, KF_XMAX) > 0.01);
    double shift = scene->nodes[0];
    for (size_t s = 0; s < scene->samples.count; s++)
        shift = fmin(shift, scene->nodes[0] - 1.1 - scene->samples.x[s]);
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.x[s] += shift;
    scene->solid_low[0] += shift;
    scene->solid_high[0] += shift;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        verify(scene, values[i]);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_left_out_of_pairs),
        cmocka_unit_test(test_left_out_on_gpu),
        cmocka_unit_test(test_sums_by_lanes),
        cmocka_unit_test(test_samples_that_crowd),
        cmocka_unit_test(test_band_at_the_outflow),
        cmocka_unit_test(test_sums_by_patches),
        cmocka_unit_test(test_kept_populations_are_those_loaded_again),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
