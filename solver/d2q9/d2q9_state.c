/* The state of a d2q9 plan: initial conditions, fields, force on the solid, checkpoints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/flow/flow_link.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/gate.h"

static kf_d2q9 *system_of(const kf_plan *plan) {
    return plan->system;
}

/* Waits until all parts have done their work, those of other processes too. All processes call it together.
 */
static kf_status settle(const kf_plan *plan, kf_error *error) {
    const kf_status status = plan->all_parts > 1 ? kf_backend_synchronize(plan->backend, error) : KF_OK;
    return plan->near_parts > plan->part_count ? kf_world_agree_near(status, error) : status;
}

/* Arguments with the populations of steps_done as source. A temporal launch has already gone ahead to its
 * last step: the state within its steps is computed again from where it started, which is still there. */
static kf_status present(kf_plan *plan, kf_d2q9_arguments *a, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    KF_TRY(settle(plan, error));
    uint64_t steps = plan->steps_done, k = (uint64_t)system->options.steps_per_launch;
    *a = system->arguments;
    a->scheme = kf_d2q9_scheme(system, steps);
    a->source = kf_buffer_address(system->populations[kf_d2q9_grid(system, steps)]);
    if (system->options.plan != KF_D2Q9_TEMPORAL || steps % k == 0) return KF_OK;
    uint64_t start = steps / k * k, end = start + k;
    if (system->based_on > start) start = system->based_on;
    const kf_buffer *base = system->populations[(end + 1) % 2];
    a->source = kf_buffer_address(base);
    if (steps == start) return KF_OK;
    if (system->between == NULL) KF_TRY(kf_plan_buffer(plan, kf_buffer_size(base), &system->between, error));
    a->source = kf_buffer_address(system->between);
    if (system->between_valid && system->between_step == steps) return KF_OK;
    kf_launch launch;
    KF_TRY(kf_d2q9_temporal_launch(system, (int)(steps - start), kf_buffer_address(base), a->source, &launch,
                                   error));
    KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    system->between_valid = true;
    system->between_step = steps;
    return kf_backend_synchronize(plan->backend, error);
}

/* Launches a kernel of state.cu on rows first .. first + rows - 1. */
static kf_status on_rows(kf_plan *plan, kf_d2q9_arguments a, const char *name, int first, int rows,
                         kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    kf_function *function;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_STATE], name, &function, error));
    a.extent[0] = a.nodes[0];
    a.extent[1] = rows;
    a.extent[2] = 1;
    a.first_row = first;
    a.compact = kf_buffer_address(system->rows);
    const int block[3] = {64, 1, 1};
    kf_launch launch;
    kf_launch_set(&launch, name, function, block, &a, sizeof a);
    KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    return kf_backend_synchronize(plan->backend, error);
}

/* Updates the open nodes. Until the next step begins they hold what the collision has left there. */
static kf_status refresh_open(kf_plan *plan, kf_d2q9_arguments a, kf_error *error) {
    if (a.open_count == 0) return KF_OK;
    if (kf_d2q9_is_first(plan)) {
        kf_launch launch;
        KF_TRY(kf_d2q9_open_launch(plan, system_of(plan), a, &launch, error));
        KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    }
    return plan->near_parts > plan->part_count ? settle(plan, error) : KF_OK;
}

/* Rows at once, none of them on both sides of an end of the domain. */
static int rows_at(const kf_plan *plan, int first, int end) {
    const int nodes = kf_plan_scene(plan)->nodes[1], most = system_of(plan)->rows_at_once,
              bound = first < 0       ? 0
                      : first < nodes ? nodes
                                      : end,
              left = (end < bound ? end : bound) - first;
    return left < most ? left : most;
}

/* Rows of this process's parts: all, where there is no other. */
static void own_rows(const kf_plan *plan, int *first, int *end) {
    *first = kf_d2q9_first_row(plan, plan->first_part);
    *end = kf_d2q9_first_row(plan, plan->first_part + plan->part_count);
}

/* Rows whose state begins here: its own, and of a slab the copies beside them, which may lie beyond a
 * periodic face. */
static void kept_rows(const kf_plan *plan, int *first, int *end) {
    const kf_d2q9 *system = system_of(plan);
    own_rows(plan, first, end);
    if (system->sides[KF_D2Q9_BELOW].packed != NULL) *first -= KF_D2Q9_BESIDE;
    if (system->sides[KF_D2Q9_ABOVE].packed != NULL) *end += KF_D2Q9_BESIDE;
}

/* Rows that this process reads for all: of a slab its own. */
static void read_rows(const kf_plan *plan, int *first, int *end) {
    *first = system_of(plan)->geometry.first_row;
    *end = *first + system_of(plan)->geometry.rows;
}

/* Returns the domain's row. */
static int row_of(const kf_plan *plan, int row) {
    const int nodes = kf_plan_scene(plan)->nodes[1];
    return (row + nodes) % nodes;
}

static bool is_solid(const kf_scene *scene, size_t node) {
    return scene->mask != NULL && scene->mask[node] == KF_NODE_SOLID;
}

static void put_real(const kf_d2q9 *system, void *values, size_t index, double value) {
    if (system->real_bytes == sizeof(double))
        ((double *)values)[index] = value;
    else
        ((float *)values)[index] = (float)value;
}

static double get_real(const kf_d2q9 *system, const void *values, size_t index) {
    return system->real_bytes == sizeof(double) ? ((const double *)values)[index]
                                                : (double)((const float *)values)[index];
}

/* Computes density - 1 and velocity of the rows, [3][rows][x]. The solid is at rest. */
static void fill_initial(const kf_plan *plan, int first, int rows, void *values) {
    const kf_d2q9 *system = system_of(plan);
    size_t nx = (size_t)kf_plan_scene(plan)->nodes[0], count = nx * (size_t)rows;
    for (size_t n = 0; n < count; n++) {
        int x = (int)(n % nx), y = row_of(plan, first) + (int)(n / nx);
        double density = 1.0, velocity[3] = {0, 0, 0};
        if (!is_solid(kf_plan_scene(plan), (size_t)y * nx + (size_t)x))
            kf_scene_initial(kf_plan_scene(plan), x, y, 0, &density, velocity);
        put_real(system, values, n, density - 1.0);
        put_real(system, values, count + n, velocity[0]);
        put_real(system, values, 2 * count + n, velocity[1]);
    }
}

/* Returns whether all rows start alike: then one block of them is made and sent. */
static bool starts_alike(const kf_plan *plan) {
    const kf_scene *scene = kf_plan_scene(plan);
    const bool at_rest = scene->initial_velocity[0] == 0.0 && scene->initial_velocity[1] == 0.0;
    return kf_scene_starts_uniform(scene) && (at_rest || !system_of(plan)->has_solid);
}

/* Sets the initial state. Data that are read before they are written show as NaN in the result. Solid nodes
 * start from rest like all others; half-way bounce back never reads them. */
static kf_status initialise(kf_plan *plan, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    int begin, end;
    kept_rows(plan, &begin, &end);
    for (int grid = 0; grid < 2 && plan->part_count == plan->near_parts; grid++)
        KF_TRY(kf_buffer_fill(system->populations[grid], 0xff, error));
    system->based_on = 0;
    system->between_valid = false;
    kf_d2q9_arguments a;
    KF_TRY(present(plan, &a, error));
    size_t row_bytes = 3 * (size_t)kf_plan_scene(plan)->nodes[0] * system->real_bytes;
    void *values = kf_allocate(row_bytes * (size_t)system->rows_at_once);
    const bool alike = starts_alike(plan);
    kf_status status = KF_OK;
    for (int first = begin, rows = 0, before = 0; first < end && status == KF_OK; first += rows) {
        rows = rows_at(plan, first, end);
        /* Components follow each other in a block: one with another number of rows is another one. */
        if (!alike || rows != before) {
            before = rows;
            fill_initial(plan, first, rows, values);
            status = kf_buffer_upload(system->rows, 0, values, row_bytes * (size_t)rows, error);
        }
        if (status == KF_OK) status = on_rows(plan, a, "initialise", first, rows, error);
    }
    free(values);
    KF_TRY(status);
    return settle(plan, error);
}

typedef void take_node(void *context, size_t index, const double value[3]);

/* Calls take for every node of these rows: index in [y][x], density - 1 and velocity. values has room for
 * them. */
static kf_status visit_rows(kf_plan *plan, kf_d2q9_arguments a, int first, int rows, void *values,
                            take_node *take, void *context, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    const size_t nx = (size_t)kf_plan_scene(plan)->nodes[0], count = nx * (size_t)rows;
    KF_TRY(on_rows(plan, a, "read_fields", first, rows, error));
    KF_TRY(kf_buffer_download(system->rows, 0, values, 3 * count * system->real_bytes, error));
    for (size_t n = 0; n < count; n++) {
        double value[3] = {0, 0, 0};
        const size_t index = (size_t)first * nx + n;
        for (size_t i = 0; i < 3 && !is_solid(kf_plan_scene(plan), index); i++)
            value[i] = get_real(system, values, i * count + n);
        take(context, index, value);
    }
    return KF_OK;
}

/* Visits all nodes in this way, some rows at a time. */
static kf_status visit_fields(kf_plan *plan, take_node *take, void *context, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    kf_d2q9_arguments a;
    KF_TRY(present(plan, &a, error));
    KF_TRY(refresh_open(plan, a, error));
    size_t nx = (size_t)kf_plan_scene(plan)->nodes[0];
    void *values = kf_allocate(3 * nx * system->real_bytes * (size_t)system->rows_at_once);
    kf_status status = KF_OK;
    int begin, end;
    read_rows(plan, &begin, &end);
    for (int first = begin; first < end && status == KF_OK; first += system->rows_at_once) {
        status = visit_rows(plan, a, first, rows_at(plan, first, end), values, take, context, error);
    }
    free(values);
    KF_TRY(status);
    /* Others continue after this. */
    return settle(plan, error);
}

/* Brings all processes' rows of an array together, on all, where they have slabs. */
static kf_status gather_rows(const kf_plan *plan, void *all, size_t value_bytes, kf_error *error) {
    int first, end;
    read_rows(plan, &first, &end);
    if (!system_of(plan)->options.slab) return KF_OK;
    return kf_flow_gather(all, (size_t)kf_plan_scene(plan)->nodes[0] * (size_t)end * value_bytes, error);
}

static void take_watched(void *context, size_t index, const double value[3]) {
    kf_flow_watch_node(context, index, value[0], (const double[3]){value[1], value[2], 0.0});
}

/* Some rows. */
static kf_status watch(kf_plan *plan, kf_error *error) {
    kf_flow_watch seen = {.scene = kf_plan_scene(plan)};
    kf_d2q9_arguments a;
    KF_TRY(present(plan, &a, error));
    KF_TRY(refresh_open(plan, a, error));
    void *values = kf_allocate(3 * (size_t)kf_plan_scene(plan)->nodes[0] * system_of(plan)->real_bytes);
    kf_status status = KF_OK;
    int begin, end;
    read_rows(plan, &begin, &end);
    for (int y = begin + (end - begin) % KF_WATCHED_APART / 2; y < end && status == KF_OK;
         y += KF_WATCHED_APART)
        status = visit_rows(plan, a, y, 1, values, take_watched, &seen, error);
    free(values);
    KF_TRY(status);
    KF_TRY(settle(plan, error));
    return kf_flow_watch_end(&seen, plan->steps_done, error);
}

static void take_single(void *context, size_t index, const double value[3]) {
    kf_fields *fields = context;
    fields->density[index] = (float)(1.0 + value[0]);
    fields->velocity[0][index] = (float)value[1];
    fields->velocity[1][index] = (float)value[2];
}

static kf_status read_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    size_t count = (size_t)n[0] * (size_t)n[1];
    memcpy(fields->nodes, n, sizeof fields->nodes);
    fields->density = kf_allocate(count * sizeof(float));
    for (int i = 0; i < 3; i++)
        fields->velocity[i] = kf_allocate_zeroed(count, sizeof(float));
    kf_status status = visit_fields(plan, take_single, fields, error);
    if (status == KF_OK) status = gather_rows(plan, fields->density, sizeof(float), error);
    for (int i = 0; i < 2 && status == KF_OK; i++)
        status = gather_rows(plan, fields->velocity[i], sizeof(float), error);
    if (status != KF_OK) kf_fields_free(fields);
    return status;
}

/* The requested nodes. Those before `done` are complete. */
typedef struct node_list {
    const size_t *nodes;
    float (*values)[4];
    size_t done, count;
} node_list;

static void take_listed(void *context, size_t index, const double value[3]) {
    node_list *list = context;
    if (list->done == list->count || list->nodes[list->done] != index) return;
    float *here = list->values[list->done++];
    here[0] = (float)(1.0 + value[0]);
    here[1] = (float)value[1];
    here[2] = (float)value[2];
}

/* Reads the rows in which nodes are asked for. */
static kf_status read_nodes(kf_plan *plan, const size_t *nodes, size_t count, float (*values)[4],
                            kf_error *error) {
    const size_t row = (size_t)kf_plan_scene(plan)->nodes[0];
    node_list list = {nodes, values, 0, count};
    kf_d2q9_arguments a;
    int begin, end;
    KF_TRY(present(plan, &a, error));
    KF_TRY(refresh_open(plan, a, error));
    memset(values, 0, count * sizeof *values);
    read_rows(plan, &begin, &end);
    while (list.done < count && nodes[list.done] < (size_t)begin * row)
        list.done++;
    void *room = kf_allocate(3 * row * system_of(plan)->real_bytes);
    kf_status status = KF_OK;
    while (status == KF_OK && list.done < count && nodes[list.done] < (size_t)end * row)
        status = visit_rows(plan, a, (int)(nodes[list.done] / row), 1, room, take_listed, &list, error);
    free(room);
    KF_TRY(status);
    KF_TRY(settle(plan, error));
    return system_of(plan)->options.slab ? kf_flow_share(&values[0][0], 4 * count, error) : KF_OK;
}

kf_status kf_d2q9_read(kf_plan *plan, double **values, kf_error *error) {
    kf_gate_fields fields = {.components = 3,
                             .count = (size_t)kf_plan_scene(plan)->nodes[0] *
                                      (size_t)kf_plan_scene(plan)->nodes[1]};
    fields.values = kf_allocate(3 * fields.count * sizeof(double));
    kf_status status = visit_fields(plan, kf_gate_take, &fields, error);
    for (size_t i = 0; i < 3 && status == KF_OK; i++)
        status = gather_rows(plan, fields.values + i * fields.count, sizeof(double), error);
    if (status != KF_OK)
        free(fields.values);
    else
        *values = fields.values;
    return status;
}

/* Computes the load on the solid: momentum exchange over the links (Eq. 10, 11), and the body force on the
 * solid's own nodes (Eq. 12, with the sign that conserves momentum: docs/d2q9.md). */
static kf_status solid_load(kf_plan *plan, kf_solid_load *load, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    memset(load, 0, sizeof *load);
    if (!system->has_solid || plan->steps_done == 0) return KF_OK;
    kf_d2q9_arguments a;
    kf_function *function;
    KF_TRY(present(plan, &a, error));
    if (system->options.slab) KF_TRY(kf_d2q9_gather_links(plan, a, error));
    a.compact = kf_buffer_address(system->link_values);
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_BOUNDARY], "load", &function, error));
    a.extent[0] = (a.link_count + KF_D2Q9_LOAD_CHUNK - 1) / KF_D2Q9_LOAD_CHUNK;
    a.extent[1] = a.extent[2] = 1;
    const int block[3] = {64, 1, 1};
    kf_launch launch;
    kf_launch_set(&launch, "load", function, block, &a, sizeof a);
    KF_TRY(kf_buffer_fill(system->load_sums, 0, error));
    KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(settle(plan, error));
    long long sums[KF_D2Q9_LOAD_SLOTS][4], total[4] = {0, 0, 0, 0};
    KF_TRY(kf_buffer_download(system->load_sums, 0, sums, sizeof sums, error));
    for (int slot = 0; slot < KF_D2Q9_LOAD_SLOTS; slot++)
        for (int i = 0; i < 4; i++)
            total[i] += sums[slot][i];
    for (int i = 0; i < 2; i++)
        load->force[i] = (double)total[i] / KF_D2Q9_FORCE_SCALE +
                         kf_plan_scene(plan)->body_force[i] * (double)system->body_nodes;
    load->torque[2] = (double)total[2] / KF_D2Q9_TORQUE_SCALE;
    for (int i = 0; i < 2 && total[3] != 0; i++)
        load->force[i] = (double)NAN;
    return KF_OK;
}

/* --- Checkpoints: populations [y][i][x] ----------------------------------------------------------------- */

static size_t row_state(const kf_plan *plan) {
    return 9 * (size_t)kf_plan_scene(plan)->nodes[0] * system_of(plan)->store_bytes;
}

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    (void)error;
    *bytes = row_state(plan) * (size_t)kf_plan_scene(plan)->nodes[1];
    return KF_OK;
}

/* Copies packed rows of the present state to memory of the host. */
static kf_status take_rows(kf_plan *plan, const kf_d2q9_arguments *a, int first, int rows, char *target,
                           kf_error *error) {
    KF_TRY(on_rows(plan, *a, "pack", first, rows, error));
    return kf_buffer_download(system_of(plan)->rows, 0, target, row_state(plan) * (size_t)rows, error);
}

/* Brings a process's rows of a slab from where they are to the first process, which puts them into all. */
static kf_status collect_rows(kf_plan *plan, const kf_d2q9_arguments *a, int process, char *state,
                              kf_error *error) {
    const int *firsts = system_of(plan)->link->firsts, end = kf_d2q9_first_row(plan, firsts[process + 1]);
    const bool own = process == kf_world_rank();
    char *packed = own ? kf_allocate(row_state(plan) * (size_t)system_of(plan)->rows_at_once) : NULL;
    kf_status status = KF_OK;
    for (int first = kf_d2q9_first_row(plan, firsts[process]), rows = 0; first < end && status == KF_OK;
         first += rows) {
        rows = rows_at(plan, first, end);
        const size_t bytes = row_state(plan) * (size_t)rows;
        if (own) status = take_rows(plan, a, first, rows, packed, error);
        if (status == KF_OK)
            status = kf_flow_pass(own ? 0 : process, own,
                                  own ? packed : state + row_state(plan) * (size_t)first, bytes, error);
    }
    free(packed);
    return status;
}

static kf_status collect_slabs(kf_plan *plan, const kf_d2q9_arguments *a, char *state, kf_error *error) {
    if (kf_world_rank() > 0) return collect_rows(plan, a, kf_world_rank(), NULL, error);
    for (int process = 1; process < kf_world_size(); process++)
        KF_TRY(collect_rows(plan, a, process, state, error));
    return KF_OK;
}

static kf_status save(kf_plan *plan, void *state, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    kf_d2q9_arguments a;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(present(plan, &a, error));
    KF_TRY(refresh_open(plan, a, error));
    int begin, end;
    read_rows(plan, &begin, &end);
    for (int first = begin; first < end && state != NULL; first += system->rows_at_once)
        KF_TRY(take_rows(plan, &a, first, rows_at(plan, first, end),
                         (char *)state + row_state(plan) * (size_t)first, error));
    if (system->options.slab) KF_TRY(collect_slabs(plan, &a, state, error));
    return settle(plan, error);
}

/* Completes a launch. A temporal plan that is restored between its launches first completes the current one.
 */
static kf_status catch_up(kf_plan *plan, const kf_d2q9_arguments *a, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    uint64_t k = (uint64_t)system->options.steps_per_launch, rest = plan->steps_done % k;
    if (system->options.plan != KF_D2Q9_TEMPORAL || rest == 0) return KF_OK;
    uint64_t end = plan->steps_done - rest + k;
    kf_launch launch;
    KF_TRY(kf_d2q9_temporal_launch(system, (int)(k - rest), a->source,
                                   kf_buffer_address(system->populations[end % 2]), &launch, error));
    KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    return kf_backend_synchronize(plan->backend, error);
}

/* Restores a checkpoint, block of rows by block of rows, and brings walls and open nodes to where steps
 * leave them. */
static kf_status restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error) {
    kf_d2q9 *system = system_of(plan);
    kf_d2q9_arguments a;
    KF_TRY(kf_plan_initialise(plan, error));
    plan->steps_done = steps;
    system->based_on = steps;
    KF_TRY(present(plan, &a, error));
    int begin, end;
    kept_rows(plan, &begin, &end);
    for (int first = begin, rows = 0; first < end; first += rows) {
        rows = rows_at(plan, first, end);
        const char *source = (const char *)state + row_state(plan) * (size_t)row_of(plan, first);
        KF_TRY(kf_buffer_upload(system->rows, 0, source, row_state(plan) * (size_t)rows, error));
        KF_TRY(on_rows(plan, a, "unpack", first, rows, error));
    }
    /* A state has no place for what walls send back; folded boundaries have put it there by now. */
    KF_TRY(settle(plan, error));
    if (system->options.folded_boundary && a.scheme == KF_SCHEME_PUSHED && kf_d2q9_is_first(plan)) {
        kf_launch launch;
        KF_TRY(kf_d2q9_boundary_launch(plan, system, a, &launch, error));
        KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    }
    KF_TRY(settle(plan, error));
    return catch_up(plan, &a, error);
}

static void free_system(kf_plan *plan) {
    kf_flow_link_free(system_of(plan)->link);
    free(plan->system);
}

static const kf_flow_methods flow = {.fields = read_fields, .nodes = read_nodes, .load = solid_load};

const kf_plan_methods kf_d2q9_methods = {.initialise = initialise,
                                         .snapshot = kf_flow_snapshot,
                                         .watch = watch,
                                         .record = kf_flow_record,
                                         .meaning = kf_flow_meaning,
                                         .time = kf_flow_time,
                                         .flow = &flow,
                                         .state_size = state_size,
                                         .save = save,
                                         .restore = restore,
                                         .free = free_system};
