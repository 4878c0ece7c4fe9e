/* Runs the worker process. Configs are measured in a child made by fork(), which already has the scene and
 * the reference, and alone opens the backend. A kernel that faults, hangs or exhausts memory ends the worker
 * and costs one config. The next config gets a new worker. A process with a kf_worker must never open a
 * backend itself, because CUDA and threads do not survive fork(). If several processes measure together,
 * there is no child (together.h). */
#ifndef KF_HARNESS_WORKER_WORKER_H
#define KF_HARNESS_WORKER_WORKER_H

#include "harness/worker/evaluate.h"

/* Opens the device in a child process and describes it, so that the caller needs neither CUDA nor threads.
 * device: as for kf_backend_open. */
kf_status kf_device_probe(const char *device, kf_device_info *info, kf_error *error);

typedef struct kf_worker kf_worker;

typedef struct kf_worker_setup {
    kf_setting setting;
    const kf_setting *others; /* jobs may use these instead (kf_job.other); they outlive the worker */
    const char *device;       /* as for kf_backend_open */
    kf_backend
        *together; /* if several processes measure together, their devices; there is no worker process then */
    double limit_seconds;         /* limit for verifying and measuring one config */
    double compile_limit_seconds; /* limit for compiling it before that */
    void (*idle)(void *context); /* called while a worker starts, which takes a while on a GPU; may be NULL */
    void *context;
} kf_worker_setup;

/* How an attempt to measure may end. */
typedef enum kf_outcome {
    KF_MEASURED,  /* *measurement is filled, whatever its state */
    KF_ABANDONED, /* the deadline passed, or Ctrl-C was pressed; nothing is known about the config */
} kf_outcome;

/* Starts a worker and waits until it has opened the device. KF_MACHINE if it cannot. *setup is copied. */
kf_status kf_worker_open(const kf_worker_setup *setup, kf_worker **worker, kf_error *error);

/* Measures one config. If the worker dies or hangs, the state is crash or timeout with the reason. deadline:
 * time of kf_clock_seconds at which to give up; 0: none. idle (may be NULL) is called several times a second.
 * It fails only if no worker can be started, or with KF_HOST if the machine failed; nothing is known about
 * the config in both cases. */
kf_status kf_worker_measure(kf_worker *worker, const kf_job *job, double deadline,
                            void (*idle)(void *context), void *context, kf_outcome *outcome,
                            kf_measurement *measurement, kf_error *error);

/* These do the same without waiting, for several workers at a time: the first gives a worker a config, the
 * second waits at most so many milliseconds for its end. A worker has only one config at a time.
 * KF_INTERRUPTED: nothing was given. */
kf_status kf_worker_give(kf_worker *worker, const kf_job *job, double deadline, kf_error *error);
kf_status kf_worker_poll(kf_worker *worker, int milliseconds, bool *ended, kf_outcome *outcome,
                         kf_measurement *measurement, kf_error *error);

int kf_worker_starts(const kf_worker *worker); /* number of processes started so far */
void kf_worker_close(kf_worker *worker);       /* ends its process */

#endif
