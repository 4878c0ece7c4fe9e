/* A simulation of several processes: each has a range of parts, and in every step takes its neighbours'
 * planes beside its own, through the host and MPI, while it works on its inner planes where they are on two
 * grids. Populations travel packed [z][i][y][x], as node's own wherever the layout or streaming in place
 * keeps them, and with them what waits outside of outflows beside the cut. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

enum { BELOW, ABOVE };

struct kf_kinetic_link {
    kf_plan *plan;
    kf_message messages[4];
    int message_count;
    kf_posted posted;
};

kf_status kf_kinetic_check_world(const kf_kinetic_options *options, kf_error *error) {
    if (kf_world_size() == 1) return KF_OK;
    if (options->plan == KF_PLAN_BASELINE || options->plan == KF_PLAN_PAPER || options->boundary_kernels > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "several processes run plans fused and moments with boundary_kernels=0; this config's plan runs "
            "in one process, whose --devices may be several");
    return KF_OK;
}

/* --- planes -------------------------------------------------------------------------------------------- */

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

/* A grid's own planes, and so many beside them. */
static int planes_around(const kf_plan *plan, int grid, int low, int high, int range[KF_PLANE_RANGES][2]) {
    const int nodes = kf_plan_scene(plan)->nodes[2];
    int first, end, count = 1;
    kf_kinetic_own_planes(plan, grid, &first, &end);
    range[0][0] = first > low ? first - low : 0;
    range[0][1] = end + high < nodes ? end + high : nodes;
    const bool ring = kf_plan_scene(plan)->faces[KF_ZMIN] == KF_PERIODIC;
    if (ring && first < low && range[0][1] < nodes) { /* beyond the seam */
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
    const int near = kinetics->near_planes, last = kf_kinetic_grids(plan) == 1 ? plan->part_count - 1 : grid;
    return planes_around(plan, grid, kf_kinetic_is_copied(plan, grid, BELOW) ? near : 0,
                         kf_kinetic_is_copied(plan, last, ABOVE) ? near : 0, range);
}

int kf_kinetic_read_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]) {
    const int near = ((const kf_kinetic *)plan->system)->near_planes;
    return planes_around(plan, grid, near, near, range);
}

kf_status kf_kinetic_settle(const kf_plan *plan, kf_error *error) {
    const kf_status status = kf_backend_synchronize(plan->backend, error);
    return plan->near_parts > plan->part_count ? kf_world_agree_near(status, error) : status;
}

kf_status kf_kinetic_gather_planes(const kf_plan *plan, void *all, size_t plane_bytes, kf_error *error) {
    const int size = kf_world_size();
    int first, end;
    if (size == 1) return KF_OK;
    kf_kinetic_own_planes(plan, kf_kinetic_grids(plan) - 1, &first, &end);
    int64_t *planes = kf_allocate_zeroed((size_t)size, sizeof *planes);
    size_t *ends = kf_allocate((size_t)size * sizeof *ends);
    planes[kf_world_rank()] = end;
    kf_status status = kf_world_sum(planes, size, error);
    for (int rank = 0; rank < size; rank++)
        ends[rank] = (size_t)planes[rank] * plane_bytes;
    if (status == KF_OK) status = kf_world_gather(all, ends, error);
    free(planes);
    free(ends);
    return status;
}

/* --- making -------------------------------------------------------------------------------------------- */

static bool has_outflow(const kf_plan *plan, int face) {
    return face / 2 != 2 && kf_plan_scene(plan)->faces[face] == KF_OUTFLOW;
}

/* Of a face whose rows lie along z: nine values for each node of a row. */
static size_t row_bytes(const kf_plan *plan, int face) {
    const kf_kinetic *kinetics = plan->system;
    return (size_t)kf_plan_scene(plan)->nodes[face / 2 == 0 ? 1 : 0] * kinetics->real_bytes;
}

/* Of what travels from outflows across one end. */
static size_t outflow_bytes(const kf_plan *plan) {
    const kf_kinetic *kinetics = plan->system;
    size_t bytes = 0;
    for (int face = 0; face < KF_FACES; face++)
        if (has_outflow(plan, face)) bytes += 9 * (size_t)kinetics->near_planes * row_bytes(plan, face);
    return bytes;
}

kf_kinetic_link *kf_kinetic_link_make(kf_plan *plan) {
    if (kf_world_size() == 1) return NULL;
    kf_kinetic_link *made = kf_allocate_zeroed(1, sizeof *made);
    made->plan = plan;
    return made;
}

void kf_kinetic_link_free(kf_kinetic_link *link) {
    free(link);
}

/* The part at that end of this process's planes. */
static int end_part(const kf_builder *b, int side) {
    return side == BELOW ? 0 : b->parts - 1;
}

static bool is_far(const kf_builder *b, int side) {
    return kf_kinetic_beyond(b->plan, end_part(b, side), side) == KF_BEYOND_FAR;
}

bool kf_has_messages(const kf_builder *b) {
    return is_far(b, BELOW) || is_far(b, ABOVE);
}

/* Whether messages go from the device's memory to another's, not by way of the host's. */
static bool is_sent_as_packed(const kf_builder *b) {
    return kf_is_by_nccl(b) || (b->kinetics->options.transfer != KF_THROUGH_HOST &&
                                (strcmp(kf_backend_device(b->plan->backend)->backend, "cpu") == 0 ||
                                 kf_world_takes_device_memory()));
}

static kf_status make_end(kf_builder *b, int side, kf_error *error) {
    enum { DOWN, UP }; /* tags */
    kf_far_side *far = &b->far[side];
    kf_kinetic_link *link = b->kinetics->link;
    const bool as_packed = is_sent_as_packed(b);
    const size_t planes = kf_packed_bytes(b->kinetics), all = planes + outflow_bytes(b->plan);
    const int rank = kf_world_rank(), size = kf_world_size(),
              other = (side == BELOW ? rank + size - 1 : rank + 1) % size;
    kf_plan_on(b->plan, end_part(b, side));
    far->bytes = all;
    KF_TRY(kf_plan_buffer(b->plan, as_packed ? all : planes, &far->packed, error));
    KF_TRY(kf_plan_buffer(b->plan, as_packed ? all : planes, &far->taken, error));
    far->sent = far->packed;
    far->come = far->taken;
    if (kf_is_by_nccl(b)) return KF_OK;
    if (!as_packed) {
        KF_TRY(kf_plan_on_host(b->plan, all, &far->sent, error));
        KF_TRY(kf_plan_on_host(b->plan, all, &far->come, error));
    }
    link->messages[link->message_count++] =
        (kf_message){other, side == BELOW ? DOWN : UP, true, kf_buffer_address(far->sent), all};
    link->messages[link->message_count++] =
        (kf_message){other, side == BELOW ? UP : DOWN, false, kf_buffer_address(far->come), all};
    return KF_OK;
}

void kf_make_messages(kf_builder *b) {
    for (int side = BELOW; side <= ABOVE; side++)
        if (b->status == KF_OK && is_far(b, side)) b->status = make_end(b, side, b->error);
}

/* --- a step -------------------------------------------------------------------------------------------- */

/* Object: the link. The messages' buffers are free: all of the step before has been sent, and what came then
 * was taken before this step's planes were packed. */
static kf_status post_planes(void *object, kf_stream *stream, kf_error *error) {
    kf_kinetic_link *link = object;
    KF_TRY(kf_stream_synchronize(stream, error));
    kf_world_post(link->messages, link->message_count, &link->posted);
    return KF_OK;
}

static kf_status await_planes(void *object, kf_stream *stream, kf_error *error) {
    kf_kinetic_link *link = object;
    (void)stream;
    return kf_world_complete(&link->posted, error);
}

void kf_append_link_call(kf_builder *b, int parity, int part, const char *name, kf_call_function *enqueue) {
    if (b->kinetics->link == NULL || !kf_falls(b, parity)) return;
    const kf_call call = {.enqueue = enqueue, .object = b->kinetics->link};
    kf_on_part(b, part);
    b->joins = true;
    kf_schedule(b, parity, kf_plan_add_call(b->plan, name, &call));
    b->joins = false;
}

/* What waits outside of the planes that are sent, or of those that have come, in the next step. */
static void append_outflow_copies(kf_builder *b, int p, int side, bool out) {
    const kf_plan *plan = b->plan;
    const kf_kinetic *kinetic = b->kinetic;
    kf_buffer *kept = kinetic->outflow[1 - p], *host = out ? b->far[side].sent : b->far[side].come;
    const size_t nodes = (size_t)kf_plan_scene(plan)->nodes[2], near = (size_t)kinetic->near_planes,
                 first = (size_t)(out ? kf_first_sent(kinetic, side) : kf_first_taken(kinetic, side));
    size_t at = kf_packed_bytes(b->kinetics);
    for (int face = 0; face < KF_FACES; face++) {
        if (!has_outflow(plan, face)) continue;
        const size_t row = row_bytes(plan, face),
                     place =
                         (size_t)kinetic->arguments.outflow_start[face] * kinetic->real_bytes + first * row;
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

void kf_append_far_send(kf_builder *b, int p, int side) {
    const kf_far_side *far = &b->far[side];
    const kf_copy copy = {
        .target = far->sent, .source = far->packed, .bytes = kf_packed_bytes(b->kinetics), .rows = 1};
    kf_append_slab(b, p, true, side, far->packed);
    if (far->sent != far->packed) (void)kf_append_copy(b, p, "to_host", &copy);
    append_outflow_copies(b, p, side, true);
}

/* The part whose stream the calls are made in: one that has packed something. */
static int caller(const kf_builder *b) {
    return end_part(b, is_far(b, BELOW) ? BELOW : ABOVE);
}

void kf_append_post(kf_builder *b, int p, bool aside) {
    const int last = b->parts - 1;
    if (!kf_has_messages(b) || kf_is_by_nccl(b)) return;
    b->aside = aside;
    if (caller(b) != last && is_far(b, ABOVE) && kf_falls(b, p)) {
        kf_on_part(b, last);
        kf_schedule(b, p, kf_plan_add_signal(b->plan, "planes_packed", b->gone));
        kf_on_part(b, caller(b));
        kf_schedule(b, p, kf_plan_add_await(b->plan, "planes_packed", b->gone));
    }
    kf_append_link_call(b, p, caller(b), "post_planes", post_planes);
    b->aside = false;
}

void kf_append_far_takes(kf_builder *b, int p) {
    const bool posted = !kf_is_by_nccl(b);
    if (!kf_has_messages(b)) return;
    if (posted) kf_append_link_call(b, p, caller(b), "await_planes", await_planes);
    if (posted && b->parts > 1 && kf_falls(b, p))
        kf_schedule(b, p, kf_plan_add_signal(b->plan, "planes_come", b->come));
    for (int side = BELOW; side <= ABOVE; side++) {
        const kf_far_side *far = &b->far[side];
        if (!is_far(b, side)) continue;
        const kf_copy copy = {
            .target = far->taken, .source = far->come, .bytes = kf_packed_bytes(b->kinetics), .rows = 1};
        kf_on_part(b, end_part(b, side));
        if (posted && end_part(b, side) != caller(b) && kf_falls(b, p))
            kf_schedule(b, p, kf_plan_add_await(b->plan, "planes_come", b->come));
        if (far->come != far->taken) (void)kf_append_copy(b, p, "from_host", &copy);
        kf_append_slab(b, p, false, side, far->taken);
        append_outflow_copies(b, p, side, false);
    }
}

/* --- sums ---------------------------------------------------------------------------------------------- */

/* Every part gets the sums of all, each at its place: count of them from `from` of every part to `to`. */
static kf_status gather(const kf_kinetic_link *link, size_t from, size_t to, size_t count, kf_error *error) {
    const kf_plan *plan = link->plan;
    const char *kinetics = plan->system;
    const size_t bytes = count * sizeof(int64_t);
    int64_t *all = kf_allocate_zeroed((size_t)plan->all_parts * count, sizeof *all);
    kf_status status = kf_backend_synchronize(plan->backend, error);
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        const kf_buffer *sums = *(kf_buffer *const *)(kinetics + (size_t)part * sizeof(kf_kinetic) + from);
        status = kf_buffer_download(sums, 0, all + (size_t)(plan->first_part + part) * count, bytes, error);
    }
    if (status == KF_OK) status = kf_world_sum(all, plan->all_parts * (int)count, error);
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        kf_buffer *sums = *(kf_buffer *const *)(kinetics + (size_t)part * sizeof(kf_kinetic) + to);
        status = kf_buffer_upload(sums, 0, all, (size_t)plan->all_parts * bytes, error);
    }
    free(all);
    return status;
}

kf_status kf_kinetic_gather_sums(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    return gather(object, offsetof(kf_kinetic, average_sums), offsetof(kf_kinetic, team_sums),
                  3 * KF_AVERAGE_SLOTS, error);
}

kf_status kf_kinetic_gather_body(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    return gather(object, offsetof(kf_kinetic, body_sums), offsetof(kf_kinetic, team_body), KF_BODY_PLACES,
                  error);
}
