/* A box as a mesh with its triangles facing outwards, for tests that build scenes by hand. */
#ifndef KF_TESTS_UNIT_BOX_MESH_H
#define KF_TESTS_UNIT_BOX_MESH_H

#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"

static inline kf_mesh box_mesh(const double low[3], const double high[3]) {
    static const uint32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const kf_mesh mesh = {.vertex_count = 8,
                          .triangle_count = 12,
                          .vertices = kf_allocate(24 * sizeof(double)),
                          .triangles = kf_allocate(36 * sizeof(uint32_t))};
    for (size_t v = 0; v < 8; v++)
        for (size_t a = 0; a < 3; a++)
            mesh.vertices[3 * v + a] = v >> a & 1 ? high[a] : low[a];
    for (size_t q = 0; q < 6; q++) {
        const uint32_t *c = quads[q], both[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
        memcpy(mesh.triangles + 6 * q, both, sizeof both);
    }
    return mesh;
}

#endif
