/* Tests the guess that places a bare mesh, and its description. Faults: a wrong unit, axis or size without
 * a message. */
#include "tests/unit/placed_box.h"

#include <math.h>

#include "base/util/memory.h"
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

/* The meshes stand upright, against the wind and on the road. The car needs no help; for the others the
 * user must say where the front is. */
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

/* Makes the 24 rotations that lay a mesh along the axes, whose matrices have one +-1 in each row. */
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
            assert_true(upright && ends[0] < -0.999); /* without a question it is never wrong */
            right++;
        }
        kf_text_free(&notes);
        free(copy.vertices);
    }
    print_message("%d of 24 without a question\n", right);
    assert_true(right >= 18);
    kf_mesh_free(&mesh);
}

/* Adds a box to a mesh, which has room for it. */
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

/* A table stands on its legs, and on its top when it lies on that. Without the legs at one end it falls
 * over. */
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

/* Rails across a box are feet where they cover less than 0.4 of their bounding rectangle. With 0.3 they
 * are; with 0.5 they are a plane, and the box's flat top is a better base. */
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

/* Adds a box of these two extents across `up` and this one along it, of a body that stands on its lower side
 * along `up`, or with sign -1 on its upper one. */
static void add_turned(kf_mesh *mesh, kf_heading up, const double low[3], const double size[3]) {
    double from[3], extent[3];
    for (int i = 0; i < 3; i++) {
        const int a = (up.axis + 1 + i) % 3; /* the third is up */
        from[a] = i == 2 && up.sign < 0 ? -low[i] - size[i] : low[i];
        extent[a] = size[i];
    }
    add_box(mesh, from[0], from[1], from[2], extent[0], extent[1], extent[2]);
}

/* A slab of 4 x 2 on three feet of 0.4 x 0.4 in its corners stands on 0.64 of its footprint, the polygon
 * around them; on all four it stands on the whole. Neither axis nor side nor the corner that is free matters.
 */
static void test_a_body_stands_on_the_hull_of_its_feet(void **state) {
    (void)state;
    for (int side = 0; side < 6; side++)
        for (int free = 0; free < 5; free++) {
            const kf_heading up = {side / 2, side % 2 == 0 ? 1 : -1};
            double vertices[5 * 24];
            uint32_t triangles[5 * 36];
            kf_mesh mesh = {.vertices = vertices, .triangles = triangles};
            kf_posture posture = {.up = up, .across = -1};
            add_turned(&mesh, up, (const double[3]){0, 0, 0.5}, (const double[3]){4, 2, 0.5});
            for (int corner = 0; corner < 4; corner++)
                if (corner != free)
                    add_turned(&mesh, up, (const double[3]){corner % 2 * 3.6, (corner & 2) * 0.8, 0},
                               (const double[3]){0.4, 0.4, 0.5});
            kf_posture_heading(&mesh, &posture);
            assert_int_equal(posture.patches, free < 4 ? 3 : 4);
            if (fabs(posture.stand - (free < 4 ? 0.64 : 1.0)) > 1e-9)
                fail_msg("side %d, corner %d: stands on %g", side, free, posture.stand);
        }
}

/* Two plates on a slab of 40 cubes' length mirror each other if the image of one is one cube beside the
 * other, on either side, but not if it is two cubes beside. */
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

/* The cabin of a car is in the upper third of its height. Parts that stick out of its front are not. */
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

/* What is said of an angle is said of its opposite; of none nothing is. */
static void test_angles_are_said_either_way(void **state) {
    (void)state;
    static const struct {
        kf_placement said;
        const char *note;
    } cases[] = {
        {{.yaw = 5}, "yaw: 5 degrees, counter-clockwise"},
        {{.yaw = -5}, "yaw: -5 degrees, counter-clockwise"},
        {{.yaw = 0}, NULL},
        {{.yaw = 5, .tunnel_yaw_given = true}, "yaw: 5 degrees, in the tunnel that was made for 0"},
        {{.yaw = -5, .tunnel_yaw_given = true}, "yaw: -5 degrees, in the tunnel that was made for 0"},
        {{.yaw = 0, .tunnel_yaw_given = true, .tunnel_yaw = -5},
         "yaw: 0 degrees, in the tunnel that was made for -5"},
        {{.yaw = -5, .tunnel_yaw_given = true, .tunnel_yaw = -5}, "yaw: -5 degrees, counter-clockwise"}};
    kf_mesh box = make_box(2, 1, 0.5);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_text notes = {0};
        kf_description d;
        place(&box, &cases[c].said, &d, &notes);
        if ((strstr(notes.text, "yaw: ") != NULL) != (cases[c].note != NULL) ||
            (cases[c].note != NULL && strstr(notes.text, cases[c].note) == NULL))
            fail_msg("yaw %g: %s", cases[c].said.yaw, notes.text);
        kf_text_free(&notes);
    }
    kf_mesh_free(&box);
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
        {{.up = {0, -1}},
         "axes of the mesh: -x is up, the wind blows towards +y (guessed)\nguess: axis of the wind "},
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

static void test_headings_are_read_or_refused(void **state) {
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
        cmocka_unit_test(test_headings_are_read_or_refused),
        cmocka_unit_test(test_the_three_meshes),
        cmocka_unit_test(test_a_car_turned_onto_all_axes),
        cmocka_unit_test(test_contact_with_the_road),
        cmocka_unit_test(test_how_much_of_a_side_feet_cover),
        cmocka_unit_test(test_an_image_lies_a_cube_aside_at_most),
        cmocka_unit_test(test_the_cabin_is_behind_the_front),
        cmocka_unit_test(test_angles_are_said_either_way),
        cmocka_unit_test(test_a_body_stands_on_the_hull_of_its_feet),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_what_was_guessed_is_said),
        cmocka_unit_test(test_an_unsure_guess_names_the_option),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
