/* Plans of nested grids against their reference. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "base/space/space_nearest.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/nested_stage.h"

/* Vortices that are carried slantwise, so that every part of an interface has something to pass on. */
static void carried(const flow *f, const double at[3], double *density, double velocity[3]) {
    const double wave = 2.0 * kf_pi / f->nodes;
    *density = 1.0 + 1e-3 * cos(wave * (at[0] + at[1]));
    for (int a = 0; a < 3; a++)
        velocity[a] = f->stream[a] + f->speed * sin(wave * at[(a + 1) % 3]) * cos(wave * at[(a + 2) % 3]);
}

static flow slantwise(kf_rate_rule rule) {
    return (flow){.state = carried, .nodes = 12, .speed = 0.02, .stream = {0.04, 0.02, -0.01}, .rule = rule};
}

/* The reference of a stage after so many steps, and its scene. */
static kf_reference *reference_of(stage *s, const kf_cell_box *boxes, int levels, int steps) {
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(nest(s, boxes, levels, &error), &error);
    must(kinetic_system->reference(problem_of(kinetic_system, s->whole[0]), steps, &reference, &error),
         &error);
    return reference;
}

static kf_config config_of(const kf_scene *scene, const char *const *fixed, int count) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_space *space = open_space_of(scene, false, fixed, count);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    return config;
}

/* Verifies the default config with these parameters fixed. */
static double verify_fixed(const kf_scene *scene, const kf_reference *reference, int steps,
                           const char *const *fixed, int count) {
    const kf_config config = config_of(scene, fixed, count);
    return verify_config(kinetic_system, scene, &config, reference, steps);
}
#define VERIFY(...)                                                                                          \
    verify_fixed(s.whole[0], reference, STEPS, (const char *const[]){__VA_ARGS__},                           \
                 (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* Three levels in a periodic domain under a body force: both plans that are fast, in all storage types. */
static void test_periodic(void **state) {
    (void)state;
    enum { STEPS = 3 };
    stage s;
    flow f = slantwise(KF_RATE_ONES);
    f.body_force[0] = 2e-5, f.body_force[1] = -1e-5;
    begin(&s, f, (const int[3]){12, 10, 12}, 0.01, 3);
    for (int l = 0; l < 3; l++)
        s.whole[l]->accuracy = 0.005;
    kf_reference *reference = reference_of(&s, two_boxes, 3, STEPS);
    printf("%g\n", VERIFY("plan=moments", "storage=f64"));
    printf("%g\n", VERIFY("plan=fused", "storage=f64"));
    printf("%g\n", VERIFY("plan=moments", "storage=f32"));
    printf("%g\n", VERIFY("plan=moments", "storage=f16"));
    printf("%g\n", VERIFY("plan=fused", "storage=f16"));
    kinetic_system->free_reference(reference);
    end(&s);
}

/* A ball in the finest of three levels in a tunnel, and boxes at its walls and its inflow. */
static void begin_tunnel(stage *s, kf_rate_rule rule) {
    flow f = {.state = uniform, .stream = {0.05}, .rule = rule};
    begin(s, f, (const int[3]){14, 10, 12}, 0.005, 3);
    for (int l = 0; l < 3; l++) {
        kf_scene *whole = s->whole[l];
        const double center[3] = {(4.5 * (1 << l)) - 0.5, (4 << l) - 0.5, (4.5 * (1 << l)) - 0.5};
        whole->accuracy = 0.005;
        whole->faces[KF_XMIN] = KF_INFLOW;
        whole->faces[KF_XMAX] = KF_OUTFLOW;
        whole->faces[KF_YMIN] = whole->faces[KF_YMAX] = KF_WALL;
        whole->faces[KF_ZMIN] = whole->faces[KF_ZMAX] = KF_FREE_SLIP;
        for (int face = 0; face < KF_ZMIN; face++)
            whole->face_velocity[face][0] = f.stream[0];
        kf_flow_add_ball(whole, center, 1 << l, 4.0);
    }
}
static const kf_cell_box tunnel_boxes[] = {{{0, 0, 2}, {8, 7, 8}}, {{4, 4, 6}, {14, 12, 14}}};

static void test_ball_in_tunnel(void **state) {
    (void)state;
    enum { STEPS = 3 };
    stage s;
    begin_tunnel(&s, KF_RATE_ONES);
    kf_reference *reference = reference_of(&s, tunnel_boxes, 3, STEPS);
    printf("%g\n", VERIFY("plan=moments", "storage=f64"));
    printf("%g\n", VERIFY("plan=fused", "storage=f64"));
    printf("%g\n", VERIFY("plan=baseline", "storage=f64"));
    printf("%g\n", VERIFY("plan=paper", "storage=f32"));
    printf("%g\n", VERIFY("plan=moments", "storage=f16"));
    kinetic_system->free_reference(reference);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_ball_in_tunnel),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
