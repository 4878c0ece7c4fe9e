/* Streaming and collision in one pass (plan `fused`): every population is read once and written once. The
 * solid's force is known beforehand for the band, the nodes that samples touch, which are collided again with
 * it. */
#include "collision.h"
#if KF_FOLDED_BOUNDARY
#include "boundary.h"
#endif

#if KF_FOLDED_BOUNDARY
/* Rows at the shell take what comes from outside by the rule of the boundaries. In all others the ends do, 32
 * nodes (a warp) at a time without branches, and everybody else pulls. */
#define KF_DECLARE(i, name, cx, cy, cz) kf_real f_##name;
#define KF_PULL(i, name, cx, cy, cz)    f_##name = kf_population(a, a->source, i, k - kf_offset(a, cx, cy, cz));
#define KF_PULL_END(i, name, cx, cy, cz)                                                                     \
    f_##name = kf_incoming_in_row(a, i, cx, cy, cz, k, x == 0, x == a->nodes[0] - 1);
#define KF_TAKE(i, name, cx, cy, cz) f_##name = kf_incoming(a, cx, cy, cz, x, y, z);
#define KF_LOAD_STREAMED                                                                                     \
    KF_D3Q27(KF_DECLARE)                                                                                     \
    if (y > 0 && y < a->nodes[1] - 1 && z > 0 && z < a->nodes[2] - 1) {                                      \
        if (x >= 32 && x < (a->nodes[0] - 1) / 32 * 32) {                                                    \
            KF_D3Q27(KF_PULL)                                                                                \
        } else {                                                                                             \
            KF_D3Q27(KF_PULL_END)                                                                            \
        }                                                                                                    \
    } else {                                                                                                 \
        KF_D3Q27(KF_TAKE)                                                                                    \
    }
#define KF_FINISH                                                                                            \
    if (KF_IS_OUTFLOW(a, x, y, z))                                                                           \
        KF_ANCHOR_DENSITY(deviation, (jx + Fx) * per_density, (jy + Fy) * per_density,                       \
                          (jz + Fz) * per_density);
/* A band kernel's item is a place in the list, and becomes the node's coordinates. */
#define KF_BAND_POSITION kf_node_position(k, a->origin, a->row_pitch, a->plane_pitch, &x, &y, &z);
#else
#define KF_LOAD_STREAMED KF_D3Q27(KF_LOAD_PULL)
#define KF_FINISH
#define KF_BAND_POSITION
#endif

KF_KERNEL(stream_collide, kf_kinetic_arguments) {
    const kf_index k = kf_node(a, x, y, z);
    KF_LOAD_STREAMED
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    const kf_real Fx = KF_BODY_X, Fy = KF_BODY_Y, Fz = KF_BODY_Z;
    (void)Fx, (void)Fy, (void)Fz;
    KF_COLLIDE(KF_BODY_FORCE);
    KF_FINISH
    KF_D3Q27(KF_STREAM_TARGET)
}

/* Velocity and density of the streamed populations at the band's nodes, before any force of the solid; the
 * band's force starts from zero. */
KF_SCALAR_KERNEL(band_macroscopic, kf_kinetic_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (place >= a->band_count[0]) return;
    const kf_index k = ((const kf_index *)a->band_node)[place];
    KF_BAND_POSITION
    KF_LOAD_STREAMED
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    kf_real4 field;
    field.x = ux;
    field.y = uy;
    field.z = uz;
    field.w = KF_R(1.0) + deviation;
    ((kf_real4 *)a->band_field)[place] = field;
#if KF_FIXED_POINT_FORCE
    long long *force = (long long *)a->band_force + 4LL * place;
    force[0] = force[1] = force[2] = 0;
#else
    kf_real4 zero;
    zero.x = zero.y = zero.z = zero.w = KF_R(0.0);
    ((kf_real4 *)a->band_force)[place] = zero;
#endif
}

/* The band's nodes once more, with the force that the samples spread on them. */
KF_SCALAR_KERNEL(band_collide, kf_kinetic_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (place >= a->band_count[0]) return;
    const kf_index k = ((const kf_index *)a->band_node)[place];
#if KF_FIXED_POINT_FORCE
    const long long *force = (const long long *)a->band_force + 4LL * place;
    const kf_real Fx = KF_BODY_X + (kf_real)((double)force[0] * (1.0 / KF_SPREAD_SCALE));
    const kf_real Fy = KF_BODY_Y + (kf_real)((double)force[1] * (1.0 / KF_SPREAD_SCALE));
    const kf_real Fz = KF_BODY_Z + (kf_real)((double)force[2] * (1.0 / KF_SPREAD_SCALE));
#else
    const kf_real4 force = ((const kf_real4 *)a->band_force)[place];
    const kf_real Fx = KF_BODY_X + force.x, Fy = KF_BODY_Y + force.y, Fz = KF_BODY_Z + force.z;
#endif
    KF_BAND_POSITION
    KF_LOAD_STREAMED
    KF_DECLARE_STATE(Fx, Fy, Fz)
    KF_COLLIDE(1);
    KF_FINISH
    KF_D3Q27(KF_STORE_TARGET)
}
