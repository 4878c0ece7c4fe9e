/* Turbulent layers along walls with a law: the channel and the plate that cases measure. */
#ifndef KF_SOLVER_KINETIC_KINETIC_LAYERS_H
#define KF_SOLVER_KINETIC_KINETIC_LAYERS_H

#include "solver/kinetic/kinetic.h"
#include "solver/validation/flow.h"

/* Positions of a channel's walls: half-way between nodes, on nodes, or turned by 26.6 degrees about z. */
typedef enum kf_channel_place {
    KF_CHANNEL_BETWEEN,
    KF_CHANNEL_ON_NODES,
    KF_CHANNEL_TURNED,
    KF_CHANNEL_PLACES
} kf_channel_place;

/* Runs a channel with so many cells a half height, at 1000 or 5200 (friction velocity and half height), and
 * checks the bulk velocity over the friction velocity of the later half against Lee and Moser (J. Fluid Mech.
 * 774, 395, 2015: 20.0 and 24.1), and the force on the walls against what drives the flow. turnovers: of the
 * half height over the friction velocity; fewer than 20 get wide bounds and no balance. */
kf_status kf_check_channel(kf_validation *validation, kf_channel_place place, double reynolds, int cells,
                           kf_rate_rule rule, double turnovers, kf_error *error);

/* Runs a stream along a flat plate behind small cubes that trip its layer, and checks friction at two places
 * against 0.0592 Re_x^-0.2, with Re_x from the layer's momentum thickness. reynolds_of_cell: of the stream
 * and a cell. */
kf_status kf_check_plate(kf_validation *validation, double reynolds_of_cell, kf_error *error);

#endif
