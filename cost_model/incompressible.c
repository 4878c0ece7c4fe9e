/* The work of the incompressible plans: their own list of launches (solver/incompressible), with how many
 * iterations a solve will take. Where a number was measured, docs/cost-model.md says how. */
#include "cost_model/incompressible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/incompressible/incompressible.h"

typedef struct kf_incompressible_cost {
    const kf_scene *scene;
    const kf_device_info *device;
    bool gpu;
} kf_incompressible_cost;

typedef struct kf_tally {
    const kf_incompressible_cost *cost;
    const kf_incompressible_options *options;
    kf_works *works;
    double iterations; /* of a solve */
} kf_tally;

/* Iterations until a residual of 1e-4, from the pressure of the step before; gradients without a cycle or a
 * transform need more where more cells lie in a row. */
static double expected_iterations(const kf_scene *scene, const kf_incompressible_options *o) {
    static const struct {
        double fixed, a_cell;
    } need[KF_PRESSURE_SOLVERS] = {
        [KF_SOLVE_CG] = {0, 1.9},      [KF_SOLVE_JACOBI_CG] = {0, 1.9},  [KF_SOLVE_INCOMPLETE_CG] = {0, 1},
        [KF_SOLVE_MULTIGRID] = {6, 0}, [KF_SOLVE_MULTIGRID_CG] = {4, 0}, [KF_SOLVE_FOURIER_CG] = {14, 0},
    };
    double longest = 0;
    for (int axis = 0; axis < 3; axis++)
        longest = fmax(longest, scene->nodes[axis]);
    const double digits = log(kf_incompressible_tolerance(scene)) / log(1e-4);
    const double iterations = ceil(digits * (need[o->solver].fixed + need[o->solver].a_cell * longest));
    return fmin(fmax(iterations, o->least_iterations), o->iterations);
}

/* Instructions of a cell and what they wait for in the L1 cache: values are found and mixed at the ends of
 * traces, three of each sub-trace and one of what is carried; the correction goes both ways where it is
 * limited and the prediction did not keep the bounds. One address saves as much as it does of the compiled
 * kernels' instructions. */
static double instructions_of(const kf_tally *t, const char *name) {
    static const double PREDICTED = 65, CORRECTED = 88; /* a place where eight values are mixed */
    static const double ONE_ADDRESS = 0.57;
    const kf_incompressible_model *model = &t->cost->scene->incompressible;
    const double places = 3 * (model->trace == KF_TRACE_MIDPOINT ? 7 : 4),
                 wide = (t->options->double_precision ? 2 : 1) * (t->options->one_address ? ONE_ADDRESS : 1);
    if (strncmp(name, "predict", 7) == 0) return wide * PREDICTED * places;
    if (strncmp(name, "correct", 7) == 0)
        return wide * CORRECTED * places * (model->unlimited || t->options->keeps_bounds ? 1 : 2);
    return 0;
}

/* Bytes of memory that a byte costs: coarse levels lie in the cache. */
static double cached(const kf_tally *t, double cells) {
    static const double FIELDS = 5, IN_CACHE = 0.52; /* as d2q9's */
    const double bytes = cells * (FIELDS * (t->options->double_precision ? 8 : 4) + sizeof(unsigned));
    return kf_cost_cached(bytes, (double)t->cost->device->l2_bytes, IN_CACHE);
}

static void add_launch(void *data, const kf_listed_launch *launch) {
    /* Of a copy's rate: kernels with a thread a cell, and those that sum. Accesses that wait for each other.
     */
    static const double PLACES = 0.63, SUMS = 0.5, PLACES_DEPTH = 3, SUMS_DEPTH = 5, ITEM_DEPTH = 2,
                        SWEEP_DEPTH = 2;
    kf_tally *t = data;
    const double cells = (double)launch->cells[0] * launch->cells[1] * launch->cells[2];
    kf_work *work = kf_works_add(t->works, launch->name, launch->iterated ? t->iterations : 1);
    work->amount[KF_COST_DRAM] = launch->bytes * cached(t, cells);
    work->amount[KF_COST_INSTRUCTIONS] = cells * instructions_of(t, launch->name);
    work->amount[KF_COST_LATENCY] = launch->kind == KF_LAUNCH_PLACES ? PLACES_DEPTH
                                    : launch->kind == KF_LAUNCH_ITEM
                                        ? ITEM_DEPTH
                                        : SUMS_DEPTH + SWEEP_DEPTH * launch->sweeps;
    if (t->cost->gpu) work->efficiency = launch->kind == KF_LAUNCH_SUMS ? SUMS : PLACES;
    const double idle = t->options->iterations - t->iterations;
    if (!launch->iterated || !(idle > 0)) return;
    /* What comes after the residual is small enough looks whether it is, and returns. */
    kf_works_add(t->works, launch->name, idle)->amount[KF_COST_LATENCY] = 1;
}

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_incompressible_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = kf_problem_scene(problem);
    cost->device = device;
    cost->gpu = strcmp(device->backend, "cuda") == 0;
    return cost;
}

static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    const kf_incompressible_cost *cost = state;
    kf_incompressible_options options;
    if (strcmp(config->system, "incompressible") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not incompressible",
                       config->system);
    KF_TRY(kf_incompressible_read_options(config, cost->gpu, &options, error));
    kf_tally t = {cost, &options, works, expected_iterations(cost->scene, &options)};
    works->one_by_one = cost->gpu && !options.graph;
    kf_incompressible_list_launches(cost->scene, &options, add_launch, &t);
    return KF_OK;
}

const kf_cost_methods kf_cost_incompressible = {
    .system = "incompressible",
    .open = open_cost,
    .works = works_of,
    .close = free,
    .predicts_only = true,
};
