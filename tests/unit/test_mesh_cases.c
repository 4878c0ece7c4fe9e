/* Meshes of the kinds that people elsewhere report as read wrongly, by the numbers of the collection that
 * they were first tried in; each with the number that is right. */
#include "tests/unit/mesh_heap.h"

#include "base/util/program.h"
#include "scene/document.h"
#include "scene/particles.h"
#include "scene/placement.h"

static const double UNIT[3] = {1, 1, 1}, ORIGIN[3] = {0, 0, 0};

/* A scene about a mesh with --up z --wind +x --road no, or as said. */
static kf_scene *open_tunnel(const char *path, const kf_placement *said) {
    static const kf_placement usual = {
        .up = {2, 1}, .wind = {0, 1}, .road = KF_ROAD_NO, .reynolds = 100, .cells = 10};
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_scene_open_placed(path, said != NULL ? said : &usual, NULL, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    return scene;
}

static double front_of(const char *path, const kf_placement *said) {
    kf_scene *scene = open_tunnel(path, said);
    const double area = scene->frontal_area * scene->cell_size * scene->cell_size;
    kf_scene_free(scene);
    return area;
}

static void assert_same_scene(const char *path, const char *other) {
    kf_scene *scene = open_tunnel(path, NULL), *same = open_tunnel(other, NULL);
    assert_string_equal(scene->hash, same->hash); /* sample for sample, so force for force */
    assert_int_equal(scene->open_edges, same->open_edges);
    kf_scene_free(scene);
    kf_scene_free(same);
}

static void check_box(const char *path, double x, double y, double z) {
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(path, &notes);
    const kf_box box = {{0, 0, 0}, {x, y, z}};
    assert_solid(path, &mesh, x * y * z, 2 * (x * y + y * z + z * x), &box);
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
}

/* A surface that stands in its file with both its sides, several times, or in part, is the surface. */
static void test_2_double_sided(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    heap_ball(&heap, 0.5, 12);
    const size_t once = heap.mesh.triangle_count;
    const char *plain = write_obj("plain.obj", &heap.mesh);
    for (int kind = 0; kind < 4; kind++) {
        heap.mesh.triangle_count = once;
        for (int copy = 0; copy <= kind; copy++)
            repeat_triangles(&heap, kind == 3 ? once / 3 : once, copy % 2 == 0);
        assert_same_scene(write_obj("double.obj", &heap.mesh), plain);
    }
    kf_mesh_free(&heap.mesh);
}

/* A ball has its own mass as a free solid, and a sheet with both its sides none. */
static void test_2_double_sided_free(void **state) {
    (void)state;
    static const char *const free_scene = "{\"solid\":{\"mesh\":\"%s\",\"position\":[2,2,2],\"motion\":{"
                                          "\"free\":true,\"density\":2,\"gravity\":[0,0,-1]}},"
                                          "\"domain\":{\"cells\":[32,32,32],\"cell_size\":0.125},"
                                          "\"boundaries\":{\"xmin\":\"periodic\",\"xmax\":"
                                          "\"periodic\",\"ymin\":\"periodic\",\"ymax\":\"periodic\",\"zmin\":"
                                          "\"periodic\",\"zmax\":\"periodic\"},"
                                          "\"flow\":{\"speed\":1,\"viscosity\":0.01,\"reference_length\":1}}";
    for (int sheet = 0; sheet < 2; sheet++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        char text[1000];
        kf_scene *scene = NULL;
        kf_error error = {KF_OK, ""};
        heap_ball(&heap, 0.5, 16);
        if (sheet == 1) heap.mesh.triangle_count /= 2;
        repeat_triangles(&heap, heap.mesh.triangle_count, true);
        (void)write_obj("free.obj", &heap.mesh);
        (void)snprintf(text, sizeof text, free_scene, "free.obj");
        const kf_status status = kf_scene_open(write_text("free.json", text), NULL, &scene, &error);
        assert_int_equal(status, sheet == 1 ? KF_BAD_INPUT : KF_OK);
        if (sheet == 1) assert_holds(error.message, "solid.motion.free");
        if (scene != NULL) assert_near_to(scene->motion.excess_mass / 512, acos(-1.0) / 6, 0.02);
        for (int a = 0; a < 3 && scene != NULL; a++)
            assert_near_to(scene->motion.center[a], 15.5, 1e-6);
        kf_scene_free(scene);
        kf_mesh_free(&heap.mesh);
    }
}

/* Coordinates of maps keep their digits: the same scene as at the origin, but for what the decimals round. */
static void test_3_georeferenced(void **state) {
    (void)state;
    static const double places[3][3] = {{500000, 5400000, 120}, {2600000, 1200000, 400}, {-1e7, 1e8, 5e5}};
    kf_mesh_builder heap = {.vertex_capacity = 0};
    heap_ball(&heap, 0.5, 12);
    const double area = front_of(write_obj("near.obj", &heap.mesh), NULL);
    kf_mesh near_by;
    kf_text notes = {0};
    near_by = read_mesh(test_path("near.obj"), &notes);
    for (int p = 0; p < 3; p++) {
        static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        kf_mesh_transform(&heap.mesh, unit, places[p]);
        const char *path = write_obj("far.obj", &heap.mesh);
        kf_mesh far = read_mesh(path, &notes);
        assert_int_equal(far.triangle_count, near_by.triangle_count);
        assert_near_to(front_of(path, NULL), area, 1e-6);
        kf_mesh_free(&far);
        kf_mesh_transform(&heap.mesh, unit, (double[3]){-places[p][0], -places[p][1], -places[p][2]});
    }
    assert_null(notes.text);
    kf_mesh_free(&near_by);
    kf_mesh_free(&heap.mesh);
}

/* A file whose numbers are of single precision has lost something, which is said, or is too much. */
static void test_3_single_precision(void **state) {
    (void)state;
    static const struct {
        float at;
        const char *said, *refused;
    } cases[] = {{0, NULL, NULL}, {500, "in steps of", NULL}, {5.4e6F, NULL, "its shape is lost"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        char stl[84 + 12 * 50] = {0};
        kf_text notes = {0};
        const uint32_t count = 12;
        (void)heap_box(&heap, ORIGIN, UNIT);
        memcpy(stl + 80, &count, 4);
        for (size_t c = 0; c < 36; c++)
            for (size_t a = 0; a < 3; a++) {
                const float place = (float)heap.mesh.vertices[3 * heap.mesh.triangles[c] + a] + cases[i].at;
                memcpy(stl + 84 + c / 3 * 50 + 12 + c % 3 * 12 + 4 * a, &place, 4);
            }
        const char *path = write_bytes("single.stl", stl, sizeof stl);
        if (cases[i].refused != NULL) {
            refuse_mesh(path, cases[i].refused);
        } else {
            kf_mesh mesh = read_mesh(path, &notes);
            if (cases[i].said != NULL) assert_holds(notes.text, cases[i].said);
            assert_int_equal(notes.text == NULL, cases[i].said == NULL);
            kf_mesh_free(&mesh);
        }
        kf_text_free(&notes);
        kf_mesh_free(&heap.mesh);
    }
}

#define PRISM                                                                                                \
    "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv "  \
    "0 2 "                                                                                                   \
    "1\nf 6 5 4 3 2 1\nf 7 8 9 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 " \
    "7 12\n"
/* An L-shaped prism seen on its L. */
static void test_4_concave(void **state) {
    (void)state;
    const kf_placement said = {.up = {1, 1}, .wind = {2, 1}, .road = KF_ROAD_NO, .cells = 4};
    const char *path = write_text("l.obj", PRISM);
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(path, &notes);
    assert_near_to(front_of(path, &said), 3.0, 1e-6);
    assert_solid(path, &mesh, 3.0, 2 * 3.0 + 8.0, NULL);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
}

/* A polygon that crosses itself is told, and refused where it spoils the surface. */
static void test_4_crossed(void **state) {
    (void)state;
    kf_text notes = {0};
    refuse_mesh(write_text("bow.obj", "v 0 0 0\nv 2 2 0\nv 2 0 0\nv 0 2 0\nf 1 2 3 4\n"), "cross themselves");
    refuse_mesh(write_text("star.obj", "v 0 3 0\nv 2 -3 0\nv -3 1 0\nv 3 1 0\nv -2 -3 0\nf 1 2 3 4 5\n"),
                "the first is face 1 ");
    kf_mesh mesh =
        read_mesh(write_text("small.obj", PRISM
                             "v 0.01 0.01 9\nv 0.02 0.02 9\nv 0.02 0.01 9\nv 0.01 0.02 9\nf 13 14 15 16\n"),
                  &notes);
    assert_holds(notes.text, "1 of its faces cross themselves, the first is face 9");
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
}

/* A vertex that no face uses, in each format that can have one. */
static void test_5_unused_vertex(void **state) {
    (void)state;
    static const char *const faces = "4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n";
    char ply[1000];
    (void)snprintf(
        ply, sizeof ply,
        "ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 6\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n2 0 0\n0 1 0\n2 1 0\n"
        "0 0 .5\n2 0 .5\n0 1 .5\n2 1 .5\n100 50 -30\n%s",
        faces);
    check_box(write_text("unused.ply", ply), 2, 1, 0.5);
    kf_mesh_builder heap = {.vertex_capacity = 0};
    const double size[3] = {2, 1, 0.5};
    (void)kf_mesh_add_vertex(&heap, -1e5, 0, 0);
    (void)heap_box(&heap, ORIGIN, size);
    check_box(write_obj("unused.obj", &heap.mesh), 2, 1, 0.5);
    (void)kf_mesh_add_vertex(&heap, 1e5, 0, 0); /* a line of three corners has no area */
    kf_mesh_add_triangle(&heap, 0, 1, (uint32_t)heap.mesh.vertex_count - 1);
    kf_mesh_add_triangle(&heap, 0, 0, 1);
    check_box(write_obj("line.obj", &heap.mesh), 2, 1, 0.5);
    kf_mesh_free(&heap.mesh);
}

/* The frontal area does not depend on the grid, and thin parts have theirs. */
static void test_10_frontal_area(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    (void)heap_box(&heap, ORIGIN, (double[3]){0.005, 0.003, 1});
    const char *rod = write_obj("rod.obj", &heap.mesh);
    kf_mesh_free(&heap.mesh);
    memset(&heap, 0, sizeof heap);
    (void)heap_box(&heap, ORIGIN, (double[3]){0.005, 1, 1});
    const char *plate = write_obj("plate.obj", &heap.mesh);
    kf_mesh_free(&heap.mesh);
    for (int yaw = 0; yaw <= 90; yaw += yaw == 60 ? 29 : yaw == 89 ? 1 : 30) {
        const double angle = yaw * acos(-1.0) / 180, s = sin(angle), c = cos(angle);
        for (int grid = 0; grid < 2; grid++) {
            const kf_placement said = {.up = {2, 1}, .wind = {0, 1}, .road = KF_ROAD_NO, .yaw = yaw};
            const kf_scene_options options = {.nodes = {48 << grid, 24 << grid, 24 << grid}};
            for (int thin = 0; thin < 2; thin++) {
                kf_scene *scene = NULL;
                kf_error error = {KF_OK, ""};
                if (kf_scene_open_placed(thin ? rod : plate, &said, &options, &scene, &error) != KF_OK)
                    fail_msg("%s", error.message);
                assert_near_to(scene->frontal_area * scene->cell_size * scene->cell_size,
                               thin ? 0.003 * c + 0.005 * s : c + 0.005 * s, 1e-6);
                kf_scene_free(scene);
            }
        }
    }
}

/* Triangles without area go and leave no gap; neither does an edge that is cut on one side only. */
static void test_11_closed_by_slivers(void **state) {
    (void)state;
    static const char *const cube =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
    static const char *const five = "f 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    static const char *const sixth[] = {
        "v .5 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 2\nf 1 9 2\n", /* one sliver */
        "v .5 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 2\n",          /* none: an edge cut on one side */
        "v .5 0 0\nv .5 0 0\nf 1 3 4\nf 1 4 9\nf 10 4 2\nf 1 9 2\nf 9 10 2\n", /* with a double corner */
        "v .25 0 0\nv .5 0 0\nv .75 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 10\nf 10 4 11\nf 11 4 2\nf 1 9 2\nf 9 10 "
        "2\nf 10 11 2\n",
        "v .5 0 0\nv .3 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 2\nf 1 10 2\nf 1 9 10\nf 9 2 10\n", /* round a corner of
                                                                                            slivers only */
        "v .33333333333333331 0 0\nv .5 1e-17 0\nf 1 3 4\nf 1 4 9\nf 9 4 10\nf 10 4 2\nf 1 9 2\nf 9 10 2\n",
    };
    for (size_t i = 0; i < sizeof sixth / sizeof *sixth; i++) {
        char text[1000];
        (void)snprintf(text, sizeof text, "%s%s%s", cube, sixth[i], five);
        check_box(write_text("sliver.obj", text), 1, 1, 1);
    }
}

/* Strips of triangles, with and without the mark that begins a new one, as text and as bytes of either order.
 */
static void test_12_strips(void **state) {
    (void)state;
    static const int strip[] = {0, 1, 2, 3, -1, 4, 6, 5, 7, -1, 0, 4, 1, 5, -1,
                                2, 3, 6, 7, -1, 0, 2, 4, 6, -1, 1, 5, 3, 7};
    enum { LENGTH = sizeof strip / sizeof *strip };
    static const char *const forms[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int form = 0; form < 3; form++)
        for (int whole = 0; whole < 2; whole++) {
            char file[2000], *at = file;
            at += snprintf(
                at, 500,
                "ply\r\nformat %s 1.0\r\nCreated by an old program\r\nelement vertex 8\r\nproperty double "
                "x\r\nproperty float64 y\r\n"
                "property double z\r\nproperty uchar red\r\nelement tristrips %d\r\nproperty list int int "
                "vertex_indices\r\nend_header\r\n",
                forms[form], whole ? 1 : 6);
#define PUT(type, value)                                                                                     \
    do {                                                                                                     \
        const type number = (type)(value);                                                                   \
        char bytes[8] = {0};                                                                                 \
        memcpy(bytes, &number, sizeof number);                                                               \
        if (form == 0) at += snprintf(at, 30, "%g ", (double)number);                                        \
        for (size_t b = 0; b < sizeof number && form > 0; b++)                                               \
            *at++ = bytes[form == 1 ? b : sizeof number - 1 - b];                                            \
    } while (0)
            for (int v = 0; v < 8; v++) {
                PUT(double, v & 1 ? 2.0 : 0.0);
                PUT(double, v & 2 ? 1.0 : 0.0);
                PUT(double, v & 4 ? 0.5 : 0.0);
                PUT(unsigned char, 7);
            }
            if (whole) PUT(int32_t, LENGTH);
            for (int i = 0, length = 0; i < LENGTH; i += whole ? 1 : length + 1) {
                for (length = 0; i + length < LENGTH && strip[i + length] >= 0;)
                    length++;
                if (!whole) PUT(int32_t, length);
                for (int k = 0; k < (whole ? 1 : length); k++)
                    PUT(int32_t, strip[i + k]);
            }
            check_box(write_bytes("strips.ply", file, (size_t)(at - file)), 2, 1, 0.5);
        }
}

/* Other programs write this behind a corner's strokes, and the ends of lines of old Macs (35). */
static void test_13_strokes(void **state) {
    (void)state;
    static const char *const corners[] = {"%d//", "%d/", "%d/1", "%d//1", "%d/1/", "%d/1/1"};
    static const int quads[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                    {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    for (int c = 0; c < 6; c++)
        for (int ends = 0; ends < 3; ends++) {
            kf_text obj = {0};
            kf_text_append(&obj,
                           "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 2 1 0\nv 0 0 .5\nv 2 0 .5\nv 0 1 .5\nv 2 1 .5\nvt 0 "
                           "0\nvn 0 0 1\n");
            for (int q = 0; q < 6; q++) {
                kf_text_append(&obj, "f");
                for (int k = 0; k < 4; k++) {
                    kf_text_append(&obj, " ");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                    kf_text_append(&obj, corners[c], quads[q][k]);
#pragma GCC diagnostic pop
                }
                kf_text_append(&obj, "\n");
            }
            for (char *at = obj.text; ends > 0 && *at != '\0'; at++)
                if (*at == '\n') *at = ends == 1 ? '\r' : '\f';
            if (ends == 1) check_box(write_text("mac.obj", obj.text), 2, 1, 0.5);
            if (ends == 0) check_box(write_text("strokes.obj", obj.text), 2, 1, 0.5);
            if (ends == 2) refuse_mesh(write_text("feeds.obj", obj.text), "feeds.obj:1");
            kf_text_free(&obj);
        }
}

/* The box of 2 x 1 x 1/2 as STL text, its words and ends of lines as asked; or as bytes. */
static void append_facets(kf_text *text, const char *const words[5], const char *end) {
    kf_mesh_builder heap = {.vertex_capacity = 0};
    (void)heap_box(&heap, ORIGIN, (double[3]){2, 1, 0.5});
    for (size_t t = 0; t < 12; t++) {
        kf_text_append(text, "%s nan 0 0%s%s%s", words[0], end, words[1], end);
        for (size_t i = 0; i < 3; i++) {
            const double *p = heap.mesh.vertices + 3 * (size_t)heap.mesh.triangles[3 * t + i];
            kf_text_append(text, "\t%s %.9e %g %g%s", words[2], p[0], p[1], p[2], end);
        }
        kf_text_append(text, "%s%s%s%s", words[3], end, words[4], end);
    }
    kf_mesh_free(&heap.mesh);
}

static void test_14_stl_text(void **state) {
    (void)state;
    static const char *const lower[] = {"facet normal", "outer loop", "vertex", "endloop", "endfacet"},
                             *const upper[] = {"FACET NORMAL", "OUTER LOOP", "VERTEX", "ENDLOOP", "ENDFACET"};
    static const struct {
        const char *before, *after, *end;
    } ways[] = {{"solid part\n", "endsolid part\n", "\n"},
                {"\n\n  solid part\n", "endsolid\n", "\n"},
                {"\xef\xbb\xbfSOLID PART of a facet\r\n", "ENDSOLID PART\r\n", "\r\n"},
                {"solid\r", "endsolid\r", "\r"},
                {"solid in one line ", "endsolid in one line", " "},
                {"solid empty\nendsolid empty\nsolid facet\n", "", "\n"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int shout = 0; shout < 2; shout++) {
            kf_text text = {0};
            kf_text_append(&text, "%s", ways[w].before);
            append_facets(&text, shout ? upper : lower, ways[w].end);
            kf_text_append(&text, "%s", ways[w].after);
            check_box(write_text("text.stl", text.text), 2, 1, 0.5);
            kf_text_free(&text);
        }
    refuse_mesh(write_text("cut.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0"),
                "cut.stl:4: 'the end'");
    refuse_mesh(write_text("two.stl",
                           "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n"),
                "two.stl:6: 'endloop' where 'vertex X Y Z', three of them, should be");
    refuse_mesh(write_text("nan.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 nan 0\n"),
                "nan.stl:4");
    refuse_mesh(write_text("other.stl", "solid x\nvertices 0 0 0\n"),
                "other.stl:2: 'vertices' where 'facet'");
    refuse_mesh(write_text("none.stl", "solid x\nendsolid x\n"), "holds no faces");
}

static void test_14_stl_bytes(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    char stl[84 + 12 * 50 + 100];
    const uint32_t count = 12;
    (void)heap_box(&heap, ORIGIN, (double[3]){2, 1, 0.5});
    for (int solid = 0; solid < 2; solid++)
        for (int behind = 0; behind <= 100; behind += 1 + behind * 6) {
            memset(stl, behind == 43 ? 'x' : 0, sizeof stl);
            memset(stl, ' ', 80);
            if (solid) memcpy(stl, "solid facet normal", 18);
            memcpy(stl + 80, &count, 4);
            for (size_t c = 0; c < 36; c++)
                for (size_t a = 0; a < 3; a++) {
                    const float place = (float)heap.mesh.vertices[3 * heap.mesh.triangles[c] + a];
                    memcpy(stl + 84 + c / 3 * 50 + 12 + c % 3 * 12 + 4 * a, &place, 4);
                }
            check_box(write_bytes("bytes.stl", stl, 84 + 12 * 50 + (size_t)behind), 2, 1, 0.5);
        }
    refuse_mesh(write_bytes("short.stl", stl, 84 + 11 * 50 + 49), "claims 12 triangles");
    kf_mesh_free(&heap.mesh);
}

/* Writes glTF, its buffer in a file whose name is written as addresses are. The members are further text
 * of the root, and of the accessor of positions. */
static const char *write_gltf_box(const char *name, const char *uri, const char *version, const char *members,
                                  const char *node, int type) {
    kf_mesh_builder heap = {.vertex_capacity = 0};
    char buffer[96 + 144], text[2000];
    (void)heap_box(&heap, ORIGIN, (double[3]){2, 1, 0.5});
    for (size_t i = 0; i < 24; i++) {
        const float place = (float)heap.mesh.vertices[i];
        memcpy(buffer + 4 * i, &place, 4);
    }
    memcpy(buffer + 96, heap.mesh.triangles, 144);
    kf_mesh_free(&heap.mesh);
    (void)write_bytes("my mesh%.bin", buffer, sizeof buffer);
    (void)snprintf(
        text, sizeof text,
        "{\"asset\":{\"version\":\"%s\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],%s\"nodes\":[{%s\"mesh\":0}"
        "],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],\"accessors\":[{"
        "\"bufferView\":0,\"componentType\":%d,\"count\":8,\"type\":\"VEC3\"},{\"bufferView\":1,"
        "\"componentType\":5125,\"count\":36,\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,"
        "\"byteLength\":96}"
        ",{\"buffer\":0,\"byteOffset\":96,\"byteLength\":144}],\"buffers\":[{\"byteLength\":240,\"uri\":\"%"
        "s\"}]}",
        version, members, node, type, uri);
    return write_text(name, text);
}

static void test_15_addresses(void **state) {
    (void)state;
    check_box(write_gltf_box("decoded.gltf", "my%20mesh%25.bin", "2.0", "", "", 5126), 2, 1, 0.5);
    check_box(write_gltf_box("plain.gltf", "my mesh%.bin", "2.0", "", "", 5126), 2, 1, 0.5);
    refuse_mesh(write_gltf_box("none.gltf", "my%2Dmesh.bin", "2.0", "", "", 5126),
                "cannot be read as a mesh");
}

/* Extensions that change the shape and are not read (8), and glTF 1.0 (35, 39), by name. */
static void test_8_extensions(void **state) {
    (void)state;
    static const char *const unread[] = {"KHR_mesh_quantization", "EXT_meshopt_compression",
                                         "EXT_mesh_gpu_instancing", "VENDOR_holes"};
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        char members[200];
        (void)snprintf(members, sizeof members, "\"extensionsRequired\":[\"KHR_materials_unlit\",\"%s\"],",
                       unread[i]);
        refuse_mesh(write_gltf_box("needs.gltf", "my%20mesh%25.bin", "2.0", members, "", 5126), unread[i]);
    }
    check_box(write_gltf_box("unlit.gltf", "my%20mesh%25.bin", "2.0",
                             "\"extensionsRequired\":[\"KHR_materials_unlit\",\"KHR_texture_transform\"],",
                             "", 5126),
              2, 1, 0.5);
    refuse_mesh(write_gltf_box("whole.gltf", "my%20mesh%25.bin", "2.0", "", "", 5123),
                "KHR_mesh_quantization");
    refuse_mesh(write_gltf_box("many.gltf", "my%20mesh%25.bin", "2.0", "",
                               "\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{}}},", 5126),
                "EXT_mesh_gpu_instancing");
    refuse_mesh(write_gltf_box("old.gltf", "my%20mesh%25.bin", "1.0", "", "", 5126),
                "is glTF 1.0; glTF 2.0 is read");
    refuse_mesh(write_text("older.gltf", "{\"buffers\":{\"a\":{\"byteLength\":0}}}"), "is glTF 1.0");
    const uint32_t old[] = {0x46546C67, 1, 20, 0, 0};
    refuse_mesh(write_bytes("old.glb", old, sizeof old), "is glTF 1.0");
}

/* A node far away has all its digits beside another one, though the library multiplies in single precision.
 */
static void test_3_far_nodes(void **state) {
    (void)state;
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(write_gltf_box("far.gltf", "my%20mesh%25.bin", "2.0", "",
                                            "\"translation\":[500000.25,5400000.5,100],", 5126),
                             &notes);
    const kf_box box = kf_mesh_bounds(&mesh);
    assert_near_to(box.high[0] - box.low[0], 2, 1e-9);
    assert_near_to(box.high[1] - box.low[1], 1, 1e-9);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
}

/* A face of many corners that are the same few over and over, and a thousand triangles on each other: one. */
static void test_17_crowds(void **state) {
    (void)state;
    kf_text obj = {0};
    kf_text_append(&obj, "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 2 1 0\nv 0 0 .5\nv 2 0 .5\nv 0 1 .5\nv 2 1 .5\nf");
    for (int i = 0; i < 250; i++)
        kf_text_append(&obj, " 1 3 4 2");
    kf_text_append(&obj, "\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    const char *corners = write_text("corners.obj", obj.text);
    check_box(corners, 2, 1, 0.5);
    kf_text_free(&obj);
    kf_mesh_builder heap = {.vertex_capacity = 0};
    (void)heap_box(&heap, ORIGIN, (double[3]){2, 1, 0.5});
    const char *plain = write_obj("once.obj", &heap.mesh);
    for (int copy = 0; copy < 1000; copy++)
        repeat_triangles(&heap, 2, copy % 2 == 0);
    assert_same_scene(write_obj("thousand.obj", &heap.mesh), plain);
    kf_mesh_free(&heap.mesh);
}

/* Layers that lie almost on each other, of which none is another: their number of samples is bounded, and
 * each stands for what it stood for. */
static void test_17_layers(void **state) {
    (void)state;
    size_t counts[2];
    for (int many = 0; many < 2; many++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        kf_samples samples;
        for (int layer = 0; layer < (many ? 80 : 20); layer++) {
            const double z = 1e-5 * layer;
            const uint32_t first = kf_mesh_add_vertex(&heap, 0, 0, z);
            (void)kf_mesh_add_vertex(&heap, 1, 0, z);
            (void)kf_mesh_add_vertex(&heap, 1, 1, z);
            (void)kf_mesh_add_vertex(&heap, 0, 1, z);
            kf_mesh_add_quad(&heap, first, first + 1, first + 2, first + 3);
        }
        const size_t wanted = heap.mesh.triangle_count * 450;
        assert_true(kf_sample_mesh(&heap.mesh, wanted, 1, &samples, NULL));
        counts[many] = samples.count;
        assert_near_to(samples.area[0], 1.0 / 900, 1e-9);
        kf_samples_free(&samples);
        kf_mesh_free(&heap.mesh);
    }
    assert_true(counts[0] < 18000 && counts[1] < 3 * counts[0] / 2); /* of four times the layers */
}

/* Ctrl-C is heard while samples are placed. */
static void test_17_interrupted(void **state) {
    (void)state;
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    kf_interrupted = 1;
    const kf_status status = kf_scene_open("ball", NULL, &scene, &error);
    kf_interrupted = 0;
    assert_int_equal(status, KF_INTERRUPTED);
    assert_null(scene);
    assert_holds(error.message, "samples of ball");
}

/* A surface that no stream reaches does not act: shells within, however thin the wall, discs, walls
 * between rooms. */
static void test_28_inner_surfaces(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    heap_ball(&heap, 0.5, 12);
    const size_t outer = heap.mesh.triangle_count;
    const char *plain = write_obj("outer.obj", &heap.mesh);
    static const double radii[] = {0.4, 0.49, 0.4999, 0.1};
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
        for (int inwards = 0; inwards < 2; inwards++) {
            heap.mesh.triangle_count = outer;
            heap_ball(&heap, radii[r], 12);
            for (size_t t = outer; t < heap.mesh.triangle_count && inwards; t++)
                turn_round(&heap.mesh, t);
            assert_same_scene(write_obj("hollow.obj", &heap.mesh), plain);
        }
    heap.mesh.triangle_count = outer; /* a disc, and a bulkhead that is tied to the ball */
    const uint32_t first = kf_mesh_add_vertex(&heap, 0, 0, 0.1);
    for (uint32_t i = 0; i < 12; i++)
        (void)kf_mesh_add_vertex(&heap, 0.4 * cos(i), 0.4 * sin(i), 0.1);
    for (uint32_t i = 1; i < 12; i++)
        kf_mesh_add_triangle(&heap, first, first + i, first + i + 1);
    assert_same_scene(write_obj("disc.obj", &heap.mesh), plain);
    heap.mesh.triangle_count = outer;
    for (uint32_t i = 1; i + 1 < 24; i++)
        kf_mesh_add_triangle(&heap, 1 + 5 * 24, 1 + 5 * 24 + i, 2 + 5 * 24 + i);
    assert_same_scene(write_obj("bulkhead.obj", &heap.mesh), plain);
    kf_mesh_free(&heap.mesh);
}

/* A surface that the stream reaches does act: through a window, behind a wall with a gap, beside another
 * solid. */
static void test_28_reached_surfaces(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    kf_text notes = {0};
    heap_ball(&heap, 0.5, 12);
    heap_ball(&heap, 0.3, 12);
    const size_t both = heap.mesh.triangle_count;
    memmove(heap.mesh.triangles, heap.mesh.triangles + 3 * 2, 3 * (both - 2) * sizeof *heap.mesh.triangles);
    heap.mesh.triangle_count -= 2; /* a hole at the pole */
    kf_mesh mesh = read_mesh(write_obj("window.obj", &heap.mesh), &notes);
    assert_int_equal(mesh.triangle_count, both - 2);
    kf_mesh_free(&mesh);
    heap.mesh.triangle_count = 0;
    (void)heap_box(&heap, ORIGIN, UNIT);
    (void)heap_box(&heap, (double[3]){1.01, 0, 0}, UNIT);                           /* beside it */
    (void)heap_box(&heap, (double[3]){0.5, 0.5, 0.9}, UNIT);                        /* half in it */
    (void)heap_box(&heap, (double[3]){0.2, 0.2, -0.5}, (double[3]){0.1, 0.1, 0.5}); /* touching it */
    mesh = read_mesh(write_obj("beside.obj", &heap.mesh), &notes);
    assert_int_equal(mesh.triangle_count, 48);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
    kf_mesh_free(&heap.mesh);
}

static void drop_two(kf_mesh *mesh, size_t triangle) {
    mesh->triangle_count -= 2;
    memmove(mesh->triangles + 3 * triangle, mesh->triangles + 3 * (triangle + 2),
            3 * (mesh->triangle_count - triangle) * sizeof *mesh->triangles);
}

/* Two boxes with a wall between them that the file has not, once, from both sides, or cut in two ways, are
 * one closed solid. */
static void test_28_walls(void **state) {
    (void)state;
    for (int wall = 0; wall < 4; wall++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        const uint32_t first = heap_box(&heap, ORIGIN, UNIT),
                       second = heap_box(&heap, (double[3]){1, 0, 0}, UNIT); /* triangles 10, 11; 20, 21 */
        assert_true(first == 0 && second == 8);
        const uint32_t other[6] = {8, 12, 10, 12, 14, 10};
        if (wall == 3) memcpy(heap.mesh.triangles + 3 * 20, other, sizeof other);
        if (wall < 2) drop_two(&heap.mesh, 20);
        if (wall < 1) drop_two(&heap.mesh, 10);
        check_box(write_obj("rooms.obj", &heap.mesh), 2, 1, 1);
        kf_mesh_free(&heap.mesh);
    }
}

/* A cavity is not the solid's matter; a body within a body is no more than the body. */
static void test_28_matter(void **state) {
    (void)state;
    for (int inwards = 0; inwards < 2; inwards++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        kf_text notes = {0};
        kf_body body;
        heap_ball(&heap, 0.5, 16);
        const size_t outer = heap.mesh.triangle_count;
        heap_ball(&heap, 0.4, 16);
        for (size_t t = outer; t < heap.mesh.triangle_count && inwards; t++)
            turn_round(&heap.mesh, t);
        kf_mesh mesh = read_mesh(write_obj("matter.obj", &heap.mesh), &notes);
        assert_holds(notes.text, "do not act");
        assert_int_equal(kf_mesh_body(&mesh, false, &body), 0);
        const double whole = body.volume;
        assert_int_equal(kf_mesh_body(&mesh, true, &body), 0);
        assert_near_to(body.volume / whole, inwards ? 1 - 0.512 : 1, 1e-9);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
        kf_mesh_free(&heap.mesh);
    }
}

/* Bodies that overlap are there once where they do, whichever way each of them looks. */
static void test_26_overlap(void **state) {
    (void)state;
    for (int inwards = 0; inwards < 2; inwards++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        kf_text notes = {0};
        kf_body body;
        (void)heap_box(&heap, (double[3]){10, 0, 0}, (double[3]){2, 1, 1});
        const size_t first = heap.mesh.triangle_count;
        (void)heap_box(&heap, (double[3]){11, 0, 0}, (double[3]){2, 1, 1});
        for (size_t t = first; t < heap.mesh.triangle_count && inwards; t++)
            turn_round(&heap.mesh, t);
        kf_mesh mesh = read_mesh(write_obj("overlap.obj", &heap.mesh), &notes);
        assert_int_equal(kf_mesh_matter(&mesh, &body), 0);
        assert_near_to(body.volume, 3.0, 1e-3);
        assert_near_to(body.center[0], 11.5, 1e-3);
        assert_near_to(body.inertia[4], 3.0 * (9.0 + 1.0) / 12.0, 2e-3);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
        kf_mesh_free(&heap.mesh);
    }
}

static size_t count_fluid(const char *mesh, kf_error *error) {
    char text[1000];
    kf_particle_scene *scene = NULL;
    (void)snprintf(
        text, sizeof text,
        "{\"particles\":{\"spacing\":0.1},\"box\":{\"size\":[4,4,4]},\"gravity\":[0,0,-9.81],\"material\":{"
        "\"density\":1000,\"sound_speed\":60,\"viscosity\":0.001},\"fluid\":[{\"shape\":\"mesh\",\"mesh\":"
        "\"%s\",\"position\":[1,1,0]}],\"run\":{\"time\":0.05}}",
        mesh);
    if (kf_particle_scene_open(write_text("fluid.json", text), NULL, &scene, error) != KF_OK) return 0;
    const size_t count = scene->count - scene->wall_count;
    kf_particle_scene_free(scene);
    return count;
}

/* Fluid in a mesh whose faces are there twice, whose bodies overlap or lie in each other, and in a hollow
 * one. */
static void test_26_fluid(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int kind = 0; kind < 6; kind++) {
        static const size_t expected[] = {8000, 8000, 8000, 8000, 7000, 0};
        kf_mesh_builder heap = {.vertex_capacity = 0};
        (void)heap_box(&heap, ORIGIN, (double[3]){kind == 3 ? 1.5 : 2, 2, 2});
        const size_t once = heap.mesh.triangle_count;
        if (kind == 1 || kind == 2) repeat_triangles(&heap, kind == 1 ? once : 4, kind == 2);
        if (kind == 3) (void)heap_box(&heap, (double[3]){1, 0, 0}, (double[3]){1, 2, 2});
        if (kind == 4) (void)heap_box(&heap, (double[3]){0.5, 0.5, 0.5}, UNIT);
        for (size_t t = once; kind == 4 && t < heap.mesh.triangle_count; t++)
            turn_round(&heap.mesh, t);
        if (kind == 5) heap.mesh.triangle_count = 2;
        if (kind == 5) repeat_triangles(&heap, 2, true);
        (void)write_obj("fluid.obj", &heap.mesh);
        assert_int_equal(count_fluid("fluid.obj", &error), expected[kind]);
        if (kind == 5) assert_holds(error.message, "is not closed");
        kf_mesh_free(&heap.mesh);
    }
}

/* A sheet with both its sides that stands on a closed body, or beside it, leaves the body closed; its samples
 * stay where they are. */
static void test_28_sheets(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    (void)heap_box(&heap, ORIGIN, UNIT);
    kf_scene *plain = open_tunnel(write_obj("plain.obj", &heap.mesh), NULL);
    for (int beside = 0; beside < 2; beside++) {
        kf_mesh_builder two = {.vertex_capacity = 0};
        (void)heap_box(&two, ORIGIN, UNIT);
        const double y = beside ? 2.0 : 1.0;
        const uint32_t a = kf_mesh_add_vertex(&two, 0, y, 1), b = kf_mesh_add_vertex(&two, 1, y, 1),
                       c = kf_mesh_add_vertex(&two, 1, y, 1.5), d = kf_mesh_add_vertex(&two, 0, y, 1.5);
        kf_mesh_add_quad(&two, a, b, c, d);
        kf_mesh_add_quad(&two, d, c, b, a);
        two.mesh.triangles[3 * 14] = d; /* the same diagonal */
        memcpy(two.mesh.triangles + 3 * 14, (const uint32_t[]){c, b, a, d, c, a}, 6 * sizeof(uint32_t));
        kf_scene *scene = open_tunnel(write_obj("sheet.obj", &two.mesh), NULL);
        assert_int_equal(scene->mesh.triangle_count, 14);
        assert_int_equal(scene->mesh.sheet_count, 2);
        assert_int_equal(scene->open_edges, 0);
        assert_near_to(scene->surface_depth, plain->surface_depth, 1e-3);
        const double upper =
            scene->solid_high[2] - 5; /* where the sheet begins: half a metre is five cells */
        for (size_t s = 0; s < scene->samples.count; s++)
            if (scene->samples.z[s] > upper + 1)
                assert_near_to(scene->samples.y[s], scene->solid_high[1], 1e-9);
        kf_scene_free(scene);
        kf_mesh_free(&two.mesh);
    }
    kf_scene_free(plain);
    kf_mesh_free(&heap.mesh);
}

/* A guess that is not followed names every axis with what it would make of the mesh. */
static void test_22_guesses(void **state) {
    (void)state;
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    const char *path =
        write_text("wedge.obj", "v 0 0 0\nv 1 0 0\nv 1 0 3\nv 0 0 3\nv 0.5 1.9 0.3\nv 0.5 1.9 1.2\nf 1 2 "
                                "3\nf 1 3 4\nf 1 5 2\nf 4 3 6\nf 1 4 6\nf 1 6 5\nf 2 5 6\nf 2 6 3\n");
    assert_int_equal(kf_scene_open(path, NULL, &scene, &error), KF_BAD_INPUT);
    static const char *const named[] = {"--up x: 1 high, 3 long along z", "--up y: 1.9 high, 3 long along z",
                                        "--up z: 3 high, 1.9 long along y", "% sure"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        assert_holds(error.message, named[i]);
    const kf_placement said = {.up = {2, 1}, .wind = {0, 1}};
    assert_int_equal(kf_scene_open_placed(path, &(kf_placement){.up = {2, 1}}, NULL, &scene, &error),
                     KF_BAD_INPUT);
    assert_holds(error.message, "--wind +y or --wind -y");
    assert_null(strstr(error.message, "--up"));
    scene = open_tunnel(path, &said);
    assert_null(strstr(scene->notes, "guess:"));
    kf_scene_free(scene);
}

/* The unit of a car is that of its length along the wind that was said, and of what is a car along it only.
 */
static void test_23_units(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    (void)heap_box(&heap, ORIGIN, (double[3]){200, 600, 150}); /* a car along y, in millimetres or inches */
    (void)heap_box(&heap, (double[3]){50, 300, 150}, (double[3]){100, 200, 60});
    const char *path = write_obj("part.obj", &heap.mesh);
    static const struct {
        kf_placement said;
        double length;
    } cases[] = {{{.up = {2, 1}, .wind = {0, 1}}, 200.0},
                 {{.up = {2, 1}, .wind = {1, 1}}, 6.0},
                 {{.up = {0, 1}, .wind = {1, 1}}, 600.0},
                 {{.up = {2, 1}, .wind = {0, 1}, .length = 3}, 3.0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene = open_tunnel(path, &cases[c].said);
        assert_near_to(scene->reference_length * scene->cell_size, cases[c].length, 1e-9);
        assert_int_equal(strstr(scene->notes, "the car") != NULL, cases[c].length == 6.0);
        kf_scene_free(scene);
    }
    kf_mesh_free(&heap.mesh);
}

/* A glTF file says that y is up and what its unit is; what the user says goes first. */
static void test_29_gltf_axes(void **state) {
    (void)state;
    static const struct {
        kf_placement said;
        double high, long_;
    } cases[] = {{{.road = KF_ROAD_NO}, 1.0, 2.0},
                 {{.up = {2, 1}}, 0.5, 2.0},
                 {{.wind = {2, 1}}, 1.0, 0.5},
                 {{.wind = {1, 1}, .up = {2, -1}}, 0.5, 1.0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene =
            open_tunnel(write_gltf_box("axes.gltf", "my%20mesh%25.bin", "2.0", "", "", 5126), &cases[c].said);
        const double dx = scene->cell_size;
        assert_near_to((scene->solid_high[2] - scene->solid_low[2]) * dx, cases[c].high, 1e-6);
        assert_near_to((scene->solid_high[0] - scene->solid_low[0]) * dx, cases[c].long_, 1e-6);
        assert_holds(scene->notes, "as glTF has it");
        kf_scene_free(scene);
    }
}

/* One area of reference: the front at zero yaw, whatever the yaw and the grid; or what the scene or an option
 * says. The flow does not feel it. */
static void test_10_reference_area(void **state) {
    (void)state;
    kf_mesh_builder heap = {.vertex_capacity = 0};
    kf_error error = {KF_OK, ""};
    (void)heap_box(&heap, ORIGIN, (double[3]){3, 1, 1});
    const char *path = write_obj("long.obj", &heap.mesh);
    kf_mesh_free(&heap.mesh);
    for (int yaw = -20; yaw <= 20; yaw += 10) {
        const kf_placement said = {
            .up = {2, 1}, .wind = {0, 1}, .road = KF_ROAD_YES, .yaw = yaw, .cells = 12};
        const double angle = abs(yaw) * acos(-1.0) / 180;
        kf_scene *scene = open_tunnel(path, &said), *small = NULL;
        const double dx2 = scene->cell_size * scene->cell_size;
        assert_near_to(scene->frontal_area * dx2, cos(angle) + 3 * sin(angle), 1e-6);
        assert_near_to(kf_scene_reference_area(scene) * dx2, 1.0, 1e-6);
        assert_int_equal(kf_scene_reduce(scene, 20000, &small, &error), KF_OK);
        assert_near_to(kf_scene_reference_area(small) * small->cell_size * small->cell_size, 1.0, 1e-6);
        kf_scene_free(small);
        const char *file = test_path("long.scene.json");
        cJSON *document = NULL;
        bool replaced = false;
        assert_int_equal(kf_scene_of_mesh(path, &said, &document, NULL, &error), KF_OK);
        assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
        cJSON_Delete(document);
        kf_scene *written = open_tunnel(file, NULL);
        assert_string_equal(written->hash, scene->hash);
        assert_near_to(kf_scene_reference_area(written) * dx2, 1.0, 1e-6);
        assert_true(written->yaw == yaw);
        kf_scene_refer_to_area(written, 2.5);
        assert_near_to(kf_scene_reference_area(written) * dx2, 2.5, 1e-12);
        kf_scene_free(written);
        kf_scene_free(scene);
    }
    static const char *const text = "{\"solid\":{\"shape\":\"ball\",\"position\":[2,2,2]},\"domain\":{"
                                    "\"cells\":[40,40,40],\"cell_size\":0.1},"
                                    "\"flow\":{\"speed\":1,\"reynolds\":100%s}}";
    char given[400], plain[400];
    (void)snprintf(given, sizeof given, text, ",\"reference_area\":0.25,\"reference_point\":[1,2,2]");
    (void)snprintf(plain, sizeof plain, text, "");
    kf_scene *scene = open_tunnel(write_text("given.json", given), NULL),
             *same = open_tunnel(write_text("plain.json", plain), NULL);
    assert_string_equal(scene->hash, same->hash);
    assert_near_to(kf_scene_reference_area(scene), 25.0, 1e-12);
    assert_near_to(same->moment_center[0] - scene->moment_center[0], 10.0, 1e-12);
    kf_scene_free(scene);
    kf_scene_free(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2_double_sided),    cmocka_unit_test(test_2_double_sided_free),
        cmocka_unit_test(test_3_georeferenced),   cmocka_unit_test(test_3_single_precision),
        cmocka_unit_test(test_3_far_nodes),       cmocka_unit_test(test_4_concave),
        cmocka_unit_test(test_4_crossed),         cmocka_unit_test(test_5_unused_vertex),
        cmocka_unit_test(test_8_extensions),      cmocka_unit_test(test_10_frontal_area),
        cmocka_unit_test(test_10_reference_area), cmocka_unit_test(test_11_closed_by_slivers),
        cmocka_unit_test(test_12_strips),         cmocka_unit_test(test_13_strokes),
        cmocka_unit_test(test_14_stl_text),       cmocka_unit_test(test_14_stl_bytes),
        cmocka_unit_test(test_15_addresses),      cmocka_unit_test(test_17_crowds),
        cmocka_unit_test(test_17_layers),         cmocka_unit_test(test_17_interrupted),
        cmocka_unit_test(test_28_inner_surfaces), cmocka_unit_test(test_28_reached_surfaces),
        cmocka_unit_test(test_28_walls),          cmocka_unit_test(test_28_matter),
        cmocka_unit_test(test_28_sheets),         cmocka_unit_test(test_26_overlap),
        cmocka_unit_test(test_26_fluid),          cmocka_unit_test(test_22_guesses),
        cmocka_unit_test(test_23_units),          cmocka_unit_test(test_29_gltf_axes),
    };
    return cmocka_run_group_tests_name("mesh cases", tests, make_test_folder, remove_test_folder);
}
