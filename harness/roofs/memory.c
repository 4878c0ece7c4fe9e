/* Measures the roofs of copying. Every rate counts bytes read and bytes written. */
#include <math.h>
#include <string.h>

#include "harness/roofs/rounds.h"
#include "kernels/roofs/arguments.h"

enum { NEAR_TILE = 1024 }; /* words of a block's tile in the L1 cache: 16 KiB */

static double word_bytes(const kf_roof_bench *bench) {
    return bench->gpu ? 16.0 : 4.0; /* size of roof_word in kernels/roofs/copy.cu */
}

/* Returns the bytes a second of the L1 caches and shared memories of all multiprocessors. Each delivers 128
 * bytes a clock since compute capability 7.0. */
static double near_bandwidth(const kf_roof_bench *bench) {
    return bench->gpu ? 1e-9 * 128.0 * bench->device->multiprocessors * bench->device->clock_hz : 0.0;
}

static kf_status copy_by_driver(const kf_roof_bench *bench, void *context, kf_error *error) {
    (void)context;
    return kf_buffer_copy(bench->target, bench->source, bench->bytes, error);
}

static kf_status make_launch(const kf_roof_bench *bench, const char *kernel, const int block[3],
                             kf_roof_arguments *arguments, kf_launch *launch, kf_error *error) {
    kf_function *function = NULL;
    KF_TRY(kf_module_function(bench->copies, kernel, &function, error));
    arguments->source = kf_buffer_address(bench->source);
    arguments->target = kf_buffer_address(bench->target);
    kf_launch_set(launch, kernel, function, block, arguments, sizeof *arguments);
    return KF_OK;
}

/* Measures the roofs of the device's memory in GB/s: the driver's copy, a kernel's copy, on the cpu a copy
 * that bypasses the caches, and a copy of 27 streams as in a lattice. Bytes are counted both when read and
 * when written. */
static kf_status of_device_memory(const kf_roof_bench *bench, kf_error *error) {
    const double peak = 1e-9 * bench->device->peak_bandwidth, bytes = (double)bench->bytes;
    double best = 0.0, median = 0.0;
    KF_TRY(kf_roof_time(bench, copy_by_driver, NULL, &best, &median, error));
    kf_roof_add_rate(bench, "dram_copy", "GB/s", 2.0 * bytes, best, median, peak);

    enum { ROW = 65536 };
    const int block[3] = {bench->gpu ? 256 : ROW, 1, 1};
    kf_launch launch;
    kf_roof_arguments arguments = {.extent = {ROW, (int)(bytes / word_bytes(bench) / ROW), 1}};
    KF_TRY(make_launch(bench, "copy_words", block, &arguments, &launch, error));
    KF_TRY(kf_roof_add_kernel(bench, "dram_copy_kernel", "GB/s", &launch, 2.0 * bytes, peak, error));

    if (!bench->gpu) {
        enum { RUN = 16384 };
        const int one[3] = {1, 1, 1};
        kf_roof_arguments past = {.extent = {(int)(bytes / word_bytes(bench) / RUN), 1, 1}, .shift = RUN};
        KF_TRY(make_launch(bench, "copy_past", one, &past, &launch, error));
        KF_TRY(kf_roof_add_kernel(bench, "dram_copy_nt", "GB/s", &launch, 2.0 * bytes, peak, error));
    }

    /* The arrays are an odd number of cache lines apart, because otherwise all would use the same sets of a
     * cache. */
    enum { STREAM_ROW = 4096, APART = 33 * 16 };
    const int rows = (int)((bytes / sizeof(float) / KF_ROOF_STREAMS - APART) / STREAM_ROW);
    kf_roof_arguments streams = {.extent = {STREAM_ROW, rows, 1},
                                 .count = (long long)STREAM_ROW * rows + APART};
    const int stream_block[3] = {bench->gpu ? 256 : STREAM_ROW, 1, 1};
    KF_TRY(make_launch(bench, "copy_streams", stream_block, &streams, &launch, error));
    const double moved = 2.0 * sizeof(float) * KF_ROOF_STREAMS * STREAM_ROW * rows;
    return kf_roof_add_kernel(bench, "dram_streams_27", "GB/s", &launch, moved, peak, error);
}

/* Returns the largest power of two that is at most `value`. */
static int power_of_two(double value) {
    int power = 1;
    while (2.0 * power <= value && power < 1 << 28)
        power *= 2;
    return power;
}

/* Measures the shared cache. Source and target together fill about a quarter of it, because GPUs keep data in
 * both halves of it, and processors share it. */
static kf_status of_shared_cache(const kf_roof_bench *bench, kf_error *error) {
    if (bench->device->l2_bytes == 0) return KF_OK;
    enum { RUN = 8192, REPEATS = 64 };
    const int words = power_of_two((double)bench->device->l2_bytes / 8.0 / word_bytes(bench));
    kf_launch launch;
    if (words < RUN) return KF_OK;
    kf_roof_arguments arguments = {.repeats = REPEATS, .mask = words - 1};
    double moved = 2.0 * word_bytes(bench) * words * REPEATS;
    if (bench->gpu) {
        arguments.shift = words / 2 + 1024 + 32;
        arguments.extent[0] = words;
    } else {
        /* Each thread copies all parts of the set in turn. */
        arguments.shift = RUN;
        arguments.extent[0] = words / RUN;
    }
    arguments.extent[1] = arguments.extent[2] = 1;
    const int block[3] = {bench->gpu ? 256 : 1, 1, 1};
    KF_TRY(make_launch(bench, "copy_cached", block, &arguments, &launch, error));
    return kf_roof_add_kernel(bench, "l2_copy", "GB/s", &launch, moved, 0.0, error);
}

/* Measures the roofs of memory near the processors in GB/s: shared memory and first-level cache on a GPU, the
 * first-level cache on the cpu. */
static kf_status of_near_memory(const kf_roof_bench *bench, kf_error *error) {
    const int blocks = bench->device->multiprocessors * (bench->gpu ? 32 : 1);
    const int block[3] = {KF_ROOF_THREADS, 1, 1};
    const double threads = (double)blocks * KF_ROOF_THREADS, peak = near_bandwidth(bench);
    kf_launch launch;
    kf_roof_arguments arguments = {.extent = {blocks * KF_ROOF_THREADS, 1, 1}, .repeats = 2048};
    KF_TRY(make_launch(bench, "copy_near", block, &arguments, &launch, error));
    double moved = 2.0 * 2.0 * word_bytes(bench) * KF_ROOF_TILES * arguments.repeats * threads;
    if (!bench->gpu) return kf_roof_add_kernel(bench, "l1_copy", "GB/s", &launch, moved, 0.0, error);
    KF_TRY(kf_roof_add_kernel(bench, "shared_copy", "GB/s", &launch, moved, peak, error));
    arguments.mask = NEAR_TILE - 1;
    arguments.shift = KF_ROOF_THREADS;
    KF_TRY(make_launch(bench, "load_near", block, &arguments, &launch, error));
    moved = word_bytes(bench) * (arguments.repeats + 1) * threads;
    return kf_roof_add_kernel(bench, "l1_load", "GB/s", &launch, moved, peak, error);
}

kf_status kf_roofs_of_memory(kf_roof_bench *bench, kf_error *error) {
    KF_TRY(of_device_memory(bench, error));
    KF_TRY(of_shared_cache(bench, error));
    return of_near_memory(bench, error);
}
