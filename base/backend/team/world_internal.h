/* Between world.c and world_watch.c. */
#ifndef KF_BASE_BACKEND_TEAM_WORLD_INTERNAL_H
#define KF_BASE_BACKEND_TEAM_WORLD_INTERNAL_H

#include "base/backend/team/world.h"

/* The shim's functions (kernels/mpi/shim.c). */
typedef struct kf_mpi {
    int (*begin)(int *rank, int *size, int *threads);
    int (*end)(void);
    void *(*send)(const void *data, int bytes, int to, int tag, int channel);
    void *(*receive)(void *data, int bytes, int from, int tag, int channel);
    void *(*sum)(int64_t *values, int count);
    void *(*share)(void *data, int bytes, int from);
    int (*test)(void *request);
    void (*cancel)(void *request);
    int (*takes_device_memory)(void);
} kf_mpi;

enum { KF_HOST_NAME = 64 };
/* A process of the world. */
typedef struct kf_member {
    char host[KF_HOST_NAME];
    int64_t process;
} kf_member;

typedef struct kf_world {
    kf_mpi mpi;
    int rank, size, threads; /* threads: whether several may call */
    int local_rank, local_size;
    kf_member *members; /* [size] */
} kf_world;

/* The system's number of a process. */
int64_t kf_world_process(int rank);

/* "rank 2 of 4 on node07". Returns buffer. */
enum { KF_MEMBER_TEXT = 128 };
char *kf_member_text(const kf_world *all, int rank, char buffer[KF_MEMBER_TEXT]);

/* From now on a thread says twice a second that this process is there, and ends it with one line when another
 * is not. */
kf_status kf_watch_start(const kf_world *world, kf_error *error);
/* From here on nothing that others do ends this process. status, message: how its work ended, which all are
 * told unless it is KF_OK (message NULL). Returns whether a process of lower rank ended for the same, and has
 * said so. */
enum { KF_LAST_WORDS = 512 };
bool kf_watch_stop(kf_status status, const char *message);

#endif
