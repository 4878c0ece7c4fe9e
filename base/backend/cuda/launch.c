#ifdef KF_HAVE_CUDA

#include <stdlib.h>

#include "base/backend/cuda/internal.h"
#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/memory.h"

typedef struct kf_cuda_mark {
    kf_mark base;
    CUevent handle;
} kf_cuda_mark;

typedef struct kf_cuda_graph {
    kf_graph base;
    /* NULL for a graph without work. */
    CUgraphExec handle;
} kf_cuda_graph;

typedef struct kf_cuda_event {
    kf_event base;
    CUevent handle;
} kf_cuda_event;

static kf_status check_block(const kf_cuda_backend *backend, const kf_launch *launch, kf_error *error) {
    const int *block = launch->block, *limit = backend->block_limit;
    const kf_cuda_function *function = (const kf_cuda_function *)launch->function;
    const int64_t threads = (int64_t)block[0] * block[1] * block[2];
    const bool shaped = block[0] <= limit[0] && block[1] <= limit[1] && block[2] <= limit[2];
    if (shaped && threads <= function->info.max_threads) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "cuda: %s: a block of %dx%dx%d is too large: this kernel takes %d threads with %d registers "
        "each, the device %dx%dx%d",
        launch->name, block[0], block[1], block[2], function->info.max_threads, function->info.registers,
        limit[0], limit[1], limit[2]);
}

static kf_status make_grid(const kf_cuda_backend *backend, const kf_launch *launch, unsigned grid[3],
                           kf_error *error) {
    int extent[3];
    const bool given = launch->grid[0] != 0;
    if (!given) kf_launch_extent(launch, extent);
    for (int i = 0; i < 3; i++) {
        const int64_t blocks =
            given ? launch->grid[i] : ((int64_t)extent[i] + launch->block[i] - 1) / launch->block[i];
        if (blocks > backend->grid_limit[i])
            return kf_fail(error, KF_MACHINE,
                           "cuda: %s: %lld blocks along %c are too many (the device takes %d): use a larger "
                           "block or a smaller extent",
                           launch->name, (long long)blocks, "xyz"[i], backend -> grid_limit[i]);
        grid[i] = (unsigned)blocks;
    }
    return KF_OK;
}

static CUstream handle_of(const kf_stream *stream) {
    kf_cuda_backend *own = kf_cuda_of(stream->backend);
    return stream->lane == KF_LANE_ASIDE    ? own->aside
           : stream->lane == KF_LANE_BESIDE ? own->beside
           : stream->lane == KF_LANE_AHEAD  ? own->ahead
                                            : own->stream;
}

void *kf_cuda_stream_handle(const kf_stream *stream) {
    return handle_of(stream);
}

/* Blocks that wait for some that are never begun wait for ever. */
static kf_status check_resident(const kf_launch *launch, kf_error *error) {
    if (!launch->waits_for_all || kf_launch_blocks(launch) <= kf_launch_resident_blocks(launch)) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "cuda: %s: its %lld blocks wait for each other, but only %lld of them, with %zu bytes "
                   "each, are resident at once",
                   launch->name, (long long)kf_launch_blocks(launch),
                   (long long)kf_launch_resident_blocks(launch), launch->shared_bytes);
}

/* Returns whether a launch asks the driver to start all blocks at once. The driver then refuses a launch that
 * does not fit, and waits until there is space for all blocks. A device without such launches relies on the
 * count of check_resident. */
static bool begins_whole(kf_cuda_backend *own, const kf_launch *launch) {
    if (!launch->waits_for_all || own->launches_whole) return launch->waits_for_all;
    if (!own->said_parted)
        kf_info("%s: this device has no cooperative launches: kftune assumes that all blocks of %s run at "
                "once, because so many fit the device while nothing else runs on it",
                own->base.device.spec, launch->name);
    own->said_parted = true;
    return false;
}

/* Launches a kernel. If all of its blocks must start at once, it asks the driver for that. Else it allows the
 * launch to start while its predecessor ends, when the launch requests this and the device supports it. */
static CUresult launch_kernel(kf_stream *stream, const kf_launch *launch, const unsigned grid[3],
                              void **extra) {
    CUfunction handle = ((const kf_cuda_function *)launch->function)->handle;
    const unsigned block[3] = {(unsigned)launch->block[0], (unsigned)launch->block[1],
                               (unsigned)launch->block[2]};
    const unsigned shared = (unsigned)launch->shared_bytes;
    if (begins_whole(kf_cuda_of(stream->backend), launch)) {
        /* A kernel of portable.h has one argument. */
        void *parameters[] = {(void *)(uintptr_t)launch->arguments};
        return kf_cuda.cuLaunchCooperativeKernel(handle, grid[0], grid[1], grid[2], block[0], block[1],
                                                 block[2], shared, handle_of(stream), parameters);
    }
#ifdef KF_CUDA_LAUNCH_CONFIG
    if (launch->overlaps && kf_cuda_of(stream->backend)->launches_overlap && kf_cuda.launch_kernel_ex) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                       .value.programmaticStreamSerializationAllowed = 1};
        const CUlaunchConfig config = {.gridDimX = grid[0],
                                       .gridDimY = grid[1],
                                       .gridDimZ = grid[2],
                                       .blockDimX = block[0],
                                       .blockDimY = block[1],
                                       .blockDimZ = block[2],
                                       .sharedMemBytes = shared,
                                       .hStream = handle_of(stream),
                                       .attrs = &attribute,
                                       .numAttrs = 1};
        return kf_cuda.launch_kernel_ex(&config, handle, NULL, extra);
    }
#endif
    return kf_cuda.cuLaunchKernel(handle, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
                                  handle_of(stream), NULL, extra);
}

/* Launches a kernel with its arguments as one block of bytes, after checking block, grid and the size of
 * the arguments. */
kf_status kf_cuda_launch(kf_stream *stream, const kf_launch *launch, kf_error *error) {
    kf_cuda_backend *own = kf_cuda_of(stream->backend);
    const kf_cuda_function *function = (const kf_cuda_function *)launch->function;
    size_t bytes = launch->argument_bytes;
    unsigned grid[3] = {1, 1, 1};
    KF_TRY(check_block(own, launch, error));
    KF_TRY(make_grid(own, launch, grid, error));
    if (function->info.argument_bytes != 0 && function->info.argument_bytes != bytes)
        return kf_fail(error, KF_MACHINE, "cuda: %s: %s takes arguments of %zu bytes, not %zu", launch->name,
                       function->name, function->info.argument_bytes, bytes);
    /* NOLINTBEGIN(performance-no-int-to-ptr): the driver's markers are small numbers in pointers */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)launch->arguments,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    /* NOLINTEND(performance-no-int-to-ptr) */
    KF_TRY(kf_cuda_enter(stream->backend, error));
    own->captured++;
    if (launch->shared_bytes > 0)
        KF_CUDA_TRY(cuFuncSetAttribute, function->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    (int)launch->shared_bytes);
    KF_TRY(check_resident(launch, error));
    const CUresult result = launch_kernel(stream, launch, grid, extra);
    if (result == CUDA_SUCCESS) return KF_OK;
    kf_cuda_fail(error, result,
                 launch->waits_for_all && own->launches_whole ? "cuLaunchCooperativeKernel"
                                                              : "cuLaunchKernel");
    return kf_fail_context(error, "%s", launch->name);
}

kf_status kf_cuda_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    kf_cuda_of(stream->backend)->captured++;
    return enqueue(object, stream, error);
}

/* Addresses are unified, so that they say which device they belong to. */
kf_status kf_cuda_copy(kf_stream *stream, const kf_copy *copy, kf_error *error) {
    const bool rows = copy->rows > 1;
    const CUDA_MEMCPY2D description = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (CUdeviceptr)(uintptr_t)copy->source->address + copy->source_offset,
        .srcPitch = rows ? copy->source_pitch : copy->bytes,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = (CUdeviceptr)(uintptr_t)copy->target->address + copy->target_offset,
        .dstPitch = rows ? copy->target_pitch : copy->bytes,
        .WidthInBytes = copy->bytes,
        .Height = copy->rows,
    };
    KF_TRY(kf_cuda_enter(stream->backend, error));
    kf_cuda_of(stream->backend)->captured++;
    kf_backend *from = copy->source->backend, *to = copy->target->backend;
    const kf_cuda_buffer *source = (const kf_cuda_buffer *)copy->source,
                         *target = (const kf_cuda_buffer *)copy->target;
    /* Memory that every device can address, and memory of the host, needs no contexts. */
    const bool reached = source->on_host || target->on_host || source->runs != NULL || target->runs != NULL;
    if (!rows && from != to && !reached)
        KF_CUDA_TRY(cuMemcpyPeerAsync, description.dstDevice, kf_cuda_of(to)->context, description.srcDevice,
                    kf_cuda_of(from)->context, copy->bytes, handle_of(stream));
    else if (rows || reached)
        KF_CUDA_TRY(cuMemcpy2DAsync, &description, handle_of(stream));
    else
        KF_CUDA_TRY(cuMemcpyDtoDAsync, description.dstDevice, description.srcDevice, copy->bytes,
                    handle_of(stream));
    return KF_OK;
}

kf_status kf_cuda_wait(const kf_backend *backend, CUstream stream, kf_error *error) {
    if (backend->look == NULL) {
        KF_CUDA_TRY(cuStreamSynchronize, stream);
        return KF_OK;
    }
    for (int looks = 0;; looks += looks < 1 << 20) {
        const CUresult state = kf_cuda.cuStreamQuery(stream);
        if (state == CUDA_SUCCESS) return KF_OK;
        if (state != CUDA_ERROR_NOT_READY) return kf_cuda_fail(error, state, "cuStreamQuery");
        KF_TRY(backend->look(error));
        kf_clock_rest(looks);
    }
}

kf_status kf_cuda_synchronize(kf_backend *backend, kf_error *error) {
    KF_TRY(kf_cuda_enter(backend, error));
    KF_TRY(kf_cuda_wait(backend, kf_cuda_of(backend)->stream, error));
    return KF_OK;
}

kf_status kf_cuda_stream_synchronize(kf_stream *stream, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    KF_TRY(kf_cuda_wait(stream->backend, handle_of(stream), error));
    return KF_OK;
}

static kf_status make_event(kf_backend *backend, unsigned flags, CUevent *handle, kf_error *error) {
    KF_TRY(kf_cuda_enter(backend, error));
    KF_CUDA_TRY(cuEventCreate, handle, flags);
    return KF_OK;
}

kf_status kf_cuda_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error) {
    CUevent handle = NULL;
    KF_TRY(make_event(backend, CU_EVENT_DISABLE_TIMING, &handle, error));
    kf_cuda_mark *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    made->handle = handle;
    *mark = &made->base;
    return KF_OK;
}

void kf_cuda_mark_free(kf_mark *mark) {
    if (kf_cuda_enter(mark->backend, NULL) == KF_OK) kf_cuda.cuEventDestroy(((kf_cuda_mark *)mark)->handle);
    free(mark);
}

kf_status kf_cuda_signal(kf_stream *stream, kf_mark *mark, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    KF_CUDA_TRY(cuEventRecord, ((kf_cuda_mark *)mark)->handle, handle_of(stream));
    return KF_OK;
}

kf_status kf_cuda_await(kf_stream *stream, kf_mark *mark, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    KF_CUDA_TRY(cuStreamWaitEvent, handle_of(stream), ((kf_cuda_mark *)mark)->handle, 0);
    return KF_OK;
}

kf_status kf_cuda_graph_begin(kf_backend *backend, kf_error *error) {
    kf_cuda_backend *own = kf_cuda_of(backend);
    KF_TRY(kf_cuda_enter(backend, error));
    own->captured = 0;
    KF_CUDA_TRY(cuStreamBeginCapture, own->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    return KF_OK;
}

/* Instantiates a graph. Each kernel keeps the priority of the lane in which it was captured. Drivers before
 * CUDA 11.7 do not know that flag; there all kernels get the priority of the stream that launches the graph.
 */
static kf_status instantiate(kf_backend *backend, CUgraph graph, CUgraphExec *handle, kf_error *error) {
    enum { USE_NODE_PRIORITY = 8 };
    CUresult made = kf_cuda.cuGraphInstantiateWithFlags(handle, graph, USE_NODE_PRIORITY);
    if (made == CUDA_ERROR_INVALID_VALUE) made = kf_cuda.cuGraphInstantiateWithFlags(handle, graph, 0);
    if (made != CUDA_SUCCESS) return kf_cuda_fail(error, made, "cuGraphInstantiateWithFlags");
    const CUresult result = kf_cuda.cuGraphUpload(*handle, kf_cuda_of(backend)->stream);
    if (result == CUDA_SUCCESS) return KF_OK;
    kf_cuda.cuGraphExecDestroy(*handle);
    return kf_cuda_fail(error, result, "cuGraphUpload");
}

/* Ends the capture in any case, because otherwise the stream could not be used again. */
kf_status kf_cuda_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error) {
    kf_cuda_backend *own = kf_cuda_of(backend);
    CUgraph captured = NULL;
    CUgraphExec handle = NULL;
    KF_TRY(kf_cuda_enter(backend, error));
    KF_CUDA_TRY(cuStreamEndCapture, own->stream, &captured);
    const bool wanted = graph != NULL && own->captured > 0;
    const kf_status status = wanted ? instantiate(backend, captured, &handle, error) : KF_OK;
    kf_cuda.cuGraphDestroy(captured);
    KF_TRY(status);
    if (graph == NULL) return KF_OK;
    kf_cuda_graph *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    made->handle = handle;
    *graph = &made->base;
    return KF_OK;
}

kf_status kf_cuda_graph_launch(kf_graph *graph, kf_error *error) {
    const kf_cuda_graph *own = (const kf_cuda_graph *)graph;
    if (!own->handle) return KF_OK;
    KF_TRY(kf_cuda_enter(graph->backend, error));
    KF_CUDA_TRY(cuGraphLaunch, own->handle, kf_cuda_of(graph->backend)->stream);
    return KF_OK;
}

void kf_cuda_graph_free(kf_graph *graph) {
    const kf_cuda_graph *own = (const kf_cuda_graph *)graph;
    if (own->handle && kf_cuda_enter(graph->backend, NULL) == KF_OK) kf_cuda.cuGraphExecDestroy(own->handle);
    free(graph);
}

kf_status kf_cuda_event_create(kf_backend *backend, kf_event **event, kf_error *error) {
    CUevent handle = NULL;
    KF_TRY(make_event(backend, CU_EVENT_DEFAULT, &handle, error));
    kf_cuda_event *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    made->handle = handle;
    *event = &made->base;
    return KF_OK;
}

void kf_cuda_event_free(kf_event *event) {
    if (kf_cuda_enter(event->backend, NULL) == KF_OK)
        kf_cuda.cuEventDestroy(((kf_cuda_event *)event)->handle);
    free(event);
}

kf_status kf_cuda_event_record(kf_event *event, kf_error *error) {
    KF_TRY(kf_cuda_enter(event->backend, error));
    KF_CUDA_TRY(cuEventRecord, ((kf_cuda_event *)event)->handle, kf_cuda_of(event->backend)->stream);
    return KF_OK;
}

kf_status kf_cuda_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                                   kf_error *error) {
    kf_cuda_elapsed_time *elapsed_time =
        kf_cuda.elapsed_time_v2 ? kf_cuda.elapsed_time_v2 : kf_cuda.elapsed_time;
    float milliseconds = 0.0F;
    KF_TRY(kf_cuda_enter(start->backend, error));
    const CUresult result = elapsed_time(&milliseconds, ((const kf_cuda_event *)start)->handle,
                                         ((const kf_cuda_event *)stop)->handle);
    if (result != CUDA_SUCCESS) return kf_cuda_fail(error, result, "cuEventElapsedTime");
    *microseconds = 1e3 * (double)milliseconds;
    return KF_OK;
}

/* --- Words of marks that processes share ---------------------------------------------------------------- */

kf_status kf_cuda_reach_flags(kf_backend *first, void *flags, size_t bytes, kf_error *error) {
    kf_cuda_backend *own = kf_cuda_of(first);
    CUdeviceptr address = 0;
    if (kf_cuda.write_value == NULL || kf_cuda.wait_value == NULL)
        return kf_fail(error, KF_MACHINE, "cuda: this driver has no streams that wait for memory");
    KF_TRY(kf_cuda_enter(first, error));
    KF_CUDA_TRY(cuMemHostRegister, flags, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    own->registered = flags;
    KF_CUDA_TRY(cuMemHostGetDevicePointer, &address, flags, 0);
    for (int part = 0; part < first->parts; part++) {
        kf_cuda_of(first->team[part])->flags = address;
        kf_cuda_of(first->team[part])->flags_on_host = flags;
    }
    return KF_OK;
}

static CUdeviceptr flag_on_device(const kf_stream *stream, const uint32_t *flag) {
    const kf_cuda_backend *own = kf_cuda_of(stream->backend);
    return own->flags + (CUdeviceptr)((const char *)flag - (const char *)own->flags_on_host);
}

kf_status kf_cuda_raise(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    KF_CUDA_TRY(write_value, kf_cuda_stream_handle(stream), flag_on_device(stream, flag), count,
                CU_STREAM_WRITE_VALUE_DEFAULT);
    return KF_OK;
}

kf_status kf_cuda_await_flag(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error) {
    KF_TRY(kf_cuda_enter(stream->backend, error));
    KF_CUDA_TRY(wait_value, kf_cuda_stream_handle(stream), flag_on_device(stream, flag), count,
                CU_STREAM_WAIT_VALUE_GEQ);
    return KF_OK;
}

#endif
