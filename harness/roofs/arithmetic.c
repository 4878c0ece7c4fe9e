/* Measures the roofs of multiply-adds, atomics and launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/clock.h"
#include "harness/roofs/rounds.h"
#include "kernels/roofs/arguments.h"

/* Multiply-adds a clock of one multiprocessor by compute capability (arithmetic throughput table of the CUDA
 * programming guide; halves in pairs). */
static const struct {
    const char *architecture;
    double half, single, twofold;
} rates[] = {
    {"sm_70", 128, 64, 32},   {"sm_72", 128, 64, 32},  {"sm_75", 128, 64, 2},   {"sm_80", 256, 64, 32},
    {"sm_86", 128, 128, 2},   {"sm_87", 256, 128, 2},  {"sm_89", 128, 128, 2},  {"sm_90", 256, 128, 64},
    {"sm_100", 256, 128, 64}, {"sm_103", 256, 128, 2}, {"sm_120", 128, 128, 2}, {"sm_121", 128, 128, 2},
};

double kf_roof_peak_flops(const kf_device_info *device, int bits) {
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(rates[i].architecture, device->architecture) == 0)
            return 2.0 *
                   (bits == 16   ? rates[i].half
                    : bits == 32 ? rates[i].single
                                 : rates[i].twofold) *
                   device->multiprocessors * device->clock_hz;
    return 0.0;
}

/* Asks the kernel how many multiply-adds each thread does in an instruction. */
static kf_status read_lanes(const kf_roof_bench *bench, const kf_launch *launch, kf_buffer *buffer,
                            int *lanes, kf_error *error) {
    KF_TRY(kf_backend_launch(bench->backend, launch, error));
    KF_TRY(kf_backend_synchronize(bench->backend, error));
    return kf_buffer_download(buffer, 0, lanes, sizeof *lanes, error);
}

/* Measures multiply-adds of numbers with this many bits, in GFLOP/s, each counted as two operations. The
 * kernel reports its number of lanes, because a compiler may use vectors. */
static kf_status of_multiply_add(const kf_roof_bench *bench, kf_module *module, int bits, kf_error *error) {
    const int block[3] = {bench->gpu ? 256 : 1, 1, 1};
    const int items = bench->device->multiprocessors * (bench->gpu ? 2048 * 4 : 1);
    kf_function *function = NULL;
    kf_launch launch;
    char name[24];
    int lanes = 1;
    kf_roof_arguments arguments = {.extent = {items, 1, 1}, .repeats = bench->gpu ? 512 : 100000};
    arguments.target = kf_buffer_address(bench->target);
    arguments.lanes = kf_buffer_address(bench->source);
    KF_TRY(kf_module_function(module, "multiply_add", &function, error));
    kf_launch_set(&launch, "multiply_add", function, block, &arguments, sizeof arguments);
    KF_TRY(read_lanes(bench, &launch, bench->source, &lanes, error));
    const double operations =
        2.0 * lanes * KF_ROOF_CHAINS * KF_ROOF_CHAIN_STEPS * (double)arguments.repeats * items;
    (void)snprintf(name, sizeof name, "fp%d_multiply_add", bits);
    return kf_roof_add_kernel(bench, name, "GFLOP/s", &launch, operations,
                              1e-9 * kf_roof_peak_flops(bench->device, bits), error);
}

/* Measures the roofs of arithmetic. The cpu has no pairs of halves. */
kf_status kf_roofs_of_arithmetic(kf_roof_bench *bench, kf_error *error) {
    static const int sizes[] = {32, 64, 16};
    for (int i = 0; i < (bench->gpu ? 3 : 2); i++) { /* the cpu has no pairs of halves */
        kf_define define = {.name = "ROOF_BITS"};
        (void)snprintf(define.value, sizeof define.value, "%d", sizes[i]);
        const kf_source source = {
            .file = "kernels/roofs/multiply_add.cu", .defines = &define, .define_count = 1};
        kf_module *module = NULL;
        KF_TRY(kf_module_load(bench->backend, &source, &module, NULL, error));
        const kf_status status = of_multiply_add(bench, module, sizes[i], error);
        (void)kf_backend_synchronize(bench->backend, NULL);
        kf_module_free(module);
        KF_TRY(status);
    }
    return KF_OK;
}

/* --- Atomics -------------------------------------------------------------------------------------------- */

static kf_status make_launch(const kf_roof_bench *bench, const char *kernel, int items, kf_launch *launch,
                             kf_error *error) {
    kf_function *function = NULL;
    const int block[3] = {bench->gpu ? 256 : 4096, 1, 1};
    kf_roof_arguments arguments = {.extent = {items, 1, 1}, .mask = (1 << 20) - 1};
    arguments.target = kf_buffer_address(bench->target);
    KF_TRY(kf_module_function(bench->atomics, kernel, &function, error));
    kf_launch_set(launch, kernel, function, block, &arguments, sizeof arguments);
    return KF_OK;
}

kf_status kf_roofs_of_atomics(kf_roof_bench *bench, kf_error *error) {
    static const struct {
        const char *name, *kernel;
        int gpu_items, cpu_items;
    } kinds[] = {{"atomic_neighbouring", "add_neighbouring", 1 << 24, 1 << 17},
                 {"atomic_scattered", "add_scattered", 1 << 24, 1 << 17},
                 {"atomic_together", "add_together", 1 << 20, 1 << 16}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int items = bench->gpu ? kinds[i].gpu_items : kinds[i].cpu_items;
        kf_launch launch;
        KF_TRY(make_launch(bench, kinds[i].kernel, items, &launch, error));
        KF_TRY(kf_roof_add_kernel(bench, kinds[i].name, "Gop/s", &launch, items, 0.0, error));
    }
    return KF_OK;
}

/* --- Launches ------------------------------------------------------------------------------------------- */

enum { ROUND_TRIPS = 201, NODES = 64 };

static kf_status time_round_trips(const kf_roof_bench *bench, const kf_launch *launch, kf_error *error) {
    double times[ROUND_TRIPS];
    for (int i = 0; i < ROUND_TRIPS; i++) {
        const double begin = kf_clock_seconds();
        KF_TRY(kf_backend_launch(bench->backend, launch, error));
        KF_TRY(kf_backend_synchronize(bench->backend, error));
        times[i] = 1e6 * (kf_clock_seconds() - begin);
    }
    const kf_summary summary = kf_summarise(times, ROUND_TRIPS);
    kf_roof_add_time(bench, "launch_round_trip", summary.minimum, summary.median);
    return KF_OK;
}

static kf_status time_graph(const kf_roof_bench *bench, const char *name, const kf_launch *launch, int nodes,
                            kf_error *error) {
    const kf_launch *launches[NODES];
    kf_graph *graph = NULL;
    double best = 0.0, median = 0.0;
    for (int i = 0; i < nodes; i++)
        launches[i] = launch;
    KF_TRY(kf_graph_create(bench->backend, launches, nodes, &graph, error));
    const kf_status status = kf_roof_time(bench, kf_roof_graph, graph, &best, &median, error);
    (void)kf_backend_synchronize(bench->backend, NULL);
    kf_graph_free(graph);
    if (status == KF_OK) kf_roof_add_time(bench, name, best / nodes, median / nodes);
    return status;
}

kf_status kf_roofs_of_launches(kf_roof_bench *bench, kf_error *error) {
    kf_launch launch;
    double best = 0.0, median = 0.0;
    KF_TRY(make_launch(bench, "nothing", 1, &launch, error));
    if (!bench->gpu) { /* All threads take part, as in an ordinary kernel. */
        kf_roof_arguments arguments = {.extent = {bench->device->multiprocessors, 1, 1}};
        const int block[3] = {1, 1, 1};
        kf_launch_set(&launch, "nothing", launch.function, block, &arguments, sizeof arguments);
    }
    KF_TRY(kf_roof_time(bench, kf_roof_launch, &launch, &best, &median, error));
    kf_roof_add_time(bench, "launch", best, median);
    KF_TRY(time_round_trips(bench, &launch, error));
    KF_TRY(time_graph(bench, "graph_launch", &launch, 1, error));
    return time_graph(bench, "graph_node", &launch, NODES, error);
}
