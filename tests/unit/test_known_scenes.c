/* Tests every number of every shipped scene on a small grid, as known texts: units, boundaries, motion,
 * samples, particles, smoke. test_scene_numbers.c, test_fluid_scene.c and test_particle_units.c have
 * numbers by hand. Faults: a number that changes by accident. */
#include "tests/unit/tell_scene.h"

static void test_scenes_of_flows(void **state) {
    (void)state;
    static const char *const names[] = {"ahmed",
                                        "ahmed_no_stilts",
                                        "aircraft",
                                        "architecture",
                                        "ball",
                                        "bunch",
                                        "car",
                                        "cavity2d",
                                        "concave",
                                        "cylinder2d",
                                        "cylinder_array2d",
                                        "plate",
                                        "settling",
                                        "spinning_torus",
                                        "torus",
                                        "vortices"};
    kf_text text = {0};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const kf_scene_options options = {.node_limit = 16000, .samples_per_cell = 5};
        kf_scene *scene = NULL, *reduced = NULL;
        kf_error error = {0};
        if (kf_scene_open(names[n], &options, &scene, &error) != KF_OK) {
            kf_text_append(&text, "%s: %s\n", names[n], error.message);
            continue;
        }
        tell_scene(&text, scene);
        if (kf_scene_reduce(scene, 4000, &reduced, &error) == KF_OK) {
            tell_scene(&text, reduced);
            kf_scene_free(reduced);
        } else {
            kf_text_append(&text, "reduced: %s\n", error.message);
        }
        kf_scene_stretch_time(scene, 1.5);
        kf_text_append(&text, "in steps of 1.5:\n");
        const double numbers[] = {scene->time_step, scene->viscosity, scene->reference_speed,
                                  scene->motion.angular_speed};
        tell(&text, "step, viscosity, speed, angular speed", numbers, 4);
        kf_scene_free(scene);
    }
    assert_known("flows.txt", text.text);
}

/* Smoke is left out of grids that were scaled down for the gate, so these are given their nodes. */
static void test_scenes_with_smoke(void **state) {
    (void)state;
    kf_text text = {0};
    static const char *const names[] = {"spinning_torus", "vortices"};
    for (int n = 0; n < 2; n++) {
        const kf_scene_options options = {
            .nodes = {32, 32, 16}, .samples_per_cell = 2, .seed = 7, .accuracy = 0.01};
        kf_scene *scene = NULL;
        kf_error error = {0};
        if (kf_scene_open(names[n], &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
        tell_scene(&text, scene);
        kf_scene_free(scene);
    }
    assert_known("smoke.txt", text.text);
}

static void test_scenes_of_particles(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double scale, shake;
    } scenes[] = {{"avalanche", 6, 0},    {"column", 3, 0},       {"dam_break_2d", 2, 0.1},
                  {"dam_break_3d", 3, 0}, {"particles_32", 4, 0}, {"particles_bingham", 4, 0},
                  {"pool", 3, 0},         {"river", 4, 0},        {"slump", 2, 0}};
    kf_text text = {0};
    for (size_t n = 0; n < sizeof scenes / sizeof *scenes; n++) {
        const kf_particle_options options = {.spacing_scale = scenes[n].scale, .shake = scenes[n].shake};
        kf_particle_scene *scene = NULL;
        kf_error error = {0};
        char path[KF_PATH];
        assert_int_equal(kf_scene_find(scenes[n].name, path, &error), KF_OK);
        if (kf_particle_scene_open(path, &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
        tell_particles(&text, scene);
        kf_particle_scene_free(scene);
    }
    assert_known("particles.txt", text.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes_of_flows),
        cmocka_unit_test(test_scenes_with_smoke),
        cmocka_unit_test(test_scenes_of_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
