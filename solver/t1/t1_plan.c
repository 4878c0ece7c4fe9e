/* Plans of the t1 system: one launch of the kernel a step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* The plan's own data. */
typedef struct kf_t1 {
    const kf_t1_problem *problem;
    /* NULL for scalars. */
    kf_buffer *buffers[KF_T1_ARGUMENTS];
    /* The number of components of each for this config. */
    size_t counts[KF_T1_ARGUMENTS];
    /* The bytes of guard before and after each. */
    size_t room;
} kf_t1;

/* --- Compiling ------------------------------------------------------------------------------------------ */

static void define_value(const kf_value *value, kf_define *define) {
    define->name = value->parameter;
    if (value->kind == KF_VALUE_NAME)
        (void)snprintf(define->value, sizeof define->value, "%s", value->name);
    else
        (void)snprintf(define->value, sizeof define->value, "%ld", value->integer);
}

/* Parameters, and what Kernel Tuner's kernels expect beside them. */
static kf_status define_all(const kf_t1_problem *problem, const kf_config *config, kf_define *defines,
                            int *count, kf_error *error) {
    static const char *const grid[] = {"grid_size_x", "grid_size_y", "grid_size_z"};
    *count = 0;
    for (int i = 0; i < config->count; i++)
        define_value(&config->values[i], &defines[(*count)++]);
    if (problem->language == KF_T1_PORTABLE) return KF_OK;
    defines[(*count)++] = (kf_define){"kernel_tuner", "1"};
    for (int axis = 0; axis < 3; axis++) {
        long blocks = 0;
        if (!problem->says_grid[axis]) continue;
        KF_TRY(kf_t1_evaluate(problem, grid[axis], problem->blocks[axis], config, 1, 2147483647, &blocks,
                              error));
        kf_define *define = &defines[(*count)++];
        define->name = grid[axis];
        (void)snprintf(define->value, sizeof define->value, "%ld", blocks);
    }
    return KF_OK;
}

/* Returns an option with the folder of headers that replace those of other platforms. */
static kf_status folder_option(char option[KF_PATH + 2], kf_error *error) {
    const char *data = NULL;
    KF_TRY(kf_data_folder(&data, error));
    (void)snprintf(option, KF_PATH + 2, "-I%s/kernels/t1", data);
    return KF_OK;
}

kf_status kf_t1_sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                        kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                        kf_error *error) {
    const kf_t1_problem *own = problem->own;
    kf_define defines[KF_CONFIG_VALUES + 5];
    const char *options[KF_T1_OPTIONS + 1];
    char file[KF_PATH], folder[KF_PATH + 2];
    const bool gpu = kf_t1_needs_gpu(own);
    kf_source source = {.file = file,
                        .defines = defines,
                        .name = gpu ? own->kernel_name : NULL,
                        .options = options,
                        .option_count = own->option_count,
                        .language = own->language == KF_T1_CXX ? KF_LANGUAGE_CXX : KF_LANGUAGE_C};
    KF_TRY(define_all(own, config, defines, &source.define_count, error));
    KF_TRY(kf_t1_source_file(own, file, error));
    for (int i = 0; i < own->option_count; i++)
        options[i] = own->options[i];
    if (gpu) {
        KF_TRY(folder_option(folder, error));
        options[source.option_count++] = folder;
    }
    if (kf_t1_is_plain(own)) {
        kf_define *threads = &defines[source.define_count++];
        threads->name = "KF_T1_THREADS";
        (void)snprintf(threads->value, sizeof threads->value, "%d", device->multiprocessors);
    }
    const kf_status status = visit(&source, data, error);
    return status == KF_OK || error == NULL ? status : kf_t1_explain(own, error);
}

static kf_status load_module(const kf_source *source, void *data, kf_error *error) {
    kf_module *module;
    return kf_plan_module(data, source, &module, error);
}

/* --- Arguments ------------------------------------------------------------------------------------------ */

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
            KF_TRY(pack(into, argument->initial, argument->count * argument->type.bytes,
                        argument->type.alignment, error));
        } else {
            const void *address = (const char *)kf_buffer_address(t1->buffers[i]) + t1->room;
            KF_TRY(pack(into, &address, sizeof address, sizeof address, error));
        }
    }
    return KF_OK;
}

/* Packs the struct that a portable kernel takes: the extent, all arguments, and padding up to its alignment.
 */
static kf_status pack_struct(const kf_t1 *t1, const int extent[3], packed *into, kf_error *error) {
    size_t alignment = sizeof extent[0];
    for (int i = 0; i < t1->problem->argument_count; i++) {
        const kf_t1_argument *argument = &t1->problem->arguments[i];
        const size_t own = argument->scalar ? argument->type.alignment : sizeof(void *);
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
                                           argument->count * argument->type.bytes, &reason);
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
        return kf_fail(error, KF_BAD_INPUT,
                       "%s takes parameters of %zu bytes, and the Arguments of %s come to %zu: does it have "
                       "others, or of other types?",
                       t1->problem->kernel_name, info.argument_bytes, t1->problem->file, all.length);
    if (takes_all || !missing) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "%s has no __constant__ variable for an argument whose MemType is Constant",
                   t1->problem->kernel_files[0]);
}

/* --- The plan ------------------------------------------------------------------------------------------- */

/* Returns the values of an argument of this config in a round. The caller frees them. */
static kf_status values_of(const kf_t1 *t1, int i, int round, void **values, kf_error *error) {
    const kf_t1_argument *argument = &t1->problem->arguments[i];
    *values = kf_allocate(t1->counts[i] * argument->type.bytes);
    const kf_status status = kf_t1_fill(t1->problem, argument, round, t1->counts[i], *values, error);
    if (status == KF_OK) return KF_OK;
    free(*values);
    *values = NULL;
    return status;
}

/* Uploads an argument. One that is longer for this config than for the default is filled for this config. */
static kf_status upload(const kf_t1 *t1, int i, kf_buffer *buffer, size_t offset, int round,
                        kf_error *error) {
    const kf_t1_argument *argument = &t1->problem->arguments[i];
    const size_t bytes = t1->counts[i] * argument->type.bytes;
    const bool other = round > 0 && argument->fill == KF_T1_RANDOM && !argument->constant;
    if (!other && t1->counts[i] <= argument->count)
        return kf_buffer_upload(buffer, offset, argument->initial, bytes, error);
    void *values = NULL;
    KF_TRY(values_of(t1, i, round, &values, error));
    const kf_status status = kf_buffer_upload(buffer, offset, values, bytes, error);
    free(values);
    return status;
}

/* Returns whether the whole argument is the kernel's to write. An answer that the author knows may count
 * on values that stay. */
static bool is_spoiled(const kf_t1_argument *argument) {
    return !argument->read && argument->answer == NULL;
}

kf_status kf_t1_spoil(kf_plan *plan, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    for (int i = 0; i < t1->problem->argument_count; i++)
        if (t1->buffers[i] != NULL) KF_TRY(kf_buffer_fill(t1->buffers[i], 0xFF, error));
    return KF_OK;
}

static kf_status initialise(kf_plan *plan, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    KF_TRY(kf_t1_spoil(plan, error));
    for (int i = 0; i < t1->problem->argument_count; i++)
        if (t1->buffers[i] != NULL && !is_spoiled(&t1->problem->arguments[i]))
            KF_TRY(upload(t1, i, t1->buffers[i], t1->room, 0, error));
    return KF_OK;
}

void kf_t1_free_masters(kf_t1_masters *masters) {
    for (int round = 0; round < KF_T1_ROUNDS; round++)
        for (int i = 0; i < KF_T1_ARGUMENTS; i++) {
            kf_buffer_free(masters->buffers[round][i]);
            masters->buffers[round][i] = NULL;
        }
    for (int kept = 0; kept < KF_T1_KEPT; kept++)
        for (int i = 0; i < KF_T1_ARGUMENTS; i++) {
            free(masters->outputs[kept][i]);
            masters->outputs[kept][i] = NULL;
        }
}

/* Restores an argument from the copy on the device, which is made at the first request. */
static kf_status restore(kf_plan *plan, kf_t1_masters *masters, int i, int round, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    const kf_t1_argument *argument = &t1->problem->arguments[i];
    const size_t bytes = t1->counts[i] * argument->type.bytes;
    /* A __constant__ variable is written once, when the plan is made. */
    const int which = argument->fill == KF_T1_RANDOM && !argument->constant ? round : 0;
    if (argument->size != NULL) return upload(t1, i, t1->buffers[i], t1->room, round, error);
    kf_buffer **master = &masters->buffers[which][i];
    if (*master == NULL) {
        KF_TRY(kf_buffer_create(plan->backend, bytes, master, error));
        KF_TRY(upload(t1, i, *master, 0, which, error));
    }
    const kf_copy copy = {.target = t1->buffers[i],
                          .source = *master,
                          .target_offset = t1->room,
                          .bytes = bytes,
                          .rows = 1,
                          .target_pitch = bytes,
                          .source_pitch = bytes};
    return kf_stream_copy(kf_backend_stream(plan->backend, KF_LANE_MAIN), &copy, error);
}

kf_status kf_t1_restore(kf_plan *plan, kf_t1_masters *masters, int round, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        if (t1->buffers[i] == NULL) continue;
        if (is_spoiled(&t1->problem->arguments[i]))
            KF_TRY(kf_buffer_fill(t1->buffers[i], 0xFF, error));
        else
            KF_TRY(restore(plan, masters, i, round, error));
    }
    return KF_OK;
}

/* Changes some values of the random inputs by a seed, so that no launch can return what another one has
 * computed. */
kf_status kf_t1_disturb(kf_plan *plan, uint64_t seed, kf_error *error) {
    enum { MOST = 1024, PLACES = 3 };
    const kf_t1 *t1 = plan->system;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        kf_t1_argument argument = t1->problem->arguments[i];
        if (t1->buffers[i] == NULL || argument.fill != KF_T1_RANDOM || !argument.read || argument.constant)
            continue;
        const size_t count = t1->counts[i] < MOST ? t1->counts[i] : MOST, size = argument.type.bytes;
        void *values = kf_allocate(count * size);
        argument.seed = seed + (uint64_t)i;
        kf_status status = kf_t1_fill(t1->problem, &argument, 1, count, values, error);
        for (size_t place = 0; place < PLACES && status == KF_OK; place++)
            status = kf_t1_upload(plan, i, (t1->counts[i] - count) * place / (PLACES - 1) * size, values,
                                  count * size, error);
        free(values);
        KF_TRY(status);
    }
    return KF_OK;
}

/* Checks the guards of one argument: finds the first changed byte before or behind it. */
static kf_status check_guard(const kf_t1 *t1, int i, bool behind, kf_error *error) {
    const kf_t1_argument *argument = &t1->problem->arguments[i];
    const size_t bytes = t1->counts[i] * argument->type.bytes;
    unsigned char *guard = kf_allocate(t1->room);
    kf_status status =
        kf_buffer_download(t1->buffers[i], behind ? t1->room + bytes : 0, guard, t1->room, error);
    size_t at = 0;
    while (status == KF_OK && at < t1->room && guard[at] == 0xFF)
        at++;
    free(guard);
    if (status != KF_OK || at == t1->room) return status;
    const size_t size = argument->type.bytes * (size_t)argument->type.components,
                 count = t1->counts[i] / (size_t)argument->type.components;
    const long long place =
        behind ? (long long)(count + at / size) : -(long long)((t1->room - at + size - 1) / size);
    return kf_fail(error, KF_GATE_FAILED, "%s writes %s '%s', which has %zu values: to %s[%lld]",
                   t1->problem->kernel_name, behind ? "past the end of" : "before", argument->name, count,
                   argument->name, place);
}

/* Finds in *at the first value of an argument that differs from before, or its count, piece by piece. */
static kf_status find_change(const kf_t1 *t1, int i, const void *before, size_t *at, kf_error *error) {
    enum { PIECE = 1 << 22 };
    const size_t size = t1->problem->arguments[i].type.bytes, all = t1->counts[i] * size;
    char *now = kf_allocate(all < PIECE ? all : PIECE);
    kf_status status = KF_OK;
    *at = t1->counts[i];
    for (size_t done = 0; done < all && status == KF_OK && *at == t1->counts[i]; done += PIECE) {
        const size_t bytes = all - done < PIECE ? all - done : PIECE;
        const char *was = (const char *)before + done;
        status = kf_buffer_download(t1->buffers[i], t1->room + done, now, bytes, error);
        if (status != KF_OK || memcmp(now, was, bytes) == 0) continue;
        size_t byte = 0;
        while (now[byte] == was[byte])
            byte++;
        *at = (done + byte) / size;
    }
    free(now);
    return status;
}

/* Finds a value of an input that has changed. The values of the default config exist; others are made again.
 */
static kf_status check_input(kf_plan *plan, int i, int round, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    const kf_t1_argument *argument = &t1->problem->arguments[i];
    const size_t count = t1->counts[i];
    const bool at_hand = round == 0 && count <= argument->count;
    void *made = NULL;
    size_t at = count;
    kf_status status = at_hand ? KF_OK : values_of(t1, i, round, &made, error);
    if (status == KF_OK) status = find_change(t1, i, at_hand ? argument->initial : made, &at, error);
    free(made);
    if (status != KF_OK || at == count) return status;
    return kf_fail(error, KF_GATE_FAILED, "%s writes to '%s', which is ReadOnly: value %zu has changed",
                   t1->problem->kernel_name, argument->name, at / (size_t)argument->type.components);
}

kf_status kf_t1_check(kf_plan *plan, int round, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    for (int i = 0; i < t1->problem->argument_count; i++) {
        if (t1->buffers[i] == NULL) continue;
        KF_TRY(check_guard(t1, i, false, error));
        KF_TRY(check_guard(t1, i, true, error));
        if (round >= 0 && !t1->problem->arguments[i].written) KF_TRY(check_input(plan, i, round, error));
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
        KF_TRY(kf_t1_count(t1->problem, argument, &plan->config, &t1->counts[i], error));
        const size_t bytes = t1->counts[i] * argument->type.bytes;
        if (argument->scalar) continue;
        KF_TRY(kf_plan_buffer(plan, bytes + 2 * t1->room, &t1->buffers[i], error));
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

/* Packs a portable kernel's arguments. Its extent comes first, in threads, and the backend computes the grid
 * from it. */
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

/* Appends the kernel's launch with its grid, block and arguments, as its language takes them. */
static kf_status append_launch(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    const kf_t1_problem *problem = t1->problem;
    kf_function *function = NULL;
    kf_launch launch = {.grid = {0}};
    packed arguments = {.length = 0};
    const bool plain = kf_t1_is_plain(problem), portable = problem->language == KF_T1_PORTABLE;
    const char *entry = plain ? kf_t1_plain_entry : problem->kernel_name;
    const kf_status status = kf_module_function(plan->modules[0], entry, &function, error);
    if (status != KF_OK) return portable ? kf_fail_context(error, "is it a KF_KERNEL?") : status;
    /* One thread calls it once. */
    if (plain)
        launch = (kf_launch){.block = {1, 1, 1}, .grid = {1, 1, 1}};
    else
        KF_TRY(set_shape(problem, &plan->config, &launch, error));
    if (portable || plain)
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
    KF_TRY(kf_t1_sources(plan->problem, &plan->config, kf_backend_device(plan->backend), load_module, plan,
                         error));
    KF_TRY(make_buffers(plan, t1, error));
    return append_launch(plan, t1, error);
}

/* --- The reference kernel ------------------------------------------------------------------------------- */

/* Chooses blocks of 128 threads, long along X, but with as many along Y as let a device have all of them
 * in 65,535 blocks. */
static void shape_reference(const int extent[3], int block[3]) {
    enum { MOST_BLOCKS = 65535 };
    block[0] = 128;
    block[1] = block[2] = 1;
    while (block[0] > 1 && (extent[1] - 1) / block[1] >= MOST_BLOCKS) {
        block[0] /= 2;
        block[1] *= 2;
    }
}

/* Builds the plan of a reference kernel, one item of the problem's size after the other. */
static kf_status build_reference(kf_plan *plan, kf_t1 *t1, kf_error *error) {
    const kf_t1_problem *problem = t1->problem;
    const char *options[KF_T1_OPTIONS];
    kf_source source = {.file = problem->reference_file, .options = options};
    /* Other options are for the kernel's own language. */
    for (int i = 0; i < problem->option_count; i++)
        if (strncmp(problem->options[i], "-D", 2) == 0) options[source.option_count++] = problem->options[i];
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

/* --- Making them ---------------------------------------------------------------------------------------- */

kf_status kf_t1_plan_with_room(const kf_problem *problem, const kf_config *config, size_t room,
                               kf_backend *backend, kf_plan **plan, kf_error *error) {
    const kf_t1_problem *own = problem->own;
    kf_t1 *t1 = kf_allocate_zeroed(1, sizeof *t1);
    kf_plan *made = kf_plan_create(backend, problem, config != NULL ? config : &own->reference, &methods, t1);
    t1->problem = own;
    t1->room = room;
    const kf_status status = (config != NULL ? build : build_reference)(made, t1, error);
    return kf_plan_built(made, status, plan);
}

kf_status kf_t1_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                     kf_error *error) {
    return kf_t1_plan_with_room(problem, config, KF_T1_GUARD, backend, plan, error);
}

size_t kf_t1_count_of(const kf_plan *plan, int argument) {
    return ((const kf_t1 *)plan->system)->counts[argument];
}

kf_status kf_t1_upload(kf_plan *plan, int argument, size_t offset, const void *data, size_t bytes,
                       kf_error *error) {
    const kf_t1 *t1 = plan->system;
    return kf_buffer_upload(t1->buffers[argument], t1->room + offset, data, bytes, error);
}

kf_status kf_t1_download(kf_plan *plan, int argument, void **values, kf_error *error) {
    const kf_t1 *t1 = plan->system;
    const size_t bytes = t1->counts[argument] * t1->problem->arguments[argument].type.bytes;
    const bool own = *values == NULL;
    if (own) *values = kf_allocate(bytes);
    const kf_status status = kf_buffer_download(t1->buffers[argument], t1->room, *values, bytes, error);
    if (status == KF_OK || !own) return status;
    free(*values);
    *values = NULL;
    return status;
}
