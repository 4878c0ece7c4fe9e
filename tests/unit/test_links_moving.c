/* Tests solids by links whose surface moves through the grid: the kernels against the reference, a ball
 * that travels against a ball in a stream, mass, checkpoints, and refusals. Faults: a node that is
 * refilled wrongly, or a force in the wrong frame. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"
#include "solver/validation/body.h"
#include "tests/unit/folder_and_backend.h"
#include "tests/unit/kinetic_states.h"
#include "tests/unit/scene_texts.h"

enum { NODES = 4000 };

/* Verifies configs that differ in how a step passes over memory. */
static void verify_moving(const kf_scene *scene, int count) {
    enum { CONFIGS = 8 };
    static const char *const values[CONFIGS][MOST_VALUES] = {
        {"storage=f32"},   {"storage=f64"}, {"storage=f16"}, {"streaming=shift", "slab=4"},
        {"plan=baseline"}, {"plan=paper"},  {"layout=aos"},  {"boundary_kernels=1"}};
    verify_nearest(scene, values, count);
}

/* The shipped ball in its tunnel, which turns about an axis beside it. */
static void test_excentric_ball(void **state) {
    (void)state;
    enum { ALL = 8, TWO = 2 };
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_scene("ball", NODES);
    scene->linked = true;
    scene->samples.count = 0;
    scene->motion = (kf_motion){.moving = true, .axis = {0.48, -0.6, 0.64}, .angular_speed = 0.021};
    for (int a = 0; a < 3; a++)
        scene->motion.center[a] = 0.5 * (scene->solid_low[a] + scene->solid_high[a]) + 0.3 * a;
    must(kf_scene_cut_links(scene, &error), &error);
    assert_true(scene->links.leaves);
    verify_moving(scene, ALL);
    scene->half_way = true;
    must(kf_scene_cut_links(scene, &error), &error);
    verify_moving(scene, TWO);
    kf_scene_free(scene);
}

enum { EACH = 20 };
static kf_scene *make_periodic(double viscosity) {
    return kf_flow_box("moving", EACH, EACH, EACH, viscosity);
}

/* Makes a periodic box of fluid with a box that turns; the caller frees the scene. */
static kf_scene *make_turning_box(const double low[3], const double high[3], const kf_motion *motion) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_periodic(0.02);
    kf_body_add_box(scene, low, high);
    scene->motion = *motion;
    must(kf_body_link(scene, false, &error), &error);
    return scene;
}

/* A box that turns about an oblique axis through its middle, across two seams, with a force on the fluid. */
static void test_box_on_seams(void **state) {
    (void)state;
    enum { FEW = 4 };
    const kf_motion motion = {
        .moving = true, .center = {18.8, 0.15, 10.0}, .axis = {0, 0.6, 0.8}, .angular_speed = 0.02};
    kf_scene *scene =
        make_turning_box((const double[3]){15.2, -3.1, 8.0}, (const double[3]){22.4, 3.4, 12.0}, &motion);
    scene->body_force[1] = 2e-5;
    assert_true(scene->links.leaves);
    scene->rate_rule =
        KF_RATE_ONES; /* without averages, whose sums in fixed point would be most of the error */
    scene->accuracy = 0.02;
    verify_moving(scene, FEW);
    kf_scene_free(scene);
}

/* A box that turns about its middle in a fluid at rest feels a torque but no force. */
static void test_force_that_cancels(void **state) {
    (void)state;
    enum { ONE = 1 };
    const kf_motion motion = {
        .moving = true, .center = {9.5, 9.5, 9.5}, .axis = {0, 1, 0}, .angular_speed = 0.01};
    kf_scene *scene =
        make_turning_box((const double[3]){6.0, 7.5, 8.0}, (const double[3]){13.0, 11.5, 11.0}, &motion);
    scene->rate_rule = KF_RATE_ONES;
    verify_moving(scene, ONE);
    kf_scene_free(scene);
}

static kf_plan *open_with(const kf_scene *scene, const char *const *values) {
    const kf_config config = default_with(scene, values);
    return open_plan(scene, &config);
}

/* Returns the mean force along x over the last steps on a ball in a fluid that flows along x with this
 * speed at first. */
static double mean_drag(kf_scene *scene, double speed) {
    enum { STEPS = 210, LOOKS = 25 };
    const double center[3] = {9.7, 9.8, 10.2};
    kf_error error = {KF_OK, ""};
    double sum = 0.0;
    scene->initial_velocity[0] = speed;
    kf_body_set_ball(scene, center, 4.0);
    memcpy(scene->motion.center, center, sizeof center);
    must(kf_body_link(scene, false, &error), &error);
    kf_plan *plan = open_with(scene, (const char *const[]){NULL});
    advance(plan, STEPS - LOOKS);
    for (int look = 0; look < LOOKS; look++) {
        kf_solid_load load;
        advance(plan, 1);
        must(plan->methods->flow->load(plan, &load, &error), &error);
        sum += load.force[0];
    }
    kf_plan_free(plan);
    return sum / LOOKS;
}

/* A ball that travels through a fluid at rest by the distance of a node has the drag of a ball at rest in
 * a stream of that speed, whose links are computed in another way. */
static void test_travelling_ball(void **state) {
    (void)state;
    const double speed = 0.04;
    kf_scene *scene = make_periodic(0.05);
    const double at_rest = mean_drag(scene, speed);
    kf_scene_free(scene);
    scene = make_periodic(0.05);
    scene->motion = (kf_motion){.moving = true, .velocity = {-speed, 0, 0}};
    const double travelling = mean_drag(scene, 0.0);
    assert_true(scene->links.leaves);
    kf_scene_free(scene);
    print_message("drag at rest in a stream %.5g, travelling %.5g\n", at_rest, travelling);
    assert_true(fabs(travelling / at_rest - 1.0) < 0.015);
}

/* Returns the mean density - 1 of all nodes. */
static double mean_density(kf_plan *plan, size_t count) {
    kf_error error = {KF_OK, ""};
    kf_fields fields;
    double sum = 0.0;
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    for (size_t i = 0; i < count; i++)
        sum += (double)fields.density[i] - 1.0;
    kf_fields_free(&fields);
    return sum / (double)count;
}

/* Nodes that are covered and uncovered keep the mass on average: a box that turns four times changes the
 * mean density by less than 2e-4. */
static void test_moving_links_keep_the_mass(void **state) {
    (void)state;
    enum { STEPS = 1200 };
    const kf_motion motion = {.moving = true,
                              .center = {9.8, 8.2, 10.0},
                              .axis = {0, 0.6, 0.8},
                              .angular_speed = 4 * 2.0 * 3.141592653589793 / STEPS};
    kf_scene *scene =
        make_turning_box((const double[3]){6.2, 5.1, 8.0}, (const double[3]){13.4, 11.4, 12.0}, &motion);
    kf_plan *plan = open_with(scene, (const char *const[]){NULL});
    advance(plan, STEPS);
    const double off = mean_density(plan, EACH * EACH * EACH);
    print_message("mean density off by %.3g\n", off);
    assert_true(fabs(off) < 2e-4);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A ball about its own axis, which covers and uncovers no nodes, has the torque that the lists of links
 * give. */
static void test_ball_in_place(void **state) {
    (void)state;
    enum { STEPS = 100 };
    kf_error error = {KF_OK, ""};
    kf_solid_load load[2];
    for (int k = 0; k < 2; k++) {
        kf_scene *scene = make_periodic(0.1);
        const double center[3] = {9.7, 9.8, 10.2};
        scene->motion = (kf_motion){.moving = true, .axis = {0, 0.6, 0.8}, .angular_speed = 0.004};
        kf_body_set_ball(scene, center, 4.0);
        memcpy(scene->motion.center, center, sizeof center);
        must(kf_body_link(scene, false, &error), &error);
        assert_false(scene->links.leaves);
        scene->links.leaves = k == 1;
        kf_plan *plan = open_with(scene, (const char *const[]){NULL});
        advance(plan, STEPS);
        must(plan->methods->flow->load(plan, &load[k], &error), &error);
        kf_plan_free(plan);
        kf_scene_free(scene);
    }
    print_message("torque by lists %.5g, by the box %.5g\n", kf_length(load[0].torque),
                  kf_length(load[1].torque));
    for (int a = 0; a < 3; a++)
        assert_true(fabs(load[1].torque[a] - load[0].torque[a]) < 0.02 * kf_length(load[0].torque));
    assert_true(kf_length(load[1].force) < 1e-3 * kf_length(load[1].torque));
}

/* A checkpoint contains the pose, so that a run that continues equals one without a break. */
static void test_a_checkpoint_keeps_the_pose(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_periodic(0.02);
    kf_body_add_box(scene, (const double[3]){6.2, 5.1, 8.0}, (const double[3]){13.4, 11.4, 12.0});
    scene->motion = (kf_motion){.moving = true,
                                .center = {9.8, 8.2, 10.0},
                                .axis = {0, 0.6, 0.8},
                                .angular_speed = 0.013,
                                .velocity = {0.02, 0, -0.01}};
    must(kf_body_link(scene, false, &error), &error);
    kf_plan *whole = open_with(scene, (const char *const[]){NULL}),
            *again = open_with(scene, (const char *const[]){NULL});
    size_t bytes;
    advance(whole, 31);
    void *saved = save(whole, &bytes);
    must(again->methods->restore(again, saved, whole->steps_done, &error), &error);
    advance(whole, 20);
    advance(again, 20);
    assert_same_state(whole, again);
    free(saved);
    kf_plan_free(whole);
    kf_plan_free(again);
    kf_scene_free(scene);
}

/* Motions that links cannot follow are refused by name, before anything is made. */
static void test_motions_that_links_cannot_follow_are_refused(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_periodic(0.02);
    kf_body_add_box(scene, (const double[3]){6.2, 5.1, 8.0}, (const double[3]){13.4, 11.4, 12.0});
    scene->motion = (kf_motion){
        .moving = true, .center = {9.8, 8.2, 10.0}, .axis = {0, 0.6, 0.8}, .angular_speed = 0.013};
    must(kf_body_link(scene, false, &error), &error);
    const kf_problem *problem = problem_of(kinetic_system, scene);
    kf_device_info device = *kf_backend_device(backend);
    must(kinetic_system->accepts_device(problem, &device, &error), &error);
    device.parts = 2;
    assert_int_equal(kinetic_system->accepts_device(problem, &device, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "runs on one device"));
    scene->open_edges = 3;
    assert_int_equal(kf_scene_cut_links(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "holes"));
    scene->open_edges = 0;
    scene->motion.center[0] -= 6.0;
    assert_int_equal(kf_scene_cut_links(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "which is periodic"));
    scene->motion.center[0] += 6.0;
    scene->wall_law = true;
    assert_int_equal(kf_scene_cut_links(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "law of the wall"));
    kf_scene_free(scene);
}

#define PLATE(thickness, velocity)                                                                           \
    "\"solid\": {\"shape\": \"plate\", \"chord\": 0.5, \"width\": 0.5, \"thickness\": " thickness            \
    ", \"position\": [1, 0.8, 0.6], \"boundary\": \"links\", \"motion\": {\"axis\": [0, 0, 1], "             \
    "\"angular_velocity\": 1, \"velocity\": " velocity "}}"

/* A plate may turn, and travel along periodic axes, unless it is so thin that fluid would pass through it. */
static void test_motions_that_links_follow(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    assert_scene_refused(BOX(TUNNEL, FLOW ", " PLATE("0.1", "[0, 0, 0]")), "thinner than 1.75 cells");
    assert_scene_refused(BOX(TUNNEL, FLOW ", " PLATE("0.3", "[0.1, 0, 0]")), "motion.velocity");
    must(kf_scene_open(write_text("turns.json", BOX(TUNNEL, FLOW ", " PLATE("0.3", "[0, 0, 0]"))), NULL,
                       &scene, &error),
         &error);
    assert_true(scene->links.leaves && scene->links.count > 100);
    kf_scene_free(scene);
    must(kf_scene_open(write_text("travels.json", BOX(PERIODIC, FLOW ", " PLATE("0.3", "[0.1, 0, 0]"))), NULL,
                       &scene, &error),
         &error);
    assert_true(scene->links.leaves);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excentric_ball),
        cmocka_unit_test(test_box_on_seams),
        cmocka_unit_test(test_travelling_ball),
        cmocka_unit_test(test_ball_in_place),
        cmocka_unit_test(test_moving_links_keep_the_mass),
        cmocka_unit_test(test_a_checkpoint_keeps_the_pose),
        cmocka_unit_test(test_motions_that_links_cannot_follow_are_refused),
        cmocka_unit_test(test_motions_that_links_follow),
        cmocka_unit_test(test_force_that_cancels),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
