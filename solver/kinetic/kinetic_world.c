/* A simulation of several processes: each has a range of parts, and after every step takes its neighbours'
 * planes beside its own, through the host and MPI. Populations travel packed [z][i][y][x], as node's own
 * wherever the layout or streaming in place keeps them, and with them what waits outside of outflows beside
 * the cut. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"

/* One direction: planes that go to a neighbour, and those that come from it. */
typedef struct side {
    int other;                   /* its rank; -1: none */
    int first_sent, first_taken; /* planes */
    const kf_kinetic *own;       /* the part beside it */
    char *sent, *taken;          /* in the host's memory */
} side;

struct kf_kinetic_link {
    kf_plan *plan;
    int parity;
    int planes;                        /* that travel */
    size_t plane_bytes, outflow_bytes; /* of all that travel from outflows */
    side sides[2];                     /* below, above */
    kf_buffer *packed;                 /* of one side, on the first part's device */
};

kf_status kf_kinetic_check_world(const kf_kinetic_options *options, kf_error *error) {
    if (kf_world_size() == 1) return KF_OK;
    if (options->plan == KF_PLAN_BASELINE || options->plan == KF_PLAN_PAPER || options->boundary_kernels > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "several processes run plans fused and moments with boundary_kernels=0; this config's plan runs "
            "in one process, whose --devices may be several");
    if (options->transfer != KF_DIRECT)
        return kf_fail(error, KF_BAD_INPUT,
                       "several processes copy planes through the host and MPI; use transfer=direct");
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

int kf_kinetic_kept_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]) {
    const kf_kinetic *kinetics = plan->system;
    const int nodes = kf_plan_scene(plan)->nodes[2], near = kinetics->near_planes;
    int first, end, count = 1;
    kf_kinetic_own_planes(plan, grid, &first, &end);
    range[0][0] = first > near ? first - near : 0;
    range[0][1] = end + near < nodes ? end + near : nodes;
    const bool ring = kf_plan_scene(plan)->faces[KF_ZMIN] == KF_PERIODIC;
    if (ring && first < near && range[0][1] < nodes) { /* beyond the seam */
        range[count][0] = nodes - near > range[0][1] ? nodes - near : range[0][1];
        range[count++][1] = nodes;
    }
    if (ring && end + near > nodes && range[0][0] > 0) {
        range[count][0] = 0;
        range[count++][1] = near < range[0][0] ? near : range[0][0];
    }
    return count;
}

kf_status kf_kinetic_gather_planes(const kf_plan *plan, void *all, size_t plane_bytes, kf_error *error) {
    const int size = kf_world_size();
    int first, end;
    if (size == 1) return KF_OK;
    kf_kinetic_own_planes(plan, 0, &first, &end);
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

static void set_sides(kf_kinetic_link *link) {
    const kf_plan *plan = link->plan;
    const kf_kinetic *kinetics = plan->system;
    const int nodes = kf_plan_scene(plan)->nodes[2], rank = kf_world_rank(), size = kf_world_size();
    const bool ring = kf_plan_scene(plan)->faces[KF_ZMIN] == KF_PERIODIC;
    int first, end;
    kf_kinetic_own_planes(plan, 0, &first, &end);
    link->sides[0] = (side){.other = rank > 0 ? rank - 1
                                     : ring   ? size - 1
                                              : -1,
                            .first_sent = first,
                            .first_taken = (first > 0 ? first : nodes) - link->planes,
                            .own = kinetics};
    link->sides[1] = (side){.other = rank < size - 1 ? rank + 1
                                     : ring          ? 0
                                                     : -1,
                            .first_sent = end - link->planes,
                            .first_taken = end < nodes ? end : 0,
                            .own = &kinetics[plan->part_count - 1]};
}

kf_status kf_kinetic_link_make(kf_plan *plan, int parity, kf_kinetic_link **link, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const int *n = kf_plan_scene(plan)->nodes;
    *link = NULL;
    if (kf_world_size() == 1) return KF_OK;
    kf_kinetic_link *made = kf_allocate_zeroed(1, sizeof *made);
    made->plan = plan;
    made->parity = parity;
    made->planes = kinetics->near_planes;
    made->plane_bytes = (size_t)kinetics->node_values * (size_t)n[0] * (size_t)n[1] * kinetics->store_bytes;
    for (int face = 0; face < KF_FACES; face++)
        if (has_outflow(plan, face)) made->outflow_bytes += 9 * (size_t)made->planes * row_bytes(plan, face);
    set_sides(made);
    const size_t bytes = made->plane_bytes * (size_t)made->planes;
    for (int s = 0; s < 2; s++) {
        made->sides[s].sent = kf_allocate(bytes + made->outflow_bytes);
        made->sides[s].taken = kf_allocate(bytes + made->outflow_bytes);
    }
    *link = made;
    kf_plan_on(plan, 0);
    return kf_plan_buffer(plan, bytes, &made->packed, error);
}

void kf_kinetic_link_free(kf_kinetic_link *link) {
    for (int s = 0; link != NULL && s < 2; s++) {
        free(link->sides[s].sent);
        free(link->sides[s].taken);
    }
    free(link);
}

/* --- a step -------------------------------------------------------------------------------------------- */

/* What waits outside of those planes in the next step, to the host or from it. */
static kf_status move_outflow(const kf_kinetic_link *link, const kf_kinetic *part, int first_plane,
                              char *host, bool out, kf_error *error) {
    const kf_plan *plan = link->plan;
    kf_buffer *kept = part->outflow[1 - link->parity];
    const size_t nodes = (size_t)kf_plan_scene(plan)->nodes[2];
    for (int face = 0; face < KF_FACES; face++) {
        if (!has_outflow(plan, face)) continue;
        const size_t row = row_bytes(plan, face), bytes = row * (size_t)link->planes,
                     start = (size_t)part->arguments.outflow_start[face] * part->real_bytes;
        for (size_t i = 0; i < 9; i++, host += bytes) {
            const size_t at = start + (i * nodes + (size_t)first_plane) * row;
            KF_TRY(out ? kf_buffer_download(kept, at, host, bytes, error)
                       : kf_buffer_upload(kept, at, host, bytes, error));
        }
    }
    return KF_OK;
}

static kf_status take_out(kf_kinetic_link *link, const side *s, kf_error *error) {
    const size_t bytes = link->plane_bytes * (size_t)link->planes;
    const uint64_t steps = link->plan->steps_done + 1; /* the step is not counted yet */
    KF_TRY(
        kf_kinetic_on_slab(link->plan, "pack", 0, link->packed, steps, s->first_sent, link->planes, error));
    KF_TRY(kf_buffer_download(link->packed, 0, s->sent, bytes, error));
    return move_outflow(link, s->own, s->first_sent, s->sent + bytes, true, error);
}

static kf_status put_in(kf_kinetic_link *link, const side *s, kf_error *error) {
    const size_t bytes = link->plane_bytes * (size_t)link->planes;
    const uint64_t steps = link->plan->steps_done + 1;
    KF_TRY(kf_buffer_upload(link->packed, 0, s->taken, bytes, error));
    KF_TRY(kf_kinetic_on_slab(link->plan, "unpack", 0, link->packed, steps, s->first_taken, link->planes,
                              error));
    return move_outflow(link, s->own, s->first_taken, s->taken + bytes, false, error);
}

kf_status kf_kinetic_exchange_planes(void *object, kf_stream *stream, kf_error *error) {
    enum { DOWN, UP }; /* tags */
    kf_kinetic_link *link = object;
    const size_t bytes = link->plane_bytes * (size_t)link->planes + link->outflow_bytes;
    kf_message messages[4];
    int count = 0;
    (void)stream;
    KF_TRY(kf_backend_synchronize(link->plan->backend, error));
    for (int s = 0; s < 2; s++) {
        const side *at = &link->sides[s];
        if (at->other < 0) continue;
        KF_TRY(take_out(link, at, error));
        messages[count++] = (kf_message){at->other, s == 0 ? DOWN : UP, true, at->sent, bytes};
        messages[count++] = (kf_message){at->other, s == 0 ? UP : DOWN, false, at->taken, bytes};
    }
    KF_TRY(kf_world_exchange(messages, count, error));
    for (int s = 0; s < 2; s++)
        if (link->sides[s].other >= 0) KF_TRY(put_in(link, &link->sides[s], error));
    return KF_OK;
}

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
