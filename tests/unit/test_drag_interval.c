/* Tests the interval of a drag, by published rules for the tunnel and the errors of known flows for the
 * grid. Faults: an error that is left out, or an interval for what is not known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/cli/drag_interval.h"
#include "tests/unit/check.h"

static kf_scene *ball;

static int open_ball(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {64, 32, 32}};
    kf_error error;
    return kf_scene_open("ball", &options, &ball, &error) == KF_OK ? 0 : -1;
}
static int close_ball(void **state) {
    (void)state;
    kf_scene_free(ball);
    return 0;
}

/* A ball of 8 cells in a tunnel of 32 x 32, with numbers by hand. */
static void test_tunnel_of_a_ball(void **state) {
    (void)state;
    const kf_tunnel_effect effect = kf_tunnel_effect_of(ball, 1.2);
    assert_true(effect.known);
    /* S/C = 50.27/1024; 0.65 268.1/32768 = 0.005318; 1.2/4 S/C = 0.014726. */
    assert_near(effect.low, 1.02004 * 1.02004, 2e-3);
    /* 1 + 5/2 1.2 S/C = 1.14726; the inflow is 16 cells ahead: 1 + S/(2 pi 16^2) = 1.03125. */
    assert_near(effect.high, 1.14726 * 1.03125, 2e-3);
    assert_non_null(strstr(effect.why, "Young and Squire"));
    const kf_tunnel_effect none = kf_tunnel_effect_of(ball, 0.0);
    assert_true(none.low == 1.0);
    assert_near(none.high, 1.10592 * 1.03125, 2e-3); /* (1 - S/C)^-2 */
}

/* Rules are for bodies at rest in a uniform stream between walls without friction, with little blockage.
 * Each other tunnel is named. A road that moves with the stream mirrors what stands on it. */
static void test_tunnels_without_a_rule(void **state) {
    (void)state;
    struct {
        const char *why;
        kf_scene scene;
    } cases[] = {{"moves", *ball},           {"periodic", *ball},    {"open sides", *ball},
                 {"boundary layers", *ball}, {"angle", *ball},       {"even inflow", *ball},
                 {"front", *ball},           {"blockage of", *ball}, {"outflow", *ball}};
    cases[0].scene.motion.moving = true;
    cases[1].scene.faces[KF_YMIN] = cases[1].scene.faces[KF_YMAX] = KF_PERIODIC;
    cases[2].scene.faces[KF_ZMAX] = KF_OUTFLOW;
    cases[3].scene.faces[KF_ZMIN] = KF_WALL;
    cases[4].scene.face_velocity[KF_XMIN][1] = 0.01;
    cases[5].scene.parabolic_inflow = true;
    cases[6].scene.frontal_area = 0.0;
    cases[7].scene.frontal_area = 300.0;
    cases[8].scene.faces[KF_XMAX] = KF_FREE_SLIP;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kf_tunnel_effect effect = kf_tunnel_effect_of(&cases[i].scene, 1.0);
        if (effect.known || strstr(effect.why, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].why, effect.why);
    }
    kf_scene road = *ball;
    road.faces[KF_ZMIN] = KF_WALL;
    memcpy(road.face_velocity[KF_ZMIN], road.face_velocity[KF_XMIN], sizeof *road.face_velocity);
    const kf_tunnel_effect far = kf_tunnel_effect_of(&road, 1.0), open = kf_tunnel_effect_of(ball, 1.0);
    assert_true(far.known && far.low == open.low && far.high == open.high);
    road.solid_low[2] = -0.5;
    const kf_tunnel_effect on = kf_tunnel_effect_of(&road, 1.0);
    assert_near(on.high / open.high, 1.0625 / 1.03125, 1e-3); /* the inflow meets the front twice */
    assert_true(on.known && on.low < open.low);               /* twice the volume in twice the section */
    kf_scene back = *ball; /* the same tunnel, blown through from its other end */
    memcpy(back.faces, (const kf_boundary[2]){back.faces[KF_XMAX], back.faces[KF_XMIN]},
           2 * sizeof *back.faces);
    memcpy(back.face_velocity[KF_XMAX], back.face_velocity[KF_XMIN], sizeof *back.face_velocity);
    back.face_velocity[KF_XMAX][0] *= -1.0;
    const kf_tunnel_effect behind = kf_tunnel_effect_of(&back, 1.0);
    assert_near(behind.high / open.high, (1.0 + 50.27 / (2.0 * 3.14159265 * 40.0 * 40.0)) / 1.03125, 1e-3);
    kf_scene near = *ball;
    near.solid_low[0] = 3.0;
    const kf_tunnel_effect close = kf_tunnel_effect_of(&near, 1.0);
    assert_true(!close.known && strstr(close.why, "too near to the inflow") != NULL);
    kf_scene slice = *ball;
    slice.solid_low[1] = -0.5;
    slice.solid_high[1] = slice.nodes[1] - 0.5;
    const kf_tunnel_effect spans = kf_tunnel_effect_of(&slice, 1.0);
    const double blockage = slice.frontal_area / 1024.0;
    assert_near(spans.low, pow(1.0 + 0.822467 * blockage * blockage + 0.25 * blockage, 2.0), 1e-6);
    const double height = slice.frontal_area / slice.nodes[1];
    assert_near(spans.high, (1.0 + 0.96 * blockage) * (1.0 + height / (3.14159265358979 * 16.0)), 1e-3);
}

/* A square of 10 nodes as a mask in a tunnel of 100: the same along x and along y. What reaches the sides may
 * be the walls of a channel. */
static void test_tunnel_of_a_mask(void **state) {
    (void)state;
    enum { N = 100, LOW = 45, HIGH = 55 };
    static unsigned char mask[N * N];
    memset(mask, KF_NODE_FLUID, sizeof mask);
    for (int y = LOW; y < HIGH; y++)
        memset(&mask[y * N + LOW], KF_NODE_SOLID, HIGH - LOW);
    for (int axis = 0; axis < 2; axis++) {
        kf_scene scene = {.nodes = {N, N, 1},
                          .mask = mask,
                          .solid_low = {LOW - 0.5, LOW - 0.5, 0.0},
                          .solid_high = {HIGH - 0.5, HIGH - 0.5, 0.0}};
        for (int face = 0; face < KF_FACES; face++)
            scene.faces[face] = face / 2 == 2 ? KF_PERIODIC : KF_FREE_SLIP;
        scene.faces[2 * axis] = KF_INFLOW;
        scene.faces[2 * axis + 1] = KF_OUTFLOW;
        scene.face_velocity[2 * axis][axis] = 0.05;
        assert_true(kf_solid_front(&scene) == HIGH - LOW);
        const kf_tunnel_effect effect = kf_tunnel_effect_of(&scene, 2.0);
        if (!effect.known) fail_msg("%s", effect.why);
        /* S/C = 0.1: (1 + pi^2/12 0.01 + 2/4 0.1)^2, and 1 + 0.96 2 0.1 with the inflow 45 cells ahead. */
        assert_near(effect.low, 1.0582247 * 1.0582247, 1e-6);
        assert_near(effect.high, 1.192 * (1.0 + 10.0 / (3.14159265 * 45.0)), 1e-6);
        scene.reference_length = 20.0; /* a drag coefficient of 1 refers to it: 2 of the front */
        kf_drag_report report = {.known = true, .settled = true};
        kf_drag_interval interval;
        report.mean[KF_DRAG].mean = 1.0;
        kf_drag_interval_of(&scene, &report, &interval);
        assert_near(interval.corrected, 0.5 * (1.0 / effect.low + 1.0 / effect.high), 1e-9);
        assert_non_null(strstr(interval.why[KF_PART_GRID], "mask"));
        scene.solid_low[1 - axis] = -0.5;
        const kf_tunnel_effect channel = kf_tunnel_effect_of(&scene, 2.0);
        assert_false(channel.known);
        assert_non_null(strstr(channel.why, "reach the sides"));
    }
}

/* The prior falls with the cells, up to those of the table's flows, and says where the table ends. */
static void test_the_prior_falls_with_the_cells(void **state) {
    (void)state;
    kf_grid_prior prior;
    kf_error error;
    char why[160];
    if (kf_grid_prior_read(&prior, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(prior.flows >= 20 && prior.factor > 0.0);
    const kf_grid_prior made = {.factor = 2.0,
                                .cells_power = 1.5,
                                .y_plus_power = 0.5,
                                .least_cells = 6.0,
                                .most_cells = 16.0,
                                .most_y_plus = 50.0,
                                .flows = 20};
    assert_near(kf_grid_prior_share(&made, 9.0, 4.0, why), 2.0 / 27.0 * 2.0, 1e-12);
    assert_near(kf_grid_prior_share(&made, 9.0, 0.3, why), 2.0 / 27.0, 1e-12);
    assert_near(kf_grid_prior_share(&made, 100.0, 1.0, why), 2.0 / 64.0, 1e-12);
    assert_true(isnan(kf_grid_prior_share(&made, 5.0, 1.0, why)) && strstr(why, "cells across") != NULL);
    assert_true(isnan(kf_grid_prior_share(&made, 9.0, 51.0, why)) && strstr(why, "y+") != NULL);
}

static kf_drag_report report_of(bool settled) {
    kf_drag_report report = {.known = true, .settled = settled, .from_step = 100, .step = 400};
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        report.mean[c] = report.body[c] = (kf_series_mean){.mean = 0.5, .half = 0.002};
    return report;
}

/* The parts add by squares. One that is not known is named, and missing in the total. */
static void test_parts_add_by_squares(void **state) {
    (void)state;
    char text[256];
    kf_drag_interval whole, early, read;
    const kf_drag_report settled = report_of(true), begun = report_of(false);
    kf_drag_interval_of(ball, &settled, &whole);
    assert_true(kf_drag_interval_complete(&whole) && whole.raw == 0.5 && whole.corrected < 0.5);
    double squares = 0.0;
    for (int p = 0; p < KF_DRAG_PARTS; p++)
        squares += pow(whole.half[p], 2.0);
    assert_near(kf_drag_interval_total(&whole), sqrt(squares), 1e-12);
    assert_near(whole.half[KF_PART_STATISTICS], 0.002 * whole.corrected / 0.5, 1e-12);
    assert_null(strstr(kf_drag_interval_text(&whole, text), "not known"));
    kf_drag_interval_of(ball, &begun, &early);
    assert_false(kf_drag_interval_complete(&early));
    assert_true(kf_drag_interval_total(&early) < kf_drag_interval_total(&whole));
    assert_non_null(strstr(kf_drag_interval_text(&early, text), " or more (statistics not known"));
    for (int p = 0; p < KF_DRAG_PARTS; p++)
        early.half[p] = p == KF_PART_TUNNEL ? 0.0 : (double)NAN;
    assert_non_null(strstr(kf_drag_interval_text(&early, text), ", interval not known ("));
    kf_drag_interval_of(ball, &begun, &early);
    assert_non_null(strstr(early.why[KF_PART_STATISTICS], "not settled"));
    cJSON *json = kf_drag_interval_json(&early);
    assert_true(kf_drag_interval_read(json, &read));
    assert_true(read.raw == early.raw && isnan(read.half[KF_PART_STATISTICS]));
    assert_near(read.half[KF_PART_TUNNEL], early.half[KF_PART_TUNNEL], 1e-9);
    assert_string_equal(read.why[KF_PART_GRID], early.why[KF_PART_GRID]);
    cJSON_Delete(json);
    assert_false(kf_drag_interval_read(NULL, &read));
}

/* Errors of flows with samples say nothing of a solid by links. A law of the wall that treats laminar
 * layers as turbulent is named. */
static void test_links_have_no_prior(void **state) {
    (void)state;
    const kf_drag_report settled = report_of(true);
    kf_drag_interval i;
    ball->linked = true;
    for (int law = 0; law < 2; law++) {
        ball->wall_law = law == 1;
        kf_drag_interval_of(ball, &settled, &i);
        assert_true(isnan(i.half[KF_PART_GRID]) && !kf_drag_interval_complete(&i));
        assert_non_null(strstr(i.why[KF_PART_GRID], law ? "not the body's drag" : "by links"));
    }
    ball->linked = ball->wall_law = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunnel_of_a_ball),     cmocka_unit_test(test_tunnels_without_a_rule),
        cmocka_unit_test(test_tunnel_of_a_mask),     cmocka_unit_test(test_the_prior_falls_with_the_cells),
        cmocka_unit_test(test_parts_add_by_squares), cmocka_unit_test(test_links_have_no_prior),
    };
    return cmocka_run_group_tests(tests, open_ball, close_ball);
}
