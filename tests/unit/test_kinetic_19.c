/* Tests plans on 19 velocities, of every storage type and way of streaming, against the reference on 19
 * velocities to rounding, and against that on 27 as well as the scene allows. Faults: a velocity or weight
 * of the wrong lattice. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/kinetic_states.h"

/* Verifies the default config with these values on 19 velocities after this number of steps. */
static void verify(const kf_scene *scene, int steps, const char *const *const *configs, int count) {
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), steps, &reference, &error), &error);
    for (int c = 0; c < count; c++) {
        kf_config config = default_with(scene, configs[c]);
        kf_config_set_integer(&config, "velocities", 19);
        kf_verification verification;
        kf_plan *plan = open_plan(scene, &config);
        advance(plan, (uint64_t)steps);
        const kf_status status = kinetic_system->verify(plan, reference, &verification, &error);
        print_message("%s", configs[c][0]);
        for (int i = 0; i < verification.count; i++)
            print_message("  %s %.3g of %.3g", verification.deviations[i].name,
                          verification.deviations[i].value, verification.deviations[i].bound);
        print_message("\n");
        must(status, &error);
        must(kf_plan_check_buffers(plan, &error), &error);
        kf_plan_free(plan);
    }
    kinetic_system->free_reference(reference);
}

static const char *const exact[] = {"storage=f64", NULL};
static const char *const single[] = {"storage=f32", NULL};
static const char *const ghosts[] = {"storage=f64", "boundary_kernels=1", NULL};
static const char *const shift[] = {"storage=f64", "streaming=shift", "slab=4", NULL};
static const char *const half[] = {"storage=f16", "layout=csoa", "alpha=32", "staged_nodes=0", NULL};
static const char *const pairs[] = {"storage=f16",    "layout=csoa",        "alpha=64",
                                    "staged_nodes=0", "nodes_per_thread=2", NULL};

/* A static solid between inflow, outflow and walls, rates that need the domain's averages. */
static void test_static_solid(void **state) {
    (void)state;
    static const char *const *const configs[] = {exact, single, ghosts, shift, half, pairs};
    kf_scene *scene = open_scene("ball", 3000);
    scene->faces[KF_ZMAX] = KF_OUTFLOW;
    scene->accuracy = 0.04;
    verify(scene, 10, configs, sizeof configs / sizeof *configs);
    kf_scene_free(scene);
}

/* A moving solid in a periodic domain with a body force; constant rates, those of 1, and BGK. */
static void test_a_moving_solid_under_a_force(void **state) {
    (void)state;
    static const char *const *const configs[] = {exact};
    kf_scene *scene = open_scene("torus", 2500);
    assert_true(scene->motion.moving);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    scene->body_force[0] = 1e-4;
    scene->body_force[1] = -2e-4;
    scene->body_force[2] = 3e-4;
    scene->accuracy = 0.1;
    scene->rate_rule = KF_RATE_CONSTANT;
    scene->high_order_rate = 1.3;
    verify(scene, 6, configs, 1);
    scene->rate_rule = KF_RATE_ONES;
    verify(scene, 6, configs, 1);
    scene->collision = KF_BGK;
    scene->viscosity = 0.05;
    static const char *const factorised[] = {"storage=f64", "collision_form=factorised", NULL};
    static const char *const *const bgk[] = {factorised};
    verify(scene, 6, bgk, 1);
    kf_scene_free(scene);
}

/* A config that a scene does not allow, or that the kernels lack, is refused. */
static void test_what_19_velocities_lack_is_refused(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_scene("ball", 2000);
    kf_config config = default_with(scene, single);
    kf_config_set_integer(&config, "velocities", 19);
    kf_reference *reference;
    kf_verification verification;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 1, &reference, &error), &error);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, 1);
    assert_int_equal(kinetic_system->verify(plan, reference, &verification, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "accuracy"));
    kf_plan_free(plan);
    kf_config_set_name(&config, "collision_form", "factorised");
    assert_int_equal(kinetic_system->plan(problem_of(kinetic_system, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_a_moving_solid_under_a_force),
        cmocka_unit_test(test_what_19_velocities_lack_is_refused),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
