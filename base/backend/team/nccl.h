/* Messages between the GPUs of one or several processes by NCCL, as work in their streams. The library
 * (libnccl.so.2) is looked for at run time. Where it is missing, everything else works. Interface: NVIDIA's
 * NCCL user guide, "Point-to-point communication" and "Group calls". */
#ifndef KF_BASE_BACKEND_TEAM_NCCL_H
#define KF_BASE_BACKEND_TEAM_NCCL_H

#include "base/backend/backend.h"

/* A message: bytes of a buffer of one of this process's parts are sent to, or received from, another part. */
typedef struct kf_nccl_message {
    int part;  /* index of the part in this process */
    int other; /* index of the other part in the whole run */
    bool sends;
    kf_buffer *buffer; /* on the part's device; outlives the last call of the group */
    size_t bytes, at;
} kf_nccl_message;

/* A group of messages that all parts begin together. Several messages between the same two parts are received
 * in the order in which they were sent, which is that in which they were added. */
typedef struct kf_nccl_group kf_nccl_group;

/* KF_OK if NCCL works for devices of that backend. KF_BAD_INPUT on the cpu; KF_MACHINE with what is missing
 * and the cure. */
kf_status kf_nccl_available(const char *backend, kf_error *error);

/* Makes a group for the team whose first backend is given. The first call joins all parts of the run in a
 * communicator, which takes about a second; it lasts as long as the backend. All processes call it together.
 * It fails as kf_nccl_available does, and where NCCL cannot join them. */
kf_status kf_nccl_group_create(kf_backend *backend, kf_nccl_group **group, kf_error *error);
void kf_nccl_group_free(kf_nccl_group *group); /* may be NULL */
void kf_nccl_group_add(kf_nccl_group *group, const kf_nccl_message *message);
void kf_nccl_group_clear(kf_nccl_group *group); /* removes all messages */

/* A kf_call_function; its object is the part's end of the group (kf_nccl_group_end), which lives as long as
 * the group. Each part of the process gets its call in turn, before any part gets work that needs the
 * messages. The last call begins the messages of all parts, each in the stream of its part's call. It must
 * not be in a graph. */
kf_status kf_nccl_enqueue(void *end, kf_stream *stream, kf_error *error);
void *kf_nccl_group_end(kf_nccl_group *group, int part);
/* Returns the library's version, "NCCL 2.28.9", which is part of a plan's hash. */
const char *kf_nccl_version(const kf_nccl_group *group);

#endif
