/* Runs a suite's file: problems, configs, times, figures. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_SUITE_RUN_H
#define KF_HARNESS_BENCH_SUITE_RUN_H

#include "base/plan/trial.h"
#include "base/space/space.h"
#include "harness/bench/suite_file.h"

/* --- Problems (suite_problems.c) ------------------------------------------------------------------------ */

typedef struct kf_suite_problem {
    kf_problem *problem; /* NULL: not made, see reason */
    kf_problem *source;  /* what it is a change of, when no other scene is; owned; NULL */
    kf_trial trial;      /* opened when a config is first verified on it; see kf_suite_trial */
    kf_space *space;     /* opened when it is first asked for; see kf_suite_space */
    char reason[256];
} kf_suite_problem;

typedef struct kf_suite_problems {
    const kf_suite_file *file;
    const kf_device_info *device;
    bool gpu;
    kf_suite_problem *list; /* one a scene of the file */
} kf_suite_problems;

/* Makes the wanted scenes' problems (wanted[scene]; those that they need are added). A problem that this
 * device cannot hold gets a reason instead. To be closed also after a failure. */
kf_status kf_suite_problems_open(const kf_suite_file *file, const kf_device_info *device,
                                 const kf_bench_options *options, bool *wanted, kf_suite_problems *problems,
                                 kf_error *error);
void kf_suite_problems_close(kf_suite_problems *problems);

/* Finds the trial on which a scene's configs are verified. It has no reference unless that was made. */
kf_status kf_suite_trial(kf_suite_problems *problems, int scene, kf_trial **trial, kf_error *error);
kf_status kf_suite_space(kf_suite_problems *problems, int scene, const kf_space **space, kf_error *error);

/* --- Configs (suite_config.c) --------------------------------------------------------------------------- */

/* Makes a candidate's config: a preset's, with the values of the leader (NULL: none), of all candidates of
 * the timing, and its own. Returns false, with the reason in one line, if the space lacks a parameter or a
 * value, or a constraint forbids it. */
bool kf_suite_configure(const kf_space *space, const kf_problem *problem, const kf_suite_timing *timing,
                        const kf_candidate *leader, const kf_candidate *candidate, kf_config *config,
                        char *reason, size_t reason_size);

/* --- Times (suite_times.c) ------------------------------------------------------------------------------ */

/* Holds how a candidate did. */
typedef struct kf_suite_try {
    const kf_candidate *candidate;
    kf_config config;
    bool in_space;
    size_t ticket;    /* of the builder */
    double step_us;   /* NAN: not timed, see reason */
    char reason[320]; /* the space has no such value, or what became of the config */
} kf_suite_try;

typedef struct kf_suite_time {
    kf_suite_try *tries;
    int try_count;
    int best;                   /* of tries; -1: none, see reason */
    kf_measurement measurement; /* of the best */
    char reason[320];
    bool failed; /* a candidate failed the gate, or the best one the measurement that counts */
} kf_suite_time;

/* Adds what the wanted timings follow: wanted[timing]. */
void kf_suite_add_leaders(const kf_suite_file *file, bool *wanted);
/* Compiles, verifies and times the wanted ones: times[timing]. What is not available or fails is no error:
 * the time says why. To be freed also after a failure. */
kf_status kf_suite_time_all(kf_suite_problems *problems, const bool *wanted, kf_suite_time *times,
                            kf_error *error);
void kf_suite_times_free(const kf_suite_file *file, kf_suite_time *times);

/* --- Figures (suite_figures.c) -------------------------------------------------------------------------- */

typedef struct kf_suite_results {
    const kf_suite_problems *problems;
    const kf_suite_time *times;
    const kf_roofs *roofs;
    double copy_rate; /* bytes read and written a second */
} kf_suite_results;

/* Selects what the chosen figures need: timings[timing] and scenes[scene]. A figure that does not exist is
 * KF_BAD_INPUT with the nearest right one. */
kf_status kf_suite_select(const kf_suite_file *file, const kf_bench_options *options, bool *timings,
                          bool *scenes, kf_error *error);
/* Adds the chosen figures and what the run was about. */
kf_status kf_suite_add_figures(const kf_bench_options *options, const kf_suite_results *results,
                               kf_figures *figures, kf_error *error);
/* Returns how a time came about, as keys of a figure's JSON, which the caller deletes. */
cJSON *kf_suite_details(const kf_suite_time *time);

/* --- The run (suite_run.c) ------------------------------------------------------------------------------ */

/* Runs the suite, and gives the device it ran on and the figures. */
kf_status kf_suite_run(const kf_bench_suite *suite, const kf_bench_options *options, kf_device_info *device,
                       kf_figures *figures, kf_error *error);

#endif
