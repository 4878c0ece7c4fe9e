/* Particles that several devices share: the memory in which a team's parts find each other's particles, and
 * the initial distribution (kernels/sph/team.h describes a step). */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "solver/sph/sph.h"

kf_status kf_sph_meet(const kf_plan *plan, kf_error *error) {
    const kf_status status = kf_backend_synchronize(plan->backend, error);
    return plan->near_parts > plan->part_count && !((const kf_sph *)plan->system)->packs
               ? kf_world_agree_near(status, error)
               : status;
}

void *kf_sph_address(const kf_sph_bytes *place) {
    return (char *)kf_buffer_address(place->buffer) + place->at;
}

kf_status kf_sph_upload(const kf_sph_bytes *place, const void *data, size_t bytes, kf_error *error) {
    return kf_buffer_upload(place->buffer, place->at, data, bytes, error);
}

kf_status kf_sph_download(const kf_sph_bytes *place, void *data, size_t bytes, kf_error *error) {
    return kf_buffer_download(place->buffer, place->at, data, bytes, error);
}

/* ---- Memory: one piece, of which each part has a share, with the same places in all shares ---- */

/* A share while its places are assigned. With base 0 only their sizes count. */
typedef struct room {
    uintptr_t base;
    size_t used;
} room;

static void *take(room *r, size_t count, size_t bytes) {
    enum { LINE = 256 };
    const size_t at = r->used;
    r->used = (at + count * bytes + LINE - 1) / LINE * LINE;
    return (void *)(r->base + at); /* NOLINT(performance-no-int-to-ptr): a device's address */
}

static void take_set(const kf_sph *system, room *r, size_t n, kf_sph_set *set) {
    set->position = take(r, n, 4 * sizeof(float));
    set->velocity = take(r, n, 4 * sizeof(float));
    set->rate = take(r, n, 4 * sizeof(float));
    set->stress = system->stress ? take(r, n, KF_SPH_STRESSES * sizeof(float)) : NULL;
    set->identity = take(r, n, sizeof(int));
}

/* The places of everything in a share: for other parts, for its kernels, and for the host. */
typedef struct places {
    kf_sph_peer peer;
    kf_sph_team team;
    kf_sph_arguments arguments;
    size_t clock, exchange, totals, gauge_sums, counts, share, team_at, numbers;
    size_t plane_weights, outgoing, incoming;
} places;

static void *take_seen(room *r, size_t count, size_t bytes, size_t *at) {
    *at = r->used;
    return take(r, count, bytes);
}

/* Lays out what the sort and the sums need, for n slots. */
static void lay_out_search(const kf_sph *system, room *r, size_t n, places *p) {
    const size_t cells = (size_t)system->grid.cell_count + 2,
                 planes = (size_t)system->grid.cells[system->options.cut_axis];
    kf_sph_arguments *a = &p->arguments;
    const size_t sums = system->scene->material.branch == KF_BRANCH_ELASTIC ? 4 : 5;
    a->cell_of = p->peer.cell_of = take(r, n + (size_t)system->room, 2 * sizeof(int));
    a->counts = p->peer.counts = take_seen(r, 2 * cells, sizeof(int), &p->counts);
    p->team.total = a->counts + cells;
    a->start = p->peer.start = take(r, cells, sizeof(int));
    a->tops = take(r, cells / KF_SPH_SCAN + 1, sizeof(int));
    a->slots = take(r, n, 2 * sizeof(int));
    a->hits = take(r, (n + 31) / 32 * 32 * (size_t)system->grid.capacity, sizeof(unsigned));
    a->hit_count = take(r, n, sizeof(int));
    a->list_position = system->options.search == KF_SPH_LIST ? take(r, n, 4 * sizeof(float)) : NULL;
    a->sums = p->peer.sums = system->stress ? take(r, n, sums * sizeof(float)) : NULL;
    p->peer.exports = take(r, n, sizeof(int));
    p->peer.weights = take(r, (size_t)system->grid.rows, 2 * sizeof(long long));
    p->team.plane_weights = take_seen(r, planes, 2 * sizeof(long long), &p->plane_weights);
    const size_t row = (size_t)kf_sph_row(system->stress) * sizeof(int);
    p->team.outgoing = take_seen(r, (size_t)system->room, row, &p->outgoing);
    p->team.incoming = take_seen(r, (size_t)system->room, row, &p->incoming);
}

static void lay_out(const kf_sph *system, room *r, size_t n, places *p) {
    kf_sph_arguments *a = &p->arguments;
    take_set(system, r, n, &a->sorted);
    take_set(system, r, n, &a->next);
    p->peer.sets[0] = a->sorted;
    p->peer.sets[1] = a->next;
    lay_out_search(system, r, n, p);
    a->clock = take_seen(r, 1, sizeof(kf_sph_clock), &p->clock);
    a->share = p->peer.share = take_seen(r, 1, sizeof(kf_sph_share), &p->share);
    a->team = take_seen(r, 1, sizeof(kf_sph_team), &p->team_at);
    a->totals = take_seen(r, (n + KF_SPH_CHUNK - 1) / KF_SPH_CHUNK, sizeof(kf_sph_sums), &p->totals);
    a->gauge_sums = take_seen(r, 3 * KF_PARTICLE_GAUGES, sizeof(long long), &p->gauge_sums);
    a->exchange = take_seen(r, (size_t)system->exchanged, KF_SPH_STATE_VALUES * sizeof(float), &p->exchange);
    p->team.numbers = take_seen(r, (size_t)system->exchanged, sizeof(int), &p->numbers);
}

/* Copies the places of a share into this part's arguments. */
static void adopt(const places *p, kf_sph_arguments *a) {
    a->sorted = p->arguments.sorted, a->next = p->arguments.next;
    a->cell_of = p->arguments.cell_of, a->counts = p->arguments.counts, a->start = p->arguments.start;
    a->tops = p->arguments.tops, a->slots = p->arguments.slots, a->hits = p->arguments.hits;
    a->hit_count = p->arguments.hit_count, a->list_position = p->arguments.list_position;
    a->sums = p->arguments.sums, a->clock = p->arguments.clock, a->share = p->arguments.share;
    a->team = p->arguments.team, a->totals = p->arguments.totals, a->gauge_sums = p->arguments.gauge_sums;
    a->exchange = p->arguments.exchange;
}

static void see(kf_buffer *buffer, size_t at, const places *p, kf_sph_shared *seen) {
    *seen = (kf_sph_shared){
        {buffer, at + p->clock},      {buffer, at + p->exchange}, {buffer, at + p->totals},
        {buffer, at + p->gauge_sums}, {buffer, at + p->counts},   {buffer, at + p->share},
        {buffer, at + p->team_at},    {buffer, at + p->numbers},  {buffer, at + p->plane_weights},
        {buffer, at + p->outgoing},   {buffer, at + p->incoming}};
}

/* Makes the shares of the parts within reach: consecutive in a buffer over all of them, or each in a separate
 * buffer. */
static kf_status make_memory(kf_plan *plan, const kf_sph *system, size_t bytes, kf_buffer **buffers,
                             kf_error *error) {
    size_t ends[KF_SPH_PARTS];
    if (!system->packs) {
        for (int k = 0; k < system->seen_parts; k++)
            ends[k] = bytes * (size_t)(k + 1);
        const size_t all = bytes * (size_t)system->seen_parts;
        return kf_plan_spread(plan, all, all, ends, buffers, error);
    }
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        const kf_status status = kf_plan_buffer(plan, bytes, &buffers[part], error);
        KF_TRY(kf_backend_of_part(plan->backend, part, status, error));
    }
    kf_plan_on(plan, 0);
    return KF_OK;
}

/* Returns the bytes of a share for n slots. */
static size_t share_bytes(const kf_sph *system, size_t n) {
    enum { PAGE = 2 << 20 };
    places *p = kf_allocate_zeroed(1, sizeof *p);
    room r = {0, 0};
    lay_out(system, &r, n, p);
    free(p);
    return r.used > PAGE ? (r.used + PAGE - 1) / PAGE * PAGE : r.used;
}

/* Uploads what a part knows of its team. */
static kf_status upload_team(const kf_plan *plan, kf_sph *system, int part, places *p,
                             const kf_sph_peer *peers, kf_error *error) {
    const int seen = system->own_seen + part;
    p->team.part = plan->first_part + part;
    p->team.parts = plan->all_parts;
    p->team.reach = system->options.reach;
    p->team.most = system->most;
    p->team.packs = system->packs;
    p->team.room = system->room;
    if (system->packs)
        p->team.peers[p->team.part] = peers[seen];
    else
        memcpy(p->team.peers, peers, sizeof p->team.peers);
    adopt(p, &system->parts[part].arguments);
    return kf_sph_upload(&system->seen[seen].team, &p->team, sizeof p->team, error);
}

static kf_status upload_teams(kf_plan *plan, kf_sph *system, size_t n, kf_buffer *const *buffers,
                              size_t bytes, kf_error *error) {
    places *all = kf_allocate_zeroed((size_t)system->seen_parts, sizeof *all);
    kf_sph_peer peers[KF_SPH_PARTS] = {{.sums = NULL}};
    kf_status status = KF_OK;
    for (int k = 0; k < system->seen_parts; k++) {
        kf_buffer *buffer = buffers[system->packs ? k : 0];
        const size_t at = system->packs ? 0 : bytes * (size_t)k;
        room r = {(uintptr_t)kf_buffer_address(buffer) + at, 0};
        lay_out(system, &r, n, &all[k]);
        see(buffer, at, &all[k], &system->seen[k]);
        peers[k] = all[k].peer;
    }
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = upload_team(plan, system, part, &all[system->own_seen + part], peers, error);
    free(all);
    return status;
}

/* ---- Sizes ---- */

static int plane_begin(const kf_sph *system, int plane) {
    const kf_sph_grid *grid = &system->grid;
    const int up = system->scene->dimensions - 1,
              rows = up == 2 ? grid->cells[1 - system->options.cut_axis] : 1;
    return grid->columns != NULL ? grid->columns[2 * (size_t)plane * (size_t)rows]
                                 : plane * rows * grid->cells[up];
}

/* Returns the largest number of cells in a plane. */
static int plane_cells(const kf_sph *system) {
    int most = 0;
    for (int plane = 0; plane < system->grid.cells[system->options.cut_axis]; plane++) {
        const int cells = plane_begin(system, plane + 1) - plane_begin(system, plane);
        most = cells > most ? cells : most;
    }
    return most;
}

/* Slots of a part: its share and a quarter more, and the planes beside it where these are full; all
 * particles, where there are not more. Rows of parcels: so many, or all that it could send. */
static double slots_of_part(const kf_plan *plan, kf_sph *system) {
    /* The particles in the volume of one. */
    const double FULL = 1.5;
    const kf_particle_scene *scene = system->scene;
    const double cell = 1.0 / (system->grid.inverse[0] * system->grid.inverse[scene->dimensions - 1] *
                               (scene->dimensions == 3 ? system->grid.inverse[1] : 1.0)),
                 plane = FULL * cell * system->plane_cells, all = (double)scene->count,
                 beside = 2.0 * system->options.reach * plane, most = 1.25 * all / plan->all_parts + plane,
                 slots = ceil(fmin(most + beside, all));
    system->most = most + beside < all ? (int)most : (int)all;
    const double rows = fmin(slots + beside, slots * (plan->all_parts - 1));
    system->room = system->packs ? (int)fmin(ceil(rows), INT_MAX) : 0;
    return slots;
}

kf_status kf_sph_make_team(kf_plan *plan, kf_sph *system, kf_error *error) {
    kf_buffer *buffers[KF_MOST_DEVICES];
    system->plane_cells = plane_cells(system);
    const double slots = slots_of_part(plan, system),
                 numbered = system->packs ? slots + system->room : slots * plan->all_parts;
    if (numbered > INT_MAX)
        return kf_fail(error, KF_BAD_INPUT, "%.3g slots for particles on %d devices are more than %d",
                       numbered, plan->all_parts, INT_MAX);
    const size_t bytes = share_bytes(system, (size_t)slots);
    KF_TRY(make_memory(plan, system, bytes, buffers, error));
    for (int part = 0; part < plan->part_count; part++)
        system->parts[part].arguments.count = (int)slots;
    if (system->packs) KF_TRY(kf_sph_make_transport(plan, system, error));
    return upload_teams(plan, system, (size_t)slots, buffers, bytes, error);
}

/* ---- Which part has which particles ---- */

/* Counts of a team are those of its parts, and then of all. */
kf_status kf_sph_forget_counts(kf_plan *plan, kf_error *error) {
    const kf_sph *system = plan->system;
    const size_t bytes = (plan->all_parts > 1 ? 2 : 1) * ((size_t)system->grid.cell_count + 2) * sizeof(int);
    void *zeros = kf_allocate_zeroed(1, bytes);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = kf_sph_upload(&system->seen[system->own_seen + part].counts, zeros, bytes, error);
    free(zeros);
    return status;
}

/* Returns the plane of a particle as kernels compute it, up to rounding. A particle that they find in the
 * next plane moves to that part. */
static int plane_of(const kf_sph *system, const float *values) {
    const int axis = system->options.cut_axis, last = system->grid.cells[axis] - 1;
    const double along = ((double)values[axis] - system->grid.low[axis]) * system->grid.inverse[axis];
    return !(along > 0.0) ? 0 : along < last ? (int)along : last;
}

/* Cuts planes into parts with as many particles each, as near as planes allow. */
static void cut_evenly(const kf_sph *system, int parts, const float *values, int cut[KF_SPH_PARTS + 1]) {
    const int planes = system->grid.cells[system->options.cut_axis];
    const size_t all = system->scene->count;
    size_t *counts = kf_allocate_zeroed((size_t)planes, sizeof *counts), before = 0;
    for (size_t k = 0; k < all; k++)
        counts[plane_of(system, values + k * KF_SPH_STATE_VALUES)]++;
    for (int part = 0, plane = 0; part < parts; part++) {
        cut[part] = plane;
        while (plane < planes && 2 * before + counts[plane] <= 2 * all * (size_t)(part + 1) / (size_t)parts)
            before += counts[plane++];
    }
    cut[parts] = planes;
    free(counts);
}

/* Sends a part's own particles, in the order of their numbers, into its first slots. */
static kf_status send_own(kf_plan *plan, int part, bool swapped, const int *numbers, int count,
                          const float *values, kf_error *error) {
    const kf_sph *system = plan->system;
    const kf_sph_shared *seen = &system->seen[system->own_seen + part];
    const size_t row = KF_SPH_STATE_VALUES * sizeof(float);
    kf_sph_arguments a = kf_sph_of_part(system, part, swapped);
    float *sent = kf_allocate((size_t)system->exchanged * row);
    kf_status status = KF_OK;
    for (a.first = 0; a.first < count && status == KF_OK; a.first += system->exchanged) {
        const int some = count - a.first < system->exchanged ? count - a.first : system->exchanged;
        for (int k = 0; k < some; k++)
            memcpy(sent + (size_t)k * KF_SPH_STATE_VALUES,
                   values + (size_t)numbers[a.first + k] * KF_SPH_STATE_VALUES, row);
        status = kf_backend_synchronize(plan->backend, error);
        if (status == KF_OK) status = kf_sph_upload(&seen->exchange, sent, (size_t)some * row, error);
        if (status == KF_OK)
            status = kf_sph_upload(&seen->numbers, numbers + a.first, (size_t)some * sizeof *numbers, error);
        if (status == KF_OK) status = kf_sph_launch(plan, part, KF_SPH_STATE, "unpack", &a, some, error);
    }
    free(sent);
    return status;
}

static kf_status give(kf_plan *plan, int part, bool swapped, const float *values,
                      const int cut[KF_SPH_PARTS + 1], int *numbers, kf_error *error) {
    const kf_sph *system = plan->system;
    const int number = plan->first_part + part, slots = system->parts[part].arguments.count;
    kf_sph_share share = {.first = 0};
    int count = 0;
    for (size_t k = 0; k < system->scene->count; k++) {
        const int plane = plane_of(system, values + k * KF_SPH_STATE_VALUES);
        if (plane >= cut[number] && plane < cut[number + 1]) numbers[count++] = (int)k;
    }
    if (count > slots)
        return kf_fail(error, KF_MACHINE,
                       "%d particles lie between two cuts, and a device has memory for %d: use fewer devices",
                       count, slots);
    memcpy(share.cut, cut, sizeof share.cut);
    memcpy(share.before, cut, sizeof share.before);
    share.inside = count;
    KF_TRY(kf_sph_upload(&system->seen[system->own_seen + part].share, &share, sizeof share, error));
    return send_own(plan, part, swapped, numbers, count, values, error);
}

kf_status kf_sph_share_out(kf_plan *plan, bool swapped, const float *values, kf_error *error) {
    const kf_sph *system = plan->system;
    int cut[KF_SPH_PARTS + 1] = {0};
    KF_TRY(kf_sph_meet(plan, error));
    KF_TRY(kf_sph_forget_counts(plan, error));
    cut_evenly(system, plan->all_parts, values, cut);
    int *numbers = kf_allocate((system->scene->count > 0 ? system->scene->count : 1) * sizeof *numbers);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = give(plan, part, swapped, values, cut, numbers, error);
    free(numbers);
    KF_TRY(status);
    return kf_sph_meet(plan, error);
}
