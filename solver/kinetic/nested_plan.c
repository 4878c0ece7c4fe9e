/* Plans of nested grids: the joint plan of all levels, and the launches of the exchanges between them. */
#include "solver/kinetic/nested_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "kernels/kinetic/nested_arguments.h"
#include "scene/scene.h"
#include "solver/flow/flow_frame.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/nested_fields.h"
#include "solver/kinetic/nested_levels.h"

/* --- Launches between two levels -------------------------------------------------------------------------
 */

/* Returns the number of tiles of a box whose layers are perpendicular to an axis. */
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

/* Adds a box in layers across z. Only every `every`th plane of the coarser grid counts; `first` is the
 * coarser grid's plane at which the nested box begins. */
static void add_layers(kf_nested_arguments *a, const int box[2][3], int first) {
    int low[3], high[3];
    memcpy(low, box[0], sizeof low);
    memcpy(high, box[1], sizeof high);
    while ((first + low[2]) % a->every != 0)
        low[2]++;
    high[2] = low[2] + (high[2] - low[2] + a->every - 1) / a->every;
    add_box(a, low, high, 2);
}

/* Adds the cells between an outer and an inner box as up to six boxes that do not overlap. */
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
    kf_nested_side side = {
        .grid = a->grid, .memory = a->memory, .scalars = a->scalars, .covered = a->covered};
    side.populations.source = side.populations.target = kinetic->grids[kinetic->swaps && odd];
    side.band.listed = a->band.listed;
    side.band.listed_count = a->band.listed_count;
    if (kinetic->edges[0] != NULL)
        side.edges =
            (kf_kinetic_edges){kf_buffer_address(kinetic->edges[0]), kf_buffer_address(kinetic->edges[1])};
    return side;
}

/* Returns the ratio of the second moments after a collision to the strain rate, at density 1. */
static double left_by_strain(const kf_scene *scene) {
    const double omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    return -(1.0 - omega) * 2.0 / (3.0 * omega);
}

/* Limits a box to the planes of the finer grid that belong to a part of a team. The first and the last part
 * also keep the cells beyond their planes. */
static void take_share(const kf_kinetic *part, const kf_nested_level *level, int box[2][3]) {
    const int begin = (part->first_plane - level->ghosts[4]) / 2,
              end = (part->first_plane + part->planes - level->ghosts[4]) / 2;
    for (int side = 0; side < 2; side++) {
        if (part->part > 0 && box[side][2] < begin) box[side][2] = begin;
        if (part->part + 1 < part->parts && box[side][2] > end) box[side][2] = end;
    }
}

/* Sets the cells that an exchange between level - 1 and level works on. `part` NULL means all parts. */
static void set_cells(kf_nested_arguments *a, const kf_nested_level *level, kf_crossing_kind what,
                      const kf_kinetic *part) {
    int outer[2][3], inner[2][3];
    for (int axis = 0; axis < 3; axis++) {
        const int low = level->ghosts[2 * axis] > 0, high = level->ghosts[2 * axis + 1] > 0;
        const bool out = what == KF_REFINE;
        outer[0][axis] = out ? -low : 0;
        outer[1][axis] = level->cells[axis] + (out ? high : 0);
        inner[0][axis] = out ? 0 : KF_NESTED_RIM * low;
        inner[1][axis] = level->cells[axis] - (out ? 0 : KF_NESTED_RIM * high);
    }
    if (part != NULL) {
        take_share(part, level, outer);
        take_share(part, level, inner);
    }
    a->every = what == KF_COARSEN_AVERAGED ? KF_AVERAGE_STRIDE : 1;
    if (what == KF_COARSEN_REST || what == KF_COARSEN_AVERAGED)
        add_layers(a, inner, level->first[2]);
    else
        add_shell(a, outer, inner);
    a->extent[0] = a->start[a->boxes] * (what == KF_REFINE ? KF_REFINE_THREADS : KF_COARSEN_THREADS);
    a->extent[1] = a->extent[2] = 1;
}

kf_status kf_nested_prepare(const kf_nested_plan *own, int level, kf_crossing_kind what, bool odd, int part,
                            kf_launch *launch, kf_error *error) {
    const bool whole = part == KF_ALL_OF_IT;
    const int block[3] = {what == KF_REFINE ? KF_REFINE_THREADS : KF_COARSEN_THREADS, 1, 1};
    const kf_nested_level *fine = &own->nested->level[level], *coarse = fine - 1;
    const char *name = what == KF_REFINE ? "refine" : "coarsen";
    const double left_coarse = left_by_strain(&coarse->scene), left_fine = left_by_strain(&fine->scene);
    kf_function *function;
    kf_nested_arguments a = {.coarse = side_of(kf_nested_kinetic(own, level - 1), odd),
                             .fine = side_of(kf_nested_kinetic(own, level), false)};
    KF_TRY(kf_module_function(own->modules[level][whole ? 0 : part], name, &function, error));
    a.scale = what == KF_REFINE ? 0.5 * left_fine / left_coarse : 2.0 * left_coarse / left_fine;
    for (int axis = 0; axis < 3; axis++) {
        a.first[axis] = fine->first[axis];
        a.ghosts[axis] = fine->ghosts[2 * axis];
        a.end[axis] = fine->scene.nodes[axis] - fine->ghosts[2 * axis + 1];
        a.periodic[axis] = fine->scene.faces[2 * axis] == KF_PERIODIC;
        a.around[axis] = coarse->scene.faces[2 * axis] == KF_PERIODIC;
    }
    set_cells(&a, fine, what, whole ? NULL : kf_nested_kinetic(own, level) + part);
    _Static_assert(sizeof a <= KF_ARGUMENT_BYTES, "a launch holds these arguments");
    kf_launch_set(launch, name, function, block, &a, sizeof a);
    return KF_OK;
}

/* --- Making ----------------------------------------------------------------------------------------------
 */

/* Moves the buffers and modules of a level's plan to the joint plan, which checks, hashes and frees them. */
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

/* Sets the source of the exchange kernels between two levels. They use state.cu's definitions of a grid's
 * memory for both levels. The kernels of a team are those of one device, because every part can access all
 * of this memory. */
static void define_crossing(const kf_scene *scene, const kf_kinetic_options *options,
                            const kf_kinetic_options *coarse, const kf_kinetic_geometry *geometry,
                            kf_source *source, kf_defines *defines) {
    kf_kinetic_options alone = *options;
    alone.parts = alone.parts_y = 1;
    kf_kinetic_define(scene, &alone, geometry, KF_SOURCE_STATE, source, defines);
    const long edges = kf_kinetic_edge_sides(scene, options);
    if (edges != 0) kf_define_to(defines, "KF_EDGES", edges);
    if (coarse->plan == KF_PLAN_MOMENTS && options->plan != KF_PLAN_MOMENTS) {
        kf_define_to(defines, "KF_COARSE_MOMENTS", 1);
        if (options->storage == KF_F16) kf_define_to(defines, "KF_PACKED", 1);
    }
    source->define_count = defines->count;
    source->file = "kernels/kinetic/nested.cu";
}

/* Loads the kernels that exchange values between a level and the next coarser one, and prepares the launches
 * that average fine cells outside of steps. */
static kf_status load_crossing(kf_plan *plan, int level, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
    const kf_kinetic *fine = kf_nested_kinetic(own, level), *coarse = kf_nested_kinetic(own, level - 1);
    kf_kinetic_geometry geometry = fine->geometry;
    kf_source source;
    kf_defines defines;
    geometry.domain_index64 = fine->geometry.domain_index64 || coarse->geometry.domain_index64;
    define_crossing(&own->nested->level[level].scene, &fine->options, &coarse->options, &geometry, &source,
                    &defines);
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        KF_TRY(kf_plan_module(plan, &source, &own->modules[level][part], error));
    }
    kf_plan_on(plan, 0);
    for (int odd = 0; odd < 2; odd++)
        KF_TRY(kf_nested_prepare(own, level, KF_COARSEN_REST, odd == 1, KF_ALL_OF_IT,
                                 &own->covered[level][odd], error));
    if (level > 1) return KF_OK;
    return kf_nested_prepare(own, level, KF_COARSEN_AVERAGED, false, KF_ALL_OF_IT, &own->averaged, error);
}

/* Returns the node updates in a step of the coarsest level. Each place counts on its finest level only. */
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
    if (options->parts > 1 && options->transfer != KF_DIRECT)
        return kf_fail(error, KF_BAD_INPUT,
                       "nested grids need grids that all devices can access: set transfer=direct");
    return KF_OK;
}

/* Makes the plan of each level, then the exchange between levels, then the order of all in a step of the
 * coarsest grid. */
static kf_status build(kf_plan *plan, const kf_config *config, kf_backend *backend, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
    for (int l = 0; l < own->nested->count; l++) {
        own->problems[l] = kf_flow_problem(&kf_system_kinetic, &own->nested->level[l].scene, false);
        KF_TRY(kf_kinetic_make_plan(own->problems[l], config, backend, &own->plans[l], error));
        KF_TRY(check_options(&kf_nested_kinetic(own, l)->options, error));
        adopt(plan, own->plans[l]);
        plan->least_bytes += own->plans[l]->least_bytes * (1 << l);
    }
    plan->updates = updates_of(own->nested);
    for (int l = 1; l < own->nested->count; l++)
        KF_TRY(load_crossing(plan, l, error));
    const kf_plan *finest = own->plans[own->nested->count - 1];
    const uint64_t finer = UINT64_C(1) << (own->nested->count - 1);
    plan->windows = finest->windows;
    plan->window_steps = (finest->window_steps + finer - 1) / finer;
    return (plan->part_count > 1 ? kf_nested_append_team_steps : kf_nested_append_steps)(plan, error);
}

/* --- Methods ---------------------------------------------------------------------------------------------
 */

kf_plan *kf_nested_level_plan(const kf_plan *plan, int level) {
    return kf_nested_of(plan)->plans[level];
}

/* Sets the number of steps that the levels' plans have done. */
static void count_steps(kf_plan *plan) {
    kf_nested_plan *own = kf_nested_of(plan);
    for (int l = 0; l < own->nested->count; l++)
        own->plans[l]->steps_done = plan->steps_done << l;
}

static kf_status initialise(kf_plan *plan, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
    for (int l = 0; l < own->nested->count; l++)
        KF_TRY(kf_plan_initialise(own->plans[l], error));
    return KF_OK;
}

bool kf_nested_has_items(const kf_launch *launch) {
    int items;
    memcpy(&items, launch->arguments, sizeof items);
    return items > 0;
}

/* Restricts each level to all cells that it covers on the next coarser level, from the finest level on.
 * Inside a solid by links, where a step leaves what has no meaning, the fluid is at rest before that. The
 * flow does not depend on this: it reads only the rim of these cells, which is up to date and stays as it
 * is. */
kf_status kf_nested_settle(kf_plan *plan, kf_error *error) {
    const kf_nested_plan *own = kf_nested_of(plan);
    count_steps(plan);
    KF_TRY(kf_kinetic_rest_inside(own->plans[own->nested->count - 1], error));
    for (int l = own->nested->count - 1; l > 0; l--) {
        const bool odd = l == 1 && plan->steps_done % 2 == 1;
        const kf_launch *covered = &own->covered[l][odd];
        if (!kf_nested_has_items(covered)) continue;
        KF_TRY(kf_backend_synchronize(plan->backend, error)); /* the other parts of a team */
        KF_TRY(kf_backend_launch(plan->parts[0], covered, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

kf_status kf_nested_read(kf_plan *plan, double **values, kf_error *error) {
    KF_TRY(kf_nested_settle(plan, error));
    return kf_kinetic_read(kf_nested_of(plan)->plans[0], values, error);
}

static kf_status read_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    const kf_nested_plan *own = kf_nested_of(plan);
    KF_TRY(kf_nested_settle(plan, error));
    return kf_nested_join_fields(own->nested, own->plans, kf_scene_output_level(kf_plan_scene(plan)), fields,
                                 error);
}

static kf_status read_level(kf_plan *plan, int level, kf_fields *fields, int first[3], kf_error *error) {
    const kf_nested_plan *own = kf_nested_of(plan);
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
    return kf_kinetic_device_velocity(kf_nested_of(plan)->plans[0], buffer, error);
}

/* Converts a load from the finest level's units to the coarsest's: a force is density length^4 / time^2. */
static void coarsen_load(kf_solid_load *load, int finest) {
    for (int i = 0; i < 3; i++) {
        load->force[i] = ldexp(load->force[i], -2 * finest);
        load->torque[i] = ldexp(load->torque[i], -3 * finest);
    }
}

/* Returns the finest level's plan, the only one with the solid. */
static kf_plan *finest_of(kf_plan *plan) {
    count_steps(plan);
    return kf_nested_of(plan)->plans[kf_nested_of(plan)->nested->count - 1];
}

static kf_status load(kf_plan *plan, kf_solid_load *total, kf_error *error) {
    kf_plan *finest = finest_of(plan);
    KF_TRY(finest->methods->flow->load(finest, total, error));
    coarsen_load(total, kf_nested_of(plan)->nested->count - 1);
    return KF_OK;
}

/* Reads what a law of the wall finds on the finest level, in the coarsest level's units. Speeds in cells a
 * step are those of all levels. */
static kf_status wall(kf_plan *plan, kf_wall_look *look, double *friction_velocity, kf_error *error) {
    const int finer = kf_nested_of(plan)->nested->count - 1;
    kf_flow_frame frame;
    kf_flow_frame_of(kf_plan_scene(plan), &frame);
    KF_TRY(kf_kinetic_look_along(finest_of(plan), frame.drag, look, friction_velocity, error));
    for (int i = 0; i < 3; i++)
        look->friction[i] = ldexp(look->friction[i], -2 * finer);
    for (int i = 0; i < 2; i++)
        look->pressure[i] = ldexp(look->pressure[i], -2 * finer);
    return KF_OK;
}

static kf_status loads(kf_plan *plan, kf_solid_load *of_solids, kf_error *error) {
    kf_plan *finest = finest_of(plan);
    KF_TRY(finest->methods->flow->loads(finest, of_solids, error));
    for (int s = 0; s < kf_plan_scene(plan)->solid_count; s++)
        coarsen_load(&of_solids[s], kf_nested_of(plan)->nested->count - 1);
    return KF_OK;
}

/* Finds the finest level's position of the solid, in cells and steps of the coarsest level. */
static kf_status pose(kf_plan *plan, kf_solid_pose *found, kf_error *error) {
    kf_plan *finest = finest_of(plan);
    const int finer = kf_nested_of(plan)->nested->count - 1;
    KF_TRY(finest->methods->flow->pose(finest, found, error));
    for (int a = 0; a < 3; a++) {
        found->center[a] = ldexp(found->center[a] + kf_plan_scene(finest)->origin[a] + 0.5, -finer) - 0.5;
        found->angular_velocity[a] = ldexp(found->angular_velocity[a], finer);
    }
    return KF_OK;
}

static kf_status seek(kf_plan *plan, int window, double shift, kf_error *error) {
    kf_plan *finest = finest_of(plan);
    return finest->methods->seek(finest, window, shift, error);
}

static kf_status watch(kf_plan *plan, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
    KF_TRY(kf_nested_settle(plan, error));
    for (int l = 0; l < own->nested->count; l++)
        KF_TRY(kf_plan_watch(own->plans[l], error));
    return KF_OK;
}

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
    *bytes = 0;
    for (int l = 0; l < own->nested->count; l++) {
        size_t of_level;
        KF_TRY(kf_kinetic_state_size(own->plans[l], &of_level, error));
        *bytes += of_level;
    }
    return KF_OK;
}

/* Saves all levels. Covered cells are restricted first, so a checkpoint does not depend on whether fields
 * were read. */
static kf_status save(kf_plan *plan, void *state, kf_error *error) {
    kf_nested_plan *own = kf_nested_of(plan);
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
    kf_nested_plan *own = kf_nested_of(plan);
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
    kf_nested_plan *own = kf_nested_of(plan);
    for (int l = 0; l < KF_MOST_LEVELS; l++) {
        kf_plan_free(own->plans[l]);
        kf_problem_free(own->problems[l]);
    }
    kf_nested_free(own->nested);
    free(own);
}

static const kf_flow_methods flow = {.fields = read_fields,
                                     .level = read_level,
                                     .velocity = velocity,
                                     .load = load,
                                     .loads = loads,
                                     .wall = wall,
                                     .pose = pose};

static const kf_plan_methods methods = {.initialise = initialise,
                                        .snapshot = kf_flow_snapshot,
                                        .record = kf_flow_record,
                                        .meaning = kf_flow_meaning,
                                        .watch = watch,
                                        .time = kf_flow_time,
                                        .seek = seek,
                                        .flow = &flow,
                                        .state_size = state_size,
                                        .save = save,
                                        .restore = restore,
                                        .free = free_system};

/* --- The system ------------------------------------------------------------------------------------------
 */

/* Refuses a level whose shear relaxation rate is near 1: its collisions leave no second moments that
 * represent strain. */
static kf_status check_rate(const kf_scene *scene, int level, kf_error *error) {
    const double omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    if (fabs(1.0 - omega) > 0.05) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: on level %d the viscosity is %.3g cell^2/step, near 1/6, where no strain is left "
                   "after a collision for the next level: use a finer grid, or a lower speed",
                   scene->source, level, scene->viscosity);
}

/* Refuses boxes that are not possible, and relaxation rates with which levels cannot exchange strain. */
kf_status kf_nested_accepts(const kf_scene *scene, kf_error *error) {
    kf_nested *nested;
    if (scene->linked && kf_kinetic_is_adaptive(scene, 27))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.rates: those of adaptive_2020 divide by averages over all of nested grids, "
                       "which a solid by \"links\" would spoil with the nodes inside; use the rates k17",
                       scene->source);
    KF_TRY(kf_nested_make(scene, &nested, error));
    kf_status status = KF_OK;
    for (int l = 0; l < nested->count && status == KF_OK; l++)
        status = check_rate(&nested->level[l].scene, l, error);
    kf_nested_free(nested);
    return status;
}

/* Refuses what of nested grids one process, or one device, can do only. */
kf_status kf_nested_accepts_team(const kf_scene *scene, kf_error *error) {
    if (kf_world_size() > 1)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: nested grids run in one process, whose devices reach each other's memory, not in %d; "
            "start one, with --devices",
            scene->source, kf_world_size());
    if (scene->linked)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.boundary: in nested grids a solid by \"links\" runs on one device; name one, or "
            "use \"immersed\"",
            scene->source);
    if (kf_kinetic_is_adaptive(scene, 27))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.rates: those of adaptive_2020 divide by averages over all of nested grids, "
                       "which one device takes; name one, or the rates k17",
                       scene->source);
    return KF_OK;
}

kf_status kf_nested_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                              kf_plan **plan, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    KF_TRY(kf_nested_accepts(scene, error));
    kf_nested_plan *own = kf_allocate_zeroed(1, sizeof *own);
    kf_plan *made = kf_plan_create(backend, problem, config, &methods, own);
    kf_status status = kf_nested_make(scene, &own->nested, error);
    if (status == KF_OK) status = build(made, config, backend, error);
    return kf_plan_built(made, status, plan);
}

/* Visits the sources of a level's kernels, and of the exchange kernels to this level. */
static kf_status visit_level(const kf_nested_level *level, bool coarsest, const kf_config *config,
                             const kf_device_info *device,
                             kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                             void *data, kf_error *error) {
    kf_kinetic_options options, coarse;
    kf_kinetic_geometry geometry;
    kf_source source;
    kf_defines defines;
    KF_TRY(kf_kinetic_visit_sources(&level->scene, config, device, visit, data, error));
    if (coarsest) return KF_OK;
    KF_TRY(kf_kinetic_read_options(&level->scene, config, device, &options, error));
    KF_TRY(kf_kinetic_read_options(&level[-1].scene, config, device, &coarse, error));
    kf_kinetic_lay_out(&level->scene, &options, &geometry);
    define_crossing(&level->scene, &options, &coarse, &geometry, &source, &defines);
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
