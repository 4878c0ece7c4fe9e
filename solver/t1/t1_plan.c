/* Plans of the t1 system: one launch of the kernel a step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* What a plan keeps. */
typedef struct kf_t1 {
    const kf_t1_problem *problem;
    kf_buffer *buffers[KF_T1_ARGUMENTS]; /* NULL for scalars */
} kf_t1;

/* --- compiling ------------------------------------------------------------------------------------------ */

static void define_value(const kf_value *value, kf_define *define) {
    define->name = value->parameter;
    if (value->kind == KF_VALUE_NAME)
        (void)snprintf(define->value, sizeof define->value, "%s", value->name);
    else
        (void)snprintf(define->value, sizeof define->value, "%ld", value->integer);
}

kf_status kf_t1_sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                        kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                        kf_error *error) {
    (void)device;
    const kf_t1_problem *own = problem->own;
    kf_define defines[KF_CONFIG_VALUES + KF_T1_DEFINES];
    int count = 0;
    for (int i = 0; i < config->count; i++)
        define_value(&config->values[i], &defines[count++]);
    for (int i = 0; i < own->define_count; i++)
        defines[count++] = own->defines[i];
    char plain[KF_PATH];
    if (own->plain) KF_TRY(kf_t1_plain_source(own, plain, error));
    const kf_source source = {.file = own->plain ? plain : own->kernel_file, .defines = defines, .define_count = count};
    return visit(&source, data, error);
}

static kf_status load_module(const kf_source *source, void *data, kf_error *error) {
    kf_module *module;
    return kf_plan_module(data, source, &module, error);
}

/* --- arguments ------------------------------------------------------------------------------------------ */

/* Parameters as they lie in a struct. */
typedef struct packed {
    unsigned char bytes[KF_ARGUMENT_BYTES];
    size_t length;
} packed;

static kf_status pack(packed *into, const void *value, size_t bytes, size_t alignment, kf_error *error) {
    size_t at = (into->length + alignment - 1) / alignment * alignment;
    if (at + bytes > sizeof into->bytes)
        return kf_fail(error, KF_BAD_INPUT, "the kernel's arguments are longer than %d bytes",
                       KF_ARGUMENT_BYTES);
    memcpy(into->bytes + at, value, bytes);
    into->length = at + bytes;
    return KF_OK;
}

static kf_status pack_arguments(const kf_t1 *t1, bool constants, packed *into, kf_error *error) {
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        if (argument->constant && !constants) continue;
        if (argument->scalar) {
            KF_TRY(pack(into, argument->initial, argument->type->bytes, argument->type->bytes, error));
        } else {
            const void *address = kf_buffer_address(t1->buffers[i]);
            KF_TRY(pack(into, &address, sizeof address, sizeof address, error));
        }
    }
    return KF_OK;
}

/* The struct that a portable kernel takes: the extent, all arguments, and what fills it up to its alignment.
 */
static kf_status pack_struct(const kf_t1 *t1, const int extent[3], packed *into, kf_error *error) {
    size_t alignment = sizeof extent[0];
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        const size_t own = argument->scalar ? argument->type->bytes : sizeof(void *);
        if (own > alignment) alignment = own;
    }
    KF_TRY(pack(into, extent, 3 * sizeof extent[0], sizeof extent[0], error));
    KF_TRY(pack_arguments(t1, true, into, error));
    return pack(into, "", 0, alignment, error);
}

/* Fills the module's __constant__ variables; *missing: there is not one for each argument that should have
 * one. */
static kf_status write_constants(const kf_plan *plan, const kf_t1 *t1, bool *missing, kf_error *error) {
    *missing = false;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        if (!argument->constant) continue;
        kf_error reason = {KF_OK, ""};
        kf_status status = kf_module_write(plan->modules[0], argument->name, argument->initial,
                                           argument->count * argument->type->bytes, &reason);
        if (status == KF_BAD_INPUT)
            *missing = true;
        else if (status != KF_OK)
            return kf_fail(error, status, "%s", reason.message);
    }
    return KF_OK;
}

/* Files disagree on whether what lies in constant memory is also a parameter: the compiled kernel tells. */
static kf_status pack_cuda(const kf_plan *plan, const kf_t1 *t1, const kf_function *function, packed *into,
                           kf_error *error) {
    kf_function_info info;
    packed all = {.length = 0}, rest = {.length = 0};
    bool missing = false;
    kf_function_describe(function, &info);
    KF_TRY(write_constants(plan, t1, &missing, error));
    KF_TRY(pack_arguments(t1, true, &all, error));
    KF_TRY(pack_arguments(t1, false, &rest, error));
    bool takes_all = info.argument_bytes == all.length || (info.argument_bytes == 0 && missing);
    bool takes_rest = info.argument_bytes == rest.length || (info.argument_bytes == 0 && !missing);
    *into = takes_all ? all : rest;
    if (!takes_all && !takes_rest)
        return kf_fail(error, KF_MACHINE, "%s takes parameters of %zu bytes, the Arguments of %s come to %zu",
                       t1->problem->kernel_name, info.argument_bytes, t1->problem->file, all.length);
    if (takes_all || !missing) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "%s has no __constant__ variable for an argument whose MemType is Constant",
                   t1->problem->kernel_file);
}

/* --- the plan ------------------------------------------------------------------------------------------- */

static kf_status initialise(kf_plan *plan, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        if (t1->buffers[i] != NULL)
            KF_TRY(kf_buffer_upload(t1->buffers[i], 0, argument->initial,
                                    argument->count * argument->type->bytes, error));
    }
    return KF_OK;
}

static void free_system(kf_plan *plan) {
    free(plan->system);
}

static const kf_plan_methods methods = {.initialise = initialise, .free = free_system};

static kf_status make_buffers(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    plan->least_bytes = 0.0;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        size_t bytes = argument->count * argument->type->bytes;
        if (argument->scalar) continue;
        KF_TRY(kf_plan_buffer(plan, bytes, &t1->buffers[i], error));
        plan->least_bytes += (double)bytes * (argument->read + argument->written);
    }
    return KF_OK;
}

static kf_status set_shape(const kf_t1_problem *problem, const kf_config *config, kf_launch *launch,
                           kf_error *error) {
    enum { MOST_THREADS = 1024, MOST_SHARED = 1 << 20 };
    static const char *const threads[] = {"LocalSize.X", "LocalSize.Y", "LocalSize.Z"};
    static const char *const blocks[] = {"the number of blocks along X", "the number of blocks along Y",
                                         "the number of blocks along Z"};
    long value = 0;
    for (int axis = 0; axis < 3; axis++) {
        KF_TRY(kf_t1_evaluate(problem, threads[axis], problem->threads[axis], config, 1, MOST_THREADS, &value,
                              error));
        launch->block[axis] = (int)value;
        KF_TRY(kf_t1_evaluate(problem, blocks[axis], problem->blocks[axis], config, 1, 2147483647, &value,
                              error));
        launch->grid[axis] = (int)value;
    }
    KF_TRY(kf_t1_evaluate(problem, "SharedMemory", problem->shared_bytes, config, 0, MOST_SHARED, &value,
                          error));
    launch->shared_bytes = (size_t)value;
    return KF_OK;
}

/* A portable kernel takes its extent in front, in threads, and the backend finds the grid again. */
static kf_status pack_portable(const kf_t1 *t1, kf_launch *launch, packed *into, kf_error *error) {
    int extent[3];
    for (int axis = 0; axis < 3; axis++) {
        long long items = (long long)launch->grid[axis] * launch->block[axis];
        if (items > 1 << 30)
            return kf_fail(error, KF_MACHINE, "%lld threads along an axis are too many", items);
        extent[axis] = (int)items;
        launch->grid[axis] = 0;
    }
    launch->shared_bytes = 0;
    return pack_struct(t1, extent, into, error);
}

static kf_status append_launch(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    const kf_t1_problem *problem = t1->problem;
    kf_function *function = NULL;
    kf_launch launch = {.grid = {0}};
    packed arguments = {.length = 0};
    const char *entry = problem->plain ? kf_t1_plain_entry : problem->kernel_name;
    kf_status status = kf_module_function(plan->modules[0], entry, &function, error);
    if (status != KF_OK)
        return kf_fail_context(error,
                               problem->portable ? "is it a KF_KERNEL?" : "is it declared extern \"C\"?");
    if (problem->plain) /* one thread calls it once */
        launch = (kf_launch){.block = {1, 1, 1}, .grid = {1, 1, 1}};
    else
        KF_TRY(set_shape(problem, &plan->config, &launch, error));
    if (problem->portable || problem->plain)
        KF_TRY(pack_portable(t1, &launch, &arguments, error));
    else
        KF_TRY(pack_cuda(plan, t1, function, &arguments, error));
    kf_launch whole;
    kf_launch_set(&whole, problem->kernel_name, function, launch.block, arguments.bytes, arguments.length);
    memcpy(whole.grid, launch.grid, sizeof whole.grid);
    whole.shared_bytes = launch.shared_bytes;
    kf_plan_add_kernel(plan, &whole)->bytes = plan->least_bytes;
    return KF_OK;
}

static kf_status build(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    const kf_t1_problem *problem = t1->problem;
    plan->updates = (double)problem->size[0] * (double)problem->size[1] * (double)problem->size[2];
    KF_TRY(kf_t1_sources(plan->problem, &plan->config, NULL, load_module, plan, error));
    KF_TRY(make_buffers(plan, t1, error));
    return append_launch(plan, t1, error);
}

kf_status kf_t1_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                     kf_error *error) {
    kf_t1 *t1 = kf_allocate_zeroed(1, sizeof *t1);
    kf_plan *made = kf_plan_create(backend, problem, config, &methods, t1);
    t1->problem = problem->own;
    kf_status status = build(made, t1, error);
    if (status != KF_OK)
        kf_plan_free(made);
    else
        *plan = made;
    return status;
}

/* --- the reference kernel ------------------------------------------------------------------------------- */

/* Of 128 threads, long along X, but as many along Y as let a device have all of them in 65,535 blocks. */
static void shape_reference(const int extent[3], int block[3]) {
    enum { MOST_BLOCKS = 65535 };
    block[0] = 128;
    block[1] = block[2] = 1;
    while (block[0] > 1 && (extent[1] - 1) / block[1] >= MOST_BLOCKS) {
        block[0] /= 2;
        block[1] *= 2;
    }
}

static kf_status build_reference(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    const kf_t1_problem *problem = t1->problem;
    const kf_source source = {.file = problem->reference_file, .defines = problem->defines, .define_count = problem->define_count};
    const int extent[3] = {(int)problem->size[0], (int)problem->size[1], (int)problem->size[2]};
    kf_function *function = NULL;
    packed arguments = {.length = 0};
    int block[3];
    kf_launch launch;
    shape_reference(extent, block);
    KF_TRY(load_module(&source, plan, error));
    if (kf_module_function(plan->modules[0], problem->reference_name, &function, error) != KF_OK)
        return kf_fail_context(error, "is it a KF_KERNEL?");
    KF_TRY(make_buffers(plan, t1, error));
    KF_TRY(pack_struct(t1, extent, &arguments, error));
    kf_launch_set(&launch, problem->reference_name, function, block, arguments.bytes, arguments.length);
    kf_plan_add_kernel(plan, &launch);
    return KF_OK;
}

kf_status kf_t1_reference_plan(const kf_problem *problem, kf_backend *backend, kf_plan **plan,
                               kf_error *error) {
    const kf_t1_problem *own = problem->own;
    kf_t1 *t1 = kf_allocate_zeroed(1, sizeof *t1);
    kf_plan *made = kf_plan_create(backend, problem, &own->reference, &methods, t1);
    t1->problem = own;
    kf_status status = build_reference(made, t1, error);
    if (status != KF_OK)
        kf_plan_free(made);
    else
        *plan = made;
    return status;
}

kf_status kf_t1_download(kf_plan *plan, int argument, void **values, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    const size_t bytes =
        t1->problem->arguments[argument].count * t1->problem->arguments[argument].type->bytes;
    *values = kf_allocate(bytes);
    kf_status status = kf_buffer_download(t1->buffers[argument], 0, *values, bytes, error);
    if (status == KF_OK) return KF_OK;
    free(*values);
    *values = NULL;
    return status;
}
