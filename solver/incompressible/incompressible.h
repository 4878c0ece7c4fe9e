/* The incompressible system: advection and reflection with MacCormack's scheme on a staggered grid
 * (docs/incompressible.md). Only solver/incompressible/ and its validation include this header; other rooms
 * use kf_system_incompressible. */
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
    bool overlap;      /* a kernel of a solve may start while the preceding one ends */
    bool keeps_bounds; /* the prediction stores the limiter's bounds */
    bool one_address;  /* advection uses one address, from which its eight values have constant distances */
    int iterations, least_iterations; /* largest and smallest number of iterations of a solve */
    int sweeps;                       /* on a multigrid level, before and after the coarser levels */
    int threads;                      /* threads of a block that sums */
    int block_x, block_y;             /* of kernels with one thread for each cell */
} kf_incompressible_options;

typedef enum kf_incompressible_source {
    KF_INCOMPRESSIBLE_ADVECTION,
    KF_INCOMPRESSIBLE_PROJECTION,
    KF_INCOMPRESSIBLE_PRESSURE,
    KF_INCOMPRESSIBLE_MULTIGRID,
    KF_INCOMPRESSIBLE_COSINE, /* along the lower of the axes with a transform */
    KF_INCOMPRESSIBLE_COSINE_SECOND,
    KF_INCOMPRESSIBLE_SOLID,
    KF_INCOMPRESSIBLE_STATE,
    KF_INCOMPRESSIBLE_SOURCES
} kf_incompressible_source;

enum { KF_LEVELS = 16 };
/* A grid of the multigrid. The first one is the flow's; buffers that it has elsewhere are NULL. */
typedef struct kf_grid_level {
    int cells[3], row, plane;
    long long origin, capacity;
    double outflow_ratio[KF_FACES]; /* of the next coarser level */
    kf_buffer *open, *guess, *other, *wanted;
} kf_grid_level;

enum { KF_HALVES = 2 };
typedef struct kf_incompressible {
    kf_incompressible_options options;
    size_t real_bytes;
    int solid; /* KF_SOLID of kernels/incompressible/grid.h */
    kf_module *modules[KF_INCOMPRESSIBLE_SOURCES];
    kf_incompressible_arguments arguments;               /* common to all launches on the finest level */
    kf_buffer *velocity, *advected, *predicted, *second; /* vector fields */
    kf_buffer *kept; /* two vector fields, the limiter's bounds; NULL: they are computed again */
    kf_buffer *pressures[KF_HALVES], *right, *residual, *direction, *image, *corrected, *other;
    kf_buffer *partial, *solves, *solid_state, *load;
    kf_grid_level levels[KF_LEVELS];
    int level_count;
    int cosine_axes[2];
    kf_buffer *roots[2], *modes[2];
    int diffusions; /* Jacobi iterations of the implicit viscous term in each sub-step */
} kf_incompressible;

/* Sets everything that depends only on scene and system->options: all except modules and buffers
 * (incompressible.c). */
void kf_incompressible_outline(const kf_scene *scene, kf_incompressible *system);

/* Reads the parameters of a config (incompressible_options.c). */
kf_status kf_incompressible_read_options(const kf_config *config, bool gpu,
                                         kf_incompressible_options *options, kf_error *error);
void kf_incompressible_define(const kf_scene *scene, const kf_incompressible_options *options,
                              kf_incompressible_source which, kf_source *source, kf_defines *defines);
bool kf_incompressible_uses(const kf_scene *scene, const kf_incompressible_options *options,
                            kf_incompressible_source which);
/* Returns whether the kernels of a source may start while the preceding ones end. */
bool kf_incompressible_overlaps(const kf_incompressible_options *options, kf_incompressible_source which);
double kf_incompressible_tolerance(const kf_scene *scene);
/* Largest viscosity for the explicit viscous term, in cells^2 a step. It is half of the limit of diffusion
 * alone (1/6 in a half step), because the term acts on values from up to a cell away. A run at 0.32 ended in
 * NaN. */
#define KF_MOST_EXPLICIT_VISCOSITY (1.0 / 6.0)
/* Returns the viscous term of a scene. An automatic one is explicit. It is implicit if the viscosity exceeds
 * KF_MOST_EXPLICIT_VISCOSITY, or half of it where a step moves the flow by a cell or more. There, the drag of
 * a sphere at Re 100 was 25 % too small with the explicit term (viscosity 0.16, two cells a step), and 11 %
 * too large with the implicit one. It never returns KF_VISCOUS_AUTOMATIC. */
kf_viscous_term kf_incompressible_viscous_term(const kf_scene *scene);

typedef enum kf_launch_kind {
    KF_LAUNCH_PLACES,
    KF_LAUNCH_SUMS,
    KF_LAUNCH_BLOCK,
    KF_LAUNCH_ITEM
} kf_launch_kind;
/* A launch of a step, as the cost model counts it. */
typedef struct kf_listed_launch {
    const char *name;
    kf_launch_kind kind;
    int cells[3];  /* cells of its level */
    double blocks; /* blocks of threads; 1 for a single item */
    double bytes;  /* least bytes that are read and written */
    int sweeps;    /* sweeps of the coarsest level, done one after the other; otherwise 0 */
    bool of_solve; /* it is part of a pressure solve */
    bool iterated; /* it is done in every iteration of a solve, at most options->iterations times */
} kf_listed_launch;

enum { KF_PATIENCE = 10 };
/* Appends launches to the plan's steps, or runs them at once (incompressible_launches.c). */
typedef struct kf_incompressible_builder {
    kf_plan *plan;
    kf_incompressible *system;
    bool at_once;
    bool patient; /* a solve may take KF_PATIENCE times as many iterations */
    /* If set, nothing is launched. It is called for each launch, and in a solve for those of the first
     * iteration only. */
    void (*list)(void *data, const kf_listed_launch *launch);
    void *data;
    bool solving, iterating, second_half;
    kf_error *error;
    kf_status status;
} kf_incompressible_builder;
/* Launches one thread for each place of `extent`; extent NULL: blocks that sum over the cells of the first
 * level. bytes: the least that are read and written. */
void kf_incompressible_launch(kf_incompressible_builder *b, kf_incompressible_source which, const char *name,
                              const int *extent, const kf_incompressible_arguments *arguments, double bytes);
/* Launches one block, or one item. */
void kf_incompressible_launch_one(kf_incompressible_builder *b, kf_incompressible_source which,
                                  const char *name, bool block, const kf_incompressible_arguments *arguments);
/* Launches the small levels of a multigrid cycle together. */
void kf_incompressible_make_steps(kf_incompressible_builder *b);
/* Lists the launches of a step with these options, in order. It needs no device. */
void kf_incompressible_list_launches(const kf_scene *scene, const kf_incompressible_options *options,
                                     void (*list)(void *data, const kf_listed_launch *launch), void *data);
/* Bytes of a pressure solve. moved: each launch reads and writes each of its fields once. least: each field
 * of an iteration is read and written once (docs/incompressible.md). */
typedef struct kf_solve_bytes {
    double start;        /* of the first residual, in both counts */
    double moved, least; /* of an iteration */
} kf_solve_bytes;
kf_solve_bytes kf_incompressible_solve_bytes(const kf_scene *scene, const kf_incompressible_options *options);
/* Computes the open share of the cells' faces on all levels, for the solid's present pose. */
void kf_incompressible_open_faces(kf_incompressible_builder *b);
/* Makes the initial velocity free of divergence. */
void kf_incompressible_project_start(kf_incompressible_builder *b);
/* Sum up, by blocks, force and torque of the last step, and the remaining divergence. */
void kf_incompressible_sum_load(kf_incompressible_builder *b);
void kf_incompressible_sum_divergence(kf_incompressible_builder *b);

/* Appends a solve for arguments->pressure, after the divergence was summed (incompressible_pressure.c). */
void kf_incompressible_solve(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments);
/* incompressible_cosine.c */
enum { KF_COSINE_STAGES = 12 };
/* Finds the two axes with cosine transforms. False: the scene's faces or numbers of cells do not allow
 * them. */
bool kf_incompressible_cosine_axes(const kf_scene *scene, int axes[2]);
/* Return the number of factors of a line's length (large factors are slow), and the pairs of lines that fit
 * the shared memory of a block. */
int kf_incompressible_cosine_radices(int cells, int radices[KF_COSINE_STAGES]);
int kf_incompressible_cosine_pairs(int cells, size_t real_bytes);
/* Makes the tables on the device. */
kf_status kf_incompressible_make_cosines(kf_plan *plan, kf_incompressible *system, kf_error *error);
/* Computes from the residual the correction of a box without a solid. */
void kf_incompressible_cosines(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments);

/* Computes the open shares of faces on the coarse levels. */
void kf_incompressible_coarsen(kf_incompressible_builder *b);
/* Sets row, plane, origin and capacity of a grid with level->cells. */
void kf_incompressible_lay_out(kf_grid_level *level);
/* Lays out the grids of the multigrid, from levels[0] on. */
void kf_incompressible_lay_out_levels(kf_incompressible *system);

/* incompressible_state.c */
extern const kf_plan_methods kf_incompressible_methods;
/* Reads density - 1 (3 times the pressure) and velocity at the centres of the cells, [4][z][y][x] as doubles.
 * The caller frees *values. */
kf_status kf_incompressible_read(kf_plan *plan, double **values, kf_error *error);
/* Reads the final state of the solves of both halves of the last step. */
kf_status kf_incompressible_solves(kf_plan *plan, kf_solve_state states[KF_HALVES], kf_error *error);
/* KF_MACHINE if a solve in the first `halves` halves of a step has missed the tolerance since the records
 * were cleared. where: the steps concerned, for the message. */
kf_status kf_incompressible_judge_solves(kf_plan *plan, int halves, const char *where, kf_error *error);

/* Computes the root mean square of the remaining divergence, per step. */
kf_status kf_incompressible_divergence(kf_plan *plan, double *divergence, kf_error *error);

/* incompressible_reference.c */
kf_status kf_incompressible_reference(const kf_problem *problem, int steps, kf_reference **reference,
                                      kf_error *error);
void kf_incompressible_free_reference(kf_reference *reference);
/* incompressible_verify.c */
kf_status kf_incompressible_verify(kf_plan *plan, const kf_reference *reference,
                                   kf_verification *verification, kf_error *error);

#endif
