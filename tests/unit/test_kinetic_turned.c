/* Tests that a kinetic scene whose axes are exchanged or reversed has the same flow, where faces with
 * different velocities meet at edges and corners of the domain. Faults: the order of the axes decides there.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_nearest.h"
#include "solver/kinetic/reference.h"
#include "solver/validation/flow.h"
#include "tests/unit/kinetic_variants.h"

enum { STEPS = 40 };
static const int nodes[3] = {9, 7, 11};

/* A signed exchange of axes: what lies along axis a lies along `to[a]` then, and backwards if flipped[a]. */
typedef struct exchange {
    int to[3];
    bool flipped[3];
} exchange;

typedef struct turned_case {
    const char *name;
    kf_boundary faces[KF_FACES];
    double velocity[KF_FACES][3], specular_share[KF_FACES], initial[3];
} turned_case;

static const turned_case cases[] = {
    {"walls at rest",
     {KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL},
     {{0}},
     {0},
     {0.02, -0.01, 0.03}},
    {"a lid", {KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL}, {[KF_YMAX] = {0.05, 0, 0}}, {0}, {0}},
    {"two lids",
     {KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL},
     {[KF_YMAX] = {0.05, 0, 0.02}, [KF_XMAX] = {0, 0.03, -0.01}},
     {0},
     {0}},
    {"walls that move against each other",
     {KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL, KF_WALL},
     {[KF_YMAX] = {0.05, 0, 0}, [KF_ZMAX] = {-0.05, 0, 0}, [KF_ZMIN] = {0, 0.02, 0}},
     {0},
     {0}},
    {"a belt between walls at rest",
     {KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_WALL, KF_WALL, KF_FREE_SLIP},
     {[KF_XMIN] = {0.05, 0, 0}, [KF_ZMIN] = {0.05, 0, 0}},
     {0},
     {0.05, 0, 0}},
    {"a belt that mirrors, between walls that do",
     {KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_WALL, KF_WALL, KF_WALL},
     {[KF_XMIN] = {0.05, 0, 0}, [KF_ZMIN] = {0.05, 0, 0}},
     {[KF_ZMIN] = 0.4, [KF_YMIN] = 0.1},
     {0.05, 0.01, 0.01}},
    {"walls that move with the stream",
     {KF_INFLOW, KF_OUTFLOW, KF_WALL, KF_WALL, KF_WALL, KF_WALL},
     {[KF_XMIN] = {0.05, 0, 0},
      [KF_YMIN] = {0.05, 0, 0},
      [KF_YMAX] = {0.05, 0, 0},
      [KF_ZMIN] = {0.05, 0, 0},
      [KF_ZMAX] = {0.05, 0, 0}},
     {0},
     {0.05, 0, 0}},
    {"inflows that meet",
     {KF_INFLOW, KF_OUTFLOW, KF_INFLOW, KF_WALL, KF_WALL, KF_FREE_SLIP},
     {[KF_XMIN] = {0.05, 0.01, 0}, [KF_YMIN] = {0.01, 0.03, 0.02}},
     {0},
     {0.03, 0.02, 0}},
    {"three inflows",
     {KF_INFLOW, KF_OUTFLOW, KF_INFLOW, KF_FREE_SLIP, KF_INFLOW, KF_FREE_SLIP},
     {[KF_XMIN] = {0.05, 0, 0}, [KF_YMIN] = {0, 0.03, 0}, [KF_ZMIN] = {0, 0, 0.02}},
     {0},
     {0.03, 0.02, 0.01}},
};
enum { CASES = sizeof cases / sizeof *cases };

static const exchange exchanges[] = {
    {{1, 2, 0}, {false, false, false}}, {{2, 0, 1}, {true, false, false}}, {{1, 0, 2}, {false, false, false}},
    {{0, 2, 1}, {false, true, true}},   {{2, 1, 0}, {true, true, true}},   {{0, 1, 2}, {true, false, true}},
};
static const exchange none = {{0, 1, 2}, {false, false, false}};

static void exchange_vector(const exchange *e, const double from[3], double to[3]) {
    for (int a = 0; a < 3; a++)
        to[e->to[a]] = e->flipped[a] ? -from[a] : from[a];
}

static kf_scene *open_case(const turned_case *c, const exchange *e) {
    int n[3];
    for (int a = 0; a < 3; a++)
        n[e->to[a]] = nodes[a];
    kf_scene *scene = kf_flow_box(c->name, n[0], n[1], n[2], 0.01);
    scene->rate_rule = KF_RATE_ONES; /* others divide by averages over some rows, which lie along x */
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2, side = (face % 2) ^ (e->flipped[axis] ? 1 : 0),
                  there = 2 * e->to[axis] + side;
        scene->faces[there] = c->faces[face];
        scene->specular_share[there] = c->specular_share[face];
        exchange_vector(e, c->velocity[face], scene->face_velocity[there]);
    }
    exchange_vector(e, c->initial, scene->initial_velocity);
    return scene;
}

/* Returns the largest difference of the reference's fields from those of the scene as it is. */
static double difference(const double *first, const double *second, const exchange *e, double *fastest) {
    const size_t count = (size_t)nodes[0] * (size_t)nodes[1] * (size_t)nodes[2];
    size_t n[3], at = 0;
    double worst = 0.0;
    for (int a = 0; a < 3; a++)
        n[e->to[a]] = (size_t)nodes[a];
    for (int z = 0; z < nodes[2]; z++)
        for (int y = 0; y < nodes[1]; y++)
            for (int x = 0; x < nodes[0]; x++, at++) {
                const int place[3] = {x, y, z};
                size_t there[3];
                double velocity[3], expected[3];
                for (int a = 0; a < 3; a++) {
                    there[e->to[a]] = (size_t)(e->flipped[a] ? nodes[a] - 1 - place[a] : place[a]);
                    velocity[a] = first[(size_t)(a + 1) * count + at];
                    *fastest = fmax(*fastest, fabs(velocity[a]));
                }
                exchange_vector(e, velocity, expected);
                const size_t node = there[0] + n[0] * (there[1] + n[1] * there[2]);
                worst = fmax(worst, fabs(second[node] - first[at]));
                for (int a = 0; a < 3; a++)
                    worst = fmax(worst, fabs(second[(size_t)(a + 1) * count + node] - expected[a]));
            }
    return worst;
}

static void axes_do_not_decide(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    int wrong = 0;
    for (int c = 0; c < CASES; c++) {
        kf_reference *first;
        kf_scene *scene = open_case(&cases[c], &none);
        must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &first, &error), &error);
        for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
            kf_reference *second;
            double fastest = 0.0;
            kf_scene *turned = open_case(&cases[c], &exchanges[i]);
            must(kinetic_system->reference(problem_of(kinetic_system, turned), STEPS, &second, &error),
                 &error);
            const double worst =
                difference(first->of_27.values, second->of_27.values, &exchanges[i], &fastest);
            if (!(worst < 1e-11 && fastest > 0.005)) {
                print_message("%s, exchange %zu: %g of %g\n", cases[c].name, i, worst, fastest);
                wrong++;
            }
            kinetic_system->free_reference(second);
            kf_scene_free(turned);
        }
        kinetic_system->free_reference(first);
        kf_scene_free(scene);
    }
    assert_int_equal(wrong, 0);
}

/* The plans have the reference's edges for any orientation of the axes: folded into streaming, by kernels
 * of their own, and by moments. */
static void plans_follow(void **state) {
    (void)state;
    static const char *const plans[][2] = {{"plan=fused", "boundary_kernels=0"},
                                           {"plan=fused", "boundary_kernels=1"},
                                           {"plan=fused", "boundary_kernels=6"},
                                           {"plan=moments", "storage=f32"},
                                           {"plan=baseline", "storage=f32"}};
    kf_error error = {KF_OK, ""};
    for (int c = 0; c < CASES; c++)
        for (int turn = 0; turn < 2; turn++) {
            kf_reference *reference;
            kf_scene *scene = open_case(&cases[c], turn ? &exchanges[0] : &none);
            must(kinetic_system->reference(problem_of(kinetic_system, scene), 12, &reference, &error),
                 &error);
            for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
                kf_config config;
                kf_space *space = open_space_of(scene, false, plans[p], 2);
                must(kf_space_nearest(space, &config, &error), &error);
                (void)verify_config(kinetic_system, scene, &config, reference, 12);
                kf_space_free(space);
            }
            kinetic_system->free_reference(reference);
            kf_scene_free(scene);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_do_not_decide), cmocka_unit_test(plans_follow)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
