/* The cuda backend: opening a device and the table of methods. */
#ifdef KF_HAVE_CUDA

#include <stdlib.h>
#include <string.h>

#include "base/backend/cuda/internal.h"
#include "base/backend/cuda/native.h"
#include "base/backend/cuda/nvml.h"
#include "base/backend/cuda/nvrtc.h"
#include "base/util/memory.h"

static void device_state(kf_backend *backend, kf_device_state *state) {
    kf_nvml_device_state(backend->device.identity, state);
}

/* Errors are ignored: after a kernel's fault every call fails, and the process is about to end anyway. */
static void close_backend(kf_backend *backend) {
    kf_cuda_backend *own = kf_cuda_of(backend);
    if (own->context) {
        kf_cuda.cuCtxSetCurrent(own->context);
        kf_cuda_stages_free(own);
        if (own->registered) kf_cuda.cuMemHostUnregister(own->registered);
        if (own->ahead) kf_cuda.cuStreamDestroy(own->ahead);
        if (own->beside) kf_cuda.cuStreamDestroy(own->beside);
        if (own->aside) kf_cuda.cuStreamDestroy(own->aside);
        if (own->stream) kf_cuda.cuStreamDestroy(own->stream);
        kf_cuda.cuCtxSetCurrent(NULL);
        kf_cuda.cuDevicePrimaryCtxRelease(own->device);
    }
    free(own);
}

static const kf_backend_methods methods = {
    .close = close_backend,
    .module_load = kf_cuda_module_load,
    .module_free = kf_cuda_module_free,
    .module_function = kf_cuda_module_function,
    .module_write = kf_cuda_module_write,
    .function_describe = kf_cuda_function_describe,
    .function_resident_blocks = kf_cuda_function_resident_blocks,
    .function_occupancy_limit = kf_cuda_function_occupancy_limit,
    .buffer_create = kf_cuda_buffer_create,
    .buffer_partial = kf_cuda_buffer_partial,
    .buffer_on_host = kf_cuda_buffer_on_host,
    .buffer_free = kf_cuda_buffer_free,
    .buffer_fill = kf_cuda_buffer_fill,
    .buffer_upload = kf_cuda_buffer_upload,
    .buffer_download = kf_cuda_buffer_download,
    .buffer_copy = kf_cuda_buffer_copy,
    .stream_handle = kf_cuda_stream_handle,
    .launch = kf_cuda_launch,
    .call = kf_cuda_call,
    .copy = kf_cuda_copy,
    .synchronize = kf_cuda_synchronize,
    .stream_synchronize = kf_cuda_stream_synchronize,
    .mark_create = kf_cuda_mark_create,
    .mark_free = kf_cuda_mark_free,
    .signal = kf_cuda_signal,
    .await = kf_cuda_await,
    .reach_flags = kf_cuda_reach_flags,
    .raise = kf_cuda_raise,
    .await_flag = kf_cuda_await_flag,
    .graph_begin = kf_cuda_graph_begin,
    .graph_end = kf_cuda_graph_end,
    .graph_launch = kf_cuda_graph_launch,
    .graph_free = kf_cuda_graph_free,
    .event_create = kf_cuda_event_create,
    .event_free = kf_cuda_event_free,
    .event_record = kf_cuda_event_record,
    .event_elapsed_us = kf_cuda_event_elapsed_us,
    .device_state = device_state,
};

/* Reads the device's limits of grids and blocks. Also reads whether its launches may overlap (compute
 * capability 9.0), and whether it has cooperative launches (6.0, except some virtual devices). */
static kf_status read_limits(kf_cuda_backend *own, kf_error *error) {
    static const CUdevice_attribute grid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    for (int i = 0; i < 3; i++) {
        KF_CUDA_TRY(cuDeviceGetAttribute, &own->grid_limit[i], grid[i], own->device);
        KF_CUDA_TRY(cuDeviceGetAttribute, &own->block_limit[i], block[i], own->device);
    }
    int major, whole;
    KF_CUDA_TRY(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, own->device);
    KF_CUDA_TRY(cuDeviceGetAttribute, &whole, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, own->device);
    own->launches_overlap = major >= 9;
    own->launches_whole = whole != 0;
    return KF_OK;
}

/* Opens a device: its description, context, and streams of two priorities. */
static kf_status open_device(kf_cuda_backend *own, int index, kf_error *error) {
    kf_device_info *info = &own->base.device;
    size_t available = 0, total = 0;
    KF_TRY(kf_cuda_device_fill(index, info, error));
    KF_TRY(kf_nvrtc_version(info->compiler, sizeof info->compiler, error));
    KF_CUDA_TRY(cuDeviceGet, &own->device, index);
    KF_TRY(read_limits(own, error));
    KF_CUDA_TRY(cuDevicePrimaryCtxRetain, &own->context, own->device);
    KF_TRY(kf_cuda_enter(&own->base, error));
    int least = 0, greatest = 0;
    KF_CUDA_TRY(cuCtxGetStreamPriorityRange, &least, &greatest);
    KF_CUDA_TRY(cuStreamCreateWithPriority, &own->stream, CU_STREAM_NON_BLOCKING, least);
    KF_CUDA_TRY(cuStreamCreateWithPriority, &own->aside, CU_STREAM_NON_BLOCKING, greatest);
    KF_CUDA_TRY(cuStreamCreateWithPriority, &own->beside, CU_STREAM_NON_BLOCKING, least);
    KF_CUDA_TRY(cuStreamCreateWithPriority, &own->ahead, CU_STREAM_NON_BLOCKING, greatest);
    KF_CUDA_TRY(cuMemGetInfo, &available, &total);
    info->memory_free_bytes = available;
    return KF_OK;
}

/* Opens the CUDA device of that number. */
kf_status kf_cuda_open(int index, const kf_team_methods *team, kf_backend **backend, kf_error *error) {
    int count = 0;
    *backend = NULL;
    KF_TRY(kf_cuda_count_devices(&count, error));
    KF_TRY(kf_cuda_check_index(index, count, error));
    kf_cuda_backend *own = kf_allocate_zeroed(1, sizeof *own);
    kf_backend_begin(&own->base, &methods, team);
    const kf_status status = open_device(own, index, error);
    if (status == KF_OK)
        *backend = &own->base;
    else
        close_backend(&own->base);
    return status;
}

kf_status kf_cuda_native(kf_backend *backend, CUcontext *context, CUdevice *device, kf_error *error) {
    if (backend->methods != &methods)
        return kf_fail(error, KF_MACHINE, "cuda: %s is not a cuda device", backend->device.spec);
    KF_TRY(kf_cuda_enter(backend, error));
    *context = kf_cuda_of(backend)->context;
    *device = kf_cuda_of(backend)->device;
    return KF_OK;
}

#endif
