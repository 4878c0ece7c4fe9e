/* Tests that a d2q9 scene turned by 90 degrees has the same flow, by the reference and by the plans, with
 * solids that touch faces of any kind. Faults: at a corner one face of the domain counts before another. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "tests/unit/d2q9_fixture.h"

/* Turns a square scene by a quarter: node (x, y) becomes (n - 1 - y, x). */
static void turn(kf_scene *scene) {
    static const int becomes[4] = {KF_YMIN, KF_YMAX, KF_XMAX, KF_XMIN};
    const kf_scene before = *scene;
    const int n = scene->nodes[0];
    scene->mask = kf_allocate((size_t)n * (size_t)n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            scene->mask[x * n + n - 1 - y] = before.mask[y * n + x];
    for (int face = 0; face < 4; face++) {
        scene->faces[becomes[face]] = before.faces[face];
        scene->face_velocity[becomes[face]][0] = -before.face_velocity[face][1];
        scene->face_velocity[becomes[face]][1] = before.face_velocity[face][0];
    }
    scene->initial_velocity[0] = -before.initial_velocity[1];
    scene->initial_velocity[1] = before.initial_velocity[0];
    free(before.mask);
}

/* Returns the difference between the fields f, turned by this many quarters, and t. */
static double turned_difference(const double *f, const double *t, int n, int quarters, double *largest) {
    double worst = 0.0;
    *largest = 0.0;
    for (int node = 0; node < n * n; node++) {
        int x = node % n, y = node / n;
        double u = f[n * n + node], v = f[2 * n * n + node];
        for (int q = 0; q < quarters; q++) {
            const int x_before = x;
            const double u_before = u;
            x = n - 1 - y, y = x_before;
            u = -v, v = u_before;
        }
        const int at = y * n + x;
        worst = fmax(worst, fabs(t[at] - f[node]));
        worst = fmax(worst, fmax(fabs(t[n * n + at] - u), fabs(t[2 * n * n + at] - v)));
        *largest = fmax(*largest, fmax(fabs(u), fabs(v)));
    }
    return worst;
}

static void put_disc(kf_scene *scene) {
    const int n = scene->nodes[0];
    scene->mask = kf_allocate((size_t)n * (size_t)n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            scene->mask[n * y + x] =
                (unsigned char)(hypot(x - 10, y - 14) < 3.2 ? KF_NODE_SOLID : KF_NODE_FLUID);
}

/* A disc off the middle, in a cavity under one lid or two, and in a stream that enters from one side or
 * two. When the scene turns by quarters, the fields turn with it, and so do those of the configs. */
static void test_a_turned_scene_has_the_turned_flow(void **state) {
    (void)state;
    enum { N = 24, STEPS = 60 }; /* until the corners reach the disc */
    static const char *const closed[] = {SOA "plan=pull", SOA "plan=push", SOA "plan=inplace",
                                         SOA "plan=temporal steps_per_launch=3 tile_rows=32", NULL},
                             *const open[] = {SOA "plan=pull", SOA "plan=inplace", NULL};
    static const struct {
        kf_boundary faces[4];
        double velocity[4][2];
    } cases[] = {
        {{KF_WALL, KF_WALL, KF_WALL, KF_WALL}, {[KF_YMAX] = {0.05, 0}}},
        {{KF_WALL, KF_WALL, KF_WALL, KF_WALL}, {[KF_YMAX] = {0.05, 0}, [KF_XMAX] = {0, 0.03}}},
        {{KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_WALL}, {[KF_XMIN] = {0.05, 0}}},
        {{KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_FREE_SLIP}, {[KF_XMIN] = {0.05, 0}, [KF_YMIN] = {0.02, 0}}},
        {{KF_INFLOW, KF_OUTFLOW, KF_INFLOW, KF_OUTFLOW}, {[KF_XMIN] = {0.05, 0}, [KF_YMIN] = {0.01, 0.03}}},
    };
    kf_error error = {0};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene = open_shipped_scene("cavity2d", N * N);
        put_disc(scene);
        for (int face = 0; face < 4; face++) {
            scene->faces[face] = cases[c].faces[face];
            memcpy(scene->face_velocity[face], cases[c].velocity[face], sizeof cases[c].velocity[face]);
        }
        kf_reference *first, *turned;
        must(d2q9->reference(problem_of(d2q9, scene), STEPS, &first, &error), &error);
        for (int quarter = 1; quarter <= 4; quarter++) {
            double largest;
            turn(scene);
            must(d2q9->reference(problem_of(d2q9, scene), STEPS, &turned, &error), &error);
            const double worst = turned_difference(first->solutions[0].values, turned->solutions[0].values, N,
                                                   quarter, &largest);
            d2q9->free_reference(turned);
            if (!(worst < 1e-12 && largest > 0.01))
                fail_msg("case %zu turned by %d quarters: %g of %g", c, quarter, worst, largest);
            if (quarter == 1) verify_configs(scene, 9, c < 2 ? closed : open);
            if (quarter == 1 && c < 2) compare_folded(scene, SOA "plan=pull");
        }
        d2q9->free_reference(first);
        kf_scene_free(scene);
    }
}

/* Nodes of a mask that let fluid in and out, at the rim, in a corner and within: turned by quarters the flow
 * turns with them. */
static void test_open_nodes(void **state) {
    (void)state;
    enum { N = 24, STEPS = 30 };
    kf_error error = {0};
    for (int pressure = 0; pressure < 2; pressure++) {
        kf_scene *scene = open_shipped_scene("cavity2d", N * N);
        put_disc(scene);
        memset(scene->face_velocity, 0, sizeof scene->face_velocity);
        for (int n = 0; n < 6; n++) {
            scene->mask[N * (n + 3)] = scene->mask[N * (N - 1) + 5 + n] = KF_NODE_INFLOW;
            scene->mask[N * n + N - 1] = scene->mask[N - 1 - n] = KF_NODE_OUTFLOW;
            if (!pressure) scene->mask[N * 6 + n + 12] = KF_NODE_INFLOW;
        }
        for (int y = 12; y < N; y++) /* a column that ends in a corner */
            scene->mask[N * y + N - 1] = KF_NODE_OUTFLOW;
        scene->mask_velocity[0] = 0.03, scene->mask_velocity[1] = -0.02;
        scene->mask_has_pressure = pressure;
        scene->mask_density = 0.01;
        kf_reference *first, *turned;
        must(d2q9->reference(problem_of(d2q9, scene), STEPS, &first, &error), &error);
        for (int quarter = 1; quarter <= 4; quarter++) {
            const double u = scene->mask_velocity[0];
            double largest;
            turn(scene);
            scene->mask_velocity[0] = -scene->mask_velocity[1], scene->mask_velocity[1] = u;
            must(d2q9->reference(problem_of(d2q9, scene), STEPS, &turned, &error), &error);
            const double worst = turned_difference(first->solutions[0].values, turned->solutions[0].values, N,
                                                   quarter, &largest);
            d2q9->free_reference(turned);
            if (!(worst < 1e-12 && largest > 0.005))
                fail_msg("pressure %d, turned by %d quarters: %g of %g", pressure, quarter, worst, largest);
            if (quarter == 1)
                verify_configs(scene, 9, (const char *const[]){SOA "plan=pull", SOA "plan=push", NULL});
        }
        d2q9->free_reference(first);
        kf_scene_free(scene);
    }
}

/* Puts solid nodes at four faces, and at a corner of two. */
static void put_solids_at_faces(kf_scene *scene) {
    const int n = scene->nodes[0];
    scene->mask = kf_allocate((size_t)n * (size_t)n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const bool solid = (x < 3 && y >= 8 && y < 11) || (x >= n - 4 && y >= 13 && y < 15) ||
                               (y < 4 && x >= 9 && x < 12) || (y >= n - 3 && x >= 5 && x < 7) ||
                               (x >= n - 2 && y >= n - 3);
            scene->mask[n * y + x] = (unsigned char)(solid ? KF_NODE_SOLID : KF_NODE_FLUID);
        }
}

/* Solids touch faces that are periodic, or have inflow, outflow or free slip. Plans agree with the reference,
 * and turned by a quarter. Kernels run backwards (take_quick_compiler), so that a face and a link that store
 * the same population would show. */
static void test_solids_at_faces(void **state) {
    (void)state;
    enum { N = 24, STEPS = 30 };
    static const char *const configs[] = {SOA "plan=pull",
                                          SOA "plan=push",
                                          SOA "plan=separate",
                                          SOA "plan=inplace",
                                          SOA "plan=pull bounce_back=full_way",
                                          SOA "plan=toelke bounce_back=full_way",
                                          NULL};
    static const kf_boundary cases[][4] = {{KF_FREE_SLIP, KF_FREE_SLIP, KF_FREE_SLIP, KF_FREE_SLIP},
                                           {KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_FREE_SLIP},
                                           {KF_INFLOW, KF_OUTFLOW, KF_PERIODIC, KF_PERIODIC},
                                           {KF_PERIODIC, KF_PERIODIC, KF_PERIODIC, KF_PERIODIC}};
    kf_error error = {0};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene = open_shipped_scene("cavity2d", N * N);
        put_solids_at_faces(scene);
        memset(scene->face_velocity, 0, sizeof scene->face_velocity);
        memcpy(scene->faces, cases[c], sizeof cases[c]);
        scene->face_velocity[KF_XMIN][0] = cases[c][KF_XMIN] == KF_INFLOW ? 0.05 : 0.0;
        scene->initial_velocity[0] = 0.04, scene->initial_velocity[1] = 0.02;
        kf_reference *first, *turned;
        must(d2q9->reference(problem_of(d2q9, scene), STEPS, &first, &error), &error);
        verify_configs(scene, 9, configs);
        turn(scene);
        must(d2q9->reference(problem_of(d2q9, scene), STEPS, &turned, &error), &error);
        double largest;
        const double worst =
            turned_difference(first->solutions[0].values, turned->solutions[0].values, N, 1, &largest);
        assert_true(worst < 1e-12 && largest > 0.01);
        const double *force = first->solutions[0].load.force, *along = turned->solutions[0].load.force;
        assert_true(fabs(along[0] + force[1]) + fabs(along[1] - force[0]) < 1e-12 * (1.0 + fabs(force[0])));
        d2q9->free_reference(first);
        d2q9->free_reference(turned);
        kf_scene_free(scene);
    }
}

/* A solid on a face of free slip has half of the force on it and its mirror image, and the same flow. */
static void test_half_of_a_solid(void **state) {
    (void)state;
    enum { N = 24, STEPS = 60 };
    kf_error error = {0};
    kf_reference *halves[2];
    for (int half = 0; half < 2; half++) {
        kf_scene *scene = open_shipped_scene("cavity2d", N * N);
        const int n[2] = {N, half ? N / 2 : N};
        scene->nodes[1] = n[1];
        scene->mask = kf_allocate((size_t)n[0] * (size_t)n[1]);
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < N; x++)
                scene->mask[N * y + x] =
                    (unsigned char)(x >= 8 && x < 12 && abs(2 * (y + N - n[1] - N / 2) + 1) < 8
                                        ? KF_NODE_SOLID
                                        : KF_NODE_FLUID);
        memset(scene->face_velocity, 0, sizeof scene->face_velocity);
        memcpy(scene->faces, (const kf_boundary[4]){KF_INFLOW, KF_OUTFLOW, KF_FREE_SLIP, KF_FREE_SLIP},
               sizeof(kf_boundary[4]));
        scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = 0.05;
        must(d2q9->reference(problem_of(d2q9, scene), STEPS, &halves[half], &error), &error);
        verify_configs(scene, 9, (const char *const[]){SOA "plan=pull", NULL});
        kf_scene_free(scene);
    }
    const double *both = halves[0]->solutions[0].values, *one = halves[1]->solutions[0].values;
    for (int node = 0; node < N * N / 2; node++)
        assert_true(fabs(one[N * N / 2 + node] - both[N * N + N * N / 2 + node]) < 1e-12);
    for (int way = 0; way < 2; way++) {
        const double whole = halves[0]->solutions[way].load.force[0],
                     half = halves[1]->solutions[way].load.force[0];
        assert_true(fabs(2.0 * half / whole - 1.0) < 1e-9);
    }
    for (int half = 0; half < 2; half++)
        d2q9->free_reference(halves[half]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_turned_scene_has_the_turned_flow), cmocka_unit_test(test_open_nodes),
        cmocka_unit_test(test_solids_at_faces), cmocka_unit_test(test_half_of_a_solid)};
    return cmocka_run_group_tests(tests, open_backend_for_variants_on_all_cores, close_backend);
}
