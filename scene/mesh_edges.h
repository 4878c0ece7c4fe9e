/* The edges of a mesh, each with the triangles that meet there. */
#ifndef KF_SCENE_MESH_EDGES_H
#define KF_SCENE_MESH_EDGES_H

#include "scene/internal.h"

typedef struct kf_edge {
    uint32_t low, high;   /* vertices, low < high */
    uint32_t triangle[2]; /* the first two of those that meet here */
    uint32_t count;       /* of triangles; 0: an empty slot */
} kf_edge;

typedef struct kf_edges {
    kf_edge *table; /* open addressing */
    size_t slots;
} kf_edges;

/* The edges of the first count triangles, none of which has two equal corners. */
kf_edges kf_edges_of(const kf_mesh *mesh, size_t count);
/* Returns the edge of side (0 to 2) of a triangle. */
const kf_edge *kf_edge_at(const kf_edges *edges, const kf_mesh *mesh, size_t triangle, size_t side);
void kf_edges_free(kf_edges *edges);

/* The ends of a triangle's side, in the order in which the triangle passes them. */
static inline void kf_side(const kf_mesh *mesh, size_t triangle, size_t side, uint32_t *from, uint32_t *to) {
    *from = mesh->triangles[3 * triangle + side];
    *to = mesh->triangles[3 * triangle + (side + 1) % 3];
}

#endif
