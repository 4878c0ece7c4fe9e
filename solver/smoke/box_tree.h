/* A tree of boxes around the solid's triangles (a bounding volume hierarchy), for ray casting. */
#ifndef KF_SOLVER_SMOKE_BOX_TREE_H
#define KF_SOLVER_SMOKE_BOX_TREE_H

#include "kernels/smoke/picture.h"
#include "scene/scene.h"

typedef struct kf_box_tree {
    size_t node_count, triangle_count;
    kf_box_node *nodes; /* the first is the root; owned */
    float *triangles;   /* [triangle_count][KF_TRIANGLE_FLOATS], see picture.h; owned */
} kf_box_tree;

/* Builds the tree of a mesh with at least one triangle. The normal at a corner is the mean over triangles
 * that differ by less than 35 degrees, so that round surfaces look round and edges stay sharp. */
void kf_box_tree_build(const kf_mesh *mesh, kf_box_tree *tree);
void kf_box_tree_free(kf_box_tree *tree);

#endif
