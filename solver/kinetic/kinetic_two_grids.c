/* A step between two grids of the fused plan. A team that copies planes first computes those that others
 * read. The rows at the faces come beside the others when they have a separate kernel. */
#include "scene/scene.h"
#include "solver/kinetic/kinetic_builder.h"

/* Returns the nodes up to the end of the last sector that a GPU writes of a row, or of the last cache line of
 * a cpu. */
static int whole_row(const kf_kinetic *kinetic) {
    enum { SECTOR = 32, LINE = 64 };
    const bool beyond = kinetic->options.boundary_kernels == 0;
    const int bytes = kinetic->options.gpu ? SECTOR : LINE;
    const int whole = beyond ? bytes / (int)kinetic->store_bytes : 1;
    return (kinetic->geometry.nodes[0] + whole - 1) / whole * whole;
}

void kf_flow_extent(const kf_kinetic *kinetic, int extent[3]) {
    const int together = (int)kinetic->options.nodes_per_thread;
    extent[0] = (whole_row(kinetic) + together - 1) / together;
    extent[1] = kinetic->rows;
    extent[2] = kinetic->planes;
}

void kf_append_join(kf_builder *b, int p, const char *name) {
    kf_mark *mark;
    if (b->status == KF_OK) b->status = kf_plan_mark(b->plan, &mark, b->error);
    if (b->status != KF_OK) return;
    b->joins = true;
    kf_schedule(b, p, kf_plan_add_signal(b->plan, name, mark));
    b->joins = false;
}

/* Appends the band in one kernel. Each of its parts begins with a warp. */
static void append_chain(kf_builder *b, int p) {
    enum { WARP = 32 };
    const kf_kinetic_arguments *a = &b->kinetic->arguments;
    const int lanes = (int)b->kinetic->options.segment_lanes * a->segments.count,
              band = (a->band.capacity + WARP - 1) / WARP, segments = (lanes + WARP - 1) / WARP;
    b->waits = true;
    kf_append_items(b, p, KF_SOURCE_FLOW, "band_chain", WARP * (2 * band + segments), p, 1 - p);
    b->waits = false;
}

/* Appends what the solid needs before the flow, in step p of two between two grids: all of the band where
 * the flow's kernel leaves it out. */
static void append_band_first(kf_builder *b, int p) {
    const kf_kinetic *kinetic = b->kinetic;
    const int band = kinetic->arguments.band.capacity;
    if (!kinetic->has_samples) return;
    b->aside = kinetic->options.concurrent_solid;
    if (kf_kinetic_has_chain(kf_plan_scene(b->plan), &kinetic->options)) {
        append_chain(b, p);
        b->aside = false;
        return;
    }
    if (!b->band_is_done) {
        kf_append_items(b, p, KF_SOURCE_FLOW, "band_macroscopic", band, p, 1 - p);
        b->overlaps = kinetic->options.overlap && kinetic->passes == 1;
        kf_append_band_force(b, p, p);
    }
    if (kinetic->options.masked_band) kf_append_items(b, p, KF_SOURCE_FLOW, "band_collide", band, p, 1 - p);
    b->aside = b->overlaps = false;
}

/* A box of the part, and its band's nodes there; joins: these are the first that need what the other lanes
 * were given. */
static void append_some(kf_builder *b, int p, const kf_kinetic_box *box, bool joins) {
    const kf_kinetic *kinetic = b->kinetic;
    kf_kinetic_arguments arguments = kf_from_to(kinetic, p, 1 - p);
    const int first = box->first[1], end = first + box->count[1];
    int extent[3];
    if (box->count[0] == 0 || box->count[1] == 0) return;
    kf_flow_extent(kinetic, extent);
    extent[1] = arguments.part.rows = box->count[0];
    extent[2] = arguments.part.planes = box->count[1];
    arguments.part.first_row = box->first[0];
    arguments.part.first_plane = first;
    if (first > kinetic->first_plane) arguments.outflow.below = NULL;
    if (end < kinetic->first_plane + kinetic->planes) arguments.outflow.above = NULL;
    kf_append(b, p, KF_SOURCE_FLOW, "stream_collide", extent, kinetic->options.block, arguments,
              2.0 * kinetic->node_values * b->node_bytes * extent[1] * extent[2] / kinetic->rows /
                  kinetic->planes);
    if (!kinetic->has_samples || kinetic->options.masked_band) return;
    const int band[3] = {kinetic->arguments.band.capacity, 1, 1};
    b->joins = joins;
    kf_append(b, p, KF_SOURCE_FLOW, "band_collide", band, b->line_block, arguments, 0);
}

/* Returns the box of the part's nodes that are not sent. Without such nodes it is empty at the end. */
static kf_kinetic_box inner_box(const kf_builder *b) {
    const kf_kinetic *kinetic = b->kinetic;
    kf_kinetic_box box = b->boxes[b->plan->first_part + kinetic->part];
    for (int i = 0; i < 2; i++) {
        const int near = kinetic->halo_width, side = i == 0 ? 2 : 0, end = box.first[i] + box.count[i];
        const int low = box.first[i] + (kf_kinetic_is_copied(b->plan, kinetic->part, side) ? near : 0),
                  high = end - (kf_kinetic_is_copied(b->plan, kinetic->part, side + 1) ? near : 0);
        box.first[i] = low < high ? low : end;
        box.count[i] = low < high ? high - low : 0;
    }
    return box;
}

/* The step of a team that copies planes: first those that others read, and what they leave to the outflow, */
void kf_append_outer(kf_builder *b, int p) {
    const kf_kinetic *kinetic = b->kinetic;
    const kf_kinetic_box all = b->boxes[b->plan->first_part + kinetic->part], inner = inner_box(b);
    append_band_first(b, p);
    for (int i = 1; i >= 0; i--) /* planes, then rows of the others */
        for (int high = 0; high < 2; high++) {
            kf_kinetic_box box = i == 1 ? all : inner;
            box.first[i] = high ? inner.first[i] + inner.count[i] : all.first[i];
            box.count[i] = (high ? all.first[i] + all.count[i] : inner.first[i]) - box.first[i];
            append_some(b, p, &box, true);
        }
    if (kinetic->has_samples && kinetic->options.concurrent_solid) kf_append_join(b, p, "planes_done");
}

/* Appends the flow's inner nodes, while the outer ones travel. */
void kf_append_inner(kf_builder *b, int p) {
    const kf_kinetic_box inner = inner_box(b);
    append_some(b, p, &inner, false);
}

/* Appends the rows at the faces across y and z in a separate kernel (boundary_rows_apart). extent keeps the
 * other rows. They start first: after all blocks of a kernel that fills the device they would only run at its
 * end. */
static void append_boundary_rows(kf_builder *b, int p, int extent[3]) {
    const kf_kinetic *kinetic = b->kinetic;
    static const int block[3] = {32, 2, 1};
    const int rows = 2 * (extent[1] + extent[2] - 2), boundary[3] = {whole_row(kinetic), rows, 1};
    if (!kinetic->options.boundary_rows_apart) return;
    b->ahead = true;
    kf_append(b, p, KF_SOURCE_FLOW, "stream_collide_boundary", boundary, block, kf_from_to(kinetic, p, 1 - p),
              2.0 * kinetic->node_values * b->node_bytes * rows / extent[1] / extent[2]);
    b->ahead = false;
    extent[1] -= 2;
    extent[2] -= 2;
}

/* Appends step p of two between two grids. The band's nodes collide a second time, or by band_collide only.
 */
void kf_append_two_grids(kf_builder *b, int p) {
    const kf_kinetic *kinetic = b->kinetic;
    const int band = kinetic->arguments.band.capacity;
    const bool again = kinetic->has_samples && !kinetic->options.masked_band;
    append_band_first(b, p);
    int extent[3];
    kf_flow_extent(kinetic, extent);
    append_boundary_rows(b, p, extent);
    kf_append(
        b, p, KF_SOURCE_FLOW, "stream_collide", extent, kinetic->options.block, kf_from_to(kinetic, p, 1 - p),
        2.0 * kinetic->node_values * b->node_bytes * extent[1] * extent[2] / kinetic->rows / kinetic->planes);
    const bool apart =
        kinetic->options.boundary_rows_apart ||
        (kinetic->has_samples && kinetic->options.masked_band && kinetic->options.concurrent_solid);
    if (apart && !again) kf_append_join(b, p, "step_done");
    if (!again) return;
    b->joins = true;
    kf_append_items(b, p, KF_SOURCE_FLOW, "band_collide", band, p, 1 - p);
}
