/* The arguments of the kernels of the stable fluids system, shared with solver/stable_fluids/.
 *
 * Units: a cell and a time step are 1. A velocity field of s simulations is an array of pairs (u, v)
 * [simulation][z][y][x], followed in three dimensions by one of w. The spectrum has the modes 0 <= kx < (NX +
 * 1) / 2: the others follow from them, and those at half the sampling rate are zero. In two dimensions the
 * modes of u and v lie side by side; in three there is an array for each component. */
#ifndef KF_KERNELS_STABLE_FLUIDS_ARGUMENTS_H
#define KF_KERNELS_STABLE_FLUIDS_ARGUMENTS_H

/* X(name): scalars in the precision of the arithmetic. */
#define KF_FLUID_SCALARS(X)                                                                                  \
    X(step)      /* time that a trace goes back; 1, or 1/2 with reflection */                                \
    X(viscosity) /* times the time that this projection stands for */                                        \
    X(wave_x)    /* 2 pi / NX */                                                                             \
    X(wave_y)                                                                                                \
    X(wave_z)                                                                                                \
    X(scale)   /* of the transforms behind the projection: 1 / (NY NZ); those along x have 1 / NX */         \
    X(drag)    /* dt / eta of the penalised solid; a field's value is pulled to the solid's by it */         \
    X(rebound) /* share of that pull by which it goes beyond, for the projection to bring back */            \
    X(decay_0) /* factor on a dye in the time of a trace */                                                  \
    X(decay_1)                                                                                               \
    X(decay_2)                                                                                               \
    X(lift_0) /* acceleration upwards by a unit of the dye */                                                \
    X(lift_1)                                                                                                \
    X(lift_2)                                                                                                \
    X(confinement) /* eps h of vorticity confinement */                                                      \
    X(particle_step)

typedef struct kf_fluid_singles {
#define KF_FLUID_SINGLE(name) float name;
    KF_FLUID_SCALARS(KF_FLUID_SINGLE)
#undef KF_FLUID_SINGLE
} kf_fluid_singles;
typedef struct kf_fluid_doubles {
#define KF_FLUID_DOUBLE(name) double name;
    KF_FLUID_SCALARS(KF_FLUID_DOUBLE)
#undef KF_FLUID_DOUBLE
} kf_fluid_doubles;

enum { KF_FLUID_DYES = 3 };

/* A push in one step: adds vector / (1 + dx^4 + dy^4 + dz^4) in the cells within `reach` of `cell`, across
 * the domain's seam. */
typedef struct kf_fluid_impulse {
    long long step;
    int cell[3], reach;
    double vector[3];
} kf_fluid_impulse;

/* A source: a ball that acts in every step from `first` to `last`. It pulls the velocity to `velocity` by the
 * share `pull`, accelerates the fluid and adds to dyes. All are weighted with (1 - r^2 / R^2)^2. */
typedef struct kf_fluid_source {
    long long first, last;
    double center[3], radius;
    double velocity[3], pull, acceleration[3], dye[KF_FLUID_DYES];
} kf_fluid_source;

/* A point x0 of the solid is, at time t, at rotation(angle + spin t) (x0 - center) + center + velocity t. */
typedef struct kf_fluid_motion {
    double center[3], velocity[3], axis[3], spin;
} kf_fluid_motion;

typedef struct kf_fluid_arguments {
    int extent[3];
    int simulations;
    const void *wind;      /* velocity that advects */
    const void *field;     /* velocity that is advected; without reflection the same array */
    const void *predicted; /* MacCormack: the field after the first advection */
    const void *dye, *dye_predicted;
    const void *acceleration; /* with the layout of a velocity */
    const void *solid;        /* solid share of each cell, [z][y][x] */
    void *target;             /* velocity */
    void *kept;               /* velocity before the first projection of a step (with reflection) */
    void *dye_target;
    void *spectrum;
    const void *twiddles_x, *twiddles_y, *twiddles_z; /* forward, then inverse: 2 (N - 1) each */
    void *particles; /* positions in cells, [simulation][particle][dimension] */
    long long particle_count;
    long long *clock; /* [0]: steps begun, [1]: index of the next impulse */
    const kf_fluid_impulse *impulses;
    const kf_fluid_source *sources;
    long long impulse_count;
    int source_count;
    kf_fluid_motion motion;
    int *barrier; /* plan persistent: count of arrivals */
    int steps;    /* plan persistent: steps of a launch */
    /* With KF_AHEAD 1: a block requests, from the cache, the data of the block this many blocks later. */
    int ahead;
    kf_fluid_singles single_precision;
    kf_fluid_doubles double_precision;
} kf_fluid_arguments;

/* Arguments of transforms that are separate passes (transforms.cu). Value i of line l of group g is at g
 * group + l line + i stride, in complex values; rows of reals are `line` reals apart. */
typedef struct kf_transform_arguments {
    int extent[3];
    int lines;
    long long line, group, stride;
    void *values;
    const void *twiddles;
} kf_transform_arguments;

#endif
