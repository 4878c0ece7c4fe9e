/* The edges of a mesh, each with the triangles that share it. */
#ifndef KF_SCENE_MESH_EDGES_H
#define KF_SCENE_MESH_EDGES_H

#include "scene/internal.h"

typedef struct kf_edge {
    uint32_t low, high;   /* vertices, low < high */
    uint32_t triangle[2]; /* the first two triangles that share it */
    uint32_t count;       /* number of triangles; 0: the slot is empty */
} kf_edge;

typedef struct kf_edges {
    kf_edge *table; /* hash table with open addressing */
    size_t slots;
} kf_edges;

/* Finds the edges of the first `count` triangles, none of which may have two equal corners. The caller frees
 * them. */
kf_edges kf_edges_of(const kf_mesh *mesh, size_t count);
/* Returns the edge of side (0 to 2) of a triangle. */
const kf_edge *kf_edge_at(const kf_edges *edges, const kf_mesh *mesh, size_t triangle, size_t side);
void kf_edges_free(kf_edges *edges);

/* Finds the two ends of a triangle's side, in the triangle's sense of rotation. */
static inline void kf_side(const kf_mesh *mesh, size_t triangle, size_t side, uint32_t *from, uint32_t *to) {
    *from = mesh->triangles[3 * triangle + side];
    *to = mesh->triangles[3 * triangle + (side + 1) % 3];
}

#endif
