/* A box as a mesh, for tests of placement and of scene files that are made from meshes. */
#ifndef KF_TESTS_UNIT_PLACED_BOX_H
#define KF_TESTS_UNIT_PLACED_BOX_H

#include "base/util/memory.h"
#include "tests/unit/scene_files.h"

static inline kf_mesh make_box(double x, double y, double z) {
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

/* Writes a box as an OBJ file with these first lines into the test's folder, and returns its path. */
static inline const char *write_box_of(const char *name, const char *first, double x, double y, double z) {
    kf_mesh box = make_box(x, y, z);
    kf_text obj = {0};
    kf_text_append(&obj, "%s", first);
    for (size_t v = 0; v < box.vertex_count; v++)
        kf_text_append(&obj, "v %.17g %.17g %.17g\n", box.vertices[3 * v], box.vertices[3 * v + 1],
                       box.vertices[3 * v + 2]);
    for (size_t t = 0; t < box.triangle_count; t++)
        kf_text_append(&obj, "f %u %u %u\n", box.triangles[3 * t] + 1, box.triangles[3 * t + 1] + 1,
                       box.triangles[3 * t + 2] + 1);
    const char *mesh = write_text(name, obj.text);
    kf_text_free(&obj);
    kf_mesh_free(&box);
    return mesh;
}

static inline const char *write_box(const char *name) {
    return write_box_of(name, "", 2, 1, 0.5);
}

#endif
