/* Declares the state of `kftune run`, and its messages at the end of a run. */
#ifndef KF_HARNESS_CLI_RUN_JOB_H
#define KF_HARNESS_CLI_RUN_JOB_H

#include "harness/cli/command.h"
#include "harness/cli/run_probes.h"
#include "harness/cli/run_sweep.h"
#include "results/best_config.h"
#include "solver/output/production.h"

/* All that a run owns. */
typedef struct kf_run_job {
    const kf_arguments *arguments;
    kf_best_config best;
    bool foreign; /* `best` was found for another problem */
    kf_problem *problem;
    kf_backend *backend;
    kf_plan *plan;
    kf_smoke *smoke; /* NULL: there is no --smoke */
    int smoke_size[2];
    char folder[KF_PATH];
    int lock; /* the lock of the folder; -1: none */
    const kf_run_part
        *part; /* the run's part in a sweep, which then prints the results; NULL: the run is not in a sweep */
    char begun_in[KF_PATH]; /* the folder of the run from whose flow it began; "": none */
    char restart[KF_PATH];  /* the checkpoint from which it continues; "": it begins at step 0 */
    kf_run_probes probes;
    kf_facts meaning; /* the meaning of the columns of tables */
    kf_production_options how;
    kf_production done;
} kf_run_job;

/* Writes the folder's run.json, and prints it if asked (--json). state: "running", "finished", "interrupted"
 * or "failed". Of several processes only the first one writes. */
kf_status kf_run_record(const kf_run_job *job, const char *state, bool print, kf_error *error);
/* Concludes a run that ended with `status`: writes its record, and prints its results and the command that
 * continues it. Returns status, or the reason why the record could not be written. */
kf_status kf_run_conclude(const kf_run_job *job, kf_status status, kf_error *error);
/* Writes the folder's record and ends the program, because a step does not return. context: the job. */
void kf_run_hangs(void *context, const kf_error *why);

#endif
