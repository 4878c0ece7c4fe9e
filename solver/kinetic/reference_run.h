/* The state of a run of the reference, for kinetic_reference.c, kinetic_reference_solid.c and
 * kinetic_reference_links.c. Lattice units. */
#ifndef KF_SOLVER_KINETIC_REFERENCE_RUN_H
#define KF_SOLVER_KINETIC_REFERENCE_RUN_H

#include "solver/kinetic/reference.h"

/* Least number of nodes or samples for which threads are started. */
enum { KF_REFERENCE_LEAST_SHARED = 500 };

/* A solid: its initial centre and its present state. */
typedef struct kf_reference_solid {
    double start[3], center[3], rotation[9];
    double velocity[3], angular_velocity[3], angular_momentum[3];
} kf_reference_solid;

struct kf_reference_run {
    const kf_scene *scene;
    bool folded; /* 19 velocities: the other eight populations are 0 */
    double weights[KF_REFERENCE_Q];
    int numbers[3][3][3]; /* of velocities, by c_x + 1, c_y + 1, c_z + 1 */
    int n[3];
    size_t count;
    double *f, *streamed, *force; /* [KF_REFERENCE_Q][count], [KF_REFERENCE_Q][count], [3][count] */
    /* [KF_REFERENCE_Q][count] populations outside outflows, at the face's nodes. */
    double *outside[KF_FACES];
    double *area; /* areas with which samples act */
    /* [2 links] mean corrections; populations that left a step before, less those at rest. */
    double *link_memory;
    double *link_drive;  /* [links] what the surface's motion takes from the population that returns */
    double taken_back;   /* share of the corrections' sum that a unit of weight gives back */
    double average[3];   /* density, |momentum|, |second moment| */
    bool averages_given; /* another run gives the averages */
    double omega;
    /* On all solids about the first one's centre; on each of several. */
    kf_solid_load load, loads[KF_MOST_SOLIDS];
    /* [0] the only one, or all together; then each of several. */
    kf_reference_solid solid[1 + KF_MOST_SOLIDS];
    double friction[3];        /* of a law of the wall */
    kf_reference_layer *layer; /* [links.wall_count]; NULL: layers are not modelled */
    double *eddies;            /* [count] the viscosity of turbulence */
    int step;                  /* the last one */
    /* A solid by links whose surface leaves its place has the distance from it, the mass that the fluid has
     * gained at it, the sum of the links' weights in the last step, and what a weight gives back in this one.
     */
    kf_distance_grid distance;
    double moving_gained, moving_weights, moving_taken;
};

/* Returns the index of node x = (x, y, z) in arrays of `count` values. */
static inline size_t kf_reference_node(const kf_reference_run *run, const int x[3]) {
    return (size_t)x[0] + (size_t)run->n[0] * ((size_t)x[1] + (size_t)run->n[1] * (size_t)x[2]);
}

/* Sets the solids' poses at time 0, and computes the areas with which samples act. The caller frees
 * run->area. */
void kf_reference_begin_solids(kf_reference_run *run);
/* Computes the solid's force on the nodes and the load on it, in all passes of a step: moves the solid,
 * interpolates the velocity (run->streamed) at each sample, solves for a free solid's velocities, and spreads
 * the forces. */
void kf_reference_immerse(kf_reference_run *run, int step);

/* These are for a solid by links whose surface leaves its place. The first sets the nodes that are inside at
 * a step to rest. The second, at the beginning of a step, fills those that come free, and sets what returns
 * from the surface, and the load. The caller frees run->distance.values. */
void kf_reference_rest_moving(kf_reference_run *run, int step);
void kf_reference_move_links(kf_reference_run *run, int step);

#endif
