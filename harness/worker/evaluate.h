/* Evaluates one config: builds, verifies on the trial, times (or else counts) on the problem. It runs in the
 * worker process; whatever fails becomes the measurement's state and reason. */
#ifndef KF_HARNESS_WORKER_EVALUATE_H
#define KF_HARNESS_WORKER_EVALUATE_H

#include "base/plan/trial.h"
#include "harness/counters/metric_set.h"
#include "harness/measure/policy.h"

/* Holds what all evaluations of a run share. Everything outlives the worker. */
typedef struct kf_setting {
    const kf_problem *problem;
    const kf_trial *trial; /* on which configs are verified; with its reference where they are */
    kf_cache_policy cache; /* in which state of the last-level cache samples begin */
    bool energy;           /* time long enough to read the energy of a step */
    bool turns;            /* others measure on the device too: wait for a turn before its kernels run */
    const kf_metric_set *counters; /* NULL: configs are timed; else only counted, with this set */
} kf_setting;

typedef struct kf_job {
    kf_config config;
    int other;            /* of the worker's other settings, from 1 on; 0: the worker's own */
    bool examine;         /* only ask whether the reference is of any use (kf_system.examine): KF_STATE_OK, or
                           * why not */
    bool verify;          /* false when this config already passed in this run */
    bool may_lose;        /* the policy's early ends for configs that are slower than the incumbent apply */
    bool single_launches; /* time without graphs */
    double time_limit_us; /* this and the next two: 0: the policy's */
    size_t least_samples; /* so many samples, however precise fewer are and however long it takes */
    double long_cycle_us;
    double effort; /* share of the usual measuring, in (0, 1]; 0: all of it */
    kf_incumbent incumbent;
} kf_job;

/* Says what the evaluation is busy with. */
typedef enum kf_stage {
    KF_STAGE_COMPILE,
    KF_STAGE_VERIFY,
    KF_STAGE_MEASURE,
    KF_STAGE_WAIT,
    KF_STAGES
} kf_stage;
extern const char *const kf_stage_names[KF_STAGES]; /* "compiling", "verifying", "measuring", "waiting" */
typedef void (*kf_stage_report)(void *context, kf_stage stage);

/* Fills *measurement (to be freed with kf_measurement_free). report: may be NULL. *usable: false when the
 * device was left in a state (after a memory fault in a kernel) from which only a new process recovers.
 * KF_HOST when the machine could not do it, which says nothing about the config. */
kf_status kf_evaluate(const kf_setting *setting, kf_backend *backend, const kf_job *job,
                      kf_stage_report report, void *context, kf_measurement *measurement, bool *usable,
                      kf_error *error);

#endif
