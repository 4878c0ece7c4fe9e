/* A solid by links whose surface leaves its place: its memory on the device, and its kernels in a step. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/flow/flow_distance.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

/* The nodes of the box beyond the solid's extent. */
enum { BESIDE = 1 };

/* Lays out the box of nodes that the solid can be at, in any pose. */
static void lay_out_box(const kf_scene *scene, kf_kinetic *kinetic) {
    kf_kinetic_moving_links *a = &kinetic->arguments.moving;
    double below[3], above[3];
    kf_scene_moving_reach(scene, below, above);
    for (int i = 0; i < 3; i++) {
        a->periodic[i] = scene->faces[2 * i] == KF_PERIODIC;
        a->below[i] = below[i] + BESIDE;
        const double length = ceil(below[i] + above[i]) + 2 * BESIDE + 2;
        a->box[i] = a->periodic[i] && length > scene->nodes[i] ? scene->nodes[i] : (int)length;
    }
    a->half_way = scene->half_way;
}

/* Makes the list of the nodes that a step has work at. Its parts have room for all nodes of the box. */
static kf_status make_list(kf_plan *plan, kf_kinetic_moving_links *a, kf_error *error) {
    const double nodes = (double)a->box[0] * a->box[1] * a->box[2];
    kf_buffer *list, *counts;
    if (nodes > INT_MAX - KF_MOVING_SLOTS)
        return kf_fail(error, KF_MACHINE, "%s: the box around the moving solid has too many nodes (%.3g)",
                       kf_plan_scene(plan)->source, nodes);
    a->room = ((int)nodes + KF_MOVING_SLOTS - 1) / KF_MOVING_SLOTS;
    KF_TRY(kf_plan_buffer(plan, (size_t)a->room * KF_MOVING_SLOTS * sizeof(int), &list, error));
    KF_TRY(kf_plan_buffer(plan, sizeof(int[2 * KF_MOVING_SLOTS]), &counts, error));
    a->list = kf_buffer_address(list);
    a->counts = kf_buffer_address(counts);
    return KF_OK;
}

kf_status kf_kinetic_make_moving_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t sums = KF_LOAD_SLOTS * KF_LOAD_SUMS;
    lay_out_box(kf_plan_scene(plan), kinetic);
    KF_TRY(kf_flow_upload_distance(plan, &a->moving.distance, error));
    KF_TRY(kf_plan_buffer(plan, 2 * sizeof(kf_pose), &kinetic->pose, error));
    KF_TRY(kf_plan_buffer(plan, sums * sizeof(long long), &kinetic->load_sums, error));
    a->moving.pose = kf_buffer_address(kinetic->pose);
    KF_TRY(kf_plan_buffer(plan, sizeof(kf_moving_mass), &kinetic->moving_mass, error));
    a->moving.mass = kf_buffer_address(kinetic->moving_mass);
    KF_TRY(make_list(plan, &a->moving, error));
    a->body.load_sums = kf_buffer_address(kinetic->load_sums);
    return KF_OK;
}

/* Sets the pose to that at time 0, and empties what steps add to. */
kf_status kf_kinetic_reset_moving_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_motion *motion = &kf_plan_scene(plan)->motion;
    kf_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                    .quaternion = {1, 0, 0, 0},
                    .angular_speed = motion->angular_speed,
                    .left_at = -1,
                    .moving = 1};
    for (int i = 0; i < 3; i++) {
        pose.center[i] = pose.center_start[i] = motion->center[i];
        pose.velocity[i] = motion->velocity[i];
        pose.axis[i] = motion->axis[i];
        pose.angular_velocity[i] = motion->angular_speed * motion->axis[i];
    }
    const kf_pose both[2] = {pose, pose};
    KF_TRY(kf_buffer_fill(kinetic->load_sums, 0, error));
    KF_TRY(kf_buffer_fill(kinetic->moving_mass, 0, error));
    return kf_buffer_upload(kinetic->pose, 0, both, sizeof both, error);
}

/* Blocks of the box: on a GPU some rows, so that few threads are idle. */
static void choose_block(const kf_kinetic *kinetic, int block[3]) {
    enum { LANES = 32, ROWS = 4 };
    block[0] = kinetic->options.gpu ? LANES : kinetic->arguments.moving.box[0];
    block[1] = kinetic->options.gpu ? ROWS : 1;
    block[2] = 1;
}

kf_status kf_kinetic_rest_moving_links(kf_plan *plan, const kf_kinetic *kinetic, kf_error *error) {
    int block[3];
    kf_launch launch;
    kf_function *rest;
    KF_TRY(kf_module_function(kinetic->modules[KF_SOURCE_MOVING_LINKS], "rest_moving", &rest, error));
    kf_kinetic_arguments arguments = kinetic->arguments;
    kf_kinetic_find_populations(kinetic, plan->steps_done, &arguments);
    memcpy(arguments.extent, kinetic->arguments.moving.box, sizeof arguments.extent);
    choose_block(kinetic, block);
    kf_kinetic_set_launch(&launch, "rest_moving", rest, KF_SOURCE_MOVING_LINKS, block, &arguments);
    return kf_backend_launch(plan->parts[kinetic->part], &launch, error);
}

/* Appends the kernels of a step. It moves the solid, lists its nodes, fills those that become fluid, and sets
 * the populations that return from the surface. */
void kf_append_moving_links(kf_builder *b, int parity, int grid) {
    /* Nodes of a part that become fluid in a step. More of them take turns. */
    enum { AT_ONCE = 8 };
    int block[3];
    kf_on_part(b, 0);
    const kf_links *links = &kf_plan_scene(b->plan)->links;
    const kf_kinetic_arguments arguments = kf_from_to(b->kinetic, grid, grid);
    /* There are about twice as many inner nodes near the surface as outer ones beside it. */
    const int inside = 1 + (int)(2 * links->shell_count / KF_MOVING_SLOTS);
    choose_block(b->kinetic, block);
    kf_append_items(b, parity, KF_SOURCE_MOVING_LINKS, "move_links", KF_LOAD_SLOTS * KF_LOAD_SUMS, grid,
                    grid);
    kf_append(b, parity, KF_SOURCE_MOVING_LINKS, "list_moving", arguments.moving.box, block, arguments, 0);
    kf_append_items(b, parity, KF_SOURCE_MOVING_LINKS, "refill_nodes", AT_ONCE * KF_MOVING_SLOTS, grid, grid);
    kf_append_items(b, parity, KF_SOURCE_MOVING_LINKS, "reflect_moving",
                    inside * KF_MOVING_SHARES * KF_MOVING_SLOTS, grid, grid);
}
