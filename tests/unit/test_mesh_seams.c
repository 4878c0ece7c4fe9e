/* Tests faces whose edges nearly meet. Faults: a gap that is left open, or a real one that is closed. */
#include <math.h>

#include "base/util/text.h"
#include "tests/unit/scene_files.h"

/* Appends a face of the box, which is 1 long, 0.7 wide and 0.4 high, as this many quads a side with
 * corners of their own, each a rounding error off its place. */
static void append_face(kf_text *text, int *have, int axis, bool far, int quads, double unit) {
    static const double size[3] = {1.0, 0.7, 0.4}, OFF = 1e-8;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3, first = *have + 1;
    for (int i = 0; i <= quads; i++)
        for (int j = 0; j <= quads; j++) {
            double place[3];
            place[axis] = far ? size[axis] : 0.0;
            place[u] = size[u] * i / quads;
            place[v] = size[v] * j / quads;
            ++*have;
            for (int a = 0; a < 3; a++)
                place[a] += OFF * ((*have + a) % 3 - 1);
            kf_text_append(text, "v %.10g %.10g %.10g\n", unit * place[0], unit * place[1], unit * place[2]);
        }
    for (int i = 0; i < quads; i++)
        for (int j = 0; j < quads; j++) {
            const int a = first + i * (quads + 1) + j, b = a + quads + 1;
            if (far)
                kf_text_append(text, "f %d %d %d %d\n", a, b, b + 1, a + 1);
            else
                kf_text_append(text, "f %d %d %d %d\n", a, a + 1, b + 1, b);
        }
}

/* A box whose faces nearly meet, one of them a single quad beside faces of many, is stitched in whatever unit
 * its lengths are. */
static void test_seams_in_any_unit(void **state) {
    (void)state;
    static const double units[] = {1.0, 1e-3, 3.0, 10.0, 30.0, 1e3, 1e6};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        kf_text text = {0}, notes = {0};
        kf_error error = {0};
        kf_mesh mesh;
        int have = 0;
        for (int axis = 0; axis < 3; axis++)
            for (int far = 0; far < 2; far++)
                append_face(&text, &have, axis, far == 1, axis == 2 && far == 1 ? 1 : 4, units[i]);
        if (kf_mesh_read(write_text("seams.obj", text.text), &mesh, &notes, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_int_equal(kf_mesh_clean(&mesh), 0);
        assert_true(fabs(kf_mesh_area(&mesh) / (units[i] * units[i]) - 2.76) < 1e-5);
        kf_mesh_free(&mesh);
        kf_text_free(&text);
        kf_text_free(&notes);
    }
}

/* Reads a box whose faces nearly meet, a fin on its top that has both its sides, and a triangle along a seam
 * that vanishes when the seam is closed. The file has its faces in order, from this one on. */
static void read_from(size_t begin, kf_mesh *mesh) {
    enum { QUADS = 2, MOST = 64 };
    kf_text text = {0}, notes = {0};
    kf_error error = {0};
    int have = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int far = 0; far < 2; far++)
            append_face(&text, &have, axis, far == 1, QUADS, 1.0);
    /* The far face across z has the corners from 46 on. Corner 3, of the near face across x, is a rounding
     * error off the first of them. */
    kf_text_append(&text, "v 0.3 0.3 0.9\nf 46 50 55\nf 50 46 55\nf 46 3 49\n");
    char *line[MOST], *rest = text.text;
    kf_text turned = {0}, vertices = {0};
    size_t faces = 0;
    for (char *one; (one = strtok_r(rest, "\n", &rest)) != NULL;)
        if (one[0] == 'v')
            kf_text_append(&vertices, "%s\n", one);
        else
            line[faces++] = one;
    for (size_t f = 0; f < faces; f++)
        kf_text_append(&turned, "%s\n", line[(begin + f) % faces]);
    kf_text_append(&vertices, "%s", turned.text);
    if (kf_mesh_read(write_text("seams.obj", vertices.text), mesh, &notes, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_text_free(&text);
    kf_text_free(&turned);
    kf_text_free(&vertices);
    kf_text_free(&notes);
}

/* What becomes of a heap of faces does not depend on which of them comes first. */
static void test_faces_in_any_order(void **state) {
    (void)state;
    static const size_t first[] = {0, 13, 25,
                                   26}; /* of the box, then of the fin's sides, then along the seam */
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const size_t begin = first[i];
        kf_mesh mesh;
        read_from(begin, &mesh);
        const double area = kf_mesh_area(&mesh), fin = kf_mesh_triangle_area(&mesh, 48);
        if (mesh.triangle_count != 49 || mesh.sheet_count != 1 || fabs(area - fin - 2.76) > 1e-5 ||
            fabs(fin - 0.154229) > 1e-5)
            fail_msg("from face %zu: %zu triangles, %zu of sheets, area %g, that of the fin %g", begin,
                     mesh.triangle_count, mesh.sheet_count, area, fin);
        kf_mesh_free(&mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seams_in_any_unit),
                                       cmocka_unit_test(test_faces_in_any_order)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
