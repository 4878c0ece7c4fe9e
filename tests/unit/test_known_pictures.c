/* Pictures of scenes, as known texts: the mean colour of each of 12 x 8 parts, in steps of
 * 4, which other rounding does not change but another edge, light, colour or depth does. */
#include <math.h>

#include "scene/scene.h"
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

static void test_scenes(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
