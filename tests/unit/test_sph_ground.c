/* Tests the ground in a picture of particles. Faults: the search along a ray skips the first ground that
 * it meets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "solver/sph/sph.h"
#include "solver/sph/sph_view.h"
#include "solver/systems.h"

enum { WIDTH = 96, HEIGHT = 54, LOOKS = 1500 };

/* Returns whether the point at this distance along the ray of a pixel is in the ground. */
static bool is_in_ground(const kf_sph_view *v, int pixel, double depth) {
    const kf_particle_scene *s = v->scene;
    const double x = pixel % WIDTH + 0.5 - 0.5 * WIDTH, y = (int)(pixel / WIDTH) + 0.5 - 0.5 * HEIGHT;
    double place[3];
    for (int i = 0; i < 3; i++)
        place[i] =
            v->eye[i] + depth * (v->ahead[i] + x / v->focal * v->right[i] - y / v->focal * v->above[i]);
    for (int i = 0; i < 2; i++)
        if (place[i] < 0.0 || place[i] > (s->size[i] - s->origin[i]) * s->spacing) return false;
    const double height = kf_terrain_height(&s->terrain, place[0] / s->spacing + s->origin[0],
                                            place[1] / s->spacing + s->origin[1], NULL);
    return place[2] >= v->base && place[2] <= (height - s->origin[2]) * s->spacing;
}

/* Of many pixels, counts those whose depth is not that of the ray's first point in the ground. A ray that
 * only just touches a crest may count either way. */
static int count_wrong(const kf_sph_view *v) {
    const double size = v->scene->size[0] * v->scene->spacing, near = 0.0, far = 6.0 * size,
                 step = (far - near) / (8.0 * LOOKS);
    int wrong = 0;
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
        double met = INFINITY;
        for (int k = 0; k < 8 * LOOKS && !isfinite(met); k++)
            if (is_in_ground(v, pixel, near + k * step)) met = near + k * step;
        const double found = (double)v->ground[pixel];
        wrong += isfinite(met) ? !(fabs(found - met) < 2.0 * step) : found < far;
    }
    return wrong;
}

static void check(double roughness) {
    kf_problem *problem = NULL;
    kf_error error;
    const kf_problem_options none = {.seed = 0};
    if (kf_problem_open("avalanche", "sph", &none, &problem, &error) != KF_OK) fail_msg("%s", error.message);
    kf_particle_scene *scene = problem->own;
    double *heights = scene->terrain.heights;
    uint64_t seed = 7;
    for (size_t i = 0; i < (size_t)scene->terrain.nodes[0] * (size_t)scene->terrain.nodes[1]; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        heights[i] += roughness * scene->size[2] * (double)(seed >> 40) / (1 << 24);
    }
    kf_sph_view view;
    kf_sph_view_begin(scene, WIDTH, HEIGHT, &view);
    kf_sph_view_ground(&view);
    assert_true(count_wrong(&view) <= WIDTH * HEIGHT / 100);
    kf_sph_view_free(&view);
    kf_problem_free(problem);
}

static void test_the_first_ground_is_shown(void **state) {
    (void)state;
    check(0.0);
    check(0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_first_ground_is_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
