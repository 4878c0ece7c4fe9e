/* The band: the nodes that samples of the solid touch, with the fluid's state there and the force that the
 * samples spread on them.
 *
 * Defines that a config sets:
 *   KF_SEGMENTS 0|1             segment_forces has summed the forces of each cell's samples
 *   KF_FIXED_POINT_FORCE 0|1    the band's force is in fixed point
 *   KF_SEGMENT_LANES            lanes of a warp that share a segment
 *   KF_MOVING 0|1               the solid moves
 *   KF_OVERLAP 0|1              a kernel may begin before the preceding one has ended
 *   KF_BAND_CHAIN 0|1           the band's kernels are parts of one kernel */
#ifndef KF_KERNELS_KINETIC_BAND_H
#define KF_KERNELS_KINETIC_BAND_H

#include "lattice.h"

#ifndef KF_SEGMENT_LANES
#define KF_SEGMENT_LANES 1
#endif

/* A moving solid's band has room for more nodes than it has. */
#if KF_MOVING
#define KF_IN_BAND(a, place) ((place) < (a)->band.count[0])
#else
#define KF_IN_BAND(a, place) 1
#endif

/* The chain of the band is band_macroscopic, segment_forces, band_collide. With KF_OVERLAP each of these
 * kernels may begin before the one before it ends, and first reads what that one does not write. With
 * KF_BAND_CHAIN they are parts of one kernel (band_chain in fused.cu). Its items wait until the warps of
 * the preceding parts have ended. */
#if KF_BAND_CHAIN
#define KF_BAND_PART(name)                                                                                   \
    KF_FUNCTION void kf_##name(const kf_module_arguments *a, int x, int y, int z, int before)
#define KF_LET_FORCES   (void)before;
#define KF_AWAIT_FORCES kf_await_warps(a->band.count + 2, before);
#else
#define KF_BAND_PART(name) KF_SCALAR_KERNEL(name, kf_module_arguments)
#if KF_OVERLAP
#define KF_LET_FORCES   KF_LET_SUCCESSOR;
#define KF_AWAIT_FORCES KF_AWAIT_PREDECESSOR;
#else
#define KF_LET_FORCES
#define KF_AWAIT_FORCES
#endif
#endif

/* Returns the distance between the components of a segment's force at one corner of its cell. The layout
 * is [segment][8][3] if lanes share a segment, otherwise [8][3][segment]. */
#if KF_SEGMENT_LANES > 1
#define KF_FORCE_STEP(a) 1
#else
#define KF_FORCE_STEP(a) ((long long)(a)->segments.count)
#endif

/* On one grid the band's nodes are collided before all others. The results wait in band.kept and are
 * written to the grid afterwards. */
#define KF_KEEP_ASIDE(i, name, cx, cy, cz)                                                                   \
    ((kf_stored *)a->band.kept)[(long long)(i)*a->band.capacity + place] = kf_to_store(f_##name);
#define KF_LOAD_ASIDE(i, name, cx, cy, cz)                                                                   \
    const kf_real f_##name = kf_from_store(kept[(long long)(i)*a->band.capacity]);

/* Stores density and velocity at a place of the band, and sets its force to zero. */
KF_FUNCTION void kf_begin_band(const kf_module_arguments *a, int place, kf_real deviation, kf_real ux,
                               kf_real uy, kf_real uz) {
    kf_real4 field;
    field.x = ux;
    field.y = uy;
    field.z = uz;
    field.w = KF_R(1.0) + KF_R(1.0 / KF_UNIT) * deviation;
    ((kf_real4 *)a->band.field)[place] = field;
#if KF_SEGMENTS
    (void)a, (void)place; /* kf_band_force writes the force */
#elif KF_FIXED_POINT_FORCE
    long long *force = (long long *)a->band.force + 4LL * place;
    force[0] = force[1] = force[2] = 0;
#else
    kf_real4 zero;
    zero.x = zero.y = zero.z = zero.w = KF_R(0.0);
    ((kf_real4 *)a->band.force)[place] = zero;
#endif
}

/* Loads the places of a node's sums. An item does so before it waits for other parts of the kernel, so
 * that the loads are done by then. */
#if KF_BAND_CHAIN
enum { KF_EARLY_ENTRIES = 8 };
typedef struct kf_entries {
    int first, end, early[KF_EARLY_ENTRIES];
} kf_entries;
KF_FUNCTION kf_entries kf_ask_for_entries(const kf_module_arguments *a, int place) {
    kf_entries entries;
    entries.first = a->segments.node_start[place];
    entries.end = a->segments.node_start[place + 1];
    KF_UNROLL
    for (int i = 0; i < KF_EARLY_ENTRIES; i++)
        entries.early[i] = entries.first + i < entries.end ? a->segments.node_entries[entries.first + i] : 0;
    return entries;
}
#define KF_ASK_FOR_ENTRIES const kf_entries entries = kf_ask_for_entries(a, place);
#define KF_BAND_FORCE      kf_band_force(a, place, &entries)
#define KF_AND_ENTRIES     , const kf_entries *entries
#else
#define KF_ASK_FOR_ENTRIES
#define KF_BAND_FORCE kf_band_force(a, place)
#define KF_AND_ENTRIES
#endif
#define KF_ADD_ENTRY(number)                                                                                 \
    const kf_real *entry = forces + (number);                                                                \
    force.x += entry[0];                                                                                     \
    force.y += entry[KF_FORCE_STEP(a)];                                                                      \
    force.z += entry[2 * KF_FORCE_STEP(a)];

/* Returns the force at a place, in the unit of the populations. With segments it sums the forces of the
 * cells around the node, and stores the sum for the load on the solid. */
KF_FUNCTION kf_real4 kf_band_force(const kf_module_arguments *a, int place KF_AND_ENTRIES) {
    kf_real4 force;
#if KF_SEGMENTS
    const kf_real *forces = (const kf_real *)a->segments.force;
#if KF_BAND_CHAIN
    const int end = entries->end, first = entries->first + KF_EARLY_ENTRIES;
#else
    const int end = a->segments.node_start[place + 1], first = a->segments.node_start[place];
#endif
    force.x = force.y = force.z = force.w = KF_R(0.0);
#if KF_BAND_CHAIN
    KF_UNROLL
    for (int i = 0; i < KF_EARLY_ENTRIES; i++) {
        if (entries->first + i >= end) continue;
        KF_ADD_ENTRY(entries->early[i])
    }
#endif
    KF_UNROLL_BY_8
    for (int i = first; i < end; i++) {
        KF_ADD_ENTRY(a->segments.node_entries[i])
    }
    ((kf_real4 *)a->band.force)[place] = force;
    force.x *= KF_R(KF_UNIT);
    force.y *= KF_R(KF_UNIT);
    force.z *= KF_R(KF_UNIT);
#elif KF_FIXED_POINT_FORCE
    const long long *sums = (const long long *)a->band.force + 4LL * place;
    force.x = (kf_real)((double)sums[0] * (KF_UNIT / KF_SPREAD_SCALE));
    force.y = (kf_real)((double)sums[1] * (KF_UNIT / KF_SPREAD_SCALE));
    force.z = (kf_real)((double)sums[2] * (KF_UNIT / KF_SPREAD_SCALE));
    force.w = KF_R(0.0);
#else
    force = ((const kf_real4 *)a->band.force)[place];
    force.x *= KF_R(KF_UNIT);
    force.y *= KF_R(KF_UNIT);
    force.z *= KF_R(KF_UNIT);
#endif
    return force;
}

#endif
