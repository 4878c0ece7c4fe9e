#include "solver/kinetic/kinetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/nccl.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/kinetic/kinetic_samples.h"
#include "solver/kinetic/nested.h"
#include "solver/kinetic/nested_plan.h"

/* Refuses scenes that no config of this system can compute, with what to do instead. */
static kf_status accepts(const kf_problem *problem, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    if (scene->mask != NULL || scene->parabolic_inflow)
        return kf_fail(error, KF_BAD_INPUT,
                       "the scene is two-dimensional (its mask or inflow profile); use --system d2q9");
    KF_TRY(kf_kinetic_check_collision(scene, error));
    if (scene->linked && scene->immersed_passes > 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.immersed_passes: only the boundary \"immersed\" has several passes, not "
                       "\"links\"; remove the key",
                       scene->source);
    if (scene->finer_count > 0) KF_TRY(kf_nested_accepts(scene, error));
    KF_TRY(kf_kinetic_check_k17(kf_scene_finest(scene), error));
    KF_TRY(kf_kinetic_check_solids(scene, error));
    const kf_scene *finest = kf_scene_finest(scene);
    return finest->samples.count > 0 ? kf_kinetic_check_solid(finest, error) : KF_OK;
}

static kf_status accepts_device(const kf_problem *problem, const kf_device_info *device, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    const int parts = device->parts > 1 ? device->parts : 1, *n = scene->nodes;
    if (scene->solid_count > 0 && parts > 1)
        return kf_fail(error, KF_BAD_INPUT, "%s: several \"solids\" run on one device, not on %d; name one",
                       scene->source, parts);
    if (scene->links.leaves && parts > 1)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.motion: by \"links\" a surface that leaves its place runs on one device, not on "
            "%d; name one, or use \"immersed\"",
            scene->source, parts);
    if (scene->layers && parts > 1)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.layers: \"modelled\" runs on one device, not on %d; name one, or use \"resolved\"",
            scene->source, parts);
    if (scene->finer_count > 0 && parts > 1) KF_TRY(kf_nested_accepts_team(scene, error));
    return kf_kinetic_check_size(scene, parts, (double)n[0] * n[1] * ceil((double)n[2] / parts), error);
}

/* Finds the nodes along each axis of the finest grid, which has most of a step's work. */
static void find_finest_nodes(const kf_scene *scene, int along[3]) {
    const kf_cell_box *box = scene->finer_count > 0 ? &scene->boxes[scene->finer_count - 1] : NULL;
    for (int a = 0; a < 3; a++)
        along[a] = box != NULL ? 2 * (box->high[a] - box->low[a]) : scene->nodes[a];
}

/* Names the numbers of scene and device that expressions of variants/kinetic.json may use. */
static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const kf_scene *scene = kf_problem_scene(problem), *finest = kf_scene_finest(scene);
    int along[3];
    memset(variables, 0, sizeof *variables);
    find_finest_nodes(scene, along);
    kf_add_variable(variables, "gpu", kf_device_is_gpu(device));
    kf_add_variable(variables, "node_count", kf_scene_all_nodes(scene));
    kf_add_variable(variables, "nodes_x", along[0]);
    kf_add_variable(variables, "nodes_y", along[1]);
    kf_add_variable(variables, "nodes_z", along[2]);
    kf_add_variable(variables, "sample_count", (double)finest->samples.count);
    kf_add_variable(variables, "solid", finest->samples.count > 0);
    kf_add_variable(variables, "solids",
                    scene->solid_count > 0 ? scene->solid_count : finest->samples.count > 0);
    kf_add_variable(variables, "links", finest->links.count > 0);
    kf_add_variable(variables, "hollow", kf_kinetic_may_be_hollow(finest));
    kf_add_variable(variables, "moving", scene->motion.moving && finest->samples.count > 0);
    kf_add_variable(variables, "accuracy", scene->accuracy);
    kf_add_variable(variables, "splits", kf_kinetic_splits(scene));
    kf_add_variable(variables, "central_moments", kf_kinetic_has_central_moments(scene));
    kf_add_variable(variables, "one_high_order_rate", kf_kinetic_has_one_high_order_rate(scene));
    kf_add_variable(variables, "nineteen_velocities", kf_kinetic_has_19_velocities(scene));
    kf_add_variable(variables, "regularised", kf_kinetic_is_regularised(scene));
    kf_add_variable(variables, "nested", scene->finer_count > 0);
    kf_add_variable(variables, "outer_ones", scene->outer_ones);
    kf_add_variable(variables, "adaptive", kf_kinetic_is_adaptive(scene, 27));
    kf_add_variable(variables, "shortest_edge",
                    finest->samples.count > 0 ? kf_scene_shortest_edge(finest) : 1);
    kf_add_device_variables(variables, device);
    kf_add_variable(variables, "parts", device->parts > 1 ? device->parts : 1);
    kf_add_variable(variables, "nccl",
                    device->parts > 1 && kf_nccl_available(device->backend, NULL) == KF_OK);
}

kf_status kf_kinetic_visit_sources(const kf_scene *scene, const kf_config *config,
                                   const kf_device_info *device,
                                   kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                   void *data, kf_error *error) {
    kf_kinetic_options options;
    kf_kinetic_geometry geometry;
    KF_TRY(kf_kinetic_read_options(scene, config, device, &options, error));
    kf_kinetic_lay_out(scene, &options, &geometry);
    for (int which = 0; which < KF_SOURCES; which++) {
        if (!kf_kinetic_uses(scene, &options, (kf_kinetic_source)which)) continue;
        kf_source source;
        kf_defines defines;
        kf_kinetic_define(scene, &options, &geometry, (kf_kinetic_source)which, &source, &defines);
        KF_TRY(visit(&source, data, error));
    }
    return KF_OK;
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    return scene->finer_count > 0 ? kf_nested_visit_sources(problem, config, device, visit, data, error)
                                  : kf_kinetic_visit_sources(scene, config, device, visit, data, error);
}

static kf_status load_modules(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    for (int which = 0; which < KF_SOURCES; which++) {
        if (!kf_kinetic_uses(kf_plan_scene(plan), &kinetic->options, (kf_kinetic_source)which)) continue;
        kf_source source;
        kf_defines defines;
        kf_kinetic_define(kf_plan_scene(plan), &kinetic->options, &kinetic->geometry,
                          (kf_kinetic_source)which, &source, &defines);
        KF_TRY(kf_plan_module(plan, &source, &kinetic->modules[which], error));
    }
    return KF_OK;
}

static void set_scalars(const kf_scene *scene, kf_kinetic_arguments *a) {
    a->scalars.double_precision.shear_rate = 1.0 / (3.0 * scene->viscosity + 0.5);
    a->scalars.double_precision.high_order_rate = scene->high_order_rate;
    a->scalars.double_precision.body_force_x = scene->body_force[0];
    a->scalars.double_precision.body_force_y = scene->body_force[1];
    a->scalars.double_precision.body_force_z = scene->body_force[2];
#define COPY_SINGLE(name) a->scalars.single_precision.name = (float)a->scalars.double_precision.name;
    KF_KINETIC_SCALARS(COPY_SINGLE)
#undef COPY_SINGLE
    memcpy(a->faces.velocity, scene->face_velocity, sizeof a->faces.velocity);
    for (int face = 0; face < KF_FACES; face++)
        for (int i = 0; i < 3; i++)
            a->faces.velocity_single[face][i] = (float)scene->face_velocity[face][i];
    memcpy(a->faces.specular_share, scene->specular_share, sizeof a->faces.specular_share);
}

/* Makes the memory for what waits outside of a part in reach: its own, which its neighbours write to. */
static kf_status keep_outflow(kf_plan *plan, int near, size_t bytes, bool twice, kf_buffer *outflow[2],
                              kf_error *error) {
    size_t ends[KF_MOST_PARTS];
    for (int part = 0; part < plan->near_parts; part++)
        ends[part] = part < near ? 0 : bytes;
    KF_TRY(kf_plan_spread(plan, bytes, bytes, ends, &outflow[0], error));
    outflow[1] = outflow[0];
    return twice ? kf_plan_spread(plan, bytes, bytes, ends, &outflow[1], error) : KF_OK;
}

/* Returns what the part on that side keeps outside of outflows, which perhaps another process has. */
static void *outflow_beside(const kf_plan *plan, int part, int side, int parity) {
    const kf_kinetic *kinetics = plan->system;
    const int near = plan->near_parts,
              other = (part + plan->first_part - plan->near_first + (side == 0 ? near - 1 : 1)) % near +
                      plan->near_first - plan->first_part;
    if (kinetics->options.parts_y > 1 ||
        kf_kinetic_neighbour_reach(plan, part, side) != KF_NEIGHBOUR_IN_REACH)
        return NULL;
    return kf_buffer_address(other >= 0 && other < plan->part_count ? kinetics[other].outflow[parity]
                                                                    : kinetics->outflow_beside[side][parity]);
}

void kf_kinetic_choose_outflow(const kf_plan *plan, int part, int parity) {
    kf_kinetic *kinetic = (kf_kinetic *)plan->system + part;
    kf_kinetic_arguments *a = &kinetic->arguments;
    const int next = 1 - parity;
    if (kinetic->outflow[0] == NULL) return;
    a->outflow.waiting = kf_buffer_address(kinetic->outflow[parity]);
    a->outflow.next = kf_buffer_address(kinetic->outflow[next]);
    a->outflow.below = outflow_beside(plan, part, 0, next);
    a->outflow.above = outflow_beside(plan, part, 1, next);
}

/* Makes the memory for what waits outside of outflow faces: nine values for each of their nodes. */
static kf_status make_outflow(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    for (int part = 0; part < plan->part_count; part++) {
        kf_kinetic_arguments *a = &kinetics[part].arguments;
        long long count = 0;
        for (int face = 0; face < KF_FACES; face++) {
            if (scene->faces[face] != KF_OUTFLOW) continue;
            const double speed = kf_scene_outflow_speed(scene, (kf_face)face);
            a->outflow.start[face] = count;
            a->outflow.take[face] = speed / (1.0 + speed);
            a->outflow.pull[face] = kf_scene_outflow_pull(scene, (kf_face)face);
            count += 9LL * scene->nodes[(face / 2 + 1) % 3] * scene->nodes[(face / 2 + 2) % 3];
        }
        if (count == 0) return KF_OK;
        kinetics[part].outflow_bytes = (size_t)count * kinetics->real_bytes;
    }
    const int offset = plan->first_part - plan->near_first, near = plan->near_parts;
    const bool twice = kinetics->options.boundary_kernels == 0 || kinetics->options.transfer != KF_DIRECT;
    for (int n = 0; n < near; n++) {
        kf_buffer *kept[2];
        KF_TRY(keep_outflow(plan, n, kinetics->outflow_bytes, twice, kept, error));
        const int part = n - offset;
        if (part >= 0 && part < plan->part_count) memcpy(kinetics[part].outflow, kept, sizeof kept);
        if (n == (offset + near - 1) % near) memcpy(kinetics->outflow_beside[0], kept, sizeof kept);
        if (n == (offset + plan->part_count) % near) memcpy(kinetics->outflow_beside[1], kept, sizeof kept);
    }
    for (int part = 0; part < plan->part_count; part++)
        kf_kinetic_choose_outflow(plan, part, 0);
    const bool across_x = scene->faces[KF_XMIN] == KF_OUTFLOW || scene->faces[KF_XMAX] == KF_OUTFLOW;
    if (kinetics->options.plan != KF_PLAN_MOMENTS || plan->all_parts > 1 || !across_x) return KF_OK;
    const size_t face = (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    return kf_plan_buffer(plan, 2 * (size_t)kinetics->node_values * face * kinetics->store_bytes,
                          &kinetics->edge, error);
}

/* Which bytes of so many values a node each part in reach keeps: its planes, the outermost the ghosts beside
 * them too. Of slabs, without cuts across y. */
static void share_out(const kf_plan *plan, const kf_kinetic *kinetics, size_t node_values, size_t value_bytes,
                      size_t *period, size_t ends[]) {
    const kf_kinetic_geometry *g = &kinetics->geometry;
    const size_t node_bytes = value_bytes * (kinetics->options.layout == KF_SOA ? 1 : node_values);
    /* The start of the domain's first plane. */
    const long long origin = kf_kinetic_origin(g);
    int first[KF_MOST_PARTS + 1];
    *period = (size_t)g->capacity * node_bytes;
    if (kinetics->options.parts_y > 1) return;
    kf_kinetic_cut(kf_plan_scene(plan), kinetics->options.sample_cost, 2, plan->all_parts, first);
    for (int part = 0; part < plan->near_parts; part++) {
        const size_t planes = (size_t)first[plan->near_first + part + 1] + 1;
        ends[part] = part == plan->near_parts - 1
                         ? *period
                         : ((size_t)origin + planes * (size_t)g->plane_pitch) * node_bytes;
    }
}

/* Widens a range of bytes of a grid to whole groups of the layout. In csoa a group of alpha nodes holds the
 * values of its nodes. It begins before a plane and ends after it. */
static void widen_to_groups(const kf_kinetic_options *options, size_t node_bytes, size_t period,
                            size_t kept[2]) {
    const size_t group = node_bytes * (size_t)(options->layout == KF_CSOA ? options->alpha : 1);
    kept[0] = kept[0] / group * group;
    kept[1] = (kept[1] + group - 1) / group * group;
    if (kept[1] > period) kept[1] = period;
}

/* Grids of one part alone, which keeps its planes and those that it reads beside them, each with the next,
 * whose ghosts may lie there, and those that a grid moves to. */
static kf_status make_partial(kf_plan *plan, const kf_kinetic *kinetics, int part, size_t bytes,
                              size_t period, kf_buffer **buffer, kf_error *error) {
    const kf_kinetic_geometry *g = &kinetics->geometry;
    const size_t node = period / (size_t)g->capacity, plane = node * (size_t)g->plane_pitch,
                 origin = node * (size_t)kf_kinetic_origin(g);
    int range[KF_PLANE_RANGES][2];
    size_t kept[KF_PLANE_RANGES][2];
    const int ranges = kf_kinetic_kept_planes(plan, part, range);
    for (int r = 0; r < ranges; r++) {
        /* The ghost before the first row of a plane is one node before the plane. */
        kept[r][0] = range[r][0] == 0 ? 0 : origin + plane * (size_t)range[r][0] - node;
        kept[r][1] =
            range[r][1] == g->nodes[2] ? period : origin + plane * (size_t)(range[r][1] + 2 + g->shift);
        widen_to_groups(&kinetics->options, node, period, kept[r]);
    }
    kf_plan_on(plan, part);
    return kf_plan_partial(plan, bytes, period, kept, ranges, buffer, error);
}

/* Returns whether each part has its own grids, with copies of the neighbouring planes. */
static bool has_own_grids(const kf_plan *plan, const kf_kinetic *kinetics) {
    return plan->all_parts > 1 && (kinetics->options.transfer != KF_DIRECT || plan->near_parts == 1);
}

/* An array of so many values a node for every part: over the memories of all in reach, or where they copy
 * planes, or none is in reach, of each alone. */
static kf_status make_array(kf_plan *plan, const kf_kinetic *kinetics, size_t values, size_t value_bytes,
                            kf_buffer *made[KF_MOST_PARTS], kf_error *error) {
    const size_t bytes = values * (size_t)kinetics->geometry.capacity * value_bytes;
    size_t period, ends[KF_MOST_PARTS];
    share_out(plan, kinetics, values, value_bytes, &period, ends);
    for (int part = 0; part < plan->part_count; part++)
        if (has_own_grids(plan, kinetics))
            KF_TRY(make_partial(plan, kinetics, part, bytes, period, &made[part], error));
        else if (part == 0)
            KF_TRY(kf_plan_spread(plan, bytes, period, ends, &made[0], error));
        else
            made[part] = made[0];
    return KF_OK;
}

/* Gives the place where the values of a part's first node lie in an array. */
static char *part_of(const kf_kinetic *kinetic, const kf_buffer *array, size_t values, size_t value_bytes) {
    const size_t together = kinetic->options.layout == KF_SOA ? 1 : values;
    return (char *)kf_buffer_address(array) + (size_t)kinetic->geometry.before * together * value_bytes;
}

/* Makes the grids, and finds where each part's nodes begin in them. */
static kf_status make_grids(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const kf_kinetic_geometry *g = &kinetics->geometry;
    const size_t values = (size_t)kinetics->node_values, bytes = kinetics->store_bytes;
    for (int grid = 0; grid < (g->shift > 0 ? 1 : 2); grid++) {
        kf_buffer *made[KF_MOST_PARTS];
        KF_TRY(make_array(plan, kinetics, values, bytes, made, error));
        for (int part = 0; part < plan->part_count; part++) {
            kinetics[part].populations[grid] = made[part];
            kinetics[part].grids[grid] = part_of(&kinetics[part], made[part], values, bytes);
        }
    }
    for (int part = 0; part < plan->part_count && g->shift > 0;
         /* Even steps begin at the far end. */
         part++) {
        const size_t together = kinetics->options.layout == KF_SOA ? 1 : values;
        kinetics[part].grids[1] = kinetics[part].grids[0];
        kinetics[part].grids[0] += (size_t)g->shift * (size_t)g->plane_pitch * together * bytes;
    }
    return KF_OK;
}

/* Declares which grid a step writes. It reads the other one. Where the grids swap, an even step writes the
 * second. */
static void declare_fresh(kf_plan *plan, const kf_kinetic *kinetics) {
    const bool swaps = kinetics->swaps;
    for (int part = 0; part < (has_own_grids(plan, kinetics) ? plan->part_count : 1); part++) {
        if (kinetics[part].populations[1] == NULL) continue;
        kf_plan_fresh(plan, kinetics[part].populations[1], swaps ? 2 : 1, 0);
        if (swaps) kf_plan_fresh(plan, kinetics[part].populations[0], 2, 1);
    }
}

/* Makes density, velocity and force at the nodes, divided like the grids. Plans of one pass have only
 * populations. */
static kf_status make_fields(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const size_t bytes = kinetics->real_bytes;
    kf_buffer *density[KF_MOST_PARTS], *velocity[KF_MOST_PARTS], *force[KF_MOST_PARTS];
    if (kinetics->band) return KF_OK;
    KF_TRY(make_array(plan, kinetics, 1, bytes, density, error));
    KF_TRY(make_array(plan, kinetics, 3, bytes, velocity, error));
    KF_TRY(make_array(plan, kinetics, 3, bytes, force, error));
    for (int part = 0; part < plan->part_count; part++) {
        kf_kinetic *kinetic = &kinetics[part];
        kinetic->force = force[part];
        kinetic->arguments.fields.density = part_of(kinetic, density[part], 1, bytes);
        kinetic->arguments.fields.velocity = part_of(kinetic, velocity[part], 3, bytes);
        kinetic->arguments.fields.force = part_of(kinetic, force[part], 3, bytes);
    }
    return KF_OK;
}

static kf_status make_averages(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    if (!kinetic->adaptive) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, 3 * kinetic->real_bytes, &kinetic->averages, error));
    KF_TRY(kf_kinetic_make_sums(plan, kinetic, KF_SUM_AVERAGES, error));
    kinetic->arguments.fields.averages = kf_buffer_address(kinetic->averages);
    kinetic->arguments.fields.average_sums = kf_buffer_address(kinetic->sums[KF_SUM_AVERAGES].own);
    return KF_OK;
}

/* Makes the buffer for exchange of fields and checkpoints with the host. Data go in slabs of at most 64 MiB;
 * one plane of populations must fit. */
static kf_status make_slab(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    size_t plane = (size_t)n[0] * (size_t)n[1] * kinetic->real_bytes;
    size_t planes = ((size_t)64 << 20) / (4 * plane);
    if (planes < 7) planes = 7;
    kinetic->slab_planes = planes < (size_t)n[2] + 7 ? (int)planes : n[2] + 7;
    return kf_plan_buffer(plan, 4 * plane * (size_t)kinetic->slab_planes, &kinetic->slab, error);
}

/* The number of places around a turn whose mean is a sample. */
enum { TURN_WINDOWS = 5 };

/* Sets what is known of a part before its memory is made. */
static void begin_part(kf_plan *plan, kf_kinetic *kinetic, const kf_kinetic_box *box, int part) {
    const kf_scene *scene = kf_plan_scene(plan);
    kf_kinetic_arguments *a = &kinetic->arguments;
    static const size_t store_bytes[] = {[KF_F16] = 2, [KF_F32] = sizeof(float), [KF_F64] = sizeof(double)};
    kinetic->part = part;
    kinetic->parts = plan->part_count;
    kinetic->first_row = box->first[0];
    kinetic->rows = box->count[0];
    kinetic->row_ring = kinetic->options.parts_y > 1 && scene->faces[KF_YMIN] == KF_PERIODIC;
    kinetic->first_plane = box->first[1];
    kinetic->planes = box->count[1];
    const bool moments = kinetic->options.plan == KF_PLAN_MOMENTS,
               packed = moments && kinetic->options.storage == KF_F16; /* packed.h */
    kinetic->store_bytes = store_bytes[packed ? KF_F32 : kinetic->options.storage];
    kinetic->real_bytes = kinetic->options.storage == KF_F64 ? sizeof(double) : sizeof(float);
    kinetic->has_solid = kinetic->has_samples = scene->samples.count > 0;
    kinetic->linked = scene->links.count > 0;
    kinetic->leaves = scene->links.leaves;
    kinetic->moving = kinetic->has_solid && scene->motion.moving;
    kinetic->free = kinetic->moving && scene->motion.free;
    kinetic->passes = scene->immersed_passes > 1 ? scene->immersed_passes : 1;
    kinetic->halo_width = kf_kinetic_halo_width(scene);
    for (int axis = 1; axis <= 2; axis++)
        kinetic->bounced[axis - 1] = kf_kinetic_is_bounced(scene, axis);
    kinetic->wraps = kf_kinetic_wraps(scene);
    kinetic->computes_halo = moments && kinetic->has_solid && has_own_grids(plan, kinetic);
    const double *force = scene->body_force;
    const bool forced = force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0;
    kinetic->node_values = packed    ? 6 + forced
                           : moments ? 9 + forced /* moments.h */
                                     : (int)kinetic->options.velocities;
    kinetic->band = kf_kinetic_has_band(&kinetic->options);
    const bool aggregated = kinetic->has_solid && kinetic->options.immersed_boundary == KF_AGGREGATED;
    kinetic->segments = aggregated && !kinetic->moving;
    kinetic->patches = aggregated && kinetic->moving && kinetic->options.patch_length > 0;
    kinetic->cells = aggregated && kinetic->moving && !kinetic->patches;
    kinetic->adaptive = kf_kinetic_is_adaptive(scene, kinetic->options.velocities);
    kf_kinetic_lay_out(scene, &kinetic->options, &kinetic->geometry);
    kf_kinetic_lay_out_part(scene, &kinetic->options, kinetic->first_plane, kinetic->first_row,
                            &kinetic->geometry);
    kinetic->corners = kinetic->geometry;
    if (kinetic->moving && kinetic->options.parts_y > 1) {
        kf_kinetic_options alone = kinetic->options;
        alone.parts = alone.parts_y = 1;
        kf_kinetic_lay_out(scene, &alone, &kinetic->corners);
    }
    memcpy(a->grid.nodes, scene->nodes, sizeof a->grid.nodes);
    a->grid.row_pitch = kinetic->geometry.row_pitch;
    a->memory.plane_pitch = kinetic->geometry.plane_pitch;
    a->memory.origin = kinetic->geometry.origin;
    a->memory.capacity = kinetic->geometry.capacity;
    a->part.first_plane = kinetic->first_plane;
    a->part.planes = kinetic->planes;
    a->part.first_row = kinetic->first_row;
    a->part.rows = kinetic->rows;
    a->part.rows_before = kinetic->geometry.rows_before;
    /* Whole-domain forces of parts that reach each other's are each the node's own part's. */
    const bool shares_forces = !kinetic->band && !has_own_grids(plan, kinetic);
    a->part.reach = shares_forces ? 0 : kinetic->passes - 1 + kinetic->computes_halo;
    a->part.parts = kf_kinetic_sum_places(plan);
    memcpy(a->covered.low, scene->covered.low, sizeof a->covered.low);
    memcpy(a->covered.high, scene->covered.high, sizeof a->covered.high);
    set_scalars(scene, a);
}

/* Makes all parts' memory, then compiles: a scene that does not fit into memory is refused before anything
 * is compiled. */
static kf_status build(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    kf_kinetic_box boxes[KF_MOST_PARTS];
    kf_kinetic_cut_all(scene, &kinetics->options, boxes);
    double most_nodes = 0.0;
    for (int part = 0; part < kinetics->options.parts; part++)
        most_nodes = fmax(most_nodes, (double)scene->nodes[0] * boxes[part].count[0] * boxes[part].count[1]);
    KF_TRY(kf_kinetic_check_size(scene, kinetics->options.parts, most_nodes, error));
    for (int part = 0; part < plan->part_count; part++)
        begin_part(plan, &kinetics[part], &boxes[plan->first_part + part], part);
    plan->updates = kf_nested_stepped_nodes(scene);
    plan->least_bytes = 2.0 * kinetics->node_values * (double)kinetics->store_bytes * plan->updates;
    if (kinetics->moving && !kinetics->free) plan->window_steps = kf_kinetic_turn_steps(scene);
    plan->windows = plan->window_steps > 0 ? TURN_WINDOWS : 0;
    KF_TRY(make_grids(plan, kinetics, error));
    KF_TRY(make_fields(plan, kinetics, error));
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        KF_TRY(make_averages(plan, &kinetics[part], error));
        KF_TRY(kf_kinetic_make_edges(plan, &kinetics[part], error));
    }
    for (int grid = 0; grid < kf_kinetic_grids(plan); grid++) {
        kf_plan_on(plan, grid);
        KF_TRY(make_slab(plan, &kinetics[grid], error));
    }
    kf_plan_on(plan, 0);
    KF_TRY(make_outflow(plan, kinetics, error));
    KF_TRY(kf_kinetic_share_list(plan, kinetics, error));
    kf_plan_on(plan, 0);
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        KF_TRY(load_modules(plan, &kinetics[part], error));
        if (kinetics->has_solid) KF_TRY(kf_kinetic_upload_samples(plan, &kinetics[part], error));
        if (kinetics->leaves)
            KF_TRY(kf_kinetic_make_moving_links(plan, &kinetics[part], error));
        else if (kinetics->linked)
            KF_TRY(kf_kinetic_upload_links(plan, &kinetics[part], error));
    }
    KF_TRY(kf_kinetic_make_launches(plan, kinetics, error));
    declare_fresh(plan, kinetics);
    kf_plan_on(plan, 0);
    return KF_OK;
}

static kf_status make_with(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           const kf_kinetic_options *options, kf_plan **plan, kf_error *error) {
    kf_kinetic *kinetics = kf_allocate_zeroed((size_t)options->parts, sizeof *kinetics);
    for (int part = 0; part < options->parts; part++)
        kinetics[part].options = *options;
    kf_plan *made = kf_plan_create(backend, problem, config, &kf_kinetic_methods, kinetics);
    /* In all processes of a host, too. */
    if (options->transfer == KF_THROUGH_HOST || options->transfer == KF_BY_NCCL) {
        made->near_first = made->first_part;
        made->near_parts = made->part_count;
    }
    kf_status status = build(made, kinetics, error);
    return kf_plan_built(made, status, plan);
}

/* Returns whether blocks of the plan may wait for others that never begin, because not all are resident at
 * once. The number of resident blocks follows from the registers of the compiled kernel. */
static bool may_wait_for_ever(const kf_plan *plan) {
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_launch *launch = plan->items[i].kind == KF_ITEM_KERNEL ? plan->items[i].kernel : NULL;
        if (launch != NULL && launch->waits_for_all &&
            kf_launch_blocks(launch) > kf_launch_resident_blocks(launch))
            return true;
    }
    return false;
}

/* Makes the plan. When the kernel of the whole band has more blocks than the device holds, it uses a kernel
 * for each part of the band. */
kf_status kf_kinetic_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                               kf_plan **plan, kf_error *error) {
    kf_kinetic_options options;
    KF_TRY(kf_kinetic_read_options(kf_problem_scene(problem), config, kf_backend_device(backend), &options,
                                   error));
    KF_TRY(make_with(problem, config, backend, &options, plan, error));
    if (!options.band_chain || !may_wait_for_ever(*plan)) return KF_OK;
    kf_plan_free(*plan);
    options.band_chain = false;
    return make_with(problem, config, backend, &options, plan, error);
}

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    KF_TRY(accepts(problem, error));
    return (kf_problem_scene(problem)->finer_count > 0 ? kf_nested_make_plan : kf_kinetic_make_plan)(
        problem, config, backend, plan, error);
}

const kf_system kf_system_kinetic = {
    .name = "kinetic",
    .summary = "D3Q27 and D3Q19 lattice Boltzmann (BGK, ACM-MRT) with an immersed boundary",
    .update = "node",
    .space_file = "variants/kinetic.json",
    .runs = true,
    .teams = true,
    .open = kf_flow_problem_open,
    .trial = kf_flow_problem_trial,
    .accepts = accepts,
    .accepts_device = accepts_device,
    .variables = describe,
    .plan = make_plan,
    .sources = visit_sources,
    .reference = kf_kinetic_reference,
    .verify = kf_kinetic_verify,
    .free_reference = kf_kinetic_free_reference,
    .cost = &kf_cost_kinetic,
    .cases = kf_kinetic_cases,
    .suite = &kf_kinetic_suite,
};
