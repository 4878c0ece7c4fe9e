/* The plan `fused`: streaming and collision in one pass, in which every population is read once and
 * written once. The solid's force is computed beforehand for the band, the nodes that samples touch. These
 * are collided again with the force.
 *
 * Defines that a config sets:
 *   KF_ALTERNATE 1             every second step goes through the planes downwards, so that it first
 *                              reads what was written last, while the last-level cache still has it
 *   KF_MASKED_BAND 1           stream_collide writes nothing at the band's nodes, so that band_collide
 *                              may run beside it
 *   KF_HOLLOW 1                the same for the nodes inside a solid by links, where there is no fluid
 *   KF_SLABS 1                 one grid moves to and fro within a buffer of a few planes more. A launch
 *                              of stream_collide takes the planes from first_plane on and overwrites
 *                              what earlier launches have read. So the band's nodes are collided before
 *                              all of them, and written back afterwards
 *   KF_BOUNDARY_ROWS_APART 1|2 stream_collide has the rows whose neighbours along y and z are inside,
 *                              stream_collide_boundary has the others
 *   KF_KEEP_STREAMED 1         band_macroscopic keeps the populations that it has streamed for
 *                              band_collide (band.kept) */
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* the headers' functions take this type */

#include "portable.h"

#include "covered.h" /* fused.cu itself asks whether nodes are left out */
#define KF_ROWS (!KF_CUDA && KF_NODES_PER_THREAD == 1 && (KF_FOLDED_BOUNDARY || KF_STAGED))
#if KF_SLABS && !KF_CUT_Y
#define KF_IN_SLAB z += a->part.first_plane;
#elif KF_ALTERNATE /* which of the two grids has the lower address alternates from step to step */
#define KF_IN_SLAB                                                                                           \
    if ((const char *)a->populations.source > (const char *)a->populations.target) z = a->extent[2] - 1 - z; \
    KF_IN_PART
#else
#define KF_IN_SLAB KF_IN_PART
#endif
#if KF_BOUNDARY_ROWS_APART
#define KF_IN_GIVEN_ROWS KF_IN_SLAB y++, z++;
#else
#define KF_IN_GIVEN_ROWS KF_IN_SLAB
#endif
/* On a cpu branches would keep loops from being vectorised; rows.h leaves out parts of rows there. */
#if KF_CUDA && KF_LEAVES_OUT
#define KF_LEAVE_OUT(nodes)                                                                                  \
    if (kf_are_left_out(a, (nodes)*x, (nodes)*x + (nodes), y, z)) return;
#else
#define KF_LEAVE_OUT(nodes)
#endif
#include "prefetch.h"
#include "band.h"
#include "streamed.h"
#if KF_BAND_CHAIN
#include "segments.h"
#endif
#if KF_ROWS
#include "rows.h"
#endif

/* Declare bits for nodes k and k + 1 (KF_OF_PAIR, k even): they are in the band, or are left out. */
#if KF_HOLLOW
/* Reads the mask of the nodes inside the solid. All of them are in the box `covered`, so it reads no other
 * words. */
KF_FUNCTION int kf_inside_bits(const kf_module_arguments *a, int x, int y, int z, kf_index k, int wanted) {
    const int *low = a->covered.low, *high = a->covered.high;
    if (x < low[0] || x >= high[0] || y < low[1] || y >= high[1] || z < low[2] || z >= high[2]) return 0;
    return (int)(kf_load_constant(a->band.mask + (k >> 5)) >> (k & 31)) & wanted;
}
#define KF_BAND_BITS(wanted) const int left_out = kf_inside_bits(a, x, y, z, k, wanted);
#elif KF_MASKED_BAND
#define KF_BAND_BITS(wanted)                                                                                 \
    const int left_out = (int)(kf_load_late(a->band.mask + (k >> 5)) >> (k & 31)) & (wanted);
#else
#define KF_BAND_BITS(wanted) const int left_out = 0;
#endif

#if KF_HOLLOW && KF_CUDA /* on a cpu branches would keep the loop from being vectorised */
#define KF_LEAVE_INSIDE(wanted)                                                                              \
    if (kf_inside_bits(a, x, y, z, k, wanted) == (wanted)) return;
#define KF_BIT_OF_NODE const int left_out = 0;
#else
#define KF_LEAVE_INSIDE(wanted)
#define KF_BIT_OF_NODE KF_BAND_BITS(1)
#endif

#define KF_PULL(i, name, cx, cy, cz) f_##name = kf_from_store(*kf_pulled(a, i, k, cx, cy, cz));

#define KF_COLLIDE_AND_STORE                                                                                 \
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)                                                        \
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;                                            \
    (void)Fx, (void)Fy, (void)Fz;                                                                            \
    KF_COLLIDE(KF_BODY_FORCE);                                                                               \
    KF_BIT_OF_NODE                                                                                           \
    if (left_out == 0) {                                                                                     \
        if (x < a->grid.nodes[0]) {                                                                          \
            KF_FINISH                                                                                        \
        }                                                                                                    \
        KF_EACH_VELOCITY(KF_STREAM_TARGET)                                                                   \
        KF_KEEP_INNER                                                                                        \
    }

#if KF_NODES_PER_THREAD == 2
/* Nodes k and k + 1, at x and x + 1 with an even x, share their memory accesses. Of each population the
 * thread loads the pair in the same place of the row from which it comes. If the population shifts along
 * x, it also loads the value beside the pair. */
#define KF_PAIR_DECLARE(i, name, cx, cy, cz)                                                                 \
    kf_store_pair pair_##name;                                                                               \
    kf_stored beside_##name = 0;                                                                             \
    (void)beside_##name;
#define KF_PAIR_PULL(i, name, cx, cy, cz)                                                                    \
    pair_##name = *(const kf_store_pair *)kf_pulled(a, i, k, 0, cy, cz);                                     \
    if ((cx) != 0) beside_##name = *kf_pulled(a, i, (cx) > 0 ? k : k + 1, cx, cy, cz);
#if KF_FOLDED_BOUNDARY
/* The first and the last nodes of a row, as many as a warp has, have a branch of their own: one of the
 * pair may be at the end of the row. At the high end it is the same one in all rows. */
#define KF_PAIRED_LANES (2 * KF_LANES_ALONG_X)
#define KF_PAIR_FIRST(i, name, cx, cy, cz)                                                                   \
    pair_##name = *(const kf_store_pair *)kf_pulled(a, i, k, 0, cy, cz);                                     \
    if ((cx) > 0)                                                                                            \
        beside_##name = kf_to_store(kf_incoming_in_row(a, i, cx, cy, cz, k, x == 0, 0, y, z));               \
    else if ((cx) < 0)                                                                                       \
        beside_##name = *kf_pulled(a, i, k + 1, cx, cy, cz);
#define KF_PAIR_LAST(i, name, cx, cy, cz)                                                                    \
    pair_##name = *(const kf_store_pair *)kf_pulled(a, i, k, 0, cy, cz);                                     \
    if ((cx) > 0) {                                                                                          \
        beside_##name = *kf_pulled(a, i, k, cx, cy, cz);                                                     \
    } else if ((cx) < 0) {                                                                                   \
        const kf_real value =                                                                                \
            kf_incoming_in_row(a, i, cx, cy, cz, k + (last & 1), 0, x + (last & 1) == last, y, z);           \
        const kf_stored next = *kf_pulled(a, i, k + 1, cx, cy, cz);                                          \
        const kf_real high = kf_high(pair_##name);                                                           \
        beside_##name = last & 1 ? kf_to_store(value) : next;                                                \
        pair_##name = kf_pair(value, last & 1 ? high : value);                                               \
    }
#define KF_PAIR_TAKE(i, name, cx, cy, cz)                                                                    \
    {                                                                                                        \
        const kf_real low = kf_incoming(a, cx, cy, cz, x, y, z),                                             \
                      high = kf_incoming(a, cx, cy, cz, x < last ? x + 1 : x, y, z);                         \
        beside_##name = kf_to_store((cx) > 0 ? low : high);                                                  \
        pair_##name = kf_pair((cx) > 0 ? high : low, (cx) < 0 ? low : high);                                 \
    }
#if KF_BOUNDARY_ROWS_APART == 1
#define KF_PAIRS_AT_FACES 0
#else
#define KF_PAIRS_AT_FACES (KF_IN_BOUNDARY_ROW || last < KF_PAIRED_LANES)
#endif
#define KF_PAIR_LOAD                                                                                         \
    if (KF_PAIRS_AT_FACES) {                                                                                 \
        KF_EACH_VELOCITY(KF_PAIR_TAKE)                                                                       \
    } else if (x >= KF_PAIRED_LANES && x < (last & -KF_PAIRED_LANES)) {                                      \
        KF_EACH_VELOCITY(KF_PAIR_PULL)                                                                       \
    } else if (x < KF_PAIRED_LANES) {                                                                        \
        KF_EACH_VELOCITY(KF_PAIR_FIRST)                                                                      \
    } else {                                                                                                 \
        KF_EACH_VELOCITY(KF_PAIR_LAST)                                                                       \
    }
#else
#define KF_PAIR_LOAD KF_EACH_VELOCITY(KF_PAIR_PULL)
#endif
/* Populations that wait while the other node is collided do so in couples, two halves in one register. A
 * couple has the numbers i and i + 1. Its velocities along x are +1 and -1, or both 0. */
#define KF_COUPLES_19(X)                                                                                     \
    X(1, pzz, mzz, 1)                                                                                        \
    X(3, zpz, zmz, 0)                                                                                        \
    X(5, zzp, zzm, 0)                                                                                        \
    X(7, ppz, mpz, 1)                                                                                        \
    X(9, pmz, mmz, 1)                                                                                        \
    X(11, pzp, mzp, 1)                                                                                       \
    X(13, pzm, mzm, 1)                                                                                       \
    X(15, zpp, zmp, 0)                                                                                       \
    X(17, zpm, zmm, 0)
#define KF_COUPLES_OF_CORNERS(X)                                                                             \
    X(19, ppp, mpp, 1)                                                                                       \
    X(21, pmp, mmp, 1)                                                                                       \
    X(23, ppm, mpm, 1)                                                                                       \
    X(25, pmm, mmm, 1)
#if KF_VELOCITIES == 19
#define KF_COUPLES(X) KF_COUPLES_19(X)
#else
#define KF_COUPLES(X) KF_COUPLES_19(X) KF_COUPLES_OF_CORNERS(X)
#endif
#define KF_TAKE_LOW(i, first, second, shifted)                                                               \
    kf_real f_##first = shifted ? kf_from_store(beside_##first) : kf_low(pair_##first);                      \
    kf_real f_##second = shifted ? kf_high(pair_##second) : kf_low(pair_##second);
#define KF_KEEP_HIGH(i, first, second, shifted)                                                              \
    const kf_store_pair high_##first =                                                                       \
        shifted ? kf_low_with(pair_##first, beside_##second) : kf_highs(pair_##first, pair_##second);
#define KF_TAKE_HIGH(i, first, second, shifted)                                                              \
    kf_real f_##first = kf_low(high_##first), f_##second = kf_high(high_##first);
#define KF_KEEP_LOW(i, first, second, shifted)                                                               \
    const kf_store_pair low_##first = kf_pair(f_##first, f_##second);
#define KF_PAIR_STORE(i, first, second, shifted)                                                             \
    {                                                                                                        \
        const kf_store_pair high = kf_pair(f_##first, f_##second);                                           \
        kf_stream_pair(kf_address(a, a->populations.target, i, k), kf_lows(low_##first, high));              \
        kf_stream_pair(kf_address(a, a->populations.target, i + 1, k), kf_highs(low_##first, high));         \
    }
/* Stores the first or the second of the pair's nodes alone. */
#define KF_PAIR_STORE_ONE(i, first, second, shifted)                                                         \
    {                                                                                                        \
        const kf_store_pair high = kf_pair(f_##first, f_##second);                                           \
        const int second_node = left_out & 1;                                                                \
        const kf_store_pair lows = kf_lows(low_##first, high), highs = kf_highs(low_##first, high);          \
        kf_stream(kf_address(a, a->populations.target, i, k) + second_node,                                  \
                  second_node ? kf_high(lows) : kf_low(lows));                                               \
        kf_stream(kf_address(a, a->populations.target, i + 1, k) + second_node,                              \
                  second_node ? kf_high(highs) : kf_low(highs));                                             \
    }
#define KF_COLLIDE_ONE                                                                                       \
    KF_ASK_LAYER                                                                                             \
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)                                                        \
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;                                            \
    (void)Fx, (void)Fy, (void)Fz;                                                                            \
    KF_COLLIDE(KF_BODY_FORCE);

/* With folded boundaries the extent covers a row to the end of its last sector of memory, so that all
 * sectors are written whole. What lands in the ghosts there is never used. */
KF_KERNEL(stream_collide, kf_module_arguments) {
    KF_IN_GIVEN_ROWS
    KF_LEAVE_OUT(2)
    const int last = a->grid.nodes[0] - 1;
    const int pair = x;
    x = 2 * pair;
    const kf_index k = kf_node(a, x, y, z);
    KF_LEAVE_INSIDE(3)
    KF_BAND_BITS(3)
    KF_EACH_VELOCITY(KF_PAIR_DECLARE)
    KF_PAIR_LOAD
    KF_COUPLES(KF_KEEP_HIGH)
    KF_COUPLES(KF_TAKE_LOW)
    kf_real f_zzz = kf_low(pair_zzz);
    KF_COLLIDE_ONE
    if (x <= last && !(left_out & 1)) {
        KF_FINISH
    }
    KF_COUPLES(KF_KEEP_LOW)
    const kf_real low_zzz = f_zzz;
    {
        x++;
        KF_COUPLES(KF_TAKE_HIGH)
        kf_real f_zzz = kf_high(pair_zzz);
        KF_COLLIDE_ONE
        if (x <= last && !(left_out & 2)) {
            KF_FINISH
        }
        if (left_out == 0) {
            KF_COUPLES(KF_PAIR_STORE)
            kf_stream_pair(kf_address(a, a->populations.target, 0, k), kf_pair(low_zzz, f_zzz));
        } else if (left_out != 3) {
            KF_COUPLES(KF_PAIR_STORE_ONE)
            kf_stream(kf_address(a, a->populations.target, 0, k) + (left_out & 1),
                      left_out & 1 ? f_zzz : low_zzz);
        }
    }
}
#elif KF_ROWS
KF_ROW_KERNEL(stream_collide, kf_module_arguments, kf_end_of_part, kf_row_value, KF_KEPT_VALUES, kf_begin_row,
              kf_finish_row) {
    KF_IN_SLAB
    const kf_index k = kf_node(a, x, y, z);
    (void)k;
    KF_ASK_LAYER
    KF_EACH_VELOCITY(KF_DECLARE)
    KF_EACH_VELOCITY(KF_ROW_PULL)
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;
    (void)Fx, (void)Fy, (void)Fz;
    KF_COLLIDE(KF_BODY_FORCE);
    KF_EACH_VELOCITY(KF_HAND_ON)
}
#else
KF_KERNEL(stream_collide, kf_module_arguments) {
    KF_IN_GIVEN_ROWS
    KF_LEAVE_OUT(1)
    KF_PREFETCH_AHEAD
    const kf_index k = kf_node(a, x, y, z);
    KF_LEAVE_INSIDE(1)
    KF_ASK_LAYER
    KF_LOAD_STREAMED(KF_PULL)
    KF_COLLIDE_AND_STORE
}
#endif

#if KF_BOUNDARY_ROWS_APART
/* Streams and collides the rows at the domain's faces across y and z: those of the first and the last
 * plane, then the first and the last row of the other planes. The extent is (a row, rows). */
KF_SCALAR_KERNEL(stream_collide_boundary, kf_module_arguments) {
    const int row = y, beyond = row - 2 * a->grid.nodes[1];
    z = beyond >= 0 ? 1 + beyond / 2 : row < a->grid.nodes[1] ? 0 : a->grid.nodes[2] - 1;
    y = beyond >= 0 ? beyond % 2 * (a->grid.nodes[1] - 1) : row % a->grid.nodes[1];
    if (kf_are_left_out(a, x, x + 1, y, z)) return;
    const kf_index k = kf_node(a, x, y, z);
    KF_LEAVE_INSIDE(1)
    KF_ASK_LAYER
    KF_EACH_VELOCITY(KF_DECLARE)
    KF_EACH_VELOCITY(KF_CHOOSE)
    KF_COLLIDE_AND_STORE
}
#endif

#if KF_KEEP_STREAMED
#define KF_KEEP_ONE(i, name, cx, cy, cz)                                                                     \
    ((kf_real *)a->band.kept)[(long long)(i)*a->band.capacity + place] = f_##name;
#define KF_LOAD_KEPT(i, name, cx, cy, cz)                                                                    \
    kf_real f_##name = ((const kf_real *)a->band.kept)[(long long)(i)*a->band.capacity + place];
#define KF_KEEP_BAND      KF_EACH_VELOCITY(KF_KEEP_ONE)
#define KF_LOAD_KEPT_BAND KF_ASK_FOR_ENTRIES KF_AWAIT_FORCES KF_EACH_VELOCITY(KF_LOAD_KEPT)
#else
#define KF_KEEP_BAND
#define KF_LOAD_KEPT_BAND KF_LOAD_OF_BAND(KF_PULL) KF_ASK_FOR_ENTRIES KF_AWAIT_FORCES
#endif

/* Computes velocity and density of the streamed populations at the band's nodes, before any force of the
 * solid. */
KF_BAND_PART(band_macroscopic) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_index k = ((const kf_index *)a->band.node)[place];
    KF_BAND_POSITION
    KF_LET_FORCES
    KF_LOAD_OF_BAND(KF_PULL)
    KF_KEEP_BAND
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    kf_begin_band(a, place, deviation, ux, uy, uz);
}

/* Collides the band's nodes again, with the force that the samples spread on them. */
KF_BAND_PART(band_collide) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_index k = ((const kf_index *)a->band.node)[place];
    if (!kf_is_own(a, k)) return;
    KF_BAND_POSITION
    KF_ASK_LAYER
    KF_LOAD_KEPT_BAND
    const kf_real4 force = KF_BAND_FORCE;
    const kf_real Fx = KF_BODY_X + force.x, Fy = KF_BODY_Y + force.y, Fz = KF_BODY_Z + force.z;
    KF_DECLARE_STATE(Fx, Fy, Fz)
    KF_COLLIDE(1);
#if KF_SLABS
    KF_EACH_VELOCITY(KF_KEEP_ASIDE)
}

/* Writes the band's nodes back to the grid, and stores what waits outside of outflows beside them. */
KF_SCALAR_KERNEL(band_restore, kf_module_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_index k = ((const kf_index *)a->band.node)[place];
    if (!kf_is_own(a, k)) return;
    const kf_stored *kept = (const kf_stored *)a->band.kept + place;
    KF_EACH_VELOCITY(KF_LOAD_ASIDE)
    KF_BAND_POSITION
    KF_MOMENTUM(deviation, jx, jy, jz)
    (void)deviation, (void)jx, (void)jy, (void)jz;
    KF_FINISH
#else
    KF_FINISH
#endif
    KF_EACH_VELOCITY(KF_STORE_TARGET)
    KF_KEEP_INNER
}

#if KF_BAND_CHAIN
KF_FUNCTION int kf_warps_of(int items) {
    return (items + 31) / 32;
}
/* Runs the three parts of the chain in the order of the items. Each part begins with a new warp. */
KF_ORDERED_KERNEL(band_chain, kf_module_arguments) {
    const int lanes = a->segments.count * KF_SEGMENT_LANES;
    const int band = kf_warps_of(a->band.capacity), seen = band + kf_warps_of(lanes), warp = x / 32;
    if (warp < band) {
        if (x < a->band.capacity) kf_band_macroscopic(a, x, y, z, 0);
    } else if (warp < seen) {
        if (x - 32 * band < lanes) kf_segment_forces(a, x - 32 * band, y, z, band);
    } else {
        if (x - 32 * seen < a->band.capacity) kf_band_collide(a, x - 32 * seen, y, z, seen);
    }
    kf_end_warp(a->band.count + 2, x, seen + band);
}
#endif
