/* The populations that stream into a node, with the boundaries folded in or not.
 *
 * KF_LOAD_STREAMED(GET) declares f_* of node k at (x, y, z): by GET(number, name, cx, cy, cz), which fetches one
 * population from the node's neighbour, unless it comes from outside. Rows at the shell take what comes from
 * outside by the rule of the boundaries. In all others the first and the last nodes do, as many
 * as lanes of a warp lie along x, without branches.
 * KF_FINISH: what is left to do for the boundaries with the populations after the collision.
 *
 * Defines that a config sets: KF_FOLDED_BOUNDARY 0|1. */
#ifndef KF_KERNELS_KINETIC_STREAMED_H
#define KF_KERNELS_KINETIC_STREAMED_H

#include "collision.h"

#define KF_DECLARE(i, name, cx, cy, cz) kf_real f_##name;
#if KF_FOLDED_BOUNDARY
#include "boundary.h"
#define KF_IN_SHELL (y == 0 || y == a->nodes[1] - 1 || z == 0 || z == a->nodes[2] - 1)
#define KF_TAKE_FIRST(i, name, cx, cy, cz)                                                                   \
    f_##name = kf_incoming_in_row(a, i, cx, cy, cz, k, x == 0, 0, y, z);
#define KF_TAKE_LAST(i, name, cx, cy, cz)                                                                    \
    f_##name = kf_incoming_in_row(a, i, cx, cy, cz, k, 0, x == a->nodes[0] - 1, y, z);
#define KF_TAKE(i, name, cx, cy, cz) f_##name = kf_incoming(a, cx, cy, cz, x, y, z);
#define KF_LOAD_STREAMED(GET)                                                                                \
    KF_D3Q27(KF_DECLARE)                                                                                     \
    if (KF_IN_SHELL || a->nodes[0] <= KF_LANES_ALONG_X) {                                                    \
        KF_D3Q27(KF_TAKE)                                                                                    \
    } else if (x >= KF_LANES_ALONG_X && x < ((a->nodes[0] - 1) & -KF_LANES_ALONG_X)) {                       \
        KF_D3Q27(GET)                                                                                        \
    } else if (x < KF_LANES_ALONG_X) {                                                                       \
        KF_D3Q27(KF_TAKE_FIRST)                                                                              \
    } else {                                                                                                 \
        KF_D3Q27(KF_TAKE_LAST)                                                                               \
    }
#define KF_FINISH KF_KEEP_OUTFLOWS
/* A band kernel's item is a place in the list, and becomes the node's coordinates. */
#define KF_BAND_POSITION kf_node_position(k, a->origin, a->row_pitch, a->plane_pitch, &x, &y, &z);
#else
#define KF_LOAD_STREAMED(GET)                                                                                \
    KF_D3Q27(KF_DECLARE)                                                                                     \
    KF_D3Q27(GET)
#define KF_FINISH
#define KF_BAND_POSITION
#endif

#endif
