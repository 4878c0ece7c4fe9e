/* Loads the populations that stream into a node, with the boundaries folded in or not.
 *
 * KF_LOAD_STREAMED(GET) declares f_* of node k at (x, y, z). GET(number, name, cx, cy, cz) loads one
 * population from the node's neighbour. Populations from outside follow from the boundary conditions:
 * boundary rows ask for all of theirs. In other rows the first and the last nodes, as many as lanes of a
 * warp lie along x, do so without branches.
 *
 * KF_LOAD_OF_BAND(GET) is the same for a kernel of the band. It waits for its loads and little else, so
 * its nodes at the faces always select addresses.
 *
 * KF_FINISH does what is left for the boundaries with the populations after the collision.
 *
 * Defines that a config sets:
 *   KF_FOLDED_BOUNDARY 0|1         the boundaries are folded in
 *   KF_BOUNDARY_CHOICES 0|1        nodes at the faces select addresses instead of branching
 *   KF_BOUNDARY_ROWS_APART 0|1|2   nodes at the faces across y and z have a kernel of their own
 *                                  (fused.cu); 2: rows may be as short as a warp
 *   KF_ROWS                        the flow's kernel needs none of this (rows.h) */
#ifndef KF_KERNELS_KINETIC_STREAMED_H
#define KF_KERNELS_KINETIC_STREAMED_H

#include "collision.h"
#include "edges.h"

#define KF_DECLARE(i, name, cx, cy, cz) kf_real f_##name;
#if KF_FOLDED_BOUNDARY
#include "boundary.h"
#define KF_IN_BOUNDARY_ROW (y == 0 || y == a->grid.nodes[1] - 1 || z == 0 || z == a->grid.nodes[2] - 1)
#define KF_TAKE_FIRST(i, name, cx, cy, cz)                                                                   \
    f_##name = kf_incoming_in_row(a, i, cx, cy, cz, k, x == 0, KF_ENDS_TOO, y, z);
#define KF_TAKE_LAST(i, name, cx, cy, cz)                                                                    \
    f_##name = kf_incoming_in_row(a, i, cx, cy, cz, k, 0, x == a->grid.nodes[0] - 1, y, z);
#if KF_EDGES
/* Nodes to which ghosts across x stream, and these ghosts, load from the ghosts' own array. They have a
 * branch of their own, whose loads are in flight beside those of other nodes. Selecting addresses for all
 * nodes near a row's ends would take 30 registers more of every thread. */
#define KF_TAKE_ONE_FRESH(i, name, cx, cy, cz)                                                               \
    f_##name = kf_from_store(*(ghosts.column[1 + (cx)] >= 0                                                  \
                                   ? ghosts.here + (ghosts.column[1 + (cx)] + (i)*ghosts.values -            \
                                                    (cy)*ghosts.row - (cz)*ghosts.plane)                     \
                                   : kf_pulled(a, i, k, cx, cy, cz)));
#define KF_UNLESS_FRESH                                                                                      \
    if (kf_is_by_ghosts(a, x)) {                                                                             \
        const kf_ghosts_beside ghosts = kf_ghosts_of(a, x, y, z);                                            \
        KF_EACH_VELOCITY(KF_TAKE_ONE_FRESH)                                                                  \
    } else
/* Rows as short as a warp need no code of their own. */
#define KF_ENDS_TOO    (x == a->grid.nodes[0] - 1)
#define KF_LONGER_ROWS 1
/* From here on ghosts at the high end stream to nodes. */
#define KF_LAST_NODES (a->grid.nodes[0] - 1 - (KF_EDGES & 2 ? KF_EDGE_GHOSTS : 0))
#else
#define KF_UNLESS_FRESH
#define KF_ENDS_TOO    0
#define KF_LONGER_ROWS (a->grid.nodes[0] > KF_LANES_ALONG_X)
#define KF_LAST_NODES  (a->grid.nodes[0] - 1)
#endif
#define KF_CHOOSE(i, name, cx, cy, cz) f_##name = kf_incoming_at_boundary(a, i, cx, cy, cz, x, y, z);
#if !KF_BOUNDARY_CHOICES
#define KF_TAKE(i, name, cx, cy, cz) f_##name = kf_incoming(a, cx, cy, cz, x, y, z);
#else
#define KF_TAKE KF_CHOOSE
#endif
#if KF_ROWS
/* It is no inline function, because few nodes call it. */
#define KF_TAKE_INTO(i, name, cx, cy, cz) populations[i] = kf_incoming_at_boundary(a, i, cx, cy, cz, x, y, z);
KF_RARE_FUNCTION void kf_take_streamed(const kf_module_arguments *a, int x, int y, int z,
                                       kf_real populations[KF_VELOCITIES]) {
    KF_EACH_VELOCITY(KF_TAKE_INTO)
}
#define KF_TAKE_STREAMED(i, name, cx, cy, cz) f_##name = populations[i];
#define KF_LOAD_STREAMED(GET)                                                                                \
    KF_EACH_VELOCITY(KF_DECLARE)                                                                             \
    if (KF_IN_BOUNDARY_ROW || x == 0 || x == a->grid.nodes[0] - 1) {                                         \
        kf_real populations[KF_VELOCITIES];                                                                  \
        kf_take_streamed(a, x, y, z, populations);                                                           \
        KF_EACH_VELOCITY(KF_TAKE_STREAMED)                                                                   \
    } else {                                                                                                 \
        KF_EACH_VELOCITY(GET)                                                                                \
    }
#define KF_LOAD_OF_BAND(GET) KF_LOAD_STREAMED(GET)
#else
#define KF_ALL_AT_FACES (KF_IN_BOUNDARY_ROW || a->grid.nodes[0] <= KF_LANES_ALONG_X)
#if KF_BOUNDARY_ROWS_APART == 1
#define KF_FLOW_AT_FACES 0
#else
#define KF_FLOW_AT_FACES (KF_IN_BOUNDARY_ROW || !KF_LONGER_ROWS)
#endif
/* UNLESS_FRESH loads from the ghosts' own array, or continues with what follows. Rows at the faces find
 * ghosts in the grid. */
#define KF_LOAD_STREAMED_BY(GET, TAKE, AT_FACES, UNLESS_FRESH)                                               \
    KF_EACH_VELOCITY(KF_DECLARE)                                                                             \
    if (AT_FACES) {                                                                                          \
        KF_EACH_VELOCITY(TAKE)                                                                               \
    } else if (x >= KF_LANES_ALONG_X && x < (KF_LAST_NODES & -KF_LANES_ALONG_X)) {                           \
        KF_EACH_VELOCITY(GET)                                                                                \
    } else if (x < KF_LANES_ALONG_X) {                                                                       \
        UNLESS_FRESH {                                                                                       \
            KF_EACH_VELOCITY(KF_TAKE_FIRST)                                                                  \
        }                                                                                                    \
    } else {                                                                                                 \
        UNLESS_FRESH {                                                                                       \
            KF_EACH_VELOCITY(KF_TAKE_LAST)                                                                   \
        }                                                                                                    \
    }
#define KF_LOAD_STREAMED(GET) KF_LOAD_STREAMED_BY(GET, KF_TAKE, KF_FLOW_AT_FACES, KF_UNLESS_FRESH)
#define KF_LOAD_OF_BAND(GET)  /* no ghost streams to the band */                                             \
    KF_LOAD_STREAMED_BY(GET, KF_CHOOSE, KF_ALL_AT_FACES, )
#endif
#define KF_FINISH KF_KEEP_OUTFLOWS
#else
#define KF_LOAD_STREAMED(GET)                                                                                \
    KF_EACH_VELOCITY(KF_DECLARE)                                                                             \
    KF_EACH_VELOCITY(GET)
#define KF_LOAD_OF_BAND(GET) KF_LOAD_STREAMED(GET)
#define KF_FINISH
#endif
#if KF_FOLDED_BOUNDARY || KF_LAYERS
/* The item of a band kernel is a place in the list. This computes the coordinates of its node. */
#define KF_BAND_POSITION kf_position(a, k, &x, &y, &z);
#else
#define KF_BAND_POSITION
#endif

#endif
