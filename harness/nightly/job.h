/* Describes what one process of a night measures. A job is JSON text, because an earlier version of the
 * program may read it. */
#ifndef KF_HARNESS_NIGHTLY_JOB_H
#define KF_HARNESS_NIGHTLY_JOB_H

#include "base/plan/system.h"
#include "base/record/measurement.h"
#include "harness/nightly/program.h"

typedef struct kf_nightly_job {
    char scene[KF_PATH];
    kf_problem_options options;
    char system[KF_NAME];
    char device[64];
    kf_config config;
    double seconds; /* time for timing; 0: the usual one */
} kf_nightly_job;

/* Returns the job as canonical text, which the caller frees. */
char *kf_nightly_job_text(const kf_nightly_job *job);
kf_status kf_nightly_job_read(const char *text, kf_nightly_job *job, kf_error *error);

/* Acts as the process: measures the job of a scene or command, or only counts with a metric set (counters not
 * NULL). It prints one line of JSON to stdout. `dress` (may be NULL) replaces the job's system by another
 * one. */
kf_status kf_nightly_measure(const char *job_text, bool verify, const char *counters,
                             const kf_system *(*dress)(const kf_system *system), kf_error *error);

/* The end of a process. */
typedef struct kf_job_end {
    bool measured;                /* *measurement is filled, whatever its state */
    char problem[512];            /* why not */
    bool machine;                 /* the process reported a lack of the machine */
    char scene_hash[KF_HASH_HEX]; /* as the process read it; "": it did not read it */
    kf_measurement measurement;   /* the caller frees it with kf_measurement_free */
} kf_job_end;
/* Starts the program as a new process for the job and waits for it. If the process dies or does not end
 * within limit_seconds, the state is crash or timeout. It fails only on Ctrl-C (KF_INTERRUPTED), or if no
 * process can be started. */
kf_status kf_process_measure(const kf_program *program, const char *job, bool verify, double limit_seconds,
                             kf_job_end *answer, kf_error *error);
/* Runs the job in the same way but only counts with this metric set. *answer then has counters and no times.
 */
kf_status kf_process_count(const kf_program *program, const char *job, const char *counters,
                           double limit_seconds, kf_job_end *answer, kf_error *error);

#endif
