/* Tests the disturbance of the flow at the start. Faults: a wrong strength, divergence, another one on
 * another grid or for the same seed, or a flow that can never differ along an axis. */
#include "tests/unit/near.h"
#include "tests/unit/scene_files.h"
#include "tests/unit/scene_texts.h"

#include <string.h>

#define AT_REST      "\"initial_velocity\": [0, 0, 0]"
#define STIRRED(how) "\"flow\": {\"speed\": 2, \"reynolds\": 100, \"reference_length\": 1, " AT_REST how "}"

static void velocity_at(const kf_scene *scene, int i, int j, int k, double velocity[3]) {
    double density;
    kf_scene_initial(scene, i, j, k, &density, velocity);
    near(density, 1.0);
}

/* Each component has a strength of 2 % of 0.05 cells per step. A component does not change along its own
 * axis, so that nothing is compressed. */
static void strength_and_divergence(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(BOX(PERIODIC, STIRRED(", \"disturbance\": 0.02")), NULL);
    double square[3] = {0}, mean[3] = {0}, u[3], other[3];
    assert_false(kf_scene_starts_uniform(scene));
    for (int k = 0; k < 12; k++)
        for (int j = 0; j < 16; j++)
            for (int i = 0; i < 20; i++) {
                velocity_at(scene, i, j, k, u);
                for (int a = 0; a < 3; a++) {
                    square[a] += u[a] * u[a] / (20 * 16 * 12);
                    mean[a] += u[a] / (20 * 16 * 12);
                }
                velocity_at(scene, 3, j, k, other);
                near(u[0], other[0]);
                velocity_at(scene, i, 5, k, other);
                near(u[1], other[1]);
                velocity_at(scene, i, j, 7, other);
                near(u[2], other[2]);
            }
    for (int a = 0; a < 3; a++) {
        near(sqrt(square[a]), 0.02 * 0.05);
        assert_true(fabs(mean[a]) < 1e-15);
    }
    kf_scene_free(scene);
}

/* On a grid that is three times as fine the node in the middle of three cells is at the same place. */
static void same_on_every_grid(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(BOX(PERIODIC, STIRRED(", \"disturbance\": 0.02")), NULL);
    kf_scene *fine = open_scene_text(BOX(PERIODIC, STIRRED(", \"disturbance\": 0.02")),
                                     &(kf_scene_options){.nodes = {60, 48, 36}});
    kf_scene *seeded =
        open_scene_text(BOX(PERIODIC, STIRRED(", \"disturbance\": 0.02")), &(kf_scene_options){.seed = 2});
    kf_scene *calm = open_scene_text(BOX(PERIODIC, STIRRED("")), NULL);
    double u[3], v[3];
    velocity_at(scene, 4, 7, 9, u);
    velocity_at(fine, 13, 22, 28, v);
    near_vector(v, u[0], u[1], u[2]);
    velocity_at(seeded, 4, 7, 9, v);
    for (int a = 0; a < 3; a++)
        assert_true(fabs(u[a] - v[a]) > 1e-6);
    assert_string_not_equal(scene->hash, seeded->hash);
    assert_string_not_equal(scene->hash, calm->hash);
    velocity_at(calm, 4, 7, 9, v);
    near_vector(v, 0, 0, 0);
    kf_scene_stretch_time(scene, 0.5);
    velocity_at(scene, 4, 7, 9, v);
    near_vector(v, 0.5 * u[0], 0.5 * u[1], 0.5 * u[2]);
    kf_scene_free(scene);
    kf_scene_free(fine);
    kf_scene_free(seeded);
    kf_scene_free(calm);
}

/* In two dimensions nothing moves along z, and both other components have the whole strength. */
static void nothing_moves_along_a_missing_axis(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text("{\"domain\": {\"cells\": [20, 16], \"cell_size\": 0.1}, " PERIODIC
                                      ", " STIRRED(", \"disturbance\": 0.1") "}",
                                      NULL);
    double square[2] = {0}, u[3];
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 20; i++) {
            velocity_at(scene, i, j, 0, u);
            near(u[2], 0);
            for (int a = 0; a < 2; a++)
                square[a] += u[a] * u[a] / (20 * 16);
        }
    near(sqrt(square[0]), 0.1 * 0.05);
    near(sqrt(square[1]), 0.1 * 0.05);
    assert_int_equal(kf_scene_even_axis(scene), -1);
    kf_scene_free(scene);
}

static int even_axis(const char *text) {
    kf_scene *scene = open_scene_text(text, NULL);
    const int axis = kf_scene_even_axis(scene);
    kf_scene_free(scene);
    return axis;
}

#define SPAN(flow, solid)                                                                                    \
    BOX("\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"wall\", \"ymax\": "       \
        "\"wall\", \"zmin\": \"periodic\", \"zmax\": \"periodic\"}",                                         \
        "\"flow\": {\"speed\": 2, \"reynolds\": 100, \"reference_length\": 1" flow "}" solid)
#define BAR(height, links) ", \"solid\": {\"mesh\": \"" height "\"" links ", \"position\": [1, 0.8, 0.6]}"

/* Writes a box of 0.4 by 0.4 m, from z = -height/2 to height/2. */
static void write_bar(const char *name, double height) {
    static const int face[12][3] = {{1, 3, 2}, {2, 3, 4}, {5, 6, 7}, {6, 8, 7}, {1, 2, 5}, {2, 6, 5},
                                    {3, 7, 4}, {4, 7, 8}, {1, 5, 3}, {3, 5, 7}, {2, 4, 6}, {4, 8, 6}};
    char text[1000];
    int used = 0;
    for (int c = 0; c < 8; c++)
        used += snprintf(text + used, sizeof text - (size_t)used, "v %g %g %g\n", c & 1 ? 0.2 : -0.2,
                         c & 2 ? 0.2 : -0.2, c & 4 ? 0.5 * height : -0.5 * height);
    for (int t = 0; t < 12; t++)
        used += snprintf(text + used, sizeof text - (size_t)used, "f %d %d %d\n", face[t][0], face[t][1],
                         face[t][2]);
    (void)write_text(name, text);
}

static void axes_along_which_nothing_differs(void **state) {
    (void)state;
    write_bar("through.obj", 1.2);
    write_bar("short.obj", 0.8);
    assert_int_equal(even_axis(SPAN("", "")), 2);
    assert_int_equal(even_axis(SPAN(", \"disturbance\": 0.01", "")), -1);
    assert_int_equal(even_axis(SPAN("", BAR("through.obj", ", \"boundary\": \"links\""))), 2);
    assert_int_equal(even_axis(SPAN("", BAR("through.obj", ""))), -1);
    assert_int_equal(even_axis(SPAN("", BAR("short.obj", ", \"boundary\": \"links\""))), -1);
    assert_int_equal(even_axis(BOX(TUNNEL, FLOW ", " BALL)), -1);
    assert_int_equal(even_axis(BOX(PERIODIC, STIRRED(""))), 2);
}

/* Of two inflows the faster one is the stream, whatever its axis: a plate has the length, the front and the
 * state at the start of its turned copy. */
static void the_faster_inflow_is_the_stream(void **state) {
    (void)state;
#define TWO_STREAMS(slow, slow_end, fast, fast_end, slow_velocity, fast_velocity, cells, degrees, position)  \
    "{\"domain\": {\"cells\": " cells ", \"cell_size\": 0.1}, \"boundaries\": {\"" slow                      \
    "\": {\"type\": \"inflow\", \"velocity\": " slow_velocity "}, \"" slow_end "\": \"outflow\", \"" fast    \
    "\": {\"type\": \"inflow\", \"velocity\": " fast_velocity "}, \"" fast_end "\": \"outflow\", "           \
    "\"zmin\": \"free_slip\", \"zmax\": \"free_slip\"}, \"flow\": {\"speed\": 1, \"reynolds\": 100}, "       \
    "\"solid\": {\"shape\": \"plate\", \"chord\": 0.5, \"width\": 0.3, \"thickness\": 0.2, \"rotation\": "   \
    "{\"axis\": [0, 0, 1], \"degrees\": " degrees "}, \"position\": " position "}}"
    static const char *const texts[] = {TWO_STREAMS("ymin", "ymax", "xmin", "xmax", "[0, 0.2, 0]",
                                                    "[1, 0, 0]", "[20, 16, 12]", "0", "[1, 0.8, 0.6]"),
                                        TWO_STREAMS("xmin", "xmax", "ymin", "ymax", "[0.2, 0, 0]",
                                                    "[0, 1, 0]", "[16, 20, 12]", "90", "[0.8, 1, 0.6]")};
#undef TWO_STREAMS
    kf_scene *scenes[2];
    for (int i = 0; i < 2; i++)
        scenes[i] = open_scene_text(texts[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(scenes[i]->reference_length - 5.0) < 1e-9);
        assert_true(fabs(scenes[i]->frontal_area / scenes[0]->frontal_area - 1.0) < 1e-9);
        assert_true(fabs(scenes[i]->frontal_area - 3.0 * 2.0) < 0.2);
        near(scenes[i]->initial_velocity[i], 0.05);
        near(scenes[i]->initial_velocity[1 - i], 0.0);
        near(kf_scene_outflow_speed(scenes[i], (kf_face)(2 * i + 1)), 0.05);
    }
    for (int i = 0; i < 2; i++)
        kf_scene_free(scenes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strength_and_divergence),
        cmocka_unit_test(same_on_every_grid),
        cmocka_unit_test(the_faster_inflow_is_the_stream),
        cmocka_unit_test(nothing_moves_along_a_missing_axis),
        cmocka_unit_test(axes_along_which_nothing_differs),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
