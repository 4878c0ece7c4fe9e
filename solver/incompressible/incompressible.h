/* The incompressible system: advection and reflection with MacCormack's scheme on a staggered grid
 * (docs/incompressible.md). This header is shared by the files of solver/incompressible/ and its validation;
 * others need kf_system_incompressible only. */
#ifndef KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_H
#define KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_H

#include "base/plan/system.h"
#include "base/record/figure.h"
#include "kernels/incompressible/arguments.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"
#include "solver/incompressible/incompressible_model.h"

extern const kf_system kf_system_incompressible;
extern const struct kf_cost_methods kf_cost_incompressible;
extern const struct kf_suite_system kf_incompressible_suite;
extern const kf_figure_kind kf_incompressible_figure_kinds[];

typedef enum kf_pressure_solver {
    KF_SOLVE_CG,
    KF_SOLVE_JACOBI_CG,
    KF_SOLVE_INCOMPLETE_CG,
    KF_SOLVE_MULTIGRID,
    KF_SOLVE_MULTIGRID_CG,
    KF_SOLVE_FOURIER_CG,
    KF_PRESSURE_SOLVERS
} kf_pressure_solver;
extern const char *const kf_pressure_solver_names[KF_PRESSURE_SOLVERS + 1]; /* NULL behind the last */

/* A config's parameters. */
typedef struct kf_incompressible_options {
    kf_pressure_solver solver;
    bool gpu, double_precision, graph, fixed_rows;
    bool overlap;                     /* a kernel of a solve begins while the one before it ends */
    bool keeps_bounds;                /* the prediction leaves the limiter's bounds in memory */
    bool one_address;                 /* from which advection's eight values lie at constant distances */
    int iterations, least_iterations; /* of a solve, at most and at least */
    int sweeps;                       /* of a multigrid level before and after the coarser ones */
    int threads;                      /* of a block that sums */
    int block_x, block_y;             /* of kernels with a thread a cell */
} kf_incompressible_options;

typedef enum kf_incompressible_source {
    KF_INCOMPRESSIBLE_ADVECTION,
    KF_INCOMPRESSIBLE_PROJECTION,
    KF_INCOMPRESSIBLE_PRESSURE,
    KF_INCOMPRESSIBLE_MULTIGRID,
    KF_INCOMPRESSIBLE_COSINE, /* along the lower axis that has a transform */
    KF_INCOMPRESSIBLE_COSINE_SECOND,
    KF_INCOMPRESSIBLE_SOLID,
    KF_INCOMPRESSIBLE_STATE,
    KF_INCOMPRESSIBLE_SOURCES
} kf_incompressible_source;

enum { KF_LEVELS = 16 };
/* A grid of the multigrid; the first is the flow's. Buffers that the first has elsewhere are NULL there. */
typedef struct kf_grid_level {
    int cells[3], row, plane;
    long long origin, capacity;
    double outflow_ratio[KF_FACES]; /* of the next coarser level */
    kf_buffer *open, *guess, *other, *wanted;
} kf_grid_level;

/* The solid's signed distance, in cells, in its frame at time 0: negative inside, no further than two cells.
 */
typedef struct kf_distance_grid {
    int size[3];
    double corner[3], spacing;
    float *values; /* [z][y][x]; owned */
} kf_distance_grid;

enum { KF_HALVES = 2 };
typedef struct kf_incompressible {
    kf_incompressible_options options;
    size_t real_bytes;
    int solid; /* as KF_SOLID of kernels/incompressible/grid.h */
    kf_module *modules[KF_INCOMPRESSIBLE_SOURCES];
    kf_incompressible_arguments arguments;               /* common to all launches, of the finest level */
    kf_buffer *velocity, *advected, *predicted, *second; /* vectors */
    kf_buffer *kept; /* two vectors: the limiter's bounds; NULL: found again */
    kf_buffer *pressures[KF_HALVES], *right, *residual, *direction, *image, *corrected, *other;
    kf_buffer *partial, *solves, *distance, *solid_state, *load;
    kf_grid_level levels[KF_LEVELS];
    int level_count;
    int cosine_axes[2];
    kf_buffer *roots[2], *modes[2];
    int diffusions; /* Jacobi iterations of the implicit viscous term in a sub-step */
} kf_incompressible;

/* Sets what follows from scene and system->options alone: all but modules and buffers (incompressible.c). */
void kf_incompressible_outline(const kf_scene *scene, kf_incompressible *system);

/* incompressible_options.c */
kf_status kf_incompressible_read_options(const kf_config *config, bool gpu,
                                         kf_incompressible_options *options, kf_error *error);
void kf_incompressible_define(const kf_scene *scene, const kf_incompressible_options *options,
                              kf_incompressible_source which, kf_source *source, kf_defines *defines);
bool kf_incompressible_uses(const kf_scene *scene, const kf_incompressible_options *options,
                            kf_incompressible_source which);
/* Returns whether the kernels of a source begin while the ones before them end. */
bool kf_incompressible_overlaps(const kf_incompressible_options *options, kf_incompressible_source which);
double kf_incompressible_tolerance(const kf_scene *scene);
/* Viscosity up to which the explicit viscous term is taken, in cells^2 a step: half of what friction alone
 * would allow (1/6 in a half step), for it acts on what has come from up to a cell away: 0.32 ended in nan.
 */
#define KF_MOST_EXPLICIT_VISCOSITY (1.0 / 6.0)
/* The scene's term, or where that is automatic the explicit one, but for a viscosity above
 * KF_MOST_EXPLICIT_VISCOSITY, or above half of it where a step moves the flow by a cell or more: there the
 * drag of a sphere at Re 100 was 25 % too small with the explicit term (viscosity 0.16, two cells a step), 11
 * % too large with the implicit one. Never automatic. */
kf_viscous_term kf_incompressible_viscous_term(const kf_scene *scene);

typedef enum kf_launch_kind {
    KF_LAUNCH_PLACES,
    KF_LAUNCH_SUMS,
    KF_LAUNCH_BLOCK,
    KF_LAUNCH_ITEM
} kf_launch_kind;
/* A launch of a step as the cost model sees it. */
typedef struct kf_listed_launch {
    const char *name;
    kf_launch_kind kind;
    int cells[3];  /* of its level */
    double blocks; /* of threads; of one item: 1 */
    double bytes;  /* least that are read and written */
    int sweeps;    /* of the coarsest level, one after the other; else 0 */
    bool of_solve; /* of the pressure */
    bool iterated; /* once for each iteration of a solve, at most options->iterations */
} kf_listed_launch;

enum { KF_PATIENCE = 10 };
/* A launch is appended to the plan's steps, or done at once (incompressible_launches.c). */
typedef struct kf_incompressible_builder {
    kf_plan *plan;
    kf_incompressible *system;
    bool at_once;
    bool patient; /* a solve may take KF_PATIENCE times its iterations */
    /* Nothing is launched where this is set: it is told of each launch, of a solve's iterations only the
     * first's. */
    void (*list)(void *data, const kf_listed_launch *launch);
    void *data;
    bool solving, iterating, second_half;
    kf_error *error;
    kf_status status;
} kf_incompressible_builder;
/* A thread a place: extent; or, where it is NULL, blocks that sum over the first level's cells. bytes: least
 * that are read and written. */
void kf_incompressible_launch(kf_incompressible_builder *b, kf_incompressible_source which, const char *name,
                              const int *extent, const kf_incompressible_arguments *arguments, double bytes);
/* One block, or one item. */
void kf_incompressible_launch_one(kf_incompressible_builder *b, kf_incompressible_source which,
                                  const char *name, bool block, const kf_incompressible_arguments *arguments);
/* Small levels of a cycle, in one launch. */
void kf_incompressible_make_steps(kf_incompressible_builder *b);
/* The launches of a step of a plan with these options, in order, without a device. */
void kf_incompressible_list_launches(const kf_scene *scene, const kf_incompressible_options *options,
                                     void (*list)(void *data, const kf_listed_launch *launch), void *data);
/* Bytes of a pressure solve. Moved: each of its launches reads and writes each of its fields once. Least:
 * each field that an iteration has is read and written once (docs/incompressible.md). */
typedef struct kf_solve_bytes {
    double start;        /* the first residual, of both */
    double moved, least; /* by an iteration */
} kf_solve_bytes;
kf_solve_bytes kf_incompressible_solve_bytes(const kf_scene *scene, const kf_incompressible_options *options);
/* How open the cells of all levels are with the solid where it is. */
void kf_incompressible_open_faces(kf_incompressible_builder *b);
/* Takes the divergence out of the velocity at the beginning. */
void kf_incompressible_project_start(kf_incompressible_builder *b);
/* The last step's force and torque, as sums of blocks; the divergence that is left. */
void kf_incompressible_sum_load(kf_incompressible_builder *b);
void kf_incompressible_sum_divergence(kf_incompressible_builder *b);

/* Appends a solve for arguments->pressure, whose divergence is summed (incompressible_pressure.c). */
void kf_incompressible_solve(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments);
/* incompressible_cosine.c */
enum { KF_COSINE_STAGES = 12 };
/* The two axes with transforms; false: the scene's faces or cells do not suit them. */
bool kf_incompressible_cosine_axes(const kf_scene *scene, int axes[2]);
/* Factors of a line, their count (large ones are slow); pairs of lines that a block's shared memory takes. */
int kf_incompressible_cosine_radices(int cells, int radices[KF_COSINE_STAGES]);
int kf_incompressible_cosine_pairs(int cells, size_t real_bytes);
/* Tables on the device. */
kf_status kf_incompressible_make_cosines(kf_plan *plan, kf_incompressible *system, kf_error *error);
/* From the residual to what a box without a solid would correct. */
void kf_incompressible_cosines(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments);

/* How open the coarse levels are. */
void kf_incompressible_coarsen(kf_incompressible_builder *b);
/* Row, plane, origin and capacity of a grid with level->cells. */
void kf_incompressible_lay_out(kf_grid_level *level);
/* The grids of the multigrid, from levels[0]. */
void kf_incompressible_lay_out_levels(kf_incompressible *system);

/* Works out the distance to the scene's mesh; the caller frees values (incompressible_solid.c). */
void kf_incompressible_distance(const kf_scene *scene, kf_distance_grid *grid);

/* incompressible_state.c */
extern const kf_plan_methods kf_incompressible_methods;
/* Density - 1 (3 times the pressure) and velocity at the cells' centres, [4][z][y][x], in double; caller
 * frees. */
kf_status kf_incompressible_read(kf_plan *plan, double **values, kf_error *error);
/* Reads where the solves of both halves of the last step ended. */
kf_status kf_incompressible_solves(kf_plan *plan, kf_solve_state states[KF_HALVES], kf_error *error);
/* KF_MACHINE where a solve of the first `halves` missed the tolerance since the records were cleared; where:
 * in which steps, for the message. */
kf_status kf_incompressible_judge_solves(kf_plan *plan, int halves, const char *where, kf_error *error);

/* Root mean square of the divergence that is left, per step. */
kf_status kf_incompressible_divergence(kf_plan *plan, double *divergence, kf_error *error);

/* incompressible_reference.c */
kf_status kf_incompressible_reference(const kf_problem *problem, int steps, kf_reference **reference,
                                      kf_error *error);
void kf_incompressible_free_reference(kf_reference *reference);
/* incompressible_verify.c */
kf_status kf_incompressible_verify(kf_plan *plan, const kf_reference *reference,
                                   kf_verification *verification, kf_error *error);

#endif
