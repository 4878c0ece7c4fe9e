/* The state of a kinetic plan: initial conditions, fields, force on the solid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/nccl.h"
#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_link.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/gate.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_samples.h"
#include "solver/kinetic/nested.h"
#include "solver/kinetic/nested_plan.h"

static kf_kinetic *kinetic_of(const kf_plan *plan) {
    return plan->system;
}

void kf_kinetic_find_populations(const kf_kinetic *kinetic, uint64_t steps, kf_kinetic_arguments *a) {
    const bool odd = steps % 2 == 1;
    a->populations.source = kinetic->grids[kinetic->swaps && odd];
}

kf_status kf_kinetic_on_slab(kf_plan *plan, const char *name, int grid, int first, int planes, bool beside,
                             kf_error *error) {
    const kf_kinetic *kinetic = &kinetic_of(plan)[grid];
    kf_function *kernel;
    KF_TRY(kf_module_function(kinetic->modules[KF_SOURCE_STATE], name, &kernel, error));
    kf_kinetic_arguments a = kinetic->arguments;
    size_t cells = (size_t)a.grid.nodes[0] * (size_t)a.grid.nodes[1] * (size_t)planes;
    char *slab = kf_buffer_address(kinetic->slab);
    a.extent[0] = a.grid.nodes[0];
    a.extent[2] = planes;
    a.part.first_plane = first;
    kf_kinetic_rows(kinetic, beside ? kinetic->halo_width : 0, &a.part.first_row, &a.extent[1]);
    kf_kinetic_find_populations(kinetic, plan->steps_done, &a);
    a.fields.density = slab;
    a.fields.velocity = slab + cells * kinetic->real_bytes;
    const int block[3] = {64, 1, 1};
    kf_launch launch;
    kf_kinetic_set_launch(&launch, name, kernel, KF_SOURCE_STATE, block, &a);
    KF_TRY(kf_backend_launch(plan->parts[grid], &launch, error));
    return kf_backend_synchronize(plan->parts[grid], error);
}

static int smaller(int left, int right) {
    return left < right ? left : right;
}

static void put_real(const kf_kinetic *kinetic, void *values, size_t index, double value) {
    if (kinetic->options.storage == KF_F64)
        ((double *)values)[index] = value;
    else
        ((float *)values)[index] = (float)value;
}

static double get_real(const kf_kinetic *kinetic, const void *values, size_t index) {
    return kinetic->options.storage == KF_F64 ? ((const double *)values)[index]
                                              : (double)((const float *)values)[index];
}

static void fill_initial_slab(const kf_plan *plan, int first, int planes, void *values) {
    const kf_kinetic *kinetic = kinetic_of(plan);
    const int *n = kf_plan_scene(plan)->nodes;
    size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)planes, index = 0;
    for (int z = 0; z < planes; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++, index++) {
                double density, velocity[3];
                kf_scene_initial(kf_plan_scene(plan), x, y, first + z, &density, velocity);
                put_real(kinetic, values, index, density - 1.0);
                for (int i = 0; i < 3; i++)
                    put_real(kinetic, values, (size_t)(i + 1) * cells + index, velocity[i]);
            }
}

/* Fills the buffers with NaN, so that data read before they are written show in the result. */
static kf_status poison(kf_plan *plan, kf_error *error) {
    kf_kinetic *kinetic = kinetic_of(plan);
    const bool all =
        plan->part_count == plan->all_parts; /* else most of the memory is never used, nor there */
    for (int part = 0; all && part < kf_kinetic_grids(plan); part++)
        for (int grid = 0; grid < 2 && kinetic[part].populations[grid] != NULL; grid++)
            KF_TRY(kf_buffer_fill(kinetic[part].populations[grid], 0xff, error));
    for (int part = 0; all && part < kf_kinetic_grids(plan); part++)
        if (kinetic[part].listed != NULL) KF_TRY(kf_buffer_fill(kinetic[part].listed, 0xff, error));
    for (int part = 0; kinetic->force != NULL && part < kf_kinetic_grids(plan); part++)
        KF_TRY(kf_buffer_fill(kinetic[part].force, 0, error));
    for (int part = 0; part < plan->part_count; part++) {
        KF_TRY(kf_kinetic_clear_sums(&kinetic[part], KF_SUM_AVERAGES, error));
        /* With 19 velocities some of its places are not used. */
        for (int i = 0; i < 2 && kinetic[part].outflow[i] != NULL; i++)
            KF_TRY(kf_buffer_fill(kinetic[part].outflow[i], 0, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

/* Populations of the initial state, slab by slab. Where the state is the same everywhere so are slabs, and
 * thin ones, of which only the first and the last are filled and brought to the device, take no time. */
static kf_status initialise_grid(kf_plan *plan, int grid, kf_error *error) {
    enum { THIN = 8 };
    const kf_kinetic *kinetic = &kinetic_of(plan)[grid];
    const int *n = kf_plan_scene(plan)->nodes;
    const bool uniform = kf_scene_starts_uniform(kf_plan_scene(plan));
    const int most = uniform && kinetic->slab_planes > THIN ? THIN : kinetic->slab_planes;
    const size_t plane_bytes = 4 * (size_t)n[0] * (size_t)n[1] * kinetic->real_bytes;
    void *values = kf_allocate(plane_bytes * (size_t)most);
    kf_status status = KF_OK;
    int range[KF_PLANE_RANGES][2], before = 0, planes = 0;
    const int ranges = kf_kinetic_kept_planes(plan, grid, range);
    for (int r = 0; r < ranges; r++)
        for (int first = range[r][0]; first < range[r][1] && status == KF_OK; first += planes) {
            planes = smaller(range[r][1] - first, most);
            if (!uniform || planes != before) {
                fill_initial_slab(plan, first, planes, values);
                status = kf_buffer_upload(kinetic->slab, 0, values, plane_bytes * (size_t)planes, error);
            }
            if (status == KF_OK)
                status = kf_kinetic_on_slab(plan, "initialise", grid, first, planes, true, error);
            before = planes;
        }
    free(values);
    return status;
}

/* Sets a plan to its initial state: all memory is poisoned first, then grids, outflows, samples and, where
 * they are gathered, the list of a static solid's samples are filled. */
kf_status kf_kinetic_initialise(kf_plan *plan, kf_error *error) {
    kf_kinetic *kinetic = kinetic_of(plan);
    KF_TRY(kf_kinetic_settle(plan, error));
    KF_TRY(poison(plan, error));
    for (int grid = 0; grid < kf_kinetic_grids(plan); grid++)
        KF_TRY(initialise_grid(plan, grid, error));
    KF_TRY(kf_kinetic_settle(plan, error));
    KF_TRY(kf_kinetic_reset_links(plan, error));
    for (int part = 0; part < plan->part_count; part++)
        for (int i = 0; i < kinetic[part].outflow_launches; i++)
            KF_TRY(kf_backend_launch(plan->parts[part], &kinetic[part].outflow_launch[i], error));
    for (int part = 0; kinetic->has_solid && part < plan->part_count; part++)
        KF_TRY(kf_kinetic_reset_samples(plan, &kinetic[part], error));
    KF_TRY(kf_kinetic_settle(plan, error));
    if (!kinetic->has_solid || kinetic->moving || kinetic->options.immersed_boundary != KF_GATHER)
        return KF_OK;
    for (int part = 0; part < plan->part_count; part++) /* the cell list of a static solid, once */
        for (int i = 0; i < kinetic[part].order_launch_count; i++)
            KF_TRY(kf_backend_launch(plan->parts[part], &kinetic[part].order_launches[i], error));
    return kf_backend_synchronize(plan->backend, error);
}

typedef void take_node(void *context, size_t index, const double value[4]);

/* Calls take for every node of these planes that is this process's: index in [z][y][x], density - 1 and
 * velocity. values has room for them. */
static kf_status visit_planes(kf_plan *plan, int grid, int first, int planes, void *values, take_node *take,
                              void *context, kf_error *error) {
    const kf_kinetic *own = &kinetic_of(plan)[grid];
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t plane = (size_t)n[0] * (size_t)n[1], cells = plane * (size_t)planes;
    KF_TRY(kf_kinetic_on_slab(plan, "read_fields", grid, first, planes, false, error));
    KF_TRY(kf_buffer_download(own->slab, 0, values, 4 * cells * own->real_bytes, error));
    for (size_t c = 0; c < cells; c++) {
        double value[4];
        const int row = (int)(c % plane / (size_t)n[0]) - own->first_row;
        if (row < 0 || row >= own->rows) continue;
        for (size_t i = 0; i < 4; i++)
            value[i] = get_real(own, values, i * cells + c);
        take(context, (size_t)first * plane + c, value);
    }
    return KF_OK;
}

/* Visits all nodes of this process in this way, slab by slab. */
static kf_status visit_fields(kf_plan *plan, take_node *take, void *context, kf_error *error) {
    kf_kinetic *kinetic = kinetic_of(plan);
    const int *n = kf_plan_scene(plan)->nodes;
    size_t plane = (size_t)n[0] * (size_t)n[1];
    KF_TRY(kf_kinetic_settle_state(plan, error));
    void *values = kf_allocate(4 * plane * (size_t)kinetic->slab_planes * kinetic->real_bytes);
    kf_status status = KF_OK;
    for (int grid = 0, first = 0, end = 0, planes = 0; grid < kf_kinetic_grids(plan) && status == KF_OK;) {
        if (first == end) kf_kinetic_own_planes(plan, grid, &first, &end);
        planes = smaller(end - first, kinetic->slab_planes);
        status = visit_planes(plan, grid, first, planes, values, take, context, error);
        first += planes;
        if (first == end) grid++;
    }
    free(values);
    return status;
}

static void take_watched(void *context, size_t index, const double value[4]) {
    kf_flow_watch_node(context, index, value[0], value + 1);
}

/* Some planes of every part. */
static kf_status watch(kf_plan *plan, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    kf_flow_watch seen = {.scene = kf_plan_scene(plan)};
    KF_TRY(kf_kinetic_settle_state(plan, error));
    void *values = kf_allocate(4 * (size_t)n[0] * (size_t)n[1] * kinetic_of(plan)->real_bytes);
    kf_status status = KF_OK;
    for (int grid = 0; grid < kf_kinetic_grids(plan) && status == KF_OK; grid++) {
        int first, end;
        kf_kinetic_own_planes(plan, grid, &first, &end);
        for (int z = first + (end - first) % KF_WATCHED_APART / 2; z < end && status == KF_OK;
             z += KF_WATCHED_APART)
            status = visit_planes(plan, grid, z, 1, values, take_watched, &seen, error);
    }
    free(values);
    KF_TRY(status);
    return kf_flow_watch_end(&seen, plan->steps_done, error);
}

static void take_single(void *context, size_t index, const double value[4]) {
    kf_fields *fields = context;
    fields->density[index] = (float)(1.0 + value[0]);
    for (int i = 0; i < 3; i++)
        fields->velocity[i][index] = (float)value[i + 1];
}

static kf_status read_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error) {
    kf_pose here;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(kf_buffer_download(kinetic_of(plan)->pose, 0, &here, sizeof here, error));
    memcpy(pose->rotation, here.rotation, sizeof pose->rotation);
    memcpy(pose->quaternion, here.quaternion, sizeof pose->quaternion);
    memcpy(pose->center, here.center, sizeof pose->center);
    memcpy(pose->velocity, here.velocity, sizeof pose->velocity);
    memcpy(pose->angular_velocity, here.angular_velocity, sizeof pose->angular_velocity);
    return KF_OK;
}

/* Reads density and velocity of all nodes in single precision, from every part; the caller frees the fields.
 */
static kf_status read_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    memcpy(fields->nodes, n, sizeof fields->nodes);
    fields->density = kf_allocate(count * sizeof(float));
    for (int i = 0; i < 3; i++)
        fields->velocity[i] = kf_allocate(count * sizeof(float));
    const size_t plane_bytes = (size_t)n[0] * (size_t)n[1] * sizeof(float);
    kf_status status = visit_fields(plan, take_single, fields, error);
    for (size_t i = 0; !kinetic_of(plan)->leaves && i < kf_plan_scene(plan)->links.inside_count; i++) {
        const int *at = kf_plan_scene(plan)->links.inside[i];
        const double rest[4] = {0};
        take_single(fields, (size_t)at[0] + (size_t)n[0] * ((size_t)at[1] + (size_t)n[1] * (size_t)at[2]),
                    rest);
    }
    if (status == KF_OK) status = kf_kinetic_gather_planes(plan, fields->density, plane_bytes, 1, error);
    for (int i = 0; i < 3 && status == KF_OK; i++)
        status = kf_kinetic_gather_planes(plan, fields->velocity[i], plane_bytes, 1, error);
    if (status != KF_OK) kf_fields_free(fields);
    return status;
}

/* Nodes that are asked for, of which those before `done` are behind. */
typedef struct node_list {
    const size_t *nodes;
    float (*values)[4];
    size_t done, count;
} node_list;

/* Reads the listed nodes of one plane, which lies in the slab behind `before` others of its planes: of each
 * quantity the stretch from the first of them to the last is brought to the host. */
static kf_status take_listed(kf_plan *plan, int grid, int plane, int before, int planes, void *stretch,
                             node_list *list, kf_error *error) {
    const kf_kinetic *own = &kinetic_of(plan)[grid];
    const size_t row = (size_t)kf_plan_scene(plan)->nodes[0],
                 size = row * (size_t)kf_plan_scene(plan)->nodes[1], begin = (size_t)plane * size;
    const size_t from = list->done;
    while (list->done < list->count && list->nodes[list->done] < begin + size)
        list->done++;
    const size_t low = list->nodes[from] - begin, length = list->nodes[list->done - 1] - begin - low + 1;
    for (size_t q = 0; q < 4; q++) {
        const size_t place = (q * (size_t)planes + (size_t)before) * size + low;
        KF_TRY(
            kf_buffer_download(own->slab, place * own->real_bytes, stretch, length * own->real_bytes, error));
        for (size_t i = from; i < list->done; i++) {
            const int y = (int)((list->nodes[i] - begin) / row) - own->first_row;
            if (y < 0 || y >= own->rows) continue; /* another part's */
            const double value = get_real(own, stretch, list->nodes[i] - begin - low);
            list->values[i][q] = (float)(q == 0 ? 1.0 + value : value);
        }
    }
    return KF_OK;
}

/* Reads the listed nodes that lie in a part's planes, which are made ready in the slab as many at once as
 * follow each other and have room there. */
static kf_status read_listed(kf_plan *plan, int grid, void *stretch, node_list *list, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t size = (size_t)n[0] * (size_t)n[1];
    int first, end;
    kf_kinetic_own_planes(plan, grid, &first, &end);
    for (list->done = 0; list->done < list->count && list->nodes[list->done] < (size_t)first * size;)
        list->done++;
    while (list->done < list->count && list->nodes[list->done] < (size_t)end * size) {
        const int low = (int)(list->nodes[list->done] / size);
        int high = low;
        for (size_t i = list->done; i < list->count && list->nodes[i] < (size_t)end * size; i++) {
            const int plane = (int)(list->nodes[i] / size);
            if (plane > high + 1 || plane >= low + kinetic_of(plan)->slab_planes) break;
            high = plane;
        }
        KF_TRY(kf_kinetic_on_slab(plan, "read_fields", grid, low, high - low + 1, false, error));
        for (int plane = low; plane <= high; plane++)
            KF_TRY(take_listed(plan, grid, plane, plane - low, high - low + 1, stretch, list, error));
    }
    return KF_OK;
}

static kf_status read_nodes(kf_plan *plan, const size_t *nodes, size_t count, float (*values)[4],
                            kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    node_list list = {nodes, values, 0, count};
    void *stretch = kf_allocate((size_t)n[0] * (size_t)n[1] * kinetic_of(plan)->real_bytes);
    memset(values, 0, count * sizeof *values);
    kf_status status = kf_kinetic_settle_state(plan, error);
    for (int grid = 0; grid < kf_kinetic_grids(plan) && status == KF_OK; grid++)
        status = read_listed(plan, grid, stretch, &list, error);
    free(stretch);
    KF_TRY(status);
    return kf_flow_share(&values[0][0], 4 * count, error);
}

kf_status kf_kinetic_read(kf_plan *plan, double **values, kf_error *error) {
    if (kf_plan_scene(plan)->finer_count > 0) return kf_nested_read(plan, values, error);
    const int *n = kf_plan_scene(plan)->nodes;
    kf_gate_fields fields = {.components = 4, .count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2]};
    fields.values = kf_allocate(4 * fields.count * sizeof(double));
    kf_status status = visit_fields(plan, kf_gate_take, &fields, error);
    for (size_t i = 0; i < 4 && status == KF_OK; i++)
        status = kf_kinetic_gather_planes(plan, fields.values + i * fields.count,
                                          (size_t)n[0] * (size_t)n[1] * sizeof(double), 1, error);
    if (status != KF_OK)
        free(fields.values);
    else
        *values = fields.values;
    return status;
}

static kf_status check_band(const kf_kinetic *kinetic, kf_error *error) {
    int counts[2];
    KF_TRY(kf_buffer_download(kinetic->band_count, 0, counts, sizeof counts, error));
    if (counts[1] == 0) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "the moving solid touches more nodes than were reserved (%d): its samples spread out",
                   kinetic->arguments.band.capacity);
}

/* A free solid that has come to a face of the domain, or to a side of the finest of nested grids, is held
 * there. */
static kf_status check_body(const kf_plan *plan, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const char *where = kf_nested_has_ghosts(scene) ? "finest box" : "domain";
    double center[3];
    kf_pose pose;
    KF_TRY(kf_buffer_download(kinetic_of(plan)->pose, 0, &pose, sizeof pose, error));
    if (pose.left_at < 0) return KF_OK;
    for (int a = 0; a < 3; a++)
        center[a] = (pose.center[a] + scene->origin[a] + 0.5) * scene->cell_size;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: the free solid reached the edge of the %s in step %lld (its centre: %.4g, %.4g, %.4g "
                   "m); make the %s larger, or run fewer steps",
                   scene->source, where, pose.left_at >> scene->level, center[0], center[1], center[2],
                   where);
}

kf_status kf_kinetic_add_sums(const kf_kinetic *kinetic, kf_backend *backend, const kf_launch *launch,
                              long long total[KF_LOAD_SUMS], kf_error *error) {
    long long sums[KF_LOAD_SLOTS][KF_LOAD_SUMS];
    if (launch != NULL) {
        KF_TRY(kf_buffer_fill(kinetic->load_sums, 0, error));
        KF_TRY(kf_backend_launch(backend, launch, error));
    }
    KF_TRY(kf_backend_synchronize(backend, error));
    KF_TRY(kf_buffer_download(kinetic->load_sums, 0, sums, sizeof sums, error));
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++)
        for (int i = 0; i < KF_LOAD_SUMS; i++) /* around its end, as in kernels, once the flow has blown up */
            total[i] = (long long)((unsigned long long)total[i] + (unsigned long long)sums[slot][i]);
    return KF_OK;
}

/* Adds what one part's sums say to those of force and torque. */
static kf_status add_load(const kf_plan *plan, kf_kinetic *kinetic, long long total[KF_LOAD_SUMS],
                          kf_error *error) {
    kf_backend *backend = plan->parts[kinetic->part];
    if (!kinetic->has_samples && kinetic->links.count == 0 && !kinetic->leaves) return KF_OK;
    const bool later = (kinetic->band || kinetic->linked) && !kinetic->leaves;
    KF_TRY(kf_kinetic_add_sums(kinetic, backend, later ? &kinetic->load_launch : NULL, total, error));
    if (kinetic->wall_found != NULL)
        KF_TRY(kf_kinetic_add_sums(kinetic, backend, &kinetic->wall_launch, total, error));
    return kinetic->band && kinetic->has_samples ? check_band(kinetic, error) : KF_OK;
}

/* Returns the force and torque of the last step on the solid, summed over all parts and processes, in
 * lattice units. */
static kf_status solid_load(kf_plan *plan, kf_solid_load *load, kf_error *error) {
    kf_kinetic *kinetics = kinetic_of(plan);
    long long total[KF_LOAD_SUMS] = {0};
    memset(load, 0, sizeof *load);
    if ((!kinetics->has_solid && !kinetics->linked) || plan->steps_done == 0) return KF_OK;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(add_load(plan, &kinetics[part], total, error));
    int64_t sums[KF_LOAD_SUMS];
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        sums[i] = total[i];
    KF_TRY(kf_world_sum(sums, KF_LOAD_SUMS, error));
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        total[i] = sums[i];
    if (kinetics->free) KF_TRY(check_body(plan, error));
    for (int i = 0; i < 3; i++) {
        load->force[i] = total[KF_LOAD_SUMS - 1] == 0 ? (double)total[i] / KF_FORCE_SCALE : (double)NAN;
        load->torque[i] = total[KF_LOAD_SUMS - 1] == 0 ? (double)total[i + 3] / KF_TORQUE_SCALE : (double)NAN;
    }
    return KF_OK;
}

/* The solid turns to where it is at a window's first step; the flow stays as it is. One kernel in the stream,
 * so that timing need not wait for it. */
static kf_status seek(kf_plan *plan, int window, double shift, kf_error *error) {
    const int block[3] = {1, 1, 1};
    for (int part = 0; part < plan->part_count; part++) {
        const kf_kinetic *kinetic = kinetic_of(plan) + part;
        kf_function *function;
        KF_TRY(kf_module_function(kinetic->modules[KF_SOURCE_MOTION], "set_pose_step", &function, error));
        kf_kinetic_arguments a = kinetic->arguments;
        a.extent[0] = a.extent[1] = a.extent[2] = 1;
        a.body.pose_step = (long long)kf_plan_window_step(plan, window, shift);
        kf_launch launch;
        kf_kinetic_set_launch(&launch, "set_pose_step", function, KF_SOURCE_MOTION, block, &a);
        KF_TRY(kf_backend_launch(plan->parts[part], &launch, error));
    }
    return KF_OK;
}

static void free_system(kf_plan *plan) {
    kf_flow_link_free(kinetic_of(plan)->link);
    kf_nccl_group_free(kinetic_of(plan)->nccl);
    for (int part = 0; part < plan->part_count; part++)
        kf_kinetic_free_links(kinetic_of(plan) + part);
    free(plan->system);
}

/* Without a solid that moves, which has a place, and without a list of the nodes about a solid. */
static bool lends(const kf_plan *plan) {
    return !kf_plan_scene(plan)->motion.moving && kf_kinetic_list_bytes(kinetic_of(plan)) == 0;
}

static const kf_flow_methods flow = {.fields = read_fields,
                                     .nodes = read_nodes,
                                     .velocity = kf_kinetic_device_velocity,
                                     .load = solid_load,
                                     .loads = kf_kinetic_solid_loads,
                                     .wall = kf_kinetic_look_at_wall,
                                     .pose = read_pose,
                                     .lends = lends};

const kf_plan_methods kf_kinetic_methods = {.initialise = kf_kinetic_initialise,
                                            .snapshot = kf_flow_snapshot,
                                            .record = kf_flow_record,
                                            .meaning = kf_flow_meaning,
                                            .watch = watch,
                                            .time = kf_flow_time,
                                            .seek = seek,
                                            .flow = &flow,
                                            .state_size = kf_kinetic_state_size,
                                            .save = kf_kinetic_save,
                                            .restore = kf_kinetic_restore,
                                            .free = free_system};
