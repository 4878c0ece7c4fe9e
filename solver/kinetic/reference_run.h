/* The state of a run of the reference, for the files that make a step of it: kinetic_reference.c and
 * kinetic_reference_solid.c. All in lattice units. */
#ifndef KF_SOLVER_KINETIC_REFERENCE_RUN_H
#define KF_SOLVER_KINETIC_REFERENCE_RUN_H

#include "solver/kinetic/reference.h"

enum { KF_REFERENCE_LEAST_SHARED = 500 }; /* nodes or samples for which threads are worth starting */

/* A solid: where it is at first, and now. */
typedef struct kf_reference_solid {
    double start[3], center[3], rotation[9];
    double velocity[3], angular_velocity[3], angular_momentum[3];
} kf_reference_solid;

struct kf_reference_run {
    const kf_scene *scene;
    bool folded; /* 19 velocities: nothing goes along the other eight */
    double weights[KF_REFERENCE_Q];
    int n[3];
    size_t count;
    double *f, *streamed, *force; /* [KF_REFERENCE_Q][count] twice, [3][count] */
    double *outside[KF_FACES];    /* of outflows: [KF_REFERENCE_Q][count], at the face's nodes */
    double *area;                 /* of samples, as they act */
    double *link_memory; /* [2 links]: mean corrections; what left a step before, less that of rest */
    double taken_back;   /* what a weight gives back of the corrections' sum */
    double average[3];   /* density, |momentum|, |second moment| */
    bool averages_given; /* by another run */
    double omega;
    kf_solid_load load, loads[KF_MOST_SOLIDS]; /* on all solids about the first's place; on each of several */
    kf_reference_solid solid[1 + KF_MOST_SOLIDS]; /* one, or all together; each of several */
    double friction[3];                           /* of a law of the wall */
};

/* Returns the place of node x = (x, y, z) in arrays of `count` values. */
static inline size_t kf_reference_node(const kf_reference_run *run, const int x[3]) {
    return (size_t)x[0] + (size_t)run->n[0] * ((size_t)x[1] + (size_t)run->n[1] * (size_t)x[2]);
}

/* Puts the solids at their places at time 0, and finds the areas with which samples act; the caller frees
 * run->area. */
void kf_reference_begin_solids(kf_reference_run *run);
/* Works out the solid's force on the nodes, and the load on it, in all passes of a step: moves the solid,
 * looks at the fluid (run->streamed) at each sample, solves for a free solid's velocities, and spreads the
 * forces. */
void kf_reference_immerse(kf_reference_run *run, int step);

#endif
