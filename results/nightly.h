/* Nights in the store (docs/nightly.md). A night measures benchmarks in fresh processes. Each process is
 * committed with its result when it ends, and each verdict when it is reached. So the next night can continue
 * one that was killed. */
#ifndef KF_RESULTS_NIGHTLY_H
#define KF_RESULTS_NIGHTLY_H

#include "results/store.h"

enum { KF_BENCHMARK = 96, KF_LABEL = 128, KF_NIGHT_PROCESSES = 32 };

/* Why a process was started: for the night itself, or for the interleaved comparison of an earlier program or
 * config (reference) with tonight's (candidate). */
typedef enum kf_arm { KF_ARM_NIGHT, KF_ARM_REFERENCE, KF_ARM_CANDIDATE, KF_ARMS } kf_arm;
extern const char *const kf_arm_names[KF_ARMS]; /* "night", "reference", "candidate" */

typedef struct kf_night {
    int64_t id;
    char uuid[37];
    char suite[KF_BENCHMARK];     /* its name */
    char suite_hash[KF_HASH_HEX]; /* of the suite file's content */
    /* Hash of the measured program and its data files; for a suite of commands alone, of their kept files. */
    char program[KF_HASH_HEX];
    char label[KF_LABEL]; /* the user's name for the program; may be "" */
    char state[16];       /* "running", "finished", "interrupted" */
    char started[32], ended[32];
} kf_night;

/* Begins a night with the suite, suite_hash, program and label in *night. If an unfinished night of the same
 * suite_hash and program began less than resume_hours ago, it continues that one and sets *resumed.
 * KF_MACHINE when a night of the suite runs in another process. */
kf_status kf_store_begin_night(kf_store *store, double resume_hours, kf_night *night, bool *resumed,
                               kf_error *error);
/* Ends a night. state: "finished", "interrupted". */
kf_status kf_store_end_night(kf_store *store, const kf_night *night, const char *state, kf_error *error);

#define KF_UNKNOWN_PROGRAM "0000000000000000000000000000000000000000000000000000000000000000"
typedef struct kf_process_row {
    const char *benchmark;
    kf_arm arm;
    int ordinal;        /* number within the arm */
    const char *series; /* only processes of one series may be compared: kf_store_series */
    const char
        *program;    /* that was measured; of a command its kept files, KF_UNKNOWN_PROGRAM: nothing is kept */
    const char *job; /* JSON: what it had to measure */
} kf_process_row;
/* Commits the measurement of one process. run: that of the night's benchmark; if its id is 0, it is begun in
 * the same transaction with the fields of kf_store_begin_run. A process that is stored already is refused. */
kf_status kf_store_add_process(kf_store *store, const kf_night *night, const kf_process_row *process,
                               const kf_problem *problem, const kf_device_info *device, kf_run_row *run,
                               const kf_config *config, const kf_measurement *measurement, kf_error *error);
/* Computes the hash of everything that must be equal for two measurements of a benchmark to be comparable:
 * device, driver, compiler, host, system and scene. kftune's version and the config are not part of it. */
void kf_store_series(const char *benchmark, const kf_problem *problem, const kf_device_info *device,
                     char series[KF_HASH_HEX]);

/* A stored process of a night. */
typedef struct kf_process {
    char benchmark[KF_BENCHMARK];
    kf_arm arm;
    int ordinal;
    int64_t run;
    int sequence; /* number of its result in the run */
    kf_state state;
    char reason[512];
    double time_us;   /* median of its samples; NAN unless ok */
    double clock_mhz; /* median clock of its samples; NAN where it is not known */
    char series[KF_HASH_HEX], program[KF_HASH_HEX], config[KF_HASH_HEX], build[KF_HASH_HEX];
} kf_process;
/* Visits the processes of a night in the order of benchmark, arm and ordinal. benchmark NULL: of all
 * benchmarks. */
kf_status kf_store_processes(kf_store *store, int64_t night, const char *benchmark,
                             kf_status (*visit)(void *context, const kf_process *process, kf_error *error),
                             void *context, kf_error *error);
/* Returns the job of the first process of a night's benchmark (the caller frees it), and the program that it
 * measured. */
kf_status kf_store_night_job(kf_store *store, int64_t night, const char *benchmark, char **job,
                             char program[KF_HASH_HEX], kf_error *error);
/* Visits the hardware counters of a night's benchmark, each as the mean over the processes of an arm.
 * ordinal: number of the kernel; -1: the whole step. */
kf_status kf_store_night_counters(kf_store *store, int64_t night, const char *benchmark, kf_arm arm,
                                  void (*visit)(void *context, int ordinal, const char *metric, double value),
                                  void *context, kf_error *error);

/* --- Verdicts --- */

typedef enum kf_verdict_state {
    KF_SAME,
    KF_FAST,
    KF_SLOW,
    KF_AMBIGUOUS, /* it seemed changed, but no interleaved comparison confirmed it */
    KF_NODATA,    /* there is nothing to compare, or too few processes */
    KF_DRIFT,     /* it has become slower than the pinned release, bit by bit */
    KF_WRONG,     /* its result is wrong, or it does not run */
    KF_VERDICTS
} kf_verdict_state;
extern const char *const kf_verdict_names[KF_VERDICTS];
/* Returns whether a verdict makes the night fail: SLOW, DRIFT, WRONG. */
bool kf_verdict_fails(kf_verdict_state state);

typedef struct kf_verdict {
    char benchmark[KF_BENCHMARK];
    kf_verdict_state state;
    char reason[512];
    char series[KF_HASH_HEX]; /* "" if the process did not come so far */
    double time_us;           /* of the night; NAN: not known */
    double threshold;         /* least relative change that was considered; NAN: none was */
    bool identical;           /* same code, config, scene and machine as the night before */
    int64_t reference;        /* the night with which it was compared; 0: none */
    /* The relative change in the interleaved comparison; NAN: there was none. */
    double change, change_low, change_high;
    double probability;                   /* Mann-Whitney, of such ranks if nothing changed; NAN: none */
    char kernel[48];                      /* the kernel that changed most; "" */
    double kernel_change_us;              /* us in a step */
    char counter[96];                     /* the counter of that kernel that changed most; "" */
    double counter_before, counter_after; /* its values, in its own unit */
    /* These two describe the processes behind the verdict. */
    char program[KF_HASH_HEX]; /* the measured program, for a command its kept files; "": not known */
    double seconds;            /* duration of the processes of all arms */
} kf_verdict;
/* Returns whether the verdict is about numbers of instructions, not times. */
bool kf_verdict_of_instructions(const kf_verdict *verdict);
/* Commits a verdict, and ends the benchmark's run (run_id 0: it has none). */
kf_status kf_store_add_verdict(kf_store *store, int64_t night, int64_t run_id, const kf_verdict *verdict,
                               kf_error *error);
kf_status kf_store_verdicts(kf_store *store, int64_t night,
                            kf_status (*visit)(void *context, const kf_verdict *verdict, kf_error *error),
                            void *context, kf_error *error);

/* --- History --- */

/* A night in the history of one benchmark and series. */
typedef struct kf_history_night {
    int64_t night;
    char started[32], label[KF_LABEL];
    char program[KF_HASH_HEX], config[KF_HASH_HEX], build[KF_HASH_HEX]; /* of its first process */
    int process_count;
    double time_us[KF_NIGHT_PROCESSES];
    bool judged;
    kf_verdict_state verdict; /* when judged */
    double change;            /* of that verdict; NAN */
    bool pinned;
} kf_history_night;
/* Returns the last nights, at most `limit`, oldest first: those that have ended, and including_night (0:
 * none). The caller frees *nights. */
kf_status kf_store_history(kf_store *store, const char *benchmark, const char *series,
                           int64_t including_night, int limit, kf_history_night **nights, int *count,
                           kf_error *error);

/* Returns the pinned night of a series, however old it is. */
kf_status kf_store_pinned(kf_store *store, const char *benchmark, const char *series, kf_history_night *night,
                          bool *found, kf_error *error);

/* Visits all nights, newest first. */
kf_status kf_store_nights(kf_store *store,
                          kf_status (*visit)(void *context, const kf_night *night, kf_error *error),
                          void *context, kf_error *error);
/* Finds a night. name: its number, the beginning of its UUID, or NULL for the newest night. */
kf_status kf_store_find_night(kf_store *store, const char *name, kf_night *night, kf_error *error);
kf_status kf_store_night_of(kf_store *store, int64_t id, kf_night *night,
                            kf_error *error); /* by its number */

/* A row for each benchmark and series, ordered by benchmark; of one benchmark the latest series comes
 * first. */
typedef struct kf_series_summary {
    char benchmark[KF_BENCHMARK], series[KF_HASH_HEX], device[128], driver[64], scene[128];
    const kf_facts *facts;     /* of its scene; valid as long as the store */
    char problem[KF_HASH_HEX]; /* of its scene, or of what a command is */
    int64_t environment;       /* row of its machine */
    int nights;
    int64_t last_night;
} kf_series_summary;
kf_status kf_store_series_list(kf_store *store,
                               kf_status (*visit)(void *context, const kf_series_summary *series,
                                                  kf_error *error),
                               void *context, kf_error *error);

/* Appends in what an environment of the store is not that of this device and host: "driver 535.1, now 550.2";
 * nothing where they are one. */
kf_status kf_store_environment_difference(kf_store *store, int64_t environment, const kf_device_info *device,
                                          kf_text *text, kf_error *error);

/* Pins a night: for each of its benchmarks it becomes the release with which later nights are compared.
 * *count: number of benchmarks. */
kf_status kf_store_pin(kf_store *store, int64_t night, int *count, kf_error *error);

/* Writes the verdicts of a night as JUnit XML, one test case for each benchmark. SLOW and DRIFT are failures,
 * WRONG is an error, AMBIGUOUS and NODATA are skipped. */
kf_status kf_store_export_junit(kf_store *store, int64_t night, FILE *stream, kf_error *error);

/* Writes the times of a night for github-action-benchmark (customSmallerIsBetter): an entry with its verdict
 * for each benchmark that has a time. */
kf_status kf_store_export_github_night(kf_store *store, int64_t night, FILE *stream, kf_error *error);

#endif
