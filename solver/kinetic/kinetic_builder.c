#include "solver/kinetic/kinetic_builder.h"

#include <string.h>

/* Gives the items that are appended from here on to that part. */
void kf_on_part(kf_builder *b, int part) {
    b->kinetic = &b->kinetics[part];
    const int *n = b->kinetic->geometry.nodes;
    b->node_bytes = (double)b->kinetic->store_bytes * n[0] * b->kinetic->rows * b->kinetic->planes;
    kf_plan_on(b->plan, part);
}

kf_function *kf_builder_function(kf_builder *b, kf_kinetic_source source, const char *name) {
    kf_function *found = NULL;
    if (b->status == KF_OK)
        b->status = kf_module_function(b->kinetic->modules[source], name, &found, b->error);
    return found;
}

/* Makes an item due at the steps of one parity or of KF_BOTH, as far as they are among each b->every steps.
 */
void kf_schedule(const kf_builder *b, int parity, kf_item *item) {
    const bool half = parity != KF_BOTH && b->every % 2 == 1; /* of the steps that are due */
    item->period = half ? 2 * b->every : b->every;
    item->phase = half && parity == 1 ? b->every : 0;
    item->lane = b->aside    ? KF_LANE_ASIDE
                 : b->beside ? KF_LANE_BESIDE
                 : b->ahead  ? KF_LANE_AHEAD
                             : KF_LANE_MAIN;
    item->joins = b->joins;
}

void kf_append_launch(kf_builder *b, int parity, const kf_launch *launch, double bytes) {
    if (b->status != KF_OK || (parity == 1 && b->every % 2 == 0)) return;
    kf_item *item = kf_plan_add_kernel(b->plan, launch);
    kf_schedule(b, parity, item);
    item->bytes = bytes;
    b->joins = false;
}

/* Returns whether the items appended now have a step of that parity at all. */
bool kf_falls(const kf_builder *b, int parity) {
    return b->status == KF_OK && (parity != 1 || b->every % 2 == 1);
}

/* --- Teams -------------------------------------------------------------------------------------------------
 *
 * A part reads and writes the grids in its own planes and, for what streams across a cut and for the solid's
 * forces beside it, in those of its neighbours. Everything that it works out it works out as one device
 * would, so a step needs no more than an order: a part begins when its neighbours have ended the step before.
 */

static bool is_own(const kf_builder *b, int near) {
    return near >= b->offset && near < b->offset + b->parts;
}

/* Signals every part's mark when the work given so far is done. The signals of other processes' parts are
 * only counted. */
void kf_signal_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]) {
    for (int near = 0; b->near > 1 && near < b->near && kf_falls(b, parity); near++) {
        kf_on_part(b, is_own(b, near) ? near - b->offset : 0);
        b->joins = is_own(b, near);
        kf_schedule(b, parity, kf_plan_add_signal(b->plan, name, marks[near]));
        b->joins = false;
    }
}

static void await_one(kf_builder *b, int parity, const char *name, kf_mark *mark) {
    if (kf_falls(b, parity)) kf_schedule(b, parity, kf_plan_add_await(b->plan, name, mark));
}

/* Waits for the marks of all sides of a part, each once. */
static void await_all_sides(kf_builder *b, int parity, const char *name, kf_mark *const marks[], int part) {
    bool awaited[KF_MOST_PARTS] = {false};
    for (int side = 0; side < KF_PART_SIDES; side++) {
        const int number = kf_kinetic_neighbour(b->plan, b->plan->first_part + part, side),
                  near = number - b->plan->near_first;
        if (kf_kinetic_neighbour_reach(b->plan, part, side) != KF_NEIGHBOUR_IN_REACH || awaited[near])
            continue;
        awaited[near] = true;
        await_one(b, parity, name, marks[near]);
    }
}

/* Makes every part wait for all of its neighbours. A slab waits for both; the last one's neighbour across the
 * seam is the first. */
void kf_await_neighbours(kf_builder *b, int parity, const char *name, kf_mark *const marks[]) {
    const bool all = b->near == b->plan->all_parts;
    for (int part = 0; kf_kinetic_sides(b->plan) > 2 && b->near > 1 && part < b->parts; part++) {
        kf_on_part(b, part);
        await_all_sides(b, parity, name, marks, part);
    }
    if (kf_kinetic_sides(b->plan) > 2) return;
    for (int part = 0; b->near > 1 && part < b->parts; part++) {
        const int self = b->offset + part, below = (self + b->near - 1) % b->near,
                  above = (self + 1) % b->near;
        kf_on_part(b, part);
        if (all || self > 0) await_one(b, parity, name, marks[below]);
        if (above != below && (all || self < b->near - 1)) await_one(b, parity, name, marks[above]);
    }
}

void kf_await_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]) {
    for (int part = 0; b->near > 1 && part < b->parts; part++) {
        kf_on_part(b, part);
        for (int other = 0; other < b->near; other++)
            if (other != b->offset + part) await_one(b, parity, name, marks[other]);
    }
}

/* Neighbours have come as far as this. */
void kf_neighbour_barrier(kf_builder *b, int parity) {
    kf_signal_all(b, parity, "part_ready", b->ready);
    kf_await_neighbours(b, parity, "part_ready", b->ready);
}

void kf_make_marks(kf_builder *b) {
    kf_mark **const marks[] = {b->ended,       b->ready,      b->summed,      b->halo_sent,
                               b->body_summed, b->body_taken, b->links_summed};
    for (int near = 0; b->near > 1 && near < b->near; near++)
        for (size_t i = 0; i < sizeof marks / sizeof *marks && b->status == KF_OK; i++)
            b->status = kf_plan_mark_near(b->plan, near, &marks[i][near], b->error);
    if (b->parts == 1 || b->kinetics->link == NULL || b->status != KF_OK) return;
    for (int part = 0; part < b->parts && b->status == KF_OK; part++) {
        kf_plan_on(b->plan, part);
        b->status = kf_plan_mark(b->plan, &b->halo_packed[part], b->error);
    }
    kf_plan_on(b->plan, 0);
    if (b->status == KF_OK) b->status = kf_plan_mark(b->plan, &b->halo_received, b->error);
}

int kf_streamed_planes(const kf_builder *b, int range[KF_PLANE_RANGES][2]) {
    const kf_kinetic *kinetic = b->kinetic;
    if (kinetic->options.transfer != KF_DIRECT && !kinetic->linked)
        return kf_kinetic_touched_planes(b->plan, kinetic->part, kinetic->halo_width - 1, range);
    range[0][0] = kinetic->first_plane;
    range[0][1] = kinetic->first_plane + kinetic->planes;
    return 1;
}

/* Appends to each part. */
void kf_each_part(kf_builder *b, int parity, void (*add)(kf_builder *b, int parity)) {
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        add(b, parity);
    }
}

/* --- Kernels -----------------------------------------------------------------------------------------------
 */

/* Appends a kernel over `extent`. bytes is the smallest number of bytes that it reads and writes. */
void kf_append(kf_builder *b, int parity, kf_kinetic_source source, const char *name, const int extent[3],
               const int block[3], kf_kinetic_arguments arguments, double bytes) {
    kf_launch launch;
    kf_function *kernel = kf_builder_function(b, source, name);
    if (b->status != KF_OK) return;
    memcpy(arguments.extent, extent, sizeof arguments.extent);
    kf_kinetic_set_launch(&launch, name, kernel, source, block, &arguments);
    launch.overlaps = b->overlaps;
    launch.shared_bytes = b->shared_bytes;
    launch.waits_for_all = b->waits;
    kf_append_launch(b, parity, &launch, bytes);
}

kf_item *kf_append_copy(kf_builder *b, int parity, const char *name, const kf_copy *copy) {
    if (!kf_falls(b, parity)) return NULL;
    kf_item *item = kf_plan_add_copy(b->plan, name, copy);
    kf_schedule(b, parity, item);
    item->bytes = (double)(copy->bytes * copy->rows);
    return item;
}

/* Arguments with the two grids in the roles that a pass needs. */
kf_kinetic_arguments kf_from_to(const kf_kinetic *kinetic, int from, int to) {
    kf_kinetic_arguments arguments = kinetic->arguments;
    arguments.populations.source = kinetic->grids[from];
    arguments.populations.target = kinetic->grids[to];
    return arguments;
}

void kf_append_items(kf_builder *b, int parity, kf_kinetic_source source, const char *name, int items,
                     int from, int to) {
    const int extent[3] = {items, 1, 1};
    kf_append(b, parity, source, name, extent, b->line_block, kf_from_to(b->kinetic, from, to), 0);
}
