/* Nights: what `kftune nightly` keeps in the store (docs/nightly.md). A night measures benchmarks in fresh
 * processes; each process is committed when it ends, with the result it measured, and each verdict when it is
 * reached, so a night that is killed is carried on by the next one. */
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
    char program[KF_HASH_HEX];    /* hash of the program measured and of its data files; of a suite of
                                     commands alone, of what is kept of them */
    char label[KF_LABEL];         /* what the user calls that program, "" */
    char state[16];               /* "running", "finished", "interrupted" */
    char started[32], ended[32];
} kf_night;

/* Begins a night with the suite, suite_hash, program and label in *night, or carries on an unfinished one of
 * the same suite_hash and program that began less than resume_hours ago. KF_MACHINE when a night of the suite
 * runs in another process. */
kf_status kf_store_begin_night(kf_store *store, double resume_hours, kf_night *night, bool *resumed,
                               kf_error *error);
/* Ends a night; state: "finished", "interrupted". */
kf_status kf_store_end_night(kf_store *store, const kf_night *night, const char *state, kf_error *error);

#define KF_UNKNOWN_PROGRAM "0000000000000000000000000000000000000000000000000000000000000000"
typedef struct kf_process_row {
    const char *benchmark;
    kf_arm arm;
    int ordinal;        /* within the arm */
    const char *series; /* only what has the same may be compared: kf_store_series */
    const char
        *program;    /* that was measured; of a command its kept files, KF_UNKNOWN_PROGRAM: nothing is kept */
    const char *job; /* JSON: what it was asked to measure */
} kf_process_row;
/* Commits what one process measured. run: of the night's benchmark; with id 0 it is begun in the same
 * transaction, from the fields that kf_store_begin_run takes. A process that is there already is refused. */
kf_status kf_store_add_process(kf_store *store, const kf_night *night, const kf_process_row *process,
                               const kf_problem *problem, const kf_device_info *device, kf_run_row *run,
                               const kf_config *config, const kf_measurement *measurement, kf_error *error);
/* The hash of all that must be equal for two measurements of a benchmark to be comparable: the device, its
 * driver and compiler, the host, the system and the scene; not kftune's version and not the config. */
void kf_store_series(const char *benchmark, const kf_problem *problem, const kf_device_info *device,
                     char series[KF_HASH_HEX]);

/* A process of a night as it was stored. */
typedef struct kf_process {
    char benchmark[KF_BENCHMARK];
    kf_arm arm;
    int ordinal;
    int64_t run;
    int sequence; /* of its result in the run */
    kf_state state;
    char reason[512];
    double time_us;   /* median of its samples; NAN unless ok */
    double clock_mhz; /* of them; NAN where it is not known */
    char series[KF_HASH_HEX], program[KF_HASH_HEX], config[KF_HASH_HEX], build[KF_HASH_HEX];
} kf_process;
/* Visits the processes of a night in order of benchmark, arm and ordinal; benchmark NULL: of all. */
kf_status kf_store_processes(kf_store *store, int64_t night, const char *benchmark,
                             kf_status (*visit)(void *context, const kf_process *process, kf_error *error),
                             void *context, kf_error *error);
/* Returns what the first process of a night's benchmark was asked to measure (to be freed), and with which
 * program. */
kf_status kf_store_night_job(kf_store *store, int64_t night, const char *benchmark, char **job,
                             char program[KF_HASH_HEX], kf_error *error);
/* A hardware counter of a night's benchmark: the mean over the processes of an arm. ordinal: of the kernel,
 * -1: the whole step. */
kf_status kf_store_night_counters(kf_store *store, int64_t night, const char *benchmark, kf_arm arm,
                                  void (*visit)(void *context, int ordinal, const char *metric, double value),
                                  void *context, kf_error *error);

/* --- Verdicts --- */

typedef enum kf_verdict_state {
    KF_SAME,
    KF_FAST,
    KF_SLOW,
    KF_AMBIGUOUS, /* looked changed, but the interleaved comparison did not say so, or could not be made */
    KF_NODATA,    /* nothing to compare, or too few processes */
    KF_DRIFT,     /* slower than the pinned release, step by step */
    KF_WRONG,     /* wrong result, or it does not run */
    KF_VERDICTS
} kf_verdict_state;
extern const char *const kf_verdict_names[KF_VERDICTS];
/* Returns whether a verdict makes the night fail: SLOW, DRIFT, WRONG. */
bool kf_verdict_fails(kf_verdict_state state);

typedef struct kf_verdict {
    char benchmark[KF_BENCHMARK];
    kf_verdict_state state;
    char reason[512];
    char series[KF_HASH_HEX];               /* "" when it was not reached */
    double time_us;                         /* of the night; NAN */
    double threshold;                       /* least relative change that was looked at; NAN */
    bool identical;                         /* same code, config, scene and machine as the night before */
    int64_t reference;                      /* night it was held against; 0: none */
    double change, change_low, change_high; /* relative, of the interleaved comparison; NAN */
    double probability;
    char kernel[48];         /* that changed most; "" */
    double kernel_change_us; /* in a step */
    char counter[96];        /* of that kernel, that moved most; "" */
    double counter_before, counter_after;
    /* Not of the verdict, but of the processes that it is of. */
    char program[KF_HASH_HEX]; /* that was measured: of a command its kept files; "": not known */
    double seconds;            /* that they took, of all arms */
} kf_verdict;
/* Returns whether a verdict's change is one of instructions, not of times. */
bool kf_verdict_of_instructions(const kf_verdict *verdict);
/* Commits a verdict, and with it the end of the benchmark's run (run_id 0: it has none). */
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
/* The last nights, at most limit, oldest first: those that ended, and including_night (0: none). The caller
 * frees *nights. */
kf_status kf_store_history(kf_store *store, const char *benchmark, const char *series,
                           int64_t including_night, int limit, kf_history_night **nights, int *count,
                           kf_error *error);

/* The pinned night of a series, however old. */
kf_status kf_store_pinned(kf_store *store, const char *benchmark, const char *series, kf_history_night *night,
                          bool *found, kf_error *error);

/* All nights, newest first. */
kf_status kf_store_nights(kf_store *store,
                          kf_status (*visit)(void *context, const kf_night *night, kf_error *error),
                          void *context, kf_error *error);
/* Finds a night; name: its number, the beginning of its UUID, or NULL for the newest. */
kf_status kf_store_find_night(kf_store *store, const char *name, kf_night *night, kf_error *error);
kf_status kf_store_night_of(kf_store *store, int64_t id, kf_night *night,
                            kf_error *error); /* by its number */

/* One row a benchmark and series, by benchmark, the latest series first. */
typedef struct kf_series_summary {
    char benchmark[KF_BENCHMARK], series[KF_HASH_HEX], device[128], driver[64], scene[128];
    const kf_facts *facts; /* of its scene; as long as the store */
    int nights;
    int64_t last_night;
} kf_series_summary;
kf_status kf_store_series_list(kf_store *store,
                               kf_status (*visit)(void *context, const kf_series_summary *series,
                                                  kf_error *error),
                               void *context, kf_error *error);

/* Makes a night the release that later ones are held against, for all its benchmarks; *count of them. */
kf_status kf_store_pin(kf_store *store, int64_t night, int *count, kf_error *error);

/* The verdicts of a night as JUnit XML: a test case a benchmark; SLOW and DRIFT are failures, WRONG is an
 * error, AMBIGUOUS and NODATA are skipped. */
kf_status kf_store_export_junit(kf_store *store, int64_t night, FILE *stream, kf_error *error);

/* The times of a night for github-action-benchmark (customSmallerIsBetter): an entry a benchmark that has a
 * time, with its verdict. */
kf_status kf_store_export_github_night(kf_store *store, int64_t night, FILE *stream, kf_error *error);

#endif
