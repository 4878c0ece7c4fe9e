#include "scene/mesh_edges.h"

#include <stdlib.h>

#include "base/util/memory.h"

static kf_edge *find(const kf_edges *edges, uint32_t a, uint32_t b) {
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t hash = ((uint64_t)low << 32 | high) * 0x9e3779b97f4a7c15ULL;
    size_t slot = (hash ^ hash >> 32) & (edges->slots - 1);
    kf_edge *edge = &edges->table[slot];
    while (edge->count > 0 && (edge->low != low || edge->high != high)) {
        slot = (slot + 1) & (edges->slots - 1);
        edge = &edges->table[slot];
    }
    edge->low = low;
    edge->high = high;
    return edge;
}

/* Collects the edges of the first `count` triangles, each with the first two triangles that meet there. */
kf_edges kf_edges_of(const kf_mesh *mesh, size_t count) {
    kf_edges edges = {.slots = 64};
    /* A closed mesh has 3/2 edges per triangle, separate triangles have 3. */
    while (edges.slots < 4 * count)
        edges.slots *= 2;
    edges.table = kf_allocate_zeroed(edges.slots, sizeof *edges.table);
    for (size_t t = 0; t < count; t++)
        for (size_t side = 0; side < 3; side++) {
            uint32_t from, to;
            kf_side(mesh, t, side, &from, &to);
            kf_edge *edge = find(&edges, from, to);
            if (edge->count < 2) edge->triangle[edge->count] = (uint32_t)t;
            edge->count++;
        }
    return edges;
}

const kf_edge *kf_edge_at(const kf_edges *edges, const kf_mesh *mesh, size_t triangle, size_t side) {
    uint32_t from, to;
    kf_side(mesh, triangle, side, &from, &to);
    return find(edges, from, to);
}

void kf_edges_free(kf_edges *edges) {
    free(edges->table);
    edges->table = NULL;
}
