/* Evaluates one config: builds it, verifies it on the trial, and times it on the problem or counts there. It
 * runs in the worker process. A failure becomes the measurement's state and reason. */
#ifndef KF_HARNESS_WORKER_EVALUATE_H
#define KF_HARNESS_WORKER_EVALUATE_H

#include "base/plan/trial.h"
#include "harness/counters/metric_set.h"
#include "harness/measure/policy.h"

/* The state that all evaluations of a run share. All of it outlives the worker. */
typedef struct kf_setting {
    const kf_problem *problem;
    const kf_trial *trial; /* configs are verified on it; it contains the reference if they are */
    kf_cache_policy cache; /* state of the last-level cache when a sample begins */
    bool energy;           /* time long enough to read the energy of a step */
    bool turns;            /* other runs measure on the device, too: wait for a turn before kernels run */
    const kf_metric_set
        *counters; /* NULL: configs are timed; otherwise they are only counted with this set */
} kf_setting;

typedef struct kf_job {
    kf_config config;
    int other;     /* number of another setting of the worker, from 1 on; 0: the worker's own */
    bool examine;  /* only check whether the reference is usable (kf_system.examine): KF_STATE_OK, or the
                      reason */
    bool verify;   /* false: the config has passed the gate in this run */
    bool may_lose; /* the policy may end timing early for configs that are slower than the incumbent */
    bool single_launches; /* time without graphs */
    double time_limit_us; /* 0 here and in the next two: the policy decides */
    size_t least_samples; /* least number of samples, whatever the precision and the time */
    double long_cycle_us;
    double effort; /* share of the usual measuring, in (0, 1]; 0: all of it */
    kf_incumbent incumbent;
} kf_job;

/* The stages of an evaluation. */
typedef enum kf_stage {
    KF_STAGE_COMPILE,
    KF_STAGE_VERIFY,
    KF_STAGE_MEASURE,
    KF_STAGE_WAIT,
    KF_STAGES
} kf_stage;
extern const char *const kf_stage_names[KF_STAGES]; /* "compiling", "verifying", "measuring", "waiting" */
typedef void (*kf_stage_report)(void *context, kf_stage stage);

/* Fills *measurement, which the caller frees with kf_measurement_free. report may be NULL. *usable: false if
 * the device cannot be used any more in this process, for example after a memory fault in a kernel. KF_HOST
 * if the machine failed, which says nothing about the config. */
kf_status kf_evaluate(const kf_setting *setting, kf_backend *backend, const kf_job *job,
                      kf_stage_report report, void *context, kf_measurement *measurement, bool *usable,
                      kf_error *error);

#endif
