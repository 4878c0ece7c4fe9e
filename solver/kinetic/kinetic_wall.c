/* Friction at a solid by links by a law of the wall: the nodes beside it on the device, the kernels of a
 * step, and their results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/flow/flow_frame.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"
#include "solver/kinetic/kinetic_samples.h"

enum { PER_ITEM = 16 };

static size_t count_rows(const kf_links *links) {
    return (links->wall_count + KF_LINK_LANES - 1) / KF_LINK_LANES * KF_LINK_ROWS;
}

/* Buffers of the kernels' lists. */
typedef struct wall_lists {
    kf_buffer *rows, *node, *seen, *surface;
} wall_lists;

/* Fills the kernels' lists from the scene's. */
static kf_status upload_lists(kf_kinetic *kinetic, const kf_links *links, const wall_lists *lists,
                              kf_error *error) {
    const size_t count = links->wall_count, row_count = count_rows(links);
    if (count == 0) return KF_OK;
    kf_link_row *rows = kf_allocate_zeroed(row_count, sizeof *rows);
    long long *node = kf_allocate(count * sizeof *node), *seen = kf_allocate(count * sizeof *seen);
    double *lies = kf_allocate(KF_WALL_SURFACE * count * sizeof *lies);
    kf_kinetic_order_links(links, NULL, rows);
    for (size_t n = 0; n < count; n++) {
        const kf_wall_node *wall = &links->wall[n];
        node[n] = kf_kinetic_node_index(kinetic, links->link[wall->first].at[0].node);
        seen[n] = kf_kinetic_node_index(kinetic, wall->seen);
        for (size_t a = 0; a < 3; a++)
            lies[a * count + n] = wall->normal[a];
        lies[3 * count + n] = wall->area;
        lies[4 * count + n] = wall->height;
    }
    kf_status status = kf_buffer_upload(lists->rows, 0, rows, row_count * sizeof *rows, error);
    if (status == KF_OK) status = kf_kinetic_upload_indices(kinetic, lists->node, node, count, error);
    if (status == KF_OK) status = kf_kinetic_upload_indices(kinetic, lists->seen, seen, count, error);
    if (status == KF_OK)
        status = kf_buffer_upload(lists->surface, 0, lies, KF_WALL_SURFACE * count * sizeof *lies, error);
    free(rows);
    free(node);
    free(seen);
    free(lies);
    return status;
}

/* Allocates and fills the arrays of the nodes beside the wall (kf_wall_node) on the device. */
kf_status kf_kinetic_upload_wall(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_links *links = &kinetic->links;
    const size_t count = links->wall_count, room = count > 0 ? count : 1, rows = count_rows(links),
                 index = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    kf_kinetic_wall *a = &kinetic->arguments.wall;
    wall_lists lists;
    if (kf_plan_scene(plan)->links.wall_count == 0) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, (rows > 0 ? rows : 1) * sizeof(kf_link_row), &lists.rows, error));
    KF_TRY(kf_plan_buffer(plan, room * index, &lists.node, error));
    KF_TRY(kf_plan_buffer(plan, room * index, &lists.seen, error));
    KF_TRY(kf_plan_buffer(plan, KF_WALL_SURFACE * room * sizeof(double), &lists.surface, error));
    KF_TRY(kf_plan_buffer(plan, KF_WALL_FOUND * room * sizeof(double), &kinetic->wall_found, error));
    KF_TRY(kf_plan_buffer(plan, KF_WALL_FORCES * room * sizeof(double), &kinetic->wall_force, error));
    *a = (kf_kinetic_wall){.count = (int)count,
                           .rows = kf_buffer_address(lists.rows),
                           .node = kf_buffer_address(lists.node),
                           .seen = kf_buffer_address(lists.seen),
                           .surface = kf_buffer_address(lists.surface),
                           .found = kf_buffer_address(kinetic->wall_found),
                           .force = kf_buffer_address(kinetic->wall_force),
                           .turn = 1 + (int)((links->count + room - 1) / room),
                           .viscosity = kf_plan_scene(plan)->viscosity};
    return upload_lists(kinetic, links, &lists, error);
}

static int count_turns(const kf_builder *b) {
    return (b->kinetic->arguments.wall.count + KF_LINK_LANES - 1) / KF_LINK_LANES;
}

void kf_append_found_friction(kf_builder *b, int parity, int grid, int shell) {
    const int items = count_turns(b) * b->kinetic->arguments.wall.turn * KF_LINK_LANES + shell;
    if (items > 0) kf_append_items(b, parity, KF_SOURCE_WALL, "reflect_and_find", items, grid, grid);
}

void kf_append_friction(kf_builder *b, int parity, int grid) {
    kf_append_look(b, parity, grid);
    kf_append_items(b, parity, KF_SOURCE_WALL, "apply_friction", count_turns(b) * KF_LINK_LANES, grid, grid);
    kf_append_layer(b, parity, grid);
}

/* Sets the launches that add up forces on demand. */
void kf_set_wall_launches(kf_builder *b) {
    kf_kinetic *kinetic = b->kinetic;
    if (kinetic->wall_found == NULL) return;
    kf_kinetic_arguments arguments = kf_from_to(kinetic, kinetic->solution, kinetic->solution);
    kf_function *load = kf_builder_function(b, KF_SOURCE_WALL, "load_wall");
    if (b->status != KF_OK) return;
    arguments.extent[0] = (arguments.wall.count + PER_ITEM - 1) / PER_ITEM;
    arguments.extent[1] = arguments.extent[2] = 1;
    for (int friction = 0; friction < 2; friction++) {
        arguments.wall.friction = friction;
        kf_kinetic_set_launch(friction ? &kinetic->friction_launch : &kinetic->wall_launch, "load_wall", load,
                              KF_SOURCE_WALL, b->line_block, &arguments);
    }
}

/* Takes least, mean and largest values over the surface. */
static void take_range(const kf_links *links, const double *values, double scale_of_height, double range[3]) {
    double sum = 0.0, area = 0.0;
    range[0] = INFINITY;
    range[2] = 0.0;
    for (size_t n = 0; n < links->wall_count; n++) {
        const double value = values[n] * scale_of_height;
        range[0] = fmin(range[0], value);
        range[2] = fmax(range[2], value);
        sum += value * links->wall[n].area;
        area += links->wall[n].area;
    }
    range[1] = sum / area;
}

/* Takes what the law found at all nodes together. */
static void sum_up(const kf_scene *scene, const double *found, kf_wall_look *look) {
    const kf_links *links = &scene->links;
    double share[3];
    take_range(links, found, 1.0, share);
    take_range(links, found + links->wall_count, 1.0, look->friction_velocity);
    take_range(links, found + links->wall_count, 0.5 / scene->viscosity, look->y_plus);
    look->share = share[1];
}

/* Adds up the pressure along the drag, apart where the surface faces the wind. The first six forces of each
 * node are others. */
static void add_pressure(const kf_links *links, const double drag[3], const double *forces,
                         kf_wall_look *look) {
    const size_t count = links->wall_count;
    for (size_t n = 0; n < count; n++) {
        const int behind = kf_dot(links->wall[n].normal, drag) < 0.0 ? 0 : 1;
        for (size_t a = 0; a < 3; a++)
            look->pressure[behind] += forces[(6 + a) * count + n] * drag[a];
    }
}

/* Reads so many values of each node beside the surface, in the order of the scene's, of all parts of all
 * processes. which: found or force. */
static kf_status read_values(kf_plan *plan, size_t values, size_t which, double **all, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const size_t count = kf_plan_scene(plan)->links.wall_count, bytes = values * count * sizeof(double);
    double *merged = kf_allocate_zeroed(values * count + 1, sizeof *merged), *own = kf_allocate(bytes);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        const kf_kinetic *kinetic = &kinetics[part];
        const size_t nodes = kinetic->links.wall_count;
        status = kf_buffer_download(which == 0 ? kinetic->wall_found : kinetic->wall_force, 0, own,
                                    values * nodes * sizeof *own, error);
        for (size_t i = 0; i < values && status == KF_OK; i++)
            for (size_t n = 0; n < nodes; n++)
                merged[i * count + (size_t)kinetic->wall_order[n]] =
                    own[i * nodes + n]; /* of copies the same */
    }
    if (status == KF_OK) status = kf_world_merge(merged, bytes, error);
    free(own);
    *all = merged;
    return status;
}

/* Sums the friction of all parts. */
static kf_status sum_friction(kf_plan *plan, kf_wall_look *look, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    long long total[KF_LOAD_SUMS] = {0};
    int64_t sums[KF_LOAD_SUMS];
    for (int part = 0; part < plan->part_count; part++)
        if (kinetics[part].links.wall_count > 0)
            KF_TRY(kf_kinetic_add_sums(&kinetics[part], plan->parts[part], &kinetics[part].friction_launch,
                                       total, error));
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        sums[i] = total[i];
    KF_TRY(kf_world_sum(sums, KF_LOAD_SUMS, error));
    for (int i = 0; i < 3; i++)
        look->friction[i] = sums[KF_LOAD_SUMS - 1] == 0 ? (double)sums[i] / KF_FORCE_SCALE : (double)NAN;
    return KF_OK;
}

kf_status kf_kinetic_look_at_wall(kf_plan *plan, kf_wall_look *look, double *friction_velocity,
                                  kf_error *error) {
    kf_flow_frame frame;
    kf_flow_frame_of(kf_plan_scene(plan), &frame);
    return kf_kinetic_look_along(plan, frame.drag, look, friction_velocity, error);
}

kf_status kf_kinetic_look_along(kf_plan *plan, const double drag[3], kf_wall_look *look,
                                double *friction_velocity, kf_error *error) {
    const kf_kinetic *kinetic = plan->system;
    const kf_scene *scene = kf_plan_scene(plan);
    const size_t count = scene->links.wall_count;
    double *found = NULL, *forces = NULL;
    memset(look, 0, sizeof *look);
    look->known = kinetic->wall_found != NULL;
    if (friction_velocity != NULL && count > 0)
        memset(friction_velocity, 0, count * sizeof *friction_velocity);
    if (!look->known || plan->steps_done == 0) return KF_OK;
    KF_TRY(sum_friction(plan, look, error));
    kf_status status = read_values(plan, KF_WALL_FOUND, 0, &found, error);
    if (status == KF_OK) status = read_values(plan, KF_WALL_FORCES, 1, &forces, error);
    if (status == KF_OK) {
        sum_up(scene, found, look);
        add_pressure(&scene->links, drag, forces, look);
        status = kf_kinetic_sum_modelled(kinetic, &scene->links, &look->modelled, error);
    }
    if (status == KF_OK && friction_velocity != NULL)
        memcpy(friction_velocity, found + count, count * sizeof *friction_velocity);
    free(found);
    free(forces);
    return status;
}
