/* NCCL: messages between the GPUs of a run, of one process or of several, as work that is put into their
 * streams. The library (libnccl.so.2) is looked for when the program runs; where it is missing, everything
 * else works. Interface: NVIDIA's NCCL user guide, "Point-to-point communication" and "Group calls". */
#ifndef KF_BASE_BACKEND_TEAM_NCCL_H
#define KF_BASE_BACKEND_TEAM_NCCL_H

#include "base/backend/backend.h"

/* Bytes of a buffer of one of this process's parts, from `at` on, go to, or come from, another part. */
typedef struct kf_nccl_message {
    int part;  /* counted from this process's first */
    int other; /* counted from the first of all processes */
    bool sends;
    kf_buffer *buffer; /* on the part's device; outlives the group's last call */
    size_t bytes, at;
} kf_nccl_message;

/* Messages that all parts begin together. Of several between the same two parts the first that is sent is the
 * first that is received, in the order in which they were added. */
typedef struct kf_nccl_group kf_nccl_group;

/* Says whether there is NCCL for devices of that backend; KF_BAD_INPUT on the cpu, KF_MACHINE with what is
 * missing, and the cure. */
kf_status kf_nccl_available(const char *backend, kf_error *error);

/* Makes a group for a team, whose first backend is given. The first call joins all parts of the run, which
 * takes about a second and lasts as long as the backend; all processes make it together. Fails as
 * kf_nccl_available does, and where NCCL cannot join them. */
kf_status kf_nccl_group_create(kf_backend *backend, kf_nccl_group **group, kf_error *error);
void kf_nccl_group_free(kf_nccl_group *group); /* may be NULL */
void kf_nccl_group_add(kf_nccl_group *group, const kf_nccl_message *message);
void kf_nccl_group_clear(kf_nccl_group *group); /* it has no messages any more */

/* A kf_call_function; its object is a part's end of the group, which lives as long as that. Every part of the
 * process is given its call in turn, before any of them is given what needs the messages: the last call
 * begins the messages of all, each in the stream that its part was given the call in. Not in a graph. */
kf_status kf_nccl_enqueue(void *end, kf_stream *stream, kf_error *error);
void *kf_nccl_group_end(kf_nccl_group *group, int part);
/* "NCCL 2.28.9": what enters a plan's hash. */
const char *kf_nccl_version(const kf_nccl_group *group);

#endif
