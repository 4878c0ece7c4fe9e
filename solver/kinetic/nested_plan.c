/* Plans of nested grids: levels' plans joined into one, and what crosses between them. */
#include "solver/kinetic/nested_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "kernels/kinetic/nested_arguments.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/nested.h"
#include "solver/kinetic/nested_fields.h"

typedef struct nested_plan {
    kf_nested *nested;
    kf_problem *problems[KF_MOST_LEVELS];
    kf_plan *plans[KF_MOST_LEVELS];     /* whose buffers and modules belong to the plan of all */
    kf_module *modules[KF_MOST_LEVELS]; /* [l] between level l - 1 and l */
    /* Cells within the rim that level l covers, after even and odd steps. */
    kf_launch covered[KF_MOST_LEVELS][2];
    kf_mark *given[KF_LANES]; /* what a lane was given so far is done */
} nested_plan;

static nested_plan *nested_of(const kf_plan *plan) {
    return plan->system;
}

static const kf_kinetic *kinetic_of(const nested_plan *own, int level) {
    return own->plans[level]->system;
}

/* The lane of a level's own kernels, of what crosses to it, and of what the next finer one gives it. The two
 * levels next to the finest take the most steps of the coarser ones. */
static int lane_of(const kf_nested *nested, int level) {
    const int coarser = nested->count - 1 - level;
    return coarser == 0 ? KF_LANE_MAIN : coarser % 2 == 1 ? KF_LANE_AHEAD : KF_LANE_BESIDE;
}
/* The lane of what the finest level works out beside its flow: the solid. */
enum { LANE_OF_SOLID = KF_LANE_ASIDE };

/* --- Launches between two levels -------------------------------------------------------------------------
 */

/* Tiles of a box whose layers lie across an axis. */
static int tiles_of(const int size[3], int across) {
    const int u = size[across == 0 ? 1 : 0], v = size[across == 2 ? 1 : 2];
    return (u + KF_NESTED_TILE_U - 1) / KF_NESTED_TILE_U * ((v + KF_NESTED_TILE_V - 1) / KF_NESTED_TILE_V) *
           size[across];
}

static void add_box(kf_nested_arguments *a, const int low[3], const int high[3], int across) {
    const int b = a->boxes;
    for (int axis = 0; axis < 3; axis++) {
        if (high[axis] <= low[axis]) return;
        a->low[b][axis] = low[axis];
        a->size[b][axis] = high[axis] - low[axis];
    }
    a->across[b] = across;
    a->start[b + 1] = a->start[b] + tiles_of(a->size[b], across);
    a->boxes++;
}

/* The cells between an outer and an inner box, in up to six boxes, each once. */
static void add_shell(kf_nested_arguments *a, const int outer[2][3], const int inner[2][3]) {
    int low[3], high[3];
    memcpy(low, outer[0], sizeof low);
    memcpy(high, outer[1], sizeof high);
    for (int axis = 2; axis >= 0; axis--) {
        const int from = inner[0][axis] < high[axis] ? inner[0][axis] : high[axis],
                  to = inner[1][axis] > from ? inner[1][axis] : from, end = high[axis], begin = low[axis];
        high[axis] = from;
        add_box(a, low, high, axis);
        low[axis] = to;
        high[axis] = end;
        add_box(a, low, high, axis);
        low[axis] = begin > from ? begin : from;
        high[axis] = to;
    }
}

static kf_nested_side side_of(const kf_kinetic *kinetic, bool odd) {
    const kf_kinetic_arguments *a = &kinetic->arguments;
    kf_nested_side side = {.grid = a->grid, .memory = a->memory, .scalars = a->scalars};
    side.populations.source = side.populations.target = kinetic->grids[kinetic->swaps && odd];
    side.band.listed = a->band.listed;
    side.band.listed_count = a->band.listed_count;
    return side;
}

/* Second moments that a rate of strain leaves after a collision, over that rate, at density 1. */
static double left_by_strain(const kf_scene *scene) {
    const double omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    return -(1.0 - omega) * 2.0 / (3.0 * omega);
}

typedef enum crossing { REFINE, COARSEN_RIM, COARSEN_REST } crossing;

/* Names the cells that a kernel between level - 1 and level works on. */
static void set_cells(kf_nested_arguments *a, const kf_nested_level *level, crossing what) {
    int outer[2][3], inner[2][3];
    for (int axis = 0; axis < 3; axis++) {
        const int low = level->ghosts[2 * axis] > 0, high = level->ghosts[2 * axis + 1] > 0;
        const bool out = what == REFINE;
        outer[0][axis] = out ? -low : 0;
        outer[1][axis] = level->cells[axis] + (out ? high : 0);
        inner[0][axis] = out ? 0 : KF_NESTED_RIM * low;
        inner[1][axis] = level->cells[axis] - (out ? 0 : KF_NESTED_RIM * high);
    }
    if (what == COARSEN_REST)
        add_box(a, inner[0], inner[1], 2);
    else
        add_shell(a, outer, inner);
    a->extent[0] = a->start[a->boxes] * (what == REFINE ? KF_REFINE_THREADS : KF_COARSEN_THREADS);
    a->extent[1] = a->extent[2] = 1;
}

/* Prepares a launch between level - 1, after an odd or an even number of its steps, and level. */
static kf_status prepare(const nested_plan *own, int level, crossing what, bool odd, kf_launch *launch,
                         kf_error *error) {
    const int block[3] = {what == REFINE ? KF_REFINE_THREADS : KF_COARSEN_THREADS, 1, 1};
    const kf_nested_level *fine = &own->nested->level[level], *coarse = fine - 1;
    const char *name = what == REFINE ? "refine" : "coarsen";
    const double left_coarse = left_by_strain(&coarse->scene), left_fine = left_by_strain(&fine->scene);
    kf_function *function;
    kf_nested_arguments a = {.coarse = side_of(kinetic_of(own, level - 1), odd),
                             .fine = side_of(kinetic_of(own, level), false)};
    KF_TRY(kf_module_function(own->modules[level], name, &function, error));
    a.scale = what == REFINE ? 0.5 * left_fine / left_coarse : 2.0 * left_coarse / left_fine;
    for (int axis = 0; axis < 3; axis++) {
        a.first[axis] = fine->first[axis];
        a.ghosts[axis] = fine->ghosts[2 * axis];
        a.end[axis] = fine->scene.nodes[axis] - fine->ghosts[2 * axis + 1];
        a.periodic[axis] = fine->scene.faces[2 * axis] == KF_PERIODIC;
        a.around[axis] = coarse->scene.faces[2 * axis] == KF_PERIODIC;
    }
    set_cells(&a, fine, what);
    _Static_assert(sizeof a <= KF_ARGUMENT_BYTES, "a launch holds these arguments");
    kf_launch_set(launch, name, function, block, &a, sizeof a);
    return KF_OK;
}

/* Bytes that a crossing reads and writes at least: for a cell of the layer three of the coarser level's nodes
 * across it and its eight ghosts, or the box's sixteen nodes nearest to its side and the cell. */
static double bytes_of(const nested_plan *own, int level, crossing what, const kf_launch *launch) {
    const kf_kinetic *kinetic = kinetic_of(own, level);
    const double nodes = what == REFINE ? 3.0 + 8.0 : 16.0 + 1.0;
    const kf_nested_arguments *a = (const void *)launch->arguments;
    double cells = 0.0;
    for (int b = 0; b < a->boxes; b++)
        cells += (double)a->size[b][0] * a->size[b][1] * a->size[b][2];
    return nodes * cells * kinetic->node_values * (double)kinetic->store_bytes;
}

/* Names an item by its kernel and level. */
static void name_item(kf_item *item, const char *name, int level) {
    const size_t most = sizeof item->name - 3, length = strnlen(name, most);
    memmove(item->name, name, length);
    item->name[length] = ' ';
    item->name[length + 1] = (char)('0' + level);
    item->name[length + 2] = '\0';
}

/* Appends a crossing at all steps of the coarsest level, or only at those of one parity. */
static kf_status append_crossing(kf_plan *plan, int level, crossing what, bool odd, int period, int phase,
                                 kf_error *error) {
    kf_launch launch;
    KF_TRY(prepare(nested_of(plan), level, what, odd, &launch, error));
    kf_item *item = kf_plan_add_kernel(plan, &launch);
    name_item(item, launch.name, level);
    item->lane = lane_of(nested_of(plan)->nested, what == REFINE ? level : level - 1);
    item->period = period;
    item->phase = phase;
    item->bytes = bytes_of(nested_of(plan), level, what, &launch);
    return KF_OK;
}

/* The crossing between level - 1 at its step number k of those in a step of the coarsest level, or after it,
 * and level. The coarsest level alone has even and odd steps one after the other. */
static kf_status cross(kf_plan *plan, int level, crossing what, int k, kf_error *error) {
    const int after = what == REFINE ? 0 : 1;
    if (level > 1) return append_crossing(plan, level, what, (k + after) % 2 == 1, 1, 0, error);
    for (int parity = 0; parity < 2; parity++)
        KF_TRY(append_crossing(plan, level, what, (parity + after) % 2 == 1, 2, parity, error));
    return KF_OK;
}

/* --- A step ----------------------------------------------------------------------------------------------
 *
 * What is in one lane is done in its order. Between lanes there is the order that this file asks for, and no
 * other: a level's step needs the means of the next finer one and its own ghosts; what crosses from a level
 * needs its last step. So a level's step goes from one of its grids to the other beside what crosses from the
 * first and the finer level's two steps, and the solid's forces beside all that changes no node near it.
 */

/* A lane is to do what it is given from here on after all that another was given so far. */
static void follow(kf_plan *plan, int lane, int other) {
    kf_mark *mark = nested_of(plan)->given[other];
    if (lane == other) return;
    kf_plan_add_signal(plan, "lane_given", mark)->lane = other;
    kf_plan_add_await(plan, "lane_given", mark)->lane = lane;
}

/* Finds the steps of the coarsest level in which step number k of 2^level is one that an item is due at:
 * those that leave the phase over the period. */
static bool is_ever_due(const kf_item *item, int level, int k, int *period, int *phase) {
    const int steps = 1 << level;
    *period = item->period;
    while (*period % 2 == 0 && item->period / *period < steps)
        *period /= 2;
    for (*phase = 0; *phase < *period; (*phase)++)
        if ((*phase * steps + k) % item->period == item->phase) return true;
    return false;
}

/* Appends one of a level's kernels, in a lane. */
static void append_kernel(kf_plan *plan, const kf_item *item, int level, int lane, int period, int phase) {
    kf_item *made = kf_plan_add_kernel(plan, item->kernel);
    name_item(made, item->name, level);
    made->lane = lane;
    made->period = period;
    made->phase = phase;
    made->bytes = item->bytes;
    made->flops = item->flops;
}

/* Appends the kernels of step number k of a level in a step of the coarsest. Those of a coarser level are all
 * in its lane, whose order is what the signals and the waits of a level with several lanes ask for. The
 * finest level's side lane awaits the main one where that has been given kernels of this step. */
static void append_level(kf_plan *plan, int level, int k) {
    const kf_plan *from = nested_of(plan)->plans[level];
    const int lane = lane_of(nested_of(plan)->nested, level);
    bool apart = false, begun = false;
    for (size_t i = 0; i < from->item_count; i++) {
        const kf_item *item = &from->items[i];
        const bool aside = lane == KF_LANE_MAIN && item->lane != KF_LANE_MAIN;
        int period, phase;
        if (!is_ever_due(item, level, k, &period, &phase)) continue;
        if (apart && !aside && item->joins) {
            follow(plan, lane, LANE_OF_SOLID);
            apart = false;
        }
        if (item->kind != KF_ITEM_KERNEL) continue;
        if (aside && !apart && begun) follow(plan, LANE_OF_SOLID, lane);
        apart = apart || aside;
        begun = begun || !aside;
        append_kernel(plan, item, level, aside ? LANE_OF_SOLID : lane, period, phase);
    }
    if (apart) follow(plan, lane, LANE_OF_SOLID);
    if (lane == KF_LANE_MAIN) follow(plan, LANE_OF_SOLID, lane);
}

/* What crosses to finer levels awaits the last step of the level before, of a level on; a finer one's not
 * what a coarser one's does. */
static void await_last_steps(kf_plan *plan, int level) {
    const kf_nested *nested = nested_of(plan)->nested;
    for (int l = nested->count - 2; l >= level; l--)
        follow(plan, lane_of(nested, l + 1), lane_of(nested, l));
}

/* Appends step number k of a level, the two steps of the next finer one, and what crosses before and after.
 * The first of two steps begins where the coarser level's does. */
static kf_status append_steps(kf_plan *plan, int level, int k, kf_error *error) {
    const kf_nested *nested = nested_of(plan)->nested;
    const bool finer = level + 1 < nested->count;
    const int lane = lane_of(nested, level);
    if (level == 0 || k % 2 == 1) await_last_steps(plan, level);
    if (level > 0 && k % 2 == 0) KF_TRY(cross(plan, level, REFINE, k / 2, error));
    append_level(plan, level, k);
    if (!finer) return KF_OK;
    KF_TRY(append_steps(plan, level + 1, 2 * k, error));
    KF_TRY(append_steps(plan, level + 1, 2 * k + 1, error));
    follow(plan, lane, lane_of(nested, level + 1));
    return cross(plan, level + 1, COARSEN_RIM, k, error);
}

/* Appends a step of the coarsest level. All lanes begin where the last step of the finest level ended. */
static kf_status append_all(kf_plan *plan, kf_error *error) {
    for (int lane = 0; lane < KF_LANES; lane++)
        KF_TRY(kf_plan_mark(plan, &nested_of(plan)->given[lane], error));
    for (int lane = 0; lane < KF_LANES; lane++)
        follow(plan, lane, KF_LANE_MAIN);
    return append_steps(plan, 0, 0, error);
}

/* --- Making ----------------------------------------------------------------------------------------------
 */

/* Gives the plan of all what a level's plan made, to be checked, hashed and freed with its own. */
static void adopt(kf_plan *plan, kf_plan *level) {
    for (size_t i = 0; i < level->buffer_count; i++) {
        plan->buffers = kf_grow(plan->buffers, plan->buffer_count, &plan->buffer_room, sizeof *plan->buffers);
        plan->buffers[plan->buffer_count++] = level->buffers[i];
    }
    for (size_t i = 0; i < level->module_count; i++) {
        plan->modules = kf_grow(plan->modules, plan->module_count, &plan->module_room, sizeof *plan->modules);
        plan->builds = kf_grow(plan->builds, plan->module_count, &plan->build_room, sizeof *plan->builds);
        plan->builds[plan->module_count] = level->builds[i];
        plan->modules[plan->module_count++] = level->modules[i];
    }
    level->buffer_count = level->module_count = 0;
}

/* The kernels between two levels: what state.cu knows of a grid's memory they know of both. */
static void define_crossing(const kf_scene *scene, const kf_kinetic_options *options,
                            const kf_kinetic_geometry *geometry, kf_source *source, kf_defines *defines) {
    kf_kinetic_define(scene, options, geometry, KF_SOURCE_STATE, source, defines);
    source->file = "kernels/kinetic/nested.cu";
}

static kf_status load_crossing(kf_plan *plan, int level, kf_error *error) {
    nested_plan *own = nested_of(plan);
    const kf_kinetic *fine = kinetic_of(own, level), *coarse = kinetic_of(own, level - 1);
    kf_kinetic_geometry geometry = fine->geometry;
    kf_source source;
    kf_defines defines;
    geometry.domain_index64 = fine->geometry.domain_index64 || coarse->geometry.domain_index64;
    define_crossing(&own->nested->level[level].scene, &fine->options, &geometry, &source, &defines);
    KF_TRY(kf_plan_module(plan, &source, &own->modules[level], error));
    KF_TRY(prepare(own, level, COARSEN_REST, false, &own->covered[level][0], error));
    return prepare(own, level, COARSEN_REST, true, &own->covered[level][1], error);
}

/* Nodes that count, each place on its finest level, times the steps that they take. */
static double updates_of(const kf_nested *nested) {
    double updates = 0.0;
    for (int l = 0; l < nested->count; l++) {
        const kf_nested_level *level = &nested->level[l], *finer = level + 1;
        double nodes = 1.0, covered = l + 1 < nested->count ? 1.0 : 0.0;
        for (int axis = 0; axis < 3; axis++) {
            nodes *= level->scene.nodes[axis] - level->ghosts[2 * axis] - level->ghosts[2 * axis + 1];
            if (covered > 0.0) covered *= finer->cells[axis];
        }
        updates += (nodes - covered) * (1 << l);
    }
    return updates;
}

static kf_status check_options(const kf_kinetic_options *options, kf_error *error) {
    if (options->velocities != 27)
        return kf_fail(error, KF_BAD_INPUT, "nested grids need 27 velocities: set velocities=27");
    if (options->streaming != KF_STREAMING_TWO_GRIDS)
        return kf_fail(error, KF_BAD_INPUT,
                       "nested grids need two grids on each level: set streaming=two_grids");
    return KF_OK;
}

static kf_status build(kf_plan *plan, const kf_config *config, kf_backend *backend, kf_error *error) {
    nested_plan *own = nested_of(plan);
    for (int l = 0; l < own->nested->count; l++) {
        own->problems[l] = kf_flow_problem(&kf_system_kinetic, &own->nested->level[l].scene, false);
        KF_TRY(kf_kinetic_make_plan(own->problems[l], config, backend, &own->plans[l], error));
        KF_TRY(check_options(&kinetic_of(own, l)->options, error));
        adopt(plan, own->plans[l]);
        plan->least_bytes += own->plans[l]->least_bytes * (1 << l);
    }
    plan->updates = updates_of(own->nested);
    for (int l = 1; l < own->nested->count; l++)
        KF_TRY(load_crossing(plan, l, error));
    return append_all(plan, error);
}

/* --- Methods ---------------------------------------------------------------------------------------------
 */

kf_plan *kf_nested_level_plan(const kf_plan *plan, int level) {
    return nested_of(plan)->plans[level];
}

/* Tells the levels' plans how many steps they have done. */
static void count_steps(kf_plan *plan) {
    nested_plan *own = nested_of(plan);
    for (int l = 0; l < own->nested->count; l++)
        own->plans[l]->steps_done = plan->steps_done << l;
}

static kf_status initialise(kf_plan *plan, kf_error *error) {
    nested_plan *own = nested_of(plan);
    for (int l = 0; l < own->nested->count; l++)
        KF_TRY(kf_plan_initialise(own->plans[l], error));
    return KF_OK;
}

static bool has_items(const kf_launch *launch) {
    int items;
    memcpy(&items, launch->arguments, sizeof items);
    return items > 0;
}

/* Gives cells that a finer level covers what it says there, from the finest on. The flow feels nothing of
 * it: of these cells it reads the rim alone, which has that already and is left as it is. */
kf_status kf_nested_settle(kf_plan *plan, kf_error *error) {
    const nested_plan *own = nested_of(plan);
    count_steps(plan);
    for (int l = own->nested->count - 1; l > 0; l--) {
        const bool odd = l == 1 && plan->steps_done % 2 == 1;
        const kf_launch *covered = &own->covered[l][odd];
        if (has_items(covered)) KF_TRY(kf_backend_launch(plan->backend, covered, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

kf_status kf_nested_read(kf_plan *plan, double **values, kf_error *error) {
    KF_TRY(kf_nested_settle(plan, error));
    return kf_kinetic_read(nested_of(plan)->plans[0], values, error);
}

static kf_status read_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    const nested_plan *own = nested_of(plan);
    KF_TRY(kf_nested_settle(plan, error));
    return kf_nested_join_fields(own->nested, own->plans, kf_scene_output_level(kf_plan_scene(plan)), fields,
                                 error);
}

static kf_status read_level(kf_plan *plan, int level, kf_fields *fields, int first[3], kf_error *error) {
    const nested_plan *own = nested_of(plan);
    const kf_nested_level *grid = &own->nested->level[level];
    kf_plan *of_level = own->plans[level];
    kf_fields all;
    KF_TRY(kf_nested_settle(plan, error));
    KF_TRY(of_level->methods->flow->fields(of_level, &all, error));
    kf_nested_crop_fields(grid, &all, fields);
    kf_fields_free(&all);
    for (int axis = 0; axis < 3; axis++)
        first[axis] = grid->origin[axis] + grid->ghosts[2 * axis];
    return KF_OK;
}

static kf_status velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    KF_TRY(kf_nested_settle(plan, error));
    return kf_kinetic_device_velocity(nested_of(plan)->plans[0], buffer, error);
}

/* The finest level's, in units of the coarsest: a force is density length^4 / time^2. */
static kf_status load(kf_plan *plan, kf_solid_load *total, kf_error *error) {
    const nested_plan *own = nested_of(plan);
    const int finest = own->nested->count - 1;
    count_steps(plan);
    KF_TRY(own->plans[finest]->methods->flow->load(own->plans[finest], total, error));
    for (int i = 0; i < 3; i++) {
        total->force[i] = ldexp(total->force[i], -2 * finest);
        total->torque[i] = ldexp(total->torque[i], -3 * finest);
    }
    return KF_OK;
}

static kf_status watch(kf_plan *plan, kf_error *error) {
    nested_plan *own = nested_of(plan);
    KF_TRY(kf_nested_settle(plan, error));
    for (int l = 0; l < own->nested->count; l++)
        KF_TRY(kf_plan_watch(own->plans[l], error));
    return KF_OK;
}

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    nested_plan *own = nested_of(plan);
    *bytes = 0;
    for (int l = 0; l < own->nested->count; l++) {
        size_t of_level;
        KF_TRY(kf_kinetic_state_size(own->plans[l], &of_level, error));
        *bytes += of_level;
    }
    return KF_OK;
}

/* Covered cells are saved as the finer level has them: the same whatever was looked at before. */
static kf_status save(kf_plan *plan, void *state, kf_error *error) {
    nested_plan *own = nested_of(plan);
    char *place = state;
    KF_TRY(kf_nested_settle(plan, error));
    for (int l = 0; l < own->nested->count; l++) {
        size_t bytes;
        KF_TRY(kf_kinetic_state_size(own->plans[l], &bytes, error));
        KF_TRY(kf_kinetic_save(own->plans[l], place, error));
        place += bytes;
    }
    return KF_OK;
}

static kf_status restore(kf_plan *plan, const void *state, uint64_t step, kf_error *error) {
    nested_plan *own = nested_of(plan);
    const char *place = state;
    plan->steps_done = step;
    count_steps(plan);
    for (int l = 0; l < own->nested->count; l++) {
        size_t bytes;
        KF_TRY(kf_kinetic_state_size(own->plans[l], &bytes, error));
        KF_TRY(kf_kinetic_restore(own->plans[l], place, step << l, error));
        place += bytes;
    }
    return KF_OK;
}

static void free_system(kf_plan *plan) {
    nested_plan *own = nested_of(plan);
    for (int l = 0; l < KF_MOST_LEVELS; l++) {
        kf_plan_free(own->plans[l]);
        kf_problem_free(own->problems[l]);
    }
    kf_nested_free(own->nested);
    free(own);
}

static const kf_flow_methods flow = {
    .fields = read_fields, .level = read_level, .velocity = velocity, .load = load};

static const kf_plan_methods methods = {.initialise = initialise,
                                        .snapshot = kf_flow_snapshot,
                                        .record = kf_flow_record,
                                        .meaning = kf_flow_meaning,
                                        .watch = watch,
                                        .time = kf_flow_time,
                                        .flow = &flow,
                                        .state_size = state_size,
                                        .save = save,
                                        .restore = restore,
                                        .free = free_system};

/* --- The system ------------------------------------------------------------------------------------------
 */

/* The rate of a level's shear may not be 1: its collisions would leave no trace of the strain. */
static kf_status check_rate(const kf_scene *scene, int level, kf_error *error) {
    const double omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    if (fabs(1.0 - omega) > 0.05) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: on level %d the viscosity is %.3g cell^2/step, near 1/6, where a collision leaves no "
                   "strain to pass on: use a finer grid, or a lower speed",
                   scene->source, level, scene->viscosity);
}

/* Refuses rules and motions that levels have nothing for, and rates that pass nothing on. */
kf_status kf_nested_accepts(const kf_scene *scene, kf_error *error) {
    kf_nested *nested;
    if (kf_kinetic_is_adaptive(scene, 27))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: nested grids have no domain averages, which the rates \"%s\" divide by: set "
                       "model.rates to \"k17\", \"ones\" or \"constant\"",
                       scene->source, kf_rate_rule_names[scene->rate_rule]);
    if (scene->motion.moving)
        return kf_fail(error, KF_BAD_INPUT, "%s: the solid in nested grids has to rest", scene->source);
    KF_TRY(kf_nested_make(scene, &nested, error));
    kf_status status = KF_OK;
    for (int l = 0; l < nested->count && status == KF_OK; l++)
        status = check_rate(&nested->level[l].scene, l, error);
    kf_nested_free(nested);
    return status;
}

kf_status kf_nested_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                              kf_plan **plan, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    if (kf_backend_device(backend)->parts > 1)
        return kf_fail(error, KF_BAD_INPUT, "%s: nested grids run on one device", scene->source);
    KF_TRY(kf_nested_accepts(scene, error));
    nested_plan *own = kf_allocate_zeroed(1, sizeof *own);
    kf_plan *made = kf_plan_create(backend, problem, config, &methods, own);
    kf_status status = kf_nested_make(scene, &own->nested, error);
    if (status == KF_OK) status = build(made, config, backend, error);
    if (status != KF_OK)
        kf_plan_free(made);
    else
        *plan = made;
    return status;
}

/* Sources of a level, and of what crosses to it. */
static kf_status visit_level(const kf_nested_level *level, bool coarsest, const kf_config *config,
                             const kf_device_info *device,
                             kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                             void *data, kf_error *error) {
    kf_kinetic_options options;
    kf_kinetic_geometry geometry;
    kf_source source;
    kf_defines defines;
    KF_TRY(kf_kinetic_visit_sources(&level->scene, config, device, visit, data, error));
    if (coarsest) return KF_OK;
    KF_TRY(kf_kinetic_read_options(&level->scene, config, device, &options, error));
    kf_kinetic_lay_out(&level->scene, &options, &geometry);
    define_crossing(&level->scene, &options, &geometry, &source, &defines);
    return visit(&source, data, error);
}

kf_status kf_nested_visit_sources(const kf_problem *problem, const kf_config *config,
                                  const kf_device_info *device,
                                  kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                  void *data, kf_error *error) {
    kf_nested *nested;
    kf_status status = kf_nested_make(kf_problem_scene(problem), &nested, error);
    if (status != KF_OK) return status;
    for (int l = 0; l < nested->count && status == KF_OK; l++)
        status = visit_level(&nested->level[l], l == 0, config, device, visit, data, error);
    kf_nested_free(nested);
    return status;
}
