/* The plan of Toelke 2008, Appendices B and C. The first kernel collides and streams. It shifts
 * populations along x in shared memory, so that every access to memory is aligned. The second kernel moves
 * the populations that left a block to their places. They are stored already streamed, in the soa layout,
 * with full-way bounce-back. KF_THREADS: the nodes of a block. */
#include "collision.h"

/* A population that leaves its block in the west waits in the last place of the block's row, and one that
 * leaves in the east in the first place. */
KF_BLOCK_KERNEL(lb_coll_prop, kf_d2q9_arguments) {
    KF_SHARED kf_stored east[KF_THREADS], north_east[KF_THREADS], south_east[KF_THREADS];
    KF_SHARED kf_stored west[KF_THREADS], north_west[KF_THREADS], south_west[KF_THREADS];
    const int first = block_x * KF_THREADS;
    const int last = (a->nodes[0] - first < KF_THREADS ? a->nodes[0] - first : KF_THREADS) - 1;
    const kf_index start = kf_node(a, first, block_y), row = a->row_pitch;
    kf_stored *target = (kf_stored *)a->target;
    KF_EACH_THREAD(t, KF_THREADS) {
        if (t > last) continue;
        const kf_index k = start + t;
        const int right = t == last ? 0 : t + 1, left = t == 0 ? last : t - 1;
        kf_nine f;
        KF_D2Q9(KF_LOAD_HERE)
#if KF_FULL_WAY
        kf_relax(a, &f, a->flags[k] & KF_NODE_SOLID_BIT);
#else
        kf_relax(a, &f, 0);
#endif
        target[kf_place(a, KF_r, k)] = kf_to_store(f.r);
        target[kf_place(a, KF_n, k + row)] = kf_to_store(f.n);
        target[kf_place(a, KF_s, k - row)] = kf_to_store(f.s);
        east[right] = kf_to_store(f.e);
        north_east[right] = kf_to_store(f.ne);
        south_east[right] = kf_to_store(f.se);
        west[left] = kf_to_store(f.w);
        north_west[left] = kf_to_store(f.nw);
        south_west[left] = kf_to_store(f.sw);
    }
    KF_BARRIER;
    KF_EACH_THREAD(t, KF_THREADS) {
        if (t > last) continue;
        const kf_index k = start + t;
        target[kf_place(a, KF_e, k)] = east[t];
        target[kf_place(a, KF_w, k)] = west[t];
        target[kf_place(a, KF_ne, k + row)] = north_east[t];
        target[kf_place(a, KF_nw, k + row)] = north_west[t];
        target[kf_place(a, KF_se, k - row)] = south_east[t];
        target[kf_place(a, KF_sw, k - row)] = south_west[t];
    }
}

KF_FUNCTION void kf_move(const kf_d2q9_arguments *a, int i, kf_index to, kf_index from) {
    ((kf_stored *)a->target)[kf_place(a, i, to)] = ((const kf_stored *)a->target)[kf_place(a, i, from)];
}

/* A thread has one row, as in the paper. The extent is nodes_y + 2, because diagonals also leave into the
 * rows outside. The paper's loops run over one block too many, which spoils the next row. Here the
 * populations that leave the domain go to its ghost nodes, where the boundary conditions find them. */
KF_SCALAR_KERNEL(lb_exchange, kf_d2q9_arguments) {
    (void)y, (void)z;
    const int nx = a->nodes[0], blocks = (nx + KF_THREADS - 1) / KF_THREADS;
    const int row = x - 1; /* -1 .. nodes_y */
    const kf_index start = kf_node(a, 0, row);
    for (int b = -1; b < blocks - 1; b++) {
        const int end = (b + 2) * KF_THREADS < nx ? (b + 2) * KF_THREADS : nx;
        const kf_index to = start + (b + 1) * KF_THREADS - 1, from = start + end - 1;
        kf_move(a, KF_w, to, from);
        kf_move(a, KF_nw, to, from);
        kf_move(a, KF_sw, to, from);
    }
    for (int b = blocks - 1; b >= 0; b--) {
        const int end = (b + 1) * KF_THREADS < nx ? (b + 1) * KF_THREADS : nx;
        const kf_index to = start + end, from = start + b * KF_THREADS;
        kf_move(a, KF_e, to, from);
        kf_move(a, KF_ne, to, from);
        kf_move(a, KF_se, to, from);
    }
}
