/* Tests surfaces within, beside and across each other, of the kinds that people elsewhere report as read
 * wrongly (test_mesh_cases.c). Faults: a hole that counts as solid, or solid that counts twice. */
#include "base/util/program.h"
#include "scene/particles.h"
#include "tests/unit/mesh_cases.h"

/* A face with the same few corners again and again, and a thousand triangles on each other, count as one. */
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

/* Layers almost on each other are different surfaces. Their number of samples is bounded, and each stands
 * for its area. */
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
        assert_near(samples.area[0], 1.0 / 900, 1e-9);
        kf_samples_free(&samples);
        kf_mesh_free(&heap.mesh);
    }
    assert_true(counts[0] < 18000 && counts[1] < 3 * counts[0] / 2); /* of four times the layers */
}

/* Ctrl-C is noticed while samples are placed. */
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

/* A surface that no stream reaches does not act: shells inside, however thin the wall, discs, walls
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

/* A surface that the stream reaches acts: through a window, behind a wall with a gap, beside another
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

/* Two boxes are one closed solid if the wall between them is missing in the file, is there once, from both
 * sides, or cut in two ways. */
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

/* A cavity is not part of the solid's matter. A body within a body adds none. */
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
        assert_holds(notes.text, "have no effect");
        assert_int_equal(kf_mesh_body(&mesh, false, &body), 0);
        const double whole = body.volume;
        assert_int_equal(kf_mesh_body(&mesh, true, &body), 0);
        assert_near(body.volume / whole, inwards ? 1 - 0.512 : 1, 1e-9);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
        kf_mesh_free(&heap.mesh);
    }
}

/* Bodies that overlap count once there, whichever way each of them looks. */
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
        assert_near(body.volume, 3.0, 1e-3);
        assert_near(body.center[0], 11.5, 1e-3);
        assert_near(body.inertia[4], 3.0 * (9.0 + 1.0) / 12.0, 2e-3);
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

/* A sheet with both sides, on a closed body or beside it, leaves the body closed, and its samples stay
 * where they are. */
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
        assert_near(scene->surface_depth, plain->surface_depth, 1e-3);
        const double upper =
            scene->solid_high[2] - 5; /* where the sheet begins: half a metre is five cells */
        for (size_t s = 0; s < scene->samples.count; s++)
            if (scene->samples.z[s] > upper + 1) assert_near(scene->samples.y[s], scene->solid_high[1], 1e-9);
        kf_scene_free(scene);
        kf_mesh_free(&two.mesh);
    }
    kf_scene_free(plain);
    kf_mesh_free(&heap.mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_17_crowds),
        cmocka_unit_test(test_17_layers),
        cmocka_unit_test(test_17_interrupted),
        cmocka_unit_test(test_28_inner_surfaces),
        cmocka_unit_test(test_28_reached_surfaces),
        cmocka_unit_test(test_28_walls),
        cmocka_unit_test(test_28_matter),
        cmocka_unit_test(test_26_overlap),
        cmocka_unit_test(test_26_fluid),
        cmocka_unit_test(test_28_sheets),
    };
    return cmocka_run_group_tests_name("surfaces within surfaces", tests, make_test_folder,
                                       remove_test_folder);
}
