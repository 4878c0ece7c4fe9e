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
enum { KF_SPH_PARTS = 64 };   /* most devices that can share the particles */
enum { KF_SPH_STRESSES = 5 }; /* floats of a particle's stress */

/* Totals over the particles inside the domain that are not of a wall (state.cu). Those before KF_SPH_EXACT
 * are sums, the others maxima. */
enum {
    KF_SPH_INSIDE,
    KF_SPH_KINETIC,
    KF_SPH_POTENTIAL,
    KF_SPH_MOMENTUM,
    KF_SPH_CENTRE = KF_SPH_MOMENTUM + 3,
    KF_SPH_COMPRESSION = KF_SPH_CENTRE + 3, /* sum of |e| */
    KF_SPH_OFF, /* particles whose density differs from that at rest by more than KF_SPH_OFF_FROM */
    KF_SPH_EXACT,
    KF_SPH_SPEED = KF_SPH_EXACT,
    KF_SPH_DEVIATION, /* |e| */
    KF_SPH_FRONT,     /* x */
    KF_SPH_DENSEST,   /* e */
    KF_SPH_TOTALS,
    KF_SPH_CHUNK = 256
};
/* The sums over a chunk of particles. Sum k is exact[k][0] + exact[k][1] / KF_SPH_PART_OF_WHOLE, in units of
 * 1 / KF_SPH_WHOLE. */
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
    int *identity; /* number of the particle; with KF_SPH_WALL_BIT if it is of a wall */
} kf_sph_set;

/* The time step, and the maxima that decide the next one; in device memory. A maximum is the bits of a float
 * that is not negative, as an integer, because these have the same order. */
typedef struct kf_sph_clock {
    double time;
    float step, previous; /* the coming step; the one before it */
    int speed, acceleration;
    int flags; /* KF_SPH_LOST ... */
    int moved; /* square of the longest displacement since the lists were made */
} kf_sph_clock;
enum {
    KF_SPH_LOST = 1,
    KF_SPH_OVERFLOW = 2,
    KF_SPH_SKIN = 4,
    KF_SPH_FULL = 8,
    KF_SPH_FAR = 16
    /* KF_SPH_LOST: a value is not a number. OVERFLOW: a list or mask is full. SKIN: a particle moved too far
     * for its list. FULL: too many particles for a part's memory. FAR: a particle is out of the part's reach.
     */
};

/* --- Teams: particles on several devices (docs/teams.md) ---
 *
 * The domain is cut across an axis, between planes of cells, into one slab for each part. A part keeps the
 * particles of its slab, and copies of the particles in the planes beside it that its own particles see. Both
 * lie sorted by cells in its slots. Cells have the same numbers on all parts. A part counts its particles by
 * cells, and adds the counts of others for the planes that it keeps. Then it takes the particles of these
 * planes from the parts that have them. So its sums over neighbours have the same order as on one device.
 * Devices that do not read each other's memory send parcels, which are rows of numbers: in a sort the
 * particles that others keep, later copies of the values that changed. */

/* The data that a part shows to others about its particles; in its memory. */
typedef struct kf_sph_share {
    int cut[KF_SPH_PARTS + 1];    /* part k has the planes of cells cut[k] ... cut[k + 1] - 1 */
    int before[KF_SPH_PARTS + 1]; /* the cuts that were in force before the last sort */
    int first, inside;            /* the part's own slots: first ... first + inside - 1 */
    int gone, outside;            /* slots of particles that have left the domain, behind all others */
    int exported;                 /* count of entries in `exports` */
    int weighed;                  /* whether the costs of rows were computed since the last sort */
    /* Cells that the part keeps, along each axis: the first, and the one behind the last. */
    int window[3][2];
    int to[KF_SPH_PARTS + 1],
        from[KF_SPH_PARTS + 1]; /* parcels: rows for part k are to[k] ... to[k + 1] - 1 */
    int packed[KF_SPH_PARTS];   /* first the count of rows for each part, then the next row to fill */
    int turn;                   /* which of the two maxima below this step raises */
    int speed[2], acceleration[2], moved[2]; /* as in kf_sph_clock, over its own particles */
} kf_sph_share;

/* Bits of the values that a part copies of other parts' particles. */
enum { KF_SPH_COPY_MOTION = 1, KF_SPH_COPY_STRESS = 2, KF_SPH_COPY_VISCOSITY = 4 };
/* Numbers in a row of a parcel: place, velocity, rates, identity and cell of a particle. With stresses a row
 * has KF_SPH_STRESSES more. */
enum { KF_SPH_ROW = 14 };

/* Addresses of a part's memory, as another part sees them. Where parts exchange parcels, only the part's own
 * entry is set. */
typedef struct kf_sph_peer {
    kf_sph_set sets[2]; /* `sorted` and `next` in the first step */
    float *sums;
    int *cell_of, *counts, *start;
    int *exports;       /* slots of `next` whose particles other parts keep too */
    long long *weights; /* [rows of cells of its slab][2]: cost of a row, and its particles */
    kf_sph_share *share;
} kf_sph_peer;

typedef struct kf_sph_team {
    int part, parts; /* this part's number, and the number of parts */
    int reach;       /* planes beside a slab that the slab's particles see */
    int most;        /* most particles that a part should have */
    int packs;       /* whether parts exchange parcels, because they do not read each other's memory */
    int room;        /* rows of particles for which `outgoing` and `incoming` have room, each */
    int *outgoing, *incoming; /* parcels.h */
    int *total;               /* [cell_count + 2]: for the cells that it keeps, the counts of all parts */
    int *numbers;             /* numbers of the particles in `exchange` */
    long long *plane_weights; /* [planes][2]: cost of a plane, and its particles */
    kf_sph_peer peers[KF_SPH_PARTS];
} kf_sph_team;

typedef struct kf_sph_arguments {
    int extent[3];
    int count;       /* particles */
    int fluid_count; /* particles of the fluid; those of walls have the identities behind them */
    int cells[3];    /* along each axis */
    int tiles[3];    /* blocks of cells along each axis, if cells are numbered by blocks */
    /* Number of cell numbers; the number cell_count itself is for particles outside the domain. */
    int cell_count;
    int row_step[2]; /* in three dimensions: distance between neighbouring rows of cells along x and y */
    int cut_axis;    /* axis across which the domain is cut for several devices */
    int capacity;    /* entries in a particle's list, or in its masks */
    int height_nodes[2];
    int plane_count;
    int wall_slips;        /* whether walls of particles have free slip */
    float cell_inverse[3]; /* cells per particle spacing */
    float size[3];         /* of the domain */
    float low[3],
        high[3]; /* Particles are inside from low to high. Scheme thesis lets them past its walls. */
    float least[3], most[3]; /* Limits at which a particle is held; out of reach at an open face. */
    float gravity[3];

    /* Radius of the kernel function, its square and its inverse. */
    float support, support2, inverse_support;
    float list_support2; /* square of the lists' radius, which includes the skin */
    float list_slack;    /* how far a particle may move while its list is kept: half of the skin; 0: none are
                            kept */
    int list_left;       /* further steps, after the coming one, for which the list has to be complete */
    float gradient;      /* |grad W| = gradient r (1 - r/h)^3 */
    float softening;     /* 0.01 s^2 */
    float diffusion;     /* 2 delta s, of density */
    float viscosity;     /* 2 mu */
    float artificial;    /* alpha s */
    /* A s; the value of div x below which a particle is near the surface. */
    float shifting, shifting_surface;
    float time_step; /* fixed step; 0: computed from the limits below */
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
    /* Values that one sum over neighbours leaves for the next, [count][4]; then, for laws with one, the
     * viscosities, [count]. */
    float *sums;
    unsigned *hits; /* lists or masks */
    int *hit_count;
    float *
        list_position; /* where particles were when their lists were made; NULL: in the last step of a list */

    /* [count][2] for `next`, and for rows of parcels that have come: cell, and place in the cell. */
    int *cell_of;
    int *counts, *start; /* [cell_count + 2] */
    int *tops;           /* sums over groups of KF_SPH_SCAN cells */
    int *slots;          /* [count][2]: identity and index, sorted by cell */
    /* For each row of cells: its first cell, and that cell's position in the row; NULL: all rows are
     * alike. */
    const int *columns;
    kf_sph_clock *clock;
    const kf_sph_team *team; /* for several devices, else NULL */
    kf_sph_share *share;

    /* state.cu, check.cu */
    int first, limit;      /* range of identities of the state's part that is exchanged */
    float *exchange;       /* [limit][16] */
    kf_sph_sums *totals;   /* [chunks] */
    const float *gauges;   /* [gauge_count][4]: place, reach */
    long long *gauge_sums; /* [gauge_count][3] */
    int gauge_count;
    unsigned *found; /* [count][2] */
    kf_sph_plane planes[KF_SPH_PLANES];
} kf_sph_arguments;

#endif
