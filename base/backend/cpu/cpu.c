/* The cpu backend. The host compiler builds kernels as shared objects, and threads run them. The threads
 * start at the first launch, so the process may fork before it. */
#include "base/backend/cpu/cpu.h"

#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/cpu/partial.h"
#include "base/backend/cpu/queue.h"
#include "base/backend/cpu/threads.h"
#include "base/backend/internal.h"
#include "base/util/clock.h"
#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Blocks first .. last - 1 of a launch, x fastest. */
typedef void kf_cpu_entry(const int *block, int64_t first, int64_t last, const void *arguments);

typedef struct cpu_backend {
    kf_backend base;
    uint64_t allocated; /* bytes in live buffers, some of which may not be written yet */
    kf_cpu_memory memory;
    kf_cpu_threads *threads; /* NULL before the first launch */
    bool bind;               /* each of its threads is bound to a processor */
    struct cpu_graph *graph; /* the graph that is being made, or NULL */
} cpu_backend;

typedef struct cpu_buffer {
    kf_buffer base;
    size_t mapped;       /* bytes of a buffer that processes share, or 0 */
    kf_partial *partial; /* or NULL */
} cpu_buffer;

typedef struct cpu_function {
    kf_function base;
    kf_cpu_entry *entry;
    struct cpu_function *next;
} cpu_function;

typedef struct cpu_module {
    kf_module base;
    void *library;
    cpu_function *functions;
    char file[256];
} cpu_module;

typedef struct cpu_event {
    kf_event base;
    bool recorded;
    struct timespec time;
} cpu_event;

typedef struct cpu_graph {
    kf_graph base;
    kf_cpu_work *works;
    size_t count, capacity;
} cpu_graph;

static const char extension[] = "so";

/* --- Compiling ---------------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* Returns whether the folder of a file is mounted noexec. */
static bool is_on_noexec(const char *path) {
    char folder[KF_PATH];
    kf_copy_text(folder, sizeof folder, path);
    return kf_folder_is_noexec(dirname(folder));
}

static kf_status refuse_noexec(const char *path, kf_error *error) {
    return kf_fail(error, KF_HOST,
                   "%s: kernels cannot be loaded from there, it is mounted noexec; set XDG_CACHE_HOME to a "
                   "folder that is not",
                   path);
}

/* Builds into the cache, through a temporary file that no other process sees. */
static kf_status build_into_cache(const kf_host_compiler *compiler, const kf_source *source, const char *key,
                                  kf_error *error) {
    char output[KF_PATH], *data = NULL;
    size_t size = 0;
    KF_TRY(kf_cache_temporary(output, extension, error));
    if (is_on_noexec(output)) return refuse_noexec(output, error);
    kf_status status = kf_host_compile(compiler, source, output, error);
    if (status == KF_OK && kf_file_read(output, 0, &data, &size, error) != KF_OK)
        status = kf_fail(error, KF_HOST, "%s: the compiled kernel is no longer in the cache", source->file);
    if (status == KF_OK) status = kf_cache_put(key, extension, data, size, error);
    free(data);
    unlink(output);
    /* Not every linker reports why it fails. */
    if (status != KF_OK && kf_cache_try(NULL) != KF_OK) return kf_cache_try(error);
    return status;
}

/* Finds the shared object of source in the cache, or builds it. rebuild: builds it in any case. */
static kf_status provide(const kf_source *source, bool rebuild, char path[KF_PATH], kf_build *build,
                         kf_error *error) {
    kf_host_compiler compiler;
    struct timespec start;
    memset(build, 0, sizeof *build);
    KF_TRY(kf_host_compiler_find(&compiler, error));
    char identity[KF_COMMAND + 256];
    snprintf(identity, sizeof identity, "%s\n%s", compiler.command, compiler.version);
    KF_TRY(kf_cache_key(source, identity, kf_host_compiler_flags, compiler.architecture, build->hash, error));
    build->cached = !rebuild && kf_cache_find(build->hash, extension, path);
    if (build->cached) return KF_OK;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const int claim = kf_cache_claim(build->hash);
    /* Another process may have built it meanwhile. */
    build->cached = !rebuild && kf_cache_find(build->hash, extension, path);
    const kf_status status = build->cached ? KF_OK : build_into_cache(&compiler, source, build->hash, error);
    kf_cache_release(claim);
    if (build->cached) return KF_OK;
    KF_TRY(status);
    build->seconds = seconds_since(&start);
    if (kf_cache_find(build->hash, extension, path)) return KF_OK;
    return kf_fail(error, KF_HOST,
                   "%s: the kernel just built has gone from the cache; is KFTUNE_CACHE_LIMIT too small?",
                   source->file);
}

kf_status kf_cpu_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                          kf_error *error) {
    char path[KF_PATH];
    (void)info; /* kernels for the cpu are built where they run */
    return provide(source, false, path, build, error);
}

/* Keeps OpenMP libraries loaded. Their threads outlive the module that loaded them. */
static void keep_openmp(void) {
    static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *there = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (there != NULL) (void)dlclose(there);
    }
}

static kf_status cpu_module_load(kf_backend *backend, const kf_source *source, kf_module **module,
                                 kf_build *build, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(provide(source, false, path, build, error));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && build->cached) { /* another process may have removed it since it was found */
        KF_TRY(provide(source, true, path, build, error));
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) {
        const char *reason = dlerror();
        if (is_on_noexec(path)) return refuse_noexec(path, error);
        return kf_fail(error, KF_HOST, "%s cannot be loaded: %s", source->file,
                       reason != NULL ? reason : path);
    }
    if (source->option_count > 0) keep_openmp();
    cpu_module *loaded = kf_allocate_zeroed(1, sizeof *loaded);
    loaded->base.backend = backend;
    loaded->library = library;
    kf_copy_text(loaded->file, sizeof loaded->file, source->file);
    *module = &loaded->base;
    return KF_OK;
}

static void cpu_module_free(kf_module *module) {
    cpu_module *loaded = (cpu_module *)module;
    for (cpu_function *function = loaded->functions, *next; function != NULL; function = next) {
        next = function->next;
        free(function);
    }
    dlclose(loaded->library);
    free(loaded);
}

/* Returns whether symbol lies in library itself: dlsym also finds what its libraries define. */
static bool defined_in(void *library, const void *symbol) {
    struct link_map *map = NULL;
    Dl_info where;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && dladdr(symbol, &where) != 0 &&
           (uintptr_t)where.dli_fbase == (uintptr_t)map->l_addr;
}

static kf_status cpu_module_function(kf_module *module, const char *name, kf_function **function,
                                     kf_error *error) {
    cpu_module *loaded = (cpu_module *)module;
    void *symbol = dlsym(loaded->library, name);
    if (symbol == NULL || !defined_in(loaded->library, symbol))
        return kf_fail(error, KF_BAD_INPUT, "%s has no kernel named %s", loaded->file, name);
    cpu_function *found = kf_allocate_zeroed(1, sizeof *found);
    found->base.module = module;
    memcpy(&found->entry, &symbol, sizeof symbol); /* ISO C has no cast from object to function pointers */
    found->next = loaded->functions;
    loaded->functions = found;
    *function = &found->base;
    return KF_OK;
}

static void cpu_function_describe(const kf_function *function, kf_function_info *info) {
    info->max_threads = function->module->backend->device.max_threads_per_block;
}

static int cpu_function_resident_blocks(const kf_function *function, int threads_per_block,
                                        size_t shared_bytes) {
    (void)shared_bytes;
    return threads_per_block <= function->module->backend->device.max_threads_per_block;
}

/* --- Doing ------------------------------------------------------------------------------------------ */

static void run_blocks(const void *work, int64_t first, int64_t last) {
    const kf_launch *launch = work;
    ((const cpu_function *)launch->function)->entry(launch->block, first, last, launch->arguments);
}

static kf_status run_launch(kf_backend *backend, const kf_launch *launch, kf_error *error) {
    cpu_backend *cpu = (cpu_backend *)backend;
    int extent[3];
    int64_t blocks = 1;
    kf_launch_extent(launch, extent);
    for (int axis = 0; axis < 3; axis++)
        blocks *= (extent[axis] + launch->block[axis] - 1) / launch->block[axis];
    if (cpu->threads == NULL)
        KF_TRY(kf_cpu_threads_start(backend->device.multiprocessors, cpu->bind, &cpu->threads, error));
    kf_cpu_threads_run(cpu->threads, run_blocks, launch, blocks);
    return kf_partial_oversteps(launch->name, error);
}

static kf_status run_copy(const kf_copy *copy, kf_error *error) {
    for (size_t row = 0; row < copy->rows; row++)
        memmove((char *)copy->target->address + copy->target_offset + row * copy->target_pitch,
                (const char *)copy->source->address + copy->source_offset + row * copy->source_pitch,
                copy->bytes);
    return kf_partial_oversteps("a copy", error);
}

static void fill(kf_buffer *buffer, unsigned char byte) {
    const cpu_buffer *own = (const cpu_buffer *)buffer;
    if (own->partial != NULL)
        kf_partial_fill(own->partial, byte);
    else
        memset(buffer->address, byte, buffer->bytes);
}

static kf_status run_work(const kf_cpu_work *work, kf_error *error) {
    if (work->launch != NULL) return run_launch(work->stream->backend, work->launch, error);
    if (work->enqueue != NULL) return work->enqueue(work->object, work->stream, error);
    if (work->filled == NULL) return run_copy(&work->copy, error);
    fill(work->filled, work->byte);
    return KF_OK;
}

/* Does what streams were given, which must be done before anything else happens. */
static kf_status settle(kf_error *error) {
    return kf_cpu_shuffles() ? kf_cpu_queue_drain(run_work, error) : KF_OK;
}

/* --- Memory ------------------------------------------------------------------------------------------- */

kf_buffer *kf_cpu_buffer_of(kf_backend *backend, void *address, size_t bytes, size_t mapped) {
    cpu_buffer *created = kf_allocate_zeroed(1, sizeof *created);
    created->base = (kf_buffer){.backend = backend, .bytes = bytes, .address = address};
    created->mapped = mapped;
    return &created->base;
}

/* Creates a buffer in the host's memory, with huge pages where it is large, if so much is free. */
static kf_status cpu_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    enum { CACHE_LINE = 64, HUGE_PAGE = 2 << 20 };
    cpu_backend *cpu = (cpu_backend *)backend;
    /* The system grants memory that it does not have, and later kills programs that use it. Buffers that are
     * not yet written still count as available, hence the second condition. */
    const uint64_t available = kf_cpu_available_for(&cpu->memory, bytes),
                   at_first = backend->device.memory_free_bytes;
    const bool huge = bytes >= 2 * (size_t)HUGE_PAGE;
    void *address = NULL;
    char wanted[32], left[32];
    if (bytes > available || bytes > at_first || cpu->allocated > at_first - bytes ||
        posix_memalign(&address, huge ? HUGE_PAGE : CACHE_LINE, bytes + KF_GUARD_BYTES) != 0)
        return kf_fail(error, KF_MACHINE,
                       "out of memory: a buffer of %s does not fit, %s are available; use a smaller grid",
                       kf_human_bytes((double)bytes, wanted), kf_human_bytes((double)available, left));
    if (huge) (void)madvise(address, bytes, MADV_HUGEPAGE); /* faster where it is allowed */
    /* Some tests leave out awaits and then read data that is not written yet. Data of an earlier plan could
     * be a place that the lists of this one do not have. All lists have place 0. */
    if (kf_cpu_shuffles()) memset(address, 0, bytes + KF_GUARD_BYTES);
    cpu->allocated += bytes;
    *buffer = kf_cpu_buffer_of(backend, address, bytes, 0);
    return KF_OK;
}

static void cpu_buffer_free(kf_buffer *buffer) {
    cpu_buffer *own = (cpu_buffer *)buffer;
    kf_error ignored;
    (void)settle(&ignored); /* a fill of it may still be queued */
    if (own->partial != NULL) {
        kf_partial_free(own->partial);
    } else if (own->mapped > 0) {
        munmap(buffer->address, own->mapped);
    } else {
        ((cpu_backend *)buffer->backend)->allocated -= buffer->bytes;
        free(buffer->address);
    }
    free(own);
}

static kf_status cpu_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                    int count, kf_buffer **buffer, kf_error *error) {
    kf_partial *partial;
    KF_TRY(kf_partial_make(bytes, period, kept, count, &partial, error));
    *buffer = kf_cpu_buffer_of(backend, partial->address, bytes, 0);
    ((cpu_buffer *)*buffer)->partial = partial;
    return KF_OK;
}

static kf_status cpu_buffer_check(const kf_buffer *buffer, kf_error *error) {
    const cpu_buffer *own = (const cpu_buffer *)buffer;
    return own->partial != NULL ? kf_partial_check(own->partial, error) : KF_OK;
}

/* Fills a buffer. With queues the fill is work of the main lane, because other lanes may still have work. */
static kf_status cpu_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error) {
    (void)error;
    if (!kf_cpu_shuffles()) {
        fill(buffer, byte);
        return KF_OK;
    }
    kf_cpu_queue_put(&(kf_cpu_work){
        .stream = kf_backend_stream(buffer->backend, KF_LANE_MAIN), .filled = buffer, .byte = byte});
    return KF_OK;
}

static kf_status cpu_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                                   kf_error *error) {
    KF_TRY(settle(error));
    memcpy((char *)buffer->address + offset, data, bytes);
    return kf_partial_oversteps("an upload", error);
}

static kf_status cpu_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                                     kf_error *error) {
    KF_TRY(settle(error));
    memcpy(data, (const char *)buffer->address + offset, bytes);
    return kf_partial_oversteps("a download", error);
}

static kf_status cpu_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error) {
    KF_TRY(settle(error));
    memcpy(target->address, source->address, bytes);
    return kf_partial_oversteps("a copy", error);
}

/* --- Launching ---------------------------------------------------------------------------------------- */

/* Returns space for one more work in the graph that is being made, or NULL without a graph. */
static kf_cpu_work *keep(kf_stream *stream) {
    cpu_graph *graph = ((cpu_backend *)stream->backend)->graph;
    if (graph == NULL) return NULL;
    graph->works = kf_grow(graph->works, graph->count, &graph->capacity, sizeof *graph->works);
    kf_cpu_work *work = &graph->works[graph->count++];
    *work = (kf_cpu_work){.stream = stream};
    return work;
}

static kf_status cpu_launch(kf_stream *stream, const kf_launch *launch, kf_error *error) {
    kf_cpu_work *work = keep(stream), put = {.stream = stream};
    if (work == NULL && !kf_cpu_shuffles()) return run_launch(stream->backend, launch, error);
    kf_launch *copy = kf_allocate(sizeof *launch);
    *copy = *launch;
    put.launch = copy;
    if (work != NULL)
        *work = put;
    else
        kf_cpu_queue_put(&put);
    return KF_OK;
}

static kf_status cpu_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error) {
    const kf_cpu_work put = {.stream = stream, .enqueue = enqueue, .object = object};
    kf_cpu_work *work = keep(stream);
    if (work == NULL && !kf_cpu_shuffles()) return enqueue(object, stream, error);
    if (work != NULL)
        *work = put;
    else
        kf_cpu_queue_put(&put);
    return KF_OK;
}

static kf_status cpu_copy(kf_stream *stream, const kf_copy *copy, kf_error *error) {
    const kf_cpu_work put = {.stream = stream, .copy = *copy};
    kf_cpu_work *work = keep(stream);
    if (work == NULL && !kf_cpu_shuffles()) return run_copy(copy, error);
    if (work != NULL)
        *work = put;
    else
        kf_cpu_queue_put(&put);
    return KF_OK;
}

static kf_status cpu_synchronize(kf_backend *backend, kf_error *error) {
    (void)backend;
    return settle(error); /* usually all work has ended when the call returns */
}

static kf_status cpu_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error) {
    (void)error;
    kf_cpu_mark *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    *mark = &made->base;
    return KF_OK;
}

static void cpu_mark_free(kf_mark *mark) {
    free(mark);
}

/* Signals and awaits: where there are no queues what comes later is done later. */
static kf_status cpu_signal(kf_stream *stream, kf_mark *mark, kf_error *error) {
    (void)error;
    kf_cpu_mark *own = (kf_cpu_mark *)mark;
    if (!kf_cpu_shuffles() || ((cpu_backend *)stream->backend)->graph != NULL) return KF_OK;
    own->given++;
    const kf_cpu_work put = {.stream = stream, .signal = own};
    kf_cpu_queue_put(&put);
    return KF_OK;
}

static kf_status cpu_await(kf_stream *stream, kf_mark *mark, kf_error *error) {
    (void)error;
    kf_cpu_mark *own = (kf_cpu_mark *)mark;
    if (!kf_cpu_shuffles() || ((cpu_backend *)stream->backend)->graph != NULL) return KF_OK;
    const kf_cpu_work put = {.stream = stream, .await = own, .target = own->given};
    kf_cpu_queue_put(&put);
    return KF_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is a backend's; it is written */
static kf_status cpu_raise(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error) {
    (void)stream;
    KF_TRY(settle(error));
    __atomic_store_n(flag, count, __ATOMIC_RELEASE);
    return KF_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is a backend's */
static kf_status cpu_await_flag(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error) {
    KF_TRY(settle(error));
    for (int looks = 0; (int32_t)(__atomic_load_n(flag, __ATOMIC_ACQUIRE) - count) < 0;
         looks += looks < 1 << 20) {
        if (stream->backend->look != NULL) KF_TRY(stream->backend->look(error));
        kf_clock_rest(looks);
    }
    return KF_OK;
}

static void cpu_graph_free(kf_graph *graph) {
    cpu_graph *sequence = (cpu_graph *)graph;
    for (size_t i = 0; i < sequence->count; i++)
        free(sequence->works[i].launch);
    free(sequence->works);
    free(sequence);
}

static kf_status cpu_graph_begin(kf_backend *backend, kf_error *error) {
    (void)error;
    cpu_graph *graph = kf_allocate_zeroed(1, sizeof *graph);
    graph->base.backend = backend;
    ((cpu_backend *)backend)->graph = graph;
    return KF_OK;
}

static kf_status cpu_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error) {
    (void)error;
    cpu_backend *own = (cpu_backend *)backend;
    if (graph != NULL)
        *graph = &own->graph->base;
    else
        cpu_graph_free(&own->graph->base);
    own->graph = NULL;
    return KF_OK;
}

static kf_status cpu_graph_launch(kf_graph *graph, kf_error *error) {
    const cpu_graph *sequence = (const cpu_graph *)graph;
    KF_TRY(settle(error));
    for (size_t i = 0; i < sequence->count; i++)
        KF_TRY(run_work(&sequence->works[i], error));
    return KF_OK;
}

static kf_status cpu_event_create(kf_backend *backend, kf_event **event, kf_error *error) {
    (void)error;
    cpu_event *created = kf_allocate_zeroed(1, sizeof *created);
    created->base.backend = backend;
    *event = &created->base;
    return KF_OK;
}

static void cpu_event_free(kf_event *event) {
    free(event);
}

static kf_status cpu_event_record(kf_event *event, kf_error *error) {
    cpu_event *recorded = (cpu_event *)event;
    KF_TRY(settle(error));
    recorded->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &recorded->time);
    return KF_OK;
}

static kf_status cpu_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                                      kf_error *error) {
    const cpu_event *first = (const cpu_event *)start, *last = (const cpu_event *)stop;
    if (!first->recorded || !last->recorded)
        return kf_fail(error, KF_BAD_INPUT, "a time was asked for between events that were not recorded");
    *microseconds = 1e6 * (double)(last->time.tv_sec - first->time.tv_sec) +
                    1e-3 * (double)(last->time.tv_nsec - first->time.tv_nsec);
    return KF_OK;
}

static void cpu_device_state(kf_backend *backend, kf_device_state *state) {
    (void)backend;
    state->sm_clock_mhz = kf_cpu_clock_mhz();
    state->energy_j = kf_cpu_energy_joules();
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static void cpu_close(kf_backend *backend) {
    kf_cpu_threads_stop(((cpu_backend *)backend)->threads);
    free(backend);
}

static const kf_backend_methods cpu_methods = {
    .close = cpu_close,
    .module_load = cpu_module_load,
    .module_free = cpu_module_free,
    .module_function = cpu_module_function,
    .function_describe = cpu_function_describe,
    .function_resident_blocks = cpu_function_resident_blocks,
    .buffer_create = cpu_buffer_create,
    .buffer_partial = cpu_buffer_partial,
    .buffer_check = cpu_buffer_check,
    .buffer_free = cpu_buffer_free,
    .buffer_fill = cpu_buffer_fill,
    .buffer_upload = cpu_buffer_upload,
    .buffer_download = cpu_buffer_download,
    .buffer_copy = cpu_buffer_copy,
    .launch = cpu_launch,
    .call = cpu_call,
    .copy = cpu_copy,
    .synchronize = cpu_synchronize,
    .mark_create = cpu_mark_create,
    .mark_free = cpu_mark_free,
    .signal = cpu_signal,
    .await = cpu_await,
    .raise = cpu_raise,
    .await_flag = cpu_await_flag,
    .graph_begin = cpu_graph_begin,
    .graph_end = cpu_graph_end,
    .graph_launch = cpu_graph_launch,
    .graph_free = cpu_graph_free,
    .event_create = cpu_event_create,
    .event_free = cpu_event_free,
    .event_record = cpu_event_record,
    .event_elapsed_us = cpu_event_elapsed_us,
    .device_state = cpu_device_state,
};

/* Opens the cpu as a device with so many threads (0: all that the process may use). */
kf_status kf_cpu_open(int threads, const kf_team_methods *team, kf_backend **backend, kf_error *error) {
    *backend = NULL;
    kf_device_info device;
    KF_TRY(kf_cpu_device_describe(&device, error));
    const int usable = device.multiprocessors;
    if (threads > 0) {
        device.multiprocessors = threads;
        snprintf(device.spec, sizeof device.spec, "cpu:%d", threads);
    }
    cpu_backend *opened = kf_allocate_zeroed(1, sizeof *opened);
    kf_backend_begin(&opened->base, &cpu_methods, team);
    opened->base.device = device;
    opened->bind = device.multiprocessors == usable; /* or else the system chooses the processors */
    *backend = &opened->base;
    return KF_OK;
}
