/* Tests pictures of scenes, as known texts: the mean colours of 12 x 8 parts in steps of 4. Rounding does
 * not change these. Faults: another edge, light, colour or depth. */
#include <math.h>

#include "scene/scene.h"
#include "solver/picture/canvas.h"
#include "solver/picture/colour_map.h"
#include "solver/picture/face.h"
#include "solver/picture/picture.h"
#include "solver/picture/scene_view.h"
#include "tests/unit/known_text.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/png_pixels.h"

enum { COLUMNS = 12, ROWS = 8 };

static void tell_picture(kf_text *text, const char *name, const char *path) {
    const pixels picture = read_png(path);
    double sums[ROWS][COLUMNS][3] = {{{0}}};
    int counts[ROWS][COLUMNS] = {{0}};
    kf_text_append(text, "%s: %d x %d\n", name, picture.width, picture.height);
    for (int y = 0; y < picture.height; y++)
        for (int x = 0; x < picture.width; x++) {
            const int row = y * ROWS / picture.height, column = x * COLUMNS / picture.width;
            counts[row][column]++;
            for (int c = 0; c < 3; c++)
                sums[row][column][c] += picture.rgb[3 * (y * picture.width + x) + c];
        }
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            for (int c = 0; c < 3; c++)
                kf_text_append(text, "%s%.0f", c == 0 ? "" : ",",
                               floor(sums[row][column][c] / counts[row][column] / 4.0));
            kf_text_append(text, column + 1 < COLUMNS ? " " : "\n");
        }
    }
    free(picture.rgb);
}

static void test_pictures_of_scenes(void **state) {
    (void)state;
    static const char *const names[] = {"ahmed", "torus", "concave"};
    kf_text text = {0};
    for (int n = 0; n < 3; n++) {
        const kf_scene_options options = {.node_limit = 30000, .samples_per_cell = 1};
        kf_scene *scene = NULL;
        kf_error error = {0};
        if (kf_scene_open(names[n], &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
        for (int close = 0; close < 2; close++) {
            if (kf_scene_view_write(scene, close != 0, in_scratch("scene.png"), &error) != KF_OK)
                fail_msg("%s", error.message);
            tell_picture(&text, names[n], in_scratch("scene.png"));
        }
        kf_scene_free(scene);
    }
    assert_known("scene-pictures.txt", text.text);
}

/* A flow that differs along every axis. */
static kf_snapshot flow_of(const kf_scene *scene) {
    kf_snapshot s;
    const double speed = scene->reference_speed * scene->cell_size / scene->time_step;
    kf_snapshot_of_nodes(&s, scene->nodes, 0.5 * scene->cell_size, scene->cell_size);
    float *u = kf_snapshot_add(&s, "velocity", "m/s", 3),
          *p = kf_snapshot_add(&s, "pressure_coefficient", "1", 1);
    for (size_t i = 0; i < s.count; i++) {
        const size_t nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1], plane = i / nx / ny;
        const double x = (double)(i % nx) / (double)nx, y = (double)(i / nx % ny) / (double)ny,
                     z = (double)plane / scene->nodes[2];
        u[3 * i] = (float)(speed * (0.3 + x * y));
        u[3 * i + 1] = (float)(speed * (0.8 * x - 0.5 * z));
        u[3 * i + 2] = (float)(speed * (z - y * y));
        p[i] = (float)(1 - 1.7 * x + 0.4 * y - 0.2 * z);
    }
    return s;
}

/* Slices of a flow around nodes of a mask, and around a mesh: fields, planes, ranges. */
static void test_pictures_of_slices(void **state) {
    (void)state;
    static const char *const names[] = {"cylinder_array2d", "cylinder2d", "ahmed"};
    static const kf_picture_view views[] = {
        {.field = KF_PICTURE_SPEED, .normal = KF_AXIS_AUTO},
        {.field = KF_PICTURE_PRESSURE, .normal = 2, .mean = true},
        {.field = KF_PICTURE_VORTICITY, .normal = 0, .placed = true, .position = 0.3},
        {.field = KF_PICTURE_SPEED, .normal = 1, .ranged = true, .low = -0.5, .high = 40}};
    kf_text text = {0};
    assert_false(kf_face_use(""));
    for (int n = 0; n < 3; n++) {
        const kf_scene_options options = {.node_limit = n < 2 ? 1500 : 20000, .samples_per_cell = 1};
        kf_scene *scene = NULL;
        kf_error error = {0};
        if (kf_scene_open(names[n], &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
        kf_snapshot flow = flow_of(scene);
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            if (n < 2 && views[v].normal >= 0 && views[v].normal < 2) continue;
            if (kf_picture_write(in_scratch("slice.png"), scene, &flow, NULL, &views[v], &error) != KF_OK)
                fail_msg("%s", error.message);
            tell_picture(&text, names[n], in_scratch("slice.png"));
        }
        kf_snapshot_free(&flow);
        kf_scene_free(scene);
    }
    (void)kf_face_use(NULL);
    assert_known("slices.txt", text.text);
}

static void test_colours_and_scales(void **state) {
    (void)state;
    kf_text text = {0};
    for (int i = -1; i <= 33; i++) {
        const kf_colour c = kf_colour_map(i / 32.0);
        kf_text_append(&text, "%d/32: %d,%d,%d\n", i, c.red, c.green, c.blue);
    }
    static const double values[] = {1e-7, 0.99, 1, 1.01, 1.3, 1.9, 2.1, 2.6, 3.3, 4.2, 5.5, 7.1, 8.8, 12345};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        kf_text_append(&text, "%g: %g\n", values[i], kf_scale_top(values[i]));
    assert_known("colours.txt", text.text);
}

/* A picture shows every letter of the bitmap font, 16 in a row, as a # for each pixel. */
static void test_letters_of_the_bitmap_font(void **state) {
    (void)state;
    enum { TOGETHER = 16, PRINTABLE = '~' - ' ' + 1, WIDTH = TOGETHER * 6, HEIGHT = 10 };
    static const kf_colour white = {255, 255, 255}, black = {0, 0, 0};
    kf_text text = {0};
    assert_false(kf_face_use(""));
    for (int first = 0; first < PRINTABLE; first += TOGETHER) {
        char letters[TOGETHER + 1] = "";
        for (int i = 0; i < TOGETHER && first + i < PRINTABLE; i++)
            letters[i] = (char)(' ' + first + i), letters[i + 1] = '\0';
        kf_canvas canvas;
        kf_canvas_begin(&canvas, WIDTH, HEIGHT, white);
        kf_canvas_text(&canvas, 0, 0, 1, black, letters);
        for (int y = 0; y < HEIGHT; y++) {
            int length = 0; /* without blanks at a line's end */
            char line[WIDTH + 1];
            for (int x = 0; x < WIDTH; x++) {
                line[x] = canvas.pixels[3 * (y * WIDTH + x)] == 0 ? '#' : ' ';
                if (line[x] == '#') length = x + 1;
            }
            kf_text_append(&text, "%.*s\n", length, line);
        }
        kf_canvas_free(&canvas);
    }
    (void)kf_face_use(NULL);
    assert_known("letters.txt", text.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures_of_scenes),
        cmocka_unit_test(test_pictures_of_slices),
        cmocka_unit_test(test_colours_and_scales),
        cmocka_unit_test(test_letters_of_the_bitmap_font),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
