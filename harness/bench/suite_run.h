/* Runs a suite's file: problems, configs, times, figures. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_SUITE_RUN_H
#define KF_HARNESS_BENCH_SUITE_RUN_H

#include "base/plan/trial.h"
#include "base/space/space.h"
#include "harness/bench/suite_file.h"

/* --- Problems (suite_problems.c) ------------------------------------------------------------------------ */

typedef struct kf_suite_problem {
    kf_problem *problem; /* NULL: not made, for the given reason */
    kf_problem *source;  /* the problem that was changed, unless another scene owns it; owned; may be NULL */
    kf_trial trial;      /* opened when a config is first verified on it (kf_suite_trial) */
    kf_space *space;     /* opened on first use (kf_suite_space) */
    char reason[256];
} kf_suite_problem;

typedef struct kf_suite_problems {
    const kf_suite_file *file;
    const kf_device_info *device;
    bool gpu;
    kf_suite_problem *list; /* one for each scene of the file */
} kf_suite_problems;

/* Makes the problems of the wanted scenes (wanted[scene]) and of those that they need. A problem that this
 * device cannot hold gets a reason instead. The caller closes them, also after a failure. */
kf_status kf_suite_problems_open(const kf_suite_file *file, const kf_device_info *device,
                                 const kf_bench_options *options, bool *wanted, kf_suite_problems *problems,
                                 kf_error *error);
void kf_suite_problems_close(kf_suite_problems *problems);

/* Finds the trial on which a scene's configs are verified. It may have no reference yet. */
kf_status kf_suite_trial(kf_suite_problems *problems, int scene, kf_trial **trial, kf_error *error);
kf_status kf_suite_space(kf_suite_problems *problems, int scene, const kf_space **space, kf_error *error);

/* --- Configs (suite_config.c) --------------------------------------------------------------------------- */

/* Makes a candidate's config from a preset. Its values are replaced by those of the leader (NULL: none), then
 * by those of all candidates of the timing, then by the candidate's. Returns false, with the reason in one
 * line, if the space lacks a parameter or value, or if a constraint forbids it. */
bool kf_suite_configure(const kf_space *space, const kf_problem *problem, const kf_suite_timing *timing,
                        const kf_candidate *leader, const kf_candidate *candidate, kf_config *config,
                        char *reason, size_t reason_size);

/* --- Times (suite_times.c) ------------------------------------------------------------------------------ */

/* The result of a candidate. */
typedef struct kf_suite_try {
    const kf_candidate *candidate;
    kf_config config;
    bool in_space;
    size_t ticket;    /* the ticket of the builder */
    double step_us;   /* NAN: not timed, for the given reason */
    char reason[320]; /* why the config does not exist, or why it failed */
} kf_suite_try;

typedef struct kf_suite_time {
    kf_suite_try *tries;
    int try_count;
    int best;                   /* index in tries; -1: none, for the given reason */
    kf_measurement measurement; /* of the best candidate */
    char reason[320];
    bool failed; /* a candidate failed the gate, or the final measurement of the best one failed */
} kf_suite_time;

/* Adds the leaders of the wanted timings (wanted[timing]). */
void kf_suite_add_leaders(const kf_suite_file *file, bool *wanted);
/* Compiles, verifies and times the wanted timings (times[timing]). A config that is not available or fails is
 * not an error: its time contains the reason. The caller frees the times, also after a failure. */
kf_status kf_suite_time_all(kf_suite_problems *problems, const bool *wanted, kf_suite_time *times,
                            kf_error *error);
void kf_suite_times_free(const kf_suite_file *file, kf_suite_time *times);

/* --- Figures (suite_figures.c) -------------------------------------------------------------------------- */

typedef struct kf_suite_results {
    const kf_suite_problems *problems;
    const kf_suite_time *times;
    const kf_roofs *roofs;
    double copy_rate; /* bytes read and written per second */
} kf_suite_results;

/* Selects what the chosen figures need: timings[timing] and scenes[scene]. KF_BAD_INPUT names an unknown
 * figure and the nearest known one. */
kf_status kf_suite_select(const kf_suite_file *file, const kf_bench_options *options, bool *timings,
                          bool *scenes, kf_error *error);
/* Adds the chosen figures and a description of the run. */
kf_status kf_suite_add_figures(const kf_bench_options *options, const kf_suite_results *results,
                               kf_figures *figures, kf_error *error);
/* Returns the details of a time as members of a figure's JSON. The caller frees them. */
cJSON *kf_suite_details(const kf_suite_time *time);

/* --- The run (suite_run.c) ------------------------------------------------------------------------------ */

/* Runs the suite, and returns its device and figures. */
kf_status kf_suite_run(const kf_bench_suite *suite, const kf_bench_options *options, kf_device_info *device,
                       kf_figures *figures, kf_error *error);

#endif
