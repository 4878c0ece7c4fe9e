/* A production run in progress: what production.c drives and production_outputs.c writes. */
#ifndef KF_SOLVER_OUTPUT_PRODUCTION_RUN_H
#define KF_SOLVER_OUTPUT_PRODUCTION_RUN_H

#include "solver/output/mean_fields.h"
#include "solver/output/prober.h"
#include "solver/output/production.h"
#include "solver/output/record_files.h"

/* Seconds between two looks at the interruption flag and two progress lines. */
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
    uint64_t end;          /* step to reach */
    double until;          /* s of the flow to reach, by which the end is moved; 0: none */
    uint64_t stride;       /* steps that take about pace_seconds */
    uint64_t watch;        /* steps from one look at the state to the next */
    double started;        /* wall clock */
    double judged;         /* likewise, when the drag was looked at */
    double saved;          /* likewise, when the last checkpoint was written; at first as started */
    double slowest;        /* seconds of a step, of the slowest stretch so far; 0: none was done */
    kf_watchdog *watchdog; /* NULL: none */
    bool records;          /* the plan has some, as far as is known */
    bool save_is_due;
    bool interrupted;
} kf_production_run;

/* Returns whether this process writes files. One of a run's processes does; what they hold comes from all,
 * so all come here. */
bool kf_production_writes(void);
/* Writes what is due after the steps done so far. */
kf_status kf_production_write_due(kf_production_run *producer, kf_error *error);
/* Judges the drag by the rows so far; one that has settled ends a run that waits for it. */
void kf_production_judge(kf_production_run *producer);
/* Writes a checkpoint of the steps done so far, unless there is one. */
kf_status kf_production_checkpoint(kf_production_run *producer, kf_error *error);
/* Removes the oldest checkpoints of this run beyond the wanted number. */
void kf_production_prune(kf_production_run *producer);

#endif
