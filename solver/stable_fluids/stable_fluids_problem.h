/* The problem of the stable fluids system: a box of fluid, periodic or between walls, and what acts on it. In
 * files SI units; here a cell and a time step are 1, cell (i, j, k) has its centre at (i, j, k), and
 * velocities are in cells a step. docs/stable-fluids.md has the equations and the file format. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_PROBLEM_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_PROBLEM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util/file.h"
#include "base/util/hash.h"
#include "base/util/text.h"
#include "kernels/choices.h"
#include "kernels/stable_fluids/arguments.h"

typedef enum kf_fluid_advection {
    KF_ADVECT_NONE = KF_NO_ADVECTION,
    KF_ADVECT_LINEAR = KF_LINEAR_ADVECTION,
    KF_ADVECT_MACCORMACK = KF_MACCORMACK_ADVECTION,
    KF_ADVECT_CUBIC = KF_CUBIC_ADVECTION,
    KF_ADVECTIONS
} kf_fluid_advection;
extern const char *const kf_fluid_advection_names[KF_ADVECTIONS];

typedef enum kf_fluid_start {
    KF_START_REST,         /* at `velocity` everywhere */
    KF_START_SHEAR_WAVE,   /* velocity + amplitude sin(2 pi mode x / NX) along y */
    KF_START_TAYLOR_GREEN, /* amplitude, mode */
    KF_START_KOLMOGOROV,   /* amplitude sin(2 pi mode y / NY) along x */
    KF_START_RANDOM, /* a few long waves of random phase, at most about amplitude fast; divergence is left to
                        the first projection */
    KF_STARTS
} kf_fluid_start;
extern const char *const kf_fluid_start_names[KF_STARTS];

typedef enum kf_fluid_solid {
    KF_SOLID_NONE = KF_NO_SOLID,
    KF_SOLID_STILL = KF_STILL_SOLID,
    KF_SOLID_MOVING = KF_MOVING_SOLID
} kf_fluid_solid;

typedef struct kf_fluid_dye {
    char name[24];
    double dissipation; /* share lost in a step: exp(-dissipation) stays */
    double lift;        /* cells a step^2 upwards by a unit of it; up is the last axis */
} kf_fluid_dye;

typedef struct kf_fluid {
    char name[128], source[KF_PATH], hash[KF_HASH_HEX];
    char *notes;
    uint64_t seed;

    int dimensions; /* 2 or 3 */
    int cells[3]; /* of the box that is computed: twice those of the domain between walls; cells[2] is 1 in 2D
                   */
    bool walls[3];    /* across that axis: the domain is the lower half, the upper one its mirror image */
    int simulations;  /* side by side, alike but for the phases of a random start */
    double cell_size; /* metres */
    double time_step; /* seconds */
    double viscosity; /* cells^2 a step */
    kf_fluid_advection advection;
    bool midpoint, reflection, exponential;
    double confinement; /* eps h of vorticity confinement, cells a step */
    double accuracy;    /* relative error that storage may add */

    kf_fluid_start start;
    double start_velocity[3], start_amplitude;
    int start_mode;
    /* Replaces the start when it is set: of a problem made in memory. Not part of the hash. */
    void (*initial)(const void *context, const int cell[3], double velocity[3]);
    const void *initial_context;
    double shake; /* a random start of this speed on top of it: what the gate's trial adds */

    double body_amplitude; /* acceleration sin(2 pi mode y / NY) along x, cells a step^2; mode 0: even */
    int body_mode;

    kf_fluid_impulse *impulses; /* by step */
    size_t impulse_count;
    kf_fluid_source *sources;
    int source_count;
    int dye_count;
    kf_fluid_dye dyes[KF_FLUID_DYES];

    kf_fluid_solid solid;
    float *mask; /* [z][y][x], share of a cell that is solid */
    kf_fluid_motion motion;
    double drag;    /* dt / eta of the penalisation */
    double rebound; /* share of the pull by which it goes beyond the solid's velocity, 0 to 1 */

    long long particle_count; /* of each simulation; 0: none */
    bool particle_midpoint;
} kf_fluid;

/* Cells of the domain, without the mirror images. */
void kf_fluid_domain(const kf_fluid *fluid, int cells[3]);
size_t kf_fluid_cell_count(const kf_fluid *fluid); /* of one simulation's box */

/* 2^a 3^b 5^c with n >= 8. */
bool kf_fluid_size_fits(int n);
/* The nearest such sizes below and above. */
void kf_fluid_nearest_sizes(int n, int *below, int *above);

/* The steady acceleration along x at row y. */
double kf_fluid_body(const kf_fluid *fluid, int y);
/* The random waves of a simulation at time 0, for all its cells; refers to the fluid. To be freed. */
typedef struct kf_fluid_waves kf_fluid_waves;
kf_fluid_waves *kf_fluid_waves_make(const kf_fluid *fluid, int simulation);
void kf_fluid_waves_free(kf_fluid_waves *waves);
/* Velocity at time 0 of a cell of that simulation, in cells a step. */
void kf_fluid_initial(const kf_fluid_waves *waves, const int cell[3], double velocity[3]);
/* Returns where particle i of a simulation begins, in cells from the lower corner: in the middle of the
 * cells, in their order when there are as many as cells, else in the order of a Hilbert-like grid of equal
 * spacing. */
void kf_fluid_particle(const kf_fluid *fluid, long long i, double position[3]);

/* A box at rest without anything in it; for problems that are made in memory, and for the reader. */
kf_fluid *kf_fluid_make(int dimensions, const int cells[3]);
/* Hash from everything that changes the result. To be called when all is set. */
void kf_fluid_finish(kf_fluid *fluid);
void kf_fluid_free(kf_fluid *fluid);
/* A deep copy. */
kf_fluid *kf_fluid_copy(const kf_fluid *fluid);

/* Reads a scene file or the name of a shipped one; cells {0, 0, 0}: as the file says; simulations 0 likewise.
 */
kf_status kf_fluid_open(const char *source, const int cells[3], kf_fluid **fluid, kf_error *error);

/* The solid's part of a file (stable_fluids_solid.c): fills mask, motion and solid; scale: cells a metre;
 * drag from `eta` seconds; without them as good as solid: KF_FLUID_SOLID_DRAG, KF_FLUID_SOLID_REBOUND. */
#define KF_FLUID_SOLID_DRAG    1e4
#define KF_FLUID_SOLID_REBOUND 0.8
kf_status kf_fluid_read_solid(const char *file, const cJSON *root, kf_fluid *fluid, kf_error *error);

#endif
