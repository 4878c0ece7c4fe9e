/* A static solid by links: its lists on the device, and its kernels in a step. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"
#include "solver/kinetic/kinetic_samples.h"

enum { ALONE = 27, PER_ITEM = 16 };

static long long node_index(const kf_kinetic *kinetic, const int node[3]) {
    const kf_kinetic_geometry *g = &kinetic->geometry;
    return g->origin + node[0] + (long long)g->row_pitch * (node[1] + 1) + g->plane_pitch * (node[2] + 1);
}

static kf_status upload_inside(kf_plan *plan, kf_kinetic *kinetic, const kf_links *links, kf_error *error) {
    const size_t bytes = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    long long *indices = kf_allocate((links->inside_count + 1) * sizeof *indices);
    kf_buffer *buffer;
    for (size_t n = 0; n < links->inside_count; n++)
        indices[n] = node_index(kinetic, links->inside[n]);
    kf_status status = kf_plan_buffer(plan, (links->inside_count + 1) * bytes, &buffer, error);
    if (status == KF_OK && links->inside_count > 0)
        status = kf_kinetic_upload_indices(kinetic, buffer, indices, links->inside_count, error);
    if (status == KF_OK) kinetic->arguments.link_inside = kf_buffer_address(buffer);
    free(indices);
    return status;
}

static kf_status upload_lists(kf_kinetic *kinetic, const kf_links *links, kf_buffer *const buffers[3],
                              kf_error *error) {
    long long *indices = kf_allocate(links->count * sizeof *indices);
    int *codes = kf_allocate(links->count * sizeof *codes);
    double *shares = kf_allocate(links->count * sizeof *shares);
    for (size_t n = 0; n < links->count; n++) {
        const kf_link *link = &links->link[n];
        const signed char *c = link->direction;
        indices[n] = node_index(kinetic, link->node);
        codes[n] = (c[0] + 1) + 3 * (c[1] + 1) + 9 * (c[2] + 1) + (link->alone ? ALONE : 0);
        shares[n] = link->share;
    }
    kf_status status = kf_kinetic_upload_indices(kinetic, buffers[0], indices, links->count, error);
    if (status == KF_OK) status = kf_buffer_upload(buffers[1], 0, codes, links->count * sizeof *codes, error);
    if (status == KF_OK) status = kf_kinetic_upload_reals(kinetic, buffers[2], shares, links->count, error);
    free(indices);
    free(codes);
    free(shares);
    return status;
}

kf_status kf_kinetic_upload_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_links *links = &scene->links;
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t index_bytes = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    kf_buffer *lists[3], *value;
    if (links->count + links->inside_count > 2147483647 / 8)
        return kf_fail(error, KF_MACHINE, "the solid cuts too many links (%zu)", links->count);
    KF_TRY(kf_plan_buffer(plan, links->count * index_bytes, &lists[0], error));
    KF_TRY(kf_plan_buffer(plan, links->count * sizeof(int), &lists[1], error));
    KF_TRY(kf_plan_buffer(plan, links->count * kinetic->real_bytes, &lists[2], error));
    KF_TRY(kf_plan_buffer(plan, 2 * links->count * kinetic->real_bytes, &value, error));
    KF_TRY(
        kf_plan_buffer(plan, KF_LOAD_SUMS * KF_LOAD_SLOTS * sizeof(long long), &kinetic->load_sums, error));
    KF_TRY(kf_buffer_fill(value, 0, error));
    a->link_count = (int)links->count;
    a->link_node = kf_buffer_address(lists[0]);
    a->link_code = kf_buffer_address(lists[1]);
    a->link_share = kf_buffer_address(lists[2]);
    a->link_value = kf_buffer_address(value);
    a->load_sums = kf_buffer_address(kinetic->load_sums);
    KF_TRY(upload_inside(plan, kinetic, links, error));
    return upload_lists(kinetic, links, lists, error);
}

void kf_append_links(kf_builder *b, int parity, int grid) {
    const kf_links *links = &kf_plan_scene(b->plan)->links;
    if (!b->kinetic->linked) return;
    kf_append_items(b, parity, KF_SOURCE_LINKS, "reflect_links", (int)(links->count + links->shell_count),
                    grid, grid);
    kf_append_items(b, parity, KF_SOURCE_LINKS, "place_links", (int)links->count, grid, grid);
}

void kf_set_link_launches(kf_builder *b) {
    const kf_links *links = &kf_plan_scene(b->plan)->links;
    kf_kinetic *kinetic = b->kinetic;
    if (!kinetic->linked) return;
    kf_kinetic_arguments arguments = kf_from_to(kinetic, kinetic->solution, kinetic->solution);
    kf_function *load = kf_builder_function(b, KF_SOURCE_LINKS, "load_links"),
                *rest = kf_builder_function(b, KF_SOURCE_LINKS, "rest_inside");
    if (b->status != KF_OK) return;
    arguments.extent[0] = (arguments.link_count + PER_ITEM - 1) / PER_ITEM;
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_launch_set(&kinetic->load_launch, "load_links", load, b->line_block, &arguments, sizeof arguments);
    arguments.extent[0] = (int)links->inside_count;
    kf_launch_set(&kinetic->rest_launch, "rest_inside", rest, b->line_block, &arguments, sizeof arguments);
}
