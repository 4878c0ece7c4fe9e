/* The reference solution of the sph system, shared by the files that compute it and by sph_verify.c. It is in
 * double precision, finds neighbours by brute force, adds up in the order of the particles, and shares no
 * code with the kernels. */
#ifndef KF_SOLVER_SPH_REFERENCE_H
#define KF_SOLVER_SPH_REFERENCE_H

#include "solver/sph/sph.h"

typedef struct kf_sph_body { /* one particle */
    double x[3], v[3], e;    /* predicted velocity v and density deviation e */
    double a[3], de;         /* rates of the last step */
    double stress[3][3];     /* deviatoric stress */
    double viscosity;        /* of laws that have one */
    double shift[3];
    double strain[3][3]; /* velocity gradient, d v_i / d x_j */
    double new_a[3], new_de;
    bool wall, gone;
    bool lone; /* a single drop, which walls do not attract */
} kf_sph_body;

typedef struct kf_sph_neighbour {
    int other;
    double d[3], r; /* own position less that of the other's nearest image, and its length */
} kf_sph_neighbour;

typedef struct kf_sph_world {
    const kf_particle_scene *scene;
    int count;
    kf_sph_body *bodies;
    kf_sph_neighbour *neighbours;
    size_t *first; /* [count + 1] */
    size_t room;
    double step, previous, time;
    double table[KF_SPH_TABLE][3]; /* G, M and T, as the kernels interpolate them */
} kf_sph_world;

struct kf_reference {
    kf_sph_world world;
};

/* Computes new_a, new_de, shift and stress of all particles (sph_reference_rates.c). */
void kf_sph_modern_rates(kf_sph_world *world);
/* Computes the same rates by the scheme thesis, and changes v by XSPH (sph_reference_thesis.c). */
void kf_sph_thesis_rates(kf_sph_world *world);

/* The effect of a wall without particles on a particle. kf_sph_half_at returns false if the wall is out of
 * reach. */
typedef struct kf_sph_half {
    double n[3], distance, velocity[3], slip, gradient, moment, along;
} kf_sph_half;
int kf_sph_half_count(const kf_particle_scene *scene);
bool kf_sph_half_at(const kf_sph_world *world, const double x[3], int k, kf_sph_half *half);

#endif
