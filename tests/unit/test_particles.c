/* Tests where the particles of a scene are, terrain from its three sources, and refusals. Faults:
 * particles inside walls, doubled or missing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <png.h>

#include "base/util/text.h"
#include "scene/particles.h"

#define WATER "\"material\": {\"density\": 1000, \"sound_speed\": 50, \"viscosity\": 0.001}"

static char folder[] = "/tmp/kftune-particles-XXXXXX";

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within)) fail_msg("%.9g, not %.9g", value, expected);
}

static kf_particle_scene *parse(const char *text) {
    kf_particle_scene *scene = NULL;
    kf_error error = {0};
    if (kf_particle_scene_parse("test.json", text, NULL, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    return scene;
}

static void refused(const char *text, const char *why) {
    kf_particle_scene *scene = NULL;
    kf_error error = {0};
    assert_int_equal(kf_particle_scene_parse("test.json", text, NULL, &scene, &error), KF_BAD_INPUT);
    if (strstr(error.message, why) == NULL) fail_msg("'%s' does not say '%s'", error.message, why);
}

/* ---- Shapes ---- */

static void a_box_is_filled_to_its_faces(void **state) {
    (void)state;
    kf_particle_scene *s = parse(
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [2, 1]}, " WATER
        ", \"gravity\": [0, -10], \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 0.5]}]}");
    assert_int_equal(s->count, 50);
    assert_int_equal(s->wall_count, 0);
    near((double)s->position[0], 0.5, 1e-6);
    near((double)s->position[1], 0.5, 1e-6);
    /* The pressure at the lowest particles is rho g (H - y) / (rho c^2), by Tait's equation. */
    const double pressure = 10.0 * 0.45 / 2500.0, e = (double)s->deviation[0];
    near((pow(1.0 + e, 7.0) - 1.0) / 7.0, pressure, 1e-6);
    kf_particle_scene_free(s);
}

static void a_ball_has_its_volume(void **state) {
    (void)state;
    kf_particle_scene *s =
        parse("{\"particles\": {\"spacing\": 0.05}, \"box\": {\"size\": [3, 3, 3]}, " WATER
              ", \"fluid\": [{\"shape\": \"ball\", \"center\": [1.5, 1.5, 1.5], \"radius\": 1}]}");
    const double volume = 4.0 / 3.0 * 3.14159265358979 / (0.05 * 0.05 * 0.05);
    near((double)s->count / volume, 1.0, 2e-3);
    kf_particle_scene_free(s);
}

/* A body of fluid moves, and turns about its middle around z, at rates in m/s and rad/s. */
static void a_body_moves_and_turns(void **state) {
    (void)state;
    static const char *const shapes[] = {"\"shape\": \"ball\", \"center\": [1.5, 1.2, 1.5], \"radius\": 0.5",
                                         "\"shape\": \"box\", \"low\": [1, 1, 1], \"high\": [2, 1.4, 2]"};
    for (int i = 0; i < 2; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [3, 3, 3]}, " WATER
                       ", \"fluid\": [{%s, \"velocity\": [1, 2, 3], \"rotation\": 4}]}",
                       shapes[i]);
        kf_particle_scene *s = parse(text);
        assert_true(s->count > 100);
        for (size_t k = 0; k < s->count; k++) {
            const float *at = s->position + 3 * k, *v = s->velocity + 3 * k;
            near(50.0 * (double)v[0], 1.0 - 4.0 * (0.1 * (double)at[1] - 1.2), 1e-4);
            near(50.0 * (double)v[1], 2.0 + 4.0 * (0.1 * (double)at[0] - 1.5), 1e-4);
            near(50.0 * (double)v[2], 3.0, 1e-4);
        }
        assert_true(s->notes == NULL || strstr(s->notes, "faster than") == NULL);
        kf_particle_scene_free(s);
        (void)snprintf(text, sizeof text,
                       "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [3, 3, 3]}, " WATER
                       ", \"fluid\": [{%s, \"rotation\": -140}]}",
                       shapes[i]);
        s = parse(text);
        assert_non_null(strstr(s->notes, "faster than material.sound_speed"));
        kf_particle_scene_free(s);
    }
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [3, 3, 3]}, " WATER
            ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1, 1, 1], \"rotation\": "
            "{\"axis\": [0, 0, 1], "
            "\"degrees\": 5}}]}",
            "fluid[0].rotation: is the speed in rad/s");
}

static void obstacles_and_layers_are_walls(void **state) {
    (void)state;
    kf_particle_scene *s =
        parse("{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1, \"support\": 2.6}, \"box\": {\"size\": "
              "[2, 1], "
              "\"faces\": {\"ymin\": \"dummies\"}}, " WATER
              ", \"obstacles\": [{\"shape\": \"box\", \"low\": [0.5, 0], \"high\": [0.7, 0.2]}], "
              "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [2, 0.5]}]}");
    assert_int_equal(s->wall_count, 20 * 3 + 4); /* three layers for a support of 2.6, and the obstacle */
    assert_int_equal(s->count - s->wall_count, 100 - 4);
    near(s->size[1], 13.0, 1e-9);
    near(s->origin[1], 3.0, 1e-9);
    for (size_t k = 0; k < s->count - s->wall_count; k++)
        assert_true(s->position[3 * k + 1] > 3.0f);
    kf_particle_scene_free(s);
}

static void write_cube(const char *path, const char *last) {
    FILE *file = fopen(path, "w");
    static const char *const text =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\n";
    (void)fprintf(file, "%s%s", text, last);
    (void)fclose(file);
}

static void a_mesh_is_filled_and_must_be_closed(void **state) {
    (void)state;
    char path[256], text[1024];
    (void)snprintf(path, sizeof path, "%s/cube.obj", folder);
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [3, 3, 3]}, " WATER
                   ", \"fluid\": [{\"shape\": \"mesh\", \"mesh\": \"%s\", \"scale\": 2, \"position\": [0.5, "
                   "0.5, 0.5]}]}",
                   path);
    write_cube(path, "f 4 5 8\n");
    kf_particle_scene *s = parse(text);
    assert_int_equal(s->count, 8000);
    kf_particle_scene_free(s);
    write_cube(path, "");
    refused(text, "not closed");
}

/* ---- Terrain ---- */

#define SNOW                                                                                                 \
    "\"material\": {\"law\": \"bingham\", \"density\": 250, \"sound_speed\": 100, \"viscosity\": 10, "       \
    "\"yield_stress\": 200}"

static void snow_lies_on_a_slope(void **state) {
    (void)state;
    kf_particle_scene *s =
        parse("{\"particles\": {\"spacing\": 0.5}, \"box\": {\"size\": [40, 20, 40]}, \"gravity\": [0, 0, "
              "-10], " SNOW ", \"terrain\": {\"formula\": \"20 - x / 2\", \"cell\": 1}, "
              "\"fluid\": [{\"shape\": \"polygon\", \"polygon\": [[5, 5], [15, 5], [15, 15], [5, 15]], "
              "\"depth\": 2}]}");
    const double upright = sqrt(1.25), volume = 100.0 * 2.0 * upright / (0.5 * 0.5 * 0.5);
    near((double)s->count / volume, 1.0, 0.15);
    for (size_t k = 0; k < s->count; k++) {
        const float *p = s->position + 3 * k;
        const double above =
            ((double)p[2] - kf_terrain_height(&s->terrain, (double)p[0], (double)p[1], NULL)) / upright;
        assert_true(above > 0.49 && above < 4.01);
    }
    double slope[2];
    near(kf_terrain_height(&s->terrain, 20.0, 20.0, slope), 30.0, 1e-4);
    near(slope[0], -0.5, 1e-9);
    near(slope[1], 0.0, 1e-9);
    kf_particle_scene_free(s);
}

static void read_terrain(const char *json, kf_status expected, const char *why, kf_terrain *terrain) {
    static const double size[3] = {10, 10, 10};
    char file[256];
    kf_error error = {0};
    (void)snprintf(file, sizeof file, "%s/scene.json", folder);
    cJSON *object = cJSON_Parse(json);
    const kf_status status = kf_terrain_read(file, object, 3, size, terrain, &error);
    cJSON_Delete(object);
    if (status != expected) fail_msg("%s", error.message);
    if (why != NULL && strstr(error.message, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, why);
    if (status != KF_OK) kf_terrain_free(terrain);
}

static void write_text(const char *name, const char *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    (void)fputs(text, file);
    (void)fclose(file);
}

static void grids_are_read_from_north_to_south(void **state) {
    (void)state;
    kf_terrain t;
    write_text("a.asc", "ncols 4\nnrows 3\nxllcorner 500000\nyllcorner 100\ncellsize 2\nNODATA_value -9999\n"
                        "9 10 11 12\n5 6 7 8\n1 2 3 4\n");
    read_terrain("{\"file\": \"a.asc\"}", KF_OK, NULL, &t);
    assert_int_equal(t.nodes[0], 4);
    assert_int_equal(t.nodes[1], 3);
    near(t.origin[0], 1.0, 1e-12);
    near(t.heights[0], 1.0, 0);     /* x = 1, y = 1: the south-west */
    near(t.heights[2], 9.0, 0);     /* the north-west */
    near(t.heights[3 * 3], 4.0, 0); /* the south-east */
    near(kf_terrain_height(&t, 4.0, 3.0, NULL), 6.5, 1e-12);
    kf_terrain_free(&t);
    write_text("b.asc",
               "ncols 4\nnrows 3\ncellsize 2\nNODATA_value -9999\n9 10 11 12\n5 -9999 7 8\n1 2 3 4\n");
    read_terrain("{\"file\": \"b.asc\"}", KF_BAD_INPUT, "row 2, column 2 has no data", &t);
    write_text("b.asc", "ncols 4\nnrows 3\ncellsize 2\n9 10 11 12\n5 6 7 8\n1 2 3\n");
    read_terrain("{\"file\": \"b.asc\"}", KF_BAD_INPUT, "ends in row 3, before column 4", &t);
    write_text("b.asc", "ncols 1e9\nnrows 3\ncellsize 2\n");
    read_terrain("{\"file\": \"b.asc\"}", KF_BAD_INPUT, "16384", &t);
    write_text("b.asc", "hello");
    read_terrain("{\"file\": \"b.asc\"}", KF_BAD_INPUT, "no word of an ESRI", &t);
}

static void pictures_have_sixteen_bits(void **state) {
    (void)state;
    char path[256];
    (void)snprintf(path, sizeof path, "%s/t.png", folder);
    uint16_t pixels[9] = {0, 0, 0, 0, 257, 0, 0, 0, 65535};
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = image.height = 3;
    image.format = PNG_FORMAT_LINEAR_Y;
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0);
    kf_terrain t;
    read_terrain("{\"picture\": \"t.png\", \"low\": 100, \"high\": 200, \"cell\": 3}", KF_OK, NULL, &t);
    near(t.heights[2 * 3 + 0], 200.0, 1e-9);                       /* the last pixel: south-east */
    near(t.heights[1 * 3 + 1], 100.0 + 100.0 * 257 / 65535, 1e-9); /* more than eight bits */
    kf_terrain_free(&t);
    read_terrain("{\"picture\": \"none.png\", \"low\": 0, \"high\": 1, \"cell\": 3}", KF_BAD_INPUT,
                 "none.png", &t);
}

static void formulas_are_checked(void **state) {
    (void)state;
    kf_terrain t;
    read_terrain("{\"formula\": \"x + q\", \"cell\": 1}", KF_BAD_INPUT, "unknown name 'q'", &t);
    read_terrain("{\"formula\": \"1 / x\", \"cell\": 1}", KF_BAD_INPUT, "terrain.formula", &t);
    read_terrain("{\"formula\": \"x\", \"cell\": 0.0001}", KF_BAD_INPUT, "16384", &t);
    read_terrain("{\"formula\": \"x\", \"file\": \"a.asc\", \"cell\": 1}", KF_BAD_INPUT, "give one of", &t);
}

/* An obstacle that reaches beyond a periodic face is cut off there, which a note says. Other faces cut
 * without one. */
static void obstacles_end_at_periodic_faces(void **state) {
    (void)state;
    static const char *const faces[] = {"periodic", "no_slip"};
    for (int f = 0; f < 2; f++) {
        char text[600];
        (void)snprintf(
            text, sizeof text,
            "{\"particles\": {\"spacing\": 0.1, \"dimensions\": 2}, \"box\": {\"size\": [2, 1], \"faces\": "
            "{\"xmin\": \"%s\", \"xmax\": \"%s\"}}, " WATER
            ", \"obstacles\": [{\"shape\": \"ball\", \"center\": [1.9, 0.2], \"radius\": 0.3}], "
            "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [2, 0.5]}]}",
            faces[f], faces[f]);
        kf_particle_scene *scene = parse(text);
        const char *said = scene->notes != NULL ? strstr(scene->notes, "obstacles[0]: is cut off") : NULL;
        assert_true((said != NULL) == (f == 0));
        if (f == 0) assert_non_null(strstr(said, "from 1.6 to 2.2 m: give it once more, moved by the 2 m"));
        kf_particle_scene_free(scene);
    }
}

/* --- Refusals ----------------------------------------------------------------------------------------- */

static void wrong_scenes_say_what_is_wrong(void **state) {
    (void)state;
    refused("{\"particles\": {\"spacing\": 0.1, \"dimensions\": 2}, \"box\": {\"size\": [2, 1]}, " WATER
            ", \"fluid\": [{\"shape\": \"box\", \"low\": [3, 0], \"high\": [4, 1]}]}",
            "fluid[0]: none of its 100 particles has room: 100 outside the box");
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1]}, " WATER "}", "box.size");
    refused(
        "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1]}, \"gravity\": [0, 0, -9.81], "
        "\"material\": {\"law\": \"bingham\", \"density\": 1000, \"viscosity\": 1, \"yield_stress\": 10}, "
        "\"model\": {\"impact\": 3}, \"fluid\": []}",
        "impact is for Newtonian fluids");
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1], \"faces\": {\"zmin\": "
            "\"no_slip\"}}, " WATER ", \"model\": {\"central_viscosity\": true}, \"fluid\": []}",
            "central_viscosity is for Newtonian fluids without faces of no_slip");
    refused("{\"particles\": {\"spacing\": 1e-9}, \"box\": {\"size\": [2, 1, 1]}, " WATER ", \"fluid\": []}",
            "spacings along x");
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1], \"faces\": {\"xmin\": "
            "\"periodic\"}}, " WATER "}",
            "periodic");
    /* A face that is no_slip moves within its plane, along either axis of it. */
    static const char *const faces[] = {"\"xmin\": [0, 1, 0]", "\"xmin\": [0, 0, 1]", "\"zmax\": [1, 0, 0]",
                                        "\"ymin\": [0, 0, -1]"};
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++)
        for (int slips = 0; slips < 2; slips++) {
            char text[512];
            (void)snprintf(
                text, sizeof text,
                "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1], \"faces\": {\"%.4s\": "
                "\"%s\"}, \"face_velocity\": {%s}}, " WATER ", \"fluid\": [{\"shape\": \"box\", \"low\": "
                "[0, 0, 0], \"high\": [1, 1, 1]}]}",
                faces[i] + 1, slips ? "free_slip" : "no_slip", faces[i]);
            if (slips)
                refused(text, "may move within its plane");
            else
                kf_particle_scene_free(parse(text));
        }
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1]}, \"material\": {\"density\": "
            "1, \"sound_speed\": 1, "
            "\"law\": \"bingam\"}}",
            "bingham");
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1]}, \"material\": {\"density\": "
            "1, \"sound_speed\": 1, "
            "\"law\": \"bingham\", \"viscosity\": 1}}",
            "yield_stress");
    refused("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1]}, " WATER
            ", \"fluid\": [{\"shape\": \"polygon\", \"polygon\": [[0,0],[1,0],[1,1]], \"depth\": 1}]}",
            "terrain");
}

/* A key that nothing reads would mislead its writer, so it is refused: a key of another law or branch or
 * of another kind of terrain, a second measurement of one gauge, a second gauge of one name. */
static void keys_that_nothing_reads_are_refused(void **state) {
    (void)state;
#define POOL(more)                                                                                           \
    "{\"particles\": {\"spacing\": 0.1, \"dimensions\": 2}, \"box\": {\"size\": [2, 1]}, \"gravity\": [0, "  \
    "-10], "                                                                                                 \
    "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 0.5]}], " more "}"
#define OF(law, more)                                                                                        \
    POOL("\"material\": {\"density\": 1000, \"law\": \"" law "\", \"viscosity\": 1, " more "}")
    refused(OF("newtonian", "\"cohesion\": 4"),
            "material.cohesion: is for the law drucker_prager; remove the key");
    refused(OF("newtonian", "\"exponent\": 0.5"), "material.exponent: is for other laws than newtonian");
    refused(OF("newtonian", "\"yield_stress\": 5"), "material.yield_stress: is for the laws bingham");
    refused(OF("newtonian", "\"shear_speed\": 0.5"), "material.shear_speed: is for the branch elastic");
    refused(OF("bingham", "\"yield_stress\": 5, \"mu_s\": 0.4"), "material.mu_s: is for the law mu_i");
    refused(OF("bingham", "\"yield_stress\": 5, \"growth\": 9"),
            "material.growth: is for the branch papanastasiou");
    refused(OF("mu_i", "\"mu_s\": 0.4, \"friction_angle\": 9"), "material.friction_angle: is for the law");
    refused(
        POOL(WATER
             ", \"gauges\": [{\"name\": \"a\", \"height\": [1]}, {\"name\": \"a\", \"pressure\": [1, 0]}]"),
        "gauges[1].name: 'a' is the name of gauges[0], too");
    refused(POOL(WATER ", \"gauges\": [{\"name\": \"a\", \"height\": [1], \"pressure\": [1, 0]}]"),
            "gauges[0]: give \"height\" or \"pressure\", not both");
    refused(POOL(WATER ", \"gauges\": [{\"name\": \"\", \"height\": [1]}]"),
            "gauges[0].name: 1 to 23 characters");
    refused(POOL(WATER ", \"obstacles\": [{\"shape\": \"box\", \"low\": [1, 0], \"high\": [1.2, 0.5], "
                       "\"velocity\": [1, 0]}]"),
            "obstacles[0].velocity: is for fluid: obstacles rest");
    refused(POOL(WATER ", \"run\": {\"time\": 1, \"windows\": [0, 5]}"),
            "run.windows: 5 s is not before run.time, 1 s");
    refused("{\"particles\": {\"spacing\": 0.1, \"dimensions\": 2}, \"box\": {\"size\": [2, 1], \"faces\": "
            "{\"zmin\": "
            "\"no_slip\"}}, " WATER "}",
            "box.faces.zmin: unknown key");
    refused(POOL(WATER ", \"terrain\": {\"formula\": \"0\", \"cell\": 0.1, \"low\": 1}"),
            "terrain.low: is for a \"picture\"");
}

/* A text of a few letters that asks for billions is refused before any of its places is computed. */
static void claims_are_looked_at_first(void **state) {
    (void)state;
    refused("{\"particles\": {\"spacing\": 0.05}, \"box\": {\"size\": [150, 150, 75]}, " WATER
            ", \"fluid\": [{\"shape\": \"box\", \"low\": [43, 43, 2], \"high\": [107, 107, 66]}]}",
            "2.1e+09 particles");
    refused("{\"particles\": {\"spacing\": 0.01}, \"box\": {\"size\": [150, 150, 75]}, " WATER
            ", \"fluid\": [{\"shape\": \"box\", \"low\": [1, 1, 1], \"high\": [2, 2, 2]}]}",
            "places for particles");
}

static double memory_of(const void *context) {
    return *(const double *)context;
}

/* Opens a scene for devices of this memory. */
static kf_status parse_for(double memory, const char *text, kf_particle_scene **scene, kf_error *error) {
    const kf_particle_options options = {.memory = memory_of, .memory_context = &memory};
    *error = (kf_error){KF_OK, ""};
    return kf_particle_scene_parse("test.json", text, &options, scene, error);
}

/* Scenes of billions of places, whose particles are known only from a look at the columns, are refused
 * before any is placed: a box, a ball, snow on a slope, an obstacle beside a drop of fluid, and layers of
 * walls. */
static void what_does_not_fit_is_not_placed(void **state) {
    (void)state;
#define VAST(spacing, faces, shapes)                                                                         \
    "{\"particles\": {\"spacing\": " spacing "}, \"box\": {\"size\": [150, 150, 75]" faces "}, " WATER       \
    ", \"fluid\": [{\"shape\": \"box\", \"low\": [1, 1, 1], \"high\": [2, 2, 2]}" shapes "]"
    static const struct {
        const char *text;
        double particles;
    } scenes[] = {
        {VAST("0.1", "", ", {\"shape\": \"box\", \"low\": [43, 43, 2], \"high\": [107, 107, 66]}") "}",
         2.62e8},
        {VAST("0.1", "", ", {\"shape\": \"ball\", \"center\": [75, 75, 37], \"radius\": 35}") "}", 1.8e8},
        {VAST("0.1", "",
              "") ", \"obstacles\": [{\"shape\": \"box\", \"low\": [0, 50, 0], \"high\": [150, 60, 75]}]}",
         1.12e8},
        {VAST("0.1", ", \"faces\": {\"zmin\": \"dummies\", \"zmax\": \"dummies\"}",
              ", {\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [150, 150, 2]}") "}",
         5.85e7},
        {VAST("0.1", "",
              ", {\"shape\": \"polygon\", \"polygon\": [[10, 10], [140, 10], [140, 140], [10, 140]], "
              "\"depth\": 4}") ", \"terrain\": {\"formula\": \"10 + 0.2 * x\", \"cell\": 1}}",
         6.76e7},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        kf_particle_scene *scene = NULL;
        kf_error error;
        double told = 0.0;
        assert_int_equal(
            parse_for(0.6 * KF_PARTICLE_LEAST_BYTES * scenes[i].particles, scenes[i].text, &scene, &error),
            KF_BAD_INPUT);
        if (sscanf(error.message, "test.json: about %lg particles, which take", &told) != 1)
            fail_msg("%zu: %s", i, error.message);
        near(told / scenes[i].particles, 1.0, 0.12);
    }
}

/* Where a few columns do not decide, the particles are counted exactly. */
static void room_is_exact(void **state) {
    (void)state;
    static const char text[] =
        "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [30, 30, 30]}, " WATER
        ", \"fluid\": [{\"shape\": \"box\", \"low\": [1, 1, 1], \"high\": [23, 23, 23]}]}";
    const double particles = 220.0 * 220.0 * 220.0;
    kf_particle_scene *scene = NULL;
    kf_error error;
    assert_int_equal(parse_for(KF_PARTICLE_LEAST_BYTES * (particles - 1.0), text, &scene, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "about 1.06e+07 particles"));
    assert_int_equal(parse_for(KF_PARTICLE_LEAST_BYTES * particles, text, &scene, &error), KF_OK);
    near((double)scene->count, particles, 0.0);
    kf_particle_scene_free(scene);
}

/* Shapes that lie on the ground cost no look at the air above them. A deep shape does not evade the bound. */
static void ground_costs_its_layers(void **state) {
    (void)state;
#define ON_GROUND(depth)                                                                                     \
    "{\"particles\": {\"spacing\": 0.003}, \"box\": {\"size\": [1, 1, 150]}, " WATER                         \
    ", \"terrain\": {\"formula\": \"0.5\", \"cell\": 0.5}, \"fluid\": [{\"shape\": \"polygon\", "            \
    "\"polygon\": "                                                                                          \
    "[[0.4, 0.4], [0.5, 0.4], [0.5, 0.5]], \"depth\": " depth "}]}"
    kf_particle_scene *s = parse(ON_GROUND("0.03"));
    assert_in_range(s->count, 5000, 6000);
    kf_particle_scene_free(s);
    refused(ON_GROUND("149"), "places for particles");
}

static void seeds_and_spacings_change_the_hash(void **state) {
    (void)state;
    static const char text[] =
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [2, 1]}, " WATER
        ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}";
    kf_particle_scene *a = parse(text), *b = parse(text), *c = NULL;
    const kf_particle_options options = {.spacings_x = 40, .shake = 0.1};
    kf_error error;
    assert_string_equal(a->hash, b->hash);
    assert_int_equal(kf_particle_scene_parse("test.json", text, &options, &c, &error), KF_OK);
    assert_int_equal(c->count, 400);
    assert_string_not_equal(a->hash, c->hash);
    kf_particle_scene_free(a);
    kf_particle_scene_free(b);
    kf_particle_scene_free(c);
}

/* A zero with a negative sign is the same number. */
static void zeros_have_no_sign(void **state) {
    (void)state;
    char hashes[2][KF_HASH_HEX];
    for (int negative = 0; negative < 2; negative++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [2, 1]}, "
                       "\"gravity\": "
                       "[%s, -9.81], " WATER
                       ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
                       negative ? "-0.0" : "0");
        kf_particle_scene *s = parse(text);
        memcpy(hashes[negative], s->hash, sizeof hashes[negative]);
        kf_particle_scene_free(s);
    }
    assert_string_equal(hashes[0], hashes[1]);
}

/* 'kftune run' asks for the spacings of the tuned scene. Those of the file give exactly that scene, also
 * where they do not fill the box and where layers lie beyond its faces. */
static void own_spacings_again(void **state) {
    (void)state;
#define BESIDE(faces) "\"spacing\": 0.05}, \"box\": {\"size\": [2, 1], \"faces\": {" faces "}}"
    static const char *const boxes[] = {"\"spacing\": 0.03}, \"box\": {\"size\": [2, 1]}",
                                        "\"spacing\": 0.07}, \"box\": {\"size\": [2.1, 1.4]}",
                                        BESIDE("\"xmin\": \"dummies\", \"xmax\": \"dummies\""),
                                        BESIDE("\"xmax\": \"dummies\"")};
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        char text[1024];
        kf_particle_scene *own, *again = NULL;
        kf_error error = {KF_OK, ""};
        (void)snprintf(text, sizeof text,
                       "{\"particles\": {\"dimensions\": 2, %s, " WATER
                       ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
                       boxes[k]);
        own = parse(text);
        const kf_particle_options options = {.spacings_x = (int)own->size[0]};
        if (kf_particle_scene_parse("test.json", text, &options, &again, &error) != KF_OK)
            fail_msg("%s", error.message);
        if (strcmp(own->hash, again->hash) != 0)
            fail_msg("%s: spacings of %.17g and %.17g", boxes[k], own->spacing, again->spacing);
        kf_particle_scene_free(own);
        kf_particle_scene_free(again);
    }
}

/* A million particles take well under a second of processor time, and ten million take seconds. */
static void a_million_is_placed_quickly(void **state) {
    (void)state;
    const clock_t begin = clock();
    kf_particle_scene *s =
        parse("{\"particles\": {\"spacing\": 0.01}, \"box\": {\"size\": [1, 1, 1.2]}, " WATER
              ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1, 1, 1]}]}");
    assert_int_equal(s->count, 1000000);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5.0);
    kf_particle_scene_free(s);
}

int main(void) {
    if (mkdtemp(folder) == NULL) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_filled_to_its_faces),
        cmocka_unit_test(a_ball_has_its_volume),
        cmocka_unit_test(a_body_moves_and_turns),
        cmocka_unit_test(obstacles_and_layers_are_walls),
        cmocka_unit_test(a_mesh_is_filled_and_must_be_closed),
        cmocka_unit_test(snow_lies_on_a_slope),
        cmocka_unit_test(grids_are_read_from_north_to_south),
        cmocka_unit_test(pictures_have_sixteen_bits),
        cmocka_unit_test(formulas_are_checked),
        cmocka_unit_test(obstacles_end_at_periodic_faces),
        cmocka_unit_test(wrong_scenes_say_what_is_wrong),
        cmocka_unit_test(keys_that_nothing_reads_are_refused),
        cmocka_unit_test(claims_are_looked_at_first),
        cmocka_unit_test(what_does_not_fit_is_not_placed),
        cmocka_unit_test(room_is_exact),
        cmocka_unit_test(ground_costs_its_layers),
        cmocka_unit_test(seeds_and_spacings_change_the_hash),
        cmocka_unit_test(zeros_have_no_sign),
        cmocka_unit_test(own_spacings_again),
        cmocka_unit_test(a_million_is_placed_quickly),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 ? 1 : failed; /* NOLINT(cert-env33-c): the path comes from mkdtemp */
}
