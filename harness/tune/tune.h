/* Does a tuning run: measures presets first, then the strategy's proposals, then the best configs again in
 * turns. */
#ifndef KF_HARNESS_TUNE_TUNE_H
#define KF_HARNESS_TUNE_TUNE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/record/user_metrics.h"
#include "harness/tune/budget.h"
#include "harness/worker/evaluate.h"
#include "results/best_config.h"
#include "results/store.h"

enum { KF_COMPILE_LIMIT_SECONDS = 300 }; /* for one config */

/* The presets that a run measures: all; all that the budget has room for; only the default. */
typedef enum kf_preset_choice { KF_ALL_PRESETS, KF_FITTING_PRESETS, KF_DEFAULT_ALONE } kf_preset_choice;

/* The usual limit_seconds. */
#define KF_CONFIG_LIMIT_SECONDS 60.0

typedef struct kf_tune_request {
    const kf_problem *problem;
    const char *device;  /* as for kf_backend_open */
    const char *sharing; /* equal devices, `device` the first, that share the search; configs are measured on
                            all of them at once, the final on the first; NULL: none */
    char first_device[32]; /* memory for its name */
    kf_backend *together;  /* the device of several processes that measure each config together, of which this
                              is the first; NULL: there are no others */
    const char *strategy;  /* NULL: the size of the space and the budget decide */
    const char *const *fixed;
    int fixed_count;
    double started; /* kf_clock_seconds when the command began, which is the start of the budget */
    kf_budget budget;
    const char *budget_text; /* as the user wrote it */
    uint64_t seed;
    bool resume;
    kf_store *store;
    double timing_seconds; /* limit of the time to time one config; 0: that of docs/measuring.md */
    double effort; /* share of the usual measuring that a config gets in the search; 0: the budget decides */
    int rounds;    /* rounds of the final; 0: as in docs/measuring.md; -1: no final */
    bool measures_all;        /* no config is skipped as too slow (for a landscape) */
    kf_preset_choice presets; /* the presets that are measured (kf_tune_leaves_out) */
    bool keeps_going;         /* continue even if nothing seems to work (hopeless.h) */
    bool turns;               /* take turns with other such runs on the device, config by config */
    double limit_seconds;     /* wall time for verifying and measuring one config, KF_CONFIG_LIMIT_SECONDS */
    kf_objective objective;
    kf_user_metrics *metrics; /* metrics of every config, checked against the space; NULL: none */
    kf_cache_policy cache;
    const kf_metric_set *counters; /* counted for the presets and all configs of the final; NULL: none */
} kf_tune_request;

/* A config that was tried. */
typedef struct kf_evaluation {
    kf_config config;
    char hash[KF_HASH_HEX];
    char role[32];              /* "preset:NAME", "search" or "final" */
    int sequence;               /* sequence number of its row in the store */
    double moment;              /* seconds after the command began when it was first measured */
    bool eligible;              /* it is in the space, so it may win; presets that --fix excludes may not */
    kf_measurement measurement; /* owned */
} kf_evaluation;

typedef struct kf_evaluations {
    kf_evaluation *items;
    int count, capacity;
} kf_evaluations;

/* The presets that every space has and every run measures first. */
typedef enum kf_preset_kind {
    KF_PRESET_DEFAULT,
    KF_PRESET_BASELINE,
    KF_PRESET_PAPER,
    KF_PRESETS
} kf_preset_kind;
extern const char *const kf_preset_names[KF_PRESETS]; /* "default", "baseline", "paper" */

/* Moments of a run in seconds since the command began, without waiting for the device; 0: never. */
typedef struct kf_tune_timeline {
    double scene;           /* the scene is read and sampled */
    double device;          /* known */
    double reference;       /* the reference is computed, and the run has begun */
    double worker;          /* the worker has opened the device */
    double compiler;        /* the first compiler has started */
    double presets;         /* all measured */
    double search;          /* over */
    double opening;         /* not a moment: seconds of waiting until all workers had opened the device */
    double compiling;       /* not a moment: total seconds of all compiling processes */
    int compilers, sources; /* numbers of processes and of built sources */
} kf_tune_timeline;

/* A value that the scene's accuracy forbids, and the time of the best config with it. */
typedef struct kf_alternative {
    kf_value value;
    double gain;  /* the best time divided by that of this config */
    double error; /* relative error found by the gate after its few steps */
} kf_alternative;
enum { KF_ALTERNATIVES = 4 };

typedef struct kf_tune_result {
    kf_device_info device;
    kf_objective objective;
    kf_run_row run;
    uint64_t space_size;
    double seconds; /* from the beginning of the command to its end, without waiting for the device */
    kf_tune_timeline timeline;
    int searched;            /* number of configs in tried that the strategy proposed */
    int resumed;             /* evaluations taken over from an earlier, unfinished run */
    kf_evaluations tried;    /* presets and search, each config once */
    kf_evaluations finals;   /* configs of the final, with the samples of all rounds */
    int states[KF_STATES];   /* of tried */
    int presets[KF_PRESETS]; /* index in tried; -1: not measured */
    int best;                /* index in tried; -1: no config is ok */
    const kf_measurement
        *best_measurement; /* the measurement with its time: from the final if there was one */
    int best_sequence;     /* its row in the store; -1: none */
    double
        gain[KF_PRESETS]; /* the preset's time (or energy, or both) divided by the best's; NAN: not known */
    double noise_floor; /* relative standard deviation of a config's time between processes; NAN: not known */
    int ties[KF_BEST_TIES]; /* indices in tried of configs that tie with the best */
    int tie_count;
    kf_alternative alternatives[KF_ALTERNATIVES];
    int alternative_count;
    /* With several goals: indices in tried of the configs that none dominates, sorted by the first goal. */
    int *front; /* owned */
    int front_count;
} kf_tune_result;

/* Returns whether a preset is not measured. The default is always measured. With KF_FITTING_PRESETS the
 * others are left out on a cpu with less than five minutes of wall time for the search, because their slow
 * kernels would take all of it. */
bool kf_tune_leaves_out(const kf_tune_request *request, const kf_device_info *device, kf_preset_kind preset);

/* Runs presets, search and final. KF_OK: *result has a best config. KF_GATE_FAILED or KF_MACHINE: no config
 * is ok; the message contains the most frequent state and its reason. KF_INTERRUPTED: *result contains the
 * part that was done, and best may be -1. Other errors: *result has no meaning. In every case all
 * measurements are in the store, and the caller frees *result. */
kf_status kf_tune(const kf_tune_request *request, kf_tune_result *result, kf_error *error);
void kf_tune_result_free(kf_tune_result *result);

/* Returns the most precise measurement of a tried config: the final's if it took part and was correct there.
 * NULL: it is not ok, or tried is -1. */
const kf_measurement *kf_tune_measurement(const kf_tune_result *result, int tried);

/* Fills the contents of <scene>.kftune.json. There must be a best config. */
void kf_tune_best_config(const kf_tune_request *request, const kf_tune_result *result, kf_best_config *best);

/* Describes a config in one line by its differences from the preset default, if that is known. The caller
 * frees the text. */
char *kf_tune_config_text(const kf_tune_result *result, const kf_config *config);

/* These print the summary, and make the object of --json, which the caller frees. `out`: the file that was
 * written; NULL: none. */
void kf_tune_print(const kf_tune_request *request, const kf_tune_result *result, const char *out,
                   FILE *stream);
cJSON *kf_tune_to_json(const kf_tune_request *request, const kf_tune_result *result, const char *out);

#endif
