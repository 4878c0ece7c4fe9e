/* On the cpu a row of nodes is collided in one loop without branches. What else there is to do happens
 * before and after it. Before it the ghosts are filled from which the row's nodes pull (each ghost has one
 * such node). After it what waits outside of outflows is computed, and what was kept in the cache is
 * written. With folded boundaries rows extend to the end of their last cache line, so that all vectors and
 * lines are whole. What is stored beyond the domain is filled before it is read.
 *
 * Defines that a config sets:
 *   KF_STAGED         0, or the nodes of a part of a row whose populations after the collision are kept
 *                     in the nearest cache and then written past all caches
 *   KF_LONG_ROWS 1    vectors are as wide as they can be, from which shorter rows do not gain */
#ifndef KF_KERNELS_KINETIC_ROWS_H
#define KF_KERNELS_KINETIC_ROWS_H

#if KF_LONG_ROWS && defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif
#include "covered.h"
#include "prefetch.h"
#include "streamed.h"

#ifndef KF_STAGED
#define KF_STAGED 0
#endif
/* With KF_WIDENED adjacent halves are converted to floats, and back, for a whole part of a row in the
 * cache. */
#define KF_WIDENED (KF_STAGED && KF_STORAGE == KF_F16_STORAGE && KF_LAYOUT == KF_SOA_LAYOUT)
#if KF_WIDENED
#include "halves.h"
typedef float kf_row_value;
#define KF_ROW_PULL(i, name, cx, cy, cz) f_##name = KF_COLLIDED(i) * KF_R(KF_UNIT / KF_STORED_UNIT);
#define KF_HAND_ON(i, name, cx, cy, cz)  KF_COLLIDED(i) = f_##name * KF_R(KF_STORED_UNIT / KF_UNIT);
#else
typedef kf_stored kf_row_value;
#define KF_ROW_PULL(i, name, cx, cy, cz) f_##name = kf_from_store(*kf_pulled(a, i, k, cx, cy, cz));
#define KF_HAND_ON(i, name, cx, cy, cz)  KF_COLLIDED(i) = kf_to_store(f_##name);
#endif
#if KF_STAGED
#define KF_ROW_PART    KF_STAGED
#define KF_KEPT_VALUES (KF_VELOCITIES * KF_STAGED)
#define KF_COLLIDED(i) kept[(i)*KF_STAGED + x - x0]
#else
#define KF_ROW_PART    (1 << 30)
#define KF_KEPT_VALUES 1
#define KF_COLLIDED(i) *kf_address(a, a->populations.target, i, k)
#endif

/* Returns whether the row's last node is in this part of the row. A part behind it may be beyond the
 * domain. */
#define KF_ENDS_ROW (x0 < a->grid.nodes[0] && x1 >= a->grid.nodes[0])

#if KF_FOLDED_BOUNDARY
#define KF_GHOST(i, cx, cy, cz) *(kf_stored *)kf_pulled(a, i, k, cx, cy, cz)
/* Fill the ghosts at the low and the high end of a row inside of the domain, and around a node at its
 * faces. */
#define KF_FILL_FIRST(i, name, cx, cy, cz)                                                                   \
    if ((cx) > 0) KF_GHOST(i, cx, cy, cz) = kf_to_store(kf_incoming_in_row(a, i, cx, cy, cz, k, 1, 0, y, z));
#define KF_FILL_LAST(i, name, cx, cy, cz)                                                                    \
    if ((cx) < 0) KF_GHOST(i, cx, cy, cz) = kf_to_store(kf_incoming_in_row(a, i, cx, cy, cz, k, 0, 1, y, z));

#define KF_FILL_GHOST(i, name, cx, cy, cz)                                                                   \
    if (kf_beyond(x - (cx), a->grid.nodes[0]) || kf_beyond(y - (cy), a->grid.nodes[1]) ||                    \
        kf_beyond(z - (cz), a->grid.nodes[2]))                                                               \
        KF_GHOST(i, cx, cy, cz) = kf_to_store(populations[i]);

/* Fills the ghosts from which nodes x0 to x1 - 1 of row (y, z) pull: around all nodes of a boundary row,
 * otherwise beside the row's first and last node. */
KF_FUNCTION void kf_fill_row(const kf_module_arguments *a, int x0, int x1, int y, int z) {
    if (KF_IN_BOUNDARY_ROW) {
        for (int x = x0; x < x1 && x < a->grid.nodes[0]; x++) {
            const kf_index k = kf_node(a, x, y, z);
            kf_real populations[KF_VELOCITIES];
            kf_take_streamed(a, x, y, z, populations);
            KF_EACH_VELOCITY(KF_FILL_GHOST)
        }
        return;
    }
    if (x0 == 0) {
        const kf_index k = kf_node(a, 0, y, z);
        KF_EACH_VELOCITY(KF_FILL_FIRST)
    }
    if (KF_ENDS_ROW) {
        const kf_index k = kf_node(a, a->grid.nodes[0] - 1, y, z);
        KF_EACH_VELOCITY(KF_FILL_LAST)
    }
}

#define KF_LOAD_COLLIDED(i, name, cx, cy, cz)                                                                \
    const kf_real f_##name = kf_from_store((kf_stored)KF_COLLIDED(i));
KF_FUNCTION void kf_keep_outflows(const kf_module_arguments *a, int x, int y, int z, const kf_row_value *kept,
                                  int x0) {
    const kf_index k = kf_node(a, x, y, z);
    (void)k, (void)kept, (void)x0;
    KF_EACH_VELOCITY(KF_LOAD_COLLIDED)
    KF_MOMENTUM(deviation, jx, jy, jz)
    (void)deviation, (void)jx, (void)jy, (void)jz;
    KF_KEEP_OUTFLOWS
}
#else
KF_FUNCTION void kf_fill_row(const kf_module_arguments *a, int x0, int x1, int y, int z) {
    (void)a, (void)x0, (void)x1, (void)y, (void)z;
}
#endif

#define KF_WIDEN_PART(i, name, cx, cy, cz)                                                                   \
    kf_widen(kept + (i)*KF_STAGED, kf_pulled(a, i, k, cx, cy, cz), x1 - x0);
/* Returns the end of the part of row (y, z) that begins at x0. Covered nodes are a part of their own, in
 * whole cache lines. The other parts begin and end with them. */
KF_FUNCTION int kf_end_of_part(const kf_module_arguments *a, int x0, int end, int y, int z) {
    int until = end - x0 < KF_ROW_PART ? end : x0 + KF_ROW_PART;
#if KF_COVERED
    enum { LINE = 64 / sizeof(kf_stored) };
    KF_IN_SLAB
    const int low = (a->covered.low[0] + LINE - 1) & -LINE, high = a->covered.high[0] & -LINE;
    if (low < high && kf_are_covered(a, low, high, y, z)) {
        if (x0 < low && until > low) until = low;
        if (x0 >= low && x0 < high) until = high < end ? high : end;
    }
#endif
    (void)a, (void)y, (void)z;
    return until;
}

KF_FUNCTION int kf_begin_row(const kf_module_arguments *a, int x0, int x1, int y, int z, kf_row_value *kept) {
    (void)kept;
    KF_IN_SLAB
    if (kf_are_left_out(a, x0, x1, y, z)) return 0;
    kf_fill_row(a, x0, x1, y, z);
    KF_PREFETCH_PART
#if KF_WIDENED
    const kf_index k = kf_node(a, x0, y, z);
    KF_EACH_VELOCITY(KF_WIDEN_PART)
#endif
    return 1;
}

#if KF_WIDENED
#define KF_WRITE_PART(i, name, cx, cy, cz)                                                                   \
    kf_narrow(narrow, kept + (i)*KF_STAGED, x1 - x0);                                                        \
    kf_stream_bytes(kf_address(a, a->populations.target, i, k), narrow, (x1 - x0) * (kf_int64)sizeof *narrow);
#else
#define KF_WRITE_PART(i, name, cx, cy, cz)                                                                   \
    kf_stream_bytes(kf_address(a, a->populations.target, i, k), kept + (i)*KF_STAGED,                        \
                    (x1 - x0) * (kf_int64)sizeof *kept);
#endif
KF_FUNCTION void kf_finish_row(const kf_module_arguments *a, int x0, int x1, int y, int z,
                               const kf_row_value *kept) {
    (void)a, (void)x0, (void)x1, (void)y, (void)z, (void)kept;
    KF_IN_SLAB
#if KF_FOLDED_BOUNDARY
    const int across = (KF_FACE_2 == KF_OUTFLOW_FACE && y == 0) ||
                       (KF_FACE_3 == KF_OUTFLOW_FACE && y == a->grid.nodes[1] - 1) ||
                       (KF_FACE_4 == KF_OUTFLOW_FACE && z == 0) ||
                       (KF_FACE_5 == KF_OUTFLOW_FACE && z == a->grid.nodes[2] - 1);
    const int low = KF_FACE_0 == KF_OUTFLOW_FACE && x0 == 0,
              high = KF_FACE_1 == KF_OUTFLOW_FACE && KF_ENDS_ROW;
    if (across)
        for (int x = x0; x < x1 && x < a->grid.nodes[0]; x++)
            kf_keep_outflows(a, x, y, z, kept, x0);
    else if (low || high)
        for (int end = low ? 0 : 1; end < (high ? 2 : 1); end++)
            kf_keep_outflows(a, end ? a->grid.nodes[0] - 1 : x0, y, z, kept, x0);
#endif
#if KF_STAGED
    const kf_index k = kf_node(a, x0, y, z);
#if KF_WIDENED
    kf_stored narrow[KF_STAGED] __attribute__((aligned(64)));
#endif
    KF_EACH_VELOCITY(KF_WRITE_PART)
#endif
}

#endif
