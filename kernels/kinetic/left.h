/* The populations that left a node of a grid, whether the grid stores populations or moments. KF_LOAD_LEFT
 * declares f_* of node k of source. Define that a config sets: KF_MOMENTS 0|1 (moments.h). */
#ifndef KF_KERNELS_KINETIC_LEFT_H
#define KF_KERNELS_KINETIC_LEFT_H

#include "collision.h"
#include "edges.h"
#if KF_MOMENTS
#include "moments.h"
#define KF_LOAD_LEFT                                                                                         \
    kf_real populations[27];                                                                                 \
    kf_node_populations(a, a->populations.source, k, populations, 1);                                        \
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
#else
#define KF_LOAD_LEFT KF_EACH_VELOCITY(KF_LOAD_HERE)
#endif

/* Returns the population that left node (x, y, z) with velocity (cx, cy, cz). */
KF_FUNCTION kf_real kf_leaving(const kf_module_arguments *a, int cx, int cy, int cz, int x, int y, int z) {
    const kf_index k = kf_node(a, x, y, z);
#if KF_MOMENTS
    return kf_node_population(a, a->populations.source, k, cx, cy, cz);
#else
    return kf_from_store(*kf_address(a, a->populations.source, kf_direction(cx, cy, cz), k));
#endif
}

#endif
