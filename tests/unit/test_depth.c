/* Tests how deep samples lie under a solid's surface. Faults: a wrong side at edges and thin parts, or a
 * depth of another surface. */
#include "base/util/memory.h"
#include "tests/unit/scene_files.h"

#include <math.h>

static kf_scene thin_fluid(void) {
    return (kf_scene){.viscosity = 1e-4, .collision = KF_ACM_MRT, .rate_rule = KF_RATE_ADAPTIVE_2020};
}

static void test_depth_of_a_surface_by_hand(void **state) {
    (void)state;
    kf_scene scene = thin_fluid();
    assert_true(fabs(kf_scene_surface_depth(&scene, 0.0) - 0.4) < 1e-3);
    assert_true(fabs(kf_scene_surface_depth(&scene, 0.5) - 0.4 / (1.0 - 0.2)) < 1e-3);
    assert_true(kf_scene_surface_depth(&scene, 1e9) <= 1.0);
    scene.viscosity = 0.1; /* BGK: Lambda = 9 nu^2 */
    scene.collision = KF_BGK;
    const double by_hand = 7.0 / 30 + 2.0 / 3 * (0.25 - 4.0 / 3 * 0.09) - 0.1 / 6;
    assert_true(fabs(kf_scene_surface_depth(&scene, 0.0) - by_hand) < 1e-12);
    scene.viscosity = 1.0;
    assert_true(kf_scene_surface_depth(&scene, 0.0) == 0.0);
}

typedef enum box_kind { CLOSED, INWARDS, MIXED, OPEN } box_kind;

/* A box of the given lengths about the origin, in cells: closed with all triangles looking out, or in, or
 * those of the x faces alone in; or without these faces. */
static kf_scene *make_box(const double length[3], box_kind kind) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    *scene = thin_fluid();
    kf_mesh_builder b = {0};
    uint32_t corner[8];
    for (int c = 0; c < 8; c++)
        corner[c] = kf_mesh_add_vertex(&b, length[0] * ((c & 1) - 0.5), length[1] * ((c >> 1 & 1) - 0.5),
                                       length[2] * ((c >> 2) - 0.5));
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int q = 0; q < (kind == OPEN ? 4 : 6); q++) {
        const int *f = quads[q];
        const bool inwards = kind == INWARDS || (kind == MIXED && q >= 4);
        kf_mesh_add_quad(&b, corner[f[inwards ? 3 : 0]], corner[f[inwards ? 2 : 1]],
                         corner[f[inwards ? 1 : 2]], corner[f[inwards ? 0 : 3]]);
    }
    scene->mesh = b.mesh;
    for (int a = 0; a < 3; a++) {
        scene->solid_low[a] = -0.5 * length[a];
        scene->solid_high[a] = 0.5 * length[a];
        scene->faces[2 * a] = scene->faces[2 * a + 1] = KF_FREE_SLIP;
    }
    return scene;
}

/* Samples the scene's mesh and sinks the samples. Returns the largest |z|, and in *farthest that of the
 * faces across x. No sample passes the box's middle plane, which those of the other side also reach. */
static double highest(kf_scene *scene, double *farthest) {
    const double area = kf_mesh_area(&scene->mesh);
    const size_t count = (size_t)(25.0 * area);
    uint32_t *triangles = kf_allocate(count * sizeof *triangles);
    double high = 0.0;
    *farthest = 0.0;
    kf_sample_mesh(&scene->mesh, count, 1, &scene->samples, triangles);
    double *before = kf_allocate(count * sizeof *before);
    memcpy(before, scene->samples.z, count * sizeof *before);
    kf_scene_set_depth(scene);
    kf_scene_sink_samples(scene, triangles);
    for (size_t s = 0; s < count; s++) {
        assert_true(before[s] * scene->samples.z[s] >= -1e-9);
        assert_true(isfinite(scene->samples.x[s] + scene->samples.y[s] + scene->samples.z[s]));
        high = fmax(high, fabs(scene->samples.z[s]));
        *farthest = fmax(*farthest, fabs(scene->samples.x[s]));
    }
    free(before);
    free(triangles);
    kf_scene_free(scene);
    return high;
}

/* Under a face the depth is 7/30 + 2/3 (1/4 - 4/3 lambda) - viscosity / 6, where lambda = 3 viscosity (1 /
 * rate - 1/2): with the rate of the third-order moments that each rule gives at omega = 1 and at omega = 1.5.
 */
static void test_depth_of_each_rule(void **state) {
    (void)state;
    static const struct {
        kf_collision collision;
        kf_rate_rule rule;
        double rate, rate_at_half; /* at omega 1 and 1.5 */
    } rules[] = {{KF_BGK, KF_RATE_ONES, 1.0, 1.5},
                 {KF_RM_MRT, KF_RATE_ONES, 1.0, 1.0},
                 {KF_RM_MRT, KF_RATE_CONSTANT, 1.3, 1.3},
                 {KF_RM_MRT, KF_RATE_KBC, 1.0, 1.5},
                 {KF_RM_MRT, KF_RATE_K17, 24.0 / 15.0, 16.0 / 13.25},
                 {KF_RM_MRT, KF_RATE_SUGA_2015, 1.61, 1.61},
                 {KF_RM_MRT, KF_RATE_ADAPTIVE_2020, 1.97, 1.97}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int half = 0; half < 2; half++) {
            const double viscosity = half ? 1.0 / 18.0 : 1.0 / 6.0;
            const kf_scene scene = {.collision = rules[i].collision,
                                    .rate_rule = rules[i].rule,
                                    .high_order_rate = 1.3,
                                    .viscosity = viscosity};
            const double rate = half ? rules[i].rate_at_half : rules[i].rate,
                         lambda = 3.0 * viscosity * (1.0 / rate - 0.5),
                         depth = 7.0 / 30.0 + 2.0 / 3.0 * (0.25 - 4.0 / 3.0 * lambda) - viscosity / 6.0;
            if (fabs(kf_scene_surface_depth(&scene, 0.0) - depth) > 1e-12)
                fail_msg("rule %zu: %.6f, not %.6f", i, kf_scene_surface_depth(&scene, 0.0), depth);
        }
}

static void test_closed_box(void **state) {
    (void)state;
    const double length[3] = {24, 10, 8};
    const double surface = 2.0 * (240 + 192 + 80), volume = 24.0 * 80;
    const kf_scene fluid = thin_fluid();
    const double depth = kf_scene_surface_depth(&fluid, surface / volume);
    double x;
    for (box_kind kind = CLOSED; kind <= INWARDS; kind++) {
        assert_true(fabs(highest(make_box(length, kind), &x) - (4.0 - depth)) < 1e-9);
        assert_true(fabs(x - (12.0 - depth)) < 1e-9);
    }
}

/* Triangles that look both ways do not tell, so what the stream reaches decides. In a duct that is both
 * sides. */
static void test_by_what_the_stream_reaches(void **state) {
    (void)state;
    const double length[3] = {24, 12, 12};
    const kf_scene fluid = thin_fluid();
    const double depth = kf_scene_surface_depth(&fluid, 0.0);
    double x;
    assert_true(fabs(highest(make_box(length, MIXED), &x) - (6.0 - depth)) < 1e-9);
    assert_true(fabs(x - (12.0 - depth)) < 1e-9);
    assert_true(fabs(highest(make_box(length, OPEN), &x) - 6.0) < 1e-9);
}

/* Samples from both sides of a thin plate meet in its middle at most. */
static void test_thin_plate(void **state) {
    (void)state;
    const double half_a_cell[3] = {16, 16, 0.5};
    double x;
    kf_scene *scene = make_box(half_a_cell, CLOSED);
    const double high = highest(scene, &x);
    assert_true(high <= 0.25 && x > 7.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth_of_each_rule), cmocka_unit_test(test_depth_of_a_surface_by_hand),
        cmocka_unit_test(test_closed_box),         cmocka_unit_test(test_by_what_the_stream_reaches),
        cmocka_unit_test(test_thin_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
