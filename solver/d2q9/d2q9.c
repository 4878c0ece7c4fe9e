#include "solver/d2q9/d2q9.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/flow/flow_problem.h"

/* Refuses scenes that this system cannot compute: three dimensions, surfaces instead of masks, other
 * systems' collisions, mirroring walls. */
static kf_status accepts(const kf_problem *problem, kf_error *error) {
    static const kf_boundary known[] = {KF_PERIODIC, KF_WALL, KF_FREE_SLIP, KF_INFLOW, KF_OUTFLOW};
    const kf_scene *scene = kf_problem_scene(problem);
    KF_TRY(kf_flow_check_faces(scene, "d2q9", known, sizeof known / sizeof *known, error));
    if (scene->nodes[2] != 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "d2q9 is two-dimensional: the scene must have 1 node along z (it has %d)",
                       scene->nodes[2]);
    if (scene->faces[KF_ZMIN] != KF_PERIODIC || scene->faces[KF_ZMAX] != KF_PERIODIC)
        return kf_fail(error, KF_BAD_INPUT, "d2q9 is two-dimensional: make the faces zmin and zmax periodic");
    if (scene->samples.count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "d2q9 has no immersed boundary: give the solid as a mask instead of a mesh");
    if (scene->collision == KF_RM_MRT || scene->collision == KF_ACM_MRT)
        return kf_fail(
            error, KF_BAD_INPUT,
            "collision model '%s' is three-dimensional; d2q9 has bgk, bgk_linear, mrt and mrt_linear",
            kf_collision_names[scene->collision]);
    for (int face = 0; face < KF_ZMIN; face++)
        if (scene->specular_share[face] > 0.0)
            return kf_fail(error, KF_BAD_INPUT,
                           "walls of d2q9 have no specular reflection: remove specular_share");
    return KF_OK;
}

static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const kf_scene *scene = kf_problem_scene(problem);
    memset(variables, 0, sizeof *variables);
    kf_add_variable(variables, "gpu", kf_device_is_gpu(device));
    kf_add_variable(variables, "node_count", (double)scene->nodes[0] * scene->nodes[1]);
    kf_add_variable(variables, "nodes_x", scene->nodes[0]);
    kf_add_variable(variables, "nodes_y", scene->nodes[1]);
    kf_add_variable(variables, "solid", kf_d2q9_has_solid(scene));
    kf_add_variable(variables, "open", kf_d2q9_is_open(scene));
    kf_add_variable(variables, "accuracy", scene->accuracy);
    kf_add_device_variables(variables, device);
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    kf_d2q9_options options;
    kf_d2q9_geometry geometry;
    KF_TRY(kf_d2q9_read_options(scene, config, device, &options, error));
    kf_d2q9_lay_out(scene, &options, 0, scene->nodes[1], &geometry);
    for (int which = 0; which < KF_D2Q9_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        kf_d2q9_define(scene, &options, &geometry, (kf_d2q9_source)which, &source, &defines);
        KF_TRY(visit(&source, data, error));
    }
    return KF_OK;
}

/* Sets the arguments that all launches share: sizes, relaxation rates, forces, and the velocities and
 * density that faces and open nodes prescribe. */
static void set_arguments(const kf_scene *scene, const kf_d2q9_geometry *geometry, kf_d2q9_arguments *a) {
    double rates[4];
    kf_d2q9_rates(scene, rates);
    a->nodes[0] = scene->nodes[0];
    a->nodes[1] = scene->nodes[1];
    a->row_pitch = geometry->row_pitch;
    a->origin = geometry->origin;
    a->capacity = geometry->capacity;
    a->double_precision.rate_v = rates[0];
    a->double_precision.rate_e = rates[1];
    a->double_precision.rate_h = rates[2];
    a->double_precision.rate_eps = rates[3];
    a->double_precision.force_x = scene->body_force[0];
    a->double_precision.force_y = scene->body_force[1];
#define COPY_SINGLE(name) a->single_precision.name = (float)a->double_precision.name;
    KF_D2Q9_SCALARS(COPY_SINGLE)
#undef COPY_SINGLE
    a->open_density = scene->mask_density;
    for (int axis = 0; axis < 2; axis++) {
        for (int face = 0; face < 4; face++)
            a->face_velocity[face][axis] = scene->face_velocity[face][axis];
        a->open_velocity[axis] = scene->mask_velocity[axis];
        a->load_centre[axis] = 0.5 * (scene->solid_low[axis] + scene->solid_high[axis]);
    }
}

int kf_d2q9_first_row(const kf_plan *plan, int part) {
    return (int)((long long)kf_plan_scene(plan)->nodes[1] * part / plan->all_parts);
}

bool kf_d2q9_is_first(const kf_plan *plan) {
    return plan->first_part == plan->near_first;
}

kf_status kf_d2q9_spread(kf_plan *plan, const kf_d2q9 *system, size_t node_bytes, size_t values,
                         kf_buffer **buffer, kf_error *error) {
    const kf_d2q9_geometry *g = &system->geometry;
    const size_t each = node_bytes * (system->options.layout == KF_D2Q9_SOA ? 1 : values),
                 period = (size_t)g->capacity * each;
    size_t ends[KF_MOST_PARTS];
    for (int near = 0; near < plan->near_parts; near++) {
        const int next = kf_d2q9_first_row(plan, plan->near_first + near + 1);
        ends[near] = near == plan->near_parts - 1
                         ? period
                         : (size_t)(g->origin + (long long)g->row_pitch * (next + 1)) * each;
    }
    return kf_plan_spread(plan, values * (size_t)g->capacity * node_bytes, period, ends, buffer, error);
}

/* Makes the grids, room for rows that are read, and the sums of the solid's load. */
static kf_status make_buffers(kf_plan *plan, kf_d2q9 *system, kf_error *error) {
    enum { ROW_VALUES = 9, LARGEST = 64 << 20 };
    const int *n = kf_plan_scene(plan)->nodes;
    KF_TRY(kf_d2q9_spread(plan, system, system->store_bytes, 9, &system->populations[0], error));
    system->populations[1] = system->populations[0];
    if (system->options.plan != KF_D2Q9_IN_PLACE)
        KF_TRY(kf_d2q9_spread(plan, system, system->store_bytes, 9, &system->populations[1], error));
    const int k = system->options.steps_per_launch;
    for (int grid = 0; grid < 2 && system->populations[0] != system->populations[1]; grid++)
        kf_plan_fresh(plan, system->populations[1 - grid], 2 * k, grid * k);
    size_t row = ROW_VALUES * (size_t)n[0] * system->real_bytes, rows = LARGEST / row;
    system->rows_at_once = rows < 1 ? 1 : rows > (size_t)n[1] ? n[1] : (int)rows;
    KF_TRY(kf_plan_buffer(plan, row * (size_t)system->rows_at_once, &system->rows, error));
    if (!system->has_solid) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, 4 * KF_D2Q9_LOAD_SLOTS * sizeof(long long), &system->load_sums, error));
    system->arguments.load_sums = kf_buffer_address(system->load_sums);
    return KF_OK;
}

/* Builds a plan: lays out memory and makes it, compiles, uploads flags and links, makes messages and
 * launches. */
static kf_status build(kf_plan *plan, kf_d2q9 *system, kf_error *error) {
    static const size_t store_bytes[] = {2, 4, 8};
    const kf_scene *scene = kf_plan_scene(plan);
    system->real_bytes = system->options.storage == KF_D2Q9_F64 ? sizeof(double) : sizeof(float);
    system->store_bytes = store_bytes[system->options.storage];
    system->has_solid = kf_d2q9_has_solid(scene);
    const int first = kf_d2q9_first_row(plan, plan->near_first),
              rows = kf_d2q9_first_row(plan, plan->near_first + plan->near_parts) - first;
    kf_d2q9_lay_out(scene, &system->options, first, rows, &system->geometry);
    set_arguments(scene, &system->geometry, &system->arguments);
    plan->updates = (double)scene->nodes[0] * scene->nodes[1];
    plan->least_bytes = 18.0 * (double)system->store_bytes * plan->updates / system->options.steps_per_launch;
    /* Buffers come first, so a problem that is too large fails before kernels compile. */
    KF_TRY(make_buffers(plan, system, error));
    for (int which = 0; which < KF_D2Q9_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        kf_d2q9_define(scene, &system->options, &system->geometry, (kf_d2q9_source)which, &source, &defines);
        KF_TRY(kf_plan_module(plan, &source, &system->modules[which], error));
        system->flow[0] = system->modules[KF_D2Q9_FLOW];
        for (int part = 1; which == KF_D2Q9_FLOW && part < plan->part_count; part++) {
            kf_plan_on(plan, part);
            KF_TRY(kf_plan_module(plan, &source, &system->flow[part], error));
        }
        kf_plan_on(plan, 0);
    }
    KF_TRY(kf_d2q9_upload_geometry(plan, system, error));
    KF_TRY(kf_d2q9_make_sides(plan, system, error));
    return kf_d2q9_make_launches(plan, system, error);
}

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    KF_TRY(accepts(problem, error));
    kf_d2q9_options options;
    KF_TRY(
        kf_d2q9_read_options(kf_problem_scene(problem), config, kf_backend_device(backend), &options, error));
    kf_d2q9 *system = kf_allocate_zeroed(1, sizeof *system);
    kf_plan *made = kf_plan_create(backend, problem, config, &kf_d2q9_methods, system);
    if (made->near_parts < made->all_parts) {
        options.slab = true;
        made->near_first = made->first_part;
        made->near_parts = made->part_count;
    }
    system->options = options;
    if (!options.graph) made->graph_steps = -1;
    kf_status status = options.slab ? kf_d2q9_check_slab(made, &options, error) : KF_OK;
    if (status == KF_OK) status = build(made, system, error);
    return kf_plan_built(made, status, plan);
}

const kf_system kf_system_d2q9 = {
    .name = "d2q9",
    .summary = "D2Q9 lattice Boltzmann in two dimensions (LBGK, MRT, and both linear) after Tölke",
    .update = "node",
    .space_file = "variants/d2q9.json",
    .runs = true,
    .teams = true,
    .open = kf_flow_problem_open,
    .trial = kf_flow_problem_trial,
    .accepts = accepts,
    .variables = describe,
    .plan = make_plan,
    .sources = visit_sources,
    .reference = kf_d2q9_reference,
    .verify = kf_d2q9_verify,
    .free_reference = kf_d2q9_free_reference,
    .cost = &kf_cost_d2q9,
    .cases = kf_d2q9_cases,
    .suite = &kf_d2q9_suite,
};
