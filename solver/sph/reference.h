/* The reference solution, shared by the files that make it and by sph_verify.c. Double precision, neighbours
 * by brute force, sums in the order of the particles; no code of the kernels. */
#ifndef KF_SOLVER_SPH_REFERENCE_H
#define KF_SOLVER_SPH_REFERENCE_H

#include "solver/sph/sph.h"

typedef struct kf_sph_body { /* one particle */
    double x[3], v[3], e;    /* v and e predicted */
    double a[3], de;         /* last rates */
    double stress[3][3];     /* deviatoric */
    double viscosity;        /* of laws that have one */
    double shift[3];
    double strain[3][3]; /* gradient of the velocity: d v_i / d x_j */
    double new_a[3], new_de;
    bool wall, gone;
    bool lone; /* a drop: walls do not pull it */
} kf_sph_body;

typedef struct kf_sph_neighbour {
    int other;
    double d[3], r; /* own place less the other's nearest image */
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

/* Works out new_a, new_de, shift and stress of all particles (sph_reference_rates.c). */
void kf_sph_modern_rates(kf_sph_world *world);
/* Works out the same rates by the thesis' scheme, and changes v by XSPH (sph_reference_thesis.c). */
void kf_sph_thesis_rates(kf_sph_world *world);

/* A wall without particles as particle sees it; false when it is out of reach. */
typedef struct kf_sph_half {
    double n[3], distance, velocity[3], slip, gradient, moment, along;
} kf_sph_half;
int kf_sph_half_count(const kf_particle_scene *scene);
bool kf_sph_half_at(const kf_sph_world *world, const double x[3], int k, kf_sph_half *half);

#endif
