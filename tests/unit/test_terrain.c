/* Tests terrain that others made. Faults: a picture that is read as light, a missing value that becomes a
 * height, terrain outside of the box without a word. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <png.h>

#include "base/plan/snapshot.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "scene/particles.h"
#include "solver/sph/sph_depth.h"
#include "solver/sph/sph_picture.h"

static char folder[] = "/tmp/kftune-terrain-XXXXXX";

static void path_of(const char *name, char path[KF_PATH]) {
    kf_error error = {0};
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
}

static void write_text(const char *name, const char *text) {
    char path[KF_PATH];
    kf_error error = {0};
    path_of(name, path);
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) fail_msg("%s", error.message);
}

static kf_status read_terrain(const char *json, kf_terrain *terrain, kf_error *error) {
    static const double size[3] = {20, 20, 20};
    char file[KF_PATH];
    path_of("scene.json", file);
    cJSON *object = cJSON_Parse(json);
    assert_non_null(object);
    const kf_status status = kf_terrain_read(file, object, 3, size, terrain, error);
    cJSON_Delete(object);
    return status;
}

static void says(const kf_error *error, const char *why) {
    if (strstr(error->message, why) == NULL) fail_msg("'%s' does not say '%s'", error->message, why);
    assert_null(strchr(error->message, '\n'));
}

/* ---- Pictures ---- */

/* Pictures of a kind, in which all of the 3 x 3 pixels have the samples of `pixel`. */
typedef struct kind {
    int type, depth, interlace;
    double gamma; /* 0: the file has none */
    bool srgb;
    unsigned char pixel[8];
    /* Share of the way from low to high. With NAN the picture is refused, and `why` is the reason. */
    double share;
    const char *why;
} kind;

static void write_picture(const kind *k) {
    char path[KF_PATH];
    path_of("t.png", path);
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const int channels = k->type == PNG_COLOR_TYPE_RGB          ? 3
                         : k->type == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
                         : k->type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                                : 1;
    png_init_io(png, file);
    png_set_IHDR(png, info, 3, 3, k->depth, k->type, k->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (k->gamma > 0.0) png_set_gAMA(png, info, k->gamma);
    if (k->srgb) png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    const png_color palette[2] = {{0, 0, 0}, {128, 128, 128}};
    if (k->type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
    png_write_info(png, info);
    if (k->depth < 8) png_set_packing(png); /* a byte of row is a pixel */
    const int passes = png_set_interlace_handling(png);
    const size_t bytes = (size_t)channels * (k->depth == 16 ? 2 : 1);
    unsigned char row[3 * 8];
    for (size_t c = 0; c < 3; c++)
        memcpy(row + c * bytes, k->pixel, bytes);
    for (int i = 0; i < 3 * passes; i++)
        png_write_row(png, row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

static void pictures_are_numbers(void **state) {
    (void)state;
    static const double half = 128.0 / 255.0;
    const kind kinds[] = {
        {PNG_COLOR_TYPE_GRAY, 8, 0, 0, false, {128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 8, 0, 0.45455, false, {128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 8, 0, 1.0, false, {128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 8, 0, 0, true, {128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, 0, false, {128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 16, 0, 0, false, {128, 128}, half, NULL},
        {PNG_COLOR_TYPE_GRAY, 16, 0, 0.45455, true, {1, 0}, 256.0 / 65535.0, NULL},
        {PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_ADAM7, 0, false, {1, 0}, 256.0 / 65535.0, NULL},
        {PNG_COLOR_TYPE_GRAY, 1, 0, 0, false, {1}, 1.0, NULL},
        {PNG_COLOR_TYPE_GRAY, 2, 0, 0, false, {2}, 2.0 / 3.0, NULL},
        {PNG_COLOR_TYPE_GRAY, 4, 0, 0, true, {8}, 8.0 / 15.0, NULL},
        {PNG_COLOR_TYPE_PALETTE, 1, 0, 0, false, {1}, half, NULL},
        {PNG_COLOR_TYPE_PALETTE, 8, 0, 0, true, {1}, half, NULL},
        {PNG_COLOR_TYPE_RGB, 8, 0, 0, true, {128, 128, 128}, half, NULL},
        {PNG_COLOR_TYPE_RGB, 16, 0, 0, false, {1, 0, 1, 0, 1, 0}, 256.0 / 65535.0, NULL},
        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, 0, false, {128, 255}, half, NULL},
        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, 0, false, {128, 128}, half, NULL},
        {PNG_COLOR_TYPE_RGB_ALPHA, 8, 0, 0, true, {128, 128, 128, 255}, half, NULL},
        {PNG_COLOR_TYPE_RGB_ALPHA, 8, 0, 0, true, {128, 128, 128, 0}, NAN, "row 1, column 1 is transparent"},
        {PNG_COLOR_TYPE_RGB, 8, 0, 0, true, {128, 0, 7}, NAN, "rgb(128, 0, 7)"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kf_terrain t;
        kf_error error = {0};
        write_picture(&kinds[i]);
        const kf_status status =
            read_terrain("{\"picture\": \"t.png\", \"low\": 10, \"high\": 30, \"cell\": 1}", &t, &error);
        if (isnan(kinds[i].share)) {
            assert_int_equal(status, KF_BAD_INPUT);
            says(&error, kinds[i].why);
        } else if (status != KF_OK) {
            fail_msg("kind %zu: %s", i, error.message);
        } else {
            for (int k = 0; k < 9; k++)
                if (fabs(t.heights[k] - (10.0 + 20.0 * kinds[i].share)) > 1e-9)
                    fail_msg("kind %zu: %.9g m instead of %.9g", i, t.heights[k],
                             10.0 + 20.0 * kinds[i].share);
        }
        kf_terrain_free(&t);
    }
}

/* North is up. The rows of an interlaced picture come in several passes. */
static void pictures_keep_their_places(void **state) {
    (void)state;
    for (int interlace = 0; interlace < 2; interlace++) {
        char path[KF_PATH];
        path_of("t.png", path);
        FILE *file = fopen(path, "wb");
        png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
        png_infop info = png_create_info_struct(png);
        png_init_io(png, file);
        png_set_IHDR(png, info, 4, 3, 8, PNG_COLOR_TYPE_GRAY,
                     interlace ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                     PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        unsigned char rows[3][4], *pointers[3];
        for (int r = 0; r < 3; r++) {
            pointers[r] = rows[r];
            for (int c = 0; c < 4; c++)
                rows[r][c] = (unsigned char)(10 * r + c);
        }
        png_write_image(png, pointers);
        png_write_end(png, NULL);
        png_destroy_write_struct(&png, &info);
        assert_int_equal(fclose(file), 0);
        kf_terrain t;
        kf_error error = {0};
        assert_int_equal(
            read_terrain("{\"picture\": \"t.png\", \"low\": 0, \"high\": 255, \"cell\": 1}", &t, &error),
            KF_OK);
        for (int c = 0; c < 4; c++)
            for (int r = 0; r < 3; r++)
                assert_true(fabs(t.heights[c * 3 + 2 - r] - (10 * r + c)) < 1e-9);
        kf_terrain_free(&t);
    }
    kf_terrain t;
    kf_error error = {0};
    write_text("t.png", "P5 3 3 255");
    assert_int_equal(
        read_terrain("{\"picture\": \"t.png\", \"low\": 0, \"high\": 255, \"cell\": 1}", &t, &error),
        KF_BAD_INPUT);
    says(&error, "is no PNG picture");
    kf_terrain_free(&t);
    write_text("t.png", "\x89PNG\r\n\x1a\n and no more");
    assert_int_equal(
        read_terrain("{\"picture\": \"t.png\", \"low\": 0, \"high\": 255, \"cell\": 1}", &t, &error),
        KF_BAD_INPUT);
    says(&error, "damaged");
    kf_terrain_free(&t);
}

/* ---- Grids ---- */

static void what_has_no_data_is_no_height(void **state) {
    (void)state;
    static const struct {
        const char *text, *why; /* why NULL: it is read */
    } cases[] = {
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 -9999 6\n7 8 9\n", "row 2, column 2 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 -9999.000 6\n7 8 9\n", "row 2, column 2 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value nan\n1 2 3\n4 5 6\n7 8 9\n", NULL},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 0x5 6\n7 8 9\n", "'0x5' is not a height"},
        {"ncols 3\nnrows 0x3\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n", "no number after 'nrows'"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -3.4028234663852886e+38\n1 2 3\n4 5 -3.4028235e+38\n7 8 "
         "9\n",
         "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -3.402823e+38\n1 2 3\n4 5 -3.4028234663852886e+38\n7 8 "
         "9\n",
         "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -32768\n1 2 3\n4 5 3.4e+38\n7 8 9\n",
         "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -32768\n1 2 3\n4 5 1e308\n7 8 9\n",
         "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 inf\n7 8 9\n", "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value 0\n1 2 3\n4 0 6\n7 8 9\n",
         "row 2, column 2 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value 0\n1 2 3\n4 1e-9 6\n7 8 9\n", NULL},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -32768\n1 2 3\n4 -9999 6\n7 8 9\n", NULL},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 -9998 6\n7 8 9\n", NULL},
        {"ncols 3\nnrows 3\ncellsize 1\nNODATA_value -9999\n1 2 3\n4 5 -32768\n7 8 9\n",
         "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 -32767.0\n7 8 9\n", "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 1e30\n7 8 9\n", "row 2, column 3 has no data"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 -32766\n7 8 9\n", NULL},
        {"\xef\xbb\xbfncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n", "byte order mark"},
        {"# made by hand\nncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n",
         "remove the line '# made by hand'"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5,5 6\n7 8 9\n",
         "'5,5' is not a height; decimals begin with"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 nan 6\n7 8 9\n", "row 2, column 2: 'nan' is not a height"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5m 6\n7 8 9\n", "row 2, column 2: '5m' is not a height"},
        {"ncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 6\n7 8\n", "ends in row 3, before column 3"},
        {"ncols 3\nncols 3\nnrows 3\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n", "contains 'ncols' twice"},
        {"ncols 3\nnrows 3\nxllcorner 0\nxllcenter 0\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n",
         "'xllcenter' twice"},
        {"ncols 3\nnrows 3\ndx 1\ndy 2\n1 2 3\n4 5 6\n7 8 9\n", "'dx' is no word of"},
        {"ncols 3\nnrows 3\ncellsize 1 2\n1 2 3\n4 5 6\n7 8 9\n", "more than a number after 'cellsize'"},
        {"0 0 5\n1 0 5\n2 0 5\n", "begins with numbers"},
        {"\x49\x49*", "t.asc: 'II*' is no word"},
        {"DSAA\n3 3\n", "t.asc: is a grid of Surfer"},
        {"  <HTML><p>404", "is a web page"},
        {"ncols 3.5\nnrows 3\ncellsize 1\n1 2 3\n4 5 6\n7 8 9\n", "3.5x3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_terrain t;
        kf_error error = {0};
        write_text("t.asc", cases[i].text);
        const kf_status status = read_terrain("{\"file\": \"t.asc\"}", &t, &error);
        kf_terrain_free(&t);
        if ((status == KF_OK) != (cases[i].why == NULL)) fail_msg("case %zu: %s", i, error.message);
        if (cases[i].why != NULL) says(&error, cases[i].why);
    }
}

/* Each axis has its own keyword for the grid's origin. A corner is half a cell before the first node. */
static void corner_and_centre_go_by_axis(void **state) {
    (void)state;
    kf_terrain t;
    kf_error error = {0};
    write_text("t.asc", "ncols 3\nnrows 3\nxllcorner 7\nyllcenter 9\ncellsize 2\n1 2 3\n4 5 6\n7 8 9\n");
    assert_int_equal(read_terrain("{\"file\": \"t.asc\"}", &t, &error), KF_OK);
    assert_true(t.origin[0] == 1.0 && t.origin[1] == 0.0 && t.corner[0] == 7.0 && t.corner[1] == 9.0);
    kf_terrain_free(&t);
    assert_int_equal(read_terrain("{\"file\": \"t.asc\", \"cell\": 1}", &t, &error), KF_BAD_INPUT);
    says(&error, "terrain.cell: is for a \"picture\" or a \"formula\"");
    kf_terrain_free(&t);
    assert_int_equal(read_terrain("{\"file\": \"none.asc\"}", &t, &error), KF_BAD_INPUT);
    says(&error, "scene.json: terrain.file: ");
    kf_terrain_free(&t);
}

/* ---- Terrain and box ---- */

/* Writes a grid of nodes `cell` apart, all of one height, in map coordinates. */
static void write_flat(int columns, int rows, double cell, double height) {
    kf_text text = {0};
    kf_text_append(&text, "ncols %d\nnrows %d\nxllcorner 10.5\nyllcorner 47\ncellsize %.9g\n", columns, rows,
                   cell);
    for (int k = 0; k < columns * rows; k++)
        kf_text_append(&text, "%.9g%c", height, (k + 1) % columns == 0 ? '\n' : ' ');
    write_text("t.asc", text.text);
    kf_text_free(&text);
}

/* Opens a scene with a box of 20 m a side on that grid. `fluid` is its content. */
static kf_status open_scene(const char *fluid, kf_particle_scene **scene, kf_error *error) {
    char path[KF_PATH];
    kf_text text = {0};
    path_of("scene.json", path);
    kf_text_append(
        &text,
        "{\"particles\": {\"spacing\": 0.5}, \"box\": {\"size\": [20, 20, 20], \"faces\": {\"zmax\": "
        "\"open\"}}, \"gravity\": [0, 0, -9.81], \"material\": {\"density\": 1000, \"sound_speed\": "
        "100, \"viscosity\": 0.001}, \"terrain\": {\"file\": \"t.asc\"}, \"fluid\": [%s]}",
        fluid);
    write_text("scene.json", text.text);
    kf_text_free(&text);
    *scene = NULL;
    return kf_particle_scene_open(path, NULL, scene, error);
}

#define LAYER "{\"shape\": \"polygon\", \"depth\": 2, \"polygon\": [[2, 2], [18, 2], [18, 18], [2, 18]]}"

static void terrain_lies_in_the_box(void **state) {
    (void)state;
    static const struct {
        int columns, rows;
        double cell, height;
        const char *refused, *noted;
    } cases[] = {
        {20, 20, 1, 5, NULL, "20 x 20 nodes 1 m apart, from 5 to 5 m high in a box of 20 m"},
        {20, 20, 1, -3, "from -3 to -3 m high, all of it below the box, which goes from 0 to 20 m; raise",
         NULL},
        {20, 20, 1, 1505,
         "from 1505 to 1505 m high, all of it above the box, which goes from 0 to 20 m; lower", NULL},
        {20, 12, 1, 5, NULL, "20 x 12 m of a box of 20 x 20 m"},
        {20, 9, 1, 5, "20 x 9 m, less than half of the box's 20 x 20 m", NULL},
        {20, 20, 0.00027777, 5, "are its cells in degrees", NULL},
        {40, 40, 1, 5, NULL, "40 x 40 nodes"},
        {19, 19, 1, 5, NULL, "19 x 19 nodes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_particle_scene *scene;
        kf_error error = {0};
        write_flat(cases[i].columns, cases[i].rows, cases[i].cell, cases[i].height);
        const kf_status status = open_scene(LAYER, &scene, &error);
        if ((status == KF_OK) != (cases[i].refused == NULL)) fail_msg("case %zu: %s", i, error.message);
        if (cases[i].refused != NULL) says(&error, cases[i].refused);
        if (cases[i].noted != NULL && strstr(scene->notes, cases[i].noted) == NULL)
            fail_msg("case %zu: '%s' does not say '%s'", i, scene->notes, cases[i].noted);
        kf_particle_scene_free(scene);
    }
}

/* Nodes are half a metre apart, with the ground at 5 m, in a box of 20 m. */
static void nothing_is_lost_without_a_word(void **state) {
    (void)state;
    static const struct {
        const char *fluid;
        size_t placed;
        const char *noted, *refused;
    } cases[] = {
        {LAYER, 32 * 32 * 4, NULL, NULL},
        /* 30 of 40 layers fit below 20 m. */
        {"{\"shape\": \"polygon\", \"depth\": 20, \"polygon\": [[2, 2], [18, 2], [18, 18], [2, 18]]}",
         32 * 32 * 30,
         "fluid[0]: 10240 of 40960 particles are left out: 10240 outside the box, 0 in the ground", NULL},
        /* Half of the polygon lies beside the box. */
        {"{\"shape\": \"polygon\", \"depth\": 2, \"polygon\": [[-16, 2], [16, 2], [16, 18], [-16, 18]]}",
         32 * 32 * 4, "fluid[0]: 4096 of 8192 particles are left out: 4096 outside the box, 0 in the ground",
         NULL},
        /* The ground reaches to 5 m: it removes 10 of 20 layers of a box that begins at 0. The column of
         * 20 reaches above the box. */
        {"{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [10, 10, 10]}", 20 * 20 * 10,
         "fluid[0]: 4000 of 8000 particles are left out: 0 outside the box, 4000 in the ground", NULL},
        {"{\"shape\": \"box\", \"low\": [10, 10, 15], \"high\": [25, 20, 25]}", 20 * 20 * 10,
         "fluid[0]: 8000 of 12000 particles are left out: 8000 outside the box, 0 in the ground", NULL},
        {"{\"shape\": \"ball\", \"center\": [0, 10, 12], \"radius\": 3}", 0,
         "outside the box, 0 in the ground", NULL},
        {LAYER ", {\"shape\": \"box\", \"low\": [0, 0, 21], \"high\": [5, 5, 25]}", 0, NULL,
         "fluid[1]: none of its 800 particles has room: 800 outside the box, 0 in the ground"},
        {LAYER ", {\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [5, 5, 4]}", 0, NULL,
         "fluid[1]: none of its 800 particles has room: 0 outside the box, 800 in the ground"},
    };
    write_flat(20, 20, 1, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_particle_scene *scene;
        kf_error error = {0};
        const kf_status status = open_scene(cases[i].fluid, &scene, &error);
        if ((status == KF_OK) != (cases[i].refused == NULL)) fail_msg("case %zu: %s", i, error.message);
        if (cases[i].refused != NULL) says(&error, cases[i].refused);
        if (status != KF_OK) continue;
        if (cases[i].placed > 0) assert_int_equal(scene->count, cases[i].placed);
        if (cases[i].noted == NULL ? strstr(scene->notes, "left out") != NULL
                                   : strstr(scene->notes, cases[i].noted) == NULL)
            fail_msg("case %zu: %s", i, scene->notes);
        kf_particle_scene_free(scene);
    }
    /* The particles of a ball that are left out, and those that are not, together are all of its lattice
     * points. */
    kf_particle_scene *scene;
    kf_error error = {0};
    assert_int_equal(
        open_scene("{\"shape\": \"ball\", \"center\": [0, 10, 12], \"radius\": 3}", &scene, &error), KF_OK);
    size_t points = 0, told = 0, all = 0;
    for (int x = -8; x < 8; x++)
        for (int y = 0; y < 40; y++)
            for (int z = 0; z < 40; z++)
                points += pow(x + 0.5, 2) + pow(y + 0.5 - 20, 2) + pow(z + 0.5 - 24, 2) <= 36.0;
    const char *note = strstr(scene->notes, "fluid[0]: ");
    assert_non_null(note);
    assert_int_equal(sscanf(note, "fluid[0]: %zu of %zu", &told, &all), 2);
    assert_int_equal(all, points);
    assert_int_equal(told + scene->count, points);
    kf_particle_scene_free(scene);
}

/* Ground that is not as high at one periodic face as at the opposite one is noted, with the step. */
static void steps_at_periodic_faces_are_told(void **state) {
    (void)state;
    static const struct {
        const char *dimensions, *box, *formula, *told;
    } cases[] = {{"3", "[2, 3, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}",
                  "0.3 + 0.1 * x + 0.05 * y", "0.2 m lies between the periodic faces along x"},
                 {"3", "[2, 3, 2], \"faces\": {\"ymin\": \"periodic\", \"ymax\": \"periodic\"}",
                  "0.3 + 0.1 * x + 0.05 * y", "0.15 m lies between the periodic faces along y"},
                 {"3", "[2, 3, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}",
                  "0.6 - 0.1 * x", "0.2 m lies between the periodic faces along x"},
                 {"3", "[2, 3, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}",
                  "0.3 + 0.1 * y", NULL},
                 {"3", "[2, 3, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}",
                  "0.3 + 0.1 * x * y", "0.6 m lies"},
                 {"3", "[2, 3, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}",
                  "0.3 + 0.1 * x * (2 - x)", NULL},
                 {"3", "[2, 3, 2]", "0.3 + 0.1 * x + 0.05 * y", NULL},
                 {"2", "[2, 2], \"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}", "0.3 + 0.1 * x",
                  "0.2 m lies between the periodic faces along x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_text text = {0};
        kf_particle_scene *scene = NULL;
        kf_error error = {0};
        const bool flat = cases[i].dimensions[0] == '2';
        kf_text_append(
            &text,
            "{\"particles\": {\"spacing\": 0.1, \"dimensions\": %s}, \"box\": {\"size\": %s}, \"material\": "
            "{\"density\": 1000, \"sound_speed\": 50, \"viscosity\": 0.001}, \"terrain\": {\"formula\": "
            "\"%s\", "
            "\"cell\": 0.1}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 1%s], \"high\": [1, 1.5%s]}]}",
            cases[i].dimensions, cases[i].box, cases[i].formula, flat ? "" : ", 1.2", flat ? "" : ", 1.5");
        const kf_status status = kf_particle_scene_parse("g.json", text.text, NULL, &scene, &error);
        kf_text_free(&text);
        if (status != KF_OK) fail_msg("case %zu: %s", i, error.message);
        const char *step = strstr(scene->notes, "a step of up to ");
        if ((step != NULL) != (cases[i].told != NULL) ||
            (step != NULL && strstr(step, cases[i].told) == NULL))
            fail_msg("case %zu: %s", i, scene->notes);
        kf_particle_scene_free(scene);
    }
}

static void gauges_lie_in_the_box(void **state) {
    (void)state;
    static const struct {
        const char *gauge, *refused;
    } cases[] = {{"{\"name\": \"a\", \"height\": [1, 0.5]}", NULL},
                 {"{\"name\": \"a\", \"height\": [2.5, 0.5]}",
                  "a is at 2.5 m along x, outside the box, which goes "
                  "from 0 to 2 m"},
                 {"{\"name\": \"a\", \"pressure\": [1, 0.5, -3]}", "along z"},
                 {"{\"name\": \"a\", \"pressure\": [2, 1, 0]}", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_text text = {0};
        kf_particle_scene *scene = NULL;
        kf_error error = {0};
        kf_text_append(
            &text,
            "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1]}, \"material\": "
            "{\"density\": 1000, \"sound_speed\": 50, \"viscosity\": 0.001}, \"fluid\": [{\"shape\": "
            "\"box\", \"low\": [0, 0, 0], \"high\": [1, 1, 1]}], \"gauges\": [%s]}",
            cases[i].gauge);
        const kf_status status = kf_particle_scene_parse("g.json", text.text, NULL, &scene, &error);
        if ((status == KF_OK) != (cases[i].refused == NULL)) fail_msg("case %zu: %s", i, error.message);
        if (cases[i].refused != NULL) says(&error, cases[i].refused);
        kf_particle_scene_free(scene);
        kf_text_free(&text);
    }
}

/* A depth map has the map coordinates of the terrain. */
static void depths_keep_their_corner(void **state) {
    (void)state;
    kf_particle_scene *scene;
    kf_error error = {0};
    char path[KF_PATH], *text = NULL;
    size_t size = 0;
    path_of("depth.asc", path);
    for (int centres = 0; centres < 2; centres++) {
        kf_text grid = {0};
        kf_text_append(&grid, "ncols 20\nnrows 20\nxll%s 500000.125\nyll%s 5412345.5\ncellsize 1\n",
                       centres ? "center" : "corner", centres ? "center" : "corner");
        for (int k = 0; k < 400; k++)
            kf_text_append(&grid, "5 ");
        write_text("t.asc", grid.text);
        kf_text_free(&grid);
        if (open_scene(LAYER, &scene, &error) != KF_OK) fail_msg("%s", error.message);
        kf_snapshot snapshot = {.count = 0};
        kf_sph_first_snapshot(scene, &snapshot);
        if (kf_sph_write_depth(scene, &snapshot, path, &error) != KF_OK) fail_msg("%s", error.message);
        kf_snapshot_free(&snapshot);
        kf_particle_scene_free(scene);
        assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
        if (strstr(text, "xllcorner 500000.125\nyllcorner 5412345.5\n") == NULL) fail_msg("%.200s", text);
        free(text);
    }
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"scene.json", "t.asc", "t.png", "depth.asc"};
    char path[KF_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path);
        (void)unlink(path);
    }
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_numbers),
        cmocka_unit_test(pictures_keep_their_places),
        cmocka_unit_test(what_has_no_data_is_no_height),
        cmocka_unit_test(corner_and_centre_go_by_axis),
        cmocka_unit_test(terrain_lies_in_the_box),
        cmocka_unit_test(nothing_is_lost_without_a_word),
        cmocka_unit_test(steps_at_periodic_faces_are_told),
        cmocka_unit_test(gauges_lie_in_the_box),
        cmocka_unit_test(depths_keep_their_corner),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
