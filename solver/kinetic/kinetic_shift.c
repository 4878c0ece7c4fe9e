/* The step of a grid that moves to and fro within a buffer of some more planes (streaming shift). */
#include <string.h>

#include "scene/scene.h"
#include "solver/kinetic/kinetic_builder.h"

/* Copies plane `from` of grid p to the ghosts at plane `to`. */
static void append_plane_copy(kf_builder *b, int p, int from, int to) {
    const kf_kinetic *kinetic = b->kinetic;
    const kf_kinetic_geometry *g = &kinetic->geometry;
    /* The bytes of a plane's populations. */
    const bool apart = kinetic->options.layout == KF_SOA;
    const size_t value = kinetic->store_bytes * (apart ? 1 : (size_t)kinetic->node_values),
                 plane = (size_t)g->plane_pitch * value;
    const size_t grid = (size_t)(kinetic->grids[p] - (char *)kf_buffer_address(kinetic->populations[0])) +
                        (size_t)(g->origin + (long long)g->row_pitch * g->rows_before) * value;
    kf_copy copy = {.target = kinetic->populations[0],
                    .source = kinetic->populations[0],
                    .target_offset = grid + (size_t)(to + 1) * plane,
                    .source_offset = grid + (size_t)(from + 1) * plane,
                    .bytes = plane,
                    .rows = apart ? (size_t)kinetic->node_values : 1};
    copy.target_pitch = copy.source_pitch = (size_t)g->capacity * kinetic->store_bytes;
    if (b->status != KF_OK) return;
    kf_item *item = kf_plan_add_copy(b->plan, "plane_copy", &copy);
    kf_schedule(b, p, item);
    item->bytes = 2.0 * (double)(copy.bytes * copy.rows);
}

/* Returns the first plane of slab i from below. The slabs of a team's part have equal sizes, so that none at
 * a cut is thin. */
static int slab_begin(const kf_kinetic *kinetic, int slabs, int i) {
    const int slab = (int)kinetic->options.slab, planes = kinetic->planes;
    if (kinetic->options.parts > 1) return kinetic->first_plane + planes * i / slabs;
    return slab * i < planes ? slab * i : planes;
}

/* Appends a step of a moving grid, slab by slab. A slab overwrites data that previous slabs have read. The
 * one directly before may still run in the other lane, the others must have ended. */
static void append_slabs(kf_builder *b, int p) {
    enum { MARKS = 4, BEHIND = 3 };
    const kf_kinetic *kinetic = b->kinetic;
    const int slab = (int)kinetic->options.slab, slabs = (kinetic->planes + slab - 1) / slab;
    kf_mark *marks[MARKS];
    int extent[3];
    kf_flow_extent(kinetic, extent);
    for (int i = 0; i < MARKS && b->status == KF_OK; i++)
        b->status = kf_plan_mark(b->plan, &marks[i], b->error);
    for (int i = 0; i < slabs && b->status == KF_OK; i++) {
        kf_kinetic_arguments arguments = kf_from_to(kinetic, p, 1 - p);
        const int from_below = p == 0 ? i : slabs - 1 - i;
        arguments.part.first_plane = slab_begin(kinetic, slabs, from_below);
        extent[2] = arguments.part.planes =
            slab_begin(kinetic, slabs, from_below + 1) - arguments.part.first_plane;
        if (from_below > 0) arguments.outflow.below = NULL;
        if (from_below < slabs - 1) arguments.outflow.above = NULL;
        b->beside = kinetic->options.gpu && i % 2 == 0;
        if (i >= BEHIND)
            kf_schedule(b, p, kf_plan_add_await(b->plan, "slab_read", marks[(i - BEHIND) % MARKS]));
        kf_append(b, p, KF_SOURCE_FLOW, "stream_collide", extent, kinetic->options.block, arguments,
                  2.0 * kinetic->node_values * b->node_bytes * extent[2] / kinetic->planes);
        if (b->status == KF_OK) kf_schedule(b, p, kf_plan_add_signal(b->plan, "slab_done", marks[i % MARKS]));
    }
    b->beside = false;
    kf_append_join(b, p, "grid_done");
}

/* Appends step p of two of a grid that moves to and fro: upwards from the far end in even steps, downwards in
 * odd ones. A team's part has its own grid, which contains both ends of the domain if the part is at one of
 * them. */
void kf_append_shift(kf_builder *b, int p) {
    const kf_kinetic *kinetic = b->kinetic;
    const int band = kinetic->arguments.band.capacity, last = kinetic->geometry.nodes[2] - 1;
    const bool ring = kf_plan_scene(b->plan)->faces[KF_ZMIN] == KF_PERIODIC,
               ends = kinetic->first_plane == 0 || kinetic->first_plane + kinetic->planes > last;
    if (ring && ends && kinetic->options.boundary_kernels == 0) {
        append_plane_copy(b, p, 0, last + 1);
        append_plane_copy(b, p, last, -1);
    }
    if (kinetic->has_samples) {
        if (!b->band_is_done) {
            kf_append_items(b, p, KF_SOURCE_FLOW, "band_macroscopic", band, p, 1 - p);
            kf_append_band_force(b, p, p);
        }
        kf_append_items(b, p, KF_SOURCE_FLOW, "band_collide", band, p, 1 - p);
    }
    append_slabs(b, p);
    if (kinetic->has_samples) kf_append_items(b, p, KF_SOURCE_FLOW, "band_restore", band, p, 1 - p);
}
