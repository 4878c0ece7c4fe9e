/* Measures the links between neighbouring devices of a team. */
#include <stdio.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "harness/roofs/rounds.h"

enum { DEVICES = 2, HANDOVERS = 16 };

/* Two devices with memory that the other one writes. */
typedef struct pair {
    kf_stream *streams[DEVICES];
    kf_mark *marks[DEVICES];
    kf_buffer *sources[DEVICES], *targets[DEVICES];
    kf_buffer *host; /* pinned */
    size_t bytes;
} pair;

static kf_status copy_from(const pair *p, int from, kf_error *error) {
    const kf_copy copy = {
        .target = p->targets[1 - from], .source = p->sources[from], .bytes = p->bytes, .rows = 1};
    return kf_stream_copy(p->streams[from], &copy, error);
}

static kf_status copy_one_way(const kf_roof_bench *bench, void *context, kf_error *error) {
    (void)bench;
    return copy_from(context, 0, error);
}

static kf_status copy_both_ways(const kf_roof_bench *bench, void *context, kf_error *error) {
    (void)bench;
    KF_TRY(copy_from(context, 0, error));
    return copy_from(context, 1, error);
}

static kf_status copy_to_host(const kf_roof_bench *bench, void *context, kf_error *error) {
    const pair *p = context;
    const kf_copy copy = {.target = p->host, .source = p->sources[0], .bytes = p->bytes, .rows = 1};
    (void)bench;
    return kf_stream_copy(p->streams[0], &copy, error);
}

/* Lets the two devices wait for each other in turn. */
static kf_status hand_over(const kf_roof_bench *bench, void *context, kf_error *error) {
    const pair *p = context;
    (void)bench;
    for (int i = 0; i < HANDOVERS; i++) {
        const int from = i % 2;
        KF_TRY(kf_stream_signal(p->streams[from], p->marks[from], error));
        KF_TRY(kf_stream_await(p->streams[1 - from], p->marks[from], error));
    }
    return KF_OK;
}

/* Opens two neighbouring devices of a team with memory that the other one writes. Each device has the whole
 * of its target. */
static kf_status open_pair(const kf_roof_bench *bench, int first, pair *p, kf_error *error) {
    int count = 0;
    kf_backend *const *team = kf_backend_team(bench->backend, &count);
    size_t ends[KF_MOST_DEVICES];
    p->bytes = bench->bytes;
    for (int i = 0; i < DEVICES; i++) {
        kf_backend *device = team[first + i];
        for (int part = 0; part < count; part++)
            ends[part] = part < first + i ? 0 : p->bytes;
        p->streams[i] = kf_backend_stream(device, KF_LANE_MAIN);
        KF_TRY(kf_mark_create(device, &p->marks[i], error));
        KF_TRY(kf_buffer_create(device, p->bytes, &p->sources[i], error));
        KF_TRY(kf_buffer_fill(p->sources[i], 0, error));
        KF_TRY(kf_buffer_spread(bench->backend, p->bytes, p->bytes, ends, &p->targets[i], error));
        KF_TRY(kf_buffer_fill(p->targets[i], 0, error));
    }
    return kf_buffer_on_host(team[first], p->bytes, &p->host, error);
}

static void close_pair(const kf_roof_bench *bench, const pair *p) {
    (void)kf_backend_synchronize(bench->backend, NULL);
    for (int i = 0; i < DEVICES; i++) {
        if (p->marks[i] != NULL) kf_mark_free(p->marks[i]);
        kf_buffer_free(p->sources[i]);
        kf_buffer_free(p->targets[i]);
    }
    kf_buffer_free(p->host);
}

static kf_status add_rate(const kf_roof_bench *bench, int first, const char *what, kf_roof_work work, pair *p,
                          kf_error *error) {
    char name[48];
    double best = 0.0, median = 0.0;
    KF_TRY(kf_roof_time(bench, work, p, &best, &median, error));
    (void)snprintf(name, sizeof name, "link_%d_%d_%s", first, first + 1, what);
    kf_roof_add_rate(bench, name, "GB/s", (double)p->bytes, best, median, 0.0);
    return KF_OK;
}

static kf_status measure_pair(const kf_roof_bench *bench, int first, pair *p, kf_error *error) {
    char name[48];
    double best = 0.0, median = 0.0;
    KF_TRY(add_rate(bench, first, "copy", copy_one_way, p, error));
    KF_TRY(add_rate(bench, first, "both", copy_both_ways, p, error));
    KF_TRY(add_rate(bench, first, "host", copy_to_host, p, error));
    KF_TRY(kf_roof_time(bench, hand_over, p, &best, &median, error));
    (void)snprintf(name, sizeof name, "link_%d_%d_order", first, first + 1);
    kf_roof_add_time(bench, name, best / HANDOVERS, median / HANDOVERS);
    return KF_OK;
}

/* Measures all links of a team, with four figures for each direction from a device to the next. */
kf_status kf_links_measure(kf_backend *backend, kf_roofs *roofs, kf_error *error) {
    enum { OF_A_LINK = 4 };
    int count = 0;
    (void)kf_backend_team(backend, &count);
    kf_roof_bench bench = {.backend = backend, .device = kf_backend_device(backend), .roofs = roofs};
    bench.gpu = kf_device_is_gpu(bench.device);
    bench.bytes = (size_t)(bench.gpu ? 256 : 16) << 20;
    memset(roofs, 0, sizeof *roofs);
    if (OF_A_LINK * (count - 1) > KF_ROOFS)
        return kf_fail(error, KF_BAD_INPUT, "the links of at most %d devices are measured at a time",
                       KF_ROOFS / OF_A_LINK + 1);
    kf_status status = kf_event_create(backend, &bench.start, error);
    if (status == KF_OK) status = kf_event_create(backend, &bench.stop, error);
    for (int first = 0; first + 1 < count && status == KF_OK; first++) {
        pair p = {.bytes = 0};
        status = open_pair(&bench, first, &p, error);
        if (status == KF_OK) status = measure_pair(&bench, first, &p, error);
        close_pair(&bench, &p);
    }
    kf_event_free(bench.start);
    kf_event_free(bench.stop);
    return status;
}
