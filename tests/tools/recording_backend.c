#include "tests/tools/recording_backend.h"

#include <stdlib.h>
#include <string.h>

#include "base/backend/internal.h"
#include "base/util/memory.h"

const kf_device_info recording_host = {.backend = "cpu",
                                       .spec = "cpu:1",
                                       .name = "test",
                                       .multiprocessors = 1,
                                       .warp_size = 8,
                                       .max_threads_per_block = 1024,
                                       .l2_bytes = (uint64_t)32 << 20,
                                       .memory_bytes = (uint64_t)16 << 30};

typedef struct recording_backend {
    kf_backend base;
    recording recording;
    recorded_work outside; /* of a graph that is being made: the counts before it */
} recording_backend;

typedef struct recorded_function {
    kf_function base;
    struct recorded_function *next;
} recorded_function;

typedef struct recorded_module {
    kf_module base;
    recorded_function *functions;
    kf_source source; /* with copies of what it points to, except its file's name */
    kf_defines defines;
} recorded_module;

typedef struct recorded_graph {
    kf_graph base;
    recorded_work work; /* each time that it is launched */
} recorded_graph;

typedef struct recorded_event {
    kf_event base;
    double clock_us;
} recorded_event;

static recording_backend *of(kf_backend *backend) {
    return (recording_backend *)backend;
}

recording *recording_of(kf_backend *backend) {
    return &of(backend)->recording;
}

static void close_backend(kf_backend *backend) {
    free(backend);
}

/* --- Modules ---------------------------------------------------------------------------------------------
 */

static kf_status load_module(kf_backend *backend, const kf_source *source, kf_module **module,
                             kf_build *build, kf_error *error) {
    (void)error;
    recording *r = recording_of(backend);
    recorded_module *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    *module = &made->base;
    for (int i = 0; i < source->define_count; i++)
        made->defines.list[i] = source->defines[i];
    made->source = *source;
    made->source.defines = made->defines.list;
    memset(build, 0, sizeof *build);
    memset(build->hash, 'a', KF_HASH_HEX - 1);
    r->work.modules++;
    if (r->sources == NULL) return KF_OK;
    kf_text_append(r->sources, "  %s", source->file);
    for (int i = 0; i < source->define_count; i++)
        kf_text_append(r->sources, " %s=%s", source->defines[i].name, source->defines[i].value);
    kf_text_append(r->sources, "\n");
    return KF_OK;
}

static void free_module(kf_module *module) {
    recorded_module *made = (recorded_module *)module;
    for (recorded_function *f = made->functions, *next; f != NULL; f = next) {
        next = f->next;
        free(f);
    }
    free(made);
}

static kf_status find_function(kf_module *module, const char *name, kf_function **function, kf_error *error) {
    (void)name;
    (void)error;
    recorded_module *made = (recorded_module *)module;
    recorded_function *f = kf_allocate_zeroed(1, sizeof *f);
    f->base.module = module;
    f->next = made->functions;
    made->functions = f;
    *function = &f->base;
    recording_of(module->backend)->work.functions++;
    return KF_OK;
}

static void describe(const kf_function *function, kf_function_info *info) {
    info->registers = 32;
    info->max_threads = function->module->backend->device.max_threads_per_block;
}

static int resident_blocks(const kf_function *function, int threads_per_block, size_t shared_bytes) {
    const recording *r = recording_of(function->module->backend);
    if (r->resident != NULL)
        return r->resident(&((const recorded_module *)function->module)->source, threads_per_block,
                           shared_bytes);
    return threads_per_block <= 2048 ? 2048 / threads_per_block : 0;
}

/* --- Memory ----------------------------------------------------------------------------------------------
 */

static kf_status create_buffer(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    const size_t most = recording_of(backend)->most_bytes;
    if (most > 0 && bytes > most) return kf_fail(error, KF_MACHINE, "out of memory");
    *buffer = kf_allocate_zeroed(1, sizeof **buffer);
    **buffer = (kf_buffer){
        .backend = backend, .bytes = bytes, .address = kf_allocate_zeroed(bytes + KF_GUARD_BYTES, 1)};
    return KF_OK;
}

static kf_status create_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                int count, kf_buffer **buffer, kf_error *error) {
    (void)period;
    (void)kept;
    (void)count;
    return create_buffer(backend, bytes, buffer, error);
}

static kf_status create_spread(kf_backend *const *parts, int count, size_t bytes, size_t period,
                               const size_t *ends, kf_buffer **buffer, kf_error *error) {
    (void)count;
    (void)period;
    (void)ends;
    return create_buffer(parts[0], bytes, buffer, error);
}

static void free_buffer(kf_buffer *buffer) {
    free(buffer->address);
    free(buffer);
}

static char *at(const kf_buffer *buffer, size_t offset) {
    return (char *)buffer->address + offset;
}

static kf_status fill_buffer(kf_buffer *buffer, unsigned char byte, kf_error *error) {
    (void)error;
    memset(buffer->address, byte, buffer->bytes);
    recording_of(buffer->backend)->work.fills++;
    return KF_OK;
}

static kf_status upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes, kf_error *error) {
    (void)error;
    memcpy(at(buffer, offset), data, bytes);
    return KF_OK;
}

static kf_status download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes, kf_error *error) {
    (void)error;
    if (recording_of(buffer->backend)->no_numbers)
        memset(data, 0xff, bytes);
    else
        memcpy(data, at(buffer, offset), bytes);
    return KF_OK;
}

static kf_status copy_buffer(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error) {
    (void)error;
    memmove(target->address, source->address, bytes);
    return KF_OK;
}

/* --- Work ------------------------------------------------------------------------------------------------
 */

static void take_time(kf_backend *backend, uint64_t launches) {
    recording *r = recording_of(backend);
    if (!backend->capturing) r->clock_us += (double)launches * r->launch_us;
}

static kf_status launch(kf_stream *stream, const kf_launch *item, kf_error *error) {
    recording *r = recording_of(stream->backend);
    if (r->failing != NULL && strcmp(r->failing, item->name) == 0)
        return kf_fail(error, KF_MACHINE, "%s failed", item->name);
    r->work.launches++;
    take_time(stream->backend, 1);
    return KF_OK;
}

static kf_status call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error) {
    (void)enqueue;
    (void)object;
    (void)error;
    recording_of(stream->backend)->work.calls++;
    take_time(stream->backend, 1);
    return KF_OK;
}

static kf_status copy(kf_stream *stream, const kf_copy *item, kf_error *error) {
    (void)item;
    (void)error;
    recording_of(stream->backend)->work.copies++;
    return KF_OK;
}

static kf_status synchronize(kf_backend *backend, kf_error *error) {
    (void)error;
    recording_of(backend)->work.synchronized++;
    return KF_OK;
}

static kf_status create_mark(kf_backend *backend, kf_mark **mark, kf_error *error) {
    (void)error;
    *mark = kf_allocate_zeroed(1, sizeof **mark);
    (*mark)->backend = backend;
    return KF_OK;
}

static void free_mark(kf_mark *mark) {
    free(mark);
}

static kf_status signal_mark(kf_stream *stream, kf_mark *mark, kf_error *error) {
    (void)mark;
    (void)error;
    recording_of(stream->backend)->work.signals++;
    return KF_OK;
}

static kf_status await_mark(kf_stream *stream, kf_mark *mark, kf_error *error) {
    (void)mark;
    (void)error;
    recording_of(stream->backend)->work.awaits++;
    return KF_OK;
}

/* --- Graphs and events -----------------------------------------------------------------------------------
 */

static kf_status begin_graph(kf_backend *backend, kf_error *error) {
    (void)error;
    of(backend)->outside = recording_of(backend)->work;
    return KF_OK;
}

/* A graph only records: its work has not been done. */
static kf_status end_graph(kf_backend *backend, kf_graph **graph, kf_error *error) {
    (void)error;
    recording *r = recording_of(backend);
    const recorded_work inside = r->work;
    r->work = of(backend)->outside;
    if (graph == NULL) return KF_OK;
    r->work.graphs_made++;
    recorded_graph *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    made->work.launches = inside.launches - r->work.launches;
    made->work.calls = inside.calls - r->work.calls;
    made->work.copies = inside.copies - r->work.copies;
    *graph = &made->base;
    return KF_OK;
}

static kf_status launch_graph(kf_graph *graph, kf_error *error) {
    (void)error;
    const recorded_graph *made = (const recorded_graph *)graph;
    recorded_work *work = &recording_of(graph->backend)->work;
    work->graphs_launched++;
    work->launches += made->work.launches;
    work->calls += made->work.calls;
    work->copies += made->work.copies;
    take_time(graph->backend, made->work.launches + made->work.calls);
    return KF_OK;
}

static void free_graph(kf_graph *graph) {
    free(graph);
}

static kf_status create_event(kf_backend *backend, kf_event **event, kf_error *error) {
    (void)error;
    recorded_event *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    *event = &made->base;
    return KF_OK;
}

static void free_event(kf_event *event) {
    free(event);
}

static kf_status record_event(kf_event *event, kf_error *error) {
    (void)error;
    recording *r = recording_of(event->backend);
    ((recorded_event *)event)->clock_us = r->clock_us;
    r->work.events++;
    return KF_OK;
}

static kf_status elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                            kf_error *error) {
    (void)error;
    *microseconds = ((const recorded_event *)stop)->clock_us - ((const recorded_event *)start)->clock_us;
    return KF_OK;
}

static void read_state(kf_backend *backend, kf_device_state *state) {
    (void)backend;
    state->throttle_reasons = 0; /* unknown */
}

static const kf_backend_methods methods = {.close = close_backend,
                                           .module_load = load_module,
                                           .module_free = free_module,
                                           .module_function = find_function,
                                           .function_describe = describe,
                                           .function_resident_blocks = resident_blocks,
                                           .buffer_create = create_buffer,
                                           .buffer_partial = create_partial,
                                           .buffer_free = free_buffer,
                                           .buffer_fill = fill_buffer,
                                           .buffer_upload = upload,
                                           .buffer_download = download,
                                           .buffer_copy = copy_buffer,
                                           .launch = launch,
                                           .call = call,
                                           .copy = copy,
                                           .synchronize = synchronize,
                                           .mark_create = create_mark,
                                           .mark_free = free_mark,
                                           .signal = signal_mark,
                                           .await = await_mark,
                                           .graph_begin = begin_graph,
                                           .graph_end = end_graph,
                                           .graph_launch = launch_graph,
                                           .graph_free = free_graph,
                                           .event_create = create_event,
                                           .event_free = free_event,
                                           .event_record = record_event,
                                           .event_elapsed_us = elapsed_us,
                                           .device_state = read_state};

static const kf_team_methods team_methods = {.buffer_spread = create_spread};

kf_backend *recording_open(const kf_device_info *device) {
    recording_backend *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.device = *device;
    made->recording.launch_us = 10.0;
    kf_backend_begin(&made->base, &methods, &team_methods);
    return &made->base;
}

kf_backend *recording_open_team(const kf_device_info *device, int parts) {
    kf_backend *first = recording_open(device);
    if (parts == 1) return first;
    first->team = kf_allocate((size_t)parts * sizeof(kf_backend *));
    first->parts = first->device.parts = parts;
    first->team[0] = first;
    for (int part = 1; part < parts; part++) {
        first->team[part] = recording_open(device);
        first->team[part]->device.parts = parts;
    }
    return first;
}
