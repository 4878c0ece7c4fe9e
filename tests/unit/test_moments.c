/* Tests every variant of the plan `moments` against the reference with all high-order rates 1, and that
 * the space has nothing that it cannot compute. Faults: one combination of tile, storage and faces is
 * wrong. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
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
#include "tests/unit/sanitized.h"

enum {
    LEAST_VALUES = 3,
    LEAST_VARIANTS = SANITIZED ? LEAST_VALUES : 5
}; /* that a test verifies; a filter that wants fewer shows */

/* With rates of 1. */
static kf_scene *open_scene(const char *name, long nodes) {
    kf_scene *scene = open_shipped_scene(name, nodes);
    scene->collision = KF_ACM_MRT;
    scene->rate_rule = KF_RATE_ONES;
    scene->basis = KF_BASIS_HERMITE;
    scene->accuracy = 0.005; /* the least that has 16-bit storage in the space */
    return scene;
}

static kf_scene *open_fluid(void) {
    kf_scene *scene = open_scene("ball", 2000);
    scene->samples.count = 0;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    return scene;
}

/* The other values of these parameters only divide the work in other ways. The grids of the scenes are no
 * multiples of the tiles. */
static const char *const one_value[] = {"plan=moments",     "segment_lanes=1" /* the cpu has one */,
                                        "block_x=32",       "block_y=4",
                                        "register_cap=0",   "sample_block_length=1",
                                        "segment_length=16"};
static bool is_representative(const kf_scene *scene, const kf_config *config) {
    kf_error error = {0};
    const char *storage = "";
    must(kf_config_name(config, "storage", &storage, &error), &error);
    /* In 16 bits with a solid shorter walks and groups; without one both layouts in every storage type. */
    const bool solid = scene->samples.count > 0, short_walks = strcmp(storage, "f16") == 0 && solid;
    const long alpha = integer_of(config, "alpha");
    return integer_of(config, "march") == (short_walks ? 8 : 64) &&
           (alpha == (short_walks ? 32 : 1) || (!solid && alpha == 32));
}

static kf_space *open_space(const kf_scene *scene) {
    return open_space_with_gpu(scene, one_value, sizeof one_value / sizeof *one_value);
}
static int verify_space(const kf_scene *scene, int steps) {
    return verify_configs(scene, open_space(scene), steps, is_representative, true);
}
/* Verifies configs of a scene in which pairs of values need not occur again. */
static int verify_values(const kf_scene *scene) {
    return verify_configs(scene, open_space(scene), 12, is_representative, false);
}

static void test_static_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 3000);
    assert_true(verify_space(scene, 18) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

/* A body force acts beside the solid's, and the initial state is in equilibrium without it. */
static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene("torus", 3000);
    scene->motion.velocity[0] = 0.01;
    scene->body_force[0] = 1e-4;
    scene->body_force[1] = -2e-4;
    scene->body_force[2] = 1.5e-4;
    assert_true(verify_space(scene, 18) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

/* A tile of 32 x 16 keeps 27 populations of 34 x 18 places, three values for either end of a row, six words
 * of 100 places around it and two barriers, for which its block must ask; one of 32 x 8 has them anyway. */
static void test_shared_memory_of_tiles(void **state) {
    (void)state;
    kf_scene *scene = open_fluid();
    for (int large = 0; large < 2; large++) {
        const char *const fixed[] = {
            "plan=moments", "storage=f16", "block_x=32", large ? "block_y=16" : "block_y=8",
            "march=16",     "alpha=1",     "layout=soa"};
        kf_space *space = open_space_with_gpu(scene, fixed, sizeof fixed / sizeof *fixed);
        kf_config config;
        assert_true(kf_space_size(space) > 0);
        kf_space_config(space, 0, &config);
        kf_space_free(space);
        kf_plan *plan = open_plan(scene, &config);
        size_t most = 0;
        for (size_t i = 0; i < plan->item_count; i++)
            if (plan->items[i].kind == KF_ITEM_KERNEL && plan->items[i].kernel->shared_bytes > most)
                most = plan->items[i].kernel->shared_bytes;
        assert_int_equal(most, large ? 16 + (27 * 34 * 18 + 6 * 16 + 6 * 100) * sizeof(float) : 0);
        kf_plan_free(plan);
    }
    kf_scene_free(scene);
}

/* Walks make up the planes. None is longer than allowed or than the one before it, and blocks that begin
 * last have little to do. */
static void test_walks_get_shorter(void **state) {
    (void)state;
    static const int longest[] = {1, 3, 8, 16, 32, 64, 128};
    for (int planes = 1; planes <= 400; planes++)
        for (size_t i = 0; i < sizeof longest / sizeof *longest; i++) {
            int left = planes, before = longest[i];
            while (left > 0) {
                const int walk = KF_WALK(left, longest[i]);
                assert_true(walk >= 1 && walk <= left && walk <= before);
                left -= walk;
                before = walk;
            }
            assert_true(before < 2 * KF_SHORTEST_WALK);
        }
}

static void test_a_periodic_box(void **state) {
    (void)state;
    kf_scene *scene = open_fluid();
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    scene->initial_velocity[1] = 0.02;
    assert_true(verify_values(scene) >= LEAST_VALUES);
    kf_scene_free(scene);
}

/* Every kind of face, outflows that share edges, and walls that mirror a share. */
static void test_every_kind_of_face(void **state) {
    (void)state;
    kf_scene *scene = open_fluid();
    static const kf_boundary kinds[KF_FACES] = {KF_INFLOW,  KF_OUTFLOW, KF_WALL,
                                                KF_OUTFLOW, KF_OUTFLOW, KF_WALL};
    memcpy(scene->faces, kinds, sizeof kinds);
    scene->face_velocity[KF_XMIN][0] = 0.05;
    scene->face_velocity[KF_ZMAX][1] = 0.04;
    scene->specular_share[KF_YMIN] = 0.25;
    scene->body_force[2] = -2e-6;
    assert_true(verify_space(scene, 12) >= LEAST_VARIANTS);
    scene->faces[KF_XMIN] = scene->faces[KF_XMAX] = KF_PERIODIC;
    scene->faces[KF_YMAX] = KF_FREE_SLIP;
    scene->faces[KF_ZMIN] = KF_WALL;
    scene->specular_share[KF_ZMIN] = 0.5;
    scene->face_velocity[KF_ZMIN][0] = 0.05;
    scene->initial_velocity[1] = scene->initial_velocity[2] = 0.02;
    assert_true(verify_values(scene) >= LEAST_VALUES);
    /* Populations bounce back across the seam along z; images behind a low and a high face; a wall along x
     * that mirrors. */
    for (int mirrors = 0; mirrors < 2; mirrors++) {
        const kf_boundary across_z[KF_FACES] = {
            KF_WALL, mirrors ? KF_FREE_SLIP : KF_OUTFLOW, KF_FREE_SLIP, KF_WALL, KF_PERIODIC, KF_PERIODIC};
        memcpy(scene->faces, across_z, sizeof across_z);
        scene->specular_share[KF_XMIN] = mirrors ? 0.5 : 0.0;
        scene->specular_share[KF_ZMIN] = 0.0;
        scene->face_velocity[KF_XMIN][0] = 0.0;
        scene->face_velocity[KF_XMIN][2] = 0.05;
        memset(scene->face_velocity[KF_ZMIN], 0, sizeof scene->face_velocity[KF_ZMIN]);
        memset(scene->face_velocity[KF_ZMAX], 0, sizeof scene->face_velocity[KF_ZMAX]);
        assert_true(verify_values(scene) >= LEAST_VALUES);
    }
    /* Nothing needs kf_incoming: walls across z send back the images of the planes before them, a share or
     * all, beside faces across x that send back, mirror, or let out. With an inflow across z, which
     * decides at the edges, the wall across x needs it. */
    for (int round = 0; round < 3; round++) {
        const bool low_slips = round > 0;
        const kf_boundary around[KF_FACES] = {low_slips ? KF_FREE_SLIP : KF_INFLOW,
                                              low_slips ? KF_WALL : KF_OUTFLOW,
                                              low_slips ? KF_PERIODIC : KF_FREE_SLIP,
                                              low_slips ? KF_PERIODIC : KF_FREE_SLIP,
                                              KF_WALL,
                                              round > 1 ? KF_INFLOW : KF_WALL};
        memcpy(scene->faces, around, sizeof around);
        scene->specular_share[KF_XMIN] = scene->specular_share[KF_YMIN] = 0.0;
        scene->specular_share[KF_ZMIN] = 0.5;
        for (int axis = 0; axis < 3; axis++)
            for (int face = 0; face < KF_FACES; face++)
                scene->face_velocity[face][axis] =
                    around[face] == KF_INFLOW || around[face] == KF_WALL ? 0.01 * (axis + 1) : 0.0;
        assert_true(verify_values(scene) >= LEAST_VALUES);
    }
    kf_scene_free(scene);
}

static void test_other_rates_are_not_in_the_space(void **state) {
    (void)state;
    static const char *const fixed[] = {"plan=moments"};
    static const struct {
        kf_collision collision;
        kf_rate_rule rule;
        kf_moment_basis basis;
    } others[] = {{KF_BGK, KF_RATE_ONES, KF_BASIS_HERMITE},
                  {KF_RM_MRT, KF_RATE_ONES, KF_BASIS_HERMITE},
                  {KF_ACM_MRT, KF_RATE_ONES, KF_BASIS_RAW},
                  {KF_ACM_MRT, KF_RATE_ADAPTIVE_2020, KF_BASIS_HERMITE},
                  {KF_ACM_MRT, KF_RATE_CONSTANT, KF_BASIS_HERMITE}};
    kf_scene *scene = open_fluid();
    kf_space *space = open_space_with_gpu(scene, fixed, 1);
    kf_config config;
    assert_true(kf_space_size(space) > 0);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kf_error error = {0};
        kf_plan *plan;
        scene->collision = others[i].collision;
        scene->rate_rule = others[i].rule;
        scene->basis = others[i].basis;
        kf_variables variables;
        kinetic_system->variables(problem_of(kinetic_system, scene), kf_backend_device(backend), &variables);
        assert_int_equal(kf_space_open(kinetic_system->name, kinetic_system->space_file, &variables, fixed, 1,
                                       &space, &error),
                         KF_BAD_INPUT);
        assert_int_equal(
            kinetic_system->plan(problem_of(kinetic_system, scene), &config, backend, &plan, &error),
            KF_BAD_INPUT);
    }
    kf_scene_free(scene);
}

/* Checks that a saved state continues to the same last digit, also around a moving solid. */
static void check_saved_state(const char *storage) {
    const char *const fixed[] = {"plan=moments", storage,           "block_x=32",
                                 "block_y=4",    "march=16",        "alpha=1",
                                 "layout=soa",   "force_sum=fixed", "segment_lanes=1"};
    kf_error error = {0};
    kf_scene *scene = open_scene("torus", 3000);
    kf_space *space = open_space_with_gpu(scene, fixed, 9);
    kf_config config;
    assert_true(kf_space_size(space) > 0);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
    const size_t count = 4 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    kf_plan *first = open_plan(scene, &config), *second = open_plan(scene, &config);
    size_t bytes;
    must(first->methods->state_size(first, &bytes, &error), &error);
    char *saved = malloc(bytes);
    assert_non_null(saved);
    advance(first, 9);
    must(first->methods->save(first, saved, &error), &error);
    must(second->methods->restore(second, saved, 9, &error), &error);
    double *values[2];
    for (int more = 0; more < 2; more++) {
        must(kf_kinetic_read(first, &values[0], &error), &error);
        must(kf_kinetic_read(second, &values[1], &error), &error);
        assert_memory_equal(values[0], values[1], count * sizeof(double));
        free(values[0]);
        free(values[1]);
        advance(first, 6);
        advance(second, 6);
    }
    free(saved);
    kf_plan_free(first);
    kf_plan_free(second);
    kf_scene_free(scene);
}

static void test_saved_states_go_on(void **state) {
    (void)state;
    check_saved_state("storage=f32");
    check_saved_state("storage=f16");
}

static void dense(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context, (void)i, (void)j, (void)k;
    *density = 3.5; /* at 3 a half of 2^15 times what is above 1 ends */
    velocity[0] = velocity[1] = velocity[2] = 0.0;
}

/* 16-bit storage rounds at random. A body force that changes the velocity in a step by a seventh of the
 * distance of two numbers must not be lost, as it would be with rounding to the nearest. A node whose
 * density leaves the range shows it. */
static void test_small_forces_add_up(void **state) {
    (void)state;
    enum { STEPS = 400 };
    static const char *const fixed[] = {"plan=moments", "storage=f16", "block_x=32",      "block_y=4",
                                        "march=16",     "alpha=1",     "segment_lanes=1", "layout=soa"};
    kf_error error = {0};
    kf_scene *scene = open_fluid();
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    const double force = 1.0 / 7 / (1 << 20);
    scene->body_force[0] = force;
    kf_space *space = open_space_with_gpu(scene, fixed, 8);
    kf_config config;
    assert_true(kf_space_size(space) > 0);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    scene->initial_velocity[0] = 0.02;
    for (int outside = 0; outside < 2; outside++) {
        scene->initial_state = outside ? dense : NULL;
        kf_plan *plan = open_plan(scene, &config);
        double *values, mean = 0;
        advance(plan, outside ? 2 : STEPS);
        must(kf_kinetic_read(plan, &values, &error), &error);
        for (size_t k = 0; k < nodes; k++)
            mean += values[nodes + k] / (double)nodes;
        free(values);
        kf_plan_free(plan);
        if (outside)
            assert_true(isnan(mean));
        else
            print_message("gained %.4g of %.4g\n", mean - 0.02, STEPS * force);
        if (!outside) assert_true(fabs(mean - 0.02 - STEPS * force) < 0.1 * STEPS * force);
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_moving_solid),
        cmocka_unit_test(test_shared_memory_of_tiles),
        cmocka_unit_test(test_walks_get_shorter),
        cmocka_unit_test(test_a_periodic_box),
        cmocka_unit_test(test_every_kind_of_face),
        cmocka_unit_test(test_other_rates_are_not_in_the_space),
        cmocka_unit_test(test_saved_states_go_on),
        cmocka_unit_test(test_small_forces_add_up),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
