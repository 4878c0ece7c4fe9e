/* Buffers over the memories of all devices that processes of one host have: each makes the pages of its own
 * devices and gives them to the others as open files. And the marks between these processes, words in the
 * host's memory that streams write and wait for. */
#ifdef KF_HAVE_CUDA

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/backend/cuda_internal.h"
#include "base/backend/world.h"
#include "base/util/memory.h"

/* The process of a part, both counted from the first in reach. */
static int process_of(const kf_backend *first, int part) {
    int process = 0;
    for (int before = first->near_counts[0]; part >= before; before += first->near_counts[process])
        process++;
    return process;
}

/* Pages first .. end - 1 of a buffer are of one part. */
typedef struct stretch {
    size_t first, end;
    int part, process;
} stretch;

static int find_stretches(const kf_backend *first, const kf_cuda_buffer *buffer, size_t page, size_t period,
                          const size_t *ends, stretch **found) {
    const size_t pages = buffer->reserved / page;
    int count = 0;
    *found = NULL;
    for (size_t at = 0; at < pages; count++) {
        stretch s = {.first = at};
        s.end = kf_cuda_run_end(buffer, page, period, ends, first->near_parts, at, &s.part);
        s.process = process_of(first, s.part);
        *found = kf_reallocate(*found, ((size_t)count + 1) * sizeof **found);
        (*found)[count] = s;
        at = s.end;
    }
    return count;
}

/* Makes and maps one's own, and opens a file of it. */
static kf_status make_own(kf_cuda_buffer *buffer, kf_backend *part, size_t offset, size_t bytes, int *file,
                          kf_error *error) {
    CUmemGenericAllocationHandle handle = 0;
    KF_TRY(kf_cuda_make_pages(part, bytes, true, &handle, error));
    const CUresult exported =
        kf_cuda.cuMemExportToShareableHandle(file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    KF_TRY(kf_cuda_map_pages(buffer, offset, bytes, handle, error));
    return exported == CUDA_SUCCESS ? KF_OK : kf_cuda_fail(error, exported, "cuMemExportToShareableHandle");
}

static kf_status map_other(kf_cuda_buffer *buffer, size_t offset, size_t bytes, int file, kf_error *error) {
    CUmemGenericAllocationHandle handle = 0;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes the number of a file as a pointer */
    KF_CUDA_TRY(cuMemImportFromShareableHandle, &handle, (void *)(uintptr_t)file,
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    return kf_cuda_map_pages(buffer, offset, bytes, handle, error);
}

/* The files of all processes, in the order of their stretches: this one's are made here. */
static kf_status trade_pages(kf_backend *first, kf_cuda_buffer *buffer, size_t page, const stretch *list,
                             int count, int *taken, kf_error *error) {
    int rank, processes, made = 0;
    kf_world_near(&rank, &processes);
    const int self = kf_world_rank() - rank, offset = first->first_part - first->near_first;
    int *counts = kf_allocate_zeroed((size_t)processes, sizeof *counts),
        *given = kf_allocate_zeroed((size_t)count, sizeof *given);
    kf_status status = KF_OK;
    for (int i = 0; i < count; i++) {
        const stretch *s = &list[i];
        counts[s->process]++;
        if (s->process != self || status != KF_OK) continue;
        status = make_own(buffer, first->team[s->part - offset], s->first * page, (s->end - s->first) * page,
                          &given[made], error);
        if (status == KF_OK) made++;
    }
    status = kf_world_give_files(status, given, counts, taken, error);
    for (int i = 0; i < made; i++)
        (void)close(given[i]);
    free(counts);
    free(given);
    return status;
}

/* Maps what came, and closes it. */
static kf_status map_taken(kf_cuda_buffer *buffer, size_t page, const stretch *list, int count,
                           const int *taken, kf_error *error) {
    int rank, processes, next = 0;
    kf_status status = KF_OK;
    kf_world_near(&rank, &processes);
    for (int process = 0; process < processes; process++)
        for (int i = 0; i < count; i++) {
            if (list[i].process != process) continue;
            const int file = taken[next++];
            if (file < 0) continue; /* one's own */
            if (status == KF_OK)
                status = map_other(buffer, list[i].first * page, (list[i].end - list[i].first) * page, file,
                                   error);
            (void)close(file);
        }
    return status;
}

kf_status kf_cuda_buffer_share(kf_backend *first, size_t bytes, size_t period, const size_t *ends,
                               kf_buffer **buffer, kf_error *error) {
    size_t page = 0;
    kf_cuda_buffer *made;
    stretch *list;
    KF_TRY(kf_cuda_reserve(first, bytes, &made, &page, error));
    const int count = find_stretches(first, made, page, period, ends, &list);
    int *taken = kf_allocate((size_t)count * sizeof *taken);
    kf_status status = trade_pages(first, made, page, list, count, taken, error);
    if (status == KF_OK) status = map_taken(made, page, list, count, taken, error);
    if (status == KF_OK)
        status = kf_cuda_give_access(made, 0, made->reserved, first->team, first->parts, error);
    free(taken);
    free(list);
    return kf_cuda_end_spread(made, status, buffer);
}

/* --- marks ---------------------------------------------------------------------------------------------- */

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
