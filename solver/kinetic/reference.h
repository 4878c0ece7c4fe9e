/* The reference solution of the kinetic system, shared by kinetic_reference*.c, nested_reference.c and
 * kinetic_verify.c. */
#ifndef KF_SOLVER_KINETIC_REFERENCE_H
#define KF_SOLVER_KINETIC_REFERENCE_H

#include "scene/scene.h"
#include "solver/flow/flow_plan.h"

/* Results of the reference: density - 1 and velocity [4][z][y][x] in lattice units, and the load. */
typedef struct kf_reference_result {
    double *values;
    kf_solid_load load;
    kf_solid_load loads[KF_MOST_SOLIDS]; /* on each of several solids */
    double friction[3];                  /* of a law of the wall (kf_wall_look.friction) */
} kf_reference_result;

struct kf_reference {
    size_t count;
    kf_reference_result finer[KF_FINER_LEVELS]; /* of nested grids, from the second level on */
    kf_reference_result of_27;
    kf_reference_result of_19; /* on 19 velocities; values is NULL if the scene does not allow them */
};

/* A run of the reference on one grid. Nested grids advance several runs together (nested_reference.c). */
typedef struct kf_reference_run kf_reference_run;

/* Begins a run at the scene's initial state; kf_reference_end frees it. folded: on 19 velocities. */
kf_reference_run *kf_reference_begin(const kf_scene *scene, bool folded);
/* Takes a step; step counts from 0. */
void kf_reference_advance(kf_reference_run *run, int step);
/* Returns whether averages over the domain are computed at the beginning of a step. */
bool kf_reference_averages_at(int step);
/* From this call on a run divides by the domain's averages of another run. */
void kf_reference_give_averages(kf_reference_run *run, const kf_reference_run *from);
/* Sets all nodes inside a solid by links to fluid at rest. */
void kf_reference_rest_inside(kf_reference_run *run);
/* Returns the populations after the last collision, [KF_REFERENCE_Q][z][y][x]. The caller may change them. */
double *kf_reference_state(kf_reference_run *run);
/* Returns the state and the load of the last step, and frees the run. */
kf_reference_result kf_reference_end(kf_reference_run *run);

enum { KF_REFERENCE_Q = 27 };
extern const int kf_reference_velocities[KF_REFERENCE_Q][3];

/* Returns equilibrium population i (product form). */
double kf_reference_equilibrium(int i, double density, const double u[3]);
/* Distributes the eight corners of 27 populations f[i * stride] to the other 19, so that their moments stay.
 * Each corner is added to the three edges beside it, subtracted from the three faces, and added to the
 * population at rest. */
void kf_reference_fold_corners(double *f, size_t stride);
/* Returns the density, and computes momentum and second moments, of the populations f[i * stride]. */
double kf_reference_sums(const double *f, size_t stride, double j[3], double second[3][3]);
/* Returns the Frobenius norm. */
double kf_reference_norm(const double second[3][3]);
/* Computes into out[i * stride] the populations after the scene's collision, from f[i * stride] at a node
 * with force F. folded: on 19 velocities. average: the values by which the adaptive rule divides density,
 * |momentum| and |second moments|. */
void kf_reference_collide(const kf_scene *scene, bool folded, double omega, const double average[3],
                          const double *f, size_t stride, const double F[3], double *out);

/* What is followed at a node beside the surface, for a model of its layer (kinetic_reference_layer.c). */
typedef struct kf_reference_layer {
    double mean, square; /* of the speed that the law sees, and of its fluctuation */
    bool quiet;          /* there are no eddies */
    long steps;          /* since the start */
    double friction_velocity, outer, thickness;
} kf_reference_layer;

/* Input and results of a law of the wall in a step (kinetic_reference_wall.c). */
typedef struct kf_reference_wall {
    const kf_scene *scene;
    const double *weights; /* [KF_REFERENCE_Q] */
    double *f;             /* populations [KF_REFERENCE_Q][count] after a collision */
    size_t count;
    double *values, *memory; /* [links] values that come back, and the running mean of their correction */
    double mean_steps;       /* length of the running mean in steps */
    double center[3];        /* of the solid */
    /* Results: pushed is [links], what must come back in addition because of the forces. mass is the fluid's
     * gain in the next step. load gets the law's load added to that of the links. friction acts on the
     * solid. */
    double *pushed, mass;
    kf_solid_load *load;
    double friction[3];
    kf_reference_layer *layer; /* [links.wall_count]; NULL: layers are not modelled */
    double *eddies;            /* [count] the viscosity of turbulence at each node */
} kf_reference_wall;
/* Most nodes of a column through a layer. */
enum { KF_REFERENCE_COLUMN = KF_LINK_OPEN + 1 };
/* Follows the layer at a node beside the surface, by what the law says there. */
void kf_reference_follow_layer(const kf_reference_wall *work, size_t number, double share, double speed,
                               double friction_velocity, const double along[3]);
/* Sets the viscosity of turbulence of the nodes in layers. */
void kf_reference_spread_viscosity(const kf_reference_wall *work);
void kf_reference_rub(kf_reference_wall *work);
/* Makes an arm from a solid's centre that of the nearest image along periodic axes. */
void kf_reference_nearest(const kf_scene *scene, double arm[3]);

/* Computes the largest deviation of a plan's loads, on the solid and on each of several
 * (kinetic_verify.c). */
kf_status kf_reference_compare_loads(kf_plan *plan, const kf_reference_result *exact, double *deviation,
                                     kf_error *error);
/* Adds the deviation of the friction of a plan's law of the wall to a verification. */
kf_status kf_reference_compare_friction(kf_plan *plan, const kf_reference_result *exact, double bound,
                                        kf_verification *verification, kf_error *error);

#endif
