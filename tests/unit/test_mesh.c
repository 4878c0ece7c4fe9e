/* Tests the readers of mesh files. Faults: a corner, face or unit that is misread, a wrong file that is
 * taken, a small file that claims much memory. */
#include "base/util/memory.h"
#include "tests/unit/check.h"
#include "tests/unit/closed_mesh.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/scene_files.h"

#include <math.h>
#include <png.h>
#include <sys/resource.h>
#include <time.h>

/* ---- Reading ---- */

/* The unit cube's corner tetrahedron in every format; its area is 3/2 + sqrt(3)/2. */
static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint16_t sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static const char *write_stl(const char *name, size_t count, const float (*triangles)[3][3]) {
    char *data = kf_allocate_zeroed(84 + 50 * count, 1);
    const uint32_t number = (uint32_t)count;
    memcpy(data + 80, &number, 4);
    for (size_t t = 0; t < count; t++)
        memcpy(data + 84 + 50 * t + 12, triangles[t], 36);
    const char *path = write_bytes(name, data, 84 + 50 * count);
    free(data);
    return path;
}

static const char *write_tetrahedron_stl(const char *name) {
    float triangles[4][3][3];
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 3; i++)
            memcpy(triangles[t][i], corners[sides[t][i]], sizeof corners[0]);
    return write_stl(name, 4, (const float(*)[3][3])triangles);
}

/* Writes glTF with its buffer beside it; the node moves and doubles the mesh. index_of_last is 3, or what
 * a bad file says. */
static const char *write_gltf(const char *name, uint16_t index_of_last) {
    unsigned char buffer[48 + 24];
    memcpy(buffer, corners, 48);
    memcpy(buffer + 48, sides, 24);
    memcpy(buffer + 48 + 22, &index_of_last, 2);
    write_bytes("tetrahedron.bin", buffer, sizeof buffer);
    return write_text(
        name,
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
        "\"nodes\":[{\"children\":[1],\"translation\":[10,20,30]},{\"mesh\":0,\"scale\":[2,2,2]}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":4}]}],"
        "\"buffers\":[{\"uri\":\"tetrahedron.bin\",\"byteLength\":72}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
        "\"byteLength\":24}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,"
        "0],\"max\":[1,"
        "1,1]},{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}]}");
}

static const char *write_ply(const char *name, const char *last_face) {
    char text[600];
    (void)snprintf(
        text, sizeof text,
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n%s\n",
        last_face);
    return write_text(name, text);
}

static void check_tetrahedron(const char *path, double scale, const double low[3]) {
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {0};
    if (kf_mesh_read(path, &mesh, &notes, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(mesh.vertex_count, 4); /* equal corners are joined */
    assert_int_equal(mesh.triangle_count, 4);
    assert_closed(&mesh);
    assert_near(kf_mesh_area(&mesh), scale * scale * (1.5 + sqrt(3.0) / 2.0), 1e-6);
    const kf_box box = kf_mesh_bounds(&mesh);
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(box.low[a] - low[a]) < 1e-6);
        assert_true(fabs(box.high[a] - low[a] - scale) < 1e-5);
    }
    assert_null(notes.text);
    kf_mesh_free(&mesh);
}

static void test_every_format_gives_the_same_mesh(void **state) {
    (void)state;
    const double origin[3] = {0}, moved[3] = {10, 20, 30};
    check_tetrahedron(write_tetrahedron_stl("t.STL"), 1.0, origin);
    check_tetrahedron(write_ply("t.ply", "3 1 2 3"), 1.0, origin);
    check_tetrahedron(write_gltf("t.gltf", 3), 2.0, moved);
    check_tetrahedron(write_text("t.obj", "# made by hand\r\n\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 "
                                          "1\nf 1//1 3//-1 2//1\nf -4 -3 -1\n"
                                          "f 1 4 \\\n 3\nf 2 3 4\n# last\n"),
                      1.0, origin);
}

static void test_polygons_become_triangles(void **state) {
    (void)state;
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {0};
    const char *path = write_text(
        "square.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 5 5 5\nf 1 2 3 4\nf 1 2 2\nf 1 2 5\nl 1 5\n");
    assert_int_equal(kf_mesh_read(path, &mesh, &notes, &error), KF_OK);
    assert_int_equal(mesh.triangle_count, 3);
    assert_non_null(notes.text);
    assert_holds(notes.text, "1 of 4 triangles have no area");
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
}

/* A face of no, one or two corners is left out, and none of its corners becomes the next face's. */
static void test_faces_of_few_corners(void **state) {
    (void)state;
    const double origin[3] = {0};
    check_tetrahedron(write_text("few.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 2\nf 1 3 2\nf 3 4\n"
                                            "f 1 2 4\nf 1 4 3\nf\nf 2 3 4\nf 1 2\n"),
                      1.0, origin);
    check_tetrahedron(
        write_text("few.ply",
                   "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                   "property float z\nelement face 7\nproperty list uchar int vertex_indices\nend_header\n"
                   "0 0 0\n1 0 0\n0 1 0\n0 0 1\n2 3 1\n3 0 2 1\n1 2\n3 0 1 3\n0\n3 0 3 2\n3 1 2 3\n"),
        1.0, origin);
}

/* A needle has an area, however thin it is. A line has none. */
static void test_a_needle_has_an_area(void **state) {
    (void)state;
    static const struct {
        double height;
        size_t dropped;
    } cases[] = {{1e-3, 0}, {1e-6, 0}, {1e-8, 0}, {1e-13, 1}, {0.0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_mesh_builder builder = {0};
        kf_mesh_add_triangle(&builder, kf_mesh_add_vertex(&builder, 0, 0, 0),
                             kf_mesh_add_vertex(&builder, 1, 0, 0),
                             kf_mesh_add_vertex(&builder, 0.5, cases[i].height, 0));
        assert_int_equal(kf_mesh_clean(&builder.mesh), cases[i].dropped);
        assert_int_equal(builder.mesh.triangle_count, 1 - cases[i].dropped);
        kf_mesh_free(&builder.mesh);
    }
}

static void refuse(const char *path, const char *part) {
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {0};
    if (kf_mesh_read(path, &mesh, &notes, &error) != KF_BAD_INPUT) fail_msg("%s was read", path);
    assert_int_equal(error.status, KF_BAD_INPUT);
    assert_holds(error.message, path);
    assert_holds(error.message, part);
    assert_null(strchr(error.message, '\n'));
    assert_null(mesh.vertices);
    assert_null(mesh.triangles);
    kf_text_free(&notes);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\n"
static void test_bad_obj(void **state) {
    (void)state;
    refuse(test_path("none.obj"), "No such file");
    refuse(test_folder, "does not end like a mesh's");
    mkdir(test_path("folder.obj"), 0700);
    refuse(test_path("folder.obj"), "not a regular file");
    refuse(write_text("empty.obj", ""), "empty");
    refuse(write_text("blank.obj", "\n\n"), "no vertices");
    refuse(write_text("words.obj", "this is no mesh at all\nreally\n"), "no vertices");
    refuse(write_bytes("binary.obj", "\x89XYZ\0\0\0\0v 1 2 3", 16), "not a text file");
    refuse(write_bytes("picture.obj", "\x89PNG\0\0\0\0v 1 2 3", 16), "is a PNG picture; a mask is named so");
    refuse(write_text("points.obj", SQUARE), "no faces");
    refuse(write_text("nan.obj", SQUARE "v nan 0 0\nf 1 2 3\n"), "nan.obj:4: the x coordinate");
    refuse(write_text("inf.obj", "\n# a\nv 0 0 0\nv 1 0 0\nv 0 -inf 0\nf 1 2 3\n"),
           "inf.obj:5: the y coordinate");
    refuse(write_text("huge.obj", SQUARE "v 0 0 1e300\nf 1 2 3\n"), "huge.obj:4: the z coordinate");
    refuse(write_text("short.obj", SQUARE "v 1 2\n3\nf 1 2 3\n"), "short.obj:4: the z coordinate");
    refuse(write_text("comma.obj", "v 1,5 2 3\nf 1 1 1\n"), "comma.obj:1");
    refuse(write_text("range.obj", SQUARE "f 1 2 3\nf 1 2 4\n"), "range.obj:5: this face refers to vertex 4");
    refuse(write_text("normal.obj", SQUARE "f 1//1 2 3\n"), "normal.obj:4: this face refers to normal 1");
    refuse(write_text("texture.obj", SQUARE "vt 0 0\nf 1/1 2/1 3/2\n"),
           "texture.obj:5: this face refers to texture");
    refuse(write_text("zero.obj", SQUARE "f 0 1 2\n"), "zero.obj:4: this face refers to vertex 0");
    refuse(write_text("back.obj", SQUARE "f -1 -2 -4\n"), "back.obj:4: this face refers to vertex -4");
    refuse(write_text("text.obj", SQUARE "f 1 2 three\n"), "text.obj:4: a corner");
    refuse(write_text("flat.obj", SQUARE "f 1 1 1\nf 1 2 1\n"), "none of its 2 triangles has an area");
    refuse(write_text("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
           "none of its 1 triangles has an area");
    refuse(write_text("edges.obj", SQUARE "f 1 2\n"), "no faces");
    if (geteuid() != 0) {
        const char *locked = write_text("locked.obj", SQUARE "f 1 2 3\n");
        chmod(locked, 0);
        refuse(locked, "ermission");
    }
}

/* Some programs write these before the first line, behind a vertex, and across the end of a line. */
static void test_obj_text(void **state) {
    (void)state;
    const double origin[3] = {0};
    check_tetrahedron(write_text("marked.obj",
                                 "\xef\xbb\xbfv 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 0 \\\n1.0e+0 -0\nv 0 0 "
                                 "+10.E-1\nvp 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nl 1 2\nfo 2 3 4"),
                      1.0, origin);
    refuse(write_text("weight.obj", "v 0 0 0\nv 1 0 0 2\nv 0 1 0\nf 1 2 3\n"),
           "weight.obj:2: this vertex has a weight");
    check_tetrahedron(write_text("zeros.obj",
                                 "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 0000000000000000000000003 +2\n"
                                 "f -4 -3 -1\nf 1 4 3\nf 2 3 4"),
                      1.0, origin);
    refuse(write_text("huge.obj", SQUARE "f 1 2 18446744073709551619\n"), "huge.obj:4: ");
    refuse(write_text("deep.obj", SQUARE "f 1 2 -18446744073709551617\n"), "deep.obj:4: ");
}

static void test_bad_others(void **state) {
    (void)state;
    float nan_triangle[1][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}}};
    refuse(write_stl("nan.stl", 1, (const float(*)[3][3])nan_triangle), "NaN or infinite");
    refuse(write_stl("none.stl", 0, NULL), "");
    refuse(write_text("cut.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0"), "");
    refuse(write_text("words.stl", "hello"), "");
    refuse(write_text("words.ply", "hello"), "");
    refuse(write_text("words.glb", "hello"), "");
    refuse(write_text("words.gltf", "hello"), "");
    refuse(write_ply("range.ply", "3 1 2 4"), "");
    refuse(write_ply("far.ply", "3 1 2 2000000000"), "");
    refuse(write_ply("negative.ply", "3 1 2 -1"), "");
    refuse(write_gltf("range.gltf", 4), "out of range");
    refuse(write_text("mesh.blend", "BLENDER"), "does not end like a mesh's");
}

/* A glTF binary of some words and 36 bytes of data, whose accessor of positions claims count vertices; view:
 * what else it says. */
static const char *write_glb(const char *name, double count, const char *view) {
    char json[600], file[1000] = {0};
    (void)snprintf(
        json, sizeof json,
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36}],\"bufferViews\":[{\"buffer\":0,"
        "\"byteLength\":36}],\"accessors\":[{%s\"componentType\":5126,\"count\":%.0f,\"type\":\"VEC3\"}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}],"
        "\"scenes\":[{\"nodes\":[0]}],\"scene\":0}",
        view, count);
    size_t text = strlen(json);
    while (text % 4 != 0)
        json[text++] = ' ';
    const uint32_t length = (uint32_t)text, total = 12 + 8 + length + 8 + 36;
    const uint32_t head[] = {0x46546C67, 2, total, length, 0x4E4F534A}, tail[] = {36, 0x004E4942};
    const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    memcpy(file, head, sizeof head);
    memcpy(file + 20, json,
           length); /* NOLINT(bugprone-not-null-terminated-result): the format knows lengths */
    memcpy(file + 20 + length, tail, sizeof tail);
    memcpy(file + 28 + length, triangle, sizeof triangle);
    return write_bytes(name, file, total);
}

static long most_memory_kib(void) {
    struct rusage own, children;
    assert_int_equal(getrusage(RUSAGE_SELF, &own), 0);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &children), 0);
    return own.ru_maxrss > children.ru_maxrss ? own.ru_maxrss : children.ru_maxrss;
}

/* A few hundred bytes must not take gigabytes, so a file's claims are compared with its size. */
static void test_claims_are_compared_with_the_size(void **state) {
    (void)state;
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {0};
    if (kf_mesh_read(write_glb("whole.glb", 3, "\"bufferView\":0,"), &mesh, &notes, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(mesh.triangle_count, 1);
    kf_mesh_free(&mesh);
    const long before = most_memory_kib();
    refuse(write_glb("claim.glb", 100e6, "\"bufferView\":0,"), "claims 100000000");
    refuse(write_glb("zeros.glb", 300e6, ""), "claims 300000000");
    refuse(write_text("claim.ply",
                      "ply\nformat ascii 1.0\nelement vertex 100000000\nproperty float x\nproperty float y\n"
                      "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
                      "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
           "claims 100000000");
    refuse(write_text("list.ply",
                      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                      "property float z\nelement face 1\nproperty list uint int vertex_indices\nend_header\n"
                      "0 0 0\n1 0 0\n0 1 0\n400000000 0 1 2\n"),
           "");
    if (!SANITIZED && most_memory_kib() > before + (1400 << 10)) /* what is freed stays in quarantine */
        fail_msg("%ld MiB, before %ld", most_memory_kib() >> 10, before >> 10);
}

/* An empty picture of 70 million pixels is a file of 70 kB, and would take 280 MB of colours and kinds. */
static void test_claims_of_pictures(void **state) {
    (void)state;
    enum { WIDTH = 8192, HEIGHT = 8193 };
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = PNG_FORMAT_GRAY};
    unsigned char *pixels = kf_allocate_zeroed(HEIGHT, WIDTH);
    assert_true(png_image_write_to_file(&image, test_path("large.png"), 0, pixels, 0, NULL));
    free(pixels);
    kf_scene *scene = NULL;
    kf_error error = {0};
    const kf_scene_options options = {.seed = 1};
    const char *path = test_path("large.png");
    assert_int_equal(kf_scene_open(path, &options, &scene, &error), KF_BAD_INPUT);
    assert_holds(error.message, path);
    assert_holds(error.message, "67108864 pixels in all, this one 8192x8193");
}

static void test_million_polygons(void **state) {
    (void)state;
    enum { SIDE = 708 }; /* two triangles a square: 1002528 */
    const size_t count = 2UL * SIDE * SIDE;
    float(*triangles)[3][3] = kf_allocate(count * sizeof *triangles);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const size_t row = i / SIDE;
        const float x = (float)(i % SIDE), y = (float)row;
        const float square[2][3][3] = {{{x, y, 0}, {x + 1, y, 0}, {x + 1, y + 1, 0}},
                                       {{x, y, 0}, {x + 1, y + 1, 0}, {x, y + 1, 0}}};
        memcpy(triangles[2 * i], square, sizeof square);
    }
    const char *path = write_stl("million.stl", count, (const float(*)[3][3])triangles);
    free(triangles);
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {0};
    const clock_t begin = clock();
    assert_int_equal(kf_mesh_read(path, &mesh, &notes, &error), KF_OK);
    print_message("%zu triangles read in %.2f s\n", mesh.triangle_count,
                  (double)(clock() - begin) / CLOCKS_PER_SEC);
    assert_int_equal(mesh.triangle_count, count);
    assert_int_equal(mesh.vertex_count, (SIDE + 1) * (SIDE + 1));
    assert_near(kf_mesh_area(&mesh), (double)SIDE * SIDE, 1e-9);
    kf_mesh_free(&mesh);
}

static void test_real_meshes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t vertices, triangles;
    } real[] = {{"beetle.obj", 1148, 2053}, {"spot.obj", 2930, 5856}, {"stanford-bunny.obj", 35947, 69451}};
    for (int m = 0; m < 3; m++) {
        const char *path = shared_mesh(real[m].name);
        if (path == NULL) skip();
        kf_mesh mesh;
        kf_text notes = {0};
        kf_error error = {0};
        if (kf_mesh_read(path, &mesh, &notes, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(mesh.triangle_count, real[m].triangles);
        assert_true(mesh.vertex_count <= real[m].vertices && mesh.vertex_count > real[m].vertices * 9 / 10);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_gives_the_same_mesh),
        cmocka_unit_test(test_obj_text),
        cmocka_unit_test(test_polygons_become_triangles),
        cmocka_unit_test(test_faces_of_few_corners),
        cmocka_unit_test(test_bad_obj),
        cmocka_unit_test(test_bad_others),
        cmocka_unit_test(test_a_needle_has_an_area),
        cmocka_unit_test(test_claims_are_compared_with_the_size),
        cmocka_unit_test(test_claims_of_pictures),
        cmocka_unit_test(test_million_polygons),
        cmocka_unit_test(test_real_meshes),
    };
    return cmocka_run_group_tests_name("mesh", tests, make_test_folder, remove_test_folder);
}
