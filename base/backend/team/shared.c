/* Shares memory between the processes of one host: buffers over the memories of all their devices, and marks.
 * A mark is a word in memory of the host. It counts the signals of one process, and the others read it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/backend/team/internal.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/util/memory.h"

/* Each slot is a cache line. */
enum { SLOTS = 2048, STRIDE = 16 };

/* The marks of the slots. A slot keeps its count when its mark is freed and another takes it: every process
 * makes, signals and frees the same marks in the same order. */
static struct {
    uint32_t *flags;
    uint32_t given[SLOTS];
    /* This process signals the mark. */
    bool own[SLOTS];
    int next, live;
    /* The backend whose devices wait for the marks. */
    kf_backend *first;
} shared;

/* --- When a process has failed -------------------------------------------------------------------------- */

/* Releases all that wait for a signal of this process. Their work is abandoned. */
static void release_marks(void) {
    enum { FAR = 1 << 30 };
    for (int i = 0; shared.flags != NULL && i < SLOTS; i++)
        if (shared.own[i])
            __atomic_store_n(&shared.flags[(size_t)i * STRIDE], shared.given[i] + FAR, __ATOMIC_RELEASE);
}

static void settle_devices(void) {
    if (shared.first != NULL) (void)kf_backend_synchronize(shared.first, NULL);
}

/* Signals are counted from none again. Of a host one process writes all words: who signals which may have
 * been about to change. */
static void reset_marks(void) {
    int first, count;
    kf_world_near(&first, &count);
    memset(shared.given, 0, sizeof shared.given);
    for (int i = 0; shared.flags != NULL && kf_world_rank() == first && i < SLOTS; i++)
        __atomic_store_n(&shared.flags[(size_t)i * STRIDE], 0, __ATOMIC_RELEASE);
}

static const kf_world_cleaner cleaner = {release_marks, settle_devices, reset_marks};

void kf_shared_forget(const kf_backend *first) {
    if (shared.first == first) shared.first = NULL;
}

/* --- Memory --------------------------------------------------------------------------------------------- */

/* The seals of shared memory. Memory that becomes smaller would kill the processes that read it. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* Says whether a file is memory of this user's with so many bytes, which stay. */
static bool is_whole(int file, size_t bytes) {
    struct stat about;
    return fstat(file, &about) == 0 && about.st_uid == geteuid() && about.st_size == (off_t)bytes &&
           fcntl(file, F_GET_SEALS) == SEALS;
}

/* Maps memory that all near processes see. The first makes a sealed file in memory and gives it to the
 * others. Every process maps it and checks its size and seals, so nobody can shorten it later. */
kf_status kf_shared_memory(kf_status made, size_t bytes, void **address, kf_error *error) {
    int first, count, file = -1, taken = -1;
    kf_world_near(&first, &count);
    int *counts = kf_allocate_zeroed((size_t)count, sizeof *counts);
    const bool own = kf_world_rank() == first;
    counts[0] = 1;
    *address = NULL;
    if (own && made == KF_OK) {
        file = memfd_create("kftune", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (file < 0 || ftruncate(file, (off_t)bytes) != 0 || fcntl(file, F_ADD_SEALS, SEALS) != 0)
            made = kf_fail(error, KF_MACHINE, "the system provides no memory that processes can share");
    }
    const kf_status status = kf_world_give_files(made, &file, counts, &taken, error);
    free(counts);
    const int source = own ? file : taken;
    if (status == KF_OK && source >= 0 && is_whole(source, bytes)) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, source, 0);
        if (at != MAP_FAILED) *address = at;
    }
    if (source >= 0) (void)close(source);
    KF_TRY(status);
    return *address != NULL ? KF_OK
                            : kf_fail(error, KF_MACHINE, "memory of another process cannot be mapped");
}

/* --- Marks ---------------------------------------------------------------------------------------------- */

static kf_status begin_marks(kf_backend *backend, kf_error *error) {
    const size_t bytes = (size_t)SLOTS * STRIDE * sizeof *shared.flags;
    void *flags = shared.flags;
    if (flags == NULL) KF_TRY(kf_shared_memory(KF_OK, bytes, &flags, error));
    shared.flags = flags;
    shared.first = backend;
    kf_world_clean_with(&cleaner);
    return backend->methods->reach_flags != NULL ? backend->methods->reach_flags(backend, flags, bytes, error)
                                                 : KF_OK;
}

static void free_mark(kf_mark *mark) {
    shared.live--;
    if (shared.live == 0) shared.next = 0;
    free(mark);
}

/* Makes a mark that near processes share. It takes the next slot of the shared memory, which is the same on
 * all of them. */
kf_status kf_mark_create_shared(kf_backend *backend, bool own, kf_mark **mark, kf_error *error) {
    *mark = NULL;
    if (shared.next == SLOTS)
        return kf_fail(error, KF_MACHINE, "%d counters between processes are too many", SLOTS);
    kf_mark *made = kf_allocate_zeroed(1, sizeof *made);
    *made = (kf_mark){.backend = backend,
                      .flag = shared.flags + (size_t)shared.next * STRIDE,
                      .given = &shared.given[shared.next],
                      .free = free_mark,
                      .own = own};
    shared.own[shared.next] = own;
    shared.next++;
    shared.live++;
    *mark = made;
    return KF_OK;
}

/* --- Reach ---------------------------------------------------------------------------------------------- */

/* Tests sharing with a page of each part, which all of these processes should be able to read. */
static kf_status try_to_share(kf_backend *first, kf_error *error) {
    enum { PAGE = 2 << 20 };
    size_t ends[KF_MOST_PARTS];
    kf_buffer *buffer = NULL;
    const size_t bytes = (size_t)first->near_parts * PAGE;
    for (int part = 0; part < first->near_parts; part++)
        ends[part] = (size_t)(part + 1) * PAGE;
    kf_status status = begin_marks(first, error);
    status = kf_world_agree_near(status, error);
    KF_TRY(status);
    status = first->team_methods->buffer_share(first, bytes, bytes, ends, &buffer, error);
    if (status == KF_OK) kf_buffer_free(buffer);
    return kf_world_agree_near(status, error);
}

/* Finds which parts a team reaches: its own, and those of near processes when sharing memory with them works.
 * Otherwise it reaches only its own parts, and the status says why. */
kf_status kf_find_reach(kf_backend *first, const int64_t parts_of[], kf_error *error) {
    int rank, count;
    first->near_first = first->first_part;
    first->near_parts = first->parts;
    kf_world_near(&rank, &count);
    if (count == 1) return KF_OK;
    const int own_first = first->first_part;
    first->near_counts = kf_allocate((size_t)count * sizeof *first->near_counts);
    first->near_parts = 0;
    for (int i = 0; i < count; i++) {
        first->near_counts[i] = (int)parts_of[rank + i];
        first->near_parts += first->near_counts[i];
        if (rank + i < kf_world_rank()) first->near_first -= first->near_counts[i];
    }
    const kf_status status = try_to_share(first, error);
    if (status == KF_OK) return KF_OK;
    first->near_first = own_first;
    first->near_parts = first->parts;
    return status;
}
