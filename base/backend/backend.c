/* Passes calls on to a backend, after checking what is common to both. */
#include "base/backend/backend.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/internal.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* --- Objects ------------------------------------------------------------------------------------------ */

void kf_backend_begin(kf_backend *backend, const kf_backend_methods *methods, const kf_team_methods *team) {
    backend->methods = methods;
    backend->team_methods = team;
    for (int lane = 0; lane < KF_LANES; lane++)
        backend->streams[lane] = (kf_stream){backend, lane};
    backend->own = backend;
    backend->team = &backend->own;
    backend->parts = 1;
}

void kf_backend_close(kf_backend *backend) {
    if (backend == NULL) return;
    if (backend->part != NULL) backend->part(backend);
    for (int part = 1; backend->come != NULL && part < backend->parts; part++)
        kf_mark_free(backend->come[part]);
    free(backend->come);
    free(backend->near_counts);
    free(backend->firsts);
    for (int part = 1; part < backend->parts; part++)
        backend->team[part]->methods->close(backend->team[part]);
    if (backend->parts > 1) free(backend->team);
    backend->methods->close(backend);
}

const kf_device_info *kf_backend_device(const kf_backend *backend) {
    return &backend->device;
}

/* --- Compiling ---------------------------------------------------------------------------------------- */

kf_status kf_module_load(kf_backend *backend, const kf_source *source, kf_module **module, kf_build *build,
                         kf_error *error) {
    kf_build unwanted;
    *module = NULL;
    return backend->methods->module_load(backend, source, module, build != NULL ? build : &unwanted, error);
}

void kf_module_free(kf_module *module) {
    if (module != NULL) module->backend->methods->module_free(module);
}

kf_status kf_module_function(kf_module *module, const char *name, kf_function **function, kf_error *error) {
    *function = NULL;
    return module->backend->methods->module_function(module, name, function, error);
}

kf_status kf_module_write(kf_module *module, const char *variable, const void *data, size_t bytes,
                          kf_error *error) {
    const kf_backend_methods *methods = module->backend->methods;
    if (methods->module_write == NULL)
        return kf_fail(error, KF_MACHINE, "%s has no variables in its modules (\"%s\")",
                       module->backend->device.spec, variable);
    return methods->module_write(module, variable, data, bytes, error);
}

void kf_function_describe(const kf_function *function, kf_function_info *info) {
    memset(info, 0, sizeof *info);
    function->module->backend->methods->function_describe(function, info);
}

int kf_function_resident_blocks(const kf_function *function, int threads_per_block, size_t shared_bytes) {
    if (threads_per_block < 1) return 0;
    return function->module->backend->methods->function_resident_blocks(function, threads_per_block,
                                                                        shared_bytes);
}

const char *kf_function_occupancy_limit(const kf_function *function, int threads_per_block,
                                        size_t shared_bytes) {
    const kf_backend_methods *methods = function->module->backend->methods;
    if (threads_per_block < 1 || methods->function_occupancy_limit == NULL) return "";
    return methods->function_occupancy_limit(function, threads_per_block, shared_bytes);
}

/* --- Memory ------------------------------------------------------------------------------------------- */

static const unsigned char guard_byte = 0xC5;

kf_status kf_buffer_check_size(size_t bytes, kf_error *error) {
    if (bytes == 0) return kf_fail(error, KF_BAD_INPUT, "a buffer needs at least one byte");
    if (bytes > SIZE_MAX / 2) return kf_fail(error, KF_MACHINE, "out of memory: %zu bytes", bytes);
    return KF_OK;
}

kf_status kf_buffer_write_guard(kf_buffer **buffer, kf_error *error) {
    const kf_backend_methods *methods = (*buffer)->backend->methods;
    unsigned char guard[KF_GUARD_BYTES];
    memset(guard, guard_byte, sizeof guard);
    const kf_status status = methods->buffer_upload(*buffer, (*buffer)->bytes, guard, sizeof guard, error);
    if (status == KF_OK) return KF_OK;
    methods->buffer_free(*buffer);
    *buffer = NULL;
    return status;
}

void kf_backend_suspect(kf_backend *backend, bool suspect) {
    for (int part = 0; part < backend->parts; part++)
        backend->team[part]->suspects = suspect;
}

/* Shows a buffer's methods its guard in front too, or hides it again. */
static void show_front(kf_buffer *buffer, bool shown) {
    buffer->address =
        shown ? (char *)buffer->address - buffer->front : (char *)buffer->address + buffer->front;
    buffer->bytes = shown ? buffer->bytes + buffer->front : buffer->bytes - buffer->front;
}

/* Writes the guard before a buffer that has space for one, and spoils what kernels see. Buffers larger than a
 * trial's memory are not spoiled. */
static kf_status begin_suspect(kf_buffer *buffer, kf_error *error) {
    static const size_t MOST = (size_t)1 << 28;
    unsigned char guard[KF_FRONT_BYTES];
    memset(guard, guard_byte, sizeof guard);
    KF_TRY(buffer->backend->methods->buffer_upload(buffer, 0, guard, sizeof guard, error));
    buffer->front = sizeof guard;
    show_front(buffer, false);
    return buffer->bytes <= MOST ? kf_buffer_fill(buffer, KF_SPOILT, error) : KF_OK;
}

kf_status kf_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    *buffer = NULL;
    KF_TRY(kf_buffer_check_size(bytes, error));
    const size_t front = backend->suspects ? KF_FRONT_BYTES : 0;
    KF_TRY(backend->methods->buffer_create(backend, bytes + front, buffer, error));
    KF_TRY(kf_buffer_write_guard(buffer, error));
    const kf_status status = front > 0 ? begin_suspect(*buffer, error) : KF_OK;
    if (status == KF_OK) return KF_OK;
    kf_buffer_free(*buffer);
    *buffer = NULL;
    return status;
}

kf_status kf_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                            int count, kf_buffer **buffer, kf_error *error) {
    *buffer = NULL;
    KF_TRY(kf_buffer_check_size(bytes, error));
    for (int i = 0; i < count; i++)
        if (kept[i][0] > kept[i][1] || kept[i][1] > period)
            return kf_fail(error, KF_BAD_INPUT, "the kept ranges of a buffer must lie within its period");
    KF_TRY(backend->methods->buffer_partial(backend, bytes, period, kept, count, buffer, error));
    return kf_buffer_write_guard(buffer, error);
}

/* Returns whether one of the bytes from .. to - 1 is kept, or belongs to the guard. */
static bool keeps(size_t from, size_t to, size_t bytes, size_t period, const size_t (*kept)[2], int count) {
    if (to > bytes) return true; /* the guard */
    for (size_t start = from / period * period; start < to; start += period)
        for (int i = 0; i < count; i++)
            if (start + kept[i][0] < to && start + kept[i][1] > from) return true;
    return false;
}

bool kf_buffer_next_kept(size_t page, size_t pages, size_t bytes, size_t period, const size_t (*kept)[2],
                         int count, size_t run[2]) {
    size_t at = run[1];
    while (at < pages && !keeps(at * page, (at + 1) * page, bytes, period, kept, count))
        at++;
    run[0] = at;
    while (at < pages && keeps(at * page, (at + 1) * page, bytes, period, kept, count))
        at++;
    run[1] = at;
    return run[0] < pages;
}

kf_status kf_buffer_on_host(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    if (backend->methods->buffer_on_host == NULL) return kf_buffer_create(backend, bytes, buffer, error);
    *buffer = NULL;
    KF_TRY(kf_buffer_check_size(bytes, error));
    KF_TRY(backend->methods->buffer_on_host(backend, bytes, buffer, error));
    return kf_buffer_write_guard(buffer, error);
}

/* Fails when the guard before a buffer's beginning has changed. */
static kf_status check_front(const kf_buffer *buffer, kf_error *error) {
    unsigned char guard[KF_FRONT_BYTES];
    if (buffer->front == 0) return KF_OK;
    /* The pointer is put back at once. */
    kf_buffer *own = (kf_buffer *)(uintptr_t)buffer;
    show_front(own, true);
    const kf_status status = buffer->backend->methods->buffer_download(own, 0, guard, sizeof guard, error);
    show_front(own, false);
    KF_TRY(status);
    for (size_t i = 0; i < sizeof guard; i++)
        if (guard[i] != guard_byte)
            return kf_fail(error, KF_GATE_FAILED,
                           "a kernel wrote out of bounds: %zu bytes before the beginning of a buffer of %zu",
                           sizeof guard - i, buffer->bytes);
    return KF_OK;
}

kf_status kf_buffer_check(const kf_buffer *buffer, kf_error *error) {
    unsigned char guard[KF_GUARD_BYTES];
    KF_TRY(check_front(buffer, error));
    KF_TRY(buffer->backend->methods->buffer_download(buffer, buffer->bytes, guard, sizeof guard, error));
    for (size_t i = 0; i < sizeof guard; i++)
        if (guard[i] != guard_byte)
            return kf_fail(error, KF_GATE_FAILED,
                           "a kernel wrote out of bounds: past the end of a buffer of %zu bytes, at byte %zu",
                           buffer->bytes, buffer->bytes + i);
    const kf_backend_methods *methods = buffer->backend->methods;
    return methods->buffer_check != NULL ? methods->buffer_check(buffer, error) : KF_OK;
}

void kf_buffer_free(kf_buffer *buffer) {
    if (buffer == NULL) return;
    show_front(buffer, true);
    buffer->backend->methods->buffer_free(buffer);
}

size_t kf_buffer_size(const kf_buffer *buffer) {
    return buffer->bytes;
}
void *kf_buffer_address(const kf_buffer *buffer) {
    return buffer != NULL ? buffer->address : NULL;
}

static kf_status check_range(const kf_buffer *buffer, const char *action, size_t offset, size_t bytes,
                             kf_error *error) {
    if (offset <= buffer->bytes && bytes <= buffer->bytes - offset) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s of %zu bytes at %zu ends beyond a buffer of %zu bytes", action,
                   bytes, offset, buffer->bytes);
}

unsigned kf_buffer_uploads(const kf_buffer *buffer) {
    return buffer->uploads;
}

unsigned kf_buffer_changes(const kf_buffer *buffer) {
    return buffer->changes;
}

kf_status kf_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error) {
    buffer->changes++;
    return buffer->backend->methods->buffer_fill(buffer, byte, error);
}

kf_status kf_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                           kf_error *error) {
    KF_TRY(check_range(buffer, "upload", offset, bytes, error));
    buffer->uploads++;
    buffer->changes++;
    return bytes == 0 ? KF_OK : buffer->backend->methods->buffer_upload(buffer, offset, data, bytes, error);
}

kf_status kf_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                             kf_error *error) {
    KF_TRY(check_range(buffer, "download", offset, bytes, error));
    return bytes == 0 ? KF_OK : buffer->backend->methods->buffer_download(buffer, offset, data, bytes, error);
}

kf_status kf_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error) {
    if (target->backend != source->backend)
        return kf_fail(error, KF_BAD_INPUT, "a copy needs both buffers on the same device");
    KF_TRY(check_range(target, "copy", 0, bytes, error));
    KF_TRY(check_range(source, "copy", 0, bytes, error));
    target->changes++;
    if (bytes == 0 || target == source) return KF_OK;
    return target->backend->methods->buffer_copy(target, source, bytes, error);
}

/* --- Launching ---------------------------------------------------------------------------------------- */

void kf_launch_set(kf_launch *launch, const char *name, kf_function *function, const int block[3],
                   const void *arguments, size_t bytes) {
    memset(launch, 0, sizeof *launch);
    kf_copy_text(launch->name, sizeof launch->name, name);
    launch->function = function;
    memcpy(launch->block, block, sizeof launch->block);
    /* Too many arguments are refused at the launch, which can report it. */
    launch->argument_bytes = bytes;
    if (bytes <= KF_ARGUMENT_BYTES) memcpy(launch->arguments, arguments, bytes);
}

void kf_launch_extent(const kf_launch *launch, int extent[3]) {
    memcpy(extent, launch->arguments, 3 * sizeof extent[0]);
}

bool kf_launch_is_empty(const kf_launch *launch) {
    int extent[3];
    if (launch->grid[0] != 0) return false;
    kf_launch_extent(launch, extent);
    return extent[0] <= 0 || extent[1] <= 0 || extent[2] <= 0;
}

int64_t kf_launch_blocks(const kf_launch *launch) {
    int extent[3];
    int64_t blocks = 1;
    if (launch->grid[0] != 0) return (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    kf_launch_extent(launch, extent);
    for (int axis = 0; axis < 3; axis++)
        blocks *= ((int64_t)extent[axis] + launch->block[axis] - 1) / launch->block[axis];
    return blocks;
}

int64_t kf_launch_resident_blocks(const kf_launch *launch) {
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    return (int64_t)kf_function_resident_blocks(launch->function, threads, launch->shared_bytes) *
           launch->function->module->backend->device.multiprocessors;
}

/* Checks a launch that gives its own grid. */
static kf_status check_grid(const kf_backend *backend, const kf_launch *launch, kf_error *error) {
    if (strcmp(backend->device.backend, "cuda") != 0)
        return kf_fail(error, KF_MACHINE,
                       "launch %s: a kernel that is not written with portable.h needs a GPU", launch->name);
    if (launch->argument_bytes > KF_ARGUMENT_BYTES)
        return kf_fail(error, KF_BAD_INPUT, "launch %s: %zu bytes of arguments, must be at most %d",
                       launch->name, launch->argument_bytes, KF_ARGUMENT_BYTES);
    for (int axis = 0; axis < 3; axis++)
        if (launch->block[axis] < 1 || launch->grid[axis] < 1)
            return kf_fail(error, KF_BAD_INPUT, "launch %s: %d blocks of %d threads along %c", launch->name,
                           launch->grid[axis], launch->block[axis], "xyz"[axis]);
    return KF_OK;
}

/* Refuses a launch of another device's kernel, of arguments without an extent, or of blocks whose last one
 * would pass an int. */
static kf_status check_launch(const kf_backend *backend, const kf_launch *launch, kf_error *error) {
    int extent[3];
    if (launch->function == NULL || launch->function->module->backend != backend)
        return kf_fail(error, KF_BAD_INPUT, "launch %s: its kernel was loaded for another device",
                       launch->name);
    if (launch->grid[0] != 0) return check_grid(backend, launch, error);
    if (launch->argument_bytes < sizeof extent || launch->argument_bytes > KF_ARGUMENT_BYTES)
        return kf_fail(error, KF_BAD_INPUT, "launch %s: %zu bytes of arguments, must be %zu to %d",
                       launch->name, launch->argument_bytes, sizeof extent, KF_ARGUMENT_BYTES);
    kf_launch_extent(launch, extent);
    for (int axis = 0; axis < 3; axis++) {
        if (launch->block[axis] < 1 || (extent[axis] > 0 && launch->block[axis] > INT_MAX - extent[axis]))
            return kf_fail(error, KF_BAD_INPUT,
                           "launch %s: a block of %dx%dx%d is not possible with %dx%dx%d items", launch->name,
                           launch->block[0], launch->block[1], launch->block[2], extent[0], extent[1],
                           extent[2]);
    }
    return KF_OK;
}

kf_stream *kf_backend_stream(kf_backend *backend, int lane) {
    return &backend->streams[lane];
}

void *kf_stream_handle(const kf_stream *stream) {
    const kf_backend_methods *methods = stream->backend->methods;
    return methods->stream_handle != NULL ? methods->stream_handle(stream) : NULL;
}

kf_status kf_stream_launch(kf_stream *stream, const kf_launch *launch, kf_error *error) {
    KF_TRY(check_launch(stream->backend, launch, error));
    return kf_launch_is_empty(launch) ? KF_OK : stream->backend->methods->launch(stream, launch, error);
}

kf_status kf_stream_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error) {
    return stream->backend->methods->call(stream, enqueue, object, error);
}

/* Checks the buffer at one end of a copy: all rows must lie within it. */
static kf_status check_rows(const kf_stream *stream, const kf_buffer *buffer, size_t offset, size_t pitch,
                            const kf_copy *copy, kf_error *error) {
    if (buffer->backend->methods != stream->backend->methods)
        return kf_fail(error, KF_BAD_INPUT, "a copy needs both buffers on devices of one kind");
    if (copy->rows > 1 && pitch < copy->bytes)
        return kf_fail(error, KF_BAD_INPUT,
                       "a copy of rows that overlap: they have %zu bytes and begin every %zu bytes",
                       copy->bytes, pitch);
    if (copy->rows > 1 && pitch > buffer->bytes / (copy->rows - 1))
        return kf_fail(error, KF_BAD_INPUT, "a copy of %zu rows that lie %zu bytes apart: the buffer has %zu",
                       copy->rows, pitch, buffer->bytes);
    return check_range(buffer, "copy", offset, copy->bytes + (copy->rows - 1) * pitch, error);
}

kf_status kf_stream_copy(kf_stream *stream, const kf_copy *copy, kf_error *error) {
    if (copy->bytes == 0 || copy->rows == 0) return KF_OK;
    KF_TRY(check_rows(stream, copy->target, copy->target_offset, copy->target_pitch, copy, error));
    KF_TRY(check_rows(stream, copy->source, copy->source_offset, copy->source_pitch, copy, error));
    return stream->backend->methods->copy(stream, copy, error);
}

kf_status kf_backend_launch(kf_backend *backend, const kf_launch *launch, kf_error *error) {
    return kf_stream_launch(&backend->streams[KF_LANE_MAIN], launch, error);
}

kf_status kf_backend_of_part(const kf_backend *first, int part, kf_status status, kf_error *error) {
    if (status == KF_OK || first->device.parts <= 1) return status;
    (void)kf_fail_context(error, "device %d of %d", first->first_part + part + 1, first->device.parts);
    return status;
}

kf_status kf_backend_synchronize(kf_backend *backend, kf_error *error) {
    for (int part = 0; part < backend->parts; part++)
        KF_TRY(kf_backend_of_part(backend, part, backend->methods->synchronize(backend->team[part], error),
                                  error));
    return KF_OK;
}

kf_status kf_stream_synchronize(kf_stream *stream, kf_error *error) {
    const kf_backend_methods *methods = stream->backend->methods;
    return methods->stream_synchronize != NULL ? methods->stream_synchronize(stream, error) : KF_OK;
}

/* --- Marks ---------------------------------------------------------------------------------------------- */

kf_status kf_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error) {
    *mark = NULL;
    return backend->methods->mark_create(backend, mark, error);
}

void kf_mark_free(kf_mark *mark) {
    if (mark == NULL) return;
    if (mark->free != NULL)
        mark->free(mark);
    else
        mark->backend->methods->mark_free(mark);
}

/* Returns the number of the graph that is being made, or 0. */
static uint64_t graph_of(const kf_backend *backend) {
    return backend->capturing ? backend->graphs : 0;
}

/* Signals a mark that processes share. All of them count its signals, and its owner shows the count. */
static kf_status signal_shared(kf_stream *stream, kf_mark *mark, kf_error *error) {
    const uint32_t count = ++*mark->given;
    return mark->own ? stream->backend->methods->raise(stream, mark->flag, count, error) : KF_OK;
}

kf_status kf_stream_signal(kf_stream *stream, kf_mark *mark, kf_error *error) {
    if (mark->flag != NULL) return signal_shared(stream, mark, error);
    KF_TRY(stream->backend->methods->signal(stream, mark, error));
    mark->signalled = true;
    mark->graph = graph_of(stream->backend);
    return KF_OK;
}

kf_status kf_stream_await(kf_stream *stream, kf_mark *mark, kf_error *error) {
    if (mark->flag != NULL)
        return stream->backend->methods->await_flag(stream, mark->flag, *mark->given, error);
    if (!mark->signalled) return KF_OK;
    if (mark->graph == graph_of(stream->backend)) return stream->backend->methods->await(stream, mark, error);
    /* A signal from outside this graph, or from another one, needs no edge: the main lane orders both. */
    if (mark->backend == stream->backend) return KF_OK;
    return kf_fail(error, KF_MACHINE, "a graph of %s cannot await work that %s does outside the graph",
                   stream->backend->device.spec, mark->backend->device.spec);
}

/* --- Graphs --------------------------------------------------------------------------------------------- */

kf_status kf_graph_begin(kf_backend *backend, kf_error *error) {
    if (backend->capturing) return kf_fail(error, KF_BAD_INPUT, "another graph is still being recorded");
    KF_TRY(backend->methods->graph_begin(backend, error));
    backend->capturing = true;
    backend->graphs++;
    return KF_OK;
}

kf_status kf_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error) {
    backend->capturing = false;
    if (graph != NULL) *graph = NULL;
    return backend->methods->graph_end(backend, graph, error);
}

kf_status kf_graph_create(kf_backend *backend, const kf_launch *const *launches, int count, kf_graph **graph,
                          kf_error *error) {
    kf_status status = KF_OK;
    *graph = NULL;
    KF_TRY(kf_graph_begin(backend, error));
    for (int i = 0; i < count && status == KF_OK; i++)
        status = kf_backend_launch(backend, launches[i], error);
    if (status == KF_OK) return kf_graph_end(backend, graph, error);
    (void)kf_graph_end(backend, NULL, NULL);
    return status;
}

kf_status kf_graph_launch(kf_graph *graph, kf_error *error) {
    return graph->backend->methods->graph_launch(graph, error);
}

void kf_graph_free(kf_graph *graph) {
    if (graph != NULL) graph->backend->methods->graph_free(graph);
}

kf_status kf_event_create(kf_backend *backend, kf_event **event, kf_error *error) {
    *event = NULL;
    return backend->methods->event_create(backend, event, error);
}

void kf_event_free(kf_event *event) {
    if (event != NULL) event->backend->methods->event_free(event);
}

/* Makes a team's first device wait until the others reach this point. */
static kf_status gather_team(kf_backend *first, kf_error *error) {
    if (first->come == NULL) {
        first->come = kf_allocate_zeroed((size_t)first->parts, sizeof *first->come);
        for (int part = 1; part < first->parts; part++)
            KF_TRY(kf_mark_create(first->team[part], &first->come[part], error));
    }
    for (int part = 1; part < first->parts; part++) {
        KF_TRY(
            kf_stream_signal(kf_backend_stream(first->team[part], KF_LANE_MAIN), first->come[part], error));
        KF_TRY(kf_stream_await(kf_backend_stream(first, KF_LANE_MAIN), first->come[part], error));
    }
    return KF_OK;
}

kf_status kf_event_record(kf_event *event, kf_error *error) {
    if (event->backend->parts > 1) KF_TRY(gather_team(event->backend, error));
    return event->backend->methods->event_record(event, error);
}

kf_status kf_event_record_alone(kf_event *event, kf_error *error) {
    return event->backend->methods->event_record(event, error);
}

kf_status kf_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                              kf_error *error) {
    *microseconds = NAN;
    if (start->backend != stop->backend)
        return kf_fail(error, KF_BAD_INPUT, "a time needs both events on the same device");
    return start->backend->methods->event_elapsed_us(start, stop, microseconds, error);
}

void kf_backend_device_state(kf_backend *backend, kf_device_state *state) {
    *state = (kf_device_state){NAN, NAN, NAN, NAN, NAN, 0};
    backend->methods->device_state(backend, state);
}
