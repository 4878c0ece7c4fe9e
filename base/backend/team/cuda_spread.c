/* Buffers over the memories of several devices, with one range of addresses that all of them read and write.
 * The devices are those of a team, or of all processes of one host. In that case each process makes the pages
 * of its own devices and gives them to the others as open files. */
#ifdef KF_HAVE_CUDA

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/backend/cuda/internal.h"
#include "base/backend/team/internal.h"
#include "base/backend/team/world.h"
#include "base/util/memory.h"

static kf_status check_peers(kf_backend *const *parts, int count, kf_error *error) {
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            const CUdevice from = kf_cuda_of(parts[a])->device, to = kf_cuda_of(parts[b])->device;
            int reaches = 1;
            if (from != to) KF_CUDA_TRY(cuDeviceCanAccessPeer, &reaches, from, to);
            if (!reaches)
                return kf_fail(
                    error, KF_MACHINE,
                    "cuda: device %d cannot read the memory of device %d: a team needs peer access "
                    "(NVLink, or PCIe below one switch)",
                    (int)from, (int)to);
        }
    return KF_OK;
}

/* Returns the part that keeps a byte. */
static int keeper(size_t byte, size_t period, const size_t *ends, int count) {
    int part = 0;
    while (part < count - 1 && byte % period >= ends[part])
        part++;
    return part;
}

/* Finds the end of the run of pages from `first` that one part keeps, and that part. */
static size_t run_end(const kf_cuda_buffer *buffer, size_t page, size_t period, const size_t *ends, int count,
                      size_t first, int *part) {
    const size_t bytes = buffer->base.bytes, pages = buffer->reserved / page;
    size_t end = first;
    for (; end < pages; end++) {
        const size_t middle = end * page + page / 2;
        const int keeps = keeper(middle < bytes ? middle : bytes - 1, period, ends, count);
        if (end == first) *part = keeps;
        if (keeps != *part) break;
    }
    return end;
}

static kf_status map_runs(kf_cuda_buffer *buffer, kf_backend *const *parts, int count, size_t page,
                          size_t period, const size_t *ends, kf_error *error) {
    const size_t pages = buffer->reserved / page;
    for (size_t first = 0, end; first < pages; first = end) {
        int part = 0;
        end = run_end(buffer, page, period, ends, count, first, &part);
        KF_TRY(kf_cuda_add_pages(buffer, parts[part], first * page, (end - first) * page, error));
    }
    return KF_OK;
}

static kf_status buffer_spread(kf_backend *const *parts, int count, size_t bytes, size_t period,
                               const size_t *ends, kf_buffer **buffer, kf_error *error) {
    size_t page = 0;
    kf_cuda_buffer *made = NULL;
    KF_TRY(check_peers(parts, count, error));
    kf_status status = kf_cuda_reserve(parts[0], bytes, &made, &page, error);
    if (made == NULL) return status;
    status = map_runs(made, parts, count, page, period, ends, error);
    if (status == KF_OK) status = kf_cuda_give_access(made, 0, made->reserved, parts, count, error);
    return kf_cuda_end_pages(made, status, buffer);
}

/* --- Several processes -------------------------------------------------------------------------------- */

/* Returns the process of a part. Both are counted from the first within reach. */
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
        s.end = run_end(buffer, page, period, ends, first->near_parts, at, &s.part);
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

/* Exchanges the files of all processes, in the order of their stretches. The files of this process are made
 * here. */
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

static kf_status buffer_share(kf_backend *first, size_t bytes, size_t period, const size_t *ends,
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
    return kf_cuda_end_pages(made, status, buffer);
}

const kf_team_methods kf_cuda_team_methods = {.buffer_spread = buffer_spread, .buffer_share = buffer_share};

#endif
