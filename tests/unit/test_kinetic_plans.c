/* Tests what the kinetic system's plans promise over many steps. Faults: a plan that conserves, restarts
 * or averages differently from another. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_samples.h"
#include "tests/unit/kinetic_variants.h"
#include "tests/unit/problem_fixture.h"

/* The gate must be able to refuse: a plan that ran one step too many is out of bounds. */
static void test_gate_refuses_a_wrong_result(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 5, &reference, &error), &error);
    kf_space *space = open_space(scene);
    kf_config config;
    take_preset(space, "default", &config);
    kf_plan *plan = open_plan(scene, &config);
    kf_verification verification;
    advance(plan, 6);
    assert_int_equal(kinetic_system->verify(plan, reference, &verification, &error), KF_GATE_FAILED);
    assert_true(verification.error > verification.bound);
    kf_plan_free(plan);
    kf_space_free(space);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* The three plans describe the same physics: double precision fields after 100 steps agree to rounding. */
static void test_plans_agree_after_100_steps(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 6000);
    kf_space *space = open_space(scene);
    size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    static const char *const presets[] = {"baseline", "paper", "default"};
    double *first = NULL;
    for (int p = 0; p < 3; p++) {
        kf_config config;
        take_preset(space, presets[p], &config);
        kf_config_set_name(&config, "storage", "f64");
        kf_plan *plan = open_plan(scene, &config);
        advance(plan, 100);
        double *values, difference = 0, scale = 0;
        must(kf_kinetic_read(plan, &values, &error), &error);
        for (size_t i = count; first && i < 4 * count; i++) {
            difference += (values[i] - first[i]) * (values[i] - first[i]);
            scale += first[i] * first[i];
        }
        if (first) {
            print_message("%s against %s: %.3g\n", presets[p], presets[0], sqrt(difference / scale));
            assert_true(sqrt(difference / scale) < 1e-9);
            free(values);
        } else {
            first = values;
        }
        kf_plan_free(plan);
    }
    free(first);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* Blocks of three dimensions are those of the paper (section 4.1). Their shape, which need not divide the
 * grid, changes no bit of either plan with gathered samples. Other plans refuse them. */
static void test_blocks_of_three_dimensions(void **state) {
    (void)state;
    static const int shapes[][3] = {{64, 2, 1}, {8, 2, 4}, {32, 1, 16}, {16, 4, 8}};
    kf_error error = {0};
    kf_scene *scene = open_scene_of_variants("ball", 3000);
    const kf_problem *problem = problem_of(kinetic_system, scene);
    kf_space *space;
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    kf_reference *reference;
    must(kinetic_system->reference(problem, 3, &reference, &error), &error);
    const size_t bytes =
        4 * sizeof(double) * (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    for (int p = 0; p < 2; p++) {
        double *first = NULL;
        kf_config config;
        take_preset(space, p == 0 ? "baseline" : "paper", &config);
        kf_config_set_name(&config, "immersed_boundary", "gather");
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            double *values;
            kf_config_set_integer(&config, "block_x", shapes[s][0]);
            kf_config_set_integer(&config, "block_y", shapes[s][1]);
            kf_config_set_integer(&config, "block_z", shapes[s][2]);
            must(kf_problem_check_config(problem, kf_backend_device(backend), &config, &error), &error);
            (void)verify_config(kinetic_system, scene, &config, reference, 3);
            kf_plan *plan = open_plan(scene, &config);
            assert_int_equal(((const kf_kinetic *)plan->system)->options.block[2], shapes[s][2]);
            advance(plan, 5);
            must(kf_kinetic_read(plan, &values, &error), &error);
            if (first != NULL) assert_memory_equal(values, first, bytes);
            if (first != NULL) free(values);
            if (first == NULL) first = values;
            kf_plan_free(plan);
        }
        free(first);
    }
    kf_config config;
    kf_plan *plan;
    take_preset(space, "default", &config);
    kf_config_set_integer(&config, "block_z", 2);
    assert_int_equal(kf_problem_check_config(problem, kf_backend_device(backend), &config, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "block_z"));
    assert_int_equal(kinetic_system->plan(problem, &config, backend, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "block_z"));
    kf_space_free(space);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* In a periodic box the fluid gains in a step exactly the momentum that the solid loses: the load is minus
 * its change. */
static void test_force_is_the_momentum_change(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("torus", 4000);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    kf_space *space = open_space(scene);
    size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    kf_config config;
    take_preset(space, "default", &config);
    kf_config_set_name(&config, "storage", "f64");
    kf_plan *plan = open_plan(scene, &config);
    double momentum[2][3] = {{0}}, mass[2] = {0};
    kf_solid_load load;
    for (int when = 0; when < 2; when++) {
        advance(plan, when ? 1 : 7);
        double *values;
        must(kf_kinetic_read(plan, &values, &error), &error);
        for (size_t n = 0; n < count; n++) {
            mass[when] += values[n];
            for (size_t i = 0; i < 3; i++)
                momentum[when][i] += (1.0 + values[n]) * values[(i + 1) * count + n];
        }
        free(values);
    }
    must(plan->methods->flow->load(plan, &load, &error), &error);
    double size = fabs(load.force[0]) + fabs(load.force[1]) + fabs(load.force[2]);
    assert_true(size > 1e-6);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(momentum[1][i] - momentum[0][i] + load.force[i]) < 1e-8 * size);
    assert_true(fabs(mass[1] - mass[0]) < 1e-9);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* Samples are stored as they were sampled, by blocks of cells, or by Morton code. The step is the same. */
static void test_orders_of_samples(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int length;
        bool morton;
    } orders[] = {{"none", 1, false}, {"cells", 3, false}, {"morton", 1, true}, {"morton", 3, true}};
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 6000);
    kf_space *space;
    must(kf_problem_space(problem_of(kinetic_system, scene), kf_backend_device(backend), NULL, 0, &space,
                          &error),
         &error);
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 3, &reference, &error), &error);
    kf_config config;
    take_preset(space, "baseline", &config);
    const size_t count = scene->samples.count;
    uint32_t *expected = kf_allocate(count * sizeof *expected);
    int *order = kf_allocate(count * sizeof *order);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        kf_config_set_name(&config, "sample_order", orders[i].name);
        kf_config_set_integer(&config, "sample_block_length", orders[i].length);
        must(kf_problem_check_config(problem_of(kinetic_system, scene), kf_backend_device(backend), &config,
                                     &error),
             &error);
        kf_plan *plan = open_plan(scene, &config);
        const kf_kinetic *kinetic = plan->system;
        must(kf_buffer_download(kinetic->identity, 0, order, count * sizeof *order, &error), &error);
        kf_ordering ordering;
        kf_ordering_begin(&ordering, orders[i].length, orders[i].morton, scene->solid_low, scene->solid_high);
        if (orders[i].morton) kf_ordering_refine(&ordering, 4); /* samples, not their cells */
        kf_ordering_sort(&ordering, count, scene->samples.x, scene->samples.y, scene->samples.z, expected);
        for (size_t r = 0; r < count; r++)
            assert_int_equal(order[r], i == 0 ? (int)r : (int)expected[r]);
        kf_plan_free(plan);
        (void)verify_config(kinetic_system, scene, &config, reference, 3);
    }
    free(expected);
    free(order);
    kinetic_system->free_reference(reference);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* Orders without Morton codes are for the plans of the source's own comparison. */
static void test_orders_of_one_pass(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 6000);
    const kf_problem *problem = problem_of(kinetic_system, scene);
    kf_space *space;
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    static const char *const presets[] = {"paper", "default"};
    for (int i = 0; i < 2; i++) {
        kf_config config;
        take_preset(space, presets[i], &config);
        kf_config_set_integer(&config, "sample_block_length", 2);
        kf_config_set_name(&config, "sample_order", "cells");
        assert_int_equal(kf_problem_check_config(problem, kf_backend_device(backend), &config, &error),
                         i == 0 ? KF_OK : KF_BAD_INPUT);
    }
    assert_non_null(strstr(error.message, "comparison"));
    kf_space_free(space);
    kf_scene_free(scene);
}

/* A config of another version is read under new names. A parameter that is gone is left out if it changed
 * nothing, and otherwise refused with a way out. */
static void test_configs_of_other_versions(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    const kf_problem *problem = problem_of(kinetic_system, scene);
    const kf_device_info *device = kf_backend_device(backend);
    kf_space *space;
    must(kf_problem_space(problem, device, NULL, 0, &space, &error), &error);
    kf_config today, old;
    take_preset(space, "paper", &today);
    old = today;
    kf_config_remove(&old, "sample_order");
    kf_config_set_boolean(&old, "morton", true);
    kf_config_set_integer(&old, "reorder_period", 0);
    kf_config_set_boolean(&old, "streaming_stores", false);
    kf_config_set_name(&old, "shell_lane", "own");
    kf_config_set_boolean(&old, "exchange", false);
    kf_config_set_boolean(&old, "prefetch", false);
    must(kf_problem_check_config(problem, device, &old, &error), &error);
    char *read = kf_config_text(&old), *wanted = kf_config_text(&today);
    assert_string_equal(read, wanted);
    free(read);
    free(wanted);
    const char *order = "";
    kf_config_remove(&old, "sample_order");
    kf_config_set_boolean(&old, "morton", false);
    must(kf_problem_check_config(problem, device, &old, &error), &error);
    must(kf_config_name(&old, "sample_order", &order, &error), &error);
    assert_string_equal(order, "cells");
    kf_config_set_boolean(&old, "exchange", true);
    assert_int_equal(kf_problem_check_config(problem, device, &old, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "exchange=true"));
    assert_non_null(strstr(error.message, "tune again"));
    kf_space_free(space);
    kf_scene_free(scene);
}

/* A solid's windows are those of its turn. One that travels along any axis, hardly turns or does not move
 * has none. Of several solids the slowest turn counts. */
static void test_steps_of_a_turn(void **state) {
    (void)state;
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    kf_motion *motion = &scene->motion;
    *motion = (kf_motion){.moving = true, .angular_speed = -0.01};
    assert_int_equal(kf_kinetic_turn_steps(scene), 629);
    for (int a = 0; a < 3; a++) {
        motion->velocity[a] = a == 1 ? -0.01 : 0.01;
        assert_int_equal(kf_kinetic_turn_steps(scene), 0);
        motion->velocity[a] = 0.0;
    }
    motion->angular_speed = 1e-9;
    assert_int_equal(kf_kinetic_turn_steps(scene), 0);
    motion->angular_speed = 0.01;
    motion->moving = false;
    assert_int_equal(kf_kinetic_turn_steps(scene), 0);
    static const double speeds[] = {0.1, 0.01, 0.02};
    for (int s = 0; s < 3; s++)
        scene->solids[s].motion = (kf_motion){.moving = true, .angular_speed = speeds[s]};
    scene->solid_count = 3;
    assert_int_equal(kf_kinetic_turn_steps(scene), 629);
    scene->solids[1].motion.moving = false;
    assert_int_equal(kf_kinetic_turn_steps(scene), 315);
    free(scene);
}

/* Timing puts the solid where it is in any window of its turn; the next step continues from there. */
static void test_the_solid_goes_to_any_window(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("torus", 6000);
    kf_space *space = open_space(scene);
    kf_config config;
    take_preset(space, "default", &config);
    kf_plan *plan = open_plan(scene, &config);
    const kf_kinetic *kinetic = plan->system;
    const double turns = (double)plan->window_steps * fabs(scene->motion.angular_speed) / (2.0 * acos(-1.0));
    assert_true(turns >= 1.0 && turns < 1.0 + 1.0 / (double)plan->window_steps * 2.0);
    static const struct {
        int window;
        double shift;
    } windows[] = {{1, 0.5}, {0, 0.0}, {4, 0.999}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t place = kf_plan_window_step(plan, windows[i].window, windows[i].shift);
        must(plan->methods->seek(plan, windows[i].window, windows[i].shift, &error), &error);
        for (int step = 0; step < 2; step++) {
            kf_pose pose;
            double rotation[9], center[3];
            advance(plan, 1);
            must(kf_buffer_download(kinetic->pose, 0, &pose, sizeof pose, &error), &error);
            kf_motion_pose(&scene->motion, (double)(place + (uint64_t)step), rotation, center);
            for (int k = 0; k < 9; k++)
                assert_true(fabs(pose.rotation[k] - rotation[k]) < 1e-9);
        }
    }
    kf_plan_free(plan);
    kf_scene_free(scene);
    kf_space_free(space);
    scene = open_scene("ball", 3000); /* nothing turns */
    space = open_space(scene);
    take_preset(space, "default", &config);
    plan = open_plan(scene, &config);
    assert_true(plan->window_steps == 0);
    kf_plan_free(plan);
    kf_scene_free(scene);
    kf_space_free(space);
}

static void test_impossible_configs_are_refused(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    kf_space *space = open_space(scene);
    kf_config good, bad;
    kf_plan *plan;
    take_preset(space, "default", &good);
    bad = good;
    kf_config_set_integer(&bad, "collision_split", 2);
    assert_int_equal(kinetic_system->plan(problem_of(kinetic_system, scene), &bad, backend, &plan, &error),
                     KF_BAD_INPUT);
    bad = good;
    kf_config_set_name(&bad, "layout", "csoa");
    kf_config_set_integer(&bad, "alpha", 3);
    assert_int_equal(kinetic_system->plan(problem_of(kinetic_system, scene), &bad, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "power of two"));
    kf_space_free(space);
    kf_scene_free(scene);
}

/* A config from a file is checked against the space, with the constraint's reason or the domain. */
static void test_configs_are_held_against_their_space(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    const kf_problem *problem = problem_of(kinetic_system, scene);
    const kf_device_info *device = kf_backend_device(backend);
    kf_space *space;
    must(kf_problem_space(problem, device, NULL, 0, &space, &error), &error);
    kf_config good, bad;
    take_preset(space, "default", &good);
    must(kf_problem_check_config(problem, device, &good, &error), &error);
    bad = good;
    kf_config_set_integer(&bad, "collision_split", 2);
    assert_int_equal(kf_problem_check_config(problem, device, &bad, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "have their collision in the streaming kernel"));
    bad = good;
    kf_config_set_integer(&bad, "segment_length", 5);
    assert_int_equal(kf_problem_check_config(problem, device, &bad, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "segment_length"));
    kf_space_free(space);
    kf_scene_free(scene);
}

/* Four cells beyond the solid's length are enough across a seam, and no less. */
static void test_length_of_a_solid_across_the_seam(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    scene->solid_low[1] = 2.0;
    scene->solid_high[1] = scene->nodes[1] - 2.0;
    must(kf_kinetic_check_solid(scene, &error), &error);
    scene->solid_high[1] = scene->nodes[1] - 0.5; /* across the seam now */
    scene->solid_low[1] = 3.5;
    must(kf_kinetic_check_solid(scene, &error), &error);
    scene->solid_low[1] = 3.25;
    assert_int_equal(kf_kinetic_check_solid(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "too long"));
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_refuses_a_wrong_result),
        cmocka_unit_test(test_plans_agree_after_100_steps),
        cmocka_unit_test(test_force_is_the_momentum_change),
        cmocka_unit_test(test_blocks_of_three_dimensions),
        cmocka_unit_test(test_orders_of_samples),
        cmocka_unit_test(test_orders_of_one_pass),
        cmocka_unit_test(test_configs_of_other_versions),
        cmocka_unit_test(test_steps_of_a_turn),
        cmocka_unit_test(test_the_solid_goes_to_any_window),
        cmocka_unit_test(test_impossible_configs_are_refused),
        cmocka_unit_test(test_configs_are_held_against_their_space),
        cmocka_unit_test(test_length_of_a_solid_across_the_seam),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants_on_all_cores, close_backend);
}
