/* The system stable_fluids: plans of a kf_fluid. Only solver/stable_fluids/ and its validation include this
 * header; other rooms use kf_system_stable_fluids. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_H

#include "base/plan/problem.h"
#include "base/plan/system.h"
#include "kernels/choices.h"
#include "kernels/stable_fluids/arguments.h"
#include "solver/stable_fluids/stable_fluids_problem.h"
#include "solver/stable_fluids/stable_fluids_reference.h"

extern const kf_system kf_system_stable_fluids;
extern const struct kf_cost_methods kf_cost_stable_fluids;
extern const struct kf_suite_system kf_stable_fluids_suite;

typedef enum kf_fluid_plan_kind {
    KF_FLUID_PAPER,    /* as published: copy, advect, transform each component, project, and transform back */
    KF_FLUID_SEPARATE, /* the same without the copy */
    KF_FLUID_PACKED,   /* u + i v in one complex transform */
    KF_FLUID_BATCHED,  /* planar velocity; one call transforms all components */
    KF_FLUID_FUSED,    /* three passes (five in three dimensions) */
    KF_FLUID_PERSISTENT
} kf_fluid_plan_kind;

typedef enum kf_fluid_fft { KF_FFT_OWN, KF_FFT_LIBRARY } kf_fluid_fft;

typedef enum kf_fluid_twiddles {
    KF_TWIDDLES_PRODUCTS = KF_PRODUCTS_TWIDDLES,
    KF_TWIDDLES_TABLE = KF_TABLE_TWIDDLES,
    KF_TWIDDLES_EARLY = KF_EARLY_TWIDDLES
} kf_fluid_twiddles;

/* A config's parameters, checked against each other. */
typedef struct kf_fluid_options {
    kf_fluid_plan_kind plan;
    kf_fluid_fft fft;
    int velocity_bits, spectrum_bits;
    int tile; /* columns of a tile of the spectrum; 0: the spectrum is stored by rows */
    int pad;  /* extra modes at the end of a row of the spectrum */
    /* Approximate number of values of a line for each thread. */
    int points_rows, points_columns, points_inverse;
    int rows_per_block, columns_per_block;
    bool component_per_thread;
    kf_fluid_twiddles twiddles;
    int exchange_buffers;
    int resident_rows, resident_columns; /* resident blocks that registers must allow; 0: no limit */
    int block_x, block_y;                /* of kernels with one thread for each cell */
    int most_threads;                    /* most threads of a block; 0: no limit (cpu) */
    int steps_per_launch;                /* persistent */
    bool graph;
    bool overlap; /* plan fused: a pass may start while the preceding one ends */
    int ahead_rows,
        ahead_columns; /* blocks a multiprocessor after which the one comes whose data is asked for */
} kf_fluid_options;

/* How a block transforms lines of n values (kernels/stable_fluids/transform.h). */
typedef struct kf_line_engine {
    int n, threads, lines, most, radices[5];
} kf_line_engine;

typedef enum kf_fluid_module {
    KF_ROWS_FORWARD,
    KF_ROWS_INVERSE,
    KF_COLUMNS,
    KF_AXIS,    /* fused, along y in three dimensions */
    KF_PARTS,   /* separate.cu */
    KF_LINES_X, /* transforms.cu */
    KF_LINES_Y,
    KF_LINES_Z,
    KF_FORCES,
    KF_PARTICLES,
    KF_PERSISTENT_STEPS,
    KF_FLUID_MODULES
} kf_fluid_module;

/* The transforms and the layout of a config. */
typedef struct kf_fluid_design {
    kf_line_engine rows, inverse, columns, axis; /* axis: along y in three dimensions */
    /* Set between walls across x, or across the last axis: passes then cover only the domain, by cosine and
     * sine transforms of its length, and write the mirror image beside it. Otherwise they cover the whole
     * box. */
    bool fold_x, fold_last;
    int row_count;      /* rows of the spectrum */
    int modes_x, pitch; /* modes of a row, and distance from row to row */
    size_t real_bytes, velocity_bytes, spectrum_bytes;
} kf_fluid_design;

typedef struct kf_fluid_plan {
    const kf_fluid *fluid;
    kf_fluid_options options;
    kf_fluid_design design;
    kf_module *modules[KF_FLUID_MODULES];
    kf_fluid_arguments arguments; /* common to all launches */
    kf_buffer *velocity, *work, *kept, *predicted, *acceleration, *copy;
    kf_buffer *dyes[2], *dye_predicted, *solid, *spectrum, *twiddles[3], *particles, *clock, *impulses,
        *sources;
    kf_buffer *base, *barrier; /* persistent: base is the velocity with which the present launch began */
    uint64_t based_on;
    struct kf_fft *transforms[8];
    int transform_count;
} kf_fluid_plan;

/* stable_fluids_lines.c */
/* Designs the transform of lines of n values, with about `points` values for each thread
 * (stable_fluids_lines.c). KF_BAD_INPUT if n cannot be transformed with so few values or so many threads. */
kf_status kf_line_design(int n, int points, int lines, int most_threads, kf_line_engine *engine,
                         kf_error *error);
size_t kf_line_shared_bytes(const kf_line_engine *engine, int lines, int at_once, int buffers,
                            size_t real_bytes);
/* Returns the tables of a transform: 2 (n - 1) complex numbers, forward and inverse, then exp(-i pi k / (2
 * n)) for k < n. The caller frees it. */
double *kf_line_twiddles(const kf_line_engine *engine);

/* stable_fluids_options.c */
kf_status kf_fluid_read_options(const kf_fluid *fluid, const kf_config *config, bool gpu,
                                kf_fluid_options *options, kf_error *error);
kf_status kf_fluid_design_of(const kf_fluid *fluid, const kf_fluid_options *options, kf_fluid_design *design,
                             kf_error *error);
bool kf_fluid_uses(const kf_fluid *fluid, const kf_fluid_options *options, kf_fluid_module module);
void kf_fluid_define(const kf_fluid *fluid, const kf_fluid_options *options, const kf_fluid_design *design,
                     kf_fluid_module module, bool gpu, kf_source *source, kf_defines *defines);
/* Returns whether each GPU thread has two particles. */
bool kf_fluid_pairs_particles(const kf_fluid *fluid);
/* Returns whether each step begins with extra work: pushes, sources, or a moving solid. */
bool kf_fluid_has_clock(const kf_fluid *fluid);

/* Makes the problem of a fluid (stable_fluids.c). owned: the problem frees the fluid. */
kf_problem *kf_fluid_problem(kf_fluid *fluid, bool owned);

/* stable_fluids_plan.c */
kf_status kf_fluid_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                             kf_plan **plan, kf_error *error);
/* stable_fluids_launches.c */
kf_status kf_fluid_make_items(kf_plan *plan, kf_error *error);
/* Fills in a launch of the persistent kernel: `steps` steps from the state in the plan's velocity. */
kf_status kf_fluid_persistent_launch(const kf_plan *plan, int steps, kf_launch *launch, kf_error *error);
/* Makes the items of a plan with separate transforms that transform its work arrays
 * (stable_fluids_transforms.c). */
kf_status kf_fluid_make_transforms(kf_plan *plan, kf_error *error);
kf_status kf_fluid_add_forward(kf_plan *plan, kf_error *error);
kf_status kf_fluid_add_inverse(kf_plan *plan, kf_error *error);

/* stable_fluids_state.c */
extern const kf_plan_methods kf_fluid_methods;
/* Reads the present state of a simulation, in the form of the reference. The caller frees it. */
kf_status kf_fluid_read(kf_plan *plan, int simulation, kf_fluid_state *state, kf_error *error);

/* Convert a number to the nearest one in half precision, and back. */
uint16_t kf_half_of(double value);
double kf_half_value(uint16_t half);

/* stable_fluids_verify.c */
kf_status kf_fluid_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
void kf_fluid_free_reference(kf_reference *reference);
kf_status kf_fluid_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                          kf_error *error);

static inline const kf_fluid *kf_problem_fluid(const kf_problem *problem) {
    return problem->own;
}

#endif
