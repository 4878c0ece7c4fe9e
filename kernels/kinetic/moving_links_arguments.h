/* The arguments of the kernels of a solid by links whose surface moves through the grid (moving_links.cu),
 * which host and device share. */
#ifndef KF_KERNELS_KINETIC_MOVING_LINKS_ARGUMENTS_H
#define KF_KERNELS_KINETIC_MOVING_LINKS_ARGUMENTS_H

#include "../distance_table.h"
#include "arguments.h"

/* The mass that the fluid has gained at the solid up to the last step but one, in cells at density 1, and
 * what a link returns of it in this step for a weight of 1. */
typedef struct kf_moving_mass {
    double gained, taken;
    long long sums[2 * KF_LOAD_SLOTS]; /* fixed point, in pairs: gain of the last step, weight of its links */
} kf_moving_mass;

typedef struct kf_kinetic_moving_links {
    void *pose; /* kf_pose [2]: that of this step, and that of the step before */
    kf_moving_mass *mass;
    kf_distance_table distance; /* limited to KF_MOVING_FAR */
    /* The nodes of a box that contains the solid in every pose. It begins this far below the solid's
     * centre. */
    int box[3];
    double below[3];
    /* The nodes of the box at which a step has work, in KF_MOVING_SLOTS parts of `room` entries. A part
     * has those inside near the surface from its beginning on, and those that are uncovered from its end
     * backwards. */
    int *list;
    int *counts; /* [2][KF_MOVING_SLOTS]: number of nodes of each kind in a part */
    int room;
    int periodic[3]; /* whether nodes beyond an axis' ends are those at its other end */
    int half_way;    /* every link is cut half-way */
} kf_kinetic_moving_links;

typedef struct kf_moving_links_arguments {
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_moving_links moving;
    kf_kinetic_body body;
} kf_moving_links_arguments;

enum { KF_MOVING_MASS_STEPS = 64 }; /* the links return the fluid's gain in this number of steps */
enum {
    KF_MOVING_SLOTS = 64,
    KF_MOVING_SHARES = 3 /* items that share the populations of a node inside */
};
#define KF_MOVING_FAR 2.0
/* A node is in the fluid from this distance on. A node on the surface, whose distance is a rounding error,
 * is not. */
#define KF_MOVING_SURFACE 1e-6

#endif
