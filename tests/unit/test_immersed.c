/* Tests the immersed boundary of the kinetic system: several passes against the reference, the load of a
 * solid without symmetry, and solids thinner than a cell. Faults: a wrong weight, arm or sign.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/kinetic/kinetic_samples.h"
#include "tests/unit/kinetic_states.h"

enum { STEPS = 10 };

/* Opens a torus that moves and turns about an oblique axis, so that force and torque have all their
 * components. */
static kf_scene *open_aslant(void) {
    static const double velocity[3] = {0.01, -0.02, 0.015}, axis[3] = {0.48, 0.6, -0.64};
    kf_scene *scene = open_scene("torus", 3000);
    assert_true(scene->motion.moving);
    scene->collision = KF_BGK; /* less to compile */
    scene->viscosity = 0.05;
    memcpy(scene->motion.velocity, velocity, sizeof velocity);
    memcpy(scene->motion.axis, axis, sizeof axis);
    scene->motion.angular_speed = 0.01;
    return scene;
}

/* The part that the samples of a pass lose adds up over the passes: in fields of the whole domain, and in
 * those of the band, in real numbers and in fixed point. */
static void test_parts_of_passes_add_up(void **state) {
    (void)state;
    static const char *const values[][8] = {
        {"storage=f64", "plan=baseline", "collision_split=1", "boundary_kernels=1", "staged_nodes=0",
         "immersed_boundary=gather", "force_sum=float", NULL},
        {"storage=f64", "immersed_boundary=aggregated", "force_sum=float", NULL},
        {"storage=f64", "immersed_boundary=aggregated", "force_sum=fixed", NULL}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_aslant();
    scene->immersed_passes = 3;
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const kf_config config = default_with(scene, values[i]);
        (void)verify_config(kinetic_system, scene, &config, reference, STEPS);
    }
    /* Otherwise an error in one component would be lost beside the others. */
    const kf_config config = default_with(scene, values[2]);
    kf_plan *plan = open_plan(scene, &config);
    kf_solid_load load;
    advance(plan, STEPS);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(load.force[i]) > 1e-3);
        assert_true(fabs(load.torque[i]) > 1e-3);
    }
    kf_plan_free(plan);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* The two sides of a plate of two fifths of a cell act on the same nodes. Forces with their full areas
 * would blow up within 200 steps, at rest or moving. The areas of walls stay as they are. */
static void test_solid_thinner_than_a_cell(void **state) {
    (void)state;
    kf_scene *scene = NULL;
    for (int moving = 0; moving <= 1; moving++) {
        scene = open_scene("plate", 48 * 24 * 24);
        assert_int_equal(scene->nodes[0], 48);
        scene->motion.moving = moving;
        scene->motion.velocity[2] = moving ? 0.001 : 0.0;
        kf_fields fields = fields_after(scene, 300);
        for (int i = 0; i < 48 * 24 * 24; i++)
            assert_true(fabs((double)fields.velocity[0][i]) < 0.1);
        kf_fields_free(&fields);
        kf_scene_free(scene);
    }
    static const char *const walls[] = {"ball", "torus"};
    for (int w = 0; w < 2; w++) {
        scene = open_scene(walls[w], 96 * 64 * 64);
        assert_true(scene->motion.moving == (w == 1));
        double *areas = kf_kinetic_acting_areas(scene);
        assert_memory_equal(areas, scene->samples.area, scene->samples.count * sizeof *areas);
        free(areas);
        kf_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_passes_add_up),
        cmocka_unit_test(test_solid_thinner_than_a_cell),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
