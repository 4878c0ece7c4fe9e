/* The state that nested grids exchange, computed from a node's populations or moments, and turned back
 * into these. nested.cu includes this header, and its modules take kf_nested_side as kf_module_arguments.
 *
 * Defines that a config sets: KF_MOMENTS 1: the finer level stores moments. KF_COARSE_MOMENTS 0|1: whether
 * the coarser level does, if it differs. */
#ifndef KF_KERNELS_KINETIC_CROSSING_H
#define KF_KERNELS_KINETIC_CROSSING_H

#include "left.h"
#include "moments.h"

#if KF_MOMENTS
#define KF_FINE_MOMENTS 1
#else
#define KF_FINE_MOMENTS 0
#endif
#ifndef KF_COARSE_MOMENTS
#define KF_COARSE_MOMENTS KF_FINE_MOMENTS
#endif

enum { KF_CROSSING = 9 };
/* The exchanged state: density less 1, velocity, and half of the traceless second moments xx yy xy xz yz
 * over the density. All but the velocity are in KF_UNIT. */
typedef struct kf_crossing {
    kf_real value[KF_CROSSING];
} kf_crossing;

#define KF_ADD_SUMS(i, name, cx, cy, cz)                                                                     \
    s.one += f_##name;                                                                                       \
    if ((cx) != 0) s.x += KF_R(cx) * f_##name;                                                               \
    if ((cy) != 0) s.y += KF_R(cy) * f_##name;                                                               \
    if ((cz) != 0) s.z += KF_R(cz) * f_##name;                                                               \
    if ((cx) != 0) s.xx += f_##name;                                                                         \
    if ((cy) != 0) s.yy += f_##name;                                                                         \
    if ((cz) != 0) s.zz += f_##name;                                                                         \
    if ((cx) * (cy) != 0) s.xy += KF_R((cx) * (cy)) * f_##name;                                              \
    if ((cx) * (cz) != 0) s.xz += KF_R((cx) * (cz)) * f_##name;                                              \
    if ((cy) * (cz) != 0) s.yz += KF_R((cy) * (cz)) * f_##name;

/* Returns the state of populations after a collision. Their momentum contains half of a step's force too
 * much, which is subtracted. */
KF_FUNCTION kf_crossing kf_of_populations(const kf_nested_side *a, const kf_real *populations) {
    kf_sums s;
    kf_crossing c;
    s.one = s.x = s.y = s.z = s.xx = s.yy = s.zz = s.xy = s.xz = s.yz = KF_R(0.0);
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
    KF_EACH_VELOCITY(KF_ADD_SUMS)
    (void)a;
    const kf_real density = KF_R(KF_UNIT) + s.one, per_density = kf_reciprocal(density);
    const kf_real ux = (s.x - KF_R(0.5) * KF_BODY_X) * per_density,
                  uy = (s.y - KF_R(0.5) * KF_BODY_Y) * per_density,
                  uz = (s.z - KF_R(0.5) * KF_BODY_Z) * per_density;
    const kf_real xx = s.xx - ux * (s.x + s.x - density * ux), yy = s.yy - uy * (s.y + s.y - density * uy),
                  zz = s.zz - uz * (s.z + s.z - density * uz);
    const kf_real third = (xx + yy + zz) * KF_R(1.0 / 3.0), half = KF_R(0.5) * per_density;
    c.value[0] = s.one;
    c.value[1] = ux;
    c.value[2] = uy;
    c.value[3] = uz;
    c.value[4] = half * (xx - third);
    c.value[5] = half * (yy - third);
    c.value[6] = half * (s.xy - ux * s.y - uy * s.x + density * ux * uy);
    c.value[7] = half * (s.xz - ux * s.z - uz * s.x + density * ux * uz);
    c.value[8] = half * (s.yz - uy * s.z - uz * s.y + density * uy * uz);
    return c;
}

#define KF_LOAD_TO_ARRAY(i, name, cx, cy, cz)                                                                \
    populations[i] = kf_from_store(*kf_address(a, a->populations.source, i, k));
#if KF_EDGES
/* Returns the state of a node whose populations are `apart` values from each other. */
#define KF_LOAD_APART(i, name, cx, cy, cz) populations[i] = kf_from_store(first[(i)*apart]);
KF_FUNCTION kf_crossing kf_look_apart(const kf_nested_side *a, const kf_stored *first, kf_int64 apart) {
    kf_real populations[27];
    KF_EACH_VELOCITY(KF_LOAD_APART)
    return kf_of_populations(a, populations);
}
#endif

/* Return the state of node k of a level that stores populations, or moments. */
KF_FUNCTION kf_crossing kf_look_at_populations(const kf_nested_side *a, kf_index k) {
    kf_real populations[27];
    KF_EACH_VELOCITY(KF_LOAD_TO_ARRAY)
    return kf_of_populations(a, populations);
}
/* Reads moments as they are, except for nodes of the band, whose populations are listed. */
KF_FUNCTION kf_crossing kf_look_at_moments(const kf_nested_side *a, kf_index k) {
    const kf_held h = kf_load_held(a, a->populations.source, k);
    if (!kf_is_listed(&h)) {
        const kf_moments m = kf_to_moments(&h);
        const kf_real per_density = kf_reciprocal(KF_R(KF_UNIT) + m.deviation),
                      third = (m.xx + m.yy + KF_ZZ(&m)) * KF_R(1.0 / 3.0);
        kf_crossing c;
        c.value[0] = m.deviation;
        c.value[1] = m.ux;
        c.value[2] = m.uy;
        c.value[3] = m.uz;
        c.value[4] = (m.xx - third) * per_density;
        c.value[5] = (m.yy - third) * per_density;
        c.value[6] = m.xy * per_density;
        c.value[7] = m.xz * per_density;
        c.value[8] = m.yz * per_density;
        return c;
    }
    kf_real populations[27];
    kf_held_populations(a, &h, populations, 1);
    return kf_of_populations(a, populations);
}
#if KF_FINE_MOMENTS
#define kf_look_at_fine kf_look_at_moments
#else
#define kf_look_at_fine kf_look_at_populations
#endif
#if KF_COARSE_MOMENTS
#define kf_look_at_coarse kf_look_at_moments
#else
#define kf_look_at_coarse kf_look_at_populations
#endif

/* A node's state after a collision is set in two steps. First a thread computes what it keeps of a node,
 * the state or the populations. Later the node is written. So a cpu computes many nodes at once. */
#define KF_KEPT_OF_NODE(moments) ((moments) ? KF_CROSSING : 27)
/* Returns the moments of a state, with second moments scaled to the level. */
KF_FUNCTION kf_moments kf_moments_of(kf_crossing c, kf_real scale) {
    const kf_real factor = (KF_R(KF_UNIT) + c.value[0]) * scale;
    kf_moments m;
    m.deviation = c.value[0];
    m.ux = c.value[1];
    m.uy = c.value[2];
    m.uz = c.value[3];
    m.xx = c.value[4] * factor;
    m.yy = c.value[5] * factor;
    m.xy = c.value[6] * factor;
    m.xz = c.value[7] * factor;
    m.yz = c.value[8] * factor;
#if KF_BODY_FORCE
    m.zz = -(m.xx + m.yy);
#endif
    return m;
}
/* Computes what is kept of a node: kept[i * stride] with i below KF_KEPT_OF_NODE. */
KF_FUNCTION void kf_keep(const kf_nested_side *a, int moments, kf_crossing c, kf_real scale, kf_real *kept,
                         int stride) {
    (void)a;
    if (moments) {
        KF_UNROLL
        for (int q = 0; q < KF_CROSSING; q++)
            kept[q * stride] = c.value[q];
    } else {
        const kf_moments m = kf_moments_of(c, scale);
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, kept, stride);
    }
}

#endif
