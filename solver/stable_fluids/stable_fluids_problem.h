/* The problem of the system stable_fluids: a box of fluid, periodic or between walls, and what acts on it.
 * Files are in SI units. Here a cell and a time step are 1, cell (i, j, k) has its centre at (i, j, k), and
 * velocities are in cells a step. docs/stable-fluids.md describes equations and file format. */
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
    KF_START_REST,         /* `velocity` everywhere */
    KF_START_SHEAR_WAVE,   /* velocity + amplitude sin(2 pi mode x / NX) along y */
    KF_START_TAYLOR_GREEN, /* amplitude, mode */
    KF_START_KOLMOGOROV,   /* amplitude sin(2 pi mode y / NY) along x */
    /* A few long waves of random phase, at most about `amplitude`; the first projection removes their
     * divergence. */
    KF_START_RANDOM,
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
    double dissipation; /* exp(-dissipation) is the share that remains after a step */
    double lift;        /* upward acceleration of a unit of dye, cells a step^2; up is the last axis */
} kf_fluid_dye;

typedef struct kf_fluid {
    char name[128], source[KF_PATH], hash[KF_HASH_HEX];
    kf_text notes;
    uint64_t seed;

    int dimensions; /* 2 or 3 */
    /* Cells of the computed box, which is twice the domain between walls; cells[2] is 1 in two dimensions. */
    int cells[3];
    /* Walls across this axis: the domain is the lower half, the upper half is its mirror image. */
    bool walls[3];
    /* Number of independent simulations, which differ only in the phases of a random start. */
    int simulations;
    double cell_size; /* metres */
    double time_step; /* seconds */
    double viscosity; /* cells^2 a step */
    kf_fluid_advection advection;
    bool midpoint, reflection, exponential;
    double confinement; /* eps h of vorticity confinement, in cells a step */
    double accuracy;    /* relative error that storage may add */

    kf_fluid_start start;
    double start_velocity[3], start_amplitude;
    int start_mode;
    /* If set, it replaces the start, for a problem that was made in memory. It is not part of the hash. */
    void (*initial)(const void *context, const int cell[3], double velocity[3]);
    const void *initial_context;
    double shake; /* speed of an additional random start, for the gate's trial */

    /* Acceleration along x, amplitude sin(2 pi mode y / NY), cells a step^2; mode 0: constant. */
    double body_amplitude;
    int body_mode;

    kf_fluid_impulse *impulses; /* sorted by step */
    size_t impulse_count;
    kf_fluid_source *sources;
    int source_count;
    int dye_count;
    kf_fluid_dye dyes[KF_FLUID_DYES];

    kf_fluid_solid solid;
    float *mask; /* [z][y][x] share of a cell that is solid */
    kf_fluid_motion motion;
    double drag;    /* dt / eta of the penalisation */
    double rebound; /* share of the correction by which it overshoots the solid's velocity, 0 to 1 */

    long long particle_count; /* of each simulation; 0: none */
    bool particle_midpoint;
} kf_fluid;

/* Finds the cells of the domain, without the mirror images. */
void kf_fluid_domain(const kf_fluid *fluid, int cells[3]);
double kf_fluid_domain_count(const kf_fluid *fluid); /* the number of these */
size_t kf_fluid_cell_count(const kf_fluid *fluid);   /* of one simulation's box */

/* Returns whether n is 2^a 3^b 5^c and at least 8. */
bool kf_fluid_size_fits(int n);
/* Finds the nearest such sizes below and above n. */
void kf_fluid_nearest_sizes(int n, int *below, int *above);

/* Returns the constant acceleration along x in row y. */
double kf_fluid_body(const kf_fluid *fluid, int y);
/* The random waves of a simulation at time 0, for all its cells. They refer to the fluid; the caller frees
 * them. */
typedef struct kf_fluid_waves kf_fluid_waves;
kf_fluid_waves *kf_fluid_waves_make(const kf_fluid *fluid, int simulation);
void kf_fluid_waves_free(kf_fluid_waves *waves);
/* Computes the velocity of a cell at time 0, in cells a step. */
void kf_fluid_initial(const kf_fluid_waves *waves, const int cell[3], double velocity[3]);
/* Computes where particle i of a simulation begins, in cells from the lower corner. If there are as many
 * particles as cells, they are in the middles of the cells, in the cells' order; otherwise on a grid of equal
 * spacing, in a Hilbert-like order. */
void kf_fluid_particle(const kf_fluid *fluid, long long i, double position[3]);

/* Makes an empty box at rest, for problems that are made in memory and for the reader. */
kf_fluid *kf_fluid_make(int dimensions, const int cells[3]);
/* Computes the hash of everything that affects the result. Call it when all is set. */
void kf_fluid_finish(kf_fluid *fluid);
void kf_fluid_free(kf_fluid *fluid);
/* Makes a deep copy, which the caller frees. */
kf_fluid *kf_fluid_copy(const kf_fluid *fluid);

/* Opens a scene file, or a shipped scene by its name. cells {0, 0, 0}: as the file says. The caller frees it
 * with kf_fluid_free. */
kf_status kf_fluid_open(const char *source, const int cells[3], kf_fluid **fluid, kf_error *error);

/* Reads the solid of a file (stable_fluids_solid.c) and sets mask, motion, solid and drag. drag comes from
 * `eta` (s). Without it the body is practically solid: KF_FLUID_SOLID_DRAG, KF_FLUID_SOLID_REBOUND. */
#define KF_FLUID_SOLID_DRAG    1e4
#define KF_FLUID_SOLID_REBOUND 0.8
kf_status kf_fluid_read_solid(const char *file, const cJSON *root, kf_fluid *fluid, kf_error *error);

#endif
