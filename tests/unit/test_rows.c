/* Tests rows of more nodes than a warp has lanes, whose first, middle and last nodes have code of their
 * own with folded boundaries. Rows of other tests are shorter. Faults: a wrong population where these
 * meet. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/problem_fixture.h"

enum { STEPS = 10, FIXES = 24 };

/* A stream changes along the row, and most between its two ends. */
static void lively(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    *density = 1.0 + 0.01 * cos(0.3 * i + j);
    velocity[0] = 0.05 + 0.02 * sin(0.2 * i) * cos(1.0 * k);
    velocity[1] = 0.02 * sin(0.5 * i + k);
    velocity[2] = -0.02 * cos(0.4 * i - j);
}

static kf_scene *open_rows(int length, kf_boundary low, kf_boundary high) {
    kf_scene *scene = open_shipped_scene("ball", 2000);
    const int nodes[3] = {length, 5, 4};
    memcpy(scene->nodes, nodes, sizeof nodes);
    scene->samples.count = 0;
    scene->accuracy = 0.02;
    scene->viscosity = 0.02;
    scene->initial_state = lively;
    scene->faces[KF_XMIN] = low;
    scene->faces[KF_XMAX] = high;
    scene->specular_share[KF_ZMIN] = 0.25;
    return scene;
}

/* Pushes the fluid along all axes, each way and strength once. */
static kf_scene *pushed(kf_scene *scene) {
    scene->body_force[0] = 1e-4;
    scene->body_force[1] = -2e-4;
    scene->body_force[2] = 3e-4;
    return scene;
}

/* Verifies the only config of the space that is left by the values and by the parameters that do not
 * matter here. */
static void verify(const kf_scene *scene, const kf_reference *reference, const char *const *values,
                   bool gpu) {
    static const char *const common[] = {"plan=fused",      "boundary_kernels=0",
                                         "register_cap=0",  "concurrent_solid=false",
                                         "block_x=64",      "block_y=2",
                                         "prefetch_rows=0", "boundary_choices=false",
                                         "alternate=false", "boundary_rows_apart=false"};
    const char *fixes[FIXES];
    size_t count = sizeof common / sizeof *common;
    kf_config config;
    memcpy(fixes, common, sizeof common);
    for (; *values != NULL; values++)
        fixes[count++] = *values;
    kf_space *space = open_space_of(scene, gpu, fixes, (int)count);
    assert_int_equal(kf_space_size(space), 1);
    kf_space_config(space, 0, &config);
    const double error = verify_config(kinetic_system, scene, &config, reference, STEPS);
    char *summary = kf_config_summary(&config);
    print_message("%d nodes, error %.2g: %s\n", scene->nodes[0], error, summary);
    free(summary);
    kf_space_free(space);
}

/* Values for verify, by the way in which rows are processed. */
static const char *const one_node[] = {
    "storage=f32", "alpha=32", "nodes_per_thread=1", "streaming=two_grids", "collision_form=low_order", NULL};
static const char *const pairs[] = {
    "storage=f32", "layout=soa", "nodes_per_thread=2", "streaming=two_grids", "collision_form=factorised",
    NULL};
static const char *const halves[] = {
    "storage=f16", "alpha=64", "nodes_per_thread=2", "streaming=two_grids", "collision_form=low_order", NULL};

/* On the cpu ghosts of rows are filled as they come, and populations are gathered before they are written. */
static const char *const rows[] = {
    "storage=f64",    "layout=soa", "nodes_per_thread=1", "streaming=two_grids", "collision_form=low_order",
    "staged_nodes=0", NULL};
static const char *const staged[] = {
    "storage=f32",     "layout=soa", "nodes_per_thread=1", "streaming=two_grids", "collision_form=low_order",
    "staged_nodes=64", NULL};
static const char *const staged_halves[] = {
    "storage=f16",     "layout=soa", "nodes_per_thread=1", "streaming=two_grids", "collision_form=low_order",
    "staged_nodes=64", NULL};
static const char *const staged_in_groups[] = {
    "storage=f16",     "alpha=32", "nodes_per_thread=1", "streaming=two_grids", "collision_form=low_order",
    "staged_nodes=16", NULL};

static void verify_on(kf_scene *scene, const char *const *const *variants, bool gpu) {
    kf_error error = {0};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
    for (; *variants != NULL; variants++)
        verify(scene, reference, *variants, gpu);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}
static void verify_all(kf_scene *scene, const char *const *const *variants) {
    verify_on(scene, variants, true);
}

/* With odd lengths pairs end with half a pair, and sectors of memory in part. The wall shares an edge with
 * the outflow. */
static void test_from_inflow_to_outflow(void **state) {
    (void)state;
    static const char *const *const variants[] = {one_node, halves, NULL};
    kf_scene *scene = open_rows(141, KF_INFLOW, KF_OUTFLOW);
    scene->faces[KF_ZMIN] = KF_WALL;
    verify_all(scene, variants);
}

static void test_from_end_to_end(void **state) {
    (void)state;
    static const char *const *const variants[] = {pairs, one_node, NULL};
    verify_all(pushed(open_rows(150, KF_PERIODIC, KF_PERIODIC)), variants);
}

static void test_between_a_wall_and_a_mirror(void **state) {
    (void)state;
    static const char *const *const variants[] = {pairs, one_node, NULL};
    verify_all(open_rows(133, KF_FREE_SLIP, KF_WALL), variants);
}

/* There is every kind of face, with outflows along two axes and a wall with partial slip. Rows end inside
 * a line of memory, in 16 bits a whole part before its end, or with the ghost that is the next row's
 * first. */
static void test_rows_of_the_cpu(void **state) {
    (void)state;
    static const char *const *const variants[] = {rows, staged, staged_halves, staged_in_groups, NULL};
    if (strcmp(kf_backend_device(backend)->backend, "cpu") != 0) skip();
    kf_scene *scene = open_rows(141, KF_INFLOW, KF_OUTFLOW);
    scene->faces[KF_YMIN] = KF_FREE_SLIP;
    scene->faces[KF_YMAX] = KF_OUTFLOW;
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_WALL;
    verify_on(scene, variants, false);
    scene = open_rows(141, KF_OUTFLOW, KF_WALL);
    scene->specular_share[KF_XMAX] = 0.5;
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    verify_on(scene, variants, false);
    verify_on(pushed(open_rows(78, KF_PERIODIC, KF_PERIODIC)), variants, false);
    verify_on(open_rows(78, KF_OUTFLOW, KF_INFLOW), variants, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_inflow_to_outflow),
        cmocka_unit_test(test_from_end_to_end),
        cmocka_unit_test(test_between_a_wall_and_a_mirror),
        cmocka_unit_test(test_rows_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
