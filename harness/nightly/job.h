/* Describes what one process of a night measures. A job is JSON text, because the process may be an earlier
 * program. */
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
    double seconds; /* of timing; 0: the usual */
} kf_nightly_job;

/* Returns the job as canonical text, which the caller frees. */
char *kf_nightly_job_text(const kf_nightly_job *job);
kf_status kf_nightly_job_read(const char *text, kf_nightly_job *job, kf_error *error);

/* Serves as the process itself: measures a job of a scene or a command, or with a metric set (counters not
 * NULL) only counts. It prints one line of JSON on stdout. `dress` (may be NULL) puts another system in the
 * place of the job's. */
kf_status kf_nightly_measure(const char *job_text, bool verify, const char *counters,
                             const kf_system *(*dress)(const kf_system *system), kf_error *error);

/* Holds how a process ended. */
typedef struct kf_job_end {
    bool measured;                /* *measurement is filled, whatever its state */
    char problem[512];            /* why not */
    bool machine;                 /* the process says that the machine lacked something */
    char scene_hash[KF_HASH_HEX]; /* as the process read it; "" when it did not come so far */
    kf_measurement measurement;   /* to be freed with kf_measurement_free */
} kf_job_end;
/* Starts program as a fresh process on the job and waits for it. A process that dies or does not end within
 * limit_seconds gives state crash or timeout. Fails (KF_INTERRUPTED) only on Ctrl-C, or when no process can
 * be started. */
kf_status kf_process_measure(const kf_program *program, const char *job, bool verify, double limit_seconds,
                             kf_job_end *answer, kf_error *error);
/* Runs the job in the same way, but it only counts, with this metric set; *answer then has counters and no
 * times. */
kf_status kf_process_count(const kf_program *program, const char *job, const char *counters,
                           double limit_seconds, kf_job_end *answer, kf_error *error);

#endif
