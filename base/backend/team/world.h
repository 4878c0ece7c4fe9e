/* The processes of a run that mpirun or srun started: how many, and messages between them. MPI is what the
 * site has: a shim (kernels/mpi/shim.c) is built with its mpicc when the first such run begins. A process
 * that nobody else belongs to is a world of one, in which nothing below needs MPI or does anything.
 *
 * All processes call the same functions in the same order. One whose work fails calls kf_world_give_up and
 * goes to the next kf_world_agree: until then every function below that waits for it fails on the others,
 * which go there too, and all leave it with the reason of the first. Processes that call different functions
 * learn it, say it in a line, and can do nothing together any more (KF_HOST). A process that dies or hangs
 * ends all others with a line each, within ten seconds (watch.c): a function that waits for it never returns.
 */
#ifndef KF_BASE_BACKEND_TEAM_WORLD_H
#define KF_BASE_BACKEND_TEAM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

/* Says whether this process was started as one of several: Open MPI's, MPICH's and Slurm's variables say
 * so. */
bool kf_world_is_wanted(void);
/* Tells how many those are and how many hosts they are spread over, as the variables say before the world
 * begins: at most, where they do not say it. 1 and 1 of a process that was started alone. */
void kf_world_wanted(int *processes, int *hosts);
/* Begins the world of those processes; before anything else below. KF_HOST, with what to install, where
 * there is no MPI. */
kf_status kf_world_open(kf_error *error);
/* Says whether this process says a mistake that was found before the world began. The first does so at
 * once; the others, then with their names, after two seconds, unless mpirun ends them meanwhile because
 * the first has failed too. */
bool kf_world_speaks_alone(kf_error *error);
/* Closes the world; status says how this process's work ended. Where it failed the others are told; where
 * all say the same, only the first has a message in *error afterwards. */
void kf_world_close(kf_status status, kf_error *error);

/* Says what to do when the run ends because of another process; "", as at first, says nothing. The text
 * outlives the world. */
void kf_world_advise(const char *advice);
/* Limits what this process begins and calls `what`: it is done within so many seconds, or all processes
 * end with a line that says so. With 0 seconds it is done. */
void kf_world_limit(double seconds, const char *what);
/* Ends this process with KF_MACHINE and this line, from whatever thread, and all others of its world with the
 * same reason. */
_Noreturn void kf_world_end(const char *why);

int kf_world_rank(void); /* 0 of 1 where there is no other */
int kf_world_size(void);
/* Give the rank and number among the processes of this host. */
int kf_world_local_rank(void);
int kf_world_local_size(void);

/* The processes of this host whose ranks follow each other, this one among them: from rank *first on. */
void kf_world_near(int *first, int *count);

/* A message to or from another process, or to itself; of a pair that sends several at once each has its own
 * tag, 0 to 89. */
typedef struct kf_message {
    int other, tag;
    bool sends;
    void *data;
    size_t bytes;
} kf_message;
/* Messages under way; stays where it is until they are complete. */
typedef struct kf_request {
    void *handle;
    int other;
    bool sends;
} kf_request;
typedef struct kf_posted {
    kf_request *requests;
    size_t count, room;
    struct kf_posted *next;
} kf_posted;
/* Begins them, and returns; their data stay as they are until they are complete. */
void kf_world_post(const kf_message *messages, int count, kf_posted *posted);
/* Waits until all have been sent or have come. */
kf_status kf_world_complete(kf_posted *posted, kf_error *error);
/* Messages that nobody will wait for, because something failed meanwhile. Nothing where they are complete. */
void kf_world_drop(kf_posted *posted);
/* Says whether messages may lie in the memory of GPUs: MPI says that it is CUDA-aware. */
bool kf_world_takes_device_memory(void);
/* Every process's values become the sums over all. */
kf_status kf_world_sum(int64_t *values, int count, kf_error *error);
/* Bytes of which each process has some, and 0 in place of the others': all get all. data has room for whole
 * words of 8 bytes, with 0 there. */
kf_status kf_world_merge(void *data, size_t bytes, kf_error *error);
/* Every process's values become the largest over all. */
kf_status kf_world_most(double *values, int count, kf_error *error);
/* Gives the first process's data to all. */
kf_status kf_world_share(void *data, size_t bytes, kf_error *error);
/* The bytes of `all` from ends[rank - 1] (0 for the first) to ends[rank] are this process's and go to all. */
kf_status kf_world_gather(void *all, const size_t *ends, kf_error *error);
/* KF_OK when it is that on all; else, on all, the status and message of the first that failed by itself. */
kf_status kf_world_agree(kf_status status, kf_error *error);
/* Agrees in the same way on a number that goes with the status: *state becomes that one's too. */
kf_status kf_world_agree_on(kf_status status, int *state, kf_error *error);
/* This process's work has failed (KF_OK: nothing is done). It is called before what the work used is freed:
 * returns when all others have come here or to the agreement, no message is under way and no device waits for
 * another's mark. Returns status. */
kf_status kf_world_give_up(kf_status status, const kf_error *error);
/* While something else is waited for: fails when another process has failed; then as after kf_world_give_up.
 */
kf_status kf_world_look(kf_error *error);
/* Does what else is to be done where a process has failed: release lets go, again and again, who waits for
 * something of this process's; settle waits until its own devices have nothing left to do; and reset
 * begins anew, when all have done so. */
typedef struct kf_world_cleaner {
    void (*release)(void), (*settle)(void), (*reset)(void);
} kf_world_cleaner;
void kf_world_clean_with(const kf_world_cleaner *cleaner);
/* Among the processes of kf_world_near, which call these together: the same; and open files that each gives
 * to all others, counts[i] the i-th of them: taken, all in their order, for the caller to close; -1 in place
 * of its own, which stay the caller's. made: how making them went; where one has failed all fail, and nothing
 * is taken. */
kf_status kf_world_agree_near(kf_status status, kf_error *error);
kf_status kf_world_give_files(kf_status made, const int *given, const int counts[], int *taken,
                              kf_error *error);
/* KF_BAD_INPUT, naming the process, where another has another text; what: "the config", … */
kf_status kf_world_check_same(const char *what, const char *text, kf_error *error);

#endif
