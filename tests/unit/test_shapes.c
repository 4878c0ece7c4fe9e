/* Tests the shapes that scenes can name. Faults: a surface with holes, a wrong volume, area or size, a
 * body that changes by accident. */
#include "tests/unit/check.h"
#include "tests/unit/closed_mesh.h"
#include "tests/unit/scene_files.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static double volume(const kf_mesh *mesh) {
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *p[3];
        for (size_t i = 0; i < 3; i++)
            p[i] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + i];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
               p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6.0;
}

/* ---- Shapes ---- */

static void make_shape(int shape, const double *changed, kf_mesh *mesh) {
    double values[KF_SHAPE_PARAMETERS] = {0};
    for (int p = 0; p < KF_SHAPE_PARAMETERS && kf_shapes[shape].parameters[p].key != NULL; p++)
        values[p] = changed != NULL ? changed[p] : kf_shapes[shape].parameters[p].fallback;
    kf_shape_mesh(&kf_shapes[shape], values, mesh);
}

static void test_shapes_are_closed(void **state) {
    (void)state;
    for (int shape = 0; shape < KF_SHAPES; shape++) {
        kf_mesh mesh;
        make_shape(shape, NULL, &mesh);
        assert_closed(&mesh);
        assert_true(volume(&mesh) > 0.0);
        assert_int_equal(kf_mesh_clean(&mesh), 0);
        kf_mesh_free(&mesh);
    }
}

static void test_round_shapes(void **state) {
    (void)state;
    kf_mesh mesh;
    make_shape(0, NULL, &mesh);
    assert_near(kf_mesh_area(&mesh), PI, 1e-3);
    assert_near(volume(&mesh), PI / 6.0, 1e-3);
    kf_mesh_free(&mesh);
    make_shape(1, NULL, &mesh);
    assert_near(kf_mesh_area(&mesh), 4.0 * PI * PI * 0.35 * 0.15, 2e-3);
    assert_near(volume(&mesh), 2.0 * PI * PI * 0.35 * 0.15 * 0.15, 2e-3);
    kf_mesh_free(&mesh);
    const double knot[] = {0.35, 0.15, 0.001, 3, 7}; /* a thin tube: area = circumference times length */
    make_shape(4, knot, &mesh);
    double length = 0.0;
    for (int i = 0; i < 100000; i++) {
        const double t = 2.0 * PI * i / 100000.0;
        length += hypot(3.0 * (0.35 + 0.15 * cos(7.0 * t)), 7.0 * 0.15) * 2.0 * PI / 100000.0;
    }
    assert_near(kf_mesh_area(&mesh), 2.0 * PI * 0.001 * length, 3e-3);
    kf_mesh_free(&mesh);
}

/* The bodies of published results keep their volume, area, centre, inertia and extent. Those of a bunch
 * follow from its rods: prisms over 16 corners, whose ends narrow to seven tenths. */
static void test_bodies_stay_as_they_are(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double volume, area, centre[3], inertia[3], low[3], high[3];
    } bodies[] = {{"car",
                   6.900004225,
                   27.11727132,
                   {2.360310993, 0, 0.6421982318},
                   {2.370430699, 9.42953624, 10.61679932},
                   {0, -1.06757, 0},
                   {4.42, 1.06757, 1.40015}},
                  {"aircraft",
                   471.4020541,
                   921.2385436,
                   {16.8494946, 0, -0.05810029308},
                   {5318.234452, 33233.89867, 37257.76396},
                   {0, -17.5, -3.03146},
                   {37.6, 17.5, 7.6}},
                  {"town",
                   447284.3384,
                   131524.9116,
                   {7.658688636, 1.00448472, 12.44004104},
                   {1445034136, 2670761252, 4030964704},
                   {-142.952, -102.997, 0},
                   {142.77, 102.875, 68}},
                  {"bunch",
                   64 * 0.425 * 8 * 1e-4 * 0.38268343236509 * (0.98 + 0.02 * 2.19 / 3),
                   1.718416497,
                   {0.0004478311383, 9.10680579e-05, 0},
                   {0.0005391202537, 0.0005385703419, 0.000538943031},
                   {-0.489043, -0.49601, -0.49342},
                   {0.497564, 0.493901, 0.49342}}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        int shape = 0;
        while (strcmp(kf_shapes[shape].name, bodies[i].name) != 0)
            shape++;
        kf_mesh mesh;
        kf_body body;
        make_shape(shape, NULL, &mesh);
        assert_int_equal(kf_mesh_body(&mesh, false, &body), 0);
        const kf_box box = kf_mesh_bounds(&mesh);
        assert_near(body.volume, bodies[i].volume, 1e-8);
        assert_near(kf_mesh_area(&mesh), bodies[i].area, 1e-8);
        for (int a = 0; a < 3; a++) {
            const double size = box.high[a] - box.low[a];
            assert_true(fabs(body.center[a] - bodies[i].centre[a]) < 1e-5 * size);
            assert_near(body.inertia[4 * a], bodies[i].inertia[a], 1e-8);
            assert_true(fabs(box.low[a] - bodies[i].low[a]) < 1e-5 * size);
            assert_true(fabs(box.high[a] - bodies[i].high[a]) < 1e-5 * size);
        }
        kf_mesh_free(&mesh);
    }
}

/* Finds volume, centre and inertia of a torus far from the origin, with its axis turned to x and its
 * triangles facing inwards. A mesh with a hole is refused. */
static void test_body_of_a_turned_torus(void **state) {
    (void)state;
    kf_mesh mesh;
    kf_body body;
    const double turned[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0}, far[3] = {1000, -2000, 500};
    const double major = 0.35, minor = 0.15, mass = 2.0 * PI * PI * major * minor * minor;
    make_shape(1, NULL, &mesh);
    kf_mesh_transform(&mesh, turned, far);
    for (size_t t = 0; t < mesh.triangle_count; t++) {
        const uint32_t first = mesh.triangles[3 * t];
        mesh.triangles[3 * t] = mesh.triangles[3 * t + 1];
        mesh.triangles[3 * t + 1] = first;
    }
    assert_int_equal(kf_mesh_body(&mesh, false, &body), 0);
    assert_near(body.volume, mass, 2e-3);
    for (int a = 0; a < 3; a++)
        assert_near(body.center[a], far[a], 1e-9);
    assert_near(body.inertia[0], mass * (major * major + 0.75 * minor * minor), 5e-3);
    assert_near(body.inertia[4], mass * (0.5 * major * major + 0.625 * minor * minor), 5e-3);
    assert_near(body.inertia[8], body.inertia[4], 1e-4);
    assert_true(fabs(body.inertia[1]) + fabs(body.inertia[2]) + fabs(body.inertia[5]) < 1e-6 * mass);
    mesh.triangle_count--;
    assert_int_equal(kf_mesh_body(&mesh, false, &body), 3);
    kf_mesh_free(&mesh);
}

/* The Ahmed body agrees with published dimensions, and with the volume computed by hand. */
static void test_ahmed_has_its_published_size(void **state) {
    (void)state;
    static const double slants[] = {0.0, 25.0, 35.0, 62.0},
                        measures[2][5] = {{1.044, 0.389, 0.288, 0.1, 0.222}, {0.93, 0.42, 0.25, 0.08, 0.17}};
    for (int s = 0; s < 8; s++)
        for (int stilts = 0; stilts <= 1; stilts++) {
            const double *m = measures[s / 4], angle = slants[s % 4] * PI / 180.0, radius = m[3];
            const double values[] = {slants[s % 4], 0.05, stilts, m[0], m[1], m[2], m[3], m[4]};
            kf_mesh mesh;
            make_shape(2, values, &mesh);
            assert_closed(&mesh);
            const kf_box box = kf_mesh_bounds(&mesh);
            assert_near(box.high[0] - box.low[0], m[0], 1e-9);
            assert_near(box.high[1] - box.low[1], m[1], 1e-9);
            assert_near(box.high[2], 0.05 + m[2], 1e-9);
            assert_true(fabs(box.low[2] - (stilts ? 0.0 : 0.05)) < 1e-9);
            double expected =
                (m[0] - radius) * m[1] * m[2] - 0.5 * m[4] * cos(angle) * m[4] * sin(angle) * m[1];
            for (int i = 0; i < 10000; i++) { /* the nose, slice by slice */
                const double x = radius * (i + 0.5) / 10000.0,
                             inset = radius - sqrt(radius * radius - (radius - x) * (radius - x));
                expected += radius / 10000.0 * (m[1] - 2.0 * inset) * (m[2] - 2.0 * inset);
            }
            expected += stilts * 4 * PI * 0.015 * 0.015 * 0.05;
            assert_near(volume(&mesh), expected, 1e-3);
            const double ahead[3] = {60.0, 0.0, 0.0}, scaling[9] = {100, 0, 0, 0, 100, 0, 0, 0, 100},
                         nowhere[3] = {0};
            kf_mesh_transform(&mesh, scaling, nowhere);
            assert_near(kf_mesh_shadow(&mesh, ahead), 1e4 * (m[1] * m[2] + stilts * 2 * 0.03 * 0.05), 0.02);
            kf_mesh_free(&mesh);
        }
}

static void test_shadows_along_any_direction(void **state) {
    (void)state;
    const double values[KF_SHAPE_PARAMETERS] = {20.0, 10.0, 5.0};
    kf_mesh mesh;
    kf_shape_mesh(&kf_shapes[3], values, &mesh);
    const double along[3][3] = {{1, 0, 0}, {0, -3, 0}, {0, 0, 0.1}}, diagonal[3] = {1, 1, 0};
    assert_near(kf_mesh_shadow(&mesh, along[0]), 50.0, 0.06);
    assert_near(kf_mesh_shadow(&mesh, along[1]), 100.0, 0.06);
    assert_near(kf_mesh_shadow(&mesh, along[2]), 200.0, 0.06);
    assert_near(kf_mesh_shadow(&mesh, diagonal), (50.0 + 100.0) / sqrt(2.0), 0.06);
    kf_mesh_free(&mesh);
    const double ball[KF_SHAPE_PARAMETERS] = {10.0}, any[3] = {1, 2, 3};
    kf_shape_mesh(&kf_shapes[0], ball, &mesh);
    assert_near(kf_mesh_shadow(&mesh, any), 100.0 * PI, 0.01);
    kf_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_closed),
        cmocka_unit_test(test_round_shapes),
        cmocka_unit_test(test_body_of_a_turned_torus),
        cmocka_unit_test(test_bodies_stay_as_they_are),
        cmocka_unit_test(test_ahmed_has_its_published_size),
        cmocka_unit_test(test_shadows_along_any_direction),
    };
    return cmocka_run_group_tests_name("shapes", tests, make_test_folder, remove_test_folder);
}
