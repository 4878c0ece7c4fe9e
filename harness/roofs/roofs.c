#include "harness/roofs/roofs.h"

#include <string.h>

#include "base/util/text.h"
#include "harness/roofs/rounds.h"

static const struct {
    const char *name, *about;
} descriptions[] = {
    {"dram_copy", "copying in device memory by the driver, bytes read and written"},
    {"dram_copy_kernel", "the same by a kernel"},
    {"dram_copy_nt", "the same with non-temporal stores, which do not read what they overwrite"},
    {"dram_streams_27", "27 arrays to 27 others at once, as a D3Q27 step does"},
    {"l2_copy", "copying within the last-level cache"},
    {"l1_load", "loads that the L1 cache serves"},
    {"shared_copy", "copying within shared memory"},
    {"l1_copy", "copying within each core's L1 cache"},
    {"fp16_multiply_add", "multiply-adds of halves in pairs, two operations each"},
    {"fp32_multiply_add", "multiply-adds of floats, two operations each"},
    {"fp64_multiply_add", "multiply-adds of doubles, two operations each"},
    {"atomic_neighbouring", "atomic additions of floats, neighbours to neighbouring addresses"},
    {"atomic_scattered", "each to another, far address"},
    {"atomic_together", "all to one address"},
    {"launch", "from one empty kernel to the next, in a row of launches"},
    {"launch_round_trip", "an empty kernel, until the host knows that it ended"},
    {"graph_launch", "from one graph of an empty kernel to the next"},
    {"graph_node", "from one empty kernel to the next in a graph"},
};

/* Texts for the endings of the names of links' roofs. */
static const char *const links[][2] = {
    {"_copy", "copying from one device of a team to the next"},
    {"_both", "the same both ways at once, each way"},
    {"_host", "copying from the first of them to the host's pinned memory"},
    {"_order", "from what one ends with to what the other begins with when it waits for that"}};

static const char *about_link(const char *name) {
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (kf_ends_in(name, links[i][0])) return links[i][1];
    return "";
}

const char *kf_roof_about(const char *name) {
    if (strncmp(name, "link_", 5) == 0) return about_link(name);
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        if (strcmp(descriptions[i].name, name) == 0) return descriptions[i].about;
    return "";
}

/* Returns a power of two that is far larger than the last-level cache, but a small part of the memory. */
static size_t working_set(const kf_device_info *device) {
    size_t bytes = (size_t)64 << 20;
    const size_t most = (size_t)1 << 30;
    while (bytes < 8 * device->l2_bytes && bytes < most)
        bytes *= 2;
    while (bytes > (4 << 20) && device->memory_free_bytes > 0 && bytes > device->memory_free_bytes / 8)
        bytes /= 2;
    return bytes;
}

static kf_status load(kf_backend *backend, const char *file, kf_module **module, kf_error *error) {
    const kf_source source = {.file = file};
    return kf_module_load(backend, &source, module, NULL, error);
}

/* Allocates the memory that kernels need. On a cpu it is small if no roof of memory is measured. */
static kf_status open_bench(kf_roof_bench *bench, unsigned groups, kf_error *error) {
    enum { LITTLE = 16 << 20 }; /* atomics add to 4 MiB */
    bench->bytes = working_set(bench->device);
    if (!bench->gpu && (groups & KF_ROOFS_MEMORY) == 0 && bench->bytes > LITTLE) bench->bytes = LITTLE;
    KF_TRY(kf_event_create(bench->backend, &bench->start, error));
    KF_TRY(kf_event_create(bench->backend, &bench->stop, error));
    KF_TRY(kf_buffer_create(bench->backend, bench->bytes, &bench->source, error));
    KF_TRY(kf_buffer_create(bench->backend, bench->bytes, &bench->target, error));
    KF_TRY(kf_buffer_fill(bench->source, 0, error));
    KF_TRY(kf_buffer_fill(bench->target, 0, error));
    KF_TRY(load(bench->backend, "kernels/roofs/copy.cu", &bench->copies, error));
    return load(bench->backend, "kernels/roofs/atomics.cu", &bench->atomics, error);
}

static void close_bench(kf_roof_bench *bench) {
    (void)kf_backend_synchronize(bench->backend, NULL);
    kf_module_free(bench->copies);
    kf_module_free(bench->atomics);
    kf_buffer_free(bench->source);
    kf_buffer_free(bench->target);
    kf_event_free(bench->start);
    kf_event_free(bench->stop);
}

/* Measures the wanted groups of roofs. */
kf_status kf_roofs_measure(kf_backend *backend, unsigned groups, kf_roofs *roofs, kf_error *error) {
    kf_roof_bench bench = {.backend = backend, .device = kf_backend_device(backend), .roofs = roofs};
    bench.gpu = kf_device_is_gpu(bench.device);
    memset(roofs, 0, sizeof *roofs);
    kf_status status = open_bench(&bench, groups, error);
    /* Arithmetic comes first, because it raises the clocks. */
    static const struct {
        unsigned group;
        kf_status (*measure)(kf_roof_bench *bench, kf_error *error);
    } parts[] = {{KF_ROOFS_ARITHMETIC, kf_roofs_of_arithmetic},
                 {KF_ROOFS_MEMORY, kf_roofs_of_memory},
                 {KF_ROOFS_ATOMICS, kf_roofs_of_atomics},
                 {KF_ROOFS_LAUNCHES, kf_roofs_of_launches}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == KF_OK; i++)
        if ((groups & parts[i].group) != 0) status = parts[i].measure(&bench, error);
    close_bench(&bench);
    return status;
}
