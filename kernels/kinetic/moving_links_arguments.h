/* The arguments of the kernels of a solid by links whose surface leaves its place (moving_links.cu), shared
 * by host and device. */
#ifndef KF_KERNELS_KINETIC_MOVING_LINKS_ARGUMENTS_H
#define KF_KERNELS_KINETIC_MOVING_LINKS_ARGUMENTS_H

#include "../distance_table.h"
#include "arguments.h"

/* The mass that the fluid has gained at the solid up to the last step but one, in cells at density 1, and
 * what a link gives back of it in this step, for each unit of its weight. */
typedef struct kf_moving_mass {
    double gained, taken;
    long long
        sums[2 * KF_LOAD_SLOTS]; /* fixed point, in pairs: gains of the last step, weights of its links */
} kf_moving_mass;

typedef struct kf_kinetic_moving_links {
    void *pose; /* kf_pose [2]: of this step, and of the step before */
    kf_moving_mass *mass;
    kf_distance_table distance; /* limited to KF_MOVING_FAR */
    /* The nodes of a box, which holds the solid in every pose. It begins so far below the solid's centre. */
    int box[3];
    double below[3];
    /* Nodes of the box that a step has work at. They are spread over KF_MOVING_SLOTS parts of so much room:
     * from the beginning of a part on those inside near the surface, from its end on those that come free. */
    int *list;
    int *counts; /* [2][KF_MOVING_SLOTS]: how many of each kind a part has */
    int room;
    int periodic[3]; /* whether nodes beyond an axis' ends are those of its other end */
    int half_way;    /* every link is cut in its middle */
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

enum { KF_MOVING_MASS_STEPS = 64 }; /* in so many steps links give back what the fluid has gained */
enum {
    KF_MOVING_SLOTS = 64,
    KF_MOVING_SHARES = 3 /* items that share the populations of a node inside */
};
#define KF_MOVING_FAR 2.0
/* A node is in the fluid from this distance on. One on the surface, whose distance is rounded, is not. */
#define KF_MOVING_SURFACE 1e-6

#endif
