/* Makes triangles, and files of them. */
#ifndef KF_TESTS_UNIT_MESH_HEAP_H
#define KF_TESTS_UNIT_MESH_HEAP_H

#include <math.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/mesh_mend.h"
#include "tests/unit/check.h"
#include "tests/unit/scene_files.h"

/* Returns the next number of a sequence in [0, 1) that is the same on every machine. */
static inline double draw(uint64_t *state) {
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) * 0x1p-53;
}

static inline uint32_t draw_below(uint64_t *state, size_t count) {
    return (uint32_t)(draw(state) * (double)count);
}

/* Adds a box with its corner at low, and returns its first vertex. */
static inline uint32_t heap_box(kf_mesh_builder *heap, const double low[3], const double size[3]) {
    static const uint32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const uint32_t first = (uint32_t)heap->mesh.vertex_count;
    for (int c = 0; c < 8; c++)
        (void)kf_mesh_add_vertex(heap, low[0] + (c & 1 ? size[0] : 0), low[1] + (c & 2 ? size[1] : 0),
                                 low[2] + (c & 4 ? size[2] : 0));
    for (int q = 0; q < 6; q++)
        kf_mesh_add_quad(heap, first + quads[q][0], first + quads[q][1], first + quads[q][2],
                         first + quads[q][3]);
    return first;
}

/* Adds a ball about the origin with outward triangles: rings of 2 n corners from pole to pole. */
static inline void heap_ball(kf_mesh_builder *heap, double radius, uint32_t n) {
    const uint32_t first = (uint32_t)heap->mesh.vertex_count, ring = 2 * n;
    const double pi = acos(-1.0);
    (void)kf_mesh_add_vertex(heap, 0, 0, -radius);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = 0; j < ring; j++) {
            const double polar = pi * i / n, turn = 2 * pi * (j + 0.5 * (i % 2)) / ring;
            (void)kf_mesh_add_vertex(heap, radius * sin(polar) * cos(turn), radius * sin(polar) * sin(turn),
                                     -radius * cos(polar));
        }
    const uint32_t last = kf_mesh_add_vertex(heap, 0, 0, radius);
    for (uint32_t j = 0; j < ring; j++) {
        const uint32_t next = (j + 1) % ring;
        kf_mesh_add_triangle(heap, first, first + 1 + next, first + 1 + j);
        kf_mesh_add_triangle(heap, last, last - ring + j, last - ring + next);
        for (uint32_t i = 0; i + 2 < n; i++) {
            const uint32_t low = first + 1 + i * ring, high = low + ring;
            kf_mesh_add_quad(heap, low + j, low + next, high + next, high + j);
        }
    }
}

static inline void turn_round(kf_mesh *mesh, size_t triangle) {
    const uint32_t second = mesh->triangles[3 * triangle + 1];
    mesh->triangles[3 * triangle + 1] = mesh->triangles[3 * triangle + 2];
    mesh->triangles[3 * triangle + 2] = second;
}

/* Adds each of the first `count` triangles once more, reversed or as it is. */
static inline void repeat_triangles(kf_mesh_builder *heap, size_t count, bool turned) {
    for (size_t t = 0; t < count; t++) {
        const uint32_t *c = heap->mesh.triangles + 3 * t;
        kf_mesh_add_triangle(heap, c[0], c[turned ? 2 : 1], c[turned ? 1 : 2]);
    }
}

static inline const char *write_obj(const char *name, const kf_mesh *mesh) {
    kf_text obj = {0};
    for (size_t v = 0; v < mesh->vertex_count; v++)
        kf_text_append(&obj, "v %.17g %.17g %.17g\n", mesh->vertices[3 * v], mesh->vertices[3 * v + 1],
                       mesh->vertices[3 * v + 2]);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        kf_text_append(&obj, "f %u %u %u\n", mesh->triangles[3 * t] + 1, mesh->triangles[3 * t + 1] + 1,
                       mesh->triangles[3 * t + 2] + 1);
    const char *path = write_text(name, obj.text);
    kf_text_free(&obj);
    return path;
}

/* Reads a file, or fails with the message. The caller frees both. */
static inline kf_mesh read_mesh(const char *path, kf_text *notes) {
    kf_mesh mesh;
    kf_error error = {KF_OK, ""};
    if (kf_mesh_read(path, &mesh, notes, &error) != KF_OK) fail_msg("%s", error.message);
    return mesh;
}

static inline void refuse_mesh(const char *path, const char *part) {
    kf_mesh mesh;
    kf_text notes = {0};
    kf_error error = {KF_OK, ""};
    if (kf_mesh_read(path, &mesh, &notes, &error) != KF_BAD_INPUT) fail_msg("%s was read", path);
    assert_holds(error.message, path);
    assert_holds(error.message, part);
    assert_null(strchr(error.message, '\n'));
    kf_text_free(&notes);
}

/* Compares to a tenth of a per cent. A length or an area of 0 must be 0 exactly. */
static inline void assert_to_a_tenth(const char *what, double value, double expected) {
    if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
        fail_msg("%s: %.9g is not %.9g", what, value, expected);
}

/* Checks that the mesh is closed and has this volume, area and box (low and high corner; NULL: any). */
static inline void assert_solid(const char *what, const kf_mesh *mesh, double volume, double area,
                                const kf_box *box) {
    kf_body body;
    const size_t open = kf_mesh_body(mesh, false, &body);
    const kf_box own = kf_mesh_bounds(mesh);
    if (open != 0) fail_msg("%s: %zu edges are open", what, open);
    assert_to_a_tenth(what, body.volume, volume);
    assert_to_a_tenth(what, kf_mesh_area(mesh), area);
    for (int a = 0; a < 3 && box != NULL; a++) {
        const double size = box->high[a] - box->low[a];
        assert_true(fabs(own.low[a] - box->low[a]) <= 1e-3 * size &&
                    fabs(own.high[a] - box->high[a]) <= 1e-3 * size);
    }
}

#endif
