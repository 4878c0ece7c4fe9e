/* Tests hardware counters on a GPU, with kernels whose counts follow from arithmetic. Faults: a counter of
 * other work, or a wrong unit. Without a GPU every test is skipped.
 *
 * With words, for scripts/gpu/counters.sh:
 *   count SCENE PRESET SET FILE.csv    counts a plan's kernels: lines "part,kernel,event,value"
 *   launch SCENE PRESET                launches the same kernels from the same states under a profiler
 *   compare OURS.csv NCU.csv KERNEL... compares both; status 1 if the named kernels differ by over 2 % */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "harness/counters/count_plan.h"
#include "scene/scene.h"
#include "tests/unit/counted_value.h"
#include "tests/unit/gpu_child.h"
#include "tests/unit/kinetic_plan.h"
#include "tests/unit/ncu_table.h"

typedef struct truth_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
    int stride, repeats;
} truth_arguments;

enum { BLOCK = 256, WARP = 32, SMALL = 1 << 20, LEAST = 1 << 26, MOST = 1 << 30, REPEATS = 2000 };

/* Memory counters lack what the L2 cache still holds of a kernel's writes at its end, and contain what it
 * held of earlier ones. So device memory can be off by the size of the cache. Arrays of 64 times that keep
 * this within 1/64, which is less than the accepted 2 %. */
enum { CACHES = 64 };
static int items; /* of the large arrays: a power of two */

/* --- In a child ---------------------------------------------------------------------------------------- */

static kf_error problem;
static kf_backend *gpu;
static kf_module *kernels;
static kf_buffer *source, *target;

/* Counts one launch, after the target was set back. */
typedef struct one_launch {
    kf_launch launch;
} one_launch;

static kf_status set_back(void *context, kf_error *error) {
    (void)context;
    KF_TRY(kf_buffer_fill(target, 0, error));
    return kf_backend_synchronize(gpu, error);
}

static kf_status run_it(void *context, kf_counting *counting, kf_error *error) {
    const one_launch *one = context;
    KF_TRY(kf_counting_begin(counting, 0, error));
    KF_TRY(kf_backend_launch(gpu, &one->launch, error));
    return kf_counting_end(counting, error);
}

/* Values of a set's metrics for one kernel. */
typedef struct counted {
    kf_metric_set *set;
    kf_counts counts;
} counted;

static counted count_kernel(const char *name, const char *set, int extent, int stride) {
    counted result = {NULL, {0}};
    kf_function *function = NULL;
    one_launch one;
    const truth_arguments arguments = {.extent = {extent, 1, 1},
                                       .source = kf_buffer_address(source),
                                       .target = kf_buffer_address(target),
                                       .factor = 0.5f,
                                       .stride = stride,
                                       .repeats = REPEATS};
    WORKS(kf_module_function(kernels, name, &function, &problem));
    kf_launch_set(&one.launch, name, function, (const int[3]){BLOCK, 1, 1}, &arguments, sizeof arguments);
    WORKS(kf_backend_launch(gpu, &one.launch, &problem)); /* nothing is loaded for the first time later */
    WORKS(kf_backend_synchronize(gpu, &problem));
    WORKS(kf_metric_set_open(set, &result.set, &problem));
    WORKS(kf_count(gpu, result.set, 1, set_back, run_it, &one, &result.counts, &problem));
    return result;
}

static void forget(counted *c) {
    kf_counts_free(&c->counts);
    kf_metric_set_free(c->set);
}

static double value(const counted *c, const char *metric) {
    return counted_value(&c->counts, 0, metric);
}

static int wrong; /* so far */

static void expect(const char *kernel, const counted *c, const char *metric, double truth, double tolerance) {
    const double found = value(c, metric);
    const double off = truth != 0.0 ? found / truth - 1.0 : found;
    const bool right = fabs(off) <= tolerance;
    wrong += !right;
    (void)printf("truth %-14s %-26s %16.12g %16.12g %+9.4f %% %s\n", kernel, metric, truth, found,
                 100.0 * off, right ? "ok" : "WRONG");
    (void)fflush(stdout);
}

static const double EXACT = 1e-9, MEMORY = 0.02;

static void check_axpy(void) {
    counted c = count_kernel("truth_axpy", "standard", items, 1);
    expect("axpy", &c, "fp32_multiply_add", items, EXACT);
    expect("axpy", &c, "fp32_add", 0.0, EXACT);
    expect("axpy", &c, "fp32_multiply", 0.0, EXACT);
    expect("axpy", &c, "fp64_multiply_add", 0.0, EXACT);
    expect("axpy", &c, "load_sectors_per_request", 4.0, EXACT);
    expect("axpy", &c, "store_sectors_per_request", 4.0, EXACT);
    expect("axpy", &c, "load_efficiency", 100.0, EXACT);
    expect("axpy", &c, "store_efficiency", 100.0, EXACT);
    expect("axpy", &c, "dram_read_bytes", 8.0 * items, MEMORY);
    expect("axpy", &c, "dram_write_bytes", 4.0 * items, MEMORY);
    forget(&c);
    c = count_kernel("truth_axpy", "memory", items, 1);
    expect("axpy", &c, "load_requests", 2.0 * items / WARP, EXACT);
    expect("axpy", &c, "load_sectors", 8.0 * items / WARP, EXACT);
    expect("axpy", &c, "store_sectors", 4.0 * items / WARP, EXACT);
    expect("axpy", &c, "spill_load_sectors", 0.0, EXACT);
    forget(&c);
}

static void check_copy(void) {
    counted c = count_kernel("truth_copy", "standard", items, 1);
    expect("copy", &c, "fp32_multiply_add", 0.0, EXACT);
    expect("copy", &c, "fp32_add", 0.0, EXACT);
    expect("copy", &c, "load_efficiency", 100.0, EXACT);
    expect("copy", &c, "dram_read_bytes", 4.0 * items, MEMORY);
    expect("copy", &c, "dram_write_bytes", 4.0 * items, MEMORY);
    forget(&c);
    c = count_kernel("truth_copy", "instructions", items, 1);
    expect("copy", &c, "global_loads", (double)items / WARP, EXACT);
    expect("copy", &c, "global_stores", (double)items / WARP, EXACT);
    expect("copy", &c, "shared_loads", 0.0, EXACT);
    forget(&c);
}

static void check_strides(void) {
    for (int stride = 1; stride <= 32; stride *= 2) {
        const double sectors = fmin(32.0, 4.0 * stride);
        char name[32];
        (void)snprintf(name, sizeof name, "stride %d", stride);
        counted c = count_kernel("truth_stride", "memory", SMALL, stride);
        expect(name, &c, "load_requests", (double)SMALL / WARP, EXACT);
        expect(name, &c, "load_sectors", sectors * SMALL / WARP, EXACT);
        expect(name, &c, "store_sectors", 4.0 * SMALL / WARP, EXACT);
        forget(&c);
        c = count_kernel("truth_stride", "standard", SMALL, stride);
        expect(name, &c, "load_sectors_per_request", sectors, EXACT);
        expect(name, &c, "load_efficiency", 400.0 / sectors, 1e-6);
        forget(&c);
    }
}

static void check_half_warps(void) {
    counted c = count_kernel("truth_whole", "standard", SMALL, 1);
    expect("whole warps", &c, "warp_efficiency", 100.0, EXACT);
    expect("whole warps", &c, "branch_uniformity", 100.0, EXACT);
    expect("whole warps", &c, "fp32_multiply_add", (double)SMALL * REPEATS, EXACT);
    forget(&c);
    c = count_kernel("truth_half", "standard", SMALL, 1);
    expect("half warps", &c, "fp32_multiply_add", 0.5 * SMALL * REPEATS, EXACT);
    /* Almost all instructions are in the loop of half the threads. */
    expect("half warps", &c, "warp_efficiency", 50.0, 0.05);
    CHECK(value(&c, "branch_uniformity") < 100.0);
    forget(&c);
}

/* Chooses as many items as the cache asks for, as long as both arrays fit into half of the memory. */
static void choose_items(const kf_device_info *device) {
    const double floats = (double)CACHES * (double)device->l2_bytes / sizeof(float);
    for (items = LEAST; items < MOST && (double)items < floats; items *= 2)
        if (4.0 * sizeof(float) * 2.0 * items > (double)device->memory_free_bytes) break;
}

static void run_child(void (*test)(void)) {
    const kf_source file = {.file = "kernels/probe/truth.cu"};
    (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handler would carry on with the tests */
    kf_counting_prepare();
    WORKS(kf_backend_open("cuda:0", &gpu, &problem));
    WORKS(kf_module_load(gpu, &file, &kernels, NULL, &problem));
    choose_items(kf_backend_device(gpu));
    WORKS(kf_buffer_create(gpu, sizeof(float) * (size_t)items, &source, &problem));
    WORKS(kf_buffer_create(gpu, sizeof(float) * (size_t)items, &target, &problem));
    WORKS(kf_buffer_fill(source, 0, &problem));
    WORKS(kf_buffer_fill(target, 0, &problem));
    test();
    kf_buffer_free(source);
    kf_buffer_free(target);
    kf_module_free(kernels);
    kf_backend_close(gpu);
    exit(wrong > 0);
}

static void in_child(void (*test)(void)) {
    run_in_child(run_child, test);
}

static void axpy_moves_its_arrays(void **state) {
    (void)state;
    in_child(check_axpy);
}
static void copy_moves_its_arrays(void **state) {
    (void)state;
    in_child(check_copy);
}
static void strides_waste_sectors(void **state) {
    (void)state;
    in_child(check_strides);
}
static void half_warps(void **state) {
    (void)state;
    in_child(check_half_warps);
}

/* --- Real kernels --- */

static int complain(const kf_error *error) {
    (void)fprintf(stderr, "%s\n", error->message);
    return 1;
}

/* The L2 cache is a few percent of what a kernel moves here. */
static const kf_scene_options large = {.nodes = {320, 160, 160}};

static int count_plan(const char *scene, const char *preset, const char *set_name, const char *file) {
    kf_error error = {0};
    kinetic_plan made;
    kf_metric_set *set = NULL;
    kf_measurement m = {0};
    kf_text text = {0};
    kf_counting_prepare();
    kf_status status = kf_metric_set_open(set_name, &set, &error);
    if (status == KF_OK) status = kinetic_plan_open(&made, "cuda:0", scene, &large, preset, &error);
    if (status != KF_OK) return complain(&error);
    status = kf_count_plan(made.plan, set, &m, &error);
    if (status != KF_OK) return complain(&error);
    for (int i = 0, part = 0; i < m.counter_count; i++) { /* the event's name is what ncu knows */
        part += i > 0 && strcmp(m.counters[i].kernel, m.counters[i - 1].kernel) != 0;
        for (int k = 0; k < set->cupti_count; k++)
            if (strcmp(set->cupti[k].name, m.counters[i].metric) == 0)
                kf_text_append(&text, "%d,%s,%s,%.17g\n", part, m.counters[i].kernel, set->cupti[k].event,
                               m.counters[i].value);
    }
    status = kf_file_write_atomic(file, text.text, text.length, &error);
    kf_text_free(&text);
    kf_measurement_free(&m);
    kinetic_plan_close(&made);
    kf_metric_set_free(set);
    return status == KF_OK ? 0 : complain(&error);
}

typedef int profiler_switch(void);
typedef struct switches {
    profiler_switch *start, *stop;
    kf_backend *backend;
} switches;

static kf_status switch_on(void *context, int part, const kf_item *item, kf_error *error) {
    const switches *s = context;
    KF_TRY(kf_backend_synchronize(s->backend, error));
    (void)printf("part %d %s\n", part, item->name);
    return s->start() == 0 ? KF_OK : kf_fail(error, KF_MACHINE, "cuProfilerStart failed");
}

static kf_status switch_off(void *context, kf_error *error) {
    const switches *s = context;
    KF_TRY(kf_backend_synchronize(s->backend, error));
    return s->stop() == 0 ? KF_OK : kf_fail(error, KF_MACHINE, "cuProfilerStop failed");
}

static int launch_plan(const char *scene, const char *preset) {
    kf_error error = {0};
    kinetic_plan made;
    if (kinetic_plan_open(&made, "cuda:0", scene, &large, preset, &error) != KF_OK) return complain(&error);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    switches s = {.backend = made.backend};
    void *start = driver != NULL ? dlsym(driver, "cuProfilerStart") : NULL;
    void *stop = driver != NULL ? dlsym(driver, "cuProfilerStop") : NULL;
    if (start == NULL || stop == NULL) {
        if (driver != NULL) dlclose(driver);
        kinetic_plan_close(&made);
        return complain(&(kf_error){KF_MACHINE, "no profiler switches"});
    }
    memcpy(&s.start, &start, sizeof start);
    memcpy(&s.stop, &stop, sizeof stop);
    const kf_part_visit visit = {switch_on, switch_off, &s};
    const kf_status status = kf_plan_visit_parts(made.plan, &visit, &error);
    kinetic_plan_close(&made);
    dlclose(driver);
    return status == KF_OK ? 0 : complain(&error);
}

/* --- Comparison with ncu --- */

static int compare(const char *our_file, const char *ncu_file, char *const *judged) {
    kf_error error = {0};
    char *our_text = NULL, *ncu_text = NULL;
    size_t size = 0;
    ncu_comparison c;
    if (kf_file_read(our_file, 0, &our_text, &size, &error) != KF_OK ||
        kf_file_read(ncu_file, 0, &ncu_text, &size, &error) != KF_OK) {
        free(our_text);
        return complain(&error);
    }
    const bool same = ncu_compare(our_text, ncu_text, (const char *const *)judged, &c, stdout);
    free(our_text);
    free(ncu_text);
    return same ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "count") == 0) return count_plan(argv[2], argv[3], argv[4], argv[5]);
    if (argc == 4 && strcmp(argv[1], "launch") == 0) return launch_plan(argv[2], argv[3]);
    if (argc >= 4 && strcmp(argv[1], "compare") == 0) return compare(argv[2], argv[3], argv + 4);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy_moves_its_arrays),
        cmocka_unit_test(copy_moves_its_arrays),
        cmocka_unit_test(strides_waste_sectors),
        cmocka_unit_test(half_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
