#ifdef KF_HAVE_CUDA

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cuda/internal.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Copies above DIRECT_BYTES go through pinned stages of STAGE_BYTES: while one is on the bus, the processor
 * fills or empties the other. */
static const size_t DIRECT_BYTES = (size_t)64 << 20;
static const size_t STAGE_BYTES = (size_t)32 << 20;

static CUdeviceptr address_of(const kf_buffer *buffer) {
    return (CUdeviceptr)(uintptr_t)buffer->address;
}

/* Creates a buffer on the device with its guard. Without enough memory the message gives the free memory. */
kf_status kf_cuda_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    CUdeviceptr address = 0;
    KF_TRY(kf_cuda_enter(backend, error));
    const CUresult result = kf_cuda.cuMemAlloc(&address, bytes + KF_GUARD_BYTES);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t available = 0, total = 0;
        char wanted[32], left[32];
        if (kf_cuda.cuMemGetInfo(&available, &total) != CUDA_SUCCESS) available = 0;
        return kf_fail(error, KF_MACHINE, "cuda: out of memory: %s needed, %s free on %s: use a smaller grid",
                       kf_human_bytes((double)bytes, wanted), kf_human_bytes((double)available, left),
                       backend->device.spec);
    }
    if (result != CUDA_SUCCESS) return kf_cuda_fail(error, result, "cuMemAlloc");
    kf_cuda_buffer *made = kf_allocate_zeroed(1, sizeof *made);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the driver gives addresses as numbers */
    made->base = (kf_buffer){.backend = backend, .bytes = bytes, .address = (void *)(uintptr_t)address};
    *buffer = &made->base;
    return KF_OK;
}

kf_status kf_cuda_buffer_on_host(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error) {
    void *address = NULL;
    KF_TRY(kf_cuda_enter(backend, error));
    KF_CUDA_TRY(cuMemHostAlloc, &address, bytes + KF_GUARD_BYTES, CU_MEMHOSTALLOC_PORTABLE);
    kf_cuda_buffer *made = kf_allocate_zeroed(1, sizeof *made);
    made->base = (kf_buffer){.backend = backend, .bytes = bytes, .address = address};
    made->on_host = true;
    *buffer = &made->base;
    return KF_OK;
}

void kf_cuda_buffer_free(kf_buffer *buffer) {
    kf_cuda_buffer *own = (kf_cuda_buffer *)buffer;
    if (kf_cuda_enter(buffer->backend, NULL) == KF_OK) {
        if (own->on_host)
            kf_cuda.cuMemFreeHost(buffer->address);
        else if (own->runs != NULL)
            kf_cuda_pages_free(own);
        else
            kf_cuda.cuMemFree(address_of(buffer));
    }
    free(own->runs);
    free(own);
}

/* Splits a fill by devices. A call of the driver on memory must stay within the memory of one device. */
kf_status kf_cuda_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error) {
    const kf_cuda_buffer *own = (const kf_cuda_buffer *)buffer;
    const kf_cuda_run whole = {0, buffer->bytes};
    KF_TRY(kf_cuda_enter(buffer->backend, error));
    if (own->on_host) {
        KF_TRY(kf_cuda_wait(buffer->backend, kf_cuda_of(buffer->backend)->stream, error));
        memset(buffer->address, byte, buffer->bytes);
        return KF_OK;
    }
    for (int i = 0; i < (own->runs != NULL ? own->run_count : 1); i++) {
        const kf_cuda_run run = own->runs != NULL ? own->runs[i] : whole;
        /* This part is only the guard. */
        if (run.offset >= buffer->bytes) continue;
        const size_t left = buffer->bytes - run.offset;
        KF_CUDA_TRY(cuMemsetD8Async, address_of(buffer) + run.offset, byte,
                    left < run.bytes ? left : run.bytes, kf_cuda_of(buffer->backend)->stream);
    }
    return KF_OK;
}

kf_status kf_cuda_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error) {
    KF_TRY(kf_cuda_enter(target->backend, error));
    KF_CUDA_TRY(cuMemcpyDtoDAsync, address_of(target), address_of(source), bytes,
                kf_cuda_of(target->backend)->stream);
    return KF_OK;
}

/* Allocates the pinned memory of copies. Returns false when none is available; the copy is then slower. */
static bool prepare_stages(kf_cuda_backend *backend) {
    for (int i = 0; i < KF_STAGES; i++) {
        if (!backend->stage[i] &&
            kf_cuda.cuMemHostAlloc(&backend->stage[i], STAGE_BYTES, 0) != CUDA_SUCCESS) {
            backend->stage[i] = NULL;
            return false;
        }
        if (!backend->stage_free[i] &&
            kf_cuda.cuEventCreate(&backend->stage_free[i], CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
            backend->stage_free[i] = NULL;
            return false;
        }
    }
    return true;
}

void kf_cuda_stages_free(kf_cuda_backend *backend) {
    for (int i = 0; i < KF_STAGES; i++) {
        if (backend->stage[i]) kf_cuda.cuMemFreeHost(backend->stage[i]);
        if (backend->stage_free[i]) kf_cuda.cuEventDestroy(backend->stage_free[i]);
        backend->stage[i] = NULL;
        backend->stage_free[i] = NULL;
    }
}

static size_t stage_bytes(size_t done, size_t bytes) {
    return bytes - done < STAGE_BYTES ? bytes - done : STAGE_BYTES;
}

static kf_status upload_staged(kf_cuda_backend *backend, CUdeviceptr target, const char *data, size_t bytes,
                               kf_error *error) {
    int slot = 0;
    for (size_t done = 0; done < bytes; done += STAGE_BYTES, slot = (slot + 1) % KF_STAGES) {
        const size_t part = stage_bytes(done, bytes);
        if (done >= KF_STAGES * STAGE_BYTES) KF_CUDA_TRY(cuEventSynchronize, backend->stage_free[slot]);
        memcpy(backend->stage[slot], data + done, part);
        KF_CUDA_TRY(cuMemcpyHtoDAsync, target + done, backend->stage[slot], part, backend->stream);
        KF_CUDA_TRY(cuEventRecord, backend->stage_free[slot], backend->stream);
    }
    return KF_OK;
}

static kf_status empty_stage(kf_cuda_backend *backend, int slot, char *data, size_t bytes, kf_error *error) {
    KF_CUDA_TRY(cuEventSynchronize, backend->stage_free[slot]);
    memcpy(data, backend->stage[slot], bytes);
    return KF_OK;
}

static kf_status download_staged(kf_cuda_backend *backend, char *data, CUdeviceptr source, size_t bytes,
                                 kf_error *error) {
    size_t done = 0, emptied = 0;
    for (int chunk = 0; done < bytes; chunk++) {
        const int slot = chunk % KF_STAGES;
        const size_t part = stage_bytes(done, bytes);
        KF_CUDA_TRY(cuMemcpyDtoHAsync, backend->stage[slot], source + done, part, backend->stream);
        KF_CUDA_TRY(cuEventRecord, backend->stage_free[slot], backend->stream);
        done += part;
        /* Nothing has arrived before the first chunk. */
        if (chunk == 0) continue;
        KF_TRY(empty_stage(backend, (chunk - 1) % KF_STAGES, data + emptied, STAGE_BYTES, error));
        emptied += STAGE_BYTES;
    }
    const int last = (int)((emptied / STAGE_BYTES) % KF_STAGES);
    return empty_stage(backend, last, data + emptied, bytes - emptied, error);
}

/* Bytes from offset on, of so many, that lie in the same device's memory. */
static size_t together(const kf_buffer *buffer, size_t offset, size_t bytes) {
    const kf_cuda_buffer *own = (const kf_cuda_buffer *)buffer;
    for (int i = 0; own->runs != NULL && i < own->run_count; i++) {
        const size_t end = own->runs[i].offset + own->runs[i].bytes;
        if (offset < end) return end - offset < bytes ? end - offset : bytes;
    }
    return bytes;
}

static kf_status upload_run(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                            kf_error *error) {
    kf_cuda_backend *backend = kf_cuda_of(buffer->backend);
    const CUdeviceptr target = address_of(buffer) + offset;
    if (bytes > DIRECT_BYTES && prepare_stages(backend))
        KF_TRY(upload_staged(backend, target, data, bytes, error));
    else
        KF_CUDA_TRY(cuMemcpyHtoDAsync, target, data, bytes, backend->stream);
    KF_TRY(kf_cuda_wait(&backend->base, backend->stream, error));
    return KF_OK;
}

kf_status kf_cuda_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                                kf_error *error) {
    KF_TRY(kf_cuda_enter(buffer->backend, error));
    if (((kf_cuda_buffer *)buffer)->on_host) {
        KF_TRY(kf_cuda_wait(buffer->backend, kf_cuda_of(buffer->backend)->stream, error));
        memcpy((char *)buffer->address + offset, data, bytes);
        return KF_OK;
    }
    for (size_t done = 0, part; done < bytes; done += part) {
        part = together(buffer, offset + done, bytes - done);
        KF_TRY(upload_run(buffer, offset + done, (const char *)data + done, part, error));
    }
    return KF_OK;
}

static kf_status download_run(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                              kf_error *error) {
    kf_cuda_backend *backend = kf_cuda_of(buffer->backend);
    const CUdeviceptr source = address_of(buffer) + offset;
    if (bytes > DIRECT_BYTES && prepare_stages(backend))
        return download_staged(backend, data, source, bytes, error);
    KF_CUDA_TRY(cuMemcpyDtoHAsync, data, source, bytes, backend->stream);
    KF_TRY(kf_cuda_wait(&backend->base, backend->stream, error));
    return KF_OK;
}

kf_status kf_cuda_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                                  kf_error *error) {
    KF_TRY(kf_cuda_enter(buffer->backend, error));
    if (((const kf_cuda_buffer *)buffer)->on_host) {
        KF_TRY(kf_cuda_wait(buffer->backend, kf_cuda_of(buffer->backend)->stream, error));
        memcpy(data, (const char *)buffer->address + offset, bytes);
        return KF_OK;
    }
    for (size_t done = 0, part; done < bytes; done += part) {
        part = together(buffer, offset + done, bytes - done);
        KF_TRY(download_run(buffer, offset + done, (char *)data + done, part, error));
    }
    return KF_OK;
}

#endif
