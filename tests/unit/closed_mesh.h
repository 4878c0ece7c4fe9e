/* Checks that a mesh is closed. */
#ifndef KF_TESTS_UNIT_CLOSED_MESH_H
#define KF_TESTS_UNIT_CLOSED_MESH_H

#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "tests/unit/check.h"

typedef struct half_edge {
    uint32_t low, high;
    int direction;
} half_edge;

static inline int compare_edges(const void *a, const void *b) {
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return 0;
}

/* Every edge belongs to two triangles that pass it in opposite directions. */
static inline void assert_closed(const kf_mesh *mesh) {
    const size_t count = 3 * mesh->triangle_count;
    half_edge *edges = kf_allocate(count * sizeof *edges);
    for (size_t i = 0; i < count; i++) {
        const uint32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
        edges[i] = a < b ? (half_edge){a, b, 1} : (half_edge){b, a, -1};
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count; i += 2) {
        assert_true(i + 1 < count && compare_edges(&edges[i], &edges[i + 1]) == 0);
        assert_int_equal(edges[i].direction + edges[i + 1].direction, 0);
        if (i > 0) assert_int_not_equal(compare_edges(&edges[i - 1], &edges[i]), 0);
    }
    free(edges);
}

#endif
