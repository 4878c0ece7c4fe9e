/* The arguments of the kernels of the stable fluids system, which host and device share.
 *
 * A cell and a time step have the length 1. A velocity field of several simulations is an array of pairs
 * (u, v) [simulation][z][y][x]. In three dimensions an array of w follows. The spectrum has the modes 0 <=
 * kx < (NX + 1) / 2. The others are their complex conjugates, and those at half the sampling rate are set
 * to zero. In two dimensions the modes of u and v are stored side by side. In three there is an array for
 * each component. */
#ifndef KF_KERNELS_STABLE_FLUIDS_ARGUMENTS_H
#define KF_KERNELS_STABLE_FLUIDS_ARGUMENTS_H

/* The scalars X(name), which have the precision of the arithmetic. */
#define KF_FLUID_SCALARS(X)                                                                                  \
    X(step)      /* time that a trace goes back: 1, or 1/2 with reflection */                                \
    X(viscosity) /* times the time for which this projection stands */                                       \
    X(wave_x)    /* 2 pi / NX */                                                                             \
    X(wave_y)                                                                                                \
    X(wave_z)                                                                                                \
    X(scale)   /* of the transforms around the projection, 1 / (NY NZ); rows scale by 1 / NX */              \
    X(drag)    /* dt / eta of the penalised solid, which pulls the velocity to its own */                    \
    X(rebound) /* share by which the pull overshoots, since the projection undoes some of it */              \
    X(decay_0) /* factor on a dye over the time of a trace */                                                \
    X(decay_1)                                                                                               \
    X(decay_2)                                                                                               \
    X(lift_0) /* upward acceleration by a unit of the dye */                                                 \
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

/* A push in one step. It adds vector / (1 + dx^4 + dy^4 + dz^4) in the cells within `reach` of `cell`,
 * across periodic faces. */
typedef struct kf_fluid_impulse {
    long long step;
    int cell[3], reach;
    double vector[3];
} kf_fluid_impulse;

/* A source in a ball, which acts in every step from `first` to `last`. It pulls the velocity to `velocity`
 * by the share `pull`, accelerates the fluid and adds to dyes. All have the weight (1 - r^2 / R^2)^2. */
typedef struct kf_fluid_source {
    long long first, last;
    double center[3], radius;
    double velocity[3], pull, acceleration[3], dye[KF_FLUID_DYES];
} kf_fluid_source;

/* The motion of a solid. Its point x0 is at time t at rotation(angle + spin t) (x0 - center) + center +
 * velocity t. */
typedef struct kf_fluid_motion {
    double center[3], velocity[3], axis[3], spin;
} kf_fluid_motion;

typedef struct kf_fluid_arguments {
    int extent[3];
    int simulations;
    const void *wind;      /* velocity that advects */
    const void *field;     /* velocity that is advected: the same array without reflection */
    const void *predicted; /* with MacCormack's scheme: the field after the first advection */
    const void *dye, *dye_predicted;
    const void *acceleration; /* in the layout of a velocity */
    const void *solid;        /* [z][y][x]: solid share of each cell */
    void *target;             /* velocity */
    void *kept;               /* velocity before the first projection of a step, with reflection */
    void *dye_target;
    void *spectrum;
    const void *twiddles_x, *twiddles_y, *twiddles_z; /* for each axis 2 (N - 1), forward and then inverse */
    void *particles; /* [simulation][particle][dimension]: positions in cells */
    long long particle_count;
    long long *clock; /* [0]: steps begun, [1]: index of the next push */
    const kf_fluid_impulse *impulses;
    const kf_fluid_source *sources;
    long long impulse_count;
    kf_fluid_motion motion;
    int *barrier; /* for the plan persistent: count of arrivals */
    int steps;    /* for the plan persistent: steps of a launch */
    /* With KF_AHEAD 1 a block prefetches into the cache what the block this many blocks later will read. */
    int ahead;
    kf_fluid_singles single_precision;
    kf_fluid_doubles double_precision;
} kf_fluid_arguments;

/* The arguments of transforms that are separate passes (transforms.cu). Value i of line l of group g is
 * complex value g group + l line + i stride. Rows of reals are `line` reals apart. */
typedef struct kf_transform_arguments {
    int extent[3];
    int lines;
    long long line, group, stride;
    void *values;
    const void *twiddles;
} kf_transform_arguments;

#endif
