/* A simulation of several processes. Each has a range of parts. In every step it takes the neighbouring
 * planes of other processes through the host and MPI. On two grids it works on its inner planes meanwhile.
 * Populations are sent packed [z][i][y][x]. With them go the values outside outflows beside the cut. */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_link.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

enum { BELOW, ABOVE };

kf_status kf_kinetic_check_world(const kf_kinetic_options *options, kf_error *error) {
    if (kf_world_size() == 1) return KF_OK;
    if (options->plan == KF_PLAN_BASELINE || options->plan == KF_PLAN_PAPER || options->boundary_kernels > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "several processes run plans fused and moments with boundary_kernels=0; this config's plan runs "
            "in one process, whose --devices may be several");
    return KF_OK;
}

/* --- Planes -------------------------------------------------------------------------------------------- */

int kf_kinetic_grids(const kf_plan *plan) {
    const kf_kinetic *kinetics = plan->system;
    return kinetics->options.transfer != KF_DIRECT ? plan->part_count : 1;
}

void kf_kinetic_own_planes(const kf_plan *plan, int grid, int *first, int *end) {
    const bool shared = kf_kinetic_grids(plan) == 1;
    const kf_kinetic *kinetics = plan->system, *begins = &kinetics[grid],
                     *ends = shared ? &kinetics[plan->part_count - 1] : begins;
    *first = begins->first_plane;
    *end = ends->first_plane + ends->planes;
}

/* Returns a grid's own planes, and this many beside them. */
static int planes_around(const kf_plan *plan, int grid, int low, int high, int range[KF_PLANE_RANGES][2]) {
    const int nodes = kf_plan_scene(plan)->nodes[2];
    int first, end, count = 1;
    kf_kinetic_own_planes(plan, grid, &first, &end);
    range[0][0] = first > low ? first - low : 0;
    range[0][1] = end + high < nodes ? end + high : nodes;
    const bool ring = kf_plan_scene(plan)->faces[KF_ZMIN] == KF_PERIODIC;
    /* Beyond the seam. */
    if (ring && first < low && range[0][1] < nodes) {
        range[count][0] = nodes - low > range[0][1] ? nodes - low : range[0][1];
        range[count++][1] = nodes;
    }
    if (ring && end + high > nodes && range[0][0] > 0) {
        range[count][0] = 0;
        range[count++][1] = high < range[0][0] ? high : range[0][0];
    }
    return count;
}

int kf_kinetic_kept_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]) {
    const kf_kinetic *kinetics = plan->system;
    const int near = kinetics->halo_width, last = kf_kinetic_grids(plan) == 1 ? plan->part_count - 1 : grid;
    return planes_around(plan, grid, kf_kinetic_is_copied(plan, grid, BELOW) ? near : 0,
                         kf_kinetic_is_copied(plan, last, ABOVE) ? near : 0, range);
}

int kf_kinetic_read_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]) {
    const int near = ((const kf_kinetic *)plan->system)->halo_width;
    return planes_around(plan, grid, near, near, range);
}

int kf_kinetic_touched_planes(const kf_plan *plan, int grid, int beside, int range[KF_PLANE_RANGES][2]) {
    return planes_around(plan, grid, beside, beside, range);
}

kf_status kf_kinetic_settle(const kf_plan *plan, kf_error *error) {
    const kf_status status = kf_backend_synchronize(plan->backend, error);
    return plan->near_parts > plan->part_count ? kf_world_agree_near(status, error) : status;
}

void kf_kinetic_rows(const kf_kinetic *kinetic, int beside, int *first, int *count) {
    const int rows = kinetic->geometry.nodes[1], low = kinetic->first_row - beside,
              high = kinetic->first_row + kinetic->rows + beside;
    *first = low > 0 || kinetic->row_ring ? low : 0;
    *count = (high < rows || kinetic->row_ring ? high : rows) - *first;
}

/* Merges planes that processes share, each having its own rows. */
static kf_status merge_planes(const kf_plan *plan, char *all, size_t plane_bytes, int sheets,
                              kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const int *n = kinetics->geometry.nodes;
    const size_t row = plane_bytes / (size_t)sheets / (size_t)n[1], room = plane_bytes + sizeof(int64_t);
    char *own = kf_allocate(room);
    kf_status status = KF_OK;
    for (int z = 0; z < n[2] && status == KF_OK; z++) {
        char *plane = all + plane_bytes * (size_t)z;
        memset(own, 0, room);
        for (int part = 0; part < plan->part_count; part++) {
            const kf_kinetic *kinetic = &kinetics[part];
            if (z < kinetic->first_plane || z >= kinetic->first_plane + kinetic->planes) continue;
            for (int sheet = 0; sheet < sheets; sheet++) {
                const size_t at = row * ((size_t)sheet * (size_t)n[1] + (size_t)kinetic->first_row);
                memcpy(own + at, plane + at, row * (size_t)kinetic->rows);
            }
        }
        status = kf_world_merge(own, plane_bytes, error);
        memcpy(plane, own, plane_bytes);
    }
    free(own);
    return status;
}

kf_status kf_kinetic_gather_planes(const kf_plan *plan, void *all, size_t plane_bytes, int sheets,
                                   kf_error *error) {
    int first, end;
    if (kf_world_size() == 1) return KF_OK;
    if (kf_kinetic_sides(plan) > 2) return merge_planes(plan, all, plane_bytes, sheets, error);
    kf_kinetic_own_planes(plan, kf_kinetic_grids(plan) - 1, &first, &end);
    return kf_flow_gather(all, (size_t)end * plane_bytes, error);
}

/* --- Making -------------------------------------------------------------------------------------------- */

/* Returns whether rows outside of such a face are copied: of slabs, unless both sides of a cut work them
 * out. */
static bool has_outflow(const kf_plan *plan, int face) {
    const kf_kinetic *kinetics = plan->system;
    return kf_kinetic_sides(plan) == 2 && !kinetics->computes_halo && face / 2 != 2 &&
           kf_plan_scene(plan)->faces[face] == KF_OUTFLOW;
}

/* Returns the bytes of a row outside of a face whose rows lie along z: nine values for each node. */
static size_t row_bytes(const kf_plan *plan, int face) {
    const kf_kinetic *kinetics = plan->system;
    return (size_t)kf_plan_scene(plan)->nodes[face / 2 == 0 ? 1 : 0] * kinetics->real_bytes;
}

/* Returns the bytes of what travels from outflows across one end. */
static size_t outflow_bytes(const kf_plan *plan) {
    const kf_kinetic *kinetics = plan->system;
    size_t bytes = 0;
    for (int face = 0; face < KF_FACES; face++)
        if (has_outflow(plan, face)) bytes += 9 * (size_t)kinetics->halo_width * row_bytes(plan, face);
    return bytes;
}

static bool is_far(const kf_builder *b, int part, int side) {
    return kf_kinetic_neighbour_reach(b->plan, part, side) == KF_NEIGHBOUR_FAR;
}

static bool has_far_sides(const kf_builder *b, int part) {
    bool has = false;
    for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
        has = has || is_far(b, part, side);
    return has;
}

bool kf_has_messages(const kf_builder *b) {
    bool has = false;
    for (int part = 0; part < b->parts; part++)
        has = has || has_far_sides(b, part);
    return has;
}

/* Returns whether messages go from the device's memory to another's, not by way of the host's. */
static bool is_sent_as_packed(const kf_builder *b) {
    return kf_is_by_nccl(b) ||
           (b->kinetics->options.transfer != KF_THROUGH_HOST && kf_flow_link_takes_device_memory(b->plan));
}

/* Returns the tag that tells apart the messages of one process to another: a count of those to the parts
 * and sides before. */
static int tag_of(const kf_builder *b, int to, int side) {
    const kf_flow_link *link = b->kinetics->link;
    const int from = kf_flow_link_process(link, kf_kinetic_neighbour(b->plan, to, side)),
              sides = kf_kinetic_sides(b->plan);
    int tag = 0;
    for (int number = link->firsts[kf_flow_link_process(link, to)]; number <= to; number++)
        for (int s = 0; s < (number < to ? sides : side); s++) {
            const int other = kf_kinetic_neighbour(b->plan, number, s);
            tag += other >= 0 && kf_flow_link_process(link, other) == from;
        }
    return tag;
}

/* Makes the halo of a side next to another process's part: buffers to pack and receive, on the host too
 * unless messages go from device to device, and the two messages of a step. */
static kf_status make_far_halo(kf_builder *b, int part, int side, kf_error *error) {
    kf_far_side *far = &b->far[part][side];
    kf_flow_link *link = b->kinetics->link;
    const bool as_packed = is_sent_as_packed(b);
    const int number = b->plan->first_part + part, beyond = kf_kinetic_neighbour(b->plan, number, side),
              other = kf_flow_link_process(link, beyond);
    const size_t sent = kf_message_bytes(b, number, side), come = kf_message_bytes(b, beyond, side ^ 1),
                 beside = outflow_bytes(b->plan);
    kf_plan_on(b->plan, part);
    far->outgoing_bytes = sent + beside;
    far->incoming_bytes = come + beside;
    KF_TRY(kf_plan_buffer(b->plan, as_packed ? sent + beside : sent, &far->packed, error));
    KF_TRY(kf_plan_buffer(b->plan, as_packed ? come + beside : come, &far->received, error));
    far->outgoing = far->packed;
    far->incoming = far->received;
    if (kf_is_by_nccl(b)) return KF_OK;
    if (!as_packed) {
        KF_TRY(kf_plan_on_host(b->plan, far->outgoing_bytes, &far->outgoing, error));
        KF_TRY(kf_plan_on_host(b->plan, far->incoming_bytes, &far->incoming, error));
    }
    kf_flow_link_add(link, &(kf_message){other, tag_of(b, beyond, side ^ 1), true,
                                         kf_buffer_address(far->outgoing), far->outgoing_bytes});
    kf_flow_link_add(link, &(kf_message){other, tag_of(b, number, side), false,
                                         kf_buffer_address(far->incoming), far->incoming_bytes});
    return KF_OK;
}

void kf_make_messages(kf_builder *b) {
    for (int part = 0; part < b->parts; part++)
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            if (b->status == KF_OK && is_far(b, part, side))
                b->status = make_far_halo(b, part, side, b->error);
}

/* --- A step -------------------------------------------------------------------------------------------- */

void kf_append_link_call(kf_builder *b, int parity, int part, const char *name, kf_call_function *enqueue) {
    if (b->kinetics->link == NULL || !kf_falls(b, parity)) return;
    const kf_call call = {.enqueue = enqueue, .object = b->kinetics->link};
    kf_on_part(b, part);
    b->joins = true;
    kf_schedule(b, parity, kf_plan_add_call(b->plan, name, &call));
    b->joins = false;
}

/* Copies the values outside the outflow for the planes that are sent, or that have arrived, for the next
 * step. With cuts across y they have been packed with the nodes. */
static void append_outflow_copies(kf_builder *b, int p, int side, bool out) {
    const kf_plan *plan = b->plan;
    const kf_kinetic *kinetic = b->kinetic;
    const kf_far_side *far = &b->far[kinetic->part][side];
    const int number = plan->first_part + kinetic->part;
    kf_buffer *kept = kinetic->outflow[1 - p], *host = out ? far->outgoing : far->incoming;
    const kf_kinetic_box box = out ? kf_box_sent(b, number, side) : kf_box_received(b, number, side);
    const size_t nodes = (size_t)kf_plan_scene(plan)->nodes[2], near = (size_t)kinetic->halo_width,
                 first = (size_t)box.first[1];
    size_t at = kf_halo_bytes(kinetic);
    for (int face = 0; face < KF_FACES; face++) {
        if (!has_outflow(plan, face)) continue;
        const size_t row = row_bytes(plan, face),
                     place =
                         (size_t)kinetic->arguments.outflow.start[face] * kinetic->real_bytes + first * row;
        const kf_copy copy = {.target = out ? host : kept,
                              .source = out ? kept : host,
                              .target_offset = out ? at : place,
                              .source_offset = out ? place : at,
                              .bytes = near * row,
                              .rows = 9,
                              .target_pitch = out ? near * row : nodes * row,
                              .source_pitch = out ? nodes * row : near * row};
        (void)kf_append_copy(b, p, out ? "outflow_out" : "outflow_in", &copy);
        at += 9 * near * row;
    }
}

void kf_append_far_halo_send(kf_builder *b, int p, int side) {
    const kf_kinetic *kinetic = b->kinetic;
    const kf_far_side *far = &b->far[kinetic->part][side];
    const kf_copy copy = {.target = far->outgoing,
                          .source = far->packed,
                          .bytes = kf_message_bytes(b, b->plan->first_part + kinetic->part, side),
                          .rows = 1};
    kf_append_pack_or_unpack(b, p, true, side, far->packed);
    if (far->outgoing != far->packed) (void)kf_append_copy(b, p, "to_host", &copy);
    append_outflow_copies(b, p, side, true);
}

/* Returns the part whose stream makes the calls, which is one that has packed something. */
static int caller(const kf_builder *b) {
    int part = 0;
    while (!has_far_sides(b, part))
        part++;
    return part;
}

void kf_append_post(kf_builder *b, int p, bool aside) {
    if (!kf_has_messages(b) || kf_is_by_nccl(b)) return;
    b->aside = aside;
    for (int part = caller(b) + 1; part < b->parts; part++) {
        if (!has_far_sides(b, part) || !kf_falls(b, p)) continue;
        kf_on_part(b, part);
        kf_schedule(b, p, kf_plan_add_signal(b->plan, "planes_packed", b->halo_packed[part]));
        kf_on_part(b, caller(b));
        kf_schedule(b, p, kf_plan_add_await(b->plan, "planes_packed", b->halo_packed[part]));
    }
    kf_append_link_call(b, p, caller(b), "post_planes", kf_flow_link_post);
    b->aside = false;
}

/* Receives and unpacks a part's halo from another process. */
static void append_far_halo_receive(kf_builder *b, int p, int side) {
    const kf_kinetic *kinetic = b->kinetic;
    const kf_far_side *far = &b->far[kinetic->part][side];
    const int beyond = kf_kinetic_neighbour(b->plan, b->plan->first_part + kinetic->part, side);
    const kf_copy copy = {.target = far->received,
                          .source = far->incoming,
                          .bytes = kf_message_bytes(b, beyond, side ^ 1),
                          .rows = 1};
    if (far->incoming != far->received) (void)kf_append_copy(b, p, "from_host", &copy);
    kf_append_pack_or_unpack(b, p, false, side, far->received);
    append_outflow_copies(b, p, side, false);
}

void kf_append_far_halo_receives(kf_builder *b, int p) {
    const bool posted = !kf_is_by_nccl(b);
    if (!kf_has_messages(b)) return;
    if (posted) kf_append_link_call(b, p, caller(b), "await_planes", kf_flow_link_await);
    if (posted && b->parts > 1 && kf_falls(b, p))
        kf_schedule(b, p, kf_plan_add_signal(b->plan, "planes_come", b->halo_received));
    for (int part = 0; part < b->parts; part++) {
        if (!has_far_sides(b, part)) continue;
        kf_on_part(b, part);
        if (posted && part != caller(b) && kf_falls(b, p))
            kf_schedule(b, p, kf_plan_add_await(b->plan, "planes_come", b->halo_received));
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            if (is_far(b, part, side)) append_far_halo_receive(b, p, side);
    }
}

/* --- Sums ---------------------------------------------------------------------------------------------- */

int kf_kinetic_sum_places(const kf_plan *plan) {
    return kf_world_size() > 1 ? 1 : plan->all_parts;
}

/* Gives every part the sums of all, in `all`, of what each has in `own`. */
static kf_status gather(const kf_flow_link *link, kf_sum_kind kind, kf_error *error) {
    const kf_plan *plan = link->plan;
    const kf_kinetic *kinetics = plan->system;
    const size_t count = kinetics->sums[kind].count, bytes = count * sizeof(int64_t);
    int64_t *all = kf_allocate_zeroed(count, sizeof *all), *own = kf_allocate(bytes);
    kf_status status = kf_backend_synchronize(plan->backend, error);
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        status = kf_buffer_download(kinetics[part].sums[kind].own, 0, own, bytes, error);
        for (size_t i = 0; i < count; i++) /* around their end, as in kernels */
            all[i] = (int64_t)((uint64_t)all[i] + (uint64_t)own[i]);
    }
    if (status == KF_OK) status = kf_world_sum(all, (int)count, error);
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = kf_buffer_upload(kinetics[part].sums[kind].all, 0, all, bytes, error);
    free(own);
    free(all);
    return status;
}

kf_status kf_kinetic_gather_sums(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    return gather(object, KF_SUM_AVERAGES, error);
}

kf_status kf_kinetic_gather_body(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    return gather(object, KF_SUM_BODY, error);
}

kf_status kf_kinetic_gather_links(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    return gather(object, KF_SUM_LINKS, error);
}
