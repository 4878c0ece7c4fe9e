/* Placing bare meshes: the guess, what is said, and the scene file that is written. */
#include "tests/unit/scene_files.h"

#include <math.h>

#include "base/util/memory.h"
#include "scene/document.h"
#include "scene/posture.h"

static const kf_heading none;

static void place(const kf_mesh *mesh, const kf_placement *said, kf_description *d, kf_text *notes) {
    const int nodes[3] = {96, 48, 48};
    kf_error error;
    kf_description_defaults(d, "mesh.obj");
    if (kf_description_place(d, mesh, said, nodes, notes, &error) != KF_OK) fail_msg("%s", error.message);
}

static bool read_shared(const char *name, kf_mesh *mesh) {
    kf_text notes = {0};
    kf_error error;
    const char *path = shared_mesh(name);
    memset(mesh, 0, sizeof *mesh);
    if (path == NULL) return false;
    assert_int_equal(kf_mesh_read(path, mesh, &notes, &error), KF_OK);
    kf_text_free(&notes);
    return true;
}

static void turned(const double matrix[9], const double from[3], double to[3]) {
    for (int a = 0; a < 3; a++)
        to[a] = matrix[3 * a] * from[0] + matrix[3 * a + 1] * from[1] + matrix[3 * a + 2] * from[2];
}

/* Checks where the placed solid has a direction of its mesh. */
static void assert_turned(const kf_description *d, const double from[3], double x, double y, double z) {
    double matrix[9], to[3];
    kf_placing_matrix(&d->solid, matrix);
    turned(matrix, from, to);
    if (fabs(to[0] - x) + fabs(to[1] - y) + fabs(to[2] - z) > 1e-9)
        fail_msg("(%g %g %g) instead of (%g %g %g)", to[0], to[1], to[2], x, y, z);
}

/* Upright, into the wind and on its road: the car by itself, of the others one must say where the front is.
 */
static void test_the_three_meshes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        kf_heading wind;
        double up[3], front[3]; /* in the mesh */
    } meshes[] = {{"beetle.obj", {0, 0}, {0, 1, 0}, {0, 0, 1}},
                  {"spot.obj", {2, 1}, {0, 1, 0}, {0, 0, -1}},
                  {"stanford-bunny.obj", {0, 1}, {0, 1, 0}, {-1, 0, 0}}};
    for (int m = 0; m < 3; m++) {
        kf_mesh mesh;
        kf_text notes = {0};
        kf_description d;
        if (!read_shared(meshes[m].name, &mesh)) skip();
        const kf_placement said = {.wind = meshes[m].wind};
        place(&mesh, &said, &d, &notes);
        assert_turned(&d, meshes[m].up, 0, 0, 1);
        assert_turned(&d, meshes[m].front, -1, 0, 0); /* the wind blows along +x */
        assert_int_equal(d.solid.anchor, KF_ANCHOR_BOTTOM);
        assert_true(d.solid.position[2] == 0.0);
        assert_int_equal(d.faces[KF_ZMIN], KF_WALL);
        assert_true(d.face_velocity[KF_ZMIN][0] == d.speed);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
    }
}

/* The 24 ways to lay a mesh along the axes: rotations whose matrix has one +-1 in each row. */
static int make_turns(double turns[24][9]) {
    int count = 0;
    for (int code = 0; code < 27 * 8; code++) {
        const int to[3] = {code % 3, code / 3 % 3, code / 9 % 3}, signs = code / 27;
        double m[9] = {0};
        if (to[0] == to[1] || to[1] == to[2] || to[0] == to[2]) continue;
        for (int a = 0; a < 3; a++)
            m[3 * to[a] + a] = signs >> a & 1 ? -1.0 : 1.0;
        const double det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                           m[2] * (m[3] * m[7] - m[4] * m[6]);
        if (det > 0.0) memcpy(turns[count++], m, sizeof m);
    }
    return count;
}

static void test_a_car_turned_onto_all_axes(void **state) {
    (void)state;
    static const double nowhere[3] = {0}, up[3] = {0, 1, 0}, front[3] = {0, 0, 1};
    double turns[24][9];
    kf_mesh mesh;
    if (!read_shared("beetle.obj", &mesh)) skip();
    assert_int_equal(make_turns(turns), 24);
    int right = 0;
    for (int t = 0; t < 24; t++) {
        kf_mesh copy = mesh;
        copy.vertices = kf_allocate(3 * mesh.vertex_count * sizeof(double));
        memcpy(copy.vertices, mesh.vertices, 3 * mesh.vertex_count * sizeof(double));
        kf_mesh_transform(&copy, turns[t], nowhere);
        kf_text notes = {0};
        kf_error error;
        kf_description d;
        const int nodes[3] = {96, 48, 48};
        kf_description_defaults(&d, "car.obj");
        if (kf_description_place(&d, &copy, NULL, nodes, &notes, &error) == KF_OK) {
            double matrix[9], lies[3], ends[3];
            kf_placing_matrix(&d.solid, matrix);
            turned(turns[t], up, lies);
            turned(matrix, lies, ends);
            const bool upright = ends[2] > 0.999;
            turned(turns[t], front, lies);
            turned(matrix, lies, ends);
            assert_true(upright && ends[0] < -0.999); /* without a question never wrong */
            right++;
        }
        kf_text_free(&notes);
        free(copy.vertices);
    }
    print_message("%d of 24 without a question\n", right);
    assert_true(right >= 18);
    kf_mesh_free(&mesh);
}

static kf_mesh make_box(double x, double y, double z) {
    kf_mesh_builder b = {0};
    uint32_t corner[8];
    for (int c = 0; c < 8; c++)
        corner[c] = kf_mesh_add_vertex(&b, x * (c & 1), y * (c >> 1 & 1), z * (c >> 2));
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int q = 0; q < 6; q++)
        kf_mesh_add_quad(&b, corner[quads[q][0]], corner[quads[q][1]], corner[quads[q][2]],
                         corner[quads[q][3]]);
    return b.mesh;
}

/* A box looks the same whatever way it lies: it is taken as it is. What is said about it holds. */
static void add_box(kf_mesh *mesh, double x, double y, double z, double wide, double deep, double high) {
    static const uint32_t faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                          {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    const uint32_t first = (uint32_t)mesh->vertex_count;
    for (int corner = 0; corner < 8; corner++) {
        double *vertex = mesh->vertices + 3 * mesh->vertex_count++;
        vertex[0] = x + (corner & 1 ? wide : 0.0);
        vertex[1] = y + (corner & 2 ? deep : 0.0);
        vertex[2] = z + (corner & 4 ? high : 0.0);
    }
    for (int face = 0; face < 12; face++)
        for (int k = 0; k < 3; k++)
            mesh->triangles[3 * (mesh->triangle_count + (size_t)face) + (size_t)k] = first + faces[face][k];
    mesh->triangle_count += 12;
}

/* A table stands on its legs, and on its top when it lies on that; without the legs of one end it falls over.
 */
static void test_contact_with_the_road(void **state) {
    (void)state;
    double vertices[3 * 40];
    uint32_t triangles[3 * 60];
    for (int legs = 2; legs <= 4; legs += 2)
        for (int sign = -1; sign <= 1; sign += 2) {
            kf_mesh mesh = {.vertices = vertices, .triangles = triangles};
            kf_text notes = {0};
            kf_description d;
            add_box(&mesh, 0, 0, 0.5, 2.0, 1.0, 0.2);
            for (int leg = 0; leg < legs; leg++)
                add_box(&mesh, leg & 2 ? 1.8 : 0.0, leg & 1 ? 0.8 : 0.0, 0.0, 0.2, 0.2, 0.5);
            place(&mesh, &(kf_placement){.up = {2, sign}, .wind = {0, 1}, .road = KF_ROAD_YES}, &d, &notes);
            char expected[32];
            const int patches = sign > 0 ? legs : 1;
            (void)snprintf(expected, sizeof expected, "contact: %d patch", patches);
            if (strstr(notes.text, expected) == NULL) fail_msg("%s is not in:\n%s", expected, notes.text);
            assert_int_equal(strstr(notes.text, "it would fall over") != NULL, sign > 0 && legs == 2);
            kf_text_free(&notes);
        }
}

/* Rails across a box are feet where they cover less than 0.4 of what they span: 0.3 are, 0.5 are a plane, and
 * the box's flat top stands better than that. */
static void test_how_much_of_a_side_feet_cover(void **state) {
    (void)state;
    for (int squares = 3; squares <= 5; squares += 2) { /* of 24 */
        double vertices[3 * 24];
        uint32_t triangles[3 * 36];
        kf_mesh mesh = {.vertices = vertices, .triangles = triangles};
        const double wide = (squares - 0.02) / 24.0, from = 2.01 / 24.0;
        add_box(&mesh, 0, 0, 0.2, 1.0, 1.0, 0.3);
        add_box(&mesh, 0, from, 0, 1.0, wide, 0.2);
        add_box(&mesh, 0, 1.0 - from - wide, 0, 1.0, wide, 0.2);
        const kf_posture posture = kf_mesh_posture(&mesh);
        assert_false(posture.as_it_is);
        assert_int_equal(posture.up.axis, 2);
        assert_int_equal(posture.up.sign, squares == 3 ? 1 : -1);
    }
}

/* Two plates on a slab of 40 cubes' length mirror each other where the image of one is a cube beside the
 * other, on either side; two cubes beside it they do not. */
static void test_an_image_lies_a_cube_aside_at_most(void **state) {
    (void)state;
    for (int aside = -2; aside <= 2; aside++) {
        double vertices[3 * 24];
        uint32_t triangles[3 * 36];
        kf_mesh mesh = {.vertices = vertices, .triangles = triangles};
        add_box(&mesh, -20, -10, 0, 40, 20, 2);
        add_box(&mesh, -10.7, -10, 2, 0.4, 20, 10);
        add_box(&mesh, 10.3 + aside, -10, 2, 0.4, 20, 10);
        const kf_posture posture = kf_mesh_posture(&mesh);
        assert_true(posture.mirror[1] >= 0.99);
        if ((posture.mirror[0] >= 0.99) != (abs(aside) <= 1))
            fail_msg("%d cubes aside %g of the surface is mirrored", aside, posture.mirror[0]);
    }
}

/* The cabin of a car is what is in the upper third of its height, not what sticks out of its front. */
static void test_the_cabin_is_behind_the_front(void **state) {
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        double vertices[3 * 24];
        uint32_t triangles[3 * 36];
        kf_mesh car = {.vertices = vertices, .triangles = triangles};
        kf_posture posture = {.up = {2, 1}, .across = 1};
        add_box(&car, 0, -0.8, 0, 4, 1.6, 0.6);
        add_box(&car, turn == 0 ? 2.0 : 0.4, -0.7, 0.6, 1.6, 1.4, 0.6);
        add_box(&car, turn == 0 ? 0.2 : 3.6, -0.1, 0.6, 0.2, 0.2, 0.8);
        kf_posture_heading(&car, &posture);
        assert_true(posture.like_a_car);
        assert_int_equal(posture.wind.axis, 0);
        assert_int_equal(posture.wind.sign, turn == 0 ? 1 : -1);
        assert_true(posture.front_sure >= KF_SURE);
    }
}

static void test_what_is_said(void **state) {
    (void)state;
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    kf_mesh box = make_box(2, 1, 0.5);
    kf_text notes = {0};
    kf_description d;
    place(&box, NULL, &d, &notes);
    assert_int_equal(d.solid.turns, 0);
    assert_int_equal(d.faces[KF_ZMIN], KF_FREE_SLIP);
    assert_true(d.speed == 10.0 && d.reynolds == 10000.0 && d.solid.scale == 1.0);
    const kf_placement said = {.wind = {1, -1},
                               .up = {0, -1},
                               .length = 4.0,
                               .speed = 30.0,
                               .viscosity = 1e-5,
                               .road = KF_ROAD_YES,
                               .blockage = 0.02};
    place(&box, &said, &d, &notes);
    assert_turned(&d, y, -1, 0, 0);
    assert_turned(&d, x, 0, 0, -1);
    assert_true(fabs(d.solid.scale - 4.0) < 1e-12 && fabs(d.reference_length - 4.0) < 1e-12);
    assert_true(d.speed == 30.0 && d.viscosity == 1e-5 && d.reynolds == 0.0);
    assert_int_equal(d.faces[KF_ZMIN], KF_WALL);
    const double front = 4.0 * 4.0 * 2.0 * 0.5; /* 2 x 0.5 across the wind, four times as large */
    assert_true(front <= 1.03 * 0.02 * d.cells[1] * d.cells[2] * d.cell_size * d.cell_size);
    const kf_placement yaw = {.wind = {0, 1}, .up = {2, 1}, .yaw = 30.0};
    place(&box, &yaw, &d, &notes);
    assert_turned(&d, x, cos(0.5235987755982988), 0.5, 0);
    kf_text_free(&notes);
    kf_mesh_free(&box);
}

/* The notes say of each direction whether it was given or guessed, whichever of the two was given. */
static void test_what_was_guessed_is_said(void **state) {
    (void)state;
    static const struct {
        kf_placement said;
        const char *words;
    } cases[] = {
        {{.wind = {1, -1}, .up = {0, -1}}, "axes of the mesh: -x is up, the wind blows towards -y\n"},
        {{.wind = {1, -1}},
         "axes of the mesh: +z is up (guessed: it stands that way), the wind blows towards -y\nguess: up 100 "
         "%"},
        {{.up = {0, -1}}, "axes of the mesh: -x is up, the wind blows towards +y (guessed)\nguess: up 100 %"},
        {{.yaw = 0.0},
         "axes: as in the file, z up and the wind along +x (the mesh is symmetric along all three)"},
    };
    kf_mesh box = make_box(2, 1, 0.5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_text notes = {0};
        kf_description d;
        place(&box, &cases[i].said, &d, &notes);
        if (strstr(notes.text, cases[i].words) == NULL)
            fail_msg("'%s' is not in %s", cases[i].words, notes.text);
        kf_text_free(&notes);
    }
    kf_mesh_free(&box);
}

static void test_an_unsure_guess_names_the_option(void **state) {
    (void)state;
    const int nodes[3] = {96, 48, 48};
    kf_description d;
    kf_text notes = {0};
    kf_error error;
    kf_mesh mesh;
    if (!read_shared("spot.obj", &mesh)) skip();
    kf_description_defaults(&d, "spot.obj");
    assert_int_equal(kf_description_place(&d, &mesh, NULL, nodes, &notes, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "--wind +z or --wind -z"));
    const kf_placement same_axis = {.wind = {1, 1}, .up = {1, 1}};
    kf_description_defaults(&d, "spot.obj");
    assert_int_equal(kf_description_place(&d, &mesh, &same_axis, nodes, &notes, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "same axis"));
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
}

static void test_written_scene_is_the_same(void **state) {
    (void)state;
    kf_mesh box = make_box(2, 1, 0.5);
    kf_text obj = {0};
    for (size_t v = 0; v < box.vertex_count; v++)
        kf_text_append(&obj, "v %.17g %.17g %.17g\n", box.vertices[3 * v], box.vertices[3 * v + 1],
                       box.vertices[3 * v + 2]);
    for (size_t t = 0; t < box.triangle_count; t++)
        kf_text_append(&obj, "f %u %u %u\n", box.triangles[3 * t] + 1, box.triangles[3 * t + 1] + 1,
                       box.triangles[3 * t + 2] + 1);
    const char *mesh = write_text("box.obj", obj.text), *file = test_path("box.scene.json");
    const kf_placement said = {
        .wind = {1, 1}, .length = 0.37, .yaw = 7.0, .road = KF_ROAD_YES, .nodes = {60, 32, 24}};
    const kf_scene_options options = {.nodes = {60, 32, 24}};
    kf_scene *placed = NULL, *read = NULL;
    kf_error error;
    assert_int_equal(kf_scene_open_placed(mesh, &said, &options, &placed, &error), KF_OK);
    char *notes = NULL;
    cJSON *document = NULL;
    bool replaced = true;
    assert_int_equal(kf_scene_of_mesh(mesh, &said, &document, &notes, &error), KF_OK);
    assert_non_null(strstr(notes, "the wind blows towards +y"));
    assert_non_null(strstr(notes, "domain: 60x32x24 cells"));
    free(notes);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    assert_false(replaced);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    assert_false(replaced);
    if (kf_scene_open(file, NULL, &read, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(placed->hash, read->hash);
    assert_true(fabs(placed->solid_low[2] + 0.5) < 1e-12); /* it stands on the road */
    cJSON_Delete(document);
    kf_scene_free(placed);
    kf_scene_free(read);
    kf_text_free(&obj);
    kf_mesh_free(&box);
}

/* --- Changed scenes ----------------------------------------------------------------------------------- */

static cJSON *part(cJSON *document, const char *section, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(document, section), key);
}

static const char *write_box(void) {
    kf_mesh box = make_box(2, 1, 0.5);
    kf_text obj = {0};
    for (size_t v = 0; v < box.vertex_count; v++)
        kf_text_append(&obj, "v %.17g %.17g %.17g\n", box.vertices[3 * v], box.vertices[3 * v + 1],
                       box.vertices[3 * v + 2]);
    for (size_t t = 0; t < box.triangle_count; t++)
        kf_text_append(&obj, "f %u %u %u\n", box.triangles[3 * t] + 1, box.triangles[3 * t + 1] + 1,
                       box.triangles[3 * t + 2] + 1);
    const char *mesh = write_text("changed.obj", obj.text);
    kf_text_free(&obj);
    kf_mesh_free(&box);
    return mesh;
}

static cJSON *make_scene(const char *mesh, const kf_placement *said) {
    cJSON *document = NULL;
    kf_error error;
    if (kf_scene_of_mesh(mesh, said, &document, NULL, &error) != KF_OK) fail_msg("%s", error.message);
    return document;
}

/* With levels around it a mesh keeps its cells, in a domain of coarser ones; written, it is the same scene.
 */
static void test_refined_placement(void **state) {
    (void)state;
    const char *mesh = write_box(), *file = test_path("refined.scene.json");
    const kf_placement coarse = {.wind = {0, 1}, .up = {2, 1}, .cells = 24.0},
                       said = {.wind = {0, 1}, .up = {2, 1}, .cells = 24.0, .refine = KF_REFINE_BODY};
    kf_scene *one = NULL, *placed = NULL, *read = NULL;
    kf_error error;
    bool replaced;
    assert_int_equal(kf_scene_open_placed(mesh, &coarse, NULL, &one, &error), KF_OK);
    assert_int_equal(kf_scene_open_placed(mesh, &said, NULL, &placed, &error), KF_OK);
    assert_int_equal(placed->finer_count, 1);
    assert_true(fabs(kf_scene_finest(placed)->cell_size / one->cell_size - 1.0) < 1e-9);
    assert_true(fabs(kf_scene_finest(placed)->reference_length - 24.0) < 1e-6);
    cJSON *document = make_scene(mesh, &said);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    if (kf_scene_open(file, NULL, &read, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(placed->hash, read->hash);
    cJSON_Delete(document);
    kf_scene_free(one);
    kf_scene_free(placed);
    kf_scene_free(read);
}

/* A value that is changed later is as if it had been said at first, but for the tunnel, which stays. */
static void test_a_written_scene_is_changed_with_all_that_follows(void **state) {
    (void)state;
    const char *mesh = write_box();
    const kf_placement first = {
        .wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_YES, .speed = 30.0, .cells = 20.0};
    kf_placement whole = first;
    const kf_placement said[] = {{.speed = 40.0},
                                 {.viscosity = 0.25},
                                 {.cells = 28.0},
                                 {.road = KF_ROAD_NO},
                                 {.yaw = 5.0, .yaw_given = true},
                                 {.yaw = 0.0, .yaw_given = true},
                                 {.length = 3.0},
                                 {.refine = 1},
                                 {.refine = KF_REFINE_BODY},
                                 {.refine = KF_REFINE_NONE}};
    cJSON *document = make_scene(mesh, &first);
    assert_true(cJSON_GetArrayItem(part(document, "boundaries", "zmin"), 1)->child->valuedouble == 30.0);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        kf_text notes = {0}, difference = {0};
        kf_error error;
        kf_placement_change(&whole, &said[i]);
        cJSON *anew = make_scene(mesh, &whole);
        if (kf_scene_document_change("box.json", document, &said[i], &notes, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_scene_document_difference(document, anew, &difference);
        if (difference.length > 0) fail_msg("change %zu: %s", i, difference.text);
        assert_true(notes.text == NULL || strstr(notes.text, "by hand") == NULL);
        assert_true(cJSON_Compare(cJSON_GetObjectItemCaseSensitive(document, "placed"),
                                  cJSON_GetObjectItemCaseSensitive(anew, "placed"), true));
        if (i == 0)
            assert_true(cJSON_GetArrayItem(part(document, "boundaries", "zmin"), 1)->child->valuedouble ==
                        40.0);
        if (i == 4) assert_true(part(document, "solid", "yaw")->valuedouble == 5.0);
        cJSON_Delete(anew);
        kf_text_free(&notes);
        kf_text_free(&difference);
    }
    assert_null(part(document, "flow", "reynolds"));
    cJSON_Delete(document);
}

/* Angles of a written scene have one tunnel: its grid does not follow the yaw. */
static void test_the_yaw_leaves_the_tunnel_alone(void **state) {
    (void)state;
    const char *mesh = write_box();
    const kf_placement first = {.wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_YES, .cells = 20.0};
    cJSON *straight = make_scene(mesh, &first);
    for (int yaw = -30; yaw <= 30; yaw += 15) {
        const kf_placement turn = {.yaw = yaw, .yaw_given = true};
        kf_text notes = {0};
        kf_error error;
        cJSON *turned = cJSON_Duplicate(straight, true);
        assert_int_equal(kf_scene_document_change("box.json", turned, &turn, &notes, &error), KF_OK);
        assert_true(cJSON_Compare(cJSON_GetObjectItemCaseSensitive(straight, "domain"),
                                  cJSON_GetObjectItemCaseSensitive(turned, "domain"), true));
        cJSON_Delete(turned);
        kf_text_free(&notes);
    }
    cJSON_Delete(straight);
}

static void test_what_was_changed_by_hand_stays(void **state) {
    (void)state;
    const char *mesh = write_box();
    const kf_placement first = {.wind = {0, 1},
                                .up = {2, 1},
                                .road = KF_ROAD_YES,
                                .speed = 30.0,
                                .cells = 20.0},
                       faster = {.speed = 40.0};
    cJSON *document = make_scene(mesh, &first);
    kf_text notes = {0};
    kf_error error;
    cJSON_AddNumberToObject(cJSON_GetObjectItemCaseSensitive(document, "flow"), "reference_area", 0.4);
    cJSON_SetNumberValue(part(document, "sampling", "seed"), 7);
    assert_int_equal(kf_scene_document_change("box.json", document, &faster, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "reference_area")->valuedouble == 0.4);
    assert_true(part(document, "sampling", "seed")->valuedouble == 7.0);
    assert_null(strstr(notes.text, "by hand"));
    kf_text_free(&notes);
    /* A change by hand is touched by what is said: a line says what it was. */
    const kf_placement fastest = {.speed = 50.0};
    cJSON_SetNumberValue(part(document, "flow", "speed"), 45);
    assert_int_equal(kf_scene_document_change("box.json", document, &fastest, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "speed")->valuedouble == 50.0);
    assert_non_null(strstr(notes.text, "flow.speed: was changed by hand, to 45; is now 50"));
    kf_text_free(&notes);
    cJSON_Delete(document);
}

static void test_any_scene_of_a_flow_is_changed_in_its_flow(void **state) {
    (void)state;
    static const char *const text =
        "{\"solid\":{\"shape\":\"plate\",\"length\":2,\"position\":[4,2,0.5]},\"domain\":{\"cells\":[80,40,"
        "20],"
        "\"cell_size\":0.1},\"boundaries\":{\"xmin\":\"inflow\",\"xmax\":\"outflow\",\"ymin\":\"free_slip\","
        "\"ymax\":\"free_slip\",\"zmin\":{\"type\":\"wall\",\"velocity\":[10,0,0]},\"zmax\":\"free_slip\"},"
        "\"flow\":{\"speed\":10,\"reynolds\":300}}";
    const char *file = write_text("any.scene.json", text);
    const kf_placement said = {.speed = 15.0, .viscosity = 0.1, .yaw = 30.0, .yaw_given = true};
    const kf_placement refined = {.refine = 1}, not_refined = {.refine = KF_REFINE_NONE};
    const kf_placement misplaced[] = {{.cells = 10.0}, {.length = 2.0}, {.road = KF_ROAD_NO}, {.up = {2, 1}}};
    cJSON *document = NULL;
    kf_text notes = {0};
    kf_error error;
    kf_scene *scene = NULL;
    assert_int_equal(kf_scene_document_read(file, &document, &error), KF_OK);
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++) {
        assert_int_equal(kf_scene_document_change(file, document, &misplaced[i], &notes, &error),
                         KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "places a mesh"));
    }
    cJSON_AddStringToObject(cJSON_AddObjectToObject(document, "model"), "rates", "adaptive_2020");
    assert_int_equal(kf_scene_document_change(file, document, &refined, &notes, &error), KF_OK);
    assert_true(part(document, "refine", "levels")->valuedouble == 1.0);
    assert_string_equal(part(document, "model", "rates")->valuestring, "k17");
    assert_non_null(strstr(notes.text, "k17 instead of adaptive_2020"));
    assert_int_equal(kf_scene_document_change(file, document, &not_refined, &notes, &error), KF_OK);
    assert_null(cJSON_GetObjectItemCaseSensitive(document, "refine"));
    assert_int_equal(kf_scene_document_change(file, document, &said, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "speed")->valuedouble == 15.0);
    assert_null(part(document, "flow", "reynolds"));
    char kept[KF_PATH];
    setenv("XDG_DATA_HOME", test_folder, 1);
    assert_int_equal(kf_scene_document_keep(document, "any-yaw30", kept, &error), KF_OK);
    if (kf_scene_open(kept, NULL, &scene, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(scene->name, "any-yaw30");
    assert_true(fabs(scene->face_velocity[KF_ZMIN][0] - scene->reference_speed) < 1e-12);
    /* Turned, the square plate is as long as it was. */
    const double turned = 2.0 * (cos(acos(-1.0) / 6.0) + 0.5) / scene->cell_size;
    assert_true(fabs(scene->solid_high[0] - scene->solid_low[0] - turned) < 1e-6);
    kf_scene_free(scene);
    cJSON_Delete(document);
    kf_text_free(&notes);
}

/* A scene that is kept knows its mesh. */
static void test_a_kept_scene_refuses_another_mesh(void **state) {
    (void)state;
    const char *mesh = write_box();
    const kf_placement said = {.wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_NO, .cells = 20.0};
    cJSON *document = make_scene(mesh, &said);
    setenv("XDG_DATA_HOME", test_folder, 1);
    char kept[KF_PATH];
    kf_scene *scene = NULL;
    kf_error error;
    assert_int_equal(kf_scene_document_pin(document, &error), KF_OK);
    assert_int_equal(kf_scene_document_keep(document, "box", kept, &error), KF_OK);
    assert_int_equal(kf_scene_open(kept, NULL, &scene, &error), KF_OK);
    kf_scene_free(scene);
    FILE *file = fopen(mesh, "a");
    assert_non_null(file);
    fputs("# a remark\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(kf_scene_open(kept, NULL, &scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "is not the mesh that this scene was made of"));
    cJSON_Delete(document);
}

/* A scene file of kftune's making makes way for another one; one that somebody changed does not. */
static void test_no_work_is_overwritten(void **state) {
    (void)state;
    const char *mesh = write_box(), *file = test_path("way.scene.json");
    const kf_placement one = {.wind = {0, 1}, .up = {2, 1}, .cells = 20.0},
                       two = {.wind = {0, 1}, .up = {2, 1}, .cells = 20.0, .speed = 12.0};
    cJSON *first = make_scene(mesh, &one), *second = make_scene(mesh, &two);
    bool replaced = false;
    kf_error error;
    assert_int_equal(kf_scene_document_write(first, file, &replaced, &error), KF_OK);
    assert_int_equal(kf_scene_document_write(second, file, &replaced, &error), KF_OK);
    assert_true(replaced);
    cJSON_SetNumberValue(part(first, "flow", "speed"), 11.5);
    (void)unlink(file);
    assert_int_equal(kf_scene_document_write(first, file, &replaced, &error), KF_OK);
    assert_int_equal(kf_scene_document_write(second, file, &replaced, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "says something else"));
    assert_non_null(strstr(error.message, "flow.speed is 11.5 and 12"));
    cJSON_Delete(first);
    cJSON_Delete(second);
}

static void test_headings(void **state) {
    (void)state;
    kf_heading h = none;
    assert_true(kf_heading_read("-z", &h) && h.axis == 2 && h.sign == -1);
    assert_true(kf_heading_read("y", &h) && h.axis == 1 && h.sign == 1);
    assert_true(kf_heading_read("+x", &h) && h.axis == 0 && h.sign == 1);
    assert_string_equal(kf_heading_name(h), "+x");
    static const char *const wrong[] = {"", "-", "w", "xx", "--x", "z "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(kf_heading_read(wrong[i], &h));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headings),
        cmocka_unit_test(test_the_three_meshes),
        cmocka_unit_test(test_a_car_turned_onto_all_axes),
        cmocka_unit_test(test_contact_with_the_road),
        cmocka_unit_test(test_how_much_of_a_side_feet_cover),
        cmocka_unit_test(test_an_image_lies_a_cube_aside_at_most),
        cmocka_unit_test(test_the_cabin_is_behind_the_front),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_what_was_guessed_is_said),
        cmocka_unit_test(test_an_unsure_guess_names_the_option),
        cmocka_unit_test(test_written_scene_is_the_same),
        cmocka_unit_test(test_refined_placement),
        cmocka_unit_test(test_a_written_scene_is_changed_with_all_that_follows),
        cmocka_unit_test(test_the_yaw_leaves_the_tunnel_alone),
        cmocka_unit_test(test_what_was_changed_by_hand_stays),
        cmocka_unit_test(test_any_scene_of_a_flow_is_changed_in_its_flow),
        cmocka_unit_test(test_a_kept_scene_refuses_another_mesh),
        cmocka_unit_test(test_no_work_is_overwritten),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
