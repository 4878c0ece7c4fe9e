/* The kinetic system: every variant that its space contains, generated from the space, against the reference;
 * and the promises that hold beyond single steps. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/search/space.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/kinetic_fixture.h"

static kf_scene *open_scene(const char *name, long nodes) {
    kf_error error = {0};
    kf_scene *scene;
    const kf_scene_options options = {.node_limit = nodes};
    must(kf_scene_open(name, &options, &scene, &error), &error);
    scene->accuracy = 0.02;
    return scene;
}

static kf_space *open_space(const kf_scene *scene) {
    static const char *const fixed[] = {"register_cap=0", "concurrent_solid=false",
                                        "exchange=false"}; /* of no use on the cpu */
    return open_space_with_gpu(scene, fixed, 3);
}

/* One value of those parameters that only change how work is cut up; the two values of morton, of
 * boundary_kernels and of reorder_period go together, so that each appears in every combination of the
 * others. */
static bool is_representative(const kf_config *config, bool one_high_order_rate) {
    kf_error error = {0};
    bool morton = false, streaming = false;
    must(kf_config_boolean(config, "morton", &morton, &error), &error);
    must(kf_config_boolean(config, "streaming_stores", &streaming, &error), &error);
    long alpha = integer_of(config, "alpha"), length = integer_of(config, "sample_block_length");
    long reorder = integer_of(config, "reorder_period"), boundaries = integer_of(config, "boundary_kernels");
    bool folded = boundaries == 0, six = boundaries == 6, csoa = alpha == 32;
    const char *plan = "", *storage = "", *layout = "", *form = "", *streams = "";
    must(kf_config_name(config, "plan", &plan, &error), &error);
    must(kf_config_name(config, "storage", &storage, &error), &error);
    must(kf_config_name(config, "layout", &layout, &error), &error);
    must(kf_config_name(config, "collision_form", &form, &error), &error);
    must(kf_config_name(config, "streaming", &streams, &error), &error);
    bool fused = strcmp(plan, "fused") == 0, soa = strcmp(layout, "soa") == 0;
    bool single = strcmp(storage, "f32") == 0, half = strcmp(storage, "f16") == 0;
    if (strcmp(form, one_high_order_rate && fused && (soa || half) ? "low_order" : "factorised") != 0 ||
        integer_of(config, "collision_split") > 2)
        return false; /* test_collision.c */
    bool in_place = strcmp(streams, "two_grids") != 0;
    if (in_place && (!(soa || csoa) || csoa == morton)) return false;
    bool pairs = !in_place && (half ? csoa : single && soa && fused && !morton);
    long segment = integer_of(config, "segment_length");
    bool folds = fused && !morton &&
                 (single || half ? csoa : soa); /* the slowest to compile: once for each storage type */
    return (alpha == 1 || csoa) && length == (morton ? 1 : 2) &&
           (morton  ? six
            : folds ? folded
                    : boundaries == 1) &&
           streaming == folded && (segment == 16 || (morton && single && soa && segment == 4)) &&
           integer_of(config, "nodes_per_thread") == (pairs ? 2 : 1) &&
           (reorder == 0 || (morton && single && reorder == 8)) && integer_of(config, "block_x") == 64 &&
           integer_of(config, "block_y") == 2;
}

/* Half of them: one order of the samples, and where they are ordered anew. */
static bool is_enough(const kf_config *config) {
    kf_error error = {0};
    bool morton = false;
    must(kf_config_boolean(config, "morton", &morton, &error), &error);
    return !morton || integer_of(config, "reorder_period") > 0;
}

/* Of those the ones that differ in what becomes of samples and band: one storage type, one layout. */
static bool is_about_samples(const kf_config *config) {
    kf_error error = {0};
    const char *storage = "", *layout = "";
    must(kf_config_name(config, "storage", &storage, &error), &error);
    must(kf_config_name(config, "layout", &layout, &error), &error);
    return is_enough(config) && strcmp(storage, "f32") == 0 && strcmp(layout, "soa") == 0;
}

/* Verifies the representative configs of the scene's space that are wanted (NULL: all); counts them. */
static int verify_configs(const kf_scene *scene, int steps, bool (*wanted)(const kf_config *config)) {
    kf_error error = {0};
    kf_reference *reference;
    must(kinetic_system->reference(scene, steps, &reference, &error), &error);
    kf_space *space = open_space(scene);
    int verified = 0;
    for (uint64_t index = 0; index < kf_space_size(space); index++) {
        kf_config config;
        kf_space_config(space, index, &config);
        if (!is_representative(&config, kf_kinetic_has_one_high_order_rate(scene)) ||
            (wanted != NULL && !wanted(&config)))
            continue;
        kf_plan *plan = open_plan(scene, &config);
        advance(plan, (uint64_t)steps);
        kf_verification verification;
        kf_status status = kinetic_system->verify(plan, reference, &verification, &error);
        if (status == KF_OK) status = kf_plan_check_buffers(plan, &error);
        char *summary = kf_config_summary(&config);
        if (status != KF_OK) fail_msg("%s: %s", summary, error.message);
        free(summary);
        kf_plan_free(plan);
        verified++;
    }
    kf_space_free(space);
    kinetic_system->free_reference(reference);
    return verified;
}

static int verify_space(const kf_scene *scene, int steps) {
    return verify_configs(scene, steps, NULL);
}

static void test_static_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 3000);
    int verified = verify_configs(scene, 18, NULL);
    print_message("%d configs verified\n", verified);
    assert_true(verified >= 60);
    kf_scene_free(scene);
}

/* The same ball across the seam of a periodic axis, in two passes of the immersed boundary. */
static void test_static_solid_across_the_seam(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 3000);
    const double shift = scene->nodes[1] - 1.3 - 0.5 * (scene->solid_low[1] + scene->solid_high[1]);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.y[s] += shift;
    scene->solid_low[1] += shift;
    scene->solid_high[1] += shift;
    scene->immersed_passes = 2;
    const int verified = verify_configs(scene, 18, is_about_samples);
    print_message("%d configs verified\n", verified);
    assert_true(verified >= 8);
    kf_scene_free(scene);
}

static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene("torus", 3000);
    assert_true(scene->motion.moving);
    scene->motion.velocity[0] = 0.01;
    const int verified = verify_configs(scene, 18, is_enough); /* test_static_solid takes them all */
    print_message("%d configs verified\n", verified);
    assert_true(verified >= 60);
    kf_scene_free(scene);
}

/* A free torus across the seam of a periodic box, in two passes of the immersed boundary. */
static kf_scene *open_free_torus(void) {
    kf_scene *scene = open_scene("torus", 3000);
    const double shift =
        scene->nodes[0] - 1.0 - scene->motion.center[0]; /* half of it beyond the last node */
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.x[s] += shift;
    scene->solid_low[0] += shift;
    scene->solid_high[0] += shift;
    scene->motion.center[0] += shift;
    scene->motion.free = true;
    scene->motion.velocity[0] = 0.02;
    scene->motion.excess_mass = 60.0;
    scene->motion.gravity[2] = -1e-3;
    const double inertia[9] = {300, 40, 0, 40, 400, 0, 0, 0, 500};
    memcpy(scene->motion.excess_inertia, inertia, sizeof inertia);
    scene->immersed_passes = 2;
    scene->accuracy = 0.05; /* little moves, against which 16-bit storage is measured */
    return scene;
}

static void test_free_solid(void **state) {
    (void)state;
    kf_scene *scene = open_free_torus();
    /* The rest of a config is test_moving_solid's. */
    int verified = verify_configs(scene, 18, is_about_samples);
    print_message("%d configs verified\n", verified);
    assert_true(verified >= 8);
    kf_scene_free(scene);
}

/* A checkpoint holds the free solid too: what follows is the same to the bit. */
static void test_free_solid_resumes(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_free_torus();
    kf_space *space = open_space(scene);
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = open_plan(scene, &config), *resumed = open_plan(scene, &config);
    kf_solid_pose poses[2];
    size_t bytes;
    advance(plan, 11);
    must(plan->methods->state_size(plan, &bytes, &error), &error);
    void *saved = malloc(bytes);
    assert_non_null(saved);
    must(plan->methods->save(plan, saved, &error), &error);
    must(resumed->methods->restore(resumed, saved, 11, &error), &error);
    advance(plan, 9);
    advance(resumed, 9);
    double *values[2];
    must(kf_kinetic_read(plan, &values[0], &error), &error);
    must(kf_kinetic_read(resumed, &values[1], &error), &error);
    must(plan->methods->pose(plan, &poses[0], &error), &error);
    must(resumed->methods->pose(resumed, &poses[1], &error), &error);
    assert_memory_equal(&poses[0], &poses[1], sizeof poses[0]);
    assert_memory_equal(values[0], values[1],
                        4 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2] *
                            sizeof(double));
    free(values[0]);
    free(values[1]);
    free(saved);
    kf_plan_free(plan);
    kf_plan_free(resumed);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* A free solid that comes to a face is held there, and whoever asks for its load is told. */
static void test_free_solid_at_the_edge(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_free_torus();
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_WALL;
    scene->motion.velocity[2] = -0.2;
    scene->motion.excess_mass = 1e4;
    kf_space *space = open_space(scene);
    kf_config config;
    kf_solid_load load;
    kf_solid_pose pose;
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, 2);
    must(plan->methods->load(plan, &load, &error), &error);
    advance(plan, 60);
    assert_int_equal(plan->methods->load(plan, &load, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "the free solid reached the edge of the domain in step "));
    must(plan->methods->pose(plan, &pose, &error), &error);
    for (int i = 0; i < 3; i++)
        assert_true(pose.velocity[i] == 0.0 && pose.angular_velocity[i] == 0.0);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* No solid, body force, moving wall, BGK, outflows that share edges: what the scenes above leave out. */
static void test_walls_and_body_force(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 2000);
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
        scene->collision = model ? KF_ACM_MRT : KF_BGK;
        if (model) {
            scene->faces[KF_XMIN] = KF_INFLOW;
            scene->face_velocity[KF_XMIN][0] = 0.05;
            scene->faces[KF_XMAX] = scene->faces[KF_YMAX] = scene->faces[KF_ZMIN] = KF_OUTFLOW;
        }
        assert_true(verify_space(scene, 12) > 10);
    }
    kf_scene_free(scene);
}

/* Walls that mirror a share, with edges to walls that do not, to free slip, to an outflow, and across a
 * periodic seam. */
static void test_specular_walls(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 2000);
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
        assert_true(verify_space(scene, 12) > 10);
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

/* Velocity along x after that many steps of the default config; the caller frees the fields. */
static kf_fields fields_after(const kf_scene *scene, uint64_t steps) {
    kf_error error = {0};
    kf_space *space = open_space(scene);
    kf_config config;
    kf_fields fields = {0};
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, steps);
    must(plan->methods->fields(plan, &fields, &error), &error);
    kf_plan_free(plan);
    kf_space_free(space);
    return fields;
}

/* The largest deviation from the stream after noise of 4e-5 had 1000 steps between walls that move with it.
 */
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

/* What docs/physics.md says of walls that move with the stream. */
static void test_walls_that_move_with_the_stream(void **state) {
    (void)state;
    const double returned = noise_along_moving_walls(0.0), half = noise_along_moving_walls(0.5);
    print_message("noise after 1000 steps: %.2g when all is sent back, %.2g when half is mirrored\n",
                  returned, half);
    assert_true(returned > 1e-3);
    assert_true(half < 3e-5);
}

/* A stream between walls that move with it stays as it is up to the edges with inflow and outflow. */
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

/* A plate of two fifths of a cell, whose two sides take the slip of the same nodes: forces of their full
 * areas would blow up within 200 steps. Areas of walls are left alone. */
static void test_solid_thinner_than_a_cell(void **state) {
    (void)state;
    kf_scene *scene = open_scene("plate", 48 * 24 * 24);
    assert_int_equal(scene->nodes[0], 48);
    kf_fields fields = fields_after(scene, 300);
    for (int i = 0; i < 48 * 24 * 24; i++)
        assert_true(fabs((double)fields.velocity[0][i]) < 0.1);
    kf_fields_free(&fields);
    kf_scene_free(scene);
    scene = open_scene("ball", 48 * 24 * 24);
    double *areas = kf_scene_acting_areas(scene);
    assert_memory_equal(areas, scene->samples.area, scene->samples.count * sizeof *areas);
    free(areas);
    kf_scene_free(scene);
}

/* The gate must be able to close: a plan that ran one step too many is out of bounds. */
static void test_gate_refuses_a_wrong_result(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("ball", 3000);
    kf_reference *reference;
    must(kinetic_system->reference(scene, 5, &reference, &error), &error);
    kf_space *space = open_space(scene);
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
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
        must(kf_space_preset(space, presets[p], &config, &error), &error);
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
    must(kf_space_preset(space, "default", &config, &error), &error);
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
    must(plan->methods->load(plan, &load, &error), &error);
    double size = fabs(load.force[0]) + fabs(load.force[1]) + fabs(load.force[2]);
    assert_true(size > 1e-6);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(momentum[1][i] - momentum[0][i] + load.force[i]) < 1e-8 * size);
    assert_true(fabs(mass[1] - mass[0]) < 1e-9);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* The device's order of a moving solid's samples is the host's. */
static void test_device_order_is_the_hosts(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("torus", 20000);
    kf_space *space = open_space(scene);
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_config_set_integer(&config, "reorder_period", 8);
    size_t count = scene->samples.count;
    uint32_t *expected = malloc(count * sizeof *expected);
    int *order = malloc(count * sizeof *order);
    assert_non_null(expected);
    assert_non_null(order);
    for (int length = 1; length <= 5; length++)
        for (int morton = length == 1; morton < 2; morton++) {
            kf_config_set_integer(&config, "sample_block_length", length);
            kf_config_set_boolean(&config, "morton", morton);
            kf_plan *plan = open_plan(scene, &config);
            const kf_kinetic *kinetic = plan->system;
            advance(plan, 1); /* the samples are ordered at step 0, at their first position */
            kf_pose pose;
            must(kf_buffer_download(kinetic->pose, 0, &pose, sizeof pose, &error), &error);
            must(kf_buffer_download(kinetic->identity, 0, order, count * sizeof *order, &error), &error);
            kf_ordering ordering;
            double low[3], high[3];
            for (int i = 0; i < 3; i++) {
                low[i] = pose.box_origin[i];
                high[i] = pose.box_origin[i] + kinetic->arguments.box[i] - 0.5;
            }
            kf_ordering_begin(&ordering, length, morton, low, high);
            kf_ordering_sort(&ordering, count, scene->samples.x, scene->samples.y, scene->samples.z,
                             expected);
            for (size_t r = 0; r < count; r++)
                assert_int_equal(order[r], (int)expected[r]);
            kf_plan_free(plan);
        }
    free(expected);
    free(order);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* Timing puts the solid where it is at any step of its turn; the next step continues from there. */
static void test_the_solid_goes_to_any_step(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_scene("torus", 6000);
    kf_space *space = open_space(scene);
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_plan *plan = open_plan(scene, &config);
    const kf_kinetic *kinetic = plan->system;
    const double turns = (double)plan->turn_steps * fabs(scene->motion.angular_speed) / (2.0 * acos(-1.0));
    assert_true(turns >= 1.0 && turns < 1.0 + 1.0 / (double)plan->turn_steps * 2.0);
    const uint64_t places[] = {plan->turn_steps / 3, 5, plan->turn_steps - 1};
    for (size_t i = 0; i < 3; i++) {
        must(plan->methods->move_to(plan, places[i], &error), &error);
        for (int step = 0; step < 2; step++) {
            kf_pose pose;
            double rotation[9], center[3];
            advance(plan, 1);
            must(kf_buffer_download(kinetic->pose, 0, &pose, sizeof pose, &error), &error);
            kf_motion_pose(&scene->motion, (double)(places[i] + (uint64_t)step), rotation, center);
            for (int k = 0; k < 9; k++)
                assert_true(fabs(pose.rotation[k] - rotation[k]) < 1e-9);
        }
    }
    kf_plan_free(plan);
    kf_scene_free(scene);
    kf_space_free(space);
    scene = open_scene("ball", 3000); /* nothing turns */
    space = open_space(scene);
    must(kf_space_preset(space, "default", &config, &error), &error);
    plan = open_plan(scene, &config);
    assert_true(plan->turn_steps == 0);
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
    must(kf_space_preset(space, "default", &good, &error), &error);
    bad = good;
    kf_config_set_integer(&bad, "collision_split", 2);
    assert_int_equal(kinetic_system->plan(scene, &bad, backend, &plan, &error), KF_BAD_INPUT);
    bad = good;
    kf_config_set_name(&bad, "layout", "csoa");
    kf_config_set_integer(&bad, "alpha", 3);
    assert_int_equal(kinetic_system->plan(scene, &bad, backend, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "power of two"));
    kf_space_free(space);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_static_solid_across_the_seam),
        cmocka_unit_test(test_moving_solid),
        cmocka_unit_test(test_free_solid),
        cmocka_unit_test(test_free_solid_resumes),
        cmocka_unit_test(test_free_solid_at_the_edge),
        cmocka_unit_test(test_walls_and_body_force),
        cmocka_unit_test(test_specular_walls),
        cmocka_unit_test(test_walls_that_move_with_the_stream),
        cmocka_unit_test(test_uniform_stream_to_the_outflow),
        cmocka_unit_test(test_slip_of_specular_walls),
        cmocka_unit_test(test_solid_thinner_than_a_cell),
        cmocka_unit_test(test_gate_refuses_a_wrong_result),
        cmocka_unit_test(test_plans_agree_after_100_steps),
        cmocka_unit_test(test_force_is_the_momentum_change),
        cmocka_unit_test(test_device_order_is_the_hosts),
        cmocka_unit_test(test_the_solid_goes_to_any_step),
        cmocka_unit_test(test_impossible_configs_are_refused),
    };
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
