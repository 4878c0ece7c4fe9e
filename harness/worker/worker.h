/* Runs the worker process: configs are measured in a child made by fork(), which has the scene and the
 * reference already and alone opens the backend. A kernel that faults, hangs or exhausts memory ends the
 * worker and costs one config; the next config gets a new worker. The process that holds a kf_worker must
 * never open a backend itself, because CUDA and threads do not survive fork(). Of several processes that
 * measure together there is no child (together.h). */
#ifndef KF_HARNESS_WORKER_WORKER_H
#define KF_HARNESS_WORKER_WORKER_H

#include "harness/worker/evaluate.h"

/* Opens the device in a child process and says what it is, so that the caller stays free of CUDA and threads.
 * device: as for kf_backend_open. */
kf_status kf_device_probe(const char *device, kf_device_info *info, kf_error *error);

typedef struct kf_worker kf_worker;

typedef struct kf_worker_setup {
    kf_setting setting;
    const kf_setting *others; /* that jobs may name in its place (kf_job.other); outlive the worker */
    const char *device;       /* as for kf_backend_open */
    kf_backend *
        together; /* of several processes' devices, which measure together: then there is no worker process */
    double limit_seconds;         /* for verifying and measuring one config */
    double compile_limit_seconds; /* for compiling it, before that */
    void (*idle)(void *context); /* called while a worker starts, which on a GPU takes a while; may be NULL */
    void *context;
} kf_worker_setup;

/* Lists how an attempt to measure may end. */
typedef enum kf_outcome {
    KF_MEASURED,  /* *measurement is filled, whatever its state */
    KF_ABANDONED, /* the caller's deadline passed or Ctrl-C was pressed; nothing was learnt about the config
                   */
} kf_outcome;

/* Starts a worker and waits until it has opened the device; KF_MACHINE when it cannot. *setup is copied. */
kf_status kf_worker_open(const kf_worker_setup *setup, kf_worker **worker, kf_error *error);

/* Measures one config. A worker that dies or hangs gives state crash or timeout with the reason. deadline:
 * time of kf_clock_seconds at which to give up, 0: none. idle (may be NULL) is called several times a second
 * meanwhile. Fails only when no worker can be started any more, or with KF_HOST when the machine could not do
 * it: then nothing was learnt about the config either. */
kf_status kf_worker_measure(kf_worker *worker, const kf_job *job, double deadline,
                            void (*idle)(void *context), void *context, kf_outcome *outcome,
                            kf_measurement *measurement, kf_error *error);

/* These do the same without waiting, for several workers at a time: give the worker a config, then ask, for
 * at most so many milliseconds, whether it has ended. A worker has only one config at a time. KF_INTERRUPTED
 * means that nothing was given. */
kf_status kf_worker_give(kf_worker *worker, const kf_job *job, double deadline, kf_error *error);
kf_status kf_worker_poll(kf_worker *worker, int milliseconds, bool *ended, kf_outcome *outcome,
                         kf_measurement *measurement, kf_error *error);

int kf_worker_starts(const kf_worker *worker); /* processes started so far */
void kf_worker_close(kf_worker *worker);

#endif
