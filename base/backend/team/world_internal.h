/* Declarations that the files that speak MPI share: world.c (which processes there are), messages.c (messages
 * between two of them, and their fate after a failure), collective.c (what all do together), watch.c (whether
 * all are alive). */
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
    int (*cancel)(void *request);
    int (*probe)(int from, int channel, int *bytes, int *tag);
    int (*takes_device_memory)(void);
} kf_mpi;

/* The shim's channels: collective work and news of failures; the watch; messages between two processes. */
enum { KF_CHANNEL_ALL, KF_CHANNEL_WATCH, KF_CHANNEL_PAIRS };
/* Tags of messages on KF_CHANNEL_ALL and on the channel of the watch. */
enum { KF_TAG_NEWS = 1, KF_TAG_COUNT = 2 };

enum { KF_HOST_NAME = 64, KF_SECRET = 16 };
/* A process of the world. */
typedef struct kf_member {
    char host[KF_HOST_NAME];
    /* The number of its process, and the namespace of this number (the host's, or a container's). */
    int64_t process, space;
    unsigned char name[KF_SECRET];   /* the name of its socket for parcels */
    unsigned char secret[KF_SECRET]; /* the secret that parcels to it must carry */
} kf_member;

/* The message by which a process whose work failed tells all others at once, so that none waits for its
 * messages or marks. agreement: the number of the agreement to which it goes; news of earlier agreements are
 * ignored. */
typedef struct kf_news {
    int64_t agreement;
    int32_t rank, status;
    char text[512];
} kf_news;

typedef struct kf_world {
    kf_mpi mpi;
    int rank, size, threads; /* threads: whether several threads may call MPI */
    int local_rank, local_size;
    kf_member *members; /* [size] */

    uint64_t exchanges;       /* collective operations so far (collective.c) */
    int64_t agreement;        /* number of the next agreement */
    bool told;                /* the failure of another process is known (heard) */
    bool given_up;            /* this process goes to the agreement and does nothing else with others */
    bool follows;             /* it does so only because another process has failed */
    bool releases;            /* those that wait for this process are released */
    kf_error broken;          /* KF_OK, or why the processes can do nothing together any more */
    kf_news heard, next;      /* next: the news being received */
    void *news;               /* the request that receives them */
    kf_news said;             /* this process's own news while they are being sent */
    void **saying;            /* [size] the requests that send them */
    int64_t *sent, *received; /* [size] messages between two processes since the last agreement */
    kf_posted *posted;        /* the list of messages on their way */
} kf_world;

/* Returns the world that is open, or NULL if this process is alone. */
kf_world *kf_world_here(void);

/* Returns a process of the open world by its rank. */
const kf_member *kf_world_member(int rank);

/* Writes "rank 2 of 4 on node07". Returns buffer. */
enum { KF_MEMBER_TEXT = 128 };
char *kf_member_text(const kf_world *all, int rank, char buffer[KF_MEMBER_TEXT]);

/* --- messages.c --- */
enum { KF_PIECE = 1 << 30 }; /* MPI counts in ints */
int kf_piece_of(size_t bytes, size_t done);
/* Waits until a request is done, whatever news arrive. KF_HOST where MPI fails. */
kf_status kf_world_await(void *request, kf_error *error);
/* Starts to receive news of failures. */
kf_status kf_news_begin(kf_world *world, kf_error *error);
void kf_news_end(kf_world *world);
/* Cleans up after an agreement at which a process has failed: no earlier message is left on its way, and
 * shared state is as at the start. All processes call it together. */
kf_status kf_world_clear(kf_world *world, kf_error *error);
/* Marks all news so far as old. */
void kf_news_forget(kf_world *world);

/* --- collective.c --- */
/* Waits until all processes have arrived here after a failure, and cleans up (kf_world_clear). */
kf_status kf_world_failure_barrier(kf_world *world, kf_error *error);
/* Waits until all processes have come as far as this. */
kf_status kf_world_line_up(kf_world *world, kf_error *error);

/* --- watch.c --- */
/* Starts a thread that tells the others twice a second that this process is alive, and ends it with one line
 * when another is not. */
kf_status kf_watch_start(const kf_world *world, kf_error *error);
/* Stops the watch: nothing that others do ends this process any more. status and message: how its work ended;
 * a failure is told to all (message NULL: it is not). Returns whether a process of lower rank ended for the
 * same reason and has printed it. */
enum { KF_LAST_WORDS = 512 };
bool kf_watch_stop(kf_status status, const char *message);

#endif
