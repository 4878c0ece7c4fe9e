/* Tests forces in the plan `moments`: of a body force and a moving solid together, in double precision,
 * and of a body force alone, whose flow is known. Faults: a force that counts twice, or half.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/kinetic_states.h"

enum { STEPS = 8 };

static const double body_force[3] = {1e-4, -2e-4, 1.5e-4};

static kf_scene *open_forced(void) {
    kf_scene *scene = open_scene("torus", 3000);
    scene->collision = KF_ACM_MRT;
    scene->rate_rule = KF_RATE_ONES;
    scene->basis = KF_BASIS_HERMITE;
    memcpy(scene->body_force, body_force, sizeof body_force);
    return scene;
}

static kf_config one_config(const kf_scene *scene) {
    const bool solid = scene->samples.count > 0;
    const char *const fixed[] = {
        "plan=moments", "storage=f64",     "layout=soa",
        "alpha=1",      "block_x=32",      "block_y=4",
        "march=16",     "segment_lanes=1", solid ? "force_sum=fixed" : "force_sum=float"};
    kf_space *space = open_space_with_gpu(scene, fixed, sizeof fixed / sizeof *fixed);
    kf_config config;
    assert_true(kf_space_size(space) > 0);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
    return config;
}

/* Both forces act in all components. Their products, which are of second order, are only within 1e-9. */
static void test_body_force_and_moving_solid(void **state) {
    (void)state;
    static const double velocity[3] = {0.01, -0.02, 0.015};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_forced();
    assert_true(scene->motion.moving);
    memcpy(scene->motion.velocity, velocity, sizeof velocity);
    const kf_config config = one_config(scene);
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
    (void)verify_config(kinetic_system, scene, &config, reference, STEPS);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* In a periodic box without a solid nothing resists the stream. It gains force / density in each step, of
 * which the observed velocity includes half (Guo, Zheng and Shi 2002, doi:10.1103/PhysRevE.65.046308). */
static void test_body_force_alone(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_forced();
    scene->samples.count = 0;
    scene->motion.moving = false;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    const kf_config config = one_config(scene);
    kf_plan *plan = open_plan(scene, &config);
    double *early, *late;
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    advance(plan, 2);
    must(kf_kinetic_read(plan, &early, &error), &error);
    advance(plan, STEPS);
    must(kf_kinetic_read(plan, &late, &error), &error);
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            const size_t at = (size_t)(axis + 1) * count + i;
            assert_true(fabs(late[at] - early[at] - STEPS * body_force[axis]) < 1e-12);
        }
    free(early);
    free(late);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body_force_and_moving_solid),
        cmocka_unit_test(test_body_force_alone),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
