/* The work of incompressible plans: their list of launches (solver/incompressible), with the expected
 * iterations of a solve. docs/cost-model.md describes the measured numbers. */
#include "solver/incompressible/incompressible_cost.h"

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

typedef struct kf_incompressible_tally {
    const kf_incompressible_cost *cost;
    const kf_incompressible_options *options;
    kf_works *works;
    /* The iterations of a solve. */
    double iterations;
} kf_incompressible_tally;

/* Returns the expected iterations for a residual of 1e-4, with steps of ten kinetic ones, starting from the
 * previous pressure. Conjugate gradients without a cycle or a transform need more iterations on longer rows
 * of cells. The previous pressure is already right to 1.6 digits with kinetic steps, and to one digit less
 * with steps ten times as long. */
static double expected_iterations(const kf_scene *scene, const kf_incompressible_options *o) {
    static const struct {
        double fixed, a_cell;
    } need[KF_PRESSURE_SOLVERS] = {
        [KF_SOLVE_CG] = {0, 1.9},         [KF_SOLVE_INCOMPLETE_CG] = {0, 1}, [KF_SOLVE_MULTIGRID] = {6, 0},
        [KF_SOLVE_MULTIGRID_CG] = {4, 0}, [KF_SOLVE_FOURIER_CG] = {14, 0},
    };
    static const double GIVEN = 1.6, LEAST = 1;
    double longest = 0;
    for (int axis = 0; axis < 3; axis++)
        longest = fmax(longest, scene->nodes[axis]);
    const double longer = log10(fmax(1, kf_incompressible_model_of(scene)->steps)),
                 digits = fmax(LEAST, -log10(kf_incompressible_tolerance(scene)) - GIVEN + longer);
    const double iterations =
        ceil(digits / (4 - GIVEN + 1) * (need[o->solver].fixed + need[o->solver].a_cell * longest));
    return fmin(fmax(iterations, o->least_iterations), o->iterations);
}

/* Returns the instructions of a cell and the time that they wait for the L1 cache. Values are interpolated at
 * the ends of traces: three for each sub-trace and one for the carried quantity. The correction traces both
 * ways when it is limited and the prediction broke the bounds. One address saves the same share of the
 * compiled kernels' instructions. */
static double of_advection(const kf_incompressible_tally *t, bool corrects) {
    /* Instructions for a place where eight values are interpolated. */
    static const double PREDICTED = 65, CORRECTED = 88;
    static const double ONE_ADDRESS = 0.57;
    const kf_incompressible_model *model = kf_incompressible_model_of(t->cost->scene);
    const double places =
        (t->options->one_address ? ONE_ADDRESS : 1) * 3 * (model->trace == KF_TRACE_MIDPOINT ? 7 : 4);
    return places *
           (corrects ? CORRECTED * (model->unlimited || t->options->keeps_bounds ? 1 : 2) : PREDICTED);
}

/* Returns the instructions of a cell as compiled for sm_90. It leaves out the slow paths of divisions, and
 * the sums over blocks. */
static double instructions_of(const kf_incompressible_tally *t, const char *name) {
    static const struct {
        const char *name;
        double each;
    } compiled[] = {{"divergence", 320},    {"project", 200},        {"project_second", 200},
                    {"residual", 190},      {"residual_again", 180}, {"smooth", 151},
                    {"smooth_last", 230},   {"interpolate", 133},    {"restrict_residual", 886.0 / 8},
                    {"products", 180},      {"advance", 70},         {"apply", 170},
                    {"factor_red", 111},    {"factor_black", 638},   {"factor_back", 145},
                    {"add_correction", 39}, {"direct", 50}};
    static const double FIRST_SWEEP = 40, TWO_SWEEPS = 155;
    /* The share of the time that the same instructions take in a kernel that waits for memory. */
    static const double ISSUED = 0.6;
    const kf_incompressible_options *o = t->options;
    const double wide = o->double_precision ? 2 : 1, issued = wide * ISSUED;
    if (strncmp(name, "predict", 7) == 0) return wide * of_advection(t, false);
    if (strncmp(name, "correct", 7) == 0) return wide * of_advection(t, true);
    if (strcmp(name, "smooth_first") == 0) return issued * (o->sweeps > 1 ? TWO_SWEEPS : FIRST_SWEEP);
    for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++)
        if (strcmp(name, compiled[i].name) == 0) return issued * compiled[i].each;
    return 0;
}

/* Bytes of memory that a byte costs: coarse levels lie in the cache. */
static double cached(const kf_incompressible_tally *t, double cells) {
    static const double FIELDS = 5, IN_CACHE = 0.52; /* as d2q9's */
    const double bytes = cells * (FIELDS * (t->options->double_precision ? 8 : 4) + sizeof(unsigned));
    return kf_cost_cached(bytes, (double)t->cost->device->l2_bytes, IN_CACHE);
}

/* Returns the number of accesses that wait for each other. The cases are kernels with a thread per place,
 * sums, a single block, a single item, a sweep of the single block with near values, and a cell of lines that
 * are solved in both directions. */
static double depth_of(const kf_incompressible_tally *t, const kf_listed_launch *launch) {
    static const double PLACES = 2, SUMS = 3, BLOCK = 3, ITEM = 1, SWEEP = 0.33, LINE = 0.4;
    if (strcmp(launch->name, "tridiagonal") == 0) {
        double longest = 0;
        for (int axis = 0; axis < 3; axis++)
            longest = fmax(longest, t->cost->gpu ? launch->cells[axis] : 0);
        return PLACES + LINE * longest;
    }
    switch (launch->kind) {
    case KF_LAUNCH_PLACES:
        return PLACES;
    case KF_LAUNCH_SUMS:
        return SUMS;
    case KF_LAUNCH_BLOCK:
        return BLOCK + SWEEP * launch->sweeps;
    default:
        return ITEM;
    }
}

/* Adds the time of a launch besides its work. A GPU begins one block per cycle, even if it returns at once.
 * Outside of a graph the host starts a kernel every 2.5 us, which hides the device's latency. */
static void start(const kf_incompressible_tally *t, const kf_listed_launch *launch, double depth,
                  kf_work *work) {
    static const double BLOCKS_A_US = 1975, LATENCY_US = 1.2, HOST_US = 2.5;
    work->amount[KF_COST_LATENCY] = depth;
    if (!t->cost->gpu) return;
    const double least = t->options->graph ? 0 : (HOST_US - 1) / LATENCY_US;
    work->amount[KF_COST_LATENCY] = fmax(depth, least) + launch->blocks / BLOCKS_A_US / LATENCY_US;
    work->follows = t->options->overlap && launch->of_solve;
}

static void add_launch(void *data, const kf_listed_launch *launch) {
    /* Shares of a copy's rate. */
    static const double PLACES = 0.63, SUMS = 0.5;
    kf_incompressible_tally *t = data;
    const double cells = (double)launch->cells[0] * launch->cells[1] * launch->cells[2];
    kf_work *work = kf_works_add(t->works, launch->name, launch->iterated ? t->iterations : 1);
    work->amount[KF_COST_DRAM] = launch->bytes * cached(t, cells);
    work->amount[KF_COST_INSTRUCTIONS] = cells * instructions_of(t, launch->name);
    if (t->cost->gpu) work->efficiency = launch->kind == KF_LAUNCH_SUMS ? SUMS : PLACES;
    start(t, launch, depth_of(t, launch), work);
    const double idle = t->options->iterations - t->iterations;
    if (!launch->iterated || !(idle > 0)) return;
    /* Iterations that come after the residual is small enough look whether it is, and return. */
    start(t, launch, 1, kf_works_add(t->works, launch->name, idle));
}

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_incompressible_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = kf_problem_scene(problem);
    cost->device = device;
    cost->gpu = kf_device_is_gpu(device);
    return cost;
}

static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    const kf_incompressible_cost *cost = state;
    kf_incompressible_options options;
    if (strcmp(config->system, "incompressible") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not incompressible",
                       config->system);
    KF_TRY(kf_incompressible_read_options(config, cost->gpu, &options, error));
    kf_incompressible_tally t = {cost, &options, works, expected_iterations(cost->scene, &options)};
    kf_incompressible_list_launches(cost->scene, &options, add_launch, &t);
    return KF_OK;
}

const kf_cost_methods kf_cost_incompressible = {
    .open = open_cost,
    .works = works_of,
    .close = free,
    .predicts_only = true,
};
