/* Between the files of base/backend/team that speak MPI: world.c (who there is), messages.c (from one process
 * to another, and what happens to them when one fails), collective.c (what all do together), watch.c. */
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

/* The shim's channels: what all do together, and news of failures; the watch; messages of some to some. */
enum { KF_CHANNEL_ALL, KF_CHANNEL_WATCH, KF_CHANNEL_PAIRS };
/* Tags of messages on KF_CHANNEL_ALL, and of the watch on its own. */
enum { KF_TAG_NEWS = 1, KF_TAG_COUNT = 2 };

enum { KF_HOST_NAME = 64, KF_SECRET = 16 };
/* A process of the world. */
typedef struct kf_member {
    char host[KF_HOST_NAME];
    int64_t process, space; /* its number, and where that number counts (a container's, or the host's) */
    unsigned char name[KF_SECRET];   /* by which it is found for parcels */
    unsigned char secret[KF_SECRET]; /* that parcels for it bear */
} kf_member;

/* Carries what a process whose work failed tells the others at once, so that none waits for its messages
 * or marks. The number `agreement` is that of the one that it goes to; news of an earlier one are old. */
typedef struct kf_news {
    int64_t agreement;
    int32_t rank, status;
    char text[512];
} kf_news;

typedef struct kf_world {
    kf_mpi mpi;
    int rank, size, threads; /* threads: whether several may call */
    int local_rank, local_size;
    kf_member *members; /* [size] */

    uint64_t exchanges;       /* of collective.c, so far */
    int64_t agreement;        /* number of the next agreement */
    bool told;                /* another's failure is known: of heard */
    bool given_up;            /* this one goes to the agreement and does nothing else with others */
    bool follows;             /* and only because another has failed */
    bool releases;            /* whoever waits for something of this process is let go */
    kf_error broken;          /* KF_OK, or why the processes cannot do anything together any more */
    kf_news heard, next;      /* next: being received */
    void *news;               /* the request of that */
    kf_news said;             /* this one's own, while they are being sent */
    void **saying;            /* [size] requests of that */
    int64_t *sent, *received; /* [size]: messages of pairs since the last meeting */
    kf_posted *posted;        /* those under way, a list */
} kf_world;

/* NULL: this process is alone. */
kf_world *kf_world_here(void);

const kf_member *kf_world_member(int rank);

/* "rank 2 of 4 on node07". Returns buffer. */
enum { KF_MEMBER_TEXT = 128 };
char *kf_member_text(const kf_world *all, int rank, char buffer[KF_MEMBER_TEXT]);

/* --- messages.c --- */
enum { KF_PIECE = 1 << 30 }; /* MPI counts in ints */
int kf_piece_of(size_t bytes, size_t done);
/* Until a request is done, whatever others say meanwhile. KF_HOST where MPI fails. */
kf_status kf_world_await(void *request, kf_error *error);
/* Begins to hear news of failures. */
kf_status kf_news_begin(kf_world *world, kf_error *error);
void kf_news_end(kf_world *world);
/* When all have come to an agreement at which one has failed: nothing that was sent before is left under way,
 * and what processes share is as at first. All call it together. */
kf_status kf_world_clear(kf_world *world, kf_error *error);
/* News are old from here on. */
void kf_news_forget(kf_world *world);

/* --- collective.c --- */
/* Comes to where all meet after a failure, and clears the way. */
kf_status kf_world_failure_barrier(kf_world *world, kf_error *error);
/* All have come as far as this. */
kf_status kf_world_line_up(kf_world *world, kf_error *error);

/* --- watch.c --- */
/* From now on a thread says twice a second that this process is there, and ends it with one line when another
 * is not. */
kf_status kf_watch_start(const kf_world *world, kf_error *error);
/* From here on nothing that others do ends this process. status, message: how its work ended, which all are
 * told unless it is KF_OK (message NULL). Returns whether a process of lower rank ended for the same, and has
 * said so. */
enum { KF_LAST_WORDS = 512 };
bool kf_watch_stop(kf_status status, const char *message);

#endif
