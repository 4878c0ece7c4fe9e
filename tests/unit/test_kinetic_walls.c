/* Tests faces and walls of the kinetic system without a solid: every variant against the reference, and
 * layers between walls whose flow is known. Faults: a wrong population at a face, edge or corner.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/scene.h"
#include "tests/unit/kinetic_variants.h"

/* The scenes above lack these: no solid, body force, moving wall, BGK, outflows that share edges. */
static void test_walls_and_body_force(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 2000);
    scene->samples.count = 0;
    for (int face = 0; face < KF_FACES; face++) {
        scene->faces[face] = face < 2 ? KF_PERIODIC : face == 3 ? KF_FREE_SLIP : KF_WALL;
        memset(scene->face_velocity[face], 0, sizeof scene->face_velocity[face]);
    }
    scene->face_velocity[KF_ZMAX][1] = 0.04;
    scene->body_force[0] = 1e-5;
    scene->body_force[2] = -2e-6;
    scene->rate_rule = KF_RATE_CONSTANT;
    scene->high_order_rate = 1.9;
    for (int model = 0; model < 2; model++) {
        scene->collision = model && !SANITIZED ? KF_ACM_MRT : KF_BGK;
        if (model) {
            scene->faces[KF_XMIN] = KF_INFLOW;
            scene->face_velocity[KF_XMIN][0] = 0.05;
            scene->faces[KF_XMAX] = scene->faces[KF_YMAX] = scene->faces[KF_ZMIN] = KF_OUTFLOW;
        }
        if (model)
            assert_true(verify_variants(scene, 12, is_representative) >= LEAST_VARIANTS);
        else
            assert_true(verify_values(scene, 12, is_representative) >= LEAST_VALUES);
    }
    kf_scene_free(scene);
}

/* Walls that mirror a share, with edges to walls that do not, to free slip, to an outflow, and across a
 * periodic seam. */
static void test_specular_walls(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 2000);
    scene->samples.count = 0;
    scene->collision = KF_BGK;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    scene->initial_velocity[1] = scene->initial_velocity[2] = 0.02; /* onto the walls: densities to compare */
    for (int seam = 0; seam < 2; seam++) {
        for (int face = 0; face < KF_FACES; face++)
            scene->faces[face] = seam && face < KF_YMIN ? KF_PERIODIC : face == 3 ? KF_FREE_SLIP : KF_WALL;
        if (!seam) scene->faces[KF_XMIN] = KF_OUTFLOW;
        scene->specular_share[KF_XMAX] = seam ? 0.0 : 0.7;
        scene->specular_share[KF_YMIN] = 0.25;
        scene->specular_share[KF_ZMIN] = 0.5;
        scene->face_velocity[KF_XMAX][1] = seam ? 0.0 : 0.03;
        scene->face_velocity[KF_ZMIN][0] = 0.05;
        assert_true(verify_values(scene, 12, is_representative) >= LEAST_VALUES);
    }
    kf_scene_free(scene);
}

/* A wind blows along y or z between walls across x, at rest and moving. At the edges faces that come later
 * in the order of the axes decide. */
static void test_later_faces_decide(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 2000);
    scene->samples.count = 0;
    scene->collision = KF_BGK;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    for (int wind = 1; wind < 3; wind++) {
        for (int face = 0; face < KF_FACES; face++)
            scene->faces[face] = face / 2 != wind ? KF_WALL : face % 2 ? KF_OUTFLOW : KF_INFLOW;
        memset(scene->face_velocity, 0, sizeof scene->face_velocity);
        scene->face_velocity[2 * wind][wind] = scene->face_velocity[KF_XMAX][wind] = 0.05;
        scene->face_velocity[KF_XMAX][3 - wind] = 0.02; /* onto the walls at rest */
        assert_true(verify_values(scene, 12, is_representative) >= LEAST_VALUES);
    }
    kf_scene_free(scene);
}

static void noise(const void *speed, int i, int j, int k, double *density, double velocity[3]) {
    unsigned hash = (unsigned)i * 73856093U ^ (unsigned)j * 19349663U ^ (unsigned)k * 83492791U;
    *density = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        hash = hash * 1664525U + 1013904223U;
        velocity[axis] = (axis == 0 ? *(const double *)speed : 0.0) + 1e-4 * (hash / 4294967296.0 - 0.5);
    }
}

/* A layer between walls across z, with a share of it mirrored by both; periodic along x and y. */
static kf_scene *open_layer(int length, int height, double viscosity, double specular_share) {
    kf_scene *scene = open_scene("ball", 2000);
    const int nodes[3] = {length, 4, height};
    memcpy(scene->nodes, nodes, sizeof nodes);
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    scene->samples.count = 0;
    scene->viscosity = viscosity;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = face < KF_ZMIN ? KF_PERIODIC : KF_WALL;
    scene->specular_share[KF_ZMIN] = scene->specular_share[KF_ZMAX] = specular_share;
    return scene;
}

/* Returns the largest deviation from the stream, after noise of 4e-5 had 1000 steps between walls that
 * move with it. */
static double noise_along_moving_walls(double specular_share) {
    const double speed = 0.05;
    kf_scene *scene = open_layer(48, 16, 2e-4, specular_share);
    scene->initial_state = noise;
    scene->initial_context = &speed;
    scene->face_velocity[KF_ZMIN][0] = scene->face_velocity[KF_ZMAX][0] = speed;
    kf_fields fields = fields_after(scene, 1000);
    double most = 0;
    for (int i = 0; i < 48 * 4 * 16; i++)
        most = fmax(most, fabs((double)fields.velocity[0][i] - speed));
    kf_fields_free(&fields);
    kf_scene_free(scene);
    return most;
}

/* Tests what docs/physics.md says of walls that move with the stream. */
static void test_walls_that_move_with_the_stream(void **state) {
    (void)state;
    const double returned = noise_along_moving_walls(0.0), half = noise_along_moving_walls(0.5);
    print_message("noise after 1000 steps: %.2g when all is sent back, %.2g when half is mirrored\n",
                  returned, half);
    assert_true(returned > 1e-3);
    assert_true(half < 3e-5);
}

/* A stream between walls that move with it stays uniform, up to the edges with inflow and outflow. */
static void test_uniform_stream_to_the_outflow(void **state) {
    (void)state;
    enum { NODES = 16 * 4 * 8 };
    const double speed = 0.05;
    kf_scene *scene = open_layer(16, 8, 1e-3, 0.5);
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->initial_velocity[0] = speed;
    scene->face_velocity[KF_XMIN][0] = scene->face_velocity[KF_ZMIN][0] = scene->face_velocity[KF_ZMAX][0] =
        speed;
    kf_fields fields = fields_after(scene, 200);
    for (int i = 0; i < NODES; i++)
        assert_true(fabs((double)fields.velocity[0][i] - speed) < 1e-4 * speed);
    kf_fields_free(&fields);
    kf_scene_free(scene);
}

/* Steady shear between a moving wall and one at rest: u = W (z + 1/2 + b) / (H + 2 b) from the wall at rest,
 * with the slip length b = 3 viscosity share / (1 - share). */
static void test_slip_of_specular_walls(void **state) {
    (void)state;
    const double viscosity = 0.1, share = 0.5, speed = 0.02, slip = 3.0 * viscosity * share / (1.0 - share);
    enum { HEIGHT = 8 };
    kf_scene *scene = open_layer(4, HEIGHT, viscosity, share);
    scene->face_velocity[KF_ZMAX][0] = speed;
    kf_fields fields = fields_after(scene, 6000);
    for (int z = 0; z < HEIGHT; z++) {
        const double expected = speed * (z + 0.5 + slip) / (HEIGHT + 2.0 * slip);
        assert_true(fabs((double)fields.velocity[0][16 * z] - expected) < 1e-3 * speed);
    }
    kf_fields_free(&fields);
    kf_scene_free(scene);
}

enum { EDGE = 12 };
/* Finds the speed at every node of a cube after some steps, turned back, with a wind along `axis` between
 * walls. */
static void turned_speeds(int axis, int turn, double speeds[EDGE * EDGE * EDGE]) {
    kf_scene *scene = open_scene("ball", 2000);
    const int across = (axis + turn) % 3, third = 3 - axis - across;
    for (int a = 0; a < 3; a++)
        scene->nodes[a] = EDGE;
    scene->samples.count = 0;
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = face / 2 != axis ? KF_WALL : face % 2 ? KF_OUTFLOW : KF_INFLOW;
    scene->face_velocity[2 * axis][axis] = 0.05;
    kf_fields fields = fields_after(scene, 60);
    const int step[3] = {1, EDGE, EDGE * EDGE};
    for (int n = 0; n < EDGE * EDGE * EDGE; n++) {
        const int from =
            n % EDGE * step[axis] + n / EDGE % EDGE * step[across] + n / EDGE / EDGE * step[third];
        const double v[3] = {fields.velocity[0][from], fields.velocity[1][from], fields.velocity[2][from]};
        speeds[n] = kf_length(v);
    }
    kf_fields_free(&fields);
    kf_scene_free(scene);
}

/* The flow is the same whichever axis the wind blows along, up to edges of inflow and walls. */
static void test_axes_are_alike(void **state) {
    (void)state;
    static double first[EDGE * EDGE * EDGE], other[EDGE * EDGE * EDGE];
    turned_speeds(0, 1, first);
    for (int axis = 0; axis < 3; axis++)
        for (int turn = 1; turn < 3; turn++) {
            turned_speeds(axis, turn, other);
            for (int n = 0; n < EDGE * EDGE * EDGE; n++)
                assert_true(fabs(other[n] - first[n]) < 1e-5 * 0.05);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walls_and_body_force),
        cmocka_unit_test(test_specular_walls),
        cmocka_unit_test(test_later_faces_decide),
        cmocka_unit_test(test_axes_are_alike),
        cmocka_unit_test(test_walls_that_move_with_the_stream),
        cmocka_unit_test(test_uniform_stream_to_the_outflow),
        cmocka_unit_test(test_slip_of_specular_walls),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
