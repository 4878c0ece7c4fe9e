/* Tests solids by links that turn in place: which surfaces may, the kernels against the reference, mass,
 * and refusals. Faults: a wrong velocity of the surface. KFTUNE_TEST_DEVICE chooses the device (default
 * cpu). */
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

/* The shipped ball by links, which turns about an axis through a place beside its middle. */
static kf_scene *open_turning(const double beside[3]) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_scene("ball", NODES);
    scene->linked = true;
    scene->samples.count = 0;
    scene->motion = (kf_motion){.moving = true, .axis = {0.48, -0.6, 0.64}, .angular_speed = 0.013};
    for (int a = 0; a < 3; a++)
        scene->motion.center[a] = 0.5 * (scene->solid_low[a] + scene->solid_high[a]) + beside[a];
    must(kf_scene_cut_links(scene, &error), &error);
    return scene;
}

static bool turns(const char *shape, const double *values, const double axis[3], const double center[3]) {
    kf_mesh mesh = {0};
    kf_motion motion = {.moving = true};
    memcpy(motion.axis, axis, sizeof motion.axis);
    memcpy(motion.center, center, sizeof motion.center);
    for (int s = 0; s < KF_SHAPES; s++)
        if (strcmp(kf_shapes[s].name, shape) == 0) kf_shape_mesh(&kf_shapes[s], values, &mesh);
    assert_true(mesh.triangle_count > 0);
    const bool in_place = kf_scene_turns_in_place(&mesh, &motion);
    kf_mesh_free(&mesh);
    return in_place;
}

/* A ball turns in place about each of its diameters, a torus about its own axis, a plate never. */
static void test_which_surfaces_turn_in_place(void **state) {
    (void)state;
    static const double at[3] = {0, 0, 0}, near[3] = {0.03, -0.02, 0.02}, off[3] = {0.3, 0, 0},
                        x[3] = {1, 0, 0}, z[3] = {0, 0, 1}, across[3] = {0.48, -0.6, 0.64},
                        ball[KF_SHAPE_PARAMETERS] = {8}, torus[KF_SHAPE_PARAMETERS] = {7, 3},
                        plate[KF_SHAPE_PARAMETERS] = {8, 8, 2};
    assert_true(turns("ball", ball, x, at));
    assert_true(turns("ball", ball, across, at));
    assert_true(turns("ball", ball, across, near));
    assert_false(turns("ball", ball, across, off));
    assert_true(turns("torus", torus, z, at));
    assert_true(turns("torus", torus, z, (double[3]){0, 0, 5}));
    assert_false(turns("torus", torus, x, at));
    assert_false(turns("torus", torus, z, off));
    assert_false(turns("plate", plate, x, at));
    assert_false(turns("plate", plate, z, at));
}

/* A surface of revolution with a part missing does not stay in place. */
static void test_parts_of_a_tube(void **state) {
    (void)state;
    kf_scene *scene = kf_flow_box("tube", 24, 24, 4, 0.01);
    const kf_motion motion = {.moving = true, .center = {11.2, 12.1, 1.0}, .axis = {0, 0, 1}};
    kf_body_add_tube(scene, motion.center, 7.3);
    assert_true(kf_scene_turns_in_place(&scene->mesh, &motion));
    scene->mesh.triangle_count -= scene->mesh.triangle_count / 16;
    assert_false(kf_scene_turns_in_place(&scene->mesh, &motion));
    kf_scene_free(scene);
}

/* Verifies configs that differ in what links need. */
static void verify_turning(const kf_scene *scene, int count) {
    enum { CONFIGS = 7 };
    static const char *const values[CONFIGS][MOST_VALUES] = {
        {"storage=f32"},   {"storage=f64"}, {"storage=f16"}, {"streaming=shift", "slab=4"},
        {"plan=baseline"}, {"plan=paper"},  {"layout=aos"}};
    verify_nearest(scene, values, count);
}

static void test_against_the_reference(void **state) {
    (void)state;
    enum { ALL = 7, TWO = 2 };
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_turning((const double[3]){0, 0, 0});
    verify_turning(scene, ALL);
    scene->half_way = true;
    must(kf_scene_cut_links(scene, &error), &error);
    verify_turning(scene, TWO);
    kf_scene_free(scene);
}

/* Advances a ball that turns at this speed in a periodic box, and returns the load on it. */
static kf_solid_load turn_ball(kf_scene *scene, const double center[3], double angular_speed, int steps) {
    kf_error error = {KF_OK, ""};
    kf_solid_load load;
    kf_body_set_ball(scene, center, 4.0);
    scene->motion =
        (kf_motion){.moving = angular_speed != 0.0, .axis = {0, 0.6, 0.8}, .angular_speed = angular_speed};
    memcpy(scene->motion.center, center, sizeof scene->motion.center);
    must(kf_body_link(scene, false, &error), &error);
    kf_plan *plan = open_default(scene);
    advance(plan, (uint64_t)steps);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    kf_plan_free(plan);
    return load;
}

static kf_scene *make_periodic(void) {
    enum { NODES_EACH = 20 };
    kf_scene *scene = kf_flow_box("seam", NODES_EACH, NODES_EACH, NODES_EACH, 0.02);
    scene->body_force[0] = 1e-5;
    return scene;
}

/* A ball across the periodic faces has the force and the torque of one in the middle, turning or not. Both
 * have the same position among the rows of the averages, which are every fourth. */
static void test_forces_across_periodic_faces(void **state) {
    (void)state;
    enum { STEPS = 30 };
    static const double centers[2][3] = {{9.7, 9.8, 10.2}, {17.7, 17.8, 2.2}};
    for (int turning = 0; turning < 2; turning++) {
        kf_solid_load load[2];
        for (int seam = 0; seam < 2; seam++) {
            kf_scene *scene = make_periodic();
            load[seam] = turn_ball(scene, centers[seam], turning ? 0.004 : 0.0, STEPS);
            kf_scene_free(scene);
        }
        for (int seam = 0; seam < 2; seam++)
            print_message("force %.4g, torque %.4g %.4g %.4g\n", load[seam].force[0], load[seam].torque[0],
                          load[seam].torque[1], load[seam].torque[2]);
        const double most = kf_length(load[0].torque) + 4.0 * kf_length(load[0].force);
        for (int a = 0; a < 3; a++) {
            assert_true(fabs(load[1].torque[a] - load[0].torque[a]) < 1e-3 * most);
            assert_true(fabs(load[1].force[a] - load[0].force[a]) < 1e-3 * most);
        }
    }
}

/* The reference has this torque, too. */
static void test_reference_on_seams(void **state) {
    (void)state;
    kf_scene *scene = make_periodic();
    (void)turn_ball(scene, (const double[3]){17.7, 17.8, 2.2}, 0.015, 1);
    verify_turning(scene, 1);
    kf_scene_free(scene);
}

/* A ball that begins to turn in a fluid at rest feels a torque against its turn, as in an unbounded fluid
 * at small Reynolds numbers, and no force. */
static void test_a_turning_ball_feels_a_torque(void **state) {
    (void)state;
    enum { LOOKS = 3 };
    static const int steps[LOOKS] = {30, 100, 400};
    const double viscosity = 0.1, radius = 4.0, speed = 0.004, pi = 3.141592653589793;
    for (int k = 0; k < LOOKS; k++) {
        kf_scene *scene = kf_flow_box("turning", 24, 24, 24, viscosity);
        const kf_solid_load load = turn_ball(scene, (const double[3]){11.5, 11.5, 11.5}, speed, steps[k]);
        const double depth = sqrt(viscosity * steps[k]) / radius,
                     exact = 8.0 * pi * viscosity * pow(radius, 3) * speed *
                             (1.0 + (1.0 / (depth * sqrt(pi)) - exp(depth * depth) * erfc(depth)) / 3.0),
                     about = -kf_dot(load.torque, scene->motion.axis);
        print_message("%d steps: torque %.4g, unbounded %.4g\n", steps[k], about, exact);
        assert_true(fabs(about / exact - 1.0) < 0.05);
        assert_true(kf_length(load.force) < 1e-4 * about);
        kf_scene_free(scene);
    }
}

#define TURN "\"axis\": [0, 0, 1], \"angular_velocity\": 1"
#define SOLID(shape, motion)                                                                                 \
    "\"solid\": {" shape ", \"position\": [1, 0.8, 0.6], \"boundary\": \"links\", \"motion\": {" motion "}}"

/* Links name the motions that they follow. */
static void test_motions_that_links_follow_are_named(void **state) {
    (void)state;
    assert_scene_refused(
        BOX(TUNNEL, FLOW ", " SOLID("\"shape\": \"ball\", \"radius\": 0.3", "\"velocity\": [0, 0, 0.1]")),
        "motion");
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    const char *file = write_text("turning.json",
                                  BOX(TUNNEL, FLOW ", " SOLID("\"shape\": \"ball\", \"radius\": 0.3", TURN)));
    must(kf_scene_open(file, NULL, &scene, &error), &error);
    assert_true(scene->linked && scene->motion.moving && scene->links.count > 100);
    scene->wall_law = true;
    assert_int_equal(kf_scene_cut_links(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "law of the wall"));
    scene->wall_law = false;
    scene->motion.free = true;
    assert_int_equal(kf_scene_cut_links(scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "moves only as prescribed"));
    scene->motion.free = false;
    must(kf_scene_cut_links(scene, &error), &error);
    assert_false(scene->links.leaves);
    scene->motion.center[0] += 1.0;
    must(kf_scene_cut_links(scene, &error), &error);
    assert_true(scene->links.leaves);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_surfaces_turn_in_place),
        cmocka_unit_test(test_parts_of_a_tube),
        cmocka_unit_test(test_against_the_reference),
        cmocka_unit_test(test_forces_across_periodic_faces),
        cmocka_unit_test(test_reference_on_seams),
        cmocka_unit_test(test_a_turning_ball_feels_a_torque),
        cmocka_unit_test(test_motions_that_links_follow_are_named),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
