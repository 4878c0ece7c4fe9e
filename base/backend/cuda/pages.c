/* Buffers made of pages: one range of addresses, parts of which have memory on one or more devices. This file
 * makes those of which a single device keeps some pages. team/cuda_spread.c makes the others. */
#ifdef KF_HAVE_CUDA

#include <stdint.h>
#include <stdlib.h>

#include "base/backend/cuda/internal.h"
#include "base/util/memory.h"
#include "base/util/text.h"

static CUmemAllocationProp memory_of(CUdevice device, bool shared) {
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                                : CU_MEM_HANDLE_TYPE_NONE,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

kf_status kf_cuda_make_pages(kf_backend *part, size_t bytes, bool shared,
                             CUmemGenericAllocationHandle *handle, kf_error *error) {
    const CUmemAllocationProp memory = memory_of(kf_cuda_of(part)->device, shared);
    char wanted[32];
    const CUresult made = kf_cuda.cuMemCreate(handle, bytes, &memory, 0);
    if (made == CUDA_ERROR_OUT_OF_MEMORY)
        return kf_fail(error, KF_MACHINE, "cuda: out of memory: %s wanted on device %d: use a smaller grid",
                       kf_human_bytes((double)bytes, wanted), (int)memory.location.id);
    return made == CUDA_SUCCESS ? KF_OK : kf_cuda_fail(error, made, "cuMemCreate");
}

kf_status kf_cuda_map_pages(kf_cuda_buffer *buffer, size_t offset, size_t bytes,
                            CUmemGenericAllocationHandle handle, kf_error *error) {
    const CUdeviceptr at = (CUdeviceptr)(uintptr_t)buffer->base.address + offset;
    const CUresult mapped = kf_cuda.cuMemMap(at, bytes, 0, handle, 0);
    /* The mapping keeps the memory. */
    kf_cuda.cuMemRelease(handle);
    if (mapped != CUDA_SUCCESS) return kf_cuda_fail(error, mapped, "cuMemMap");
    buffer->runs = kf_reallocate(buffer->runs, ((size_t)buffer->run_count + 1) * sizeof *buffer->runs);
    int at_run = buffer->run_count++; /* ascending */
    for (; at_run > 0 && buffer->runs[at_run - 1].offset > offset; at_run--)
        buffer->runs[at_run] = buffer->runs[at_run - 1];
    buffer->runs[at_run] = (kf_cuda_run){offset, bytes};
    return KF_OK;
}

kf_status kf_cuda_add_pages(kf_cuda_buffer *buffer, kf_backend *part, size_t offset, size_t bytes,
                            kf_error *error) {
    CUmemGenericAllocationHandle handle = 0;
    KF_TRY(kf_cuda_make_pages(part, bytes, false, &handle, error));
    return kf_cuda_map_pages(buffer, offset, bytes, handle, error);
}

kf_status kf_cuda_give_access(const kf_cuda_buffer *buffer, size_t offset, size_t bytes,
                              kf_backend *const *parts, int count, kf_error *error) {
    CUmemAccessDesc access[KF_MOST_PARTS];
    size_t devices = 0;
    for (int part = 0; part < count; part++) {
        const CUdevice device = kf_cuda_of(parts[part])->device;
        bool known = false;
        for (size_t i = 0; i < devices; i++)
            known = known || access[i].location.id == device;
        if (known) continue;
        access[devices++] = (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    }
    KF_CUDA_TRY(cuMemSetAccess, (CUdeviceptr)(uintptr_t)buffer->base.address + offset, bytes, access,
                devices);
    return KF_OK;
}

/* Addresses without memory. */
kf_status kf_cuda_reserve(kf_backend *backend, size_t bytes, kf_cuda_buffer **buffer, size_t *page,
                          kf_error *error) {
    const CUmemAllocationProp memory = memory_of(kf_cuda_of(backend)->device, false);
    CUdeviceptr address = 0;
    KF_TRY(kf_cuda_enter(backend, error));
    KF_CUDA_TRY(cuMemGetAllocationGranularity, page, &memory, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    const size_t reserved = (bytes + KF_GUARD_BYTES + *page - 1) / *page * *page;
    KF_CUDA_TRY(cuMemAddressReserve, &address, reserved, 0, 0, 0);
    kf_cuda_buffer *made = kf_allocate_zeroed(1, sizeof *made);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the driver gives addresses as numbers */
    made->base = (kf_buffer){.backend = backend, .bytes = bytes, .address = (void *)(uintptr_t)address};
    made->reserved = reserved;
    *buffer = made;
    return KF_OK;
}

/* Takes over made. */
kf_status kf_cuda_end_pages(kf_cuda_buffer *made, kf_status status, kf_buffer **buffer) {
    if (status == KF_OK) {
        *buffer = &made->base;
        return KF_OK;
    }
    kf_cuda_pages_free(made);
    free(made->runs);
    free(made);
    return status;
}

kf_status kf_cuda_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                 int count, kf_buffer **buffer, kf_error *error) {
    size_t page = 0;
    kf_cuda_buffer *made = NULL;
    kf_status status = kf_cuda_reserve(backend, bytes, &made, &page, error);
    if (made == NULL) return status;
    const size_t pages = made->reserved / page;
    for (size_t run[2] = {0, 0};
         status == KF_OK && kf_buffer_next_kept(page, pages, bytes, period, kept, count, run);) {
        const size_t offset = run[0] * page, size = (run[1] - run[0]) * page;
        status = kf_cuda_add_pages(made, backend, offset, size, error);
        if (status == KF_OK) status = kf_cuda_give_access(made, offset, size, &backend, 1, error);
    }
    return kf_cuda_end_pages(made, status, buffer);
}

void kf_cuda_pages_free(kf_cuda_buffer *buffer) {
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)buffer->base.address;
    for (int i = 0; i < buffer->run_count; i++)
        kf_cuda.cuMemUnmap(address + buffer->runs[i].offset, buffer->runs[i].bytes);
    kf_cuda.cuMemAddressFree(address, buffer->reserved);
}

#endif
