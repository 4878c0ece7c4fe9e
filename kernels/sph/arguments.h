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
enum { KF_SPH_PARTS = 64 };   /* devices that share the particles */
enum { KF_SPH_STRESSES = 5 }; /* floats of a particle's stress */

/* Sums over all particles that are inside and no wall's: state.cu. Those up to KF_SPH_EXACT are added up,
 * of the others it is the largest. */
enum {
    KF_SPH_INSIDE,
    KF_SPH_KINETIC,
    KF_SPH_POTENTIAL,
    KF_SPH_MOMENTUM,
    KF_SPH_CENTRE = KF_SPH_MOMENTUM + 3,
    KF_SPH_COMPRESSION = KF_SPH_CENTRE + 3, /* sum of |e| */
    KF_SPH_OFF,                             /* how many are more than KF_SPH_OFF_FROM off their density */
    KF_SPH_EXACT,
    KF_SPH_SPEED = KF_SPH_EXACT,
    KF_SPH_DEVIATION, /* |e| */
    KF_SPH_FRONT,     /* x */
    KF_SPH_DENSEST,   /* e */
    KF_SPH_TOTALS,
    KF_SPH_CHUNK = 256
};
/* These are the sums of a chunk of particles. A sum is exact[k][0] / KF_SPH_WHOLE, and exact[k][1] in parts
 * of one of these. */
#define KF_SPH_WHOLE         262144.0
#define KF_SPH_PART_OF_WHOLE (1ll << 44)
typedef struct kf_sph_sums {
    long long exact[KF_SPH_EXACT][2];
    double largest[KF_SPH_TOTALS - KF_SPH_EXACT];
} kf_sph_sums;

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
    KF_SPH_SKIN = 4,
    KF_SPH_FULL = 8,
    KF_SPH_FAR = 16
}; /* not a number; a list or mask is full; moved too far; too many for a part's memory; out of its reach */

/* --- Teams: particles on several devices (docs/teams.md) ---
 *
 * The domain is cut across an axis, between planes of cells, into one slab for each part. A part keeps the
 * particles of its slab, and copies of those in the planes beside it that its particles see, which together
 * lie sorted by cells in its own slots; cells have the same numbers on all parts. It counts its particles by
 * cells, adds the counts of others for the planes that it keeps, and takes the particles of these planes from
 * where their parts have them. So all that it sums over has the order that one device gives it. Devices that
 * do not read each other's memory send parcels, rows of numbers: the particles that others keep, with
 * which a part then counts and sorts its own, and later what is copied of them. */

/* This is what a part says of its particles, in its memory. */
typedef struct kf_sph_share {
    int cut[KF_SPH_PARTS + 1];    /* part k has the planes of cells cut[k] ... cut[k + 1] - 1 */
    int before[KF_SPH_PARTS + 1]; /* the cuts that the last sort but the present one had */
    int first, inside;            /* slots of its own: first ... first + inside - 1 */
    int gone, outside;            /* slots of those that have left the domain, behind all others */
    int exported;                 /* numbers in `exports` */
    int weighed;                  /* what rows cost has been worked out since the last sort */
    int window[3][2];             /* cells that it keeps: first, and the one behind the last */
    int to[KF_SPH_PARTS + 1],
        from[KF_SPH_PARTS + 1];              /* parcels: rows for part k are to[k] ... to[k + 1] - 1 */
    int packed[KF_SPH_PARTS];                /* rows counted, then the next one to fill */
    int turn;                                /* which of the following two this step raises */
    int speed[2], acceleration[2], moved[2]; /* as in kf_sph_clock, of its own particles */
} kf_sph_share;

/* This is what is copied of others' particles. */
enum { KF_SPH_COPY_MOTION = 1, KF_SPH_COPY_STRESS = 2, KF_SPH_COPY_VISCOSITY = 4 };
/* Numbers of a row: of a particle, with place, velocity and rates, its identity and its cell; and a stress.
 */
enum { KF_SPH_ROW = 14 };

/* The addresses of a part's memory, as seen by the one that reads it. Where parcels go to and fro a part has
 * those of its own alone. */
typedef struct kf_sph_peer {
    kf_sph_set sets[2]; /* `sorted` and `next` of the first step */
    float *sums;
    int *cell_of, *counts, *start;
    int *exports;       /* slots of `next` whose particles others keep, too */
    long long *weights; /* [rows of cells][2] of its slab: what they cost, and their particles */
    kf_sph_share *share;
} kf_sph_peer;

typedef struct kf_sph_team {
    int part, parts;          /* this one's number; in all */
    int reach;                /* planes beside a slab that its particles see */
    int most;                 /* particles that a part should have at most */
    int packs;                /* others are not read in place: parcels go to and fro */
    int room;                 /* rows of particles that `outgoing` and `incoming` hold each */
    int *outgoing, *incoming; /* parcels.h */
    int *total;               /* [cell_count + 2]: counts of all parts, of the cells that it keeps */
    int *numbers;             /* of the particles in `exchange` */
    long long *plane_weights; /* [planes][2]: what a plane costs, and its particles */
    kf_sph_peer peers[KF_SPH_PARTS];
} kf_sph_team;

typedef struct kf_sph_arguments {
    int extent[3];
    int count;       /* particles */
    int fluid_count; /* the others are those of walls, whose identities are the last ones */
    int cells[3];    /* along each axis */
    int tiles[3];    /* blocks of cells along each axis, where cells are numbered by them */
    int cell_count;  /* numbers in all; cell number cell_count holds what has left the domain */
    int row_step[2]; /* rows of cells from one to the next along x and y; in three dimensions */
    int cut_axis;    /* across which several devices cut the domain */
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

    int *cell_of;        /* [count][2] of next, and of rows that have come: cell, and place in the cell */
    int *counts, *start; /* [cell_count + 2] */
    int *tops;           /* sums of KF_SPH_SCAN cells */
    int *slots;          /* [count][2]: identity and index, by cell */
    const int *columns;  /* of each row of cells: first cell, its number along the row; NULL: all alike */
    kf_sph_clock *clock;
    const kf_sph_team *team; /* of several devices; or NULL */
    kf_sph_share *share;

    /* state.cu, check.cu */
    int first, limit;      /* identities of a part of the state */
    float *exchange;       /* [limit][16] */
    kf_sph_sums *totals;   /* [chunks] */
    const float *gauges;   /* [gauge_count][4]: place, reach */
    long long *gauge_sums; /* [gauge_count][3] */
    int gauge_count;
    unsigned *found; /* [count][2] */
    kf_sph_plane planes[KF_SPH_PLANES];
} kf_sph_arguments;

#endif
