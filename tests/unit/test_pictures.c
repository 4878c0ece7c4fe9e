/* Tests pictures of fields, scenes and surfaces by colours that are known. Faults: a wrong colour, place
 * or side. */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/output/probe_chart.h"
#include "solver/picture/chart.h"
#include "solver/picture/colour_map.h"
#include "solver/picture/field_picture.h"
#include "solver/picture/scene_view.h"
#include "tests/unit/box_mesh.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/png_pixels.h"

static const unsigned char *at(const pixels *p, int x, int y) {
    assert_in_range(x, 0, p->width - 1);
    assert_in_range(y, 0, p->height - 1);
    return p->rgb + 3 * (y * p->width + x);
}

static void expect(const pixels *p, int x, int y, kf_colour wanted) {
    const unsigned char *c = at(p, x, y);
    if (abs(c[0] - wanted.red) > 2 || abs(c[1] - wanted.green) > 2 || abs(c[2] - wanted.blue) > 2)
        fail_msg("(%d, %d) is (%d, %d, %d), not (%d, %d, %d)", x, y, c[0], c[1], c[2], wanted.red,
                 wanted.green, wanted.blue);
}

/* ---- Fields: 36 x 18 nodes are 20 pixels each, the first row of nodes at the bottom ---- */

static const kf_colour ground = {9, 11, 20};

static kf_snapshot fields(int depth) {
    const int nodes[3] = {36, depth > 1 ? depth : 18, depth > 1 ? 18 : 1};
    kf_snapshot s;
    kf_snapshot_of_nodes(&s, nodes, 0.5, 1.0);
    return s;
}

static kf_colour mixed(const double dye[3], double amount) {
    const double share = 1 - exp(-amount), back[3] = {9, 11, 20};
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = back[i] + (255 * dye[i] - back[i]) * share;
    return (kf_colour){(unsigned char)lround(c[0]), (unsigned char)lround(c[1]), (unsigned char)lround(c[2])};
}

/* Expects the colour at a pixel of the plane, inside axes, title and scale. */
static void expect_in_plane(const pixels *p, int x, int y, kf_colour colour) {
    expect(p, KF_FIELD_LEFT + x, KF_FIELD_TOP + y, colour);
}

/* Expects ink in each margin: the title above, the axes to the left and below, and a scale to the right. */
static void expect_caption(const pixels *p, bool scale) {
    const struct {
        int x, y, width, height;
        bool there;
    } margins[] = {{KF_FIELD_LEFT, 4, 300, 24, true},
                   {0, KF_FIELD_TOP, KF_FIELD_LEFT - 8, 360, true},
                   {KF_FIELD_LEFT, KF_FIELD_TOP + 370, 700, 20, true},
                   {KF_FIELD_LEFT + 740, KF_FIELD_TOP, 100, 360, scale}};
    for (size_t m = 0; m < sizeof margins / sizeof *margins; m++) {
        int dark = 0;
        for (int y = margins[m].y; y < margins[m].y + margins[m].height; y++)
            for (int x = margins[m].x; x < margins[m].x + margins[m].width; x++)
                dark += p->rgb[3 * ((size_t)y * (size_t)p->width + (size_t)x)] < 128;
        assert_int_equal(dark > 20, margins[m].there);
    }
}

static void dyes_have_their_colours(void **state) {
    (void)state;
    static const double colours[3][3] = {{1.0, 0.87, 0.66}, {0.35, 0.75, 1.0}, {1.0, 0.42, 0.55}};
    kf_error error = {KF_OK, ""};
    bool written = true;
    kf_snapshot s = fields(1);
    (void)kf_snapshot_add(&s, "velocity", "m/s", 3);
    assert_int_equal(kf_dye_picture(in_scratch("dye.png"), "ink", &s, &written, &error), KF_OK);
    assert_false(written);
    assert_int_not_equal(access(in_scratch("dye.png"), F_OK), 0);
    float *solid = kf_snapshot_add(&s, "solid", "1", 1);
    for (size_t i = 0; i < s.count; i++)
        solid[i] = i % 36 >= 30 ? 1.0F : 0.0F;
    static const char *const names[3] = {"ink", "milk", "wine"};
    for (int d = 0; d < 3; d++) {
        float *dye = kf_snapshot_add(&s, names[d], "1", 1);
        for (size_t i = 0; i < s.count; i++)
            dye[i] = (int)(i % 36) / 9 == d && i / 36 >= 12 ? 0.4F : 0.0F;
    }
    assert_int_equal(kf_dye_picture(in_scratch("dye.png"), "ink", &s, &written, &error), KF_OK);
    assert_true(written);
    pixels p = read_png(in_scratch("dye.png"));
    assert_true(p.width > KF_FIELD_LEFT + 720);
    assert_true(p.height > KF_FIELD_TOP + 360);
    for (int d = 0; d < 3; d++) {
        expect_in_plane(&p, 180 * d + 90, 60, mixed(colours[d], 2.5 * 0.4)); /* the upper third */
        expect_in_plane(&p, 180 * d + 90, 200, ground);
    }
    expect_in_plane(&p, 660, 60, (kf_colour){120, 124, 134});
    expect_caption(&p, false);
    free(p.rgb);
    kf_snapshot_free(&s);

    /* Three dimensions: values are summed along y, over a depth of ten. */
    s = fields(5);
    float *dye = kf_snapshot_add(&s, "smoke", "1", 1);
    for (size_t i = 0; i < s.count; i++)
        dye[i] = i % 36 < 18 && i / 180 >= 9 ? 0.01F * (float)(i / 36 % 5) : 0.0F;
    assert_int_equal(kf_dye_picture(in_scratch("dye.png"), "ink", &s, &written, &error), KF_OK);
    p = read_png(in_scratch("dye.png"));
    assert_true(p.height > KF_FIELD_TOP + 360);
    expect_in_plane(&p, 100, 50, mixed(colours[0], 10.0 / 5 * 0.1));
    expect_in_plane(&p, 100, 310, ground);
    expect_in_plane(&p, 600, 50, ground);
    free(p.rgb);
    kf_snapshot_free(&s);
}

static void speeds_have_a_round_scale(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int depth = 1; depth <= 5; depth += 4) {
        kf_snapshot s = fields(depth);
        float *u = kf_snapshot_add(&s, "velocity", "m/s", 3);
        for (size_t i = 0; i < s.count; i++) {
            const bool upper = i / (36 * (size_t)depth) >= 9;
            const bool middle = depth == 1 || i / 36 % 5 == 2; /* of y */
            u[3 * i] = upper ? 3.0F : 0.6F;
            u[3 * i + 2] = upper ? -4.0F : 0.8F;
            u[3 * i + 1] = middle ? 0.0F : 100.0F;
        }
        assert_int_equal(kf_speed_picture(in_scratch("speed.png"), "ink", &s, &error), KF_OK);
        const pixels p = read_png(in_scratch("speed.png"));
        expect_in_plane(&p, 300, 80, kf_colour_map(1.0)); /* 5 of 5 m/s */
        expect_in_plane(&p, 300, 280, kf_colour_map(0.2));
        expect_caption(&p, true);
        expect_in_plane(
            &p, 300, 180,
            kf_colour_map(0.6 - 0.8 * 0.5 / 20)); /* between nodes: half a pixel below the middle */
        free(p.rgb);
        for (size_t i = 0; i < s.count; i++) /* 6 m/s is on a scale up to 10 */
            u[3 * i] = 6.0F, u[3 * i + 1] = u[3 * i + 2] = 0.0F;
        assert_int_equal(kf_speed_picture(in_scratch("speed.png"), "ink", &s, &error), KF_OK);
        const pixels q = read_png(in_scratch("speed.png"));
        expect_in_plane(&q, 300, 80, kf_colour_map(0.6));
        free(q.rgb);
        kf_snapshot_free(&s);
    }
}

static void colours_of_the_map(void **state) {
    (void)state;
    const kf_colour low = kf_colour_map(-1.0), high = kf_colour_map(7.0), half = kf_colour_map(0.55);
    assert_true(low.red == 68 && low.green == 1 && low.blue == 84);
    assert_true(high.red == 253 && high.green == 231 && high.blue == 37);
    assert_true(half.red == 34 && half.green == 157 &&
                half.blue == 136); /* between the sixth and the seventh */
    assert_true(kf_colour_map((double)NAN).green == 0);
    static const double tops[][2] = {{0.97, 1},        {1, 1},   {1.1, 1.2}, {13, 15},
                                     {0.0021, 0.0025}, {61, 80}, {99, 100}};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        assert_true(fabs(kf_scale_top(tops[i][0]) / tops[i][1] - 1) < 1e-12);
}

/* ---- Scenes ---- */

static kf_scene *boxed(const double low[3], const double high[3]) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    *scene = (kf_scene){.nodes = {40, 20, 20}, .cell_size = 0.1, .time_step = 0.5, .viscosity = 0.02};
    scene->mesh = box_mesh(low, high);
    memcpy(scene->solid_low, low, sizeof scene->solid_low);
    memcpy(scene->solid_high, high, sizeof scene->solid_high);
    for (int f = 0; f < KF_FACES; f++)
        scene->faces[f] = KF_FREE_SLIP;
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = 0.05;
    return scene;
}

/* Counts the pixels of the picture that are not background, with their first moments. */
static long coloured(const pixels *p, const kf_colour *one, double centre[2]) {
    long count = 0;
    centre[0] = centre[1] = 0;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const unsigned char *c = at(p, x, y);
            if (abs(c[0] - one->red) + abs(c[1] - one->green) + abs(c[2] - one->blue) > 3) continue;
            count++;
            centre[0] += x, centre[1] += y;
        }
    centre[0] /= (double)count;
    centre[1] /= (double)count;
    return count;
}

/* The usual view is turned by 0.55 about z, from 0.42 above. A face's brightness is 0.35 + 0.65 n . light. */
static void the_domain_and_its_solid(void **state) {
    (void)state;
    static const double low[3] = {10, 5, 2}, high[3] = {20, 13, 9};
    const double yaw = -0.55, pitch = 0.42;
    const double right[3] = {cos(yaw), -sin(yaw), 0},
                 up[3] = {sin(pitch) * sin(yaw), sin(pitch) * cos(yaw), cos(pitch)},
                 eye[3] = {-cos(pitch) * sin(yaw), -cos(pitch) * cos(yaw), sin(pitch)},
                 light[3] = {-0.45, -0.60, 0.66};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = boxed(low, high);
    assert_int_equal(kf_scene_view_write(scene, false, in_scratch("scene.png"), &error), KF_OK);
    const pixels p = read_png(in_scratch("scene.png"));
    assert_int_equal(p.width, 1000);
    assert_int_equal(p.height, 560);
    /* The domain, from -1/2 to n - 1/2, lies between margins of 24 pixels. */
    double least[2] = {1e9, 1e9}, most[2] = {-1e9, -1e9};
    for (int c = 0; c < 8; c++) {
        double seen[2] = {0, 0};
        for (int a = 0; a < 3; a++) {
            const double x = c >> a & 1 ? scene->nodes[a] - 0.5 : -0.5;
            seen[0] += right[a] * x, seen[1] += up[a] * x;
        }
        for (int i = 0; i < 2; i++)
            least[i] = fmin(least[i], seen[i]), most[i] = fmax(most[i], seen[i]);
    }
    const double scale = fmin(952 / (most[0] - least[0]), 512 / (most[1] - least[1]));
    const double sides[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    /* Only the faces towards the eye are visible: those at xmax, ymin and zmax. */
    for (int a = 0; a < 3; a++) {
        const double shade = 0.35 + 0.65 * fabs(light[a]);
        const kf_colour colour = {(unsigned char)(86 * shade), (unsigned char)(150 * shade),
                                  (unsigned char)(200 * shade)};
        double centre[2], middle[3], seen[2] = {0, 0};
        const double area = sides[(a + 1) % 3] * sides[(a + 2) % 3] * fabs(eye[a]) * scale * scale;
        for (int i = 0; i < 3; i++) {
            middle[i] = i == a ? (eye[a] > 0 ? high[a] : low[a]) : 0.5 * (low[i] + high[i]);
            seen[0] += right[i] * middle[i], seen[1] += up[i] * middle[i];
        }
        const long count = coloured(&p, &colour, centre);
        if (fabs((double)count / area - 1) > 0.03) fail_msg("axis %d: %ld pixels, not %g", a, count, area);
        const double x = 500 + scale * (seen[0] - 0.5 * (least[0] + most[0])),
                     y = 280 - scale * (seen[1] - 0.5 * (least[1] + most[1]));
        assert_true(fabs(centre[0] - x) < 3 && fabs(centre[1] - y) < 3);
    }
    free(p.rgb);
    /* The view is close to the solid, with arrows of the wind. */
    assert_int_equal(kf_scene_view_write(scene, true, in_scratch("close.png"), &error), KF_OK);
    const pixels close = read_png(in_scratch("close.png"));
    const kf_colour blue = {31, 90, 180}, top = {(unsigned char)(86 * (0.35 + 0.65 * 0.66)),
                                                 (unsigned char)(150 * (0.35 + 0.65 * 0.66)),
                                                 (unsigned char)(200 * (0.35 + 0.65 * 0.66))};
    double centre[2], arrows[2];
    assert_true((double)coloured(&close, &top, centre) > 1.5 * sides[0] * sides[1] * eye[2] * scale * scale);
    assert_true(coloured(&close, &blue, arrows) > 200 && arrows[0] < centre[0]);
    scene->initial_velocity[0] = 0;
    free(close.rgb);
    assert_int_equal(kf_scene_view_write(scene, true, in_scratch("close.png"), &error), KF_OK);
    const pixels still = read_png(in_scratch("close.png"));
    assert_true(coloured(&still, &blue, arrows) == 0);
    free(still.rgb);
    /* Whatever the number of digits of its sizes, the caption ends inside the picture. */
    scene->cell_size = 1234.5;
    assert_int_equal(kf_scene_view_write(scene, true, in_scratch("long.png"), &error), KF_OK);
    const pixels caption = read_png(in_scratch("long.png"));
    for (int y = 480; y < caption.height; y++)
        for (int x = caption.width - 20; x < caption.width; x++)
            assert_int_equal(caption.rgb[3 * (y * caption.width + x)], 255);
    free(caption.rgb);
    kf_scene_free(scene);
}

/* The taps of a cut have a colour for each side of the solid, because both sides have the same x. */
static void taps_of_both_sides(void **state) {
    (void)state;
    double points[5][3] = {{0, 0, 0}, {1, 0, 1}, {2, 0, 1}, {1, 0, -1}, {3, 0, 0}},
           normals[5][3] = {{-1, 0, 0}, {0, 0, 1}, {0, 0.6, 0.8}, {0, 0, -1}, {1, 0, 0}};
    const kf_probe probe = {
        .name = "taps", .kind = KF_PROBE_SURFACE, .count = 5, .points = points, .normals = normals};
    kf_probe_curve curve[5];
    for (size_t i = 0; i < 5; i++)
        curve[i] = (kf_probe_curve){points[i][0], {0, 0, 0, 0.5 - 0.2 * (double)i}};
    kf_problem problem = {.name = "body"};
    const kf_plan plan = {.problem = &problem};
    kf_probe_report report = {.pressure = "pressure_coefficient", .pressure_unit = "1"};
    kf_error error;
    kf_copy_text(report.picture, sizeof report.picture, in_scratch("taps.png"));
    double centre[2];
    long area[4], all;
    for (int turned = 0; turned < 2; turned++) {
        assert_int_equal(kf_probe_chart(&plan, &probe, &report, curve, 5, &error), KF_OK);
        const pixels p = read_png(report.picture);
        all = 0;
        for (int c = 0; c < 4; c++)
            all += area[c] = coloured(&p, &kf_chart_lines[c], centre);
        free(p.rgb);
        assert_true(area[0] > 60 && area[1] > 30 && area[3] > 60 && area[2] == 0 && all < 20000);
        for (int i = 0; i < 5; i++) { /* a cut across z: its sides look along y */
            normals[i][1] = normals[i][2];
            normals[i][2] = 0;
        }
    }
}

/* A box's surface is seen from ahead, the side and above. The visible faces show their pressure, with a
 * scale beside them. */
static void a_surface_from_all_sides(void **state) {
    (void)state;
    static const double low[3] = {10, 5, 2}, high[3] = {20, 13, 9};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = boxed(low, high);
    static const kf_viewpoint views[] = {{.azimuth = 0, .zoom = 1},
                                         {.azimuth = 180, .zoom = 1},
                                         {.azimuth = 90, .zoom = 1},
                                         {.azimuth = -90, .zoom = 1},
                                         {.azimuth = 0, .elevation = 80, .zoom = 1}};
    static const int axes[] = {0, 0, 1, 1, 2};
    for (int v = 0; v < 5; v++) {
        /* Cp goes from -1 to 1 along the line of sight, so that the nearest face has one of the ends. */
        kf_snapshot s;
        uint32_t triangles[36];
        kf_snapshot_of_particles(&s, 8);
        float *place = kf_snapshot_add(&s, "position", "m", 3),
              *cp = kf_snapshot_add(&s, "pressure_coefficient", "1", 1);
        for (size_t i = 0; i < 8; i++) {
            for (size_t a = 0; a < 3; a++)
                place[3 * i + a] = (float)((scene->mesh.vertices[3 * i + a] + 0.5) * 0.1);
            cp[i] = i >> axes[v] & 1 ? 1.0F : -1.0F;
        }
        memcpy(triangles, scene->mesh.triangles, sizeof triangles);
        s.triangles = triangles;
        s.triangle_count = 12;
        assert_int_equal(kf_surface_view_write(scene, &s, KF_SURFACE_PRESSURE, &views[v], -2.0, 2.0,
                                               in_scratch("surface.png"), &error),
                         KF_OK);
        const pixels p = read_png(in_scratch("surface.png"));
        const unsigned char *c = at(&p, (1000 - 130) / 2, v == 4 ? 300 : 280);
        const kf_colour ends[2] = {kf_colour_map(0.25), kf_colour_map(0.75)};
        /* From ahead -x is visible, from behind +x, from above +z. The side 90 is left when looking along
         * the wind, or right of it, and -90 is the other. */
        const int end = v == 0 ? 0 : v == 1 ? 1 : v == 4 ? 1 : v == 2 ? 0 : 1;
        const double bright = v == 4 ? 0.6 + 0.4 * sin(80 * acos(-1.0) / 180) : 1.0;
        const kf_colour wanted = {(unsigned char)(ends[end].red * bright),
                                  (unsigned char)(ends[end].green * bright),
                                  (unsigned char)(ends[end].blue * bright)};
        if (abs(c[0] - wanted.red) + abs(c[1] - wanted.green) + abs(c[2] - wanted.blue) > 6)
            fail_msg("view %d: (%d, %d, %d)", v, c[0], c[1], c[2]);
        /* The picture is as large as the margins allow: its width and height are those of the sides that
         * are visible. */
        if (v < 4) {
            const double wide = axes[v] == 0 ? 8 : 10, scale = fmin((952.0 - 130) / wide, 512.0 / 7);
            double centre[2];
            const long count = coloured(&p, &wanted, centre);
            assert_true(fabs((double)count / (wide * 7 * scale * scale) - 1) < 0.02);
            assert_true(fabs(centre[0] - 435) < 3 && fabs(centre[1] - 280) < 3);
        }
        /* The scale is high at its top and low at its bottom. */
        expect(&p, 1000 - 130 + 10, 3 * 24 + 1, kf_colour_map(1.0));
        expect(&p, 1000 - 130 + 10, 3 * 24 + 440 - 3, kf_colour_map(0.0));
        free(p.rgb);
        kf_snapshot_free(&s);
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dyes_have_their_colours), cmocka_unit_test(speeds_have_a_round_scale),
        cmocka_unit_test(colours_of_the_map),      cmocka_unit_test(the_domain_and_its_solid),
        cmocka_unit_test(taps_of_both_sides),      cmocka_unit_test(a_surface_from_all_sides),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
