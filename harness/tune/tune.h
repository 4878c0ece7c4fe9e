/* Does the tuning run: measures presets first, then what the strategy proposes, then the best again side by
 * side. */
#ifndef KF_HARNESS_TUNE_TUNE_H
#define KF_HARNESS_TUNE_TUNE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/record/user_metrics.h"
#include "harness/tune/budget.h"
#include "harness/worker/evaluate.h"
#include "results/best_config.h"
#include "results/store.h"

enum { KF_COMPILE_LIMIT_SECONDS = 300 }; /* of a config */

/* Lists the presets that a run measures: all; all if the budget has room for them; the default alone. */
typedef enum kf_preset_choice { KF_ALL_PRESETS, KF_FITTING_PRESETS, KF_DEFAULT_ALONE } kf_preset_choice;

/* This is the usual limit_seconds. */
#define KF_CONFIG_LIMIT_SECONDS 60.0

typedef struct kf_tune_request {
    const kf_problem *problem;
    const char *device;  /* as for kf_backend_open */
    const char *sharing; /* devices like it, itself the first, that share the search: configs are measured on
                          * all of them at once, the final on the first alone; NULL: none */
    char first_device[32]; /* room for its name */
    kf_backend *together;  /* of several processes, of which this one is the first, and which measure each
                            * config  together; NULL: there are no others */
    const char *strategy;  /* NULL: chosen by the size of the space and the budget */
    const char *const *fixed;
    int fixed_count;
    double started; /* kf_clock_seconds when the command began; the budget counts from here */
    kf_budget budget;
    const char *budget_text; /* as the user wrote it */
    uint64_t seed;
    bool resume;
    kf_store *store;
    double timing_seconds; /* most to spend on timing one config; 0: as docs/measuring.md says */
    double effort;     /* share of the usual measuring that a config gets in the search; 0: by the budget */
    int rounds;        /* of the final; 0: as docs/measuring.md says; -1: no final */
    bool measures_all; /* none is left alone as too slow: for a landscape */
    kf_preset_choice presets; /* that are measured: see kf_tune_leaves_out */
    bool keeps_going;         /* also where nothing seems to work: see hopeless.h */
    bool turns;               /* measure in turns with other such runs on the device, config by config */
    double limit_seconds;     /* wall time for verifying and measuring one config, KF_CONFIG_LIMIT_SECONDS */
    kf_objective objective;
    kf_user_metrics *metrics; /* computed for every config, checked against the space; NULL: none */
    kf_cache_policy cache;
    const kf_metric_set *counters; /* counted for the presets and every config of the final; NULL: none */
} kf_tune_request;

/* Holds a config that was tried. */
typedef struct kf_evaluation {
    kf_config config;
    char hash[KF_HASH_HEX];
    char role[32];              /* "preset:NAME", "search" or "final" */
    int sequence;               /* of its row in the store */
    double moment;              /* measured first so long after the command began, in seconds */
    bool eligible;              /* in the space, so it may win; presets that --fix excludes may not */
    kf_measurement measurement; /* owned */
} kf_evaluation;

typedef struct kf_evaluations {
    kf_evaluation *items;
    int count, capacity;
} kf_evaluations;

/* Lists the presets every space has and every run measures first. */
typedef enum kf_preset_kind {
    KF_PRESET_DEFAULT,
    KF_PRESET_BASELINE,
    KF_PRESET_PAPER,
    KF_PRESETS
} kf_preset_kind;
extern const char *const kf_preset_names[KF_PRESETS]; /* "default", "baseline", "paper" */

/* Holds when what was reached: seconds since the command began, without waiting for the device; 0: never. */
typedef struct kf_tune_timeline {
    double scene;           /* read and sampled */
    double device;          /* known */
    double reference;       /* computed, the run begun */
    double worker;          /* has opened the device */
    double compiler;        /* the first one has started */
    double presets;         /* all measured */
    double search;          /* over */
    double opening;         /* not a moment: spent on waiting for all workers to open the device */
    double compiling;       /* not a moment: of all compiling processes together */
    int compilers, sources; /* processes; sources built */
} kf_tune_timeline;

/* Holds a value that the scene's accuracy forbids, and what the best config with it takes. */
typedef struct kf_alternative {
    kf_value value;
    double gain;  /* the best's time over its */
    double error; /* found by the gate: relative, after its few steps */
} kf_alternative;
enum { KF_ALTERNATIVES = 4 };

typedef struct kf_tune_result {
    kf_device_info device;
    kf_objective objective;
    kf_run_row run;
    uint64_t space_size;
    double seconds; /* from the command's beginning to the end, without waiting for the device */
    kf_tune_timeline timeline;
    int searched;                           /* of tried, what the strategy proposed */
    int resumed;                            /* evaluations taken over from an earlier, unfinished run */
    kf_evaluations tried;                   /* presets and search, each config once */
    kf_evaluations finals;                  /* measured again, side by side; samples of all rounds together */
    int states[KF_STATES];                  /* of tried */
    int presets[KF_PRESETS];                /* index in tried; -1: not measured */
    int best;                               /* index in tried; -1: no config is ok */
    const kf_measurement *best_measurement; /* the one its time comes from: final if there is one */
    int best_sequence;                      /* its row in the store; -1: none */
    double gain[KF_PRESETS]; /* the preset's over the best's time (or energy, or both); NAN without */
    double noise_floor;      /* relative standard deviation of a config's time from process to process; NAN */
    int ties[KF_BEST_TIES];  /* indices in tried: cannot be told apart from the best */
    int tie_count;
    kf_alternative alternatives[KF_ALTERNATIVES];
    int alternative_count;
    /* With several goals: indices in tried of the configs that none dominates, by the first goal. */
    int *front; /* owned */
    int front_count;
} kf_tune_result;

/* Says whether a preset is not measured. The default always is. With KF_FITTING_PRESETS on a cpu less than
 * five minutes of wall time are for the search: the slow kernels of the others would take all of it. */
bool kf_tune_leaves_out(const kf_tune_request *request, const kf_device_info *device, kf_preset_kind preset);

/* Runs presets, search and final. KF_OK: *result has a best config. KF_GATE_FAILED or KF_MACHINE: no config
 * is ok, the message says which state was most frequent and why. KF_INTERRUPTED: as far as it came; best may
 * be -1. Other errors: nothing useful. In every case what was measured is in the store and the caller frees
 * *result. */
kf_status kf_tune(const kf_tune_request *request, kf_tune_result *result, kf_error *error);
void kf_tune_result_free(kf_tune_result *result);

/* Returns the best knowledge of a tried config's time: the final's if it took part, and was right there too.
 * NULL: it is not ok, or tried is -1. */
const kf_measurement *kf_tune_measurement(const kf_tune_result *result, int tried);

/* Fills what is written as <scene>.kftune.json. It is called only with a best config. */
void kf_tune_best_config(const kf_tune_request *request, const kf_tune_result *result, kf_best_config *best);

/* Describes a config in a line for people: how it differs from the preset default, where that is known. The
 * caller frees it. */
char *kf_tune_config_text(const kf_tune_result *result, const kf_config *config);

/* These give the summary for people, and the object of --json (the caller deletes it). `out` is the file that
 * was written, NULL: none. */
void kf_tune_print(const kf_tune_request *request, const kf_tune_result *result, const char *out,
                   FILE *stream);
cJSON *kf_tune_to_json(const kf_tune_request *request, const kf_tune_result *result, const char *out);

#endif
