/* Streaming and collision in one pass on one grid (plan `fused`): the esoteric pull, Lehmann (Computation 10,
 * 92, 2022, doi:10.3390/computation10060092). A node reads and writes the same places, so the order of nodes
 * does not matter. Of each pair of opposite velocities one is pulled from the neighbour that the other is
 * pushed to. Every step reaches to the neighbours in half of the loads and half of the stores; even and odd
 * steps differ in the numbers of the populations alone (kf_kept in lattice.h).
 *
 * What comes from outside is kept for nodes outside or in the outflow's buffer, which nobody writes in the
 * same step, so boundaries can be folded in. The band's nodes are collided with their force before everybody
 * else, from the same state, kept aside and put back after. */
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* what the functions of the headers take */

#include "band.h"
#include "streamed.h"

#define KF_PULL_OWN(own, cx, cy, cz)                                                                         \
    (KF_POSITIVE(cx, cy, cz) ? kf_address(a, a->populations.source, own, k)                                  \
                             : kf_neighbour(a, a->populations.source, own, k, -(cx), -(cy), -(cz)))
#define KF_PUSH_OWN(own, cx, cy, cz)                                                                         \
    (KF_POSITIVE(cx, cy, cz) ? kf_neighbour(a, a->populations.source, own, k, cx, cy, cz)                    \
                             : kf_address(a, a->populations.source, own, k))
#define KF_SOURCE_EVEN(i, cx, cy, cz)      KF_PULL_OWN(i, cx, cy, cz)
#define KF_SOURCE_ODD(i, cx, cy, cz)       KF_PULL_OWN(KF_OPPOSITE(i), cx, cy, cz)
#define KF_PLACE_EVEN(i, cx, cy, cz)       KF_PUSH_OWN(KF_OPPOSITE(i), cx, cy, cz)
#define KF_PLACE_ODD(i, cx, cy, cz)        KF_PUSH_OWN(i, cx, cy, cz)
#define KF_READ_EVEN(i, name, cx, cy, cz)  f_##name = kf_from_store(*KF_SOURCE_EVEN(i, cx, cy, cz));
#define KF_READ_ODD(i, name, cx, cy, cz)   f_##name = kf_from_store(*KF_SOURCE_ODD(i, cx, cy, cz));
#define KF_WRITE_EVEN(i, name, cx, cy, cz) kf_stream(KF_PLACE_EVEN(i, cx, cy, cz), f_##name);
#define KF_WRITE_ODD(i, name, cx, cy, cz)  kf_stream(KF_PLACE_ODD(i, cx, cy, cz), f_##name);

#define KF_COLLIDE_NODE(READ, WRITE)                                                                         \
    {                                                                                                        \
        KF_IN_PART                                                                                           \
        const kf_index k = kf_node(a, x, y, z);                                                              \
        KF_LOAD_STREAMED(READ)                                                                               \
        KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)                                                    \
        const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;                                        \
        (void)Fx, (void)Fy, (void)Fz;                                                                        \
        KF_COLLIDE(KF_BODY_FORCE);                                                                           \
        KF_FINISH                                                                                            \
        KF_EACH_VELOCITY(WRITE)                                                                              \
    }
KF_KERNEL(stream_collide_even, kf_module_arguments)
KF_COLLIDE_NODE(KF_READ_EVEN, KF_WRITE_EVEN)
KF_KERNEL(stream_collide_odd, kf_module_arguments)
KF_COLLIDE_NODE(KF_READ_ODD, KF_WRITE_ODD)

/* Velocity and density at the band's nodes before any force of the solid; the band's force starts from zero.
 */
#define KF_BAND_MACROSCOPIC(READ)                                                                            \
    {                                                                                                        \
        (void)y, (void)z;                                                                                    \
        const int place = x;                                                                                 \
        if (!KF_IN_BAND(a, place)) return;                                                                   \
        const kf_index k = ((const kf_index *)a->band.node)[place];                                          \
        KF_BAND_POSITION                                                                                     \
        KF_LOAD_STREAMED(READ)                                                                               \
        KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)                                                    \
        kf_begin_band(a, place, deviation, ux, uy, uz);                                                      \
    }
KF_SCALAR_KERNEL(band_macroscopic_even, kf_module_arguments)
KF_BAND_MACROSCOPIC(KF_READ_EVEN)
KF_SCALAR_KERNEL(band_macroscopic_odd, kf_module_arguments)
KF_BAND_MACROSCOPIC(KF_READ_ODD)

/* The band's nodes with the force that the samples spread on them, into band_kept
 * [velocities][band_capacity]. */
#define KF_BAND_COLLIDE(READ)                                                                                \
    {                                                                                                        \
        (void)y, (void)z;                                                                                    \
        const int place = x;                                                                                 \
        if (!KF_IN_BAND(a, place)) return;                                                                   \
        const kf_index k = ((const kf_index *)a->band.node)[place];                                          \
        if (!kf_is_own(a, k)) return;                                                                        \
        const kf_real4 force = kf_band_force(a, place);                                                      \
        const kf_real Fx = KF_BODY_X + force.x, Fy = KF_BODY_Y + force.y, Fz = KF_BODY_Z + force.z;          \
        KF_BAND_POSITION                                                                                     \
        KF_LOAD_STREAMED(READ)                                                                               \
        KF_DECLARE_STATE(Fx, Fy, Fz)                                                                         \
        KF_COLLIDE(1);                                                                                       \
        KF_EACH_VELOCITY(KF_KEEP_ASIDE)                                                                      \
    }
KF_SCALAR_KERNEL(band_collide_even, kf_module_arguments)
KF_BAND_COLLIDE(KF_READ_EVEN)
KF_SCALAR_KERNEL(band_collide_odd, kf_module_arguments)
KF_BAND_COLLIDE(KF_READ_ODD)

/* Puts them back, and keeps what the outflow keeps of them. */
#define KF_PUT_BACK_EVEN(i, name, cx, cy, cz) *KF_PLACE_EVEN(i, cx, cy, cz) = kf_to_store(f_##name);
#define KF_PUT_BACK_ODD(i, name, cx, cy, cz)  *KF_PLACE_ODD(i, cx, cy, cz) = kf_to_store(f_##name);
#define KF_BAND_RESTORE(PUT_BACK)                                                                            \
    {                                                                                                        \
        (void)y, (void)z;                                                                                    \
        const int place = x;                                                                                 \
        if (!KF_IN_BAND(a, place)) return;                                                                   \
        const kf_index k = ((const kf_index *)a->band.node)[place];                                          \
        if (!kf_is_own(a, k)) return;                                                                        \
        const kf_stored *kept = (const kf_stored *)a->band.kept + place;                                     \
        KF_EACH_VELOCITY(KF_LOAD_ASIDE)                                                                      \
        KF_BAND_POSITION                                                                                     \
        KF_MOMENTUM(deviation, jx, jy, jz)                                                                   \
        (void)deviation, (void)jx, (void)jy, (void)jz;                                                       \
        KF_FINISH                                                                                            \
        KF_EACH_VELOCITY(PUT_BACK)                                                                           \
    }
KF_SCALAR_KERNEL(band_restore_even, kf_module_arguments)
KF_BAND_RESTORE(KF_PUT_BACK_EVEN)
KF_SCALAR_KERNEL(band_restore_odd, kf_module_arguments)
KF_BAND_RESTORE(KF_PUT_BACK_ODD)
