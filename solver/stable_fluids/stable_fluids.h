/* The system of stable fluids: plans of a kf_fluid. This header is shared by the files of
 * solver/stable_fluids/ and its validation; others need kf_system_stable_fluids only. */
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
    KF_FLUID_PAPER,    /* the seed's: copy, advect, a transform of each component, project, and back */
    KF_FLUID_SEPARATE, /* the same without the copy */
    KF_FLUID_PACKED,   /* u + i v in one complex transform */
    KF_FLUID_BATCHED,  /* planar velocity, components in one call */
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
    int tile;                                        /* columns of a tile of the spectrum; 0: rows */
    int pad;                                         /* modes more in a row of the spectrum */
    int points_rows, points_columns, points_inverse; /* values a thread has of a line, about */
    int rows_per_block, columns_per_block;
    bool component_per_thread;
    kf_fluid_twiddles twiddles;
    int exchange_buffers;
    int resident_rows, resident_columns; /* blocks that registers must leave room for; 0: none */
    int block_x, block_y;                /* of kernels with a thread a cell */
    int most_threads;                    /* of a block: 0, no limit, on the cpu */
    int steps_per_launch;                /* persistent */
    bool graph;
    bool overlap; /* fused: a pass begins while the one before it ends */
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

/* Engines and layout that follow from a config. */
typedef struct kf_fluid_design {
    kf_line_engine rows, inverse, columns, axis; /* axis: along y in three dimensions */
    /* Between walls across x, the last axis: passes take the domain alone, by cosine and sine transforms of
     * its length, and write the mirror image beside it; else the whole box. */
    bool fold_x, fold_last;
    int row_count;      /* rows of the spectrum */
    int modes_x, pitch; /* modes of a row, and from row to row */
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
    kf_buffer *base, *barrier; /* persistent: the velocity that the present launch started from */
    uint64_t based_on;
    struct kf_fft *transforms[8];
    int transform_count;
} kf_fluid_plan;

/* stable_fluids_lines.c */
/* Designs the transform of lines of n values; `points` is the number of values a thread should have.
 * KF_BAD_INPUT when n cannot be done with so few, or with so many threads. */
kf_status kf_line_design(int n, int points, int lines, int most_threads, kf_line_engine *engine,
                         kf_error *error);
size_t kf_line_shared_bytes(const kf_line_engine *engine, int lines, int at_once, int buffers,
                            size_t real_bytes);
/* Forward and inverse tables, 2 (n - 1) complex numbers, then exp(-i pi k / (2 n)), k < n; the caller frees.
 */
double *kf_line_twiddles(const kf_line_engine *engine);

/* stable_fluids_options.c */
kf_status kf_fluid_read_options(const kf_fluid *fluid, const kf_config *config, bool gpu,
                                kf_fluid_options *options, kf_error *error);
kf_status kf_fluid_design_of(const kf_fluid *fluid, const kf_fluid_options *options, kf_fluid_design *design,
                             kf_error *error);
bool kf_fluid_uses(const kf_fluid *fluid, const kf_fluid_options *options, kf_fluid_module module);
void kf_fluid_define(const kf_fluid *fluid, const kf_fluid_options *options, const kf_fluid_design *design,
                     kf_fluid_module module, bool gpu, kf_source *source, kf_defines *defines);
/* Returns whether a thread of a GPU has two particles. */
bool kf_fluid_pairs_particles(const kf_fluid *fluid);
/* Returns whether every step has work of its own before it: pushes, sources, a moving solid. */
bool kf_fluid_has_clock(const kf_fluid *fluid);

/* Makes a problem of this fluid, which it takes over (owned) or leaves to whoever made it
 * (stable_fluids.c). */
kf_problem *kf_fluid_problem(kf_fluid *fluid, bool owned);

/* stable_fluids_plan.c */
kf_status kf_fluid_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                             kf_plan **plan, kf_error *error);
/* stable_fluids_launches.c */
kf_status kf_fluid_make_items(kf_plan *plan, kf_error *error);
/* The steps of one launch of the persistent kernel from the state in the plan's velocity. */
kf_status kf_fluid_persistent_launch(const kf_plan *plan, int steps, kf_launch *launch, kf_error *error);
/* Makes the items that transform the work arrays of a plan that has its transforms apart
 * (stable_fluids_transforms.c). */
kf_status kf_fluid_make_transforms(kf_plan *plan, kf_error *error);
kf_status kf_fluid_add_forward(kf_plan *plan, kf_error *error);
kf_status kf_fluid_add_inverse(kf_plan *plan, kf_error *error);

/* stable_fluids_state.c */
extern const kf_plan_methods kf_fluid_methods;
/* The present state of a simulation, as the reference has it; the caller frees. */
kf_status kf_fluid_read(kf_plan *plan, int simulation, kf_fluid_state *state, kf_error *error);

/* The nearest number of half precision, and what it stands for. */
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
