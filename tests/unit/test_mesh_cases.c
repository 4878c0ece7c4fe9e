/* Tests meshes of the kinds that people elsewhere report as read wrongly, with the right number of each.
 * The cases have the numbers of the collection that they come from (tests/data/cases). Faults: volume,
 * area or box of such a mesh is wrong. */
#include "scene/document.h"
#include "tests/unit/mesh_cases.h"

/* A surface that is in its file with both sides, several times, or in part, is one surface. */
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

/* A ball has its mass as a free solid, and a sheet with both sides has none. */
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
        if (scene != NULL) assert_near(scene->motion.excess_mass / 512, acos(-1.0) / 6, 0.02);
        for (int a = 0; a < 3 && scene != NULL; a++)
            assert_near(scene->motion.center[a], 15.5, 1e-6);
        kf_scene_free(scene);
        kf_mesh_free(&heap.mesh);
    }
}

/* Coordinates of maps keep their digits: the scene is the one at the origin, but for what the decimals
 * round. */
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
        assert_near(front_of(path, NULL), area, 1e-6);
        kf_mesh_free(&far);
        kf_mesh_transform(&heap.mesh, unit, (double[3]){-places[p][0], -places[p][1], -places[p][2]});
    }
    assert_null(notes.text);
    kf_mesh_free(&near_by);
    kf_mesh_free(&heap.mesh);
}

#define PRISM                                                                                                \
    "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv "  \
    "0 2 "                                                                                                   \
    "1\nf 6 5 4 3 2 1\nf 7 8 9 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 " \
    "7 12\n"
/* An L-shaped prism is seen on its L. */
static void test_4_concave(void **state) {
    (void)state;
    const kf_placement said = {.up = {1, 1}, .wind = {2, 1}, .road = KF_ROAD_NO, .cells = 4};
    const char *path = write_text("l.obj", PRISM);
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(path, &notes);
    assert_near(front_of(path, &said), 3.0, 1e-6);
    assert_solid(path, &mesh, 3.0, 2 * 3.0 + 8.0, NULL);
    assert_null(notes.text);
    kf_mesh_free(&mesh);
}

/* A polygon that crosses itself is reported, and refused where it spoils the surface. */
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

/* A triangle that was lost far away is reported. A part that is merely apart is not. */
static void test_5_lost_triangle(void **state) {
    (void)state;
    kf_text notes = {0};
    kf_mesh mesh =
        read_mesh(write_text("lost.obj", PRISM "v 0 99 0\nv 0.1 99 0\nv 0 99.1 0\nf 13 14 15\n"), &notes);
    assert_holds(notes.text, "it has a gap from 2 to 99 along y, 98 % of its extent");
    assert_holds(notes.text, "does the piece of 1 triangle beyond the gap belong to it?");
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
    mesh = read_mesh(write_text("apart.obj", PRISM "v 0 3 0\nv 0.1 3 0\nv 0 5 0\nf 13 14 15\n"), &notes);
    assert_true(notes.text == NULL || strstr(notes.text, "it has a gap") == NULL);
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

/* The frontal area does not depend on the grid, and includes thin parts. */
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
                assert_near(scene->frontal_area * scene->cell_size * scene->cell_size,
                            thin ? 0.003 * c + 0.005 * s : c + 0.005 * s, 1e-6);
                kf_scene_free(scene);
            }
        }
    }
}

/* Triangles without area are removed and leave no gap. An edge that is cut on one side only leaves none
 * either. */
static void test_11_closed_by_slivers(void **state) {
    (void)state;
    static const char *const cube =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
    static const char *const five = "f 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    static const char *const sixth[] = {
        "v .5 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 2\nf 1 9 2\n", /* one sliver */
        "v .5 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 2\n",          /* none: an edge cut on one side */
        "v .5 0 0\nv .5 0 0\nf 1 3 4\nf 1 4 9\nf 10 4 2\nf 1 9 2\nf 9 10 2\n", /* with a double corner */
        ("v .25 0 0\nv .5 0 0\nv .75 0 0\nf 1 3 4\nf 1 4 9\nf 9 4 10\nf 10 4 11\nf 11 4 2\nf 1 9 2\nf 9 10 "
         "2\nf 10 11 2\n"),
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

/* A guess that is not followed names every axis, with what it would make of the mesh. */
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

/* The unit of a car follows from its length along the given wind, if it is a car along that. */
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
        assert_near(scene->reference_length * scene->cell_size, cases[c].length, 1e-9);
        assert_int_equal(strstr(scene->notes, "the car") != NULL, cases[c].length == 6.0);
        kf_scene_free(scene);
    }
    kf_mesh_free(&heap.mesh);
}

/* There is one reference area: the front at zero yaw, whatever the yaw and the grid, or the one of the
 * scene or an option. The flow does not depend on it. */
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
        assert_near(scene->frontal_area * dx2, cos(angle) + 3 * sin(angle), 1e-6);
        assert_near(kf_scene_reference_area(scene) * dx2, 1.0, 1e-6);
        assert_int_equal(kf_scene_reduce(scene, 20000, &small, &error), KF_OK);
        assert_near(kf_scene_reference_area(small) * small->cell_size * small->cell_size, 1.0, 1e-6);
        kf_scene_free(small);
        const char *file = test_path("long.scene.json");
        cJSON *document = NULL;
        bool replaced = false;
        assert_int_equal(kf_scene_of_mesh(path, &said, &document, NULL, &error), KF_OK);
        assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
        cJSON_Delete(document);
        kf_scene *written = open_tunnel(file, NULL);
        assert_string_equal(written->hash, scene->hash);
        assert_near(kf_scene_reference_area(written) * dx2, 1.0, 1e-6);
        assert_true(written->yaw == yaw);
        kf_scene_refer_to_area(written, 2.5);
        assert_near(kf_scene_reference_area(written) * dx2, 2.5, 1e-12);
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
    assert_near(kf_scene_reference_area(scene), 25.0, 1e-12);
    assert_near(same->moment_center[0] - scene->moment_center[0], 10.0, 1e-12);
    kf_scene_free(scene);
    kf_scene_free(same);
}

/* What coefficients and the Reynolds number refer to is a length, an area and a point of the body. A yaw
 * turns the point with the body and changes nothing else, for each side that the wind comes from, each anchor
 * and each turn before it. */
static void test_references_at_yaw(void **state) {
    (void)state;
    /* The tip of a pyramid is far from the middle of its box, so that the box of the turned solid has another
     * middle in the solid's own axes. */
    static const char *const
        anchors[3] = {"center", "bottom", "origin"},
        *const winds[3] = {"\"xmin\":\"inflow\",\"xmax\":\"outflow\",\"ymin\":\"wall\",\"ymax\":\"wall\"",
                           "\"xmin\":\"wall\",\"xmax\":\"wall\",\"ymin\":\"outflow\",\"ymax\":\"inflow\"",
                           "\"xmin\":\"outflow\",\"xmax\":\"inflow\",\"ymin\":\"wall\",\"ymax\":\"wall\""},
        *const turns[2] = {"", ",\"rotation\":{\"axis\":[1,2,3],\"degrees\":40}"};
    (void)write_text("pyramid.obj",
                     "v 0 0 0\nv 2 -0.7 0\nv 2 1.3 0.2\nv 1.9 0.4 0.8\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    for (int c = 0; c < 18; c++) {
        double length = 0, viscosity = 0, area = 0, arm[3] = {0};
        for (int yaw = 0; yaw <= 120; yaw += 40) {
            char text[700];
            (void)snprintf(
                text, sizeof text,
                "{\"solid\":{\"mesh\":\"pyramid.obj\",\"length\":1.5,\"anchor\":\"%s\",\"position\":"
                "[3,3,3],\"yaw\":%d%s},\"domain\":{\"cells\":[30,30,30],\"cell_size\":0.2},"
                "\"boundaries\":{%s,\"zmin\":\"wall\",\"zmax\":\"wall\"},\"flow\":{\"speed\":1,\"reynolds\":"
                "50}}",
                anchors[c % 3], yaw, turns[c / 9], winds[c / 3 % 3]);
            kf_scene *scene = open_tunnel(write_text("turned.json", text), NULL);
            const double angle = yaw * acos(-1.0) / 180, *tip = scene->mesh.vertices;
            const double x = scene->moment_center[0] - tip[0], y = scene->moment_center[1] - tip[1],
                         back[3] = {cos(angle) * x + sin(angle) * y, cos(angle) * y - sin(angle) * x,
                                    scene->moment_center[2] - tip[2]};
            if (yaw == 0) {
                length = scene->reference_length;
                viscosity = scene->viscosity;
                area = kf_scene_reference_area(scene);
                memcpy(arm, back, sizeof arm);
            }
            assert_near(scene->reference_length, length, 1e-9);
            assert_near(scene->viscosity, viscosity, 1e-12);
            assert_near(kf_scene_reference_area(scene), area, 1e-6);
            for (int a = 0; a < 3; a++)
                assert_near(back[a], arm[a], 1e-9);
            kf_scene_free(scene);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2_double_sided),
        cmocka_unit_test(test_2_double_sided_free),
        cmocka_unit_test(test_3_georeferenced),
        cmocka_unit_test(test_4_concave),
        cmocka_unit_test(test_5_lost_triangle),
        cmocka_unit_test(test_4_crossed),
        cmocka_unit_test(test_5_unused_vertex),
        cmocka_unit_test(test_10_frontal_area),
        cmocka_unit_test(test_11_closed_by_slivers),
        cmocka_unit_test(test_22_guesses),
        cmocka_unit_test(test_23_units),
        cmocka_unit_test(test_10_reference_area),
        cmocka_unit_test(test_references_at_yaw),
    };
    return cmocka_run_group_tests_name("mesh cases", tests, make_test_folder, remove_test_folder);
}
