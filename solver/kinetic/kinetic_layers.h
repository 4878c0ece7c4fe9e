/* Turbulent layers along walls with a law of the wall: the channel and the plate of validation cases. */
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

/* Runs a channel with `cells` cells in its half height, at a friction Reynolds number of 1000 or 5200. It
 * checks bulk velocity over friction velocity in the later half of the run against Lee and Moser (J. Fluid
 * Mech. 774, 395, 2015: 20.0 and 24.1), and the force on the walls against the driving force. turnovers:
 * duration in half heights over the friction velocity; below 20 bounds are wide and the balance is not
 * checked. */
kf_status kf_check_channel(kf_validation *validation, kf_channel_place place, double reynolds, int cells,
                           kf_rate_rule rule, double turnovers, kf_error *error);

/* Runs a stream along a flat plate. It checks friction at two places against 0.0592 Re_x^-0.2, with Re_x from
 * the layer's momentum thickness. reynolds_of_cell: Reynolds number of the stream and the width of a cell.
 * tripped: small cubes trip the boundary layer; else there are none, and the layer is modelled. */
kf_status kf_check_plate(kf_validation *validation, double reynolds_of_cell, bool tripped, kf_error *error);

#endif
