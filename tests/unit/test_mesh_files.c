/* Tests how files of such meshes are written (test_mesh_cases.c): encodings, orders, indices, units.
 * Faults: a way of writing that changes the mesh. */
#include "tests/unit/mesh_cases.h"

/* A file with coordinates in single precision has lost digits, which is reported, or refused if it is too
 * much. */
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

/* Other programs write these behind a corner's strokes, and the line ends of old Macs (35). */
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
    refuse_mesh(write_text("none.stl", "solid x\nendsolid x\n"), "contains no faces");
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
    /* Some programs leave a count that is too small, which they would write at their end. */
    memset(stl + 80, 0, 4);
    refuse_mesh(write_bytes("none.stl", stl, 84 + 12 * 50),
                "claims 0 triangles in 684 bytes, which are enough for 12");
    stl[80] = 10;
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error;
    assert_int_equal(kf_mesh_read(write_bytes("few.stl", stl, 84 + 12 * 50), &mesh, &notes, &error), KF_OK);
    assert_non_null(
        strstr(notes.text, "100 bytes behind its 10 triangles are not read; they may be triangles"));
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
    refuse_mesh(write_text("words.stl",
                           "# an OBJ mesh under another name, of more than a hundred letters, which are "
                           "no number\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
                "is text that does not begin with 'solid'");
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

/* Extensions that change the shape and are not read (8), and glTF 1.0 (35, 39), are refused by name. */
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

/* A node far away keeps its digits beside another one, though the library multiplies in single precision. */
static void test_3_far_nodes(void **state) {
    (void)state;
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(write_gltf_box("far.gltf", "my%20mesh%25.bin", "2.0", "",
                                            "\"translation\":[500000.25,5400000.5,100],", 5126),
                             &notes);
    const kf_box box = kf_mesh_bounds(&mesh);
    assert_near(box.high[0] - box.low[0], 2, 1e-9);
    assert_near(box.high[1] - box.low[1], 1, 1e-9);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
}

/* A glTF file states that y is up and what its unit is. The user's options override that. */
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
        assert_near((scene->solid_high[2] - scene->solid_low[2]) * dx, cases[c].high, 1e-6);
        assert_near((scene->solid_high[0] - scene->solid_low[0]) * dx, cases[c].long_, 1e-6);
        assert_holds(scene->notes, "as glTF has it");
        kf_scene_free(scene);
    }
}

/* What is in a file and not in its mesh is told: poses that viewers show, hidden nodes, curves. A skeleton
 * without matrices crashes the library. */
static void test_what_is_left_out_is_told(void **state) {
    (void)state;
    static const char *const poses[][2] = {
        {"\"weights\":[0.5],", "its morph targets are not read"},
        {"\"extensions\":{\"KHR_node_visibility\":{\"visible\":false}},", "nodes that are hidden are read"},
        {"\"weights\":[0],\"extensions\":{\"KHR_node_visibility\":{\"visible\":true}},", NULL}};
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
        kf_text notes = {0};
        kf_mesh mesh =
            read_mesh(write_gltf_box("pose.gltf", "my%20mesh%25.bin", "2.0", "", poses[i][0], 5126), &notes);
        if (poses[i][1] != NULL) assert_holds(notes.text, poses[i][1]);
        if (poses[i][1] == NULL) assert_null(notes.text);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
    }
    refuse_mesh(write_gltf_box("skin.gltf", "my%20mesh%25.bin", "2.0", "\"skins\":[{\"joints\":[0]}],",
                               "\"skin\":0,", 5126),
                "has no inverseBindMatrices");
    static const char *const curves[] = {"surf 0 1 0 1 1 2 3 4", "bzp 1 2 3 4", "cdc 1 2 3 4",
                                         "curv 0 1 1 2"};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        kf_text notes = {0}, obj = {0};
        kf_text_append(&obj, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n%s\n", curves[i]);
        kf_mesh mesh = read_mesh(write_text("curves.obj", obj.text), &notes);
        assert_holds(notes.text, "1 curves and curved surfaces are not read");
        kf_text_free(&notes);
        kf_text_free(&obj);
        kf_mesh_free(&mesh);
    }
}

/* A comment may stand behind what an OBJ line says; a weight counts also before one. */
static void test_comments_behind_elements(void **state) {
    (void)state;
    kf_text notes = {0};
    kf_mesh mesh =
        read_mesh(write_text("comments.obj", "v 0 0 0 # 2\nv 1 0 0#x\nv 0 1 0 1 # w\nv 0 0 1 1 0 0 # red\n"
                                             "f 1// 3/ 2/# floor\nf 1 2 4#5\nf 2 3 4\nf 1 4 3\n"),
                  &notes);
    assert_int_equal(mesh.vertex_count, 4);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
    refuse_mesh(write_text("weight.obj", "v 0 0 0 2 # w\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), "a weight of 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_3_single_precision),
        cmocka_unit_test(test_12_strips),
        cmocka_unit_test(test_13_strokes),
        cmocka_unit_test(test_14_stl_text),
        cmocka_unit_test(test_14_stl_bytes),
        cmocka_unit_test(test_15_addresses),
        cmocka_unit_test(test_8_extensions),
        cmocka_unit_test(test_3_far_nodes),
        cmocka_unit_test(test_29_gltf_axes),
        cmocka_unit_test(test_what_is_left_out_is_told),
        cmocka_unit_test(test_comments_behind_elements),
    };
    return cmocka_run_group_tests_name("mesh files", tests, make_test_folder, remove_test_folder);
}
