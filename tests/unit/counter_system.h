/* A system for tests of the harness. Its time step adds one to every node's counter, on a real backend
 * with a real kernel. Its parameter `behaviour` makes it fail in every way a config can, on the host
 * (crash, exit, hang, invalid, memory, leak, compile) or in the kernel (wrong, nan, outside, fault, spin,
 * shared). */
#ifndef KF_TESTS_UNIT_COUNTER_SYSTEM_H
#define KF_TESTS_UNIT_COUNTER_SYSTEM_H

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plan/system.h"
#include "base/util/file.h"
#include "base/util/memory.h"

/* --- The data folder -------------------------------------------------------------------------------------
 */

static const char counter_kernel[] =
    "#include \"portable.h\"\n"
    "typedef struct counter_arguments {\n"
    "    int extent[3]; float *values; int repeats; float increment; float *also; kf_int64 spins;\n"
    "} counter_arguments;\n"
    "#ifdef BREAK_THE_COMPILER\n"
    "#error this config cannot be compiled\n"
    "#endif\n"
    "KF_SCALAR_KERNEL(count, counter_arguments) {\n"
    "    (void)y, (void)z;\n"
    "    float value = a->values[x];\n"
    "    for (int i = 0; i < a->repeats * LANES; i++) value = value * 1.0000001f;\n"
    "    for (int i = 0; i < a->repeats * LANES; i++) value = value / 1.0000001f;\n"
    "    a->values[x] = (float)(int)(value + 0.25f) + a->increment;\n"
    "    if (x == 0 && a->also) *(volatile float *)a->also = 1.0f;\n"
    "    if (x == 0) for (kf_int64 i = 0; i < a->spins; i++) *(volatile float *)a->values += 0.0f;\n"
    "}\n"
    "#ifdef TOO_MUCH_SHARED_MEMORY\n" /* on a GPU: more than any block may have */
    "KF_BLOCK_KERNEL(share, counter_arguments) {\n"
    "    KF_SHARED float row[100000];\n"
    "    KF_EACH_THREAD(t, 32) { row[t] = a->values[t]; }\n"
    "    KF_BARRIER;\n"
    "    KF_EACH_THREAD(t, 32) { a->values[t] = row[31 - t] + (float)(block_x + block_y); }\n"
    "}\n"
    "#endif\n";

static const char counter_space[] =
    "{\"system\": \"counter\", \"format\": 1, \"parameters\": ["
    "{\"name\": \"behaviour\", \"type\": \"name\", \"default\": \"right\", \"help\": \"what a config does\", "
    "\"values\": [\"right\", \"wrong\", \"crash\", \"memory\", \"compile\", \"invalid\"]},"
    "{\"name\": \"work\", \"type\": \"integer\", \"default\": 4, \"help\": \"how long a step takes\", "
    "\"values\": [1, 2, 3, 4, 6, 8, 10, 12]}"
    "], \"constraints\": [],"
    "\"presets\": {\"default\": {}, \"baseline\": {\"work\": 12}, \"paper\": {\"work\": 8}}}";

static char counter_folder[KF_PATH];

static void counter_write(const char *name, const char *text) {
    char path[2 * KF_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", counter_folder, name);
    kf_error error;
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) abort();
}

/* Makes a data folder, a cache and a store for the test. main calls it first. */
static void counter_prepare(void) {
    const char *temporary = getenv("TMPDIR");
    (void)snprintf(counter_folder, sizeof counter_folder, "%s/kftune-test-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(counter_folder) == NULL) abort();
    char path[2 * KF_PATH];
    static const char *const folders[] = {"kernels", "variants"};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", counter_folder, folders[i]);
        if (kf_make_folders(path, NULL) != KF_OK) abort();
    }
    const char *root = getenv("KFTUNE_DATA");
    char source[2 * KF_PATH];
    (void)snprintf(source, sizeof source, "%s/kernels/portable.h", root != NULL ? root : ".");
    char *text = NULL;
    size_t size = 0;
    kf_error error;
    if (kf_file_read(source, 0, &text, &size, &error) != KF_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        abort();
    }
    counter_write("kernels/portable.h", text);
    free(text);
    counter_write("kernels/counter.cu", counter_kernel);
    counter_write("variants/counter.json", counter_space);
    (void)setenv("KFTUNE_DATA", counter_folder, 1);
    (void)setenv("XDG_CACHE_HOME", counter_folder, 1);
    (void)setenv("XDG_DATA_HOME", counter_folder, 1);
}

static void counter_clean_up(void) {
    char command[2 * KF_PATH];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", counter_folder);
    if (system(command) != 0) (void)fprintf(stderr, "cannot remove %s\n", counter_folder);
}

/* --- Problem and configs -----------------------------------------------------------------------------------
 */

static const kf_system counter_system;

/* Makes a problem with this number of counters, and frees the one before in its place. */
__attribute__((unused)) static void counter_problem(kf_problem *problem, int nodes) {
    kf_facts_free(&problem->facts);
    memset(problem, 0, sizeof *problem);
    (void)snprintf(problem->name, sizeof problem->name, "counters");
    (void)snprintf(problem->source, sizeof problem->source, "counters");
    (void)snprintf(problem->hash, sizeof problem->hash, "%064d", nodes);
    kf_facts_size(&problem->facts, (const int[3]){nodes, 1, 1}, "nodes");
    kf_facts_amount(&problem->facts, "node_count", nodes, "nodes");
    problem->seed = 1;
    problem->system = &counter_system;
}

static int counter_nodes(const kf_problem *problem) {
    return (int)kf_facts_value(&problem->facts, "node_count");
}

static kf_status counter_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    enum { TRIAL_NODES = 500, TRIAL_STEPS = 10 };
    (void)problem, (void)error;
    *small = kf_problem_make(NULL, NULL);
    counter_problem(*small, TRIAL_NODES);
    *steps = TRIAL_STEPS;
    return KF_OK;
}

__attribute__((unused)) static kf_config counter_config(const char *behaviour, long work) {
    kf_config config = {.count = 0};
    (void)snprintf(config.system, sizeof config.system, "counter");
    kf_config_set_name(&config, "behaviour", behaviour);
    kf_config_set_integer(&config, "work", work);
    return config;
}

static bool behaves(const kf_config *config, const char *behaviour) {
    const char *name = "";
    return kf_config_name(config, "behaviour", &name, NULL) == KF_OK && strcmp(name, behaviour) == 0;
}

/* --- The plan --------------------------------------------------------------------------------------------
 */

typedef struct counter_arguments {
    int extent[3];
    float *values;
    int repeats;
    float increment;
    float *also;   /* the first thread also writes here, unless it is NULL, */
    int64_t spins; /* and reads and writes its counter this often */
} counter_arguments;

struct kf_reference {
    int steps;
};

static kf_status counter_initialise(kf_plan *plan, kf_error *error) {
    /* Faults happen while a plan runs, not while it is built. */
    if (behaves(&plan->config, "crash")) (void)raise(SIGSEGV);
    if (behaves(&plan->config, "job_ends")) (void)kill(getppid(), SIGTERM);
    if (behaves(&plan->config, "job_ends") || behaves(&plan->config, "ended")) (void)raise(SIGTERM);
    if (behaves(&plan->config, "exit")) _exit(7);
    while (behaves(&plan->config, "hang"))
        (void)pause();
    return kf_buffer_fill(plan->buffers[0], 0, error);
}

static void counter_free(kf_plan *plan) {
    (void)plan;
}

static const kf_plan_methods counter_methods = {.initialise = counter_initialise, .free = counter_free};

static kf_status counter_sources(const kf_problem *problem, const kf_config *config,
                                 const kf_device_info *device,
                                 kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                 void *data, kf_error *error) {
    (void)problem, (void)device;
    const bool broken = behaves(config, "compile"), shared = behaves(config, "shared");
    kf_define defines[] = {{"LANES", "8"}, {broken ? "BREAK_THE_COMPILER" : "TOO_MUCH_SHARED_MEMORY", "1"}};
    kf_source source = {
        .file = "kernels/counter.cu", .defines = defines, .define_count = broken || shared ? 2 : 1};
    return visit(&source, data, error);
}

static kf_status counter_load(const kf_source *source, void *data, kf_error *error) {
    kf_module *module;
    return kf_plan_module(data, source, &module, error);
}

/* Makes the kernel do more than counting, as the config asks. */
static void counter_misbehave(const kf_plan *plan, counter_arguments *arguments) {
    const kf_config *config = &plan->config;
    const bool gpu = strcmp(kf_backend_device(plan->backend)->backend, "cuda") == 0;
    if (behaves(config, "wrong")) arguments->increment = 1.02F; /* only the last is kept, so 2 in 1000 */
    if (behaves(config, "nan")) arguments->increment = NAN;
    if (behaves(config, "outside")) arguments->also = arguments->values + counter_nodes(plan->problem);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address outside of all memory */
    if (behaves(config, "fault")) arguments->also = (float *)(intptr_t)16;
    /* The kernel runs for about 20 s. That is long enough to count as hanging, and it ends even if nothing
     * stops it. */
    if (behaves(config, "spin")) arguments->spins = gpu ? 30000000 : 5000000000;
}

/* Reserves memory that no plan gives back, a third of it each time. Nothing is written to it. */
static kf_status counter_leak(kf_plan *plan, kf_error *error) {
    kf_buffer *lost;
    const uint64_t bytes = kf_backend_device(plan->backend)->memory_free_bytes;
    return kf_buffer_create(plan->backend, (size_t)(bytes / 10 * 3), &lost, error);
}

static kf_status counter_fill(kf_plan *plan, kf_error *error) {
    size_t bytes = (size_t)counter_nodes(plan->problem) * sizeof(float);
    kf_buffer *values, *huge;
    if (behaves(&plan->config, "leak")) KF_TRY(counter_leak(plan, error));
    if (behaves(&plan->config, "memory")) KF_TRY(kf_plan_buffer(plan, (size_t)1 << 52, &huge, error));
    if (behaves(&plan->config, "invalid"))
        return kf_fail(error, KF_MACHINE, "a block of 99999 threads is more than the device takes");
    KF_TRY(kf_plan_buffer(plan, bytes, &values, error));
    KF_TRY(counter_sources(plan->problem, &plan->config, NULL, counter_load, plan, error));
    kf_function *function;
    KF_TRY(kf_module_function(plan->modules[0], "count", &function, error));
    long work = 1;
    KF_TRY(kf_config_integer(&plan->config, "work", &work, error));
    counter_arguments arguments = {
        {counter_nodes(plan->problem), 1, 1}, kf_buffer_address(values), (int)work, 1.0F, NULL, 0};
    counter_misbehave(plan, &arguments);
    int block[3] = {256, 1, 1};
    kf_launch launch;
    kf_launch_set(&launch, "count", function, block, &arguments, sizeof arguments);
    kf_plan_add_kernel(plan, &launch)->bytes = 2.0 * (double)bytes;
    plan->updates = counter_nodes(plan->problem);
    plan->least_bytes = 2.0 * (double)bytes;
    return KF_OK;
}

static kf_status counter_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                              kf_plan **plan, kf_error *error) {
    kf_plan *made = kf_plan_create(backend, problem, config, &counter_methods, NULL);
    kf_status status = counter_fill(made, error);
    if (status != KF_OK) {
        kf_plan_free(made);
        made = NULL;
    }
    *plan = made;
    return status;
}

static kf_status counter_reference(const kf_problem *problem, int steps, kf_reference **reference,
                                   kf_error *error) {
    (void)problem, (void)error;
    *reference = kf_allocate(sizeof **reference);
    (*reference)->steps = steps;
    return KF_OK;
}

static kf_status counter_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                                kf_error *error) {
    memset(verification, 0, sizeof *verification);
    verification->bound = 1e-3;
    size_t count = (size_t)counter_nodes(plan->problem);
    float *values = kf_allocate(count * sizeof *values);
    kf_status status = kf_buffer_download(plan->buffers[0], 0, values, count * sizeof *values, error);
    for (size_t i = 0; status == KF_OK && i < count; i++) {
        const double deviation = fabs((double)values[i] / reference->steps - 1.0);
        if (!(deviation <= verification->error)) verification->error = deviation; /* keeps NaN */
    }
    free(values);
    KF_TRY(status);
    if (!(verification->error <= verification->bound))
        return kf_fail(error, KF_GATE_FAILED, "deviates by %g, accepted is %g", verification->error,
                       verification->bound);
    return KF_OK;
}

static void counter_free_reference(kf_reference *reference) {
    free(reference);
}

static kf_status counter_accepts(const kf_problem *problem, kf_error *error) {
    (void)problem, (void)error;
    return KF_OK;
}

static void counter_variables(const kf_problem *problem, const kf_device_info *device,
                              kf_variables *variables) {
    (void)problem, (void)device;
    memset(variables, 0, sizeof *variables);
}

static const kf_system counter_system = {
    .name = "counter",
    .summary = "counts its time steps",
    .update = "node",
    .space_file = "variants/counter.json",
    .runs = true,
    .trial = counter_trial,
    .accepts = counter_accepts,
    .variables = counter_variables,
    .plan = counter_plan,
    .sources = counter_sources,
    .reference = counter_reference,
    .verify = counter_verify,
    .free_reference = counter_free_reference,
};

#endif
