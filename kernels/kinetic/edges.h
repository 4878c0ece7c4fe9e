/* Arrays for the nodes at the two ends of a nested grid's rows. At a side across x, interpolation and
 * restriction touch only a few nodes of each row. Each value of these nodes is in another sector of
 * memory, so such a launch takes as long as one that moves ten times as many bytes. Two separate arrays
 * avoid this. `fresh` has the ghost nodes, which the first of two fine steps reads there instead of in the
 * grid. `inner` has the box's outermost nodes, of which the second step writes copies for the restriction.
 * Both are kf_stored [side][velocity][z][y][column].
 *
 * Files that include lattice.h use this header, and a test that has the same types. A level's scene and
 * config set KF_EDGES: a bit for each side across x that is inside a coarser level's grid (1 low, 2 high).
 * With 0, ghost nodes are stored in the grid, and restriction reads the grid. */
#ifndef KF_KERNELS_KINETIC_EDGES_H
#define KF_KERNELS_KINETIC_EDGES_H

#include "edge_columns.h"

#ifndef KF_EDGES
#define KF_EDGES 0
#endif

#if KF_EDGES
/* Returns the number of values of one velocity at one side. */
KF_FUNCTION kf_index kf_edge_values(const kf_module_arguments *a, int columns) {
    return (kf_index)a->grid.nodes[1] * a->grid.nodes[2] * columns;
}
KF_FUNCTION kf_index kf_edge_index(const kf_module_arguments *a, int side, int columns, int i, int column,
                                   int y, int z) {
    return (27 * side + i) * kf_edge_values(a, columns) + ((kf_index)z * a->grid.nodes[1] + y) * columns +
           column;
}
/* Returns the address in `fresh` of a ghost node's value, for column x of row (y, z). It is NULL if x is
 * no column of ghost nodes, or if ghost nodes are stored in the grid. */
KF_FUNCTION kf_stored *kf_fresh_place(const kf_module_arguments *a, int i, int x, int y, int z) {
    const int high = x - (a->grid.nodes[0] - KF_EDGE_GHOSTS);
    const int is_low = (KF_EDGES & 1) && x < KF_EDGE_GHOSTS, is_high = (KF_EDGES & 2) && high >= 0;
    return a->edges.fresh && (is_low || is_high)
               ? (kf_stored *)a->edges.fresh +
                     kf_edge_index(a, !is_low, KF_EDGE_GHOSTS, i, is_low ? x : high, y, z)
               : (kf_stored *)0;
}
/* Returns whether the ghost nodes of a row are also stored in the grid. That is so where they stream to
 * nodes at the domain's faces, because boundary conditions read the grid. */
KF_FUNCTION int kf_is_fresh_in_grid(const kf_module_arguments *a, int y, int z) {
    return y < 2 || y >= a->grid.nodes[1] - 2 || z < 2 || z >= a->grid.nodes[2] - 2;
}
/* Returns whether node x of a row is a ghost node in `fresh`, or a node to which such a ghost node streams.
 */
KF_FUNCTION int kf_is_by_ghosts(const kf_module_arguments *a, int x) {
    return a->edges.fresh && x < a->grid.nodes[0] &&
           (((KF_EDGES & 1) && x <= KF_EDGE_GHOSTS) ||
            ((KF_EDGES & 2) && x >= a->grid.nodes[0] - 1 - KF_EDGE_GHOSTS));
}
/* The addresses of the ghost nodes that stream to a node of row (y, z). `here` is velocity 0 in the row's
 * first column of ghost nodes. `column` has the offsets of the columns from which velocities with -1, 0
 * and 1 along x come. An offset is negative if that column has no ghost nodes. `values`, `row` and `plane`
 * are the distances of velocities, rows and planes. */
typedef struct kf_ghosts_beside {
    const kf_stored *here;
    kf_index column[3];
    kf_index values, row, plane;
} kf_ghosts_beside;
/* Returns them for node (x, y, z), at the low or the high side of x. */
KF_FUNCTION kf_ghosts_beside kf_ghosts_of(const kf_module_arguments *a, int x, int y, int z) {
    const int is_low = !(KF_EDGES & 2) || ((KF_EDGES & 1) && x <= KF_EDGE_GHOSTS),
              first = is_low ? 0 : a->grid.nodes[0] - KF_EDGE_GHOSTS, last = KF_EDGE_GHOSTS - 1;
    kf_ghosts_beside g;
    g.here = (const kf_stored *)a->edges.fresh + kf_edge_index(a, !is_low, KF_EDGE_GHOSTS, 0, 0, y, z);
    KF_UNROLL
    for (int c = 0; c < 3; c++) { /* behind the last column it repeats, but is never used */
        const int column = x - (c - 1) - first;
        g.column[c] = is_low ? (column > last ? -1
                                : column < 0  ? 0
                                              : column)
                             : (column < 0      ? -1
                                : column > last ? last
                                                : column);
    }
    g.values = kf_edge_values(a, KF_EDGE_GHOSTS);
    g.row = KF_EDGE_GHOSTS;
    g.plane = KF_EDGE_GHOSTS * a->grid.nodes[1];
    return g;
}
/* Returns the index in `inner` of a node's velocity 0. It is negative if the node is not in the box's
 * outermost columns, or if there is no such array. */
KF_FUNCTION kf_index kf_inner_index(const kf_module_arguments *a, int x, int y, int z) {
    const int low = x - KF_EDGE_GHOSTS, high = x - (a->grid.nodes[0] - KF_EDGE_GHOSTS - KF_EDGE_INNER);
    const int is_low = (KF_EDGES & 1) && low >= 0 && low < KF_EDGE_INNER,
              is_high = (KF_EDGES & 2) && high >= 0 && high < KF_EDGE_INNER;
    return a->edges.inner && (is_low || is_high)
               ? kf_edge_index(a, !is_low, KF_EDGE_INNER, 0, is_low ? low : high, y, z)
               : -1;
}
/* Copies the stored populations of node k, at (x, y, z), to `inner`. It reads them from the grid again. To
 * keep all populations until both places are written would take 8 registers more. */
#define KF_KEEP_ONE_INNER(i, name, cx, cy, cz)                                                               \
    inner[(i)*inner_values] = *kf_address(a, a->populations.target, i, k);
#define KF_KEEP_INNER                                                                                        \
    {                                                                                                        \
        const kf_index inner_at = kf_inner_index(a, x, y, z);                                                \
        if (inner_at >= 0) {                                                                                 \
            const kf_index inner_values = kf_edge_values(a, KF_EDGE_INNER);                                  \
            kf_stored *inner = (kf_stored *)a->edges.inner + inner_at;                                       \
            KF_EACH_VELOCITY(KF_KEEP_ONE_INNER)                                                              \
        }                                                                                                    \
    }
#else
#define KF_KEEP_INNER
#endif

#endif
