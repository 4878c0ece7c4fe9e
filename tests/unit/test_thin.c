/* Tests the warnings before a run: parts and gaps too thin for the grid, and collisions that blow up in
 * long runs. Widths follow from how the bodies are made. Faults: a warning that is missing, or for
 * nothing. */
#include <math.h>

#include "harness/cli/scene_summary.h"
#include "solver/flow/flow_rules.h"
#include "tests/unit/scene_files.h"

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected)))) fail_msg("%g is not %g", value, expected);
}

static kf_scene *open_scene(const char *name) {
    kf_error error;
    kf_scene *scene;
    if (kf_scene_open(name, NULL, &scene, &error) != KF_OK) fail_msg("%s: %s", name, error.message);
    return scene;
}

static void add_box(kf_mesh_builder *b, const double low[3], const double high[3], bool inwards) {
    uint32_t corner[8];
    for (int c = 0; c < 8; c++)
        corner[c] = kf_mesh_add_vertex(b, c & 1 ? high[0] : low[0], c & 2 ? high[1] : low[1],
                                       c & 4 ? high[2] : low[2]);
    static const int quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int q = 0; q < 6; q++)
        kf_mesh_add_quad(b, corner[quads[q][inwards ? 3 : 0]], corner[quads[q][inwards ? 2 : 1]],
                         corner[quads[q][inwards ? 1 : 2]], corner[quads[q][inwards ? 0 : 3]]);
}

static kf_scene *scene_of(kf_mesh_builder *b) {
    kf_scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    for (int a = 0; a < 3; a++)
        scene->nodes[a] = 64;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_WALL;
    scene->mesh = b->mesh;
    return scene;
}

static void free_made(kf_scene *scene) {
    kf_mesh_free(&scene->mesh);
    free(scene);
}

/* The two large sides of a slab of 2.5 cells are thin and its edges are not, whichever way the triangles
 * face and however far the corners of other triangles are. */
static void test_a_slab_is_thin(void **state) {
    (void)state;
    for (int inwards = 0; inwards < 2; inwards++) {
        kf_mesh_builder b = {0};
        kf_thin parts, gaps;
        add_box(&b, (const double[3]){10, 20, 30}, (const double[3]){30, 40, 32.5}, inwards == 1);
        kf_scene *scene = scene_of(&b);
        kf_scene_thinness(scene, 4.0, &parts, &gaps);
        assert_near(parts.width, 2.5);
        assert_true(fabs(parts.share - 0.8) < 0.005);
        assert_true(parts.at[2] == 30.0 || parts.at[2] == 32.5);
        assert_true(gaps.share == 0.0);
        kf_scene_thinness(scene, 2.4, &parts, &gaps);
        assert_true(parts.share == 0.0 && parts.width == 0.0);
        free_made(scene);
    }
}

/* Two thick boxes are 3 cells apart. One of them is 1.5 cells above the floor, which is half a cell under
 * its nodes. Another stands on a wall, which is no gap. */
static void test_gaps_between_bodies(void **state) {
    (void)state;
    kf_mesh_builder b = {0};
    kf_thin parts, gaps;
    add_box(&b, (const double[3]){10, 10, 30}, (const double[3]){20, 20, 40}, false);
    add_box(&b, (const double[3]){23, 10, 30}, (const double[3]){33, 20, 40}, false);
    kf_scene *scene = scene_of(&b);
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    assert_true(parts.share == 0.0);
    assert_near(gaps.width, 3.0);
    assert_true(fabs(gaps.share - 2.0 / 12.0) < 0.005);
    free_made(scene);
    b = (kf_mesh_builder){0};
    add_box(&b, (const double[3]){10, 10, 1.0}, (const double[3]){20, 20, 11}, false);
    add_box(&b, (const double[3]){40, 40, 53.5}, (const double[3]){50, 50, 63.5}, false);
    scene = scene_of(&b);
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    assert_near(gaps.width, 1.5);
    assert_near(gaps.at[2], 1.0);
    assert_true(fabs(gaps.share - 1.0 / 12.0) < 0.005);
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_PERIODIC;
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    assert_true(gaps.share == 0.0);
    free_made(scene);
}

/* The space between the surfaces of two nested boxes is neither a part's thickness nor a gap. An open
 * surface has no inside. */
static void test_what_is_no_width(void **state) {
    (void)state;
    kf_mesh_builder b = {0};
    kf_thin parts, gaps;
    add_box(&b, (const double[3]){10, 10, 10}, (const double[3]){30, 30, 30}, false);
    add_box(&b, (const double[3]){12, 12, 12}, (const double[3]){28, 28, 28}, false);
    kf_scene *scene = scene_of(&b);
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    assert_true(parts.share == 0.0 && gaps.share == 0.0);
    free_made(scene);
    b = (kf_mesh_builder){0};
    add_box(&b, (const double[3]){10, 20, 30}, (const double[3]){30, 40, 32.5}, false);
    scene = scene_of(&b);
    scene->mesh.triangle_count--;
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    assert_true(parts.share == 0.0 && gaps.share == 0.0);
    free_made(scene);
}

/* Ten thousand triangles in one place, with a small body among them, take only a moment. */
static void test_crowded_triangles(void **state) {
    (void)state;
    kf_mesh_builder b = {0};
    kf_thin parts, gaps;
    for (int i = 0; i < 1000; i++)
        add_box(&b, (const double[3]){10, 10, 10}, (const double[3]){12, 12, 12}, false);
    kf_scene *scene = scene_of(&b);
    kf_scene_thinness(scene, 4.0, &parts, &gaps);
    free_made(scene);
}

static bool warns(const kf_scene *scene, const char *what) {
    const char *const *lines;
    const kf_scene_summary summary = kf_summarise_scene(scene);
    bool found = false;
    const int count = kf_scene_warnings(&summary, &lines);
    for (int i = 0; i < count; i++)
        found = found || strstr(lines[i], what) != NULL;
    return found;
}

static bool is_warned(const char *name, const char *what) {
    kf_scene *scene = open_scene(name);
    const bool found = warns(scene, what);
    kf_scene_free(scene);
    return found;
}

/* A scene in which nothing ever moves is reported, whatever its reference speed. No shipped scene is one. */
static void test_still_scenes(void **state) {
    (void)state;
    assert_false(is_warned("ball", "nothing moves"));
    assert_false(is_warned("settling", "nothing moves"));
    assert_false(is_warned("vortices", "nothing moves"));
    assert_false(is_warned("cavity2d", "nothing moves"));
    kf_scene *scene = open_scene("ball");
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    assert_false(warns(scene, "nothing moves"));
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    assert_true(warns(scene, "nothing moves"));
    scene->body_force[1] = 1e-9;
    assert_false(warns(scene, "nothing moves"));
    kf_scene_free(scene);
}

/* A law of the wall is reported only where layers are laminar. */
static void test_law_of_laminar_layers(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball");
    for (int law = 0; law < 2; law++)
        for (int turbulent = 0; turbulent < 2; turbulent++) {
            scene->wall_law = law == 1;
            scene->reynolds = turbulent ? 3e6 : 1e4;
            assert_int_equal(warns(scene, "layers along a body are laminar"), law == 1 && !turbulent);
        }
    scene->laminar = true;
    assert_true(warns(scene, "the law of the wall acts nowhere"));
    assert_false(warns(scene, "layers along a body are laminar"));
    scene->laminar = false;
    assert_false(warns(scene, "the wall at"));
    scene->faces[KF_ZMIN] = KF_WALL;
    assert_true(warns(scene, "the wall at zmin has no slip"));
    memcpy(scene->face_velocity[KF_ZMIN], scene->face_velocity[KF_XMIN], sizeof scene->face_velocity[0]);
    assert_false(warns(scene, "the wall at"));
    kf_scene_free(scene);
}

/* The Ahmed body's stilts of 30 mm on its four feet of 50 mm are reported. Without them only the gap is. */
static void test_warnings_of_shipped_scenes(void **state) {
    (void)state;
    assert_true(is_warned("ahmed", "parts thinner than 4 cells, 1.3 % of the surface (0.91 cells or 0.03 m"));
    assert_true(
        is_warned("ahmed", "gaps narrower than 4 cells, beside 25 % of the surface (1.5 cells or 0.05"));
    assert_false(is_warned("ahmed_no_stilts", "parts thinner"));
    assert_true(is_warned("ahmed_no_stilts", "gaps narrower"));
    assert_false(is_warned("ball", "thinner"));
    assert_false(is_warned("ball", "narrower"));
}

/* Only samples make a thin part thicker. */
static void test_thin_parts_by_links(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ahmed");
    assert_true(warns(scene, "they act about a cell thicker"));
    scene->linked = true;
    assert_true(warns(scene, "links keep their size"));
    assert_false(warns(scene, "thicker"));
    kf_scene_free(scene);
}

/* Rules that are stable have no least viscosity. That of the others grows with the speed. */
static void test_rules_that_blow_up(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball");
    scene->reference_speed = 0.05;
    for (int rule = 0; rule < KF_RATE_RULES; rule++) {
        scene->rate_rule = (kf_rate_rule)rule;
        scene->high_order_rate = 1.97;
        if (rule == KF_RATE_SUGA_2015) continue; /* rm_mrt's */
        const double least = kf_flow_least_viscosity(scene);
        assert_near(least, rule == KF_RATE_KBC              ? 8e-4
                           : rule == KF_RATE_CONSTANT       ? 4e-4
                           : rule == KF_RATE_EMPIRICAL_2019 ? 2.4e-5
                                                            : 0.0);
        scene->reference_speed = 0.1;
        assert_near(kf_flow_least_viscosity(scene), 2.0 * least);
        scene->reference_speed = 0.05;
    }
    scene->rate_rule = KF_RATE_CONSTANT;
    scene->high_order_rate = 1.8;
    assert_near(kf_flow_least_viscosity(scene), 0.0);
    scene->collision = KF_RM_MRT;
    assert_near(kf_flow_least_viscosity(scene), 4e-4);
    scene->rate_rule = KF_RATE_ONES;
    assert_near(kf_flow_least_viscosity(scene), 8e-4);
    scene->collision = KF_BGK;
    assert_near(kf_flow_least_viscosity(scene), 8e-4);
    kf_scene_free(scene);
}

/* A scene with such a rule and too low a viscosity says so before it runs, and names rules that work. */
static void test_scenes_that_blow_up_say_so(void **state) {
    (void)state;
    static const char *const text =
        "{\"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 1, 1]}, \"domain\": "
        "{\"cells\": [32, "
        "32, 32], \"size\": [2, 2, 2]}, \"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", "
        "\"ymin\": "
        "\"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}, \"flow\": {\"speed\": 1, "
        "\"reynolds\": %s}, \"model\": {\"collision\": \"%s\"}}";
    static const struct {
        const char *reynolds, *collision;
        bool warned;
    } cases[] = {{"100000", "bgk", true},
                 {"100000", "rm_mrt", true},
                 {"100000", "acm_mrt", false},
                 {"100", "bgk", false},
                 {"100", "rm_mrt", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char scene[1024], name[32];
        (void)snprintf(scene, sizeof scene, text, cases[i].reynolds, cases[i].collision);
        (void)snprintf(name, sizeof name, "rule-%zu.json", i);
        const char *file = write_text(name, scene);
        assert_int_equal(is_warned(file, "long runs with the collision"), cases[i].warned);
        assert_int_equal(is_warned(file, "\"k17\" or \"ones\" stays stable"), cases[i].warned);
    }
}

/* Modelled layers that grow beyond the finest grid, or deeper than the model looks, are reported: 0.37 x
 * Re_x^-0.2 cells at the end of a ball of 24 cells. */
static void test_layers_that_are_cut(void **state) {
    (void)state;
    enum { CELLS = 24, ROOM = 4 };
    static const double SPEED = 0.05;
    static const struct {
        double thick;
        bool deep, narrow;
    } cases[] = {{ROOM - 0.1, false, false},
                 {ROOM + 0.1, false, true},
                 {KF_LINK_OPEN - 0.1, false, true},
                 {KF_LINK_OPEN + 0.1, true, false}};
    static const char *const text =
        "{\"solid\": {\"shape\": \"ball\", \"radius\": 0.375, \"position\": [1, 1, 1], \"boundary\": "
        "\"links\"}, "
        "\"domain\": {\"cells\": [32, 32, 32], \"size\": [2, 2, 2]}, "
        "\"refine\": [{\"box\": {\"low\": [0.5, 0.5, 0.5], \"high\": [1.5, 1.5, 1.5]}}], "
        "\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", "
        "\"ymax\": \"free_slip\", \"zmin\": \"free_slip\", \"zmax\": \"free_slip\"}, "
        "\"flow\": {\"speed\": 1, \"reynolds\": 1e6, \"lattice_speed\": 0.05}, "
        "\"model\": {\"rates\": \"k17\", \"wall\": \"law\", \"layers\": \"modelled\"}}";
    kf_scene *scene = open_scene(write_text("layers.json", text));
    assert_int_equal(scene->finer_count, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene->finer[0]->viscosity = CELLS * SPEED * pow(cases[i].thick / (0.37 * CELLS), 5.0);
        assert_int_equal(warns(scene, "give its box in"), cases[i].narrow);
        assert_int_equal(warns(scene, "looks through 24"), cases[i].deep);
    }
    scene->layers = false;
    assert_false(warns(scene, "looks through 24"));
    kf_scene_free(scene);
}

/* Of two inflows the faster one is the wind, whatever its face. A wall that moves with either is not bare. */
static void test_the_fastest_stream_is_the_wind(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        kf_scene *scene = open_scene("ball");
        const double metres = scene->cell_size / scene->time_step;
        const kf_face ends[2] = {KF_XMIN, KF_XMAX};
        for (int e = 0; e < 2; e++) {
            scene->faces[ends[e]] = KF_INFLOW;
            scene->face_velocity[ends[e]][0] = e == slow ? 0.02 : 0.05;
        }
        scene->faces[KF_ZMIN] = KF_WALL;
        scene->face_velocity[KF_ZMIN][0] = 0.02;
        scene->wall_law = true;
        scene->laminar = false;
        kf_scene_summary summary = kf_summarise_scene(scene);
        assert_near(summary.wind, 0.05 * metres);
        assert_near(summary.road, 0.02 * metres);
        assert_int_equal(summary.bare_wall, -1);
        scene->face_velocity[KF_ZMIN][0] = 0.035;
        summary = kf_summarise_scene(scene);
        assert_int_equal(summary.bare_wall, KF_ZMIN);
        kf_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fastest_stream_is_the_wind),
        cmocka_unit_test(test_layers_that_are_cut),
        cmocka_unit_test(test_a_slab_is_thin),
        cmocka_unit_test(test_gaps_between_bodies),
        cmocka_unit_test(test_what_is_no_width),
        cmocka_unit_test(test_crowded_triangles),
        cmocka_unit_test(test_warnings_of_shipped_scenes),
        cmocka_unit_test(test_thin_parts_by_links),
        cmocka_unit_test(test_still_scenes),
        cmocka_unit_test(test_law_of_laminar_layers),
        cmocka_unit_test(test_rules_that_blow_up),
        cmocka_unit_test(test_scenes_that_blow_up_say_so),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
