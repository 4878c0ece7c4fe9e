/* Planes that a team's parts copy from each other, where they do not read them in place: packed on the part
 * they belong to, copied to the neighbour or through the host, and unpacked beside its own. Every part has
 * grids of its own, so all of it happens once a step, when the planes beside the cuts are done; in plans with
 * several passes over the nodes, when the step is (Chen et al. 2021, section 4.7). */
#include "solver/kinetic/kinetic_builder.h"

#include "base/backend/team/nccl.h"
#include "base/util/text.h"
#include "scene/scene.h"

/* Indices of a kf_kinetic_box and of steps_to_side. */
enum { ROWS, PLANES };

/* The step to the part beyond each side: -1, 0 or 1 along y and z. */
static const int steps_to_side[KF_PART_SIDES][2] = {{0, -1},  {0, 1}, {-1, 0}, {1, 0},
                                                    {-1, -1}, {1, 1}, {-1, 1}, {1, -1}};

int kf_kinetic_sides(const kf_plan *plan) {
    return ((const kf_kinetic *)plan->system)->options.parts_y > 1 ? KF_PART_SIDES : 2;
}

int kf_kinetic_neighbour(const kf_plan *plan, int number, int side) {
    const int along_y = ((const kf_kinetic *)plan->system)->options.parts_y,
              along_z = plan->all_parts / along_y, *step = steps_to_side[side];
    const kf_boundary *faces = kf_plan_scene(plan)->faces;
    const bool ring_y = faces[KF_YMIN] == KF_PERIODIC && along_y > 1,
               ring_z = faces[KF_ZMIN] == KF_PERIODIC && along_z > 1;
    const int y = number % along_y + step[ROWS], z = number / along_y + step[PLANES];
    if ((!ring_y && (y < 0 || y >= along_y)) || (!ring_z && (z < 0 || z >= along_z))) return -1;
    return (y + along_y) % along_y + along_y * ((z + along_z) % along_z);
}

kf_neighbour_reach kf_kinetic_neighbour_reach(const kf_plan *plan, int part, int side) {
    const int other = kf_kinetic_neighbour(plan, plan->first_part + part, side),
              near = other - plan->near_first;
    if (other < 0) return KF_NEIGHBOUR_NONE;
    return near >= 0 && near < plan->near_parts ? KF_NEIGHBOUR_IN_REACH : KF_NEIGHBOUR_FAR;
}

bool kf_kinetic_is_copied(const kf_plan *plan, int part, int side) {
    const kf_kinetic *kinetics = plan->system;
    const kf_neighbour_reach beyond = kf_kinetic_neighbour_reach(plan, part, side);
    return beyond == KF_NEIGHBOUR_FAR ||
           (beyond == KF_NEIGHBOUR_IN_REACH && kinetics->options.transfer != KF_DIRECT);
}

static bool is_copied_near(const kf_builder *b, int part, int side) {
    return kf_kinetic_is_copied(b->plan, part, side) &&
           kf_kinetic_neighbour_reach(b->plan, part, side) == KF_NEIGHBOUR_IN_REACH;
}

kf_kinetic_box kf_box_sent(const kf_builder *b, int number, int side) {
    const int near = b->kinetics->halo_width;
    kf_kinetic_box box = b->boxes[number];
    for (int i = ROWS; i <= PLANES; i++) {
        const int step = steps_to_side[side][i];
        if (step == 0) continue;
        if (step > 0) box.first[i] += box.count[i] - near;
        box.count[i] = near;
    }
    return box;
}

kf_kinetic_box kf_box_received(const kf_builder *b, int number, int side) {
    return kf_box_sent(b, kf_kinetic_neighbour(b->plan, number, side), side ^ 1);
}

/* Returns the neighbour of a part in reach, counted in the same way. A negative number is out of reach. */
static int neighbour(const kf_builder *b, int near, int side) {
    return kf_kinetic_neighbour(b->plan, near + b->plan->near_first, side) - b->plan->near_first;
}

/* Returns whether only populations that are pulled across the cut are sent, as between two grids (pack_cut of
 * kernels/kinetic/state.cu). */
static bool is_cut_alone(const kf_kinetic *kinetic) {
    return kinetic->options.plan != KF_PLAN_MOMENTS;
}

/* Velocities with such parts along y and z. */
static int velocities(const kf_kinetic *kinetic, int cy, int cz) {
    return kinetic->node_values == 19 && cy != 0 && cz != 0 ? 1 : 3;
}

/* Returns whether populations with velocity c along an axis are pulled across a cut from a node with this
 * many nodes between it and the cut (pack_box of kernels/kinetic/state.cu). */
static bool is_pulled(int c, int step, int beyond, bool bounced) {
    return step == 0 || c * step > 0 || (c == 0 && beyond > 0) || beyond > !bounced;
}

/* Returns the bytes of a box beside cuts, as pack_box leaves them. */
static size_t box_bytes(const kf_kinetic *kinetic, const kf_kinetic_box *box, const int step[2]) {
    const int *count = box->count, rows = step[ROWS] != 0 ? count[ROWS] : 1,
              planes = step[PLANES] != 0 ? count[PLANES] : 1;
    const size_t row_bytes = (size_t)kinetic->geometry.nodes[0] * kinetic->store_bytes;
    size_t values = 0;
    if (kinetic->options.plan == KF_PLAN_MOMENTS)
        return (size_t)kinetic->node_values * (size_t)count[ROWS] * (size_t)count[PLANES] * row_bytes;
    for (int row = 0; row < rows; row++)
        for (int plane = 0; plane < planes; plane++)
            for (int cy = -1; cy <= 1; cy++)
                for (int cz = -1; cz <= 1; cz++)
                    if (is_pulled(cy, step[ROWS], row, kinetic->bounced[ROWS]) &&
                        is_pulled(cz, step[PLANES], plane, kinetic->bounced[PLANES]))
                        values += (size_t)velocities(kinetic, cy, cz);
    return values * (size_t)(count[ROWS] / rows) * (size_t)(count[PLANES] / planes) * row_bytes;
}

/* Returns where a box's outflow values begin in its message: after its nodes, at a place that suits every
 * type. */
static size_t outflow_place(const kf_kinetic *kinetic, const kf_kinetic_box *box, const int step[2]) {
    enum { ALIGNMENT = 16 };
    return (box_bytes(kinetic, box, step) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t outflow_bytes(const kf_builder *b, const kf_kinetic_box *box) {
    const kf_scene *scene = kf_plan_scene(b->plan);
    const size_t edge[3] = {(size_t)scene->nodes[0], (size_t)box->count[ROWS], (size_t)box->count[PLANES]};
    size_t nodes = 0;
    /* Both sides of a cut compute it. */
    if (b->kinetics->computes_halo) return 0;
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2, at = face % 2 == 1 ? scene->nodes[axis] - 1 : 0;
        const bool has =
            axis == 0 || (at >= box->first[axis - 1] && at < box->first[axis - 1] + box->count[axis - 1]);
        if (has && scene->faces[face] == KF_OUTFLOW) nodes += edge[(axis + 1) % 3] * edge[(axis + 2) % 3];
    }
    return 9 * nodes * b->kinetics->real_bytes;
}

size_t kf_message_bytes(const kf_builder *b, int number, int side) {
    if (kf_kinetic_sides(b->plan) == 2) return kf_halo_bytes(b->kinetics);
    const kf_kinetic_box box = kf_box_sent(b, number, side);
    return outflow_place(b->kinetics, &box, steps_to_side[side]) + outflow_bytes(b, &box);
}

size_t kf_halo_bytes(const kf_kinetic *kinetic) {
    /* The velocities without a component along z. */
    enum { LEVEL = 9 };
    const int *n = kinetic->geometry.nodes, near = kinetic->halo_width, values = kinetic->node_values;
    const int across = (values - LEVEL) / 2, away = near - (kinetic->bounced[PLANES] ? 1 : 2),
              some = near * across + (near - 1) * LEVEL + (away > 0 ? away * across : 0);
    return (size_t)(is_cut_alone(kinetic) ? some : near * values) * (size_t)n[0] * (size_t)n[1] *
           kinetic->store_bytes;
}

/* Makes the buffers of the halo on one side of a part. Odd steps use other buffers than even ones. The
 * neighbour sends a step's halo after it has received the previous one, which this part sent after unpacking
 * the one before. */
static kf_status make_halo(kf_builder *b, int near, int side, kf_error *error) {
    kf_halo_buffers *t = &b->halos[near][side];
    kf_plan *plan = b->plan;
    /* The part may belong to another process. */
    const int other = neighbour(b, near, side), from = other - b->offset;
    const size_t bytes = kf_message_bytes(b, plan->near_first + other, side ^ 1);
    size_t ends[KF_MOST_PARTS];
    for (int i = 0; i < b->near; i++)
        ends[i] = i < near ? 0 : bytes;
    kf_plan_on(plan, from);
    if (from >= 0 && from < b->parts) KF_TRY(kf_plan_buffer(plan, bytes, &t->packed, error));
    for (int parity = 0; parity < 2; parity++) {
        if (kf_is_by_nccl(b)) {
            kf_plan_on(plan, near);
            if (parity == 0) KF_TRY(kf_plan_buffer(plan, bytes, &t->received[0], error));
            t->received[1] =
                /* The stream of the part delays the next message until this one is unpacked. */
                t->received[0];
        } else if (b->kinetics->options.transfer == KF_THROUGH_HOST) {
            kf_plan_on(plan, from);
            KF_TRY(kf_plan_on_host(plan, bytes, &t->host[parity], error));
            kf_plan_on(plan, near);
            KF_TRY(kf_plan_buffer(plan, bytes, &t->received[parity], error));
        } else {
            KF_TRY(kf_plan_spread(plan, bytes, bytes, ends, &t->received[parity], error));
        }
    }
    return KF_OK;
}

bool kf_is_by_nccl(const kf_builder *b) {
    return b->kinetics->options.transfer == KF_BY_NCCL;
}

/* Adds a part's message to one side, or from there. */
static void add_message(kf_builder *b, int part, int side, bool sends) {
    const kf_plan *plan = b->plan;
    const int number = plan->first_part + part, other = kf_kinetic_neighbour(plan, number, side);
    kf_nccl_message message = {.part = part, .other = other, .sends = sends};
    if (!kf_kinetic_is_copied(plan, part, side)) return;
    if (is_copied_near(b, part, side)) {
        const kf_halo_buffers *goes = &b->halos[neighbour(b, part, side)][side ^ 1],
                              *comes = &b->halos[part][side];
        message.buffer = sends ? goes->packed : comes->received[0];
        message.bytes = sends ? kf_message_bytes(b, number, side) : kf_message_bytes(b, other, side ^ 1);
    } else {
        const kf_far_side *far = &b->far[part][side];
        message.buffer = sends ? far->outgoing : far->incoming;
        message.bytes = sends ? far->outgoing_bytes : far->incoming_bytes;
    }
    kf_nccl_group_add(b->kinetics->nccl, &message);
}

/* Makes a group of NCCL messages. Between two parts of a ring two messages go each way: the one sent down
 * arrives from above. */
static void make_nccl_group(kf_builder *b) {
    if (!kf_is_by_nccl(b) || b->status != KF_OK) return;
    b->status = kf_nccl_group_create(b->plan->backend, &b->kinetics->nccl, b->error);
    for (int part = 0; part < b->parts && b->status == KF_OK; part++) {
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            add_message(b, part, side, true);
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            add_message(b, part, side ^ 1, false);
    }
}

static void append_nccl_exchange(kf_builder *b, int p) {
    for (int part = 0; kf_is_by_nccl(b) && part < b->parts && kf_falls(b, p); part++) {
        kf_call call = {.enqueue = kf_nccl_enqueue,
                        .object = kf_nccl_group_end(b->kinetics->nccl, part),
                        .kernels = part == b->parts - 1};
        kf_copy_text(call.version, sizeof call.version, kf_nccl_version(b->kinetics->nccl));
        kf_on_part(b, part);
        kf_schedule(b, p, kf_plan_add_call(b->plan, "nccl", &call));
    }
}

void kf_make_halo_exchange(kf_builder *b) {
    for (int near = 0; near < b->near; near++)
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            if (b->status == KF_OK && is_copied_near(b, near - b->offset, side))
                b->status = make_halo(b, near, side, b->error);
    kf_make_messages(b);
    make_nccl_group(b);
}

/* Returns where a part keeps the first row of a halo on that side. Across the seam of a domain that is
 * periodic along y, the halo's rows follow the part's own. */
static int first_halo_row(const kf_kinetic *kinetic, const kf_kinetic_box *box, const int step[2]) {
    const int first = box->first[ROWS], rows = kinetic->geometry.nodes[1];
    if (step[ROWS] < 0 && first > kinetic->first_row) return first - rows;
    return step[ROWS] > 0 && first < kinetic->first_row ? first + rows : first;
}

/* Arguments with the grid that has what leaves the nodes in step p. */
static kf_kinetic_arguments after_step(const kf_kinetic *kinetic, int p) {
    const int grid = kinetic->swaps ? 1 - p : 0;
    return kf_from_to(kinetic, grid, grid);
}

/* Packs or unpacks the halo of a part that has cuts across y too: a box of nodes, and what waits outside
 * of outflows beside them. */
static void append_box(kf_builder *b, int p, bool packs, int side, const kf_buffer *packed) {
    const kf_kinetic *kinetic = b->kinetic;
    const int number = b->plan->first_part + kinetic->part, *step = steps_to_side[side], to = packs ? 1 : -1,
              *n = kinetic->geometry.nodes;
    const kf_kinetic_box box = packs ? kf_box_sent(b, number, side) : kf_box_received(b, number, side);
    const int *count = box.count, extent[3] = {n[0], count[ROWS], count[PLANES]},
              ends[3] = {n[0] > count[ROWS] ? n[0] : count[ROWS],
                         count[ROWS] > count[PLANES] ? count[ROWS] : count[PLANES], KF_FACES};
    const size_t bytes = box_bytes(kinetic, &box, step), waiting = outflow_bytes(b, &box);
    kf_kinetic_arguments arguments = after_step(kinetic, p);
    arguments.part.first_row = packs ? box.first[ROWS] : first_halo_row(kinetic, &box, step);
    arguments.part.rows = count[ROWS];
    arguments.part.first_plane = box.first[PLANES];
    arguments.part.planes = count[PLANES];
    arguments.part.cut_row = to * step[ROWS];
    arguments.part.cut_side = to * step[PLANES];
    arguments.fields.density = kf_buffer_address(packed);
    kf_append(b, p, KF_SOURCE_STATE, packs ? "pack_box" : "unpack_box", extent, b->face_block, arguments,
              2.0 * (double)bytes);
    if (waiting == 0) return;
    arguments.part.first_row = box.first[ROWS];
    arguments.fields.density = (char *)kf_buffer_address(packed) + outflow_place(kinetic, &box, step);
    kf_append(b, p, KF_SOURCE_BOUNDARY, packs ? "pack_outflow" : "unpack_outflow", ends, b->face_block,
              arguments, 2.0 * (double)waiting);
}

/* Packs the halo of one side in step p into `packed`, or unpacks it from there: whole planes, only the
 * populations that cross the cut, or a box where cuts across y exist. */
void kf_append_pack_or_unpack(kf_builder *b, int p, bool packs, int side, const kf_buffer *packed) {
    static const char *const names[2][2] = {{"unpack", "unpack_cut"}, {"pack", "pack_cut"}};
    const kf_kinetic *kinetic = b->kinetic;
    const int number = b->plan->first_part + kinetic->part;
    const int *n = kinetic->geometry.nodes, extent[3] = {n[0], n[1], kinetic->halo_width};
    kf_kinetic_arguments arguments = after_step(kinetic, p);
    if (b->status != KF_OK) return;
    if (kf_kinetic_sides(b->plan) > 2) {
        append_box(b, p, packs, side, packed);
        return;
    }
    arguments.part.first_plane =
        (packs ? kf_box_sent(b, number, side) : kf_box_received(b, number, side)).first[PLANES];
    arguments.part.cut_side = (packs ? 1 : -1) * steps_to_side[side][PLANES];
    arguments.fields.density = kf_buffer_address(packed);
    kf_append(b, p, KF_SOURCE_STATE, names[packs][is_cut_alone(kinetic)], extent, b->face_block, arguments,
              2.0 * (double)kf_halo_bytes(kinetic));
}

static void append_packed(kf_builder *b, int p, const char *name, kf_buffer *target, const kf_buffer *source,
                          size_t bytes) {
    const kf_copy copy = {.target = target, .source = source, .bytes = bytes, .rows = 1};
    (void)kf_append_copy(b, p, name, &copy);
}

/* Packs what the part on that side reads of this one, and sends it. */
static void pack_and_send(kf_builder *b, int p, int part, int side) {
    const int to = neighbour(b, b->offset + part, side);
    const kf_halo_buffers *t = &b->halos[to][side ^ 1];
    const size_t bytes = kf_message_bytes(b, b->plan->first_part + part, side);
    kf_append_pack_or_unpack(b, p, true, side, t->packed);
    if (t->host[p] != NULL)
        append_packed(b, p, "to_host", t->host[p], t->packed, bytes);
    else if (!kf_is_by_nccl(b))
        append_packed(b, p, "peer_copy", t->received[p], t->packed, bytes);
}

static void receive_and_unpack(kf_builder *b, int p, int part, int side) {
    const kf_halo_buffers *t = &b->halos[b->offset + part][side];
    const int other = kf_kinetic_neighbour(b->plan, b->plan->first_part + part, side);
    if (t->host[p] != NULL)
        append_packed(b, p, "from_host", t->received[p], t->host[p], kf_message_bytes(b, other, side ^ 1));
    kf_append_pack_or_unpack(b, p, false, side, t->received[p]);
}

void kf_append_halo_sends(kf_builder *b, int p, bool aside) {
    b->aside = aside;
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            if (is_copied_near(b, part, side))
                pack_and_send(b, p, part, side);
            else if (kf_kinetic_is_copied(b->plan, part, side))
                kf_append_far_halo_send(b, p, side);
    }
    if (b->kinetics->options.transfer != KF_DIRECT) kf_signal_all(b, p, "planes_sent", b->halo_sent);
    append_nccl_exchange(b, p);
    b->aside = false;
}

void kf_append_halo_receives(kf_builder *b, int p, bool aside) {
    b->aside = aside;
    if (b->kinetics->options.transfer != KF_DIRECT) kf_await_neighbours(b, p, "planes_sent", b->halo_sent);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        for (int side = 0; side < kf_kinetic_sides(b->plan); side++)
            if (is_copied_near(b, part, side)) receive_and_unpack(b, p, part, side);
    }
    kf_append_far_halo_receives(b, p);
    b->aside = false;
}

void kf_append_halo_exchange(kf_builder *b, int p) {
    kf_append_halo_sends(b, p, false);
    kf_append_post(b, p, false);
    kf_append_halo_receives(b, p, false);
}
