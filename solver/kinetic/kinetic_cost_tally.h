/* The launches of a kinetic config while they are listed. */
#ifndef KF_COST_MODEL_KINETIC_TALLY_H
#define KF_COST_MODEL_KINETIC_TALLY_H

#include "solver/kinetic/kinetic_cost.h"
#include "solver/kinetic/kinetic_cost_choice.h"
#include "cost_model/model.h"

typedef struct kf_kinetic_cost {
    const kf_scene *scene;
    const kf_device_info *device;
    kf_sample_survey survey;
} kf_kinetic_cost;

typedef struct kf_kinetic_tally {
    kf_kinetic_cost *cost;
    kf_kinetic_choice choice;
    kf_works *works;
    double nodes;
} kf_kinetic_tally;

/* Of a node. */
static inline double kf_kinetic_populations(const kf_kinetic_tally *tally) {
    return tally->choice.velocities;
}

/* kinetic_solid.c. A moving solid's pose and band; the order of its samples; forces from its samples on
 * nodes; the collision of the nodes with forces; what one grid takes back of them. */
void kf_kinetic_add_motion(kf_kinetic_tally *tally);
void kf_kinetic_add_order(kf_kinetic_tally *tally);
void kf_kinetic_add_forces(kf_kinetic_tally *tally);
void kf_kinetic_add_band_collide(kf_kinetic_tally *tally);
void kf_kinetic_add_band_restore(kf_kinetic_tally *tally);

#endif
