/* The processes of a run that mpirun or srun started: how many there are, and messages between them. MPI is
 * the site's own: its mpicc builds a shim (kernels/mpi/shim.c) when the first such run begins. A process that
 * was started alone is a world of one. There, none of the functions below needs MPI or does anything.
 *
 * All processes call the same functions in the same order. A process whose work fails calls kf_world_give_up
 * and goes on to the next kf_world_agree. Until then every function that waits for it fails in the other
 * processes, which go there too. All leave it with the reason of the first failure. Processes that call
 * different functions find this out, say so in a line, and can do nothing together any more (KF_HOST). If a
 * process dies or hangs, all others end within ten seconds with a line each (watch.c): a function that waits
 * for it never returns. */
#ifndef KF_BASE_BACKEND_TEAM_WORLD_H
#define KF_BASE_BACKEND_TEAM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

/* Returns whether this process was started as one of several, according to the variables of Open MPI, MPICH
 * and Slurm. */
bool kf_world_is_wanted(void);
/* Tells, before the world is opened, how many processes there are and on how many hosts, according to these
 * variables. Where they do not say it, the numbers are upper bounds. 1 and 1 for a process that was started
 * alone. */
void kf_world_wanted(int *processes, int *hosts);
/* Opens the world of these processes. It must come before all functions below. KF_HOST, with what to install,
 * where there is no MPI. */
kf_status kf_world_open(kf_error *error);
/* Returns whether this process prints an error that was found before the world was opened. The first process
 * does so at once. The others do so after two seconds, with their names, unless mpirun ends them meanwhile
 * because the first has failed too. */
bool kf_world_speaks_alone(kf_error *error);
/* Closes the world. status: how this process's work ended; a failure is told to the others. Where all have
 * the same failure, only the first keeps a message in *error. */
void kf_world_close(kf_status status, kf_error *error);

/* Sets the advice that is printed when the run ends because of another process. "", the initial value, prints
 * none. The text must outlive the world. */
void kf_world_advise(const char *advice);
/* Sets a time limit for what this process does next, which `what` names. If it takes longer than `seconds`,
 * all processes end with a line that says so. 0 seconds: it is done. */
void kf_world_limit(double seconds, const char *what);
/* Ends this process with KF_MACHINE and this line, and all others of its world with the same reason. Any
 * thread may call it. */
_Noreturn void kf_world_end(const char *why);

/* Return the rank among, and the number of, the processes of the run: 0 of 1 for a process that is alone. */
int kf_world_rank(void);
int kf_world_size(void);
/* Return the rank among, and the number of, the processes of this host. */
int kf_world_local_rank(void);
int kf_world_local_size(void);

/* Finds the processes of this host, this one included, whose ranks are consecutive: *count ranks from *first
 * on. */
void kf_world_near(int *first, int *count);

/* A message to or from another process, or to itself. Several messages at once between the same two processes
 * need different tags, 0 to 89. */
typedef struct kf_message {
    int other, tag;
    bool sends;
    void *data;
    size_t bytes;
} kf_message;
/* Messages on their way. The struct must not move until they are complete. */
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
/* Begins the messages, and returns. Their data must not change until they are complete. */
void kf_world_post(const kf_message *messages, int count, kf_posted *posted);
/* Waits until all messages have been sent or received. */
kf_status kf_world_complete(kf_posted *posted, kf_error *error);
/* Drops messages that nobody will wait for because something failed meanwhile. Complete messages are
 * ignored. */
void kf_world_drop(kf_posted *posted);
/* Returns whether messages may lie in GPU memory: MPI says that it is CUDA-aware. */
bool kf_world_takes_device_memory(void);
/* Replaces the values of every process by their sums over all processes. */
kf_status kf_world_sum(int64_t *values, int count, kf_error *error);
/* Merges bytes of which each process has some, with 0 in place of the others. All get all. data has room for
 * whole words of 8 bytes; the bytes at its end are 0. */
kf_status kf_world_merge(void *data, size_t bytes, kf_error *error);
/* Replaces the values of every process by their maxima over all processes. */
kf_status kf_world_most(double *values, int count, kf_error *error);
/* Copies the data of the first process to all others. */
kf_status kf_world_share(void *data, size_t bytes, kf_error *error);
/* Gives to all processes the bytes of `all` that this one has: from ends[rank - 1] (0 for the first process)
 * to ends[rank]. */
kf_status kf_world_gather(void *all, const size_t *ends, kf_error *error);
/* Returns KF_OK on all processes if status is KF_OK on all. Otherwise all get the status and message of the
 * first process that failed by itself. */
kf_status kf_world_agree(kf_status status, kf_error *error);
/* Agrees in the same way on a number that goes with the status: *state becomes that of the process whose
 * status all get. */
kf_status kf_world_agree_on(kf_status status, int *state, kf_error *error);
/* Call it when this process's work has failed (with KF_OK it does nothing), before anything that the work
 * used is freed. It returns when all others have called it too or have reached the agreement, no message is
 * on its way, and no device waits for a mark of another. Returns status. */
kf_status kf_world_give_up(kf_status status, const kf_error *error);
/* Call it while waiting for anything else. It fails if another process has failed; continue then as after
 * kf_world_give_up. */
kf_status kf_world_look(kf_error *error);
/* Functions that other parts of the program register for the case that a process has failed. release wakes
 * those that wait for this process; it is called again and again. settle waits until this process's devices
 * are idle. reset starts afresh, once all processes have done this. */
typedef struct kf_world_cleaner {
    void (*release)(void), (*settle)(void), (*reset)(void);
} kf_world_cleaner;
void kf_world_clean_with(const kf_world_cleaner *cleaner);
/* For the processes of kf_world_near, which call these together. kf_world_agree_near agrees as kf_world_agree
 * does. kf_world_give_files hands the open files of each process to all others: counts[i] is the number of
 * files of the i-th process. taken gets all files in their order, for the caller to close, with -1 in the
 * places of its own files, which the caller keeps. made: the status of making them; if one process failed,
 * all fail and nothing is taken. */
kf_status kf_world_agree_near(kf_status status, kf_error *error);
kf_status kf_world_give_files(kf_status made, const int *given, const int counts[], int *taken,
                              kf_error *error);
/* KF_BAD_INPUT, naming the process, if a process has another text. what: a name for the message, "the
 * config". */
kf_status kf_world_check_same(const char *what, const char *text, kf_error *error);

#endif
