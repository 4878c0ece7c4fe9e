/* Tests walls without particles. Faults: a wrong contribution to a sum, or water at rest that begins to
 * move. */
#include "tests/unit/plan_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "solver/sph/sph.h"
#include "solver/sph/sph_problem.h"
#include "solver/systems.h"

/* Layers on both sides of a particle and its own layer make the whole lattice. Its sum of u |dW/du| is 1
 * for a linear quantity, both along the wall (T) and across it (M), as accurately as these supports allow. */
static void halves_make_a_whole(void **state) {
    (void)state;
    static const double supports[] = {2.71, 3.0, 4.0};
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (int k = 0; k < 3; k++) {
            double with[3], without[3], far[3];
            kf_sph_half_space(dimensions, supports[k], -0.5, with);
            kf_sph_half_space(dimensions, supports[k], 0.5, without);
            kf_sph_half_space(dimensions, supports[k], supports[k] - 0.4, far);
            assert_true(fabs(with[1] + without[1] - 1.0) < 0.02);
            assert_true(fabs(with[2] + without[2] - 1.0) < 0.02);
            assert_true(without[2] > 0.1 && without[2] < 0.35);
            for (int i = 0; i < 3; i++)
                assert_true(far[i] == 0.0);
        }
}

/* A column of water at a side wall rests on the pressure below it like any other. */
static void water_at_a_side_wall_does_not_fall(void **state) {
    (void)state;
    for (int dimensions = 2; dimensions <= 3; dimensions++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "{\"particles\": {\"dimensions\": %d, \"spacing\": 0.1, \"support\": 3}, \"box\": "
                       "{\"size\": [1, %s1.5]%s}, \"gravity\": [0, %s-9.81], \"material\": {\"density\": "
                       "1000, \"sound_speed\": 40, \"viscosity\": 0.001}, \"fluid\": [{\"shape\": \"box\", "
                       "\"low\": [0, %s0], \"high\": [1, %s1]}]}",
                       dimensions, dimensions == 3 ? "1, " : "",
                       dimensions == 3 ? ", \"faces\": {\"ymin\": \"periodic\", \"ymax\": \"periodic\"}" : "",
                       dimensions == 3 ? "0, " : "", dimensions == 3 ? "0, " : "",
                       dimensions == 3 ? "1, " : "");
        kf_particle_scene *scene = NULL;
        kf_space *space;
        kf_config config;
        kf_plan *plan;
        float *values;
        kf_error error = {KF_OK, ""};
        must(kf_particle_scene_parse("tank.json", text, NULL, &scene, &error), &error);
        kf_problem *problem = kf_sph_problem(scene);
        must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
        must(kf_space_preset(space, "default", &config, &error), &error);
        must(kf_system_sph.plan(problem, &config, backend, &plan, &error), &error);
        must(kf_plan_initialise(plan, &error), &error);
        advance(plan, 1);
        must(kf_sph_read(plan, &values, &error), &error);
        const size_t up = (size_t)dimensions - 1;
        const double down = scene->gravity[up];
        int beside = 0;
        for (size_t i = 0; i < scene->count; i++) {
            const float *v = values + i * KF_SPH_STATE_VALUES;
            const double from_side = fmin((double)v[0], scene->size[0] - (double)v[0]);
            if (from_side > 3.0 || v[up] < 3.0f || v[up] > 7.0f) continue;
            beside++;
            assert_true(fabs((double)v[7 + up] / down) < 0.03);
        }
        assert_int_equal(beside, 6 * 4 * (dimensions == 3 ? 10 : 1));
        free(values);
        kf_plan_free(plan);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* Eq. 4.24 of the thesis is a spring behind each wall. A particle without damping therefore returns with
 * the speed that it had, and its depth is at most v / sqrt(K). The gate cannot test this, because the
 * reference has the same rule. */
static void every_wall_of_the_thesis_pushes_back(void **state) {
    (void)state;
    static const char faces[6][5] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
    static const double penalty = 1e4;
    for (int face = 0; face < 6; face++) {
        char text[1024];
        double velocity[3] = {0.0, 0.0, 0.0};
        velocity[face / 2] = face % 2 == 0 ? -1.0 : 1.0;
        /* The opposite face is open. An opening on one side does not open the others. */
        (void)snprintf(
            text, sizeof text,
            "{\"particles\": {\"spacing\": 0.1, \"support\": 2.4}, \"box\": {\"size\": [1, 1, 1], "
            "\"faces\": {\"%s\": \"open\"}}, \"gravity\": [0, 0, 0], \"material\": {\"density\": "
            "1000, \"sound_speed\": 20, \"viscosity\": 0.001}, \"model\": {\"scheme\": \"thesis\", "
            "\"penalty\": %g, \"damping\": 0}, \"fluid\": [{\"shape\": \"box\", \"low\": [0.4, 0.4, "
            "0.4], \"high\": [0.5, 0.5, 0.5], \"velocity\": [%g, %g, %g]}]}",
            faces[face ^ 1], penalty, velocity[0], velocity[1], velocity[2]);
        kf_particle_scene *scene = NULL;
        kf_space *space;
        kf_config config;
        kf_plan *plan;
        kf_error error = {KF_OK, ""};
        must(kf_particle_scene_parse("wall.json", text, NULL, &scene, &error), &error);
        assert_int_equal(scene->count, 1);
        kf_problem *problem = kf_sph_problem(scene);
        must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
        must(kf_space_preset(space, "default", &config, &error), &error);
        must(kf_system_sph.plan(problem, &config, backend, &plan, &error), &error);
        must(kf_plan_initialise(plan, &error), &error);
        const size_t axis = (size_t)face / 2;
        const double out = face % 2 == 0 ? -1.0 : 1.0;
        double deepest = 0.0, speed = 0.0; /* spacings; speeds of sound, away from the wall */
        for (int step = 0; step < 1000 && speed <= 0.0; step++) {
            float *values;
            advance(plan, 1);
            must(kf_sph_read(plan, &values, &error), &error);
            const double at = (double)values[axis], depth = face % 2 == 0 ? -at : at - scene->size[axis];
            deepest = fmax(deepest, depth);
            speed = depth < 0.0 ? -out * (double)values[3 + axis] : 0.0;
            free(values);
        }
        assert_true(fabs(speed * 20.0 - 1.0) < 0.05);
        assert_true(fabs(deepest * 0.1 * sqrt(penalty) - 1.0) < 0.1);
        kf_plan_free(plan);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* Makes a scene of water in the lower half of a box with these faces. */
static kf_particle_scene *water(const char *faces) {
    char text[1024];
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    (void)snprintf(
        text, sizeof text,
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [1, 2], \"faces\": "
        "{%s}}, \"gravity\": [0, -9.81], \"material\": {\"density\": 1000, \"sound_speed\": 40, "
        "\"viscosity\": 0.001}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
        faces);
    must(kf_particle_scene_parse("box.json", text, NULL, &scene, &error), &error);
    return scene;
}

static void balance_says(const kf_particle_scene *scene, double lost, double energy_over_begin,
                         const char *says) {
    double sums[KF_SPH_TOTALS] = {0.0};
    kf_error error = {KF_OK, ""};
    const double n = (double)(scene->count - scene->wall_count), g = -scene->gravity[1];
    sums[KF_SPH_INSIDE] = n - lost;
    double begin = 0.0;
    for (size_t k = 0; k < (size_t)n; k++)
        begin += g * (double)scene->position[3 * k + 1];
    sums[KF_SPH_POTENTIAL] = 0.5 * begin;
    sums[KF_SPH_KINETIC] = begin * (energy_over_begin - 0.5);
    const kf_status status = kf_sph_balance(scene, sums, &error);
    if (says == NULL && status != KF_OK) fail_msg("%s", error.message);
    if (says == NULL) return;
    assert_int_equal(status, KF_GATE_FAILED);
    if (strstr(error.message, says) == NULL) fail_msg("'%s' has no '%s'", error.message, says);
}

/* Particles that are lost or appear end a run, except those that leave where the scene allows it. */
static void nothing_is_lost_or_made(void **state) {
    (void)state;
    kf_particle_scene *closed = water(""), *open = water("\"ymin\": \"open\"");
    balance_says(closed, 0, 1.0, NULL);
    balance_says(closed, 1, 1.0, "1 of 100 particles have left a box without an open face");
    balance_says(open, 1, 1.0, NULL);
    balance_says(open, 100, 1.0, "no particle is left in the box");
    balance_says(closed, 0, 1.4, NULL);
    balance_says(closed, 0, 10.0, "energy are 9.98 times what there was");
    kf_particle_scene_free(closed);
    kf_particle_scene_free(open);
}

/* A run whose water all falls out of its box ends with a message. */
static void an_empty_box_ends_the_run(void **state) {
    (void)state;
    kf_particle_scene *scene = water("\"ymin\": \"open\"");
    kf_problem *problem = kf_sph_problem(scene);
    kf_space *space;
    kf_config config;
    kf_plan *plan;
    kf_error error = {KF_OK, ""};
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    must(kf_system_sph.plan(problem, &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    kf_status status = KF_OK;
    for (int i = 0; i < 40 && status == KF_OK; i++) {
        advance(plan, 100);
        status = kf_plan_watch(plan, &error);
    }
    assert_int_equal(status, KF_GATE_FAILED);
    if (strstr(error.message, "no particle is left") == NULL) fail_msg("%s", error.message);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_make_a_whole), cmocka_unit_test(water_at_a_side_wall_does_not_fall),
        cmocka_unit_test(every_wall_of_the_thesis_pushes_back), cmocka_unit_test(nothing_is_lost_or_made),
        cmocka_unit_test(an_empty_box_ends_the_run)};
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
