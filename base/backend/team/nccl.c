#include "base/backend/team/nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/internal.h"
#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Holds what the parts of a run have in common as long as their backend is open. */
struct kf_nccl {
    /* The communicators of this process's parts. */
    void *communicators[KF_MOST_DEVICES];
    int count;
    char version[32];
};

typedef struct group_end {
    kf_nccl_group *group;
    int part;
    /* The stream of the last call. */
    kf_stream *stream;
} group_end;

struct kf_nccl_group {
    kf_backend *first;
    /* [part of this process]. */
    group_end ends[KF_MOST_DEVICES];
    kf_nccl_message *messages;
    int count, room;
};

#ifdef KF_HAVE_CUDA

#include <pthread.h>
#include <stddef.h>

#include "base/backend/cuda/internal.h"
#include "base/backend/library.h"

/* CUDA's toolkit does not include nccl.h, so the used part of its stable binary interface is declared here.
 * Results are 0 on success. */
enum { NCCL_BYTES = 0, NCCL_ID_BYTES = 128 }; /* ncclInt8, NCCL_UNIQUE_ID_BYTES */
typedef struct nccl_id {
    char bytes[NCCL_ID_BYTES];
} nccl_id;

#define NCCL_FUNCTIONS(X)                                                                                    \
    X(ncclGetVersion, int, (int *version))                                                                   \
    X(ncclGetErrorString, const char *, (int result))                                                        \
    X(ncclGetUniqueId, int, (nccl_id * id))                                                                  \
    X(ncclCommInitRank, int, (void **communicator, int ranks, nccl_id id, int rank))                         \
    X(ncclCommDestroy, int, (void *communicator))                                                            \
    X(ncclGroupStart, int, (void))                                                                           \
    X(ncclGroupEnd, int, (void))                                                                             \
    X(ncclSend, int, (const void *data, size_t count, int type, int to, void *communicator, void *stream))   \
    X(ncclRecv, int, (void *data, size_t count, int type, int from, void *communicator, void *stream))

#define NCCL_MEMBER(name, result, arguments)                                                                 \
    result(*(name)) arguments; /* NOLINT(bugprone-macro-parentheses): parameters */
static struct nccl_table {
    NCCL_FUNCTIONS(NCCL_MEMBER)
    const char *(*last_error)(void *communicator); /* or NULL */
    int (*abort)(void *communicator);              /* or NULL */
} nccl;
/* The first of the joined parts, or NULL. */
static kf_backend *joined;
#undef NCCL_MEMBER

#define NCCL_ENTRY(name, result, arguments) {#name, offsetof(struct nccl_table, name), false},
static const kf_symbol nccl_symbols[] = {
    NCCL_FUNCTIONS(NCCL_ENTRY){"ncclGetLastError", offsetof(struct nccl_table, last_error), true},
    {"ncclCommAbort", offsetof(struct nccl_table, abort), true},
};
#undef NCCL_ENTRY

static const char *const nccl_names[] = {"libnccl.so.2", NULL};
static const kf_library nccl_library = {
    .override = "KFTUNE_NCCL",
    .names = nccl_names,
    .folders = kf_cuda_folders,
    .cure = "install NCCL (package libnccl2, or pip's nvidia-nccl-cu13), set KFTUNE_NCCL to its file, or use "
            "another transfer",
    .symbols = nccl_symbols,
    .symbol_count = sizeof nccl_symbols / sizeof nccl_symbols[0],
};

static pthread_once_t nccl_once = PTHREAD_ONCE_INIT;
static kf_status nccl_status;
static kf_error nccl_error;

/* Messages between two devices have no use for NVLink's multicast, whose set-up takes time and memory. */
static void load(void) {
    char file[KF_PATH];
    (void)setenv("NCCL_NVLS_ENABLE", "0", 1); /* NOLINT(concurrency-mt-unsafe): before NCCL's threads are */
    nccl_status = kf_library_load(&nccl_library, &nccl, file, &nccl_error);
}

static kf_status library(kf_error *error) {
    (void)pthread_once(&nccl_once, load);
    return nccl_status == KF_OK ? KF_OK : kf_fail(error, nccl_status, "%s", nccl_error.message);
}

static kf_status check(int result, const char *call, kf_error *error) {
    if (result == 0) return KF_OK;
    const char *why = nccl.last_error != NULL ? nccl.last_error(NULL) : "";
    return kf_fail(error, KF_MACHINE, "NCCL: %s: %s%s%.*s", call, nccl.ncclGetErrorString(result),
                   why[0] != '\0' ? ": " : "", (int)strcspn(why, "\n"), why);
}

/* Joins every part of the process at once. */
static kf_status join_parts(kf_backend *first, struct kf_nccl *made, const nccl_id *id, kf_error *error) {
    const int all = first->device.parts;
    KF_TRY(check(nccl.ncclGroupStart(), "ncclGroupStart", error));
    kf_status status = KF_OK;
    for (int part = 0; part < first->parts && status == KF_OK; part++) {
        status = kf_cuda_enter(first->team[part], error);
        if (status == KF_OK)
            status =
                check(nccl.ncclCommInitRank(&made->communicators[part], all, *id, first->first_part + part),
                      "ncclCommInitRank", error);
    }
    const int ended = nccl.ncclGroupEnd();
    return status != KF_OK ? status : check(ended, "ncclGroupEnd", error);
}

void kf_nccl_close(kf_backend *first) {
    if (first->nccl == NULL) return;
    for (int part = 0; part < first->nccl->count; part++)
        if (kf_cuda_enter(first->team[part], NULL) == KF_OK)
            (void)nccl.ncclCommDestroy(first->nccl->communicators[part]);
    free(first->nccl);
    first->nccl = NULL;
    joined = NULL;
}

/* Aborts messages that wait for a failed process. The parts are joined again when they are needed. */
static void abort_messages(void) {
    struct kf_nccl *own = joined != NULL ? joined->nccl : NULL;
    if (own == NULL || nccl.abort == NULL) return;
    for (int part = 0; part < own->count; part++)
        if (kf_cuda_enter(joined->team[part], NULL) == KF_OK) (void)nccl.abort(own->communicators[part]);
    own->count = 0;
}

static void settle_nothing(void) {
    /* Nothing to do here: shared.c and the plans wait for the devices. */
}

static void come_apart(void) {
    if (joined != NULL) kf_nccl_close(joined);
}

static const kf_world_cleaner cleaner = {abort_messages, settle_nothing, come_apart};

/* Joins all parts of the run. The first process makes the identifier and sends it to the others. All
 * processes call it, and all fail when one does. */
static kf_status open_nccl(kf_backend *first, kf_error *error) {
    nccl_id id;
    int version = 0;
    memset(&id, 0, sizeof id);
    kf_status status = check(nccl.ncclGetVersion(&version), "ncclGetVersion", error);
    if (status == KF_OK && kf_world_rank() == 0)
        status = check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId", error);
    KF_TRY(kf_world_agree(status, error));
    KF_TRY(kf_world_share(&id, sizeof id, error));
    struct kf_nccl *made = kf_allocate_zeroed(1, sizeof *made);
    status = kf_world_agree(join_parts(first, made, &id, error), error);
    if (status != KF_OK) {
        free(made);
        return status;
    }
    made->count = first->parts;
    (void)snprintf(made->version, sizeof made->version, "NCCL %d.%d.%d", version / 10000, version / 100 % 100,
                   version % 100);
    first->nccl = made;
    joined = first;
    kf_world_clean_with(&cleaner);
    return KF_OK;
}

static kf_status give(const kf_nccl_group *group, const kf_nccl_message *m, kf_error *error) {
    void *communicator = group->first->nccl->communicators[m->part],
         *data = (char *)kf_buffer_address(m->buffer) + m->at,
         *stream = kf_stream_handle(group->ends[m->part].stream);
    return m->sends ? check(nccl.ncclSend(data, m->bytes, NCCL_BYTES, m->other, communicator, stream),
                            "ncclSend", error)
                    : check(nccl.ncclRecv(data, m->bytes, NCCL_BYTES, m->other, communicator, stream),
                            "ncclRecv", error);
}

static kf_status begin_messages(const kf_nccl_group *group, kf_error *error) {
    KF_TRY(check(nccl.ncclGroupStart(), "ncclGroupStart", error));
    kf_status status = KF_OK;
    for (int i = 0; i < group->count && status == KF_OK; i++)
        status = give(group, &group->messages[i], error);
    const int ended = nccl.ncclGroupEnd();
    return status != KF_OK ? status : check(ended, "ncclGroupEnd", error);
}

#else

static kf_status library(kf_error *error) {
    return kf_fail(error, KF_MACHINE, "this kftune was built without CUDA, and so without NCCL");
}

static kf_status open_nccl(kf_backend *first, kf_error *error) {
    (void)first;
    return library(error);
}

void kf_nccl_close(kf_backend *first) {
    (void)first;
}

static kf_status begin_messages(const kf_nccl_group *group, kf_error *error) {
    return open_nccl(group->first, error);
}

#endif

kf_status kf_nccl_available(const char *backend, kf_error *error) {
    if (strcmp(backend, "cuda") == 0) return library(error);
    return kf_fail(
        error, KF_BAD_INPUT,
        "transfer=nccl copies planes between GPUs, but this device is the cpu; use another transfer");
}

kf_status kf_nccl_group_create(kf_backend *backend, kf_nccl_group **group, kf_error *error) {
    *group = NULL;
    KF_TRY(kf_world_agree(kf_nccl_available(backend->device.backend, error), error));
    if (backend->nccl == NULL) KF_TRY(open_nccl(backend, error));
    kf_nccl_group *made = kf_allocate_zeroed(1, sizeof *made);
    made->first = backend;
    for (int part = 0; part < backend->parts; part++)
        made->ends[part] = (group_end){.group = made, .part = part};
    *group = made;
    return KF_OK;
}

void kf_nccl_group_free(kf_nccl_group *group) {
    if (group == NULL) return;
    free(group->messages);
    free(group);
}

void kf_nccl_group_add(kf_nccl_group *group, const kf_nccl_message *message) {
    if (group->count == group->room) {
        group->room = 2 * group->room + 4;
        group->messages = kf_reallocate(group->messages, (size_t)group->room * sizeof *group->messages);
    }
    group->messages[group->count++] = *message;
}

void kf_nccl_group_clear(kf_nccl_group *group) {
    group->count = 0;
}

void *kf_nccl_group_end(kf_nccl_group *group, int part) {
    return &group->ends[part];
}

kf_status kf_nccl_enqueue(void *end, kf_stream *stream, kf_error *error) {
    group_end *own = end;
    own->stream = stream;
    return own->part == own->group->first->parts - 1 ? begin_messages(own->group, error) : KF_OK;
}

const char *kf_nccl_version(const kf_nccl_group *group) {
    return group->first->nccl->version;
}
