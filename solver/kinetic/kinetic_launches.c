/* The kernels of a time step of each plan. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_link.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

enum { PATCH_THREADS = 128, PATCH_TOGETHER = 32, PATCH_WORDS = 32 /* immersed_band.cu */ };

/* Finds the extent of an outflow kernel: the two longest edges, and the faces. */
static void outflow_extent(const kf_kinetic *kinetic, int extent[3]) {
    const int *n = kinetic->geometry.nodes;
    extent[0] = n[0] > n[1] ? n[0] : n[1];
    extent[1] = n[1] > n[2] ? n[1] : n[2];
    extent[2] = KF_FACES;
}

/* Appends a kernel over the part's planes and rows and the neighbouring ones on both sides. Its results for
 * those are not shared. */
static void append_touched(kf_builder *b, int parity, kf_kinetic_source source, const char *name,
                           const int extent[3], const int block[3], kf_kinetic_arguments arguments) {
    int range[KF_PLANE_RANGES][2];
    const int ranges = kf_kinetic_touched_planes(b->plan, b->kinetic->part, 1, range);
    arguments.outflow.below = arguments.outflow.above = NULL;
    kf_kinetic_rows(b->kinetic, 1, &arguments.part.first_row, &arguments.part.rows);
    for (int r = 0; r < ranges; r++) {
        arguments.part.first_plane = range[r][0];
        arguments.part.planes = range[r][1] - range[r][0];
        kf_append(b, parity, source, name, extent, block, arguments, 0);
    }
}

void kf_append_outflow(kf_builder *b, int parity, int grid, void *edge) {
    int extent[3];
    const kf_kinetic_options *options = &b->kinetic->options;
    const bool kept = options->plan == KF_PLAN_FUSED && options->boundary_kernels == 0;
    if (b->kinetic->outflow[0] == NULL || kept) return;
    outflow_extent(b->kinetic, extent);
    kf_kinetic_arguments arguments = kf_from_to(b->kinetic, grid, grid);
    arguments.outflow.edge = edge;
    if (b->kinetic->computes_halo)
        append_touched(b, parity, KF_SOURCE_BOUNDARY, "convect_outflow", extent, b->face_block, arguments);
    else
        kf_append(b, parity, KF_SOURCE_BOUNDARY, "convect_outflow", extent, b->face_block, arguments, 0);
}

/* Makes the launch that fills the outflow's outside from the initial state, at all planes of which the
 * part has nodes. */
static void set_outflow_launch(kf_builder *b) {
    if (b->kinetic->outflow[0] == NULL) return;
    const bool shared = kf_kinetic_grids(b->plan) == 1;
    int range[KF_PLANE_RANGES][2];
    const int ranges = kf_kinetic_read_planes(b->plan, shared ? 0 : b->kinetic->part, range);
    kf_function *convect = kf_builder_function(b, KF_SOURCE_BOUNDARY, "convect_outflow");
    kf_kinetic_arguments arguments = kf_from_to(b->kinetic, 0, 0);
    outflow_extent(b->kinetic, arguments.extent);
    arguments.outflow.waiting = arguments.outflow.next = kf_buffer_address(b->kinetic->outflow[0]);
    arguments.outflow.below = arguments.outflow.above = NULL;
    kf_kinetic_rows(b->kinetic, b->kinetic->halo_width, &arguments.part.first_row, &arguments.part.rows);
    for (int face = 0; face < KF_FACES; face++)
        arguments.outflow.take[face] = 1.0;
    for (int r = 0; r < ranges && b->status == KF_OK; r++) {
        arguments.part.first_plane = range[r][0];
        arguments.part.planes = range[r][1] - range[r][0];
        kf_kinetic_set_launch(&b->kinetic->outflow_launch[r], "convect_outflow", convect, KF_SOURCE_BOUNDARY,
                              b->face_block, &arguments);
    }
    b->kinetic->outflow_launches = ranges;
}

/* Appends the ghosts from which the nodes of some planes pull, by one kernel for all faces or one for each.
 */
static void append_ghosts(kf_builder *b, int parity, const kf_kinetic_arguments *arguments) {
    const int *n = b->kinetic->geometry.nodes;
    const double face_bytes = 18.0 * (double)b->kinetic->store_bytes;
    if (b->kinetic->options.boundary_kernels == 1) {
        int ghosts = 2 * ((n[0] + 2) * (n[1] + 2) + (n[0] + 2) * n[2] + n[1] * n[2]);
        const int extent[3] = {ghosts, 9, 1};
        kf_append(b, parity, KF_SOURCE_BOUNDARY, "boundary_all", extent, b->line_block, *arguments,
                  face_bytes * ghosts);
        return;
    }
    static const char *const names[KF_FACES] = {"boundary_xmin", "boundary_xmax", "boundary_ymin",
                                                "boundary_ymax", "boundary_zmin", "boundary_zmax"};
    const int extents[3][3] = {{n[1], n[2], 9}, {n[0] + 2, n[2], 9}, {n[0] + 2, n[1] + 2, 9}};
    for (int face = 0; face < KF_FACES; face++) {
        const int *extent = extents[face / 2];
        kf_append(b, parity, KF_SOURCE_BOUNDARY, names[face], extent, b->face_block, *arguments,
                  face_bytes * extent[0] * extent[1]);
    }
}

void kf_append_boundaries(kf_builder *b, int parity, int grid) {
    kf_kinetic_arguments arguments = kf_from_to(b->kinetic, grid, grid);
    int range[KF_PLANE_RANGES][2];
    const int ranges = kf_streamed_planes(b, range);
    for (int r = 0; r < ranges && b->kinetic->options.boundary_kernels > 0; r++) {
        arguments.part.first_plane = range[r][0];
        arguments.part.planes = range[r][1] - range[r][0];
        append_ghosts(b, parity, &arguments);
    }
}

/* Puts the prepared passes of the list by cell into the step. */
static void append_order_launches(kf_builder *b, int parity) {
    for (int i = 0; i < b->kinetic->order_launch_count; i++)
        kf_append_launch(b, parity, &b->kinetic->order_launches[i], 0);
}

/* --- The plans ---------------------------------------------------------------------------------------------
 */

/* Appends the motion of a moving solid: its next pose, and the nodes, cells or patches that its samples then
 * touch. */
void kf_append_motion(kf_builder *b, int parity, int grid) {
    const kf_kinetic *kinetic = b->kinetic;
    if (!kinetic->moving || !kinetic->has_samples) return;
    bool band = kinetic->band;
    if (band && !kinetic->patches)
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "band_release", kinetic->arguments.band.capacity, grid,
                        grid);
    if (!kf_kinetic_sorts_with_pose(kf_plan_scene(b->plan), &kinetic->options))
        kf_append_items(b, parity, KF_SOURCE_MOTION, "advance_pose", 1, grid, grid);
    if (kinetic->options.immersed_boundary == KF_GATHER) append_order_launches(b, parity);
    if (!band) return;
    const int samples = kinetic->arguments.samples.count;
    if (kinetic->patches) {
        static const int block[3] = {PATCH_THREADS, 1, 1};
        const int extent[3] = {PATCH_THREADS * kf_kinetic_patches(kinetic), 1, 1};
        kf_append(b, parity, KF_SOURCE_IMMERSED, "patch_sort", extent, block, kinetic->arguments, 0);
        const int words = (int)kf_kinetic_patch_words(kinetic);
        const int collecting[3] = {PATCH_THREADS * ((words + PATCH_WORDS - 1) / PATCH_WORDS), 1, 1};
        kf_append(b, parity, KF_SOURCE_IMMERSED, "patch_collect", collecting, block, kinetic->arguments, 0);
        return;
    }
    kf_append_items(b, parity, KF_SOURCE_IMMERSED, kinetic->cells ? "cell_mark" : "band_mark", samples, grid,
                    grid);
    if (kinetic->cells) kf_append_items(b, parity, KF_SOURCE_IMMERSED, "cell_fill", samples, grid, grid);
}

static void append_patch_forces(kf_builder *b, int parity, int grid) {
    static const int small[3] = {64, 1, 1};
    const kf_kinetic *kinetic = b->kinetic;
    const bool gpu = kinetic->options.gpu;
    const int together = gpu ? PATCH_TOGETHER * (int)kinetic->options.segment_lanes : 1;
    const int extent[3] = {together * kf_kinetic_patches(kinetic), 1, 1};
    kf_append(b, parity, KF_SOURCE_IMMERSED, "patch_forces", extent, gpu ? small : b->line_block,
              kf_from_to(kinetic, grid, grid), 0);
}

/* Appends the forces of the samples at the velocities in the band's field. They are spread on the band's
 * nodes one by one, or summed cell by cell first. The forces of a static solid are collected by their
 * readers. */
static void append_band_pass(kf_builder *b, int parity, int grid) {
    const kf_kinetic *kinetic = b->kinetic;
    kf_append_body(b, parity, grid);
    const kf_kinetic_arguments *a = &kinetic->arguments;
    if (kinetic->segments)
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "segment_forces",
                        (int)kinetic->options.segment_lanes * a->segments.count, grid, grid);
    else if (kinetic->patches)
        append_patch_forces(b, parity, grid);
    else if (kinetic->cells)
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "cell_forces", a->patches.cell_rows * a->band.capacity,
                        grid, grid);
    else
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "band_spread", a->samples.count, grid, grid);
}

/* Adds the force of a pass to those of the previous passes. */
static void append_band_join(kf_builder *b, int parity, int grid) {
    kf_kinetic_arguments *arguments = &b->kinetic->arguments;
    if (b->kinetic->passes > 1)
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "band_join", arguments->band.capacity, grid, grid);
}

static void end_band_force(kf_builder *b) {
    kf_kinetic_arguments *arguments = &b->kinetic->arguments;
    arguments->body.pass = 0;
    if (b->kinetic->passes > 1) arguments->band.force = arguments->band.total;
}

void kf_append_band_force(kf_builder *b, int parity, int grid) {
    kf_kinetic_arguments *arguments = &b->kinetic->arguments;
    for (arguments->body.pass = 0; arguments->body.pass < b->kinetic->passes; arguments->body.pass++) {
        append_band_pass(b, parity, grid);
        append_band_join(b, parity, grid);
    }
    end_band_force(b);
}

/* Returns the shared memory that a block of plan moments requests on a GPU: the size of kf_tile in
 * kernels/kinetic/moments_tile.h, when a kernel does not have it by default. */
static size_t tile_bytes(const kf_kinetic *kinetic) {
    enum { ANYWAY = 48 << 10 };
    const size_t x = (size_t)kinetic->options.block[0], y = (size_t)kinetic->options.block[1];
    const size_t border = 2 * x + 2 * (y + 2);
    const size_t bytes =
        16 + (27 * (x + 2) * (y + 2) + 6 * y + (size_t)kinetic->node_values * border) * kinetic->real_bytes;
    return bytes > ANYWAY ? bytes : 0;
}

/* Returns whether nodes outside the outflow do not depend on the forces of a solid. This is so on one device
 * without a solid, or with one at rest whose samples touch no node there. */
static bool outflow_is_apart(const kf_builder *b) {
    const kf_scene *scene = kf_plan_scene(b->plan);
    const double *const positions[3] = {scene->samples.x, scene->samples.y, scene->samples.z};
    if (b->plan->all_parts > 1 || kf_kinetic_samples_move(scene)) return false;
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2;
        const double *position = positions[axis], last = (double)scene->nodes[axis] - 2.0;
        if (scene->faces[face] != KF_OUTFLOW) continue;
        for (size_t s = 0; s < scene->samples.count; s++)
            if (face % 2 == 0 ? position[s] < 1.0 : position[s] >= last) return false;
    }
    return true;
}

static int count_walks(const kf_kinetic *kinetic) {
    int walks = 0;
    for (int left = kinetic->planes; left > 0; walks++)
        left -= KF_WALK(left, (int)kinetic->options.march);
    return walks;
}

/* Appends step p of two of plan moments. First comes the collision without the solid's force, whose
 * velocities the samples use. Then the band's nodes collide with the force (append_all_moments). */
static void append_moments(kf_builder *b, int p) {
    const kf_kinetic *kinetic = b->kinetic;
    const int *n = kinetic->geometry.nodes, *tile = kinetic->options.block;
    const int tiles_x = (n[0] + tile[0] - 1) / tile[0], tiles_y = (kinetic->rows + tile[1] - 1) / tile[1];
    const int block[3] = {tile[0] * tile[1], 1, 1},
              extent[3] = {tiles_x * block[0], tiles_y * count_walks(kinetic), 1};
    kf_kinetic_arguments arguments = kf_from_to(kinetic, p, 1 - p);
    arguments.march = (int)kinetic->options.march;
    const bool apart = outflow_is_apart(b);
    b->shared_bytes = tile_bytes(kinetic);
    b->joins = apart;
    if (apart && kinetic->edge != NULL) arguments.outflow.edge = kf_buffer_address(kinetic->edge);
    kf_append(b, p, KF_SOURCE_FLOW, "stream_collide", extent, block, arguments,
              2.0 * kinetic->node_values * b->node_bytes);
    b->shared_bytes = 0;
    b->aside = apart;
    if (apart) kf_append_outflow(b, p, 1 - p, arguments.outflow.edge);
    b->aside = false;
}

/* Appends the band of a team's free solid. The forces of each pass need the sums of all parts, so the parts
 * do the passes together. */
static void append_free_band(kf_builder *b, int p) {
    const int passes = b->kinetics->passes;
    b->band_is_done = b->kinetics->free && b->plan->all_parts > 1;
    if (!b->band_is_done) return;
    b->aside = b->kinetics->options.concurrent_solid;
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        kf_append_items(b, p, KF_SOURCE_FLOW, "band_macroscopic", b->kinetic->arguments.band.capacity, p,
                        1 - p);
    }
    for (int pass = 0; pass < passes; pass++) {
        for (int part = 0; part < b->parts; part++)
            b->kinetics[part].arguments.body.pass = pass;
        kf_append_team_body(b, p, p);
        for (int part = 0; part < b->parts; part++) {
            kf_on_part(b, part);
            append_band_pass(b, p, p);
            append_band_join(b, p, p);
        }
    }
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        end_band_force(b);
    }
    b->aside = false;
}

static void append_moments_force(kf_builder *b, int p) {
    if (!b->kinetic->has_samples || b->band_is_done) return;
    kf_append_items(b, p, KF_SOURCE_FLOW, "band_macroscopic", b->kinetic->arguments.band.capacity, p, 1 - p);
    kf_append_band_force(b, p, 1 - p);
}

static void append_moments_band(kf_builder *b, int p) {
    const int band[3] = {b->kinetic->arguments.band.capacity, 1, 1};
    const kf_kinetic_arguments arguments = kf_from_to(b->kinetic, p, 1 - p);
    if (b->kinetic->has_samples && b->kinetic->computes_halo)
        append_touched(b, p, KF_SOURCE_FLOW, "band_collide", band, b->line_block, arguments);
    else if (b->kinetic->has_samples)
        kf_append(b, p, KF_SOURCE_FLOW, "band_collide", band, b->line_block, arguments, 0);
    if (!outflow_is_apart(b)) kf_append_outflow(b, p, 1 - p, NULL);
}

/* Appends both steps of plan moments. The solid's forces need the nodes that the neighbouring parts compute.
 * These nodes change only after all parts have read them. Copied nodes arrive before the forces, and change
 * on both sides. */
static void append_all_moments(kf_builder *b, int p) {
    const bool solid = b->kinetics->has_solid, beside = b->kinetics->computes_halo;
    kf_each_part(b, p, append_moments);
    if (beside) kf_append_halo_exchange(b, p);
    if (solid && !beside) kf_neighbour_barrier(b, p);
    append_free_band(b, p);
    kf_each_part(b, p, append_moments_force);
    if (solid && !beside) kf_neighbour_barrier(b, p);
    kf_each_part(b, p, append_moments_band);
    if (!beside) kf_append_halo_exchange(b, p);
}

/* Sets what step p of two reads and writes besides the grids. */
static void set_roles(kf_builder *b, int p) {
    kf_kinetic_arguments *a = &b->kinetic->arguments;
    kf_kinetic_choose_outflow(b->plan, b->kinetic->part, p);
    /* The first of two steps is needed at all ghosts except the outermost layer, the second one at none. */
    const kf_scene *scene = kf_plan_scene(b->plan);
    for (int axis = 0; axis < 3; axis++) {
        const int low = scene->ghosts[2 * axis], high = scene->ghosts[2 * axis + 1];
        a->needed.low[axis] = low > p ? p + 1 : low;
        a->needed.high[axis] = scene->nodes[axis] - (high > p ? p + 1 : high);
    }
    if (b->kinetic->edges[0] != NULL) {
        a->edges.fresh = p == 0 ? kf_buffer_address(b->kinetic->edges[0]) : NULL;
        a->edges.inner = p == 1 ? kf_buffer_address(b->kinetic->edges[1]) : NULL;
    }
    if (b->kinetic->has_samples) a->band.force = kf_buffer_address(b->kinetic->band_force);
}

static void append_part_boundaries(kf_builder *b, int p) {
    kf_append_boundaries(b, p, p);
}

static void append_part_motion(kf_builder *b, int p) {
    b->aside = b->kinetic->options.concurrent_solid;
    kf_append_motion(b, p, p);
    b->aside = false;
}

static void append_flow(kf_builder *b, int p) {
    if (b->kinetic->geometry.shift > 0)
        kf_append_shift(b, p);
    else
        kf_append_two_grids(b, p);
    kf_append_outflow(b, p, 1 - p, NULL);
}

static void set_load_launch(kf_builder *b, int p) {
    (void)p;
    const kf_kinetic *kinetic = b->kinetic;
    if (!kinetic->has_samples) return;
    kf_function *load = kf_builder_function(b, KF_SOURCE_IMMERSED, "load_band");
    kf_kinetic_arguments arguments = kinetic->arguments;
    arguments.extent[0] = (kinetic->arguments.band.capacity + KF_LOAD_CHUNK - 1) / KF_LOAD_CHUNK;
    arguments.extent[1] = arguments.extent[2] = 1;
    if (b->status == KF_OK)
        kf_kinetic_set_launch(&b->kinetic->load_launch, "load_band", load, KF_SOURCE_IMMERSED, b->line_block,
                              &arguments);
}

/* Sets the launch that sums the load on each of several solids on demand. */
static void set_solids_launch(kf_builder *b) {
    kf_kinetic_arguments arguments = b->kinetics->arguments;
    if (arguments.solids.count == 0) return;
    kf_on_part(b, 0);
    kf_function *load = kf_builder_function(b, KF_SOURCE_IMMERSED, "load_solids");
    arguments.extent[0] = (arguments.samples.count + KF_LOAD_CHUNK - 1) / KF_LOAD_CHUNK;
    arguments.extent[1] = arguments.extent[2] = 1;
    if (b->status == KF_OK)
        kf_kinetic_set_launch(&b->kinetics->solids_launch, "load_solids", load, KF_SOURCE_IMMERSED,
                              b->line_block, &arguments);
}

/* Makes the plans fused and moments. When kernels fill ghosts, parts meet before others read them. Parts that
 * copy planes wait only for their neighbours, and for all parts when their averages begin. */
static void make_one_pass(kf_builder *b) {
    const kf_kinetic *kinetics = b->kinetics;
    const bool copies = kinetics->options.transfer != KF_DIRECT,
               early = (copies || kf_has_messages(b)) && kinetics->geometry.shift == 0 &&
                       kinetics->options.plan == KF_PLAN_FUSED,
               moments = kinetics->options.plan == KF_PLAN_MOMENTS, gpu = kinetics->options.gpu;
    for (int part = 0; part < b->parts; part++)
        b->kinetics[part].swaps = true;
    for (int p = 0; p < 2; p++) {
        kf_each_part(b, p, set_roles);
        if (!copies) kf_await_neighbours(b, p, "step_ended", b->ended);
        kf_append_links(b, p, p);
        kf_each_part(b, p, append_part_boundaries);
        if (kinetics->options.boundary_kernels > 0) kf_neighbour_barrier(b, p);
        kf_append_averages(b, p, p);
        kf_each_part(b, p, append_part_motion);
        b->band_is_done = false;
        if (!moments) append_free_band(b, p);
        if (early) {
            kf_each_part(b, p, kf_append_outer);
            kf_append_halo_sends(b, p, true);
            if (!gpu) kf_append_post(b, p, true);
            kf_each_part(b, p, kf_append_inner);
            /* The inner planes do not wait for it. */
            if (gpu) kf_append_post(b, p, true);
            kf_append_halo_receives(b, p, true);
        } else if (moments) {
            append_all_moments(b, p);
        } else {
            kf_each_part(b, p, append_flow);
            kf_append_halo_exchange(b, p);
        }
        kf_append_link_balance(b, p);
        kf_signal_all(b, p, "step_ended", b->ended);
    }
    kf_each_part(b, 0, set_load_launch);
}

/* Lists the launches of all parts: the halo exchange, the order of samples, and the plan's steps. */
static kf_status list_launches(kf_builder *b) {
    kf_plan *plan = b->plan;
    kf_kinetic_cut_all(kf_plan_scene(plan), &b->kinetics->options, b->boxes);
    b->kinetics->link = kf_flow_link_make(plan);
    kf_make_marks(b);
    kf_make_halo_exchange(b);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        KF_TRY(kf_prepare_order(b, b->error));
    }
    kf_on_part(b, 0);
    if (b->kinetics->options.plan == KF_PLAN_BASELINE || b->kinetics->options.plan == KF_PLAN_PAPER)
        kf_make_separate(b);
    else
        make_one_pass(b);
    set_solids_launch(b);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        set_outflow_launch(b);
        kf_set_link_launches(b);
    }
    return b->status;
}

/* Makes the launches of a step of two (even and odd), of all parts of this process. */
kf_status kf_kinetic_make_launches(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    /* The builder is too large for a thread's stack. */
    kf_builder *b = kf_allocate_zeroed(1, sizeof *b);
    b->plan = plan;
    b->kinetics = kinetics;
    b->parts = plan->part_count;
    b->near = plan->near_parts;
    b->offset = plan->first_part - plan->near_first;
    b->error = error;
    b->status = KF_OK;
    b->every = 1;
    b->line_block[0] = (int)kinetics->options.solid_block;
    b->line_block[1] = b->line_block[2] = b->face_block[2] = 1;
    b->face_block[0] = 64;
    b->face_block[1] = kf_device_is_gpu(kf_backend_device(plan->backend)) ? 4 : 1;
    const kf_status status = list_launches(b);
    free(b);
    return status;
}
