/* Streaming and collision in one pass (plan `fused`): every population is read once and written once. The
 * solid's force is known beforehand for the band, the nodes that samples touch, which are collided again with
 * it. */
#include "band.h"
#include "streamed.h"

#define KF_PULL(i, name, cx, cy, cz) f_##name = kf_from_store(*kf_pulled(a, i, k, cx, cy, cz));

#if KF_NODES_PER_THREAD == 2
/* Nodes k and k + 1, at x and x + 1 with an even x, share their memory accesses: of each population the pair that
 * lies in the same place of the row it comes from, and, where it is shifted along x, its neighbour beside. */
#define KF_PAIR_DECLARE(i, name, cx, cy, cz)                                                                 \
    kf_store_pair pair_##name;                                                                               \
    kf_store beside_##name = 0;
#define KF_LOW(name, cx)  (*((cx) > 0 ? &beside_##name : (cx) < 0 ? &pair_##name.high : &pair_##name.low))
#define KF_HIGH(name, cx) (*((cx) < 0 ? &beside_##name : (cx) > 0 ? &pair_##name.low : &pair_##name.high))
#define KF_PAIR_PULL(i, name, cx, cy, cz)                                                                    \
    pair_##name = *(const kf_store_pair *)kf_pulled(a, i, k, 0, cy, cz);                                     \
    if ((cx) != 0) beside_##name = *kf_pulled(a, i, (cx) > 0 ? k : k + 1, cx, cy, cz);
#if KF_FOLDED_BOUNDARY
/* The first and the last nodes of a row, as many as a warp has along x: one of the pair may be at the end, at the high end
 * always the same. */
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
        const kf_store value =                                                                               \
            kf_to_store(kf_incoming_in_row(a, i, cx, cy, cz, k + (last & 1), 0, x + (last & 1) == last, y, z)); \
        beside_##name = value;                                                                               \
        pair_##name.high = last & 1 ? pair_##name.high : value;                                              \
    }
#define KF_PAIR_TAKE(i, name, cx, cy, cz)                                                                    \
    KF_LOW(name, cx) = kf_to_store(kf_incoming(a, cx, cy, cz, x, y, z));                                     \
    KF_HIGH(name, cx) = kf_to_store(kf_incoming(a, cx, cy, cz, x < last ? x + 1 : x, y, z));
#define KF_PAIR_LOAD                                                                                         \
    if (KF_IN_SHELL || last < KF_PAIRED_LANES) {                                                             \
        KF_D3Q27(KF_PAIR_TAKE)                                                                               \
    } else if (x >= KF_PAIRED_LANES && x < (last & -KF_PAIRED_LANES)) {                                      \
        KF_D3Q27(KF_PAIR_PULL)                                                                               \
    } else if (x < KF_PAIRED_LANES) {                                                                        \
        KF_D3Q27(KF_PAIR_FIRST)                                                                              \
    } else {                                                                                                 \
        KF_D3Q27(KF_PAIR_LAST)                                                                               \
    }
#else
#define KF_PAIR_LOAD KF_D3Q27(KF_PAIR_PULL)
#endif
#define KF_TAKE_LOW(i, name, cx, cy, cz)  kf_real f_##name = kf_from_store(KF_LOW(name, cx));
#define KF_TAKE_HIGH(i, name, cx, cy, cz) kf_real f_##name = kf_from_store(KF_HIGH(name, cx));
#define KF_KEEP_LOW(i, name, cx, cy, cz)  const kf_real low_##name = f_##name;
#define KF_COLLIDE_ONE(take)                                                                                 \
    KF_D3Q27(take)                                                                                           \
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)                                                        \
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;                                            \
    (void)Fx, (void)Fy, (void)Fz;                                                                            \
    KF_COLLIDE(KF_BODY_FORCE);
#define KF_PAIR_STORE(i, name, cx, cy, cz)                                                                   \
    kf_stream_pair(kf_address(a, a->target, i, k), low_##name, f_##name);

/* With folded boundaries the extent covers a row to the end of its last sector of memory, so that all are written whole;
 * what lands in the ghosts there is never used. */
KF_KERNEL(stream_collide, kf_kinetic_arguments) {
    const int last = a->nodes[0] - 1;
    const int pair = x;
    x = 2 * pair;
    const kf_index k = kf_node(a, x, y, z);
    KF_D3Q27(KF_PAIR_DECLARE)
    KF_PAIR_LOAD
    KF_COLLIDE_ONE(KF_TAKE_LOW)
    if (x <= last) {
        KF_FINISH
    }
    KF_D3Q27(KF_KEEP_LOW)
    {
        x++;
        KF_COLLIDE_ONE(KF_TAKE_HIGH)
        if (x <= last) {
            KF_FINISH
        }
        KF_D3Q27(KF_PAIR_STORE)
    }
}
#else
KF_KERNEL(stream_collide, kf_kinetic_arguments) {
    const kf_index k = kf_node(a, x, y, z);
    KF_LOAD_STREAMED(KF_PULL)
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;
    (void)Fx, (void)Fy, (void)Fz;
    KF_COLLIDE(KF_BODY_FORCE);
    if (x < a->nodes[0]) {
        KF_FINISH
    }
    KF_D3Q27(KF_STREAM_TARGET)
}
#endif

/* Velocity and density of the streamed populations at the band's nodes, before any force of the solid. */
KF_SCALAR_KERNEL(band_macroscopic, kf_kinetic_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (place >= a->band_count[0]) return;
    const kf_index k = ((const kf_index *)a->band_node)[place];
    KF_BAND_POSITION
    KF_LOAD_STREAMED(KF_PULL)
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    kf_begin_band(a, place, deviation, ux, uy, uz);
}

/* The band's nodes once more, with the force that the samples spread on them. */
KF_SCALAR_KERNEL(band_collide, kf_kinetic_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (place >= a->band_count[0]) return;
    const kf_index k = ((const kf_index *)a->band_node)[place];
    const kf_real4 force = kf_band_force(a, place);
    const kf_real Fx = KF_BODY_X + force.x, Fy = KF_BODY_Y + force.y, Fz = KF_BODY_Z + force.z;
    KF_BAND_POSITION
    KF_LOAD_STREAMED(KF_PULL)
    KF_DECLARE_STATE(Fx, Fy, Fz)
    KF_COLLIDE(1);
    KF_FINISH
    KF_D3Q27(KF_STORE_TARGET)
}
