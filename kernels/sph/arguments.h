/* The arguments of every kernel of the sph system, shared by host and device.
 *
 * Units: lengths in particle spacings, densities in rest densities, speeds in speeds of sound. A particle has
 * the mass 1, its density deviation is e = density - 1, its volume 1 / (1 + e). The lower corner of the
 * domain is the origin. The last axis (y in two dimensions, z in three) points up: rows of cells run along
 * it.
 *
 * Particles lie in two sets of arrays: `sorted` by cells, which the sums over neighbours read, and `next`,
 * which the integration writes and the sort reads. The two change places from step to step while lists are
 * kept. position holds x, y, z and the volume (negative: a particle of a wall); velocity the predicted
 * velocity and e; rate the last acceleration and d e / d t; stress the deviatoric stress xx, yy, xy, xz, yz.
 */
#ifndef KF_KERNELS_SPH_ARGUMENTS_H
#define KF_KERNELS_SPH_ARGUMENTS_H

enum { KF_SPH_PLANES = 8, KF_SPH_WALL_BIT = 1 << 30, KF_SPH_SCAN = 1024, KF_SPH_TABLE = 128 };
#define KF_SPH_OFF_FROM 0.01
enum { KF_SPH_STRESSES = 5 }; /* floats of a particle's stress */

/* Sums over all particles that are inside and no wall's: state.cu. */
enum {
    KF_SPH_INSIDE,
    KF_SPH_KINETIC,
    KF_SPH_POTENTIAL,
    KF_SPH_MOMENTUM,
    KF_SPH_CENTRE = KF_SPH_MOMENTUM + 3,
    KF_SPH_SPEED = KF_SPH_CENTRE + 3, /* largest */
    KF_SPH_DEVIATION,                 /* largest |e| */
    KF_SPH_FRONT,                     /* largest x */
    KF_SPH_COMPRESSION,               /* sum of |e| */
    KF_SPH_DENSEST,                   /* largest e */
    KF_SPH_OFF,                       /* how many are more than KF_SPH_OFF_FROM off their density at rest */
    KF_SPH_TOTALS,
    KF_SPH_CHUNK = 256
};

/* A half-space without particles: the fluid is where normal . x > offset. */
typedef struct kf_sph_plane {
    float normal[3], offset;
    float velocity[3];
    float slip; /* 0: no slip, 1: free slip */
} kf_sph_plane;

typedef struct kf_sph_set {
    float *position, *velocity, *rate, *stress;
    int *identity; /* number of the particle, and KF_SPH_WALL_BIT */
} kf_sph_set;

/* The time step and what decides the next one; in device memory. Largest values are floats that are not
 * negative, as integers: these order alike. */
typedef struct kf_sph_clock {
    double time;
    float step, previous; /* the coming one; the one that led here */
    int speed, acceleration;
    int flags; /* KF_SPH_LOST ... */
    int moved; /* square of the longest way since lists were made */
} kf_sph_clock;
enum {
    KF_SPH_LOST = 1,
    KF_SPH_OVERFLOW = 2,
    KF_SPH_SKIN = 4
}; /* not a number; a list or mask is full; moved too far */

typedef struct kf_sph_arguments {
    int extent[3];
    int count;       /* particles */
    int fluid_count; /* the others are those of walls, whose identities are the last ones */
    int cells[3];    /* along each axis */
    int tiles[3];    /* blocks of cells along each axis, where cells are numbered by them */
    int cell_count;  /* numbers in all; cell number cell_count holds what has left the domain */
    int capacity;    /* of a particle's list or masks */
    int height_nodes[2];
    int plane_count;
    int wall_slips;        /* particles of walls: free slip */
    float cell_inverse[3]; /* cells a spacing */
    float size[3];         /* of the domain */
    float low[3],
        high[3]; /* Particles are inside from low to high. Scheme thesis lets them past its walls. */
    float least[3], most[3]; /* A particle is held between these; at an open face they are out of reach. */
    float gravity[3];

    float support, support2, inverse_support; /* of the neighbour sums */
    float list_support2;                      /* of lists: with the skin */
    float list_slack; /* how far a particle may move while its list is kept: half of the skin; 0: none are
                         kept */
    int list_left;    /* steps that the list has to serve after the coming one */
    float gradient;   /* |grad W| = gradient r (1 - r/h)^3 */
    float softening;  /* 0.01 s^2 */
    float diffusion;  /* 2 delta s, of density */
    float viscosity;  /* 2 mu */
    float artificial; /* alpha s */
    float shifting, shifting_surface; /* A s; div x below which a particle is near the surface */
    float time_step;                  /* fixed; 0: by the limits below */
    float courant_length, acoustic_speed, force_length, viscous_step;

    /* rheology.h */
    float consistency, exponent, yield, friction, friction_fast, inertial_number, grain;
    float viscosity_limit, growth, smallest_rate, shear_modulus, bed_friction;

    /* The following belong to the scheme `thesis` (thesis.cu). */
    float poly6, spiky, laplacian, xsph, half_pressure;
    float penalty, damping, drag, drag_height, speed_limit, acceleration_limit;
    float viscosity_at_rest;

    float height_inverse[2], height_origin[2];
    float impact;            /* eta, of modern.cu */
    const float *heights;    /* terrain, [x][y], in spacings above the origin */
    const float *wall_table; /* [KF_SPH_TABLE][3]: G, M and T of walls.h, by distance over the support */

    kf_sph_set sorted, next;
    float *sums; /* what one sum over neighbours leaves to the next, [count][4]; then viscosities, [count], of
                    laws that have one */
    unsigned *hits; /* lists or masks */
    int *hit_count;
    float *
        list_position; /* where particles were when their lists were made; NULL: in the last step of a list */

    int *cell_of;        /* [count][2] of next: cell, and place in the cell */
    int *counts, *start; /* [cell_count + 2] */
    int *tops;           /* sums of KF_SPH_SCAN cells */
    int *slots;          /* [count][2]: identity and index, by cell */
    const int *columns;  /* of each row of cells: first cell, its number along the row; NULL: all alike */
    kf_sph_clock *clock;

    /* state.cu, check.cu */
    int first, limit;      /* identities of a part of the state */
    float *exchange;       /* [limit][16] */
    double *totals;        /* [chunks][KF_SPH_TOTALS] */
    const float *gauges;   /* [gauge_count][4]: place, reach */
    long long *gauge_sums; /* [gauge_count][3] */
    int gauge_count;
    unsigned *found; /* [count][2] */
    kf_sph_plane planes[KF_SPH_PLANES];
} kf_sph_arguments;

#endif
