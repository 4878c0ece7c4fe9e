/* Parcels between parts that do not read each other's memory (kernels/sph/parcels.h): from device to device,
 * through the host, and between processes by messages. How many rows a part sends differs from step to
 * step. So the host waits for the devices and reads the numbers; in a sort processes tell each other
 * theirs first, later both know them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/nccl.h"
#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "solver/flow/flow_link.h"
#include "solver/sph/sph.h"

enum { MOST_PARCELS = 8, TAGS = 90 };

struct kf_sph_transport {
    /* NULL for a single process, or with NCCL. */
    kf_flow_link *link;
    kf_nccl_group *nccl; /* or NULL */
    /* Parcels between devices of this process go through the host, too. */
    bool through_host;
    bool messages_from_host;
    kf_buffer **out, **in; /* [part_count], on the host: rows as they lie on the device; made when needed */
    kf_sph_parcels parcels[MOST_PARCELS];
    int count;
};

int kf_sph_row(bool stress) {
    return KF_SPH_ROW + (stress ? KF_SPH_STRESSES : 0);
}

kf_status kf_sph_make_transport(kf_plan *plan, kf_sph *system, kf_error *error) {
    kf_sph_transport *transport = kf_allocate_zeroed(1, sizeof *transport);
    const bool nccl = system->options.transfer == KF_SPH_BY_NCCL;
    system->transport = transport;
    transport->through_host = system->options.transfer == KF_SPH_THROUGH_HOST;
    transport->messages_from_host = transport->through_host || !kf_flow_link_takes_device_memory(plan);
    transport->out = kf_allocate_zeroed((size_t)plan->part_count, sizeof *transport->out);
    transport->in = kf_allocate_zeroed((size_t)plan->part_count, sizeof *transport->in);
    for (int i = 0; i < MOST_PARCELS; i++)
        transport->parcels[i].plan = plan;
    if (nccl) return kf_nccl_group_create(plan->backend, &transport->nccl, error);
    transport->link = kf_flow_link_make(plan);
    return KF_OK;
}

const char *kf_sph_transport_version(const kf_sph_transport *transport) {
    return transport != NULL && transport->nccl != NULL ? kf_nccl_version(transport->nccl) : "";
}

void kf_sph_free_transport(kf_sph_transport *transport) {
    if (transport == NULL) return;
    const int parts = transport->parcels->plan->part_count;
    kf_flow_link_free(transport->link);
    kf_nccl_group_free(transport->nccl);
    for (int part = 0; part < parts; part++) {
        kf_buffer_free(transport->out[part]);
        kf_buffer_free(transport->in[part]);
    }
    free(transport->out);
    free(transport->in);
    free(transport);
}

kf_sph_parcels *kf_sph_parcels_of(kf_sph_transport *transport, int values, bool counts) {
    for (int i = 0; i < transport->count; i++)
        if (transport->parcels[i].values == values && transport->parcels[i].counts == counts)
            return &transport->parcels[i];
    kf_sph_parcels *made = &transport->parcels[transport->count++];
    made->values = values;
    made->counts = counts;
    return made;
}

/* ---- How many rows go from each part to each other ---- */

/* The rows by sender and receiver, both counted from the first of all parts. They are known where one of the
 * two belongs to this process. */
typedef struct table {
    const kf_plan *plan;
    size_t row_bytes;
    int parts;
    int64_t *rows; /* [parts][parts] */
} table;

static int64_t rows_of(const table *t, int from, int to) {
    return t->rows[from * t->parts + to];
}

/* Rows of a part's buffer that stand before those to, or from, another one; of `parts`: all of them. */
static size_t before_sent(const table *t, int from, int to) {
    int64_t before = 0;
    for (int k = 0; k < to; k++)
        before += rows_of(t, from, k);
    return (size_t)before * t->row_bytes;
}
static size_t before_come(const table *t, int from, int to) {
    int64_t before = 0;
    for (int k = 0; k < from; k++)
        before += rows_of(t, k, to);
    return (size_t)before * t->row_bytes;
}

static kf_sph_shared *seen_of(const kf_plan *plan, int part) {
    const kf_sph *system = plan->system;
    return &system->seen[system->own_seen + part];
}

/* Returns one of the arrays of a part's share. */
static kf_sph_bytes of_share(const kf_plan *plan, int part, size_t offset) {
    kf_sph_bytes place = seen_of(plan, part)->share;
    place.at += offset;
    return place;
}

/* Reads what kernels have counted: a part's lines, and where they are known its columns. */
static kf_status read_counts(table *t, int part, bool counts, kf_error *error) {
    const int number = t->plan->first_part + part;
    const size_t bytes = (size_t)(t->parts + 1) * sizeof(int);
    const kf_sph_bytes to = of_share(t->plan, part, offsetof(kf_sph_share, to)),
                       from = of_share(t->plan, part, offsetof(kf_sph_share, from));
    int begins[KF_SPH_PARTS + 1];
    KF_TRY(kf_sph_download(&to, begins, bytes, error));
    for (int k = 0; k < t->parts; k++)
        t->rows[number * t->parts + k] = begins[k + 1] - begins[k];
    if (counts) return KF_OK;
    KF_TRY(kf_sph_download(&from, begins, bytes, error));
    for (int k = 0; k < t->parts; k++)
        t->rows[k * t->parts + number] = begins[k + 1] - begins[k];
    return KF_OK;
}

static kf_status tell_arrivals(const table *t, int part, kf_error *error) {
    const kf_sph_bytes from = of_share(t->plan, part, offsetof(kf_sph_share, from));
    int begins[KF_SPH_PARTS + 1] = {0};
    for (int k = 0; k < t->parts; k++)
        begins[k + 1] = begins[k] + (int)rows_of(t, k, t->plan->first_part + part);
    return kf_sph_upload(&from, begins, (size_t)(t->parts + 1) * sizeof *begins, error);
}

/* Returns whether all parcels of a part fit. When processes exchange numbers, all of them find the same
 * result. */
static bool has_room(const table *t, int number) {
    const kf_sph *system = t->plan->system;
    const size_t room = (size_t)system->room * (size_t)kf_sph_row(system->stress) * sizeof(int);
    return before_sent(t, number, t->parts) <= room && before_come(t, t->parts, number) <= room;
}

static kf_status count_rows(table *t, bool counts, kf_error *error) {
    const kf_plan *plan = t->plan;
    bool fits = true;
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(read_counts(t, part, counts, error));
    if (counts) KF_TRY(kf_world_sum(t->rows, t->parts * t->parts, error));
    for (int number = 0; number < t->parts; number++)
        fits = fits && (!(counts || kf_plan_has_part(plan, number)) || has_room(t, number));
    if (!fits) return kf_sph_flagged(KF_SPH_FULL, error);
    for (int part = 0; part < plan->part_count && counts; part++)
        KF_TRY(tell_arrivals(t, part, error));
    return KF_OK;
}

/* ---- Carrying them ---- */

/* Makes a buffer on the host for this many bytes. Its former content is lost. */
static kf_status make_room(kf_backend *device, size_t bytes, kf_buffer **buffer, kf_error *error) {
    if (*buffer != NULL && kf_buffer_size(*buffer) >= bytes) return KF_OK;
    kf_buffer_free(*buffer);
    *buffer = NULL;
    return kf_buffer_on_host(device, bytes + bytes / 4, buffer, error);
}

/* Copies rows in pieces, because GPUs limit the length of a row of a copy. */
static kf_status copy(const kf_plan *plan, int part, const kf_sph_bytes *target, const kf_sph_bytes *source,
                      size_t bytes, kf_error *error) {
    enum { PIECE = 1 << 30 };
    kf_status status = KF_OK;
    for (size_t done = 0; done < bytes && status == KF_OK; done += PIECE) {
        const kf_copy piece = {.target = target->buffer,
                               .source = source->buffer,
                               .target_offset = target->at + done,
                               .source_offset = source->at + done,
                               .bytes = bytes - done < PIECE ? bytes - done : PIECE,
                               .rows = 1};
        status = kf_stream_copy(kf_backend_stream(plan->parts[part], KF_LANE_MAIN), &piece, error);
    }
    return kf_backend_of_part(plan->backend, part, status, error);
}

/* Makes a part's places on the host, and takes there what it sends by way of it. */
static kf_status to_host(const table *t, kf_sph_transport *transport, int part, kf_error *error) {
    const int number = t->plan->first_part + part;
    const size_t sent = before_sent(t, number, t->parts), come = before_come(t, t->parts, number);
    if (!(transport->through_host || (transport->link != NULL && transport->messages_from_host)))
        return KF_OK;
    if (sent > 0) KF_TRY(make_room(t->plan->parts[part], sent, &transport->out[part], error));
    if (come > 0) KF_TRY(make_room(t->plan->parts[part], come, &transport->in[part], error));
    const kf_sph_bytes host = {transport->out[part], 0};
    return copy(t->plan, part, &host, &seen_of(t->plan, part)->outgoing, sent, error);
}

static void *address_of(const kf_buffer *host, const kf_sph_bytes *device, bool by_host, size_t at) {
    return (char *)(by_host ? kf_buffer_address(host) : kf_sph_address(device)) + at;
}

/* Adds the message between a part of this process and one of another. */
static void add_message(const table *t, kf_sph_transport *transport, int from, int to, int tags[]) {
    const kf_plan *plan = t->plan;
    const bool sends = kf_plan_has_part(plan, from);
    const int part = (sends ? from : to) - plan->first_part,
              other = kf_flow_link_process(transport->link, sends ? to : from);
    const kf_sph_shared *seen = seen_of(plan, part);
    int *tag = &tags[2 * other + (sends ? 1 : 0)];
    void *data = sends ? address_of(transport->out[part], &seen->outgoing, transport->messages_from_host,
                                    before_sent(t, from, to))
                       : address_of(transport->in[part], &seen->incoming, transport->messages_from_host,
                                    before_come(t, from, to));
    kf_flow_link_add(transport->link, &(kf_message){other, *tag % TAGS, sends, data,
                                                    (size_t)rows_of(t, from, to) * t->row_bytes});
    ++*tag;
}

/* Begins the messages with other processes, in an order that all know. */
static kf_status post(const table *t, kf_sph_transport *transport, kf_stream *stream, kf_error *error) {
    const kf_plan *plan = t->plan;
    if (transport->link == NULL) return KF_OK;
    int *tags = kf_allocate_zeroed(2 * (size_t)kf_world_size(), sizeof *tags);
    transport->link->message_count = 0;
    for (int from = 0; from < t->parts; from++)
        for (int to = 0; to < t->parts; to++)
            if (kf_plan_has_part(plan, from) != kf_plan_has_part(plan, to) && rows_of(t, from, to) > 0)
                add_message(t, transport, from, to, tags);
    free(tags);
    return kf_flow_link_post(transport->link, stream, error);
}

/* Brings a part what comes from one of this process, or, when messages have come, through the host from
 * another one's. */
static kf_status bring(const table *t, const kf_sph_transport *transport, int from, int part,
                       kf_error *error) {
    const kf_plan *plan = t->plan;
    const int to = plan->first_part + part;
    const bool near = kf_plan_has_part(plan, from);
    const size_t bytes = (size_t)rows_of(t, from, to) * t->row_bytes, at = before_come(t, from, to);
    kf_sph_bytes source = {transport->in[part], at}, target = seen_of(plan, part)->incoming;
    if (bytes == 0 || (!near && !transport->messages_from_host)) return KF_OK;
    if (near && transport->through_host)
        source = (kf_sph_bytes){transport->out[from - plan->first_part], before_sent(t, from, to)};
    else if (near) {
        source = seen_of(plan, from - plan->first_part)->outgoing;
        source.at += before_sent(t, from, to);
    }
    target.at += at;
    return copy(plan, part, &target, &source, bytes, error);
}

static kf_status bring_all(const table *t, const kf_sph_transport *transport, bool near, kf_error *error) {
    for (int part = 0; part < t->plan->part_count; part++)
        for (int from = 0; from < t->parts; from++)
            if (kf_plan_has_part(t->plan, from) == near) KF_TRY(bring(t, transport, from, part, error));
    return KF_OK;
}

/* Adds the message between a part of this process and any other part to the group, from the first part's
 * side. */
static void add_to_group(const table *t, kf_sph_transport *transport, int part, int other, bool sends) {
    const kf_plan *plan = t->plan;
    const int number = plan->first_part + part, from = sends ? number : other, to = sends ? other : number;
    const kf_sph_bytes *place = sends ? &seen_of(plan, part)->outgoing : &seen_of(plan, part)->incoming;
    if (rows_of(t, from, to) == 0) return;
    kf_nccl_group_add(
        transport->nccl,
        &(kf_nccl_message){.part = part,
                           .other = other,
                           .sends = sends,
                           .buffer = place->buffer,
                           .bytes = (size_t)rows_of(t, from, to) * t->row_bytes,
                           .at = place->at + (sends ? before_sent(t, from, to) : before_come(t, from, to))});
}

/* Sends all parcels as one group of messages, in the main lanes of the devices. */
static kf_status move_by_nccl(const table *t, kf_sph_transport *transport, kf_error *error) {
    const kf_plan *plan = t->plan;
    kf_nccl_group_clear(transport->nccl);
    for (int part = 0; part < plan->part_count; part++)
        for (int other = 0; other < t->parts; other++) {
            add_to_group(t, transport, part, other, true);
            add_to_group(t, transport, part, other, false);
        }
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(kf_nccl_enqueue(kf_nccl_group_end(transport->nccl, part),
                               kf_backend_stream(plan->parts[part], KF_LANE_MAIN), error));
    return KF_OK;
}

static kf_status move(const table *t, kf_sph_transport *transport, kf_stream *stream, kf_error *error) {
    const kf_plan *plan = t->plan;
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(to_host(t, transport, part, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(post(t, transport, stream, error));
    KF_TRY(bring_all(t, transport, true, error));
    if (transport->link != NULL) {
        KF_TRY(kf_flow_link_await(transport->link, stream, error));
        KF_TRY(bring_all(t, transport, false, error));
    }
    /* Parts pack their next rows where these copies are from. */
    return kf_backend_synchronize(plan->backend, error);
}

kf_status kf_sph_carry(void *object, kf_stream *stream, kf_error *error) {
    const kf_sph_parcels *parcels = object;
    const kf_plan *plan = parcels->plan;
    const kf_sph *system = plan->system;
    table t = {.plan = plan, .row_bytes = (size_t)parcels->values * sizeof(int), .parts = plan->all_parts};
    t.rows = kf_allocate_zeroed((size_t)t.parts * (size_t)t.parts, sizeof *t.rows);
    kf_status status = count_rows(&t, parcels->counts, error);
    if (status == KF_OK)
        status = system->transport->nccl != NULL ? move_by_nccl(&t, system->transport, error)
                                                 : move(&t, system->transport, stream, error);
    free(t.rows);
    return status;
}

/* ---- Sums, and largest values ---- */

kf_status kf_sph_join_sums(const kf_plan *plan, long long *sums, int count, kf_error *error) {
    if (!((const kf_sph *)plan->system)->packs) return KF_OK; /* they are of all parts */
    int64_t *values = kf_allocate((size_t)count * sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = sums[i];
    const kf_status status = kf_world_sum(values, count, error);
    for (int i = 0; i < count; i++)
        sums[i] = values[i];
    free(values);
    return status;
}

kf_status kf_sph_join_largest(const kf_plan *plan, double *values, int count, kf_error *error) {
    return ((const kf_sph *)plan->system)->packs ? kf_world_most(values, count, error) : KF_OK;
}

kf_status kf_sph_join_flags(const kf_plan *plan, int *flags, kf_error *error) {
    enum { BITS = 16 };
    long long bits[BITS];
    for (int k = 0; k < BITS; k++)
        bits[k] = *flags >> k & 1;
    KF_TRY(kf_sph_join_sums(plan, bits, BITS, error));
    for (int k = 0; k < BITS; k++)
        *flags |= bits[k] > 0 ? 1 << k : 0;
    return KF_OK;
}

/* Adds up the weights of each part's planes, where the others' are 0. */
kf_status kf_sph_sum_weights(void *object, kf_stream *stream, kf_error *error) {
    const kf_plan *plan = object;
    const kf_sph *system = plan->system;
    const int count = 2 * system->grid.cells[system->options.cut_axis];
    const size_t bytes = (size_t)count * sizeof(long long);
    long long *all = kf_allocate_zeroed((size_t)count, sizeof *all), *own = kf_allocate(bytes);
    kf_status status = KF_OK;
    (void)stream;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        status = kf_sph_download(&seen_of(plan, part)->plane_weights, own, bytes, error);
        for (int k = 0; k < count && status == KF_OK; k++)
            all[k] += own[k];
    }
    if (status == KF_OK) status = kf_sph_join_sums(plan, all, count, error);
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = kf_sph_upload(&seen_of(plan, part)->plane_weights, all, bytes, error);
    free(all);
    free(own);
    return status;
}

/* The places of a part's largest values in this step. Their bits have the same order as whole numbers. */
typedef struct largest {
    int turn, values[3][2]; /* kf_sph_share: turn, speed, acceleration, moved */
} largest;

/* Finds the largest speed, acceleration and way of all particles, and gives it to each part. */
kf_status kf_sph_join_clocks(void *object, kf_stream *stream, kf_error *error) {
    const kf_plan *plan = object;
    largest own = {.turn = 0};
    double most[3] = {0.0};
    (void)stream;
    for (int part = 0; part < plan->part_count; part++) {
        const kf_sph_bytes place = of_share(plan, part, offsetof(kf_sph_share, turn));
        KF_TRY(kf_sph_download(&place, &own, sizeof own, error));
        for (int k = 0; k < 3; k++)
            most[k] = own.values[k][own.turn] > most[k] ? own.values[k][own.turn] : most[k];
    }
    KF_TRY(kf_sph_join_largest(plan, most, 3, error));
    /* All parts raise the same turn, and the other one is 0. */
    for (int k = 0; k < 3; k++)
        own.values[k][own.turn] = (int)most[k];
    for (int part = 0; part < plan->part_count; part++) {
        const kf_sph_bytes place = of_share(plan, part, offsetof(kf_sph_share, turn));
        KF_TRY(kf_sph_upload(&place, &own, sizeof own, error));
    }
    return KF_OK;
}

/* ---- Arrays that all parts write together ---- */

kf_status kf_sph_clear_exchange(kf_plan *plan, size_t bytes, kf_error *error) {
    const kf_sph *system = plan->system;
    if (!system->packs) return KF_OK;
    void *zeros = kf_allocate_zeroed(1, bytes);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++)
        status = kf_sph_upload(&seen_of(plan, part)->exchange, zeros, bytes, error);
    free(zeros);
    return status;
}

void *kf_sph_exchange_of(const kf_plan *plan, int part) {
    const kf_sph *system = plan->system;
    return kf_sph_address(&system->seen[system->packs ? part : 0].exchange);
}

/* Puts together what each part has written, bits that are 0 on all others. */
kf_status kf_sph_take_exchange(kf_plan *plan, void *data, size_t bytes, kf_error *error) {
    const kf_sph *system = plan->system;
    if (!system->packs) return kf_sph_download(&system->seen->exchange, data, bytes, error);
    const size_t words = bytes / sizeof(uint32_t);
    uint32_t *all = kf_allocate_zeroed(words + 2, sizeof *all), *own = kf_allocate(bytes);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        status = kf_sph_download(&seen_of(plan, part)->exchange, own, bytes, error);
        for (size_t k = 0; k < words && status == KF_OK; k++)
            all[k] |= own[k];
    }
    if (status == KF_OK) status = kf_world_merge(all, bytes, error);
    memcpy(data, all, bytes);
    free(all);
    free(own);
    return status;
}
