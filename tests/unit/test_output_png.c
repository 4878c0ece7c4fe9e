/* Tests pictures of a run. Faults: a colour in the wrong place, or a solid whose cross-section is
 * elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <png.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/flow/flow_frame.h"
#include "solver/output/probe_chart.h"
#include "solver/picture/canvas.h"
#include "solver/picture/face.h"
#include "solver/picture/font.h"
#include "solver/picture/picture.h"
#include "tests/unit/output_scene.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/png_pixels.h"

static bool near(const pixels *picture, int x, int y, kf_colour wanted) {
    const unsigned char *pixel = picture->rgb + 3 * ((size_t)y * (size_t)picture->width + (size_t)x);
    return abs(pixel[0] - wanted.red) <= 3 && abs(pixel[1] - wanted.green) <= 3 &&
           abs(pixel[2] - wanted.blue) <= 3;
}

static pixels draw_view(const kf_scene *scene, uint64_t step, const kf_picture_view *view) {
    kf_error error = {0};
    kf_snapshot snapshot;
    make_snapshot(scene, step, &snapshot);
    if (kf_picture_write(in_scratch("slice.png"), scene, &snapshot, NULL, view, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_snapshot_free(&snapshot);
    return read_png(in_scratch("slice.png"));
}

static pixels draw(const kf_scene *scene, uint64_t step, int normal) {
    return draw_view(scene, step, &(kf_picture_view){.field = KF_PICTURE_SPEED, .normal = normal});
}

/* Finds the frame's upper left corner: the first dark pixel that starts a long dark row. */
static void find_plot(const pixels *picture, int *left, int *top) {
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x + 300 < picture->width; x++) {
            int length = 0;
            while (length < 300 && near(picture, x + length, y, (kf_colour){25, 25, 25}))
                length++;
            if (length < 300) continue;
            *left = x + 1;
            *top = y + 1;
            return;
        }
    }
    fail_msg("the picture has no frame");
}

static const kf_colour grey = {205, 205, 208};

static void test_slice_of_a_ball(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    pixels picture = draw(scene, 200, KF_AXIS_AUTO);
    assert_true(picture.width >= 900);
    int left = 0, top = 0;
    find_plot(&picture, &left, &top);
    /* 48 cells take 1000 pixels. The flow is along x and z is up, so the slice is 20 cells high. */
    double scale = 1000.0 / 48;
    int middle_x = left + (int)((ball_center[0] + 0.5) * scale);
    int middle_y = top + (int)((20 - ball_center[2] - 0.5) * scale);
    assert_true(near(&picture, middle_x, middle_y, grey));
    assert_true(near(&picture, middle_x + (int)(4.5 * scale), middle_y, grey));
    assert_true(near(&picture, middle_x, middle_y - (int)(4.5 * scale), grey));
    assert_false(near(&picture, middle_x + (int)(5.5 * scale), middle_y, grey));
    assert_false(near(&picture, middle_x, middle_y + (int)(5.5 * scale), grey));
    /* Far upstream the speed is nearly that of the inflow, 2 m/s on a scale up to 3 m/s. */
    double density, velocity[3];
    node_flow((double[3]){1, 11, 9}, &density, velocity);
    kf_colour wanted = kf_colour_map(velocity[0] * scene->cell_size / scene->time_step / 3);
    assert_true(near(&picture, left + (int)(1.5 * scale), middle_y, wanted));
    free(picture.rgb);
    free_scene(scene);
}

static void test_turned_and_moved_solid(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->motion.moving = true;
    scene->motion.velocity[0] = 0.05;
    pixels picture = draw(scene, 200, 2);
    int left = 0, top = 0;
    find_plot(&picture, &left, &top);
    double scale = 1000.0 / 48;
    int start_x = left + (int)((ball_center[0] + 0.5) * scale), moved_x = start_x + (int)(10 * scale);
    int middle_y = top + (int)((24 - ball_center[1] - 0.5) * scale);
    assert_true(near(&picture, moved_x, middle_y, grey));
    assert_true(near(&picture, moved_x + (int)(4.5 * scale), middle_y, grey));
    assert_false(near(&picture, start_x - (int)(2 * scale), middle_y, grey));
    free(picture.rgb);
    free_scene(scene);
}

static double filled_area(const kf_scene *scene) {
    kf_plane plane = {.normal = 1, .right = 0, .up = 2, .position = ball_center[1] + 0.01};
    kf_section section;
    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    kf_section_cut(scene, unit, scene->motion.center, &plane, &section);
    enum { WIDTH = 480, HEIGHT = 200 };
    unsigned char *inside = kf_allocate((size_t)WIDTH * HEIGHT);
    kf_section_fill(&section, (double[2]){-0.5, -0.5}, 10, WIDTH, HEIGHT, inside);
    double area = 0;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        area += inside[i] / 100.0;
    free(inside);
    kf_section_free(&section);
    return area;
}

static void test_section_area(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    /* The polygons lie inside the circle and have up to 1 % less area. */
    double circle = acos(-1) * ball_radius * ball_radius;
    double whole = filled_area(scene);
    assert_true(whole < 1.002 * circle && whole > 0.985 * circle);
    /* A hole (two rings of triangles missing near a pole, and one in the side) hardly changes it. */
    uint32_t *corners = scene->mesh.triangles;
    memset(corners, 0, (size_t)BALL_SECTORS * 6 * 2 * sizeof *corners);
    memset(corners + (size_t)BALL_SECTORS * 6 * 9, 0, 12 * sizeof *corners);
    double holed = filled_area(scene);
    assert_true(holed > 0.97 * circle && holed < 1.01 * circle);
    free_scene(scene);
}

static void test_a_plane_shows_the_flow_from_the_side(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_plane plane;
    kf_picture_plane(scene, &(kf_picture_view){.normal = KF_AXIS_AUTO}, &plane);
    assert_int_equal(plane.normal, 1);
    assert_int_equal(plane.right, 0);
    assert_int_equal(plane.up, 2);
    assert_true(fabs(plane.position - 11) < 1e-12);
    /* With a road below, the view is still from the side. With walls at both sides instead, z does not
     * point up. */
    scene->faces[KF_ZMIN] = KF_WALL;
    kf_picture_plane(scene, &(kf_picture_view){.normal = KF_AXIS_AUTO}, &plane);
    assert_int_equal(plane.normal, 1);
    scene->faces[KF_ZMIN] = KF_FREE_SLIP;
    scene->faces[KF_YMIN] = KF_WALL;
    kf_picture_plane(scene, &(kf_picture_view){.normal = KF_AXIS_AUTO}, &plane);
    assert_int_equal(plane.normal, 2);
    assert_int_equal(plane.up, 1);
    /* Flow along y is also drawn from left to right. */
    scene->faces[KF_YMIN] = KF_INFLOW;
    scene->face_velocity[KF_YMIN][1] = 0.2;
    kf_picture_plane(scene, &(kf_picture_view){.normal = KF_AXIS_AUTO}, &plane);
    assert_int_equal(plane.right, 1);
    assert_int_equal(plane.up, 2);
    /* A flat domain is seen along its thin axis, unless another axis was asked for. */
    scene->nodes[2] = 5;
    kf_picture_plane(scene, &(kf_picture_view){.normal = KF_AXIS_AUTO}, &plane);
    assert_int_equal(plane.normal, 2);
    assert_true(plane.position <= 4);
    kf_picture_plane(scene, &(kf_picture_view){.normal = 1}, &plane);
    assert_int_equal(plane.normal, 1);
    free_scene(scene);
}

static void test_flow_frame_of_slanted_inflow(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->face_velocity[KF_XMIN][2] = inflow_speed / 2;
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    assert_int_equal(frame.flow_axis, 0);
    assert_int_equal(frame.up_axis, 2);
    double along = 0, length = 0;
    for (int a = 0; a < 3; a++) {
        along += frame.drag[a] * frame.lift[a];
        length += frame.lift[a] * frame.lift[a];
    }
    assert_true(fabs(along) < 1e-12 && fabs(length - 1) < 1e-12);
    assert_true(frame.lift[2] > 0.8 && fabs(frame.drag[2] / frame.drag[0] - 0.5) < 1e-12);
    assert_true(fabs(frame.side[1] + 1) < 1e-12);
    free_scene(scene);
}

static void test_extreme_shapes(void **state) {
    (void)state;
    static const int shapes[][3] = {{1, 1, 1}, {4, 4, 400}, {2000, 3, 2}, {3, 2000, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        kf_scene scene = {.cell_size = 1e-6, .time_step = 1e-9};
        memcpy(scene.nodes, shapes[i], sizeof scene.nodes);
        (void)snprintf(scene.name, sizeof scene.name, "%s",
                       "a name that is much longer than any picture is wide \xc3\xa4\x01");
        for (int normal = KF_AXIS_AUTO; normal < 3; normal++) {
            pixels picture = draw(&scene, 0, normal);
            assert_true(picture.width >= 900 && picture.width <= 2400 && picture.height <= 1600);
            free(picture.rgb);
        }
    }
}

static void test_colours_and_letters(void **state) {
    (void)state;
    kf_colour low = kf_colour_map(-3), high = kf_colour_map(7), middle = kf_colour_map(0.5);
    assert_int_equal(low.red, 68);
    assert_int_equal(high.red, 253);
    assert_int_equal(middle.green, 145);
    assert_int_equal(kf_colour_map((double)NAN).blue, 255);
    assert_int_equal(kf_colour_map((double)NAN).green, 0);
    assert_int_equal(kf_glyph('A')[0], 0x0E);
    assert_ptr_equal(kf_glyph('\x80'), kf_glyph('\n'));
    (void)kf_text_width("", 2); /* the first text looks for a font */
    (void)kf_face_use("");
    assert_int_equal(kf_text_width("abc", 2), 34);
    assert_int_equal(kf_text_width("", 2), 0);
    /* Every printable character but the space has ink, and no two have the same shape. */
    for (int a = '!'; a <= '~'; a++) {
        int ink = 0;
        for (int row = 0; row < KF_GLYPH_HEIGHT; row++)
            ink += kf_glyph((char)a)[row];
        assert_true(ink > 0);
        for (int b = '!'; b < a; b++)
            if (memcmp(kf_glyph((char)a), kf_glyph((char)b), KF_GLYPH_HEIGHT) == 0)
                fail_msg("%c and %c look alike", a, b);
    }
}

/* An outline font draws narrow letters narrower, joins the bytes of UTF-8, and leaves out what lies
 * outside. */
static void test_outline_font(void **state) {
    (void)state;
    if (!kf_face_use(NULL)) {
        print_message("skipped: no outline font is installed\n");
        skip();
    }
    assert_true(kf_face_there());
    assert_true(kf_text_width("iii", 2) < kf_text_width("mmm", 2));
    assert_true(kf_face_width("m\xc2\xb2", 17) < kf_face_width("mm", 17) + 3);
    assert_true(kf_face_width("\xff", 17) > 0 && kf_face_width("\xc3", 17) > 0); /* no UTF-8 */
    kf_canvas canvas;
    kf_canvas_begin(&canvas, 60, 20, (kf_colour){255, 255, 255});
    kf_canvas_text(&canvas, -3, 2, 2, (kf_colour){0, 0, 0}, "outside is left out");
    size_t ink = 0, shades = 0;
    for (size_t i = 0; i < (size_t)60 * 20; i++) {
        ink += canvas.pixels[3 * i] < 128;
        shades += canvas.pixels[3 * i] > 0 && canvas.pixels[3 * i] < 255;
    }
    assert_true(ink > 60 && ink < 600 && shades > 60);
    kf_canvas_free(&canvas);
    assert_false(kf_face_use("/no/such/font.ttf") || kf_face_there());
    assert_true(kf_face_use(NULL));
}

/* Any position of the plane and any range can be drawn, of pressure and of vorticity. Values below the
 * scale have its first colour. */
static void test_any_plane_and_range_is_drawn(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_plane plane;
    kf_picture_view view = {.normal = 1, .placed = true, .position = 3.5 * scene->cell_size};
    kf_picture_plane(scene, &view, &plane);
    assert_true(plane.position == 3.0);
    view.position = 1e9;
    kf_picture_plane(scene, &view, &plane);
    assert_true(plane.position == scene->nodes[1] - 1.0);
    for (int field = 0; field < KF_PICTURE_FIELDS; field++) {
        view = (kf_picture_view){
            .field = (kf_picture_field)field, .normal = 1, .ranged = true, .low = 1e6, .high = 2e6};
        pixels picture = draw_view(scene, 200, &view);
        int left = 0, top = 0;
        find_plot(&picture, &left, &top);
        assert_true(near(&picture, left + 3, top + 3, kf_colour_map(0.0)));
        free(picture.rgb);
    }
    /* A shear of 10 1/s in the plane, u = 10 z, turns clockwise. */
    kf_error error = {0};
    kf_snapshot snapshot;
    make_snapshot(scene, 0, &snapshot);
    float *velocity = kf_snapshot_find(&snapshot, "velocity")->values;
    const size_t plane_nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    for (size_t i = 0; i < snapshot.count; i++) {
        const size_t height = i / plane_nodes;
        velocity[3 * i] = (float)(10.0 * scene->cell_size * (double)height);
        velocity[3 * i + 1] = velocity[3 * i + 2] = 0.0F;
    }
    view = (kf_picture_view){
        .field = KF_PICTURE_VORTICITY, .normal = 1, .ranged = true, .low = -20.0, .high = 20.0};
    if (kf_picture_write(in_scratch("shear.png"), scene, &snapshot, NULL, &view, &error) != KF_OK)
        fail_msg("%s", error.message);
    pixels picture = read_png(in_scratch("shear.png"));
    int left = 0, top = 0;
    find_plot(&picture, &left, &top);
    assert_true(near(&picture, left + 3, top + 3, kf_colour_map(0.25)));
    free(picture.rgb);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

/* A surface of which most is missing, as a cap of a ball, has no inside, whatever rays count as one. */
static void test_open_surface(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    for (size_t t = 0; t < scene->mesh.triangle_count; t++) {
        const uint32_t *corner = scene->mesh.triangles + 3 * t;
        if (scene->mesh.vertices[3 * corner[0] + 2] < ball_center[2] + 0.3 * ball_radius)
            memset(scene->mesh.triangles + 3 * t, 0, 3 * sizeof *corner);
    }
    pixels picture = draw(scene, 0, 1);
    size_t filled = 0;
    for (int y = 0; y < picture.height; y++)
        for (int x = 0; x < picture.width; x++)
            filled += near(&picture, x, y, grey);
    if (filled > 500) fail_msg("%zu pixels", filled);
    free(picture.rgb);
    free_scene(scene);
}

static void test_a_folder_that_is_missing_fails(void **state) {
    (void)state;
    kf_canvas canvas;
    kf_canvas_begin(&canvas, 4, 4, (kf_colour){1, 2, 3});
    kf_canvas_text(&canvas, -7, 2, 3, (kf_colour){0, 0, 0}, "outside is left out");
    kf_error error;
    assert_int_not_equal(kf_canvas_write_png(&canvas, in_scratch("no/such/folder.png"), &error), KF_OK);
    kf_canvas_free(&canvas);
}

/* ---- Names that are too long ---- */

/* Draws a slice or a probe's chart of something of this name. The caller frees the file's bytes. */
static char *titled(bool chart, const kf_scene *scene, const char *name, size_t *size) {
    kf_error error = {KF_OK, ""};
    char *bytes = NULL;
    if (chart) {
        double points[2][3] = {{0, 0, 0}, {1, 2, 3}};
        const kf_probe probe = {.name = "p", .kind = KF_PROBE_LINE, .count = 2, .points = points};
        const kf_probe_curve curve[2] = {{0, {1, 2, 3, 4}}, {1, {2, 3, 4, 5}}};
        kf_problem problem = {.facts = {.count = 0}};
        const kf_plan plan = {.problem = &problem};
        kf_probe_report report = {.to_step = 9};
        kf_copy_text(problem.name, sizeof problem.name, name);
        kf_copy_text(report.picture, sizeof report.picture, in_scratch("slice.png"));
        assert_int_equal(kf_probe_chart(&plan, &probe, &report, curve, 2, &error), KF_OK);
    } else {
        const kf_picture_view view = {.field = KF_PICTURE_SPEED, .normal = 2, .caption = name};
        free(draw_view(scene, 0, &view).rgb);
    }
    assert_int_equal(kf_file_read(in_scratch("slice.png"), 0, &bytes, size, &error), KF_OK);
    return bytes;
}

/* Of a name of more than 32 letters a title has 30 and two dots, whatever follows; shorter ones are whole. */
static void test_long_names_are_cut_visibly(void **state) {
    (void)state;
    static const struct {
        const char *name, *as;
        bool same;
    } pairs[] = {{"abcdefghijklmnopqrstuvwxyz1234567", "abcdefghijklmnopqrstuvwxyz1234..", true},
                 {"abcdefghijklmnopqrstuvwxyz123456", "abcdefghijklmnopqrstuvwxyz1234..", false},
                 {"abcdefghijklmnopqrstuvwxyz123456", "abcdefghijklmnopqrstuvwxyz12345", false}};
    kf_scene *scene = make_scene();
    for (int chart = 0; chart < 2; chart++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            size_t size[2];
            char *name = titled(chart == 1, scene, pairs[i].name, &size[0]),
                 *as = titled(chart == 1, scene, pairs[i].as, &size[1]);
            const bool same = size[0] == size[1] && memcmp(name, as, size[0]) == 0;
            if (same != pairs[i].same)
                fail_msg("%s: '%s', '%s'", chart == 1 ? "chart" : "slice", pairs[i].name, pairs[i].as);
            free(name);
            free(as);
        }
    free_scene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice_of_a_ball),
        cmocka_unit_test(test_turned_and_moved_solid),
        cmocka_unit_test(test_section_area),
        cmocka_unit_test(test_a_plane_shows_the_flow_from_the_side),
        cmocka_unit_test(test_flow_frame_of_slanted_inflow),
        cmocka_unit_test(test_extreme_shapes),
        cmocka_unit_test(test_colours_and_letters),
        cmocka_unit_test(test_outline_font),
        cmocka_unit_test(test_any_plane_and_range_is_drawn),
        cmocka_unit_test(test_open_surface),
        cmocka_unit_test(test_a_folder_that_is_missing_fails),
        cmocka_unit_test(test_long_names_are_cut_visibly),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
