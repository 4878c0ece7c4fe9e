/* Planes that a team's parts copy from each other, where they do not read them in place: packed on the part
 * they belong to, copied to the neighbour or through the host, and unpacked beside its own. Every part has
 * grids of its own, so all of it happens once a step, when the planes beside the cuts are done. */
#include "solver/kinetic/kinetic_builder.h"

#include "base/backend/nccl.h"
#include "base/util/text.h"
#include "scene/scene.h"

enum { BELOW, ABOVE };

kf_beyond kf_kinetic_beyond(const kf_plan *plan, int part, int side) {
    const int all = plan->all_parts, number = plan->first_part + part,
              other = side == BELOW ? number - 1 : number + 1;
    const bool ring = kf_plan_scene(plan)->faces[KF_ZMIN] == KF_PERIODIC;
    if (all == 1 || (!ring && (other < 0 || other == all))) return KF_BEYOND_NOTHING;
    const int near = (other + all) % all - plan->near_first;
    return near >= 0 && near < plan->near_parts ? KF_BEYOND_NEAR : KF_BEYOND_FAR;
}

bool kf_kinetic_is_copied(const kf_plan *plan, int part, int side) {
    const kf_kinetic *kinetics = plan->system;
    const kf_beyond beyond = kf_kinetic_beyond(plan, part, side);
    return beyond == KF_BEYOND_FAR || (beyond == KF_BEYOND_NEAR && kinetics->options.transfer != KF_DIRECT);
}

static bool is_copied_near(const kf_builder *b, int part, int side) {
    return kf_kinetic_is_copied(b->plan, part, side) &&
           kf_kinetic_beyond(b->plan, part, side) == KF_BEYOND_NEAR;
}

int kf_first_sent(const kf_kinetic *kinetic, int side) {
    return side == BELOW ? kinetic->first_plane
                         : kinetic->first_plane + kinetic->planes - kinetic->near_planes;
}

int kf_first_taken(const kf_kinetic *kinetic, int side) {
    const int nodes = kinetic->geometry.nodes[2], first = kinetic->first_plane, end = first + kinetic->planes;
    return side == BELOW ? (first > 0 ? first : nodes) - kinetic->near_planes : end % nodes;
}

/* Of a part in reach. */
static int neighbour(const kf_builder *b, int near, int side) {
    return (near + (side == BELOW ? b->near - 1 : 1)) % b->near;
}

/* Between two grids only what is pulled across the cut travels (pack_cut of kernels/kinetic/state.cu). */
static bool is_cut_alone(const kf_kinetic *kinetic) {
    return kinetic->options.plan == KF_PLAN_FUSED && kinetic->options.in_place == 0;
}

size_t kf_packed_bytes(const kf_kinetic *kinetic) {
    enum { LEVEL = 9 }; /* velocities without a part along z */
    const int *n = kinetic->geometry.nodes, near = kinetic->near_planes, values = kinetic->node_values;
    const int across = (values - LEVEL) / 2,
              some = near * across + (near - 1) * LEVEL + (near > 2 ? (near - 2) * across : 0);
    return (size_t)(is_cut_alone(kinetic) ? some : near * values) * (size_t)n[0] * (size_t)n[1] *
           kinetic->store_bytes;
}

/* What comes from one side of a part. At even and odd steps it comes to another place: the neighbour sends
 * those of a step when it has those of the step before, and they were sent when this part had taken out
 * those before them. */
static kf_status make_side(kf_builder *b, int near, int side, kf_error *error) {
    kf_transfer *t = &b->transfers[near][side];
    kf_plan *plan = b->plan;
    const size_t bytes = kf_packed_bytes(b->kinetics);
    const int from = neighbour(b, near, side) - b->offset; /* perhaps another process's */
    size_t ends[KF_MOST_PARTS];
    for (int i = 0; i < b->near; i++)
        ends[i] = i < near ? 0 : bytes;
    kf_plan_on(plan, from);
    if (from >= 0 && from < b->parts) KF_TRY(kf_plan_buffer(plan, bytes, &t->packed, error));
    for (int parity = 0; parity < 2; parity++) {
        if (kf_is_by_nccl(b)) {
            kf_plan_on(plan, near);
            if (parity == 0) KF_TRY(kf_plan_buffer(plan, bytes, &t->taken[0], error));
            t->taken[1] = t->taken[0]; /* its stream holds the next message back until this one is taken */
        } else if (b->kinetics->options.transfer == KF_THROUGH_HOST) {
            kf_plan_on(plan, from);
            KF_TRY(kf_plan_on_host(plan, bytes, &t->host[parity], error));
            kf_plan_on(plan, near);
            KF_TRY(kf_plan_buffer(plan, bytes, &t->taken[parity], error));
        } else {
            KF_TRY(kf_plan_spread(plan, bytes, bytes, ends, &t->taken[parity], error));
        }
    }
    return KF_OK;
}

bool kf_is_by_nccl(const kf_builder *b) {
    return b->kinetics->options.transfer == KF_BY_NCCL;
}

/* A part's message to one side, or from there. */
static void add_message(kf_builder *b, int part, int side, bool sends) {
    const kf_plan *plan = b->plan;
    const int other = plan->first_part + part + (side == BELOW ? -1 : 1);
    kf_nccl_message message = {
        .part = part, .other = (other + plan->all_parts) % plan->all_parts, .sends = sends};
    if (!kf_kinetic_is_copied(plan, part, side)) return;
    if (is_copied_near(b, part, side)) {
        const kf_transfer *goes = &b->transfers[neighbour(b, part, side)][side == BELOW ? ABOVE : BELOW],
                          *comes = &b->transfers[part][side];
        message.buffer = sends ? goes->packed : comes->taken[0];
        message.bytes = kf_packed_bytes(b->kinetics);
    } else {
        message.buffer = sends ? b->far[side].sent : b->far[side].come;
        message.bytes = b->far[side].bytes;
    }
    kf_nccl_group_add(b->kinetics->nccl, &message);
}

/* Between two parts of a ring two messages go each way: what goes down comes from above. */
static void make_exchange(kf_builder *b) {
    if (!kf_is_by_nccl(b) || b->status != KF_OK) return;
    b->status = kf_nccl_group_create(b->plan->backend, &b->kinetics->nccl, b->error);
    for (int part = 0; part < b->parts && b->status == KF_OK; part++) {
        add_message(b, part, BELOW, true);
        add_message(b, part, ABOVE, true);
        add_message(b, part, ABOVE, false);
        add_message(b, part, BELOW, false);
    }
}

static void append_exchange(kf_builder *b, int p) {
    for (int part = 0; kf_is_by_nccl(b) && part < b->parts && kf_falls(b, p); part++) {
        kf_call call = {.enqueue = kf_nccl_enqueue,
                        .object = kf_nccl_group_end(b->kinetics->nccl, part),
                        .kernels = part == b->parts - 1};
        kf_copy_text(call.version, sizeof call.version, kf_nccl_version(b->kinetics->nccl));
        kf_on_part(b, part);
        kf_schedule(b, p, kf_plan_add_call(b->plan, "nccl", &call));
    }
}

void kf_make_transfers(kf_builder *b) {
    for (int near = 0; near < b->near; near++)
        for (int side = BELOW; side <= ABOVE; side++)
            if (b->status == KF_OK && is_copied_near(b, near - b->offset, side))
                b->status = make_side(b, near, side, b->error);
    kf_make_messages(b);
    make_exchange(b);
}

void kf_append_slab(kf_builder *b, int p, bool packs, int side, const kf_buffer *packed) {
    static const char *const names[2][2] = {{"unpack", "unpack_cut"}, {"pack", "pack_cut"}};
    const kf_kinetic *kinetic = b->kinetic;
    const int *n = kinetic->geometry.nodes, extent[3] = {n[0], n[1], kinetic->near_planes};
    const bool in_place = kinetic->options.in_place != 0;
    kf_kinetic_arguments arguments = kf_from_to(kinetic, in_place ? 0 : 1 - p, in_place ? 0 : 1 - p);
    if (b->status != KF_OK) return;
    arguments.pushed = in_place && p == 0;
    arguments.first_plane = packs ? kf_first_sent(kinetic, side) : kf_first_taken(kinetic, side);
    arguments.cut_side = packs == (side == ABOVE) ? 1 : -1;
    arguments.density = kf_buffer_address(packed);
    kf_append(b, p, KF_SOURCE_STATE, names[packs][is_cut_alone(kinetic)], extent, b->face_block, arguments,
              2.0 * (double)kf_packed_bytes(kinetic));
}

static void append_packed(kf_builder *b, int p, const char *name, kf_buffer *target,
                          const kf_buffer *source) {
    const kf_copy copy = {
        .target = target, .source = source, .bytes = kf_packed_bytes(b->kinetic), .rows = 1};
    (void)kf_append_copy(b, p, name, &copy);
}

/* What the part beside on that side reads of this one. */
static void send(kf_builder *b, int p, int part, int side) {
    const int to = neighbour(b, b->offset + part, side);
    const kf_transfer *t = &b->transfers[to][side == BELOW ? ABOVE : BELOW];
    kf_append_slab(b, p, true, side, t->packed);
    if (t->host[p] != NULL)
        append_packed(b, p, "to_host", t->host[p], t->packed);
    else if (!kf_is_by_nccl(b))
        append_packed(b, p, "peer_copy", t->taken[p], t->packed);
}

static void take(kf_builder *b, int p, int part, int side) {
    const kf_transfer *t = &b->transfers[b->offset + part][side];
    if (t->host[p] != NULL) append_packed(b, p, "from_host", t->taken[p], t->host[p]);
    kf_append_slab(b, p, false, side, t->taken[p]);
}

void kf_append_sends(kf_builder *b, int p, bool aside) {
    b->aside = aside;
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        for (int side = BELOW; side <= ABOVE; side++)
            if (is_copied_near(b, part, side))
                send(b, p, part, side);
            else if (kf_kinetic_is_copied(b->plan, part, side))
                kf_append_far_send(b, p, side);
    }
    if (b->kinetics->options.transfer != KF_DIRECT) kf_signal_all(b, p, "planes_sent", b->sent);
    append_exchange(b, p);
    b->aside = false;
}

void kf_append_takes(kf_builder *b, int p, bool aside) {
    b->aside = aside;
    if (b->kinetics->options.transfer != KF_DIRECT) kf_await_neighbours(b, p, "planes_sent", b->sent);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        for (int side = BELOW; side <= ABOVE; side++)
            if (is_copied_near(b, part, side)) take(b, p, part, side);
    }
    kf_append_far_takes(b, p);
    b->aside = false;
}
