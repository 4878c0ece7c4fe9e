/* The arguments of every kernel of the sph system, which host and device share.
 *
 * Units: lengths are in particle spacings, densities in rest densities, speeds in speeds of sound. A
 * particle's mass is 1, its density deviation is e = density - 1, and its volume is 1 / (1 + e). The
 * domain's lower corner is the origin. The last axis (y in two dimensions, z in three) points up, and rows
 * of cells run along it.
 *
 * Particles are stored in two sets of arrays. Sums over neighbours read the set `sorted`, which is in the
 * order of the cells. The integration writes the set `next`, and the sort reads it. While neighbour lists
 * are kept, no sort takes place, and the sets swap roles from step to step.
 *   position   x, y, z and the volume, which is negative for a particle of a wall
 *   velocity   the predicted velocity, and e
 *   rate       the last acceleration, and de/dt
 *   stress     the deviatoric stress xx, yy, xy, xz, yz; zz is -xx - yy */
#ifndef KF_KERNELS_SPH_ARGUMENTS_H
#define KF_KERNELS_SPH_ARGUMENTS_H

enum { KF_SPH_PLANES = 8, KF_SPH_WALL_BIT = 1 << 30, KF_SPH_SCAN = 1024, KF_SPH_TABLE = 128 };
#define KF_SPH_OFF_FROM 0.01
enum { KF_SPH_PARTS = 64 };   /* the most devices that can share the particles */
enum { KF_SPH_STRESSES = 5 }; /* floats of a particle's stress */

/* The totals over the fluid's particles inside the domain (state.cu). Those before KF_SPH_EXACT are sums,
 * the others maxima. */
enum {
    KF_SPH_INSIDE,
    KF_SPH_KINETIC,
    KF_SPH_POTENTIAL,
    KF_SPH_MOMENTUM,
    KF_SPH_CENTRE = KF_SPH_MOMENTUM + 3,
    KF_SPH_COMPRESSION = KF_SPH_CENTRE + 3, /* sum of |e| */
    KF_SPH_OFF, /* particles whose density differs from the rest density by more than KF_SPH_OFF_FROM */
    KF_SPH_EXACT,
    KF_SPH_SPEED = KF_SPH_EXACT,
    KF_SPH_DEVIATION, /* |e| */
    KF_SPH_FRONT,     /* x */
    KF_SPH_DENSEST,   /* e */
    KF_SPH_TOTALS,
    KF_SPH_CHUNK = 256
};
/* The totals over a chunk of particles. Sum k is exact[k][0] + exact[k][1] / KF_SPH_PART_OF_WHOLE, in
 * units of 1 / KF_SPH_WHOLE. Integers make it independent of the order of its terms. */
#define KF_SPH_WHOLE         262144.0
#define KF_SPH_PART_OF_WHOLE (1ll << 44)
typedef struct kf_sph_sums {
    long long exact[KF_SPH_EXACT][2];
    double largest[KF_SPH_TOTALS - KF_SPH_EXACT];
} kf_sph_sums;

/* A wall without particles that bounds a half-space. The fluid is where normal . x > offset. */
typedef struct kf_sph_plane {
    float normal[3], offset;
    float velocity[3];
    float slip; /* 0: no slip, 1: free slip */
} kf_sph_plane;

typedef struct kf_sph_set {
    float *position, *velocity, *rate, *stress;
    int *identity; /* the particle's number, with KF_SPH_WALL_BIT if it belongs to a wall */
} kf_sph_set;

/* The time step, and the maxima that decide the next one, in device memory. A maximum is a float that is
 * not negative, stored as the integer with the same bits. These integers have the same order as the
 * floats, and there are atomics for them. */
typedef struct kf_sph_clock {
    double time;
    float step, previous; /* the coming step, and the one before it */
    int speed, acceleration;
    int flags; /* a sum of KF_SPH_LOST ... below */
    int moved; /* square of the longest displacement since the lists were made */
} kf_sph_clock;
enum {
    KF_SPH_LOST = 1,
    KF_SPH_OVERFLOW = 2,
    KF_SPH_SKIN = 4,
    KF_SPH_FULL = 8,
    KF_SPH_FAR = 16
    /* KF_SPH_LOST: a value is not a number. OVERFLOW: a list or mask is full. SKIN: a particle moved
     * further than its list allows. FULL: a part has more particles than its memory holds. FAR: a particle
     * left the cells that the part knows. */
};

/* --- Teams: several devices share the particles (docs/teams.md) ---
 *
 * The domain is cut across one axis, between planes of cells, into a slab for each part (device). A part
 * keeps the particles of its slab, and copies of the particles in the planes beside it, which its own
 * particles see. Both are sorted by cells. Cells have the same numbers on all parts.
 *
 * In a sort, a part counts its particles by cells, and adds the counts of other parts for the planes that
 * it keeps. Then it takes the particles of these planes from the parts that have them. So its sums over
 * neighbours have the same order as on one device, and the same result.
 *
 * Devices that cannot read each other's memory send parcels, which are rows of numbers. In a sort these
 * are the particles that others keep, and after it the values of these particles that have changed. */

/* The numbers about its particles that a part gives to the others. Each part has its share in its own
 * memory. */
typedef struct kf_sph_share {
    int cut[KF_SPH_PARTS + 1];    /* part k has the planes of cells cut[k] ... cut[k + 1] - 1 */
    int before[KF_SPH_PARTS + 1]; /* the cuts before the last sort */
    int first, inside;            /* the part's own slots are first ... first + inside - 1 */
    /* Slots of particles that have left the domain, behind all others: the first, and their number. */
    int gone, outside;
    int exported; /* number of entries in `exports` */
    int weighed;  /* whether the costs of rows were computed since the last sort */
    /* The ranges of cells that the part keeps, each as the first and the one behind the last. The second
     * and third lie across a periodic face. */
    int window[3][2];
    int to[KF_SPH_PARTS + 1],
        from[KF_SPH_PARTS + 1]; /* the rows for part k in `outgoing`: to[k] ... to[k + 1] - 1 */
    int packed[KF_SPH_PARTS];   /* first the number of rows for each part, then the next row to fill */
    int turn;                   /* which of the two maxima below this step raises */
    int speed[2], acceleration[2], moved[2]; /* as in kf_sph_clock, over the part's own particles */
} kf_sph_share;

/* The values that a part copies from other parts' particles, as bits. */
enum { KF_SPH_COPY_MOTION = 1, KF_SPH_COPY_STRESS = 2, KF_SPH_COPY_VISCOSITY = 4 };
/* The numbers in a parcel's row: position, velocity, rate, identity and cell of a particle, and its stress
 * if it has one (KF_SPH_STRESSES more). */
enum { KF_SPH_ROW = 14 };

/* The addresses of one part's memory, as another part sees them. Where parts exchange parcels, only the
 * part's own entry is set. */
typedef struct kf_sph_peer {
    kf_sph_set sets[2]; /* `sorted` and `next` in the first step */
    float *sums;
    int *cell_of, *counts, *start;
    int *exports;       /* slots of `next` whose particles other parts keep too */
    long long *weights; /* [rows of cells of its slab][2]: a row's cost, and the number of its particles */
    kf_sph_share *share;
} kf_sph_peer;

typedef struct kf_sph_team {
    int part, parts; /* this part's number, and the number of parts */
    int reach;       /* how many planes beside a slab the slab's particles see */
    int most;        /* the most particles that a part should have */
    int packs;       /* whether parts exchange parcels, because they do not read each other's memory */
    int room;        /* rows of particles for which `outgoing` and `incoming` have room, each */
    int *outgoing, *incoming; /* the parcels that leave and that have come (parcels.h) */
    /* [cell_count + 2]: for each cell that the part keeps, the sum of all parts' counts. */
    int *total;
    int *numbers;             /* identities of the particles in `exchange` */
    long long *plane_weights; /* [planes][2]: a plane's cost, and the number of its particles */
    kf_sph_peer peers[KF_SPH_PARTS];
} kf_sph_team;

typedef struct kf_sph_arguments {
    int extent[3];
    int count;       /* number of particles */
    int fluid_count; /* number of the fluid's particles; those of walls have the identities behind them */
    int cells[3];    /* number of cells along each axis */
    int tiles[3];    /* number of blocks of cells along each axis, if cells are numbered block by block */
    /* The number of cells. Particles outside the domain are in a further cell of this number. */
    int cell_count;
    /* In three dimensions: distance between the numbers of neighbouring rows of cells along x and y. */
    int row_step[2];
    int cut_axis; /* the axis across which the domain is cut for several devices */
    int capacity; /* entries in a particle's list or masks */
    int height_nodes[2];
    int plane_count;
    int wall_slips;          /* whether walls that are made of particles have free slip */
    float cell_inverse[3];   /* cells per particle spacing */
    float size[3];           /* size of the domain */
    float low[3], high[3];   /* inside is low ... high; thesis lets particles past its walls */
    float least[3], most[3]; /* where particles are held; unreachable at open faces */
    float gravity[3];

    /* The radius of the kernel function's support, its square and its inverse. */
    float support, support2, inverse_support;
    float list_support2; /* square of the lists' radius, which is the support and the skin */
    float list_slack;    /* half of the skin, which a particle may move while its list is kept; 0: none is */
    int list_left;       /* number of steps, after the coming one, in which the list has to be complete */
    float gradient;      /* normalises the kernel function: |grad W| = gradient r (1 - r/h)^3 */
    float softening;     /* 0.01 s^2, which bounds 1 / r^2 */
    float diffusion;     /* 2 delta s, the diffusion of density */
    float viscosity;     /* 2 mu, the viscosity */
    float artificial;    /* alpha s, the artificial viscosity */
    /* A s, and the divergence of the position below which a particle is near the surface and not shifted. */
    float shifting, shifting_surface;
    float time_step; /* fixed step; 0: computed from the limits below */
    float courant_length, acoustic_speed, force_length, viscous_step;

    /* The laws of rheology.h have these parameters. */
    float consistency, exponent, yield, friction, friction_fast, inertial_number, grain;
    float viscosity_limit, growth, smallest_rate, shear_modulus, bed_friction;

    /* The scheme `thesis` (thesis.cu) has these. */
    float poly6, spiky, laplacian, xsph, half_pressure;
    float penalty, damping, drag, drag_height, speed_limit, acceleration_limit;
    float viscosity_at_rest;

    float height_inverse[2], height_origin[2];
    float impact;            /* eta of the limited Riemann solver (modern.cu) */
    const float *heights;    /* [x][y]: the terrain's heights in spacings above the origin */
    const float *wall_table; /* [KF_SPH_TABLE][3]: G, M and T of walls.h, by distance over the support */

    kf_sph_set sorted, next;
    /* [count][4]: values that the first sum over neighbours leaves for the second. For laws with a
     * viscosity, [count] viscosities follow. */
    float *sums;
    unsigned *hits; /* the lists or masks of all particles */
    int *hit_count;
    float *list_position; /* positions when the lists were made; NULL in their last step */

    /* [count][2]: a particle's cell and its place in the cell, for `next` and then for rows of parcels
     * that have come. */
    int *cell_of;
    int *counts, *start; /* [cell_count + 2]: particles of each cell, and its first particle */
    int *tops;           /* sums over groups of KF_SPH_SCAN cells */
    int *slots;          /* [count][2]: identity and index in `next`, sorted by cell */
    /* For each row of cells the number of its first cell, and that cell's position in the row. NULL: all
     * rows are alike. */
    const int *columns;
    kf_sph_clock *clock;
    const kf_sph_team *team; /* set if several devices share the particles, otherwise NULL */
    kf_sph_share *share;

    /* The kernels of state.cu and check.cu use these. */
    int first, limit;      /* the identities that are exchanged with the host: first ... first + limit - 1 */
    float *exchange;       /* [limit][16] */
    kf_sph_sums *totals;   /* [chunks] */
    const float *gauges;   /* [gauge_count][4]: position and reach */
    long long *gauge_sums; /* [gauge_count][3] */
    int gauge_count;
    unsigned *found; /* [count][2] */
    kf_sph_plane planes[KF_SPH_PLANES];
} kf_sph_arguments;

#endif
