/* Tests the directions of drag, lift and side force against directions by hand. Faults: a wrong sign or
 * axis for one wind. */
#include "solver/flow/flow_frame.h"
#include "tests/unit/near.h"

static void frame_is(const kf_scene *s, int flow, int up, const double drag[3], const double lift[3]) {
    kf_flow_frame frame;
    kf_flow_frame_of(s, &frame);
    assert_int_equal(frame.flow_axis, flow);
    assert_int_equal(frame.up_axis, up);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        near(frame.drag[a], drag[a]);
        near(frame.lift[a], lift[a]);
        near(frame.side[a], drag[b] * lift[c] - drag[c] * lift[b]);
    }
}

/* Drag points along what enters at nodes of a mask, if nothing else flows at first. */
static void frame_of_a_mask(void **state) {
    (void)state;
    unsigned char mask[4] = {KF_NODE_FLUID, KF_NODE_INFLOW, KF_NODE_FLUID, KF_NODE_OUTFLOW};
    kf_scene s = {
        .nodes = {2, 2, 1}, .mask = mask, .mask_velocity = {0, -0.03, 0}, .body_force = {1e-5, 0, 0}};
    for (int f = 0; f < 4; f++)
        s.faces[f] = KF_WALL;
    frame_is(&s, 1, 0, (const double[3]){0, -1, 0}, (const double[3]){1, 0, 0});
    s.mask_velocity[0] = 0.04;
    frame_is(&s, 0, 1, (const double[3]){0.8, -0.6, 0}, (const double[3]){0.6, 0.8, 0});
    s.initial_velocity[0] = -0.1;
    frame_is(&s, 0, 1, (const double[3]){-1, 0, 0}, (const double[3]){0, 1, 0});
    s.initial_velocity[0] = 0;
    mask[1] = KF_NODE_FLUID;
    frame_is(&s, 0, 1, (const double[3]){1, 0, 0}, (const double[3]){0, 1, 0});
    mask[1] = KF_NODE_INFLOW;
    s.mask_has_pressure = true;
    frame_is(&s, 0, 1, (const double[3]){1, 0, 0}, (const double[3]){0, 1, 0});
}

/* Drag points along the fastest inflow, otherwise along the start, the force, or the fastest wall. Lift
 * points away from the one pair of walls beside it, otherwise along z, at a right angle to drag. */
static void drag_is_along_the_stream(void **state) {
    (void)state;
    kf_scene s = {.nodes = {10, 10, 10}};
    for (int f = 0; f < KF_FACES; f++)
        s.faces[f] = KF_FREE_SLIP;
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    frame_is(&s, 0, 2, x, z);
    s.faces[KF_ZMAX] = KF_WALL;
    s.face_velocity[KF_ZMAX][1] = 0.02;
    frame_is(&s, 1, 2, y, z);
    s.body_force[2] = -1e-4;
    frame_is(&s, 2, 1, down, y);
    s.initial_velocity[0] = 0.03;
    frame_is(&s, 0, 2, x, z);
    s.faces[KF_XMIN] = s.faces[KF_ZMIN] = KF_INFLOW;
    s.face_velocity[KF_XMIN][0] = 0.02;
    s.face_velocity[KF_ZMIN][2] = 0.05;
    frame_is(&s, 2, 1, z, y);
    s.faces[KF_XMAX] = KF_WALL;
    frame_is(&s, 2, 0, z, x);
    s.faces[KF_YMIN] = KF_WALL; /* two pairs of walls say nothing */
    frame_is(&s, 2, 1, z, y);
    s.faces[KF_ZMIN] = s.faces[KF_XMAX] = s.faces[KF_YMIN] = s.faces[KF_ZMAX] = KF_FREE_SLIP;
    s.face_velocity[KF_XMIN][0] = 0.04;
    s.face_velocity[KF_XMIN][2] = 0.03;
    frame_is(&s, 0, 2, (double[3]){0.8, 0, 0.6}, (double[3]){-0.6, 0, 0.8});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drag_is_along_the_stream),
        cmocka_unit_test(frame_of_a_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
