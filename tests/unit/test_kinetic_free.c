/* Tests every variant with a free solid against the reference, its checkpoints, and the edge of the
 * domain. Faults: wrong mass or arm, a state that a restart loses, a solid that leaves the domain.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "scene/scene.h"
#include "tests/unit/free_torus.h"
#include "tests/unit/kinetic_variants.h"

static kf_scene *open_free_torus(void) {
    kf_scene *scene = open_scene_of_variants("torus", 3000);
    set_free_torus(scene);
    return scene;
}

static void test_free_solid(void **state) {
    (void)state;
    kf_scene *scene = open_free_torus();
    /* The rest of a config is test_moving_solid's. */
    assert_true(verify_variants(scene, 18, is_about_samples) >= LEAST_VARIANTS);
    kf_scene_free(scene);
}

/* A checkpoint contains the free solid too, so that what follows is the same to the bit. */
static void test_free_solid_resumes(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_free_torus();
    kf_space *space = open_space(scene);
    kf_config config;
    take_preset(space, "default", &config);
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
    must(plan->methods->flow->pose(plan, &poses[0], &error), &error);
    must(resumed->methods->flow->pose(resumed, &poses[1], &error), &error);
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

/* A free solid that comes to a face is held there, and a request for its load reports this. */
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
    take_preset(space, "default", &config);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, 2);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    advance(plan, 60);
    assert_int_equal(plan->methods->flow->load(plan, &load, &error), KF_BAD_INPUT);
    const char *told = strstr(error.message, "the free solid reached the edge of the domain in step ");
    assert_non_null(told);
    /* This is the step in which it was held. */
    const uint64_t step = strtoull(strpbrk(told, "0123456789"), NULL, 10);
    kf_plan_free(plan);
    plan = open_plan(scene, &config);
    kf_solid_pose moving;
    advance(plan, step);
    must(plan->methods->flow->pose(plan, &moving, &error), &error);
    assert_true(moving.velocity[2] < 0.0);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    advance(plan, 1);
    assert_int_equal(plan->methods->flow->load(plan, &load, &error), KF_BAD_INPUT);
    must(plan->methods->flow->pose(plan, &pose, &error), &error);
    for (int i = 0; i < 3; i++)
        assert_true(pose.velocity[i] == 0.0 && pose.angular_velocity[i] == 0.0);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_solid),
        cmocka_unit_test(test_free_solid_resumes),
        cmocka_unit_test(test_free_solid_at_the_edge),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
