/* Collects the launches of a kinetic config for the cost model. */
#ifndef KF_COST_MODEL_KINETIC_TALLY_H
#define KF_COST_MODEL_KINETIC_TALLY_H

#include <math.h>

#include "cost_model/model.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cost.h"

typedef struct kf_kinetic_cost {
    const kf_scene *scene;
    const kf_device_info *device;
    kf_sample_survey survey;
} kf_kinetic_cost;

typedef struct kf_kinetic_tally {
    kf_kinetic_cost *cost;
    kf_kinetic_options options;
    kf_works *works;
    double nodes;
    int level; /* level of nested grids */
} kf_kinetic_tally;

static inline bool kf_kinetic_in_one_pass(const kf_kinetic_options *options) {
    return options->plan == KF_PLAN_FUSED || options->plan == KF_PLAN_MOMENTS;
}
/* Returns the bytes of a stored value. */
static inline double kf_kinetic_value_bytes(const kf_kinetic_options *options) {
    return options->storage == KF_F64 ? 8 : options->storage == KF_F16 ? 2 : 4;
}
/* Returns how many nodes lie side by side in memory for one value, before the next value follows; with the
 * layout soa all of them. */
static inline double kf_kinetic_group(const kf_kinetic_options *options) {
    return options->layout == KF_SOA   ? (double)INFINITY
           : options->layout == KF_AOS ? 1
                                       : (double)options->alpha;
}
/* Returns the populations of a node. */
static inline double kf_kinetic_populations(const kf_kinetic_tally *tally) {
    return (double)tally->options.velocities;
}

/* Add the kernels of a moving solid's pose and band; of the order of its samples; of the samples' forces on
 * nodes; of the collision of nodes with forces; of the restoration of the band on one grid; and of cut links
 * (kinetic_cost_solid.c). */
void kf_kinetic_add_motion(kf_kinetic_tally *tally);
void kf_kinetic_add_order(kf_kinetic_tally *tally);
void kf_kinetic_add_forces(kf_kinetic_tally *tally);
void kf_kinetic_add_band_collide(kf_kinetic_tally *tally);
void kf_kinetic_add_band_restore(kf_kinetic_tally *tally);
void kf_kinetic_add_links(kf_kinetic_tally *tally);

#endif
