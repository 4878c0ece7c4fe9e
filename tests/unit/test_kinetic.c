/* Tests every variant in the space of the kinetic system against the reference, with a solid at rest and
 * one that moves. Faults: one combination of parameters is wrong. KFTUNE_TEST_DEVICE chooses the device
 * (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/kinetic_variants.h"

static void test_static_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 3000);
    assert_true(verify_variants(scene, 18, is_representative) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

/* The ball is the same across the seam of a periodic axis, in two passes of the immersed boundary. */
static void test_static_solid_across_the_seam(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 3000);
    const double shift = scene->nodes[1] - 1.3 - 0.5 * (scene->solid_low[1] + scene->solid_high[1]);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.y[s] += shift;
    scene->solid_low[1] += shift;
    scene->solid_high[1] += shift;
    scene->immersed_passes = 2;
    assert_true(verify_variants(scene, 18, is_about_samples) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

/* A solid whose lowest samples lie on a plane of the lattice, or round to just before it. */
static void test_static_solid_on_a_plane_of_the_lattice(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("ball", 3000);
    double lowest = scene->samples.z[0];
    for (size_t s = 0; s < scene->samples.count; s++)
        lowest = fmin(lowest, scene->samples.z[s]);
    const double plane = floor(lowest);
    for (size_t s = 0; s < scene->samples.count; s++)
        if (scene->samples.z[s] < plane + 1.0)
            scene->samples.z[s] = s % 2 == 0 ? plane : nextafter(plane, 0.0);
    scene->solid_low[2] = plane;
    kf_space *space = open_space(scene);
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 4, &reference, &error), &error);
    static const char *const presets[] = {"baseline", "paper", "default"};
    for (int p = 0; p < 3; p++) {
        kf_config config;
        take_preset(space, presets[p], &config);
        (void)verify_config(kinetic_system, scene, &config, reference, 4);
    }
    kinetic_system->free_reference(reference);
    kf_space_free(space);
    kf_scene_free(scene);
}

static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = open_scene_of_variants("torus", 3000);
    assert_true(scene->motion.moving);
    scene->motion.velocity[0] = 0.01;
    assert_true(verify_variants(scene, 18, is_enough) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_solid),
        cmocka_unit_test(test_static_solid_across_the_seam),
        cmocka_unit_test(test_static_solid_on_a_plane_of_the_lattice),
        cmocka_unit_test(test_moving_solid),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
