/* Computes the velocity at all nodes on the first device, for tracers that move with the flow, such as smoke.
 */
#include <stdlib.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

enum { NODE_BYTES = 4 * sizeof(float) }; /* kernels/kinetic/velocity.cu */

/* Launches the kernel over planes first to first + planes - 1 of a grid, on its own rows, into a buffer that
 * begins with the first of them. */
static kf_status launch(kf_plan *plan, int grid, int first, int planes, const kf_buffer *buffer,
                        kf_error *error) {
    kf_kinetic *kinetic = (kf_kinetic *)plan->system + grid;
    kf_module **module = &kinetic->modules[KF_SOURCE_VELOCITY];
    if (*module == NULL) {
        kf_source source;
        kf_defines defines;
        kf_kinetic_define(kf_plan_scene(plan), &kinetic->options, &kinetic->geometry, KF_SOURCE_VELOCITY,
                          &source, &defines);
        kf_plan_on(plan, grid);
        const kf_status status = kf_plan_module(plan, &source, module, error);
        kf_plan_on(plan, 0);
        KF_TRY(status);
    }
    kf_function *kernel;
    KF_TRY(kf_module_function(*module, "velocity", &kernel, error));
    kf_kinetic_arguments a = kinetic->arguments;
    a.extent[0] = a.grid.nodes[0];
    a.extent[2] = planes;
    a.part.first_plane = first;
    kf_kinetic_rows(kinetic, 0, &a.part.first_row, &a.extent[1]);
    kf_kinetic_find_populations(kinetic, plan->steps_done, &a);
    a.fields.velocity = kf_buffer_address(buffer);
    const int block[3] = {64, 1, 1};
    kf_launch one;
    kf_kinetic_set_launch(&one, "velocity", kernel, KF_SOURCE_VELOCITY, block, &a);
    return kf_backend_launch(plan->parts[grid], &one, error);
}

/* Copies a grid's own nodes through its slab to their place in the whole domain. */
static kf_status bring(kf_plan *plan, int grid, kf_buffer *buffer, kf_error *error) {
    const kf_kinetic *kinetic = (const kf_kinetic *)plan->system + grid;
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t row = (size_t)n[0] * NODE_BYTES, plane = row * (size_t)n[1],
                 place = row * (size_t)kinetic->first_row;
    int begin, end;
    kf_kinetic_own_planes(plan, grid, &begin, &end);
    for (int first = begin, planes = 0; first < end; first += planes) {
        planes = end - first < kinetic->slab_planes ? end - first : kinetic->slab_planes;
        KF_TRY(launch(plan, grid, first, planes, kinetic->slab, error));
        const kf_copy copy = {.target = buffer,
                              .source = kinetic->slab,
                              .target_offset = plane * (size_t)first + place,
                              .source_offset = place,
                              .bytes = row * (size_t)kinetic->rows,
                              .rows = (size_t)planes,
                              .target_pitch = plane,
                              .source_pitch = plane};
        KF_TRY(kf_stream_copy(kf_backend_stream(plan->parts[grid], KF_LANE_MAIN), &copy, error));
    }
    return KF_OK;
}

/* Gathers what other processes have of the velocity, by way of the host. */
static kf_status gather(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t plane = (size_t)n[0] * (size_t)n[1] * NODE_BYTES, bytes = plane * (size_t)n[2];
    if (kf_world_size() == 1) return KF_OK;
    char *all = kf_allocate(bytes);
    kf_status status = kf_buffer_download(buffer, 0, all, bytes, error);
    if (status == KF_OK) status = kf_kinetic_gather_planes(plan, all, plane, 1, error);
    if (status == KF_OK) status = kf_buffer_upload(buffer, 0, all, bytes, error);
    free(all);
    return status;
}

kf_status kf_kinetic_device_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    const int grids = kf_kinetic_grids(plan);
    if (plan->all_parts == 1) return launch(plan, 0, 0, kf_plan_scene(plan)->nodes[2], buffer, error);
    KF_TRY(kf_kinetic_settle(plan, error));
    if (grids == 1 && kf_world_size() == 1)
        KF_TRY(launch(plan, 0, 0, kf_plan_scene(plan)->nodes[2], buffer, error));
    for (int grid = 0; (grids > 1 || kf_world_size() > 1) && grid < grids; grid++)
        KF_TRY(bring(plan, grid, buffer, error));
    /* The parts' next steps must not start before it ends. */
    KF_TRY(kf_kinetic_settle(plan, error));
    return gather(plan, buffer, error);
}
