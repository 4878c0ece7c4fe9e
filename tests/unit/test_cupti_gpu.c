/* Counters against truth, on a GPU. Without words: tests of kernels whose counters are known from arithmetic,
 * skipped where there is no GPU. With words, for scripts/gpu/counters.sh:
 *     count SCENE PRESET SET FILE.csv   counts a plan's kernels, a line each
 *     launch SCENE PRESET               launches the same kernels from the same states, profiler on around
 * each compare OURS.csv NCU.csv          holds both against each other, status 1 when they differ by over 2 %
 */
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

#include "harness/counters/count_plan.h"
#include "harness/util/file.h"
#include "harness/util/text.h"
#include "tests/unit/kinetic_plan.h"

typedef struct truth_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
    int stride, repeats;
} truth_arguments;

enum { ITEMS = 1 << 26, BLOCK = 256, WARP = 32, SMALL = 1 << 20, REPEATS = 2000 };

/* --- in a child ---------------------------------------------------------------------------------------- */

/* cmocka's assertions would carry on as a second copy of the test program. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: not true: %s; last error: %s\n", __FILE__, __LINE__, #condition,   \
                          problem.message);                                                                  \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)
#define WORKS(call) CHECK((call) == KF_OK)

static kf_error problem;
static kf_backend *gpu;
static kf_module *kernels;
static kf_buffer *source, *target;

/* What is counted: one launch, after the target was set back. */
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

static counted count_kernel(const char *name, const char *set, int items, int stride) {
    counted result = {NULL, {0}};
    kf_function *function = NULL;
    one_launch one;
    const truth_arguments arguments = {.extent = {items, 1, 1},
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
    return kf_counts_value(&c->counts, 0, metric);
}

static void expect(const char *kernel, const counted *c, const char *metric, double truth, double tolerance) {
    const double found = value(c, metric);
    const double off = truth != 0.0 ? fabs(found / truth - 1.0) : fabs(found);
    const bool right = off <= tolerance;
    (void)printf("truth  %-14s %-26s %16.9g %16.9g %9.4f %%  %s\n", kernel, metric, truth, found, 100.0 * off,
                 right ? "ok" : "WRONG");
    (void)fflush(stdout);
    if (!right) _exit(1);
}

static const double EXACT = 1e-9, MEMORY = 0.02; /* DRAM: lines that stay in L2 are not written in time */

static void check_axpy(void) {
    counted c = count_kernel("truth_axpy", "standard", ITEMS, 1);
    expect("axpy", &c, "fp32_multiply_add", ITEMS, EXACT);
    expect("axpy", &c, "fp32_add", 0.0, EXACT);
    expect("axpy", &c, "fp32_multiply", 0.0, EXACT);
    expect("axpy", &c, "fp64_multiply_add", 0.0, EXACT);
    expect("axpy", &c, "load_sectors_per_request", 4.0, EXACT);
    expect("axpy", &c, "store_sectors_per_request", 4.0, EXACT);
    expect("axpy", &c, "load_efficiency", 100.0, EXACT);
    expect("axpy", &c, "store_efficiency", 100.0, EXACT);
    expect("axpy", &c, "dram_read_bytes", 8.0 * ITEMS, MEMORY);
    expect("axpy", &c, "dram_write_bytes", 4.0 * ITEMS, MEMORY);
    forget(&c);
    c = count_kernel("truth_axpy", "memory", ITEMS, 1);
    expect("axpy", &c, "load_requests", 2.0 * ITEMS / WARP, EXACT);
    expect("axpy", &c, "load_sectors", 8.0 * ITEMS / WARP, EXACT);
    expect("axpy", &c, "store_sectors", 4.0 * ITEMS / WARP, EXACT);
    expect("axpy", &c, "spill_load_sectors", 0.0, EXACT);
    forget(&c);
}

static void check_copy(void) {
    counted c = count_kernel("truth_copy", "standard", ITEMS, 1);
    expect("copy", &c, "fp32_multiply_add", 0.0, EXACT);
    expect("copy", &c, "fp32_add", 0.0, EXACT);
    expect("copy", &c, "load_efficiency", 100.0, EXACT);
    expect("copy", &c, "dram_read_bytes", 4.0 * ITEMS, MEMORY);
    expect("copy", &c, "dram_write_bytes", 4.0 * ITEMS, MEMORY);
    forget(&c);
    c = count_kernel("truth_copy", "instructions", ITEMS, 1);
    expect("copy", &c, "global_loads", (double)ITEMS / WARP, EXACT);
    expect("copy", &c, "global_stores", (double)ITEMS / WARP, EXACT);
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

static void run_child(void (*test)(void)) {
    const kf_source file = {"kernels/probe/truth.cu", NULL, 0};
    (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handler would carry on with the tests */
    kf_counting_prepare();
    WORKS(kf_backend_open("cuda:0", &gpu, &problem));
    WORKS(kf_module_load(gpu, &file, &kernels, NULL, &problem));
    WORKS(kf_buffer_create(gpu, sizeof(float) * (size_t)ITEMS, &source, &problem));
    WORKS(kf_buffer_create(gpu, sizeof(float) * (size_t)ITEMS, &target, &problem));
    WORKS(kf_buffer_fill(source, 0, &problem));
    WORKS(kf_buffer_fill(target, 0, &problem));
    test();
    kf_buffer_free(source);
    kf_buffer_free(target);
    kf_module_free(kernels);
    kf_backend_close(gpu);
    exit(0);
}

static void in_child(void (*test)(void)) {
    char why[512] = "";
    if (kf_cuda_device_count(why, sizeof why) == 0) {
        print_message("%s\n", why);
        skip();
    }
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) run_child(test);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void axpy(void **state) {
    (void)state;
    in_child(check_axpy);
}
static void copy(void **state) {
    (void)state;
    in_child(check_copy);
}
static void strides(void **state) {
    (void)state;
    in_child(check_strides);
}
static void half_warps(void **state) {
    (void)state;
    in_child(check_half_warps);
}

/* --- real kernels ----------------------------------------------------------------------------------------
 */

static int complain(const kf_error *error) {
    (void)fprintf(stderr, "%s\n", error->message);
    return 1;
}

/* Large enough that no cache holds it. */
static const kf_scene_options large = {.nodes = {192, 96, 96}};

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
    for (int i = 0; i < m.counter_count; i++) /* the event's name is what ncu knows */
        for (int k = 0; k < set->cupti_count; k++)
            if (strcmp(set->cupti[k].name, m.counters[i].metric) == 0)
                kf_text_append(&text, "%s,%s,%.17g\n", m.counters[i].kernel, set->cupti[k].event,
                               m.counters[i].value);
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

static kf_status switch_on(void *context, int part, const kf_launch *launch, kf_error *error) {
    const switches *s = context;
    KF_TRY(kf_backend_synchronize(s->backend, error));
    (void)printf("part %d %s\n", part, launch->name);
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

/* --- ours against ncu's ----------------------------------------------------------------------------------
 */

enum { COLUMNS = 256 };

/* Splits a line of CSV in place; quotes may hold commas. */
static int split(char *line, char *fields[COLUMNS]) {
    int count = 0;
    char *at = line;
    while (count < COLUMNS) {
        char *end;
        if (*at == '"') {
            fields[count++] = ++at;
            end = at + strcspn(at, "\"");
            if (*end == '"') *end++ = '\0';
        } else {
            fields[count++] = at;
            end = at + strcspn(at, ",");
        }
        if (*end == '\0') break;
        *end = '\0';
        at = end + 1;
    }
    return count;
}

/* "1,234.5" */
static double number_of(const char *text) {
    char plain[64];
    size_t length = 0;
    for (; *text != '\0' && length + 1 < sizeof plain; text++)
        if (*text != ',') plain[length++] = *text;
    plain[length] = '\0';
    char *end = NULL;
    const double number = strtod(plain, &end);
    return end != plain ? number : (double)NAN;
}

/* One of ours: kernel, event, value; part: kernels in the order of their first lines. */
typedef struct our_line {
    const char *kernel, *event;
    double value;
    int part;
} our_line;

static int read_ours(char *text, our_line *lines, int most) {
    int count = 0, part = -1;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && count < most;
         line = strtok_r(NULL, "\n", &rest)) {
        char *fields[COLUMNS];
        if (split(line, fields) != 3) continue;
        if (count == 0 || strcmp(fields[0], lines[count - 1].kernel) != 0) part++;
        lines[count++] = (our_line){fields[0], fields[1], number_of(fields[2]), part};
    }
    return count;
}

static int compare_row(char *const *names, int name_count, char *const *fields, int field_count, int part,
                       const our_line *ours, int our_count) {
    int wrong = 0;
    for (int i = 0; i < our_count; i++) {
        if (ours[i].part != part) continue;
        for (int column = 0; column < name_count && column < field_count; column++) {
            if (strcmp(names[column], ours[i].event) != 0) continue;
            const double theirs = number_of(fields[column]);
            const double scale = fmax(fabs(theirs), fabs(ours[i].value));
            const double off = scale > 0.0 ? fabs(theirs - ours[i].value) / scale : 0.0;
            const bool right = off <= 0.02;
            wrong += !right;
            (void)printf("%-22s %-64s %14.7g %14.7g %8.3f %%%s\n", ours[i].kernel, ours[i].event,
                         ours[i].value, theirs, 100.0 * off, right ? "" : "  DIFFERS");
        }
    }
    return wrong;
}

/* ncu --csv --page raw: notes, then a line of names, a line of units, and a line for each kernel. */
static int compare(const char *our_file, const char *ncu_file) {
    enum { MOST = 4096 };
    static our_line ours[MOST];
    kf_error error = {0};
    char *our_text = NULL, *ncu_text = NULL, *rest = NULL, *names[COLUMNS];
    size_t size = 0;
    if (kf_file_read(our_file, 0, &our_text, &size, &error) != KF_OK ||
        kf_file_read(ncu_file, 0, &ncu_text, &size, &error) != KF_OK)
        return complain(&error);
    const int our_count = read_ours(our_text, ours, MOST);
    int name_count = 0, row = -1, wrong = 0;
    (void)printf("%-22s %-64s %14s %14s %10s\n", "kernel", "metric", "kftune", "ncu", "difference");
    for (char *line = strtok_r(ncu_text, "\r\n", &rest); line != NULL; line = strtok_r(NULL, "\r\n", &rest)) {
        if (name_count == 0) {
            if (strncmp(line, "\"ID\"", 4) == 0) name_count = split(line, names);
            continue;
        }
        char *fields[COLUMNS];
        const int field_count = split(line, fields);
        if (row++ < 0) continue; /* units */
        wrong += compare_row(names, name_count, fields, field_count, row - 1, ours, our_count);
    }
    (void)printf("%d kernels compared, %d values differ by more than 2 %%\n", row < 0 ? 0 : row, wrong);
    free(our_text);
    free(ncu_text);
    return wrong == 0 && row > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "count") == 0) return count_plan(argv[2], argv[3], argv[4], argv[5]);
    if (argc == 4 && strcmp(argv[1], "launch") == 0) return launch_plan(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "compare") == 0) return compare(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy),
        cmocka_unit_test(copy),
        cmocka_unit_test(strides),
        cmocka_unit_test(half_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
