/* A production run in progress, shared by production.c, which advances it, and production_outputs.c, which
 * writes files. */
#ifndef KF_SOLVER_OUTPUT_PRODUCTION_RUN_H
#define KF_SOLVER_OUTPUT_PRODUCTION_RUN_H

#include "solver/output/mean_fields.h"
#include "solver/output/prober.h"
#include "solver/output/production.h"
#include "solver/output/record_files.h"

/* Seconds between two checks for an interruption, and between two lines of progress. */
#define KF_PRODUCTION_PACE 0.25

/* A run in progress. */
typedef struct kf_production_run {
    kf_plan *plan;
    const kf_production_options *options;
    kf_production *result;
    kf_record_files files;
    kf_force_series forces;
    kf_drag_judgement judgement;
    kf_mean_fields means;
    kf_prober prober;
    uint64_t end;          /* the step at which the run ends */
    double until;          /* s of the flow at which the run ends; `end` is adapted to it; 0: not used */
    uint64_t stride;       /* steps that take about KF_PRODUCTION_PACE */
    uint64_t watch;        /* steps between two checks of the state */
    double started;        /* moment of the start, s of kf_clock_seconds */
    double judged;         /* moment when the drag was last judged */
    double saved;          /* moment of the last checkpoint; at first that of the start */
    double slowest;        /* s a step in the slowest stretch so far; 0: no step was done */
    kf_watchdog *watchdog; /* NULL: none */
    bool records;          /* the plan has records, as far as is known */
    bool save_is_due;
    bool interrupted;
} kf_production_run;

/* Returns whether this process writes files. Only one process of a run does. Their content comes from all, so
 * all call the functions below. */
bool kf_production_writes(void);
/* Writes what is due after the present step. */
kf_status kf_production_write_due(kf_production_run *producer, kf_error *error);
/* Judges the drag by the rows so far. If it has settled, a run until_settled ends. */
void kf_production_judge(kf_production_run *producer);
/* Writes a checkpoint of the present step, unless there is one. */
kf_status kf_production_checkpoint(kf_production_run *producer, kf_error *error);
/* Removes the oldest checkpoints of this run, beyond the number to keep. */
void kf_production_prune(kf_production_run *producer);

#endif
