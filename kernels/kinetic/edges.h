/* The ends of a nested grid's rows. What crosses a side across x touches a few nodes of each row, and each of
 * their values lies in another sector of memory: such a launch took as long as one that moves ten times as
 * much. So the ghosts there come in a place of their own, from which the first of two steps reads them
 * instead of the grid's, and the second keeps the box's outermost nodes in another. All of it is kf_stored
 * [side][velocity][z][y][column].
 *
 * For files that have lattice.h, and for a test that has its types. Defines that a level's scene and config
 * set: KF_EDGES, bits of the sides across x that lie in a coarser
 * level's grid (1 low, 2 high); 0: ghosts come in the grid, and means are taken from it. */
#ifndef KF_KERNELS_KINETIC_EDGES_H
#define KF_KERNELS_KINETIC_EDGES_H

#include "edge_columns.h"

#ifndef KF_EDGES
#define KF_EDGES 0
#endif

#if KF_EDGES
/* Values of one velocity at a side. */
KF_FUNCTION kf_index kf_edge_values(const kf_module_arguments *a, int columns) {
    return (kf_index)a->grid.nodes[1] * a->grid.nodes[2] * columns;
}
KF_FUNCTION kf_index kf_edge_index(const kf_module_arguments *a, int side, int columns, int i, int column,
                                   int y, int z) {
    return (27 * side + i) * kf_edge_values(a, columns) + ((kf_index)z * a->grid.nodes[1] + y) * columns +
           column;
}
/* Returns the place of the ghosts' values in column x of row (y, z); NULL: it is no column of ghosts, or they
 * are in the grid. */
KF_FUNCTION kf_stored *kf_fresh_place(const kf_module_arguments *a, int i, int x, int y, int z) {
    const int high = x - (a->grid.nodes[0] - KF_EDGE_GHOSTS);
    const int is_low = (KF_EDGES & 1) && x < KF_EDGE_GHOSTS, is_high = (KF_EDGES & 2) && high >= 0;
    return a->edges.fresh && (is_low || is_high)
               ? (kf_stored *)a->edges.fresh +
                     kf_edge_index(a, !is_low, KF_EDGE_GHOSTS, i, is_low ? x : high, y, z)
               : (kf_stored *)0;
}
/* Returns whether a row's ghosts are in the grid, too: those that stream to nodes at the faces of the domain,
 * which take what comes by other rules. */
KF_FUNCTION int kf_is_fresh_in_grid(const kf_module_arguments *a, int y, int z) {
    return y < 2 || y >= a->grid.nodes[1] - 2 || z < 2 || z >= a->grid.nodes[2] - 2;
}
/* Returns whether node x of a row is one of those ghosts, or they stream to it. */
KF_FUNCTION int kf_is_by_ghosts(const kf_module_arguments *a, int x) {
    return a->edges.fresh && x < a->grid.nodes[0] &&
           (((KF_EDGES & 1) && x <= KF_EDGE_GHOSTS) ||
            ((KF_EDGES & 2) && x >= a->grid.nodes[0] - 1 - KF_EDGE_GHOSTS));
}
/* The ghosts that stream to a node of row (y, z): where velocity 0 lies in their first column of that row;
 * what the columns add from which it is reached with -1, 0 and 1 along x, negative: that is no column of
 * ghosts; and what a velocity adds, a row and a plane. */
typedef struct kf_ghosts_beside {
    const kf_stored *here;
    kf_index column[3];
    kf_index values, row, plane;
} kf_ghosts_beside;
KF_FUNCTION kf_ghosts_beside kf_ghosts_of(const kf_module_arguments *a, int x, int y, int z) {
    const int is_low = !(KF_EDGES & 2) || ((KF_EDGES & 1) && x <= KF_EDGE_GHOSTS),
              first = is_low ? 0 : a->grid.nodes[0] - KF_EDGE_GHOSTS, last = KF_EDGE_GHOSTS - 1;
    kf_ghosts_beside g;
    g.here = (const kf_stored *)a->edges.fresh + kf_edge_index(a, !is_low, KF_EDGE_GHOSTS, 0, 0, y, z);
    KF_UNROLL
    for (int c = 0; c < 3; c++) { /* beyond the outermost is that again: nothing reads what comes of it */
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
/* Returns where the box's outermost columns keep velocity 0 of a node; negative: it is not in them, or they
 * keep nothing. */
KF_FUNCTION kf_index kf_inner_index(const kf_module_arguments *a, int x, int y, int z) {
    const int low = x - KF_EDGE_GHOSTS, high = x - (a->grid.nodes[0] - KF_EDGE_GHOSTS - KF_EDGE_INNER);
    const int is_low = (KF_EDGES & 1) && low >= 0 && low < KF_EDGE_INNER,
              is_high = (KF_EDGES & 2) && high >= 0 && high < KF_EDGE_INNER;
    return a->edges.inner && (is_low || is_high)
               ? kf_edge_index(a, !is_low, KF_EDGE_INNER, 0, is_low ? low : high, y, z)
               : -1;
}
/* Keeps there what has been stored of node k, at (x, y, z). It is read again: were all populations kept until
 * both places are written, each thread of the flow would take 8 registers more. */
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
