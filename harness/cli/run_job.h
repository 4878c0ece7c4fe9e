/* Declares what `kftune run` holds while it runs, and what it says of it. */
#ifndef KF_HARNESS_CLI_RUN_JOB_H
#define KF_HARNESS_CLI_RUN_JOB_H

#include "harness/cli/command.h"
#include "harness/cli/run_probes.h"
#include "harness/cli/run_sweep.h"
#include "results/best_config.h"
#include "solver/output/production.h"

/* Holds everything a run needs, which is freed together. */
typedef struct kf_run_job {
    const kf_arguments *arguments;
    kf_best_config best;
    bool foreign; /* best was found for another problem */
    kf_problem *problem;
    kf_backend *backend;
    kf_plan *plan;
    kf_smoke *smoke; /* NULL without --smoke */
    int smoke_size[2];
    char folder[KF_PATH];
    int lock;                /* of the folder; -1 */
    const kf_run_part *part; /* of a sweep, which prints what its runs come to; NULL: of none */
    char begun_in[KF_PATH];  /* the folder whose flow it began in; "": none */
    char restart[KF_PATH];   /* checkpoint that it goes on from; empty: it begins anew */
    kf_run_probes probes;
    kf_facts meaning; /* of the columns of tables */
    kf_production_options how;
    kf_production done;
} kf_run_job;

/* Writes the folder's run.json, which is also what --json prints; state: "running", "finished", "interrupted"
 * or "failed". Of several processes the first. */
kf_status kf_run_record(const kf_run_job *job, const char *state, bool print, kf_error *error);
/* Concludes a run that ended with status: writes its record, prints its results and the command that goes on.
 * Returns status, or why the record could not be written. */
kf_status kf_run_conclude(const kf_run_job *job, kf_status status, kf_error *error);
/* Ends the program when a step does not come back, after writing the folder's record. context: the job. */
void kf_run_hangs(void *context, const kf_error *why);

#endif
