/* The results of one run, as the plots need them. */
#ifndef KF_PLOTS_RUN_RESULTS_H
#define KF_PLOTS_RUN_RESULTS_H

#include "results/store.h"

enum { KF_PLOT_LEVELS = 3 }; /* L1, L2, device memory */

/* The paper's figures 11 to 15 compare these, in percent: achieved occupancy, efficiency of loads, of
 * stores, branches that do not part a warp, threads of a warp that work. */
enum { KF_PLOT_EFFICIENCIES = 5 };

typedef struct kf_plot_kernel {
    char name[48];
    double time_us;                             /* of its launches in one step, medians */
    double launch_us;                           /* of one launch */
    int registers, block_threads, shared_bytes; /* of a thread; of a block; 0: not known */
    double theoretical_occupancy;               /* 0..1; NAN: not known, as are the following */
    char occupancy_limit[16];
    double achieved_occupancy;    /* 0..1 */
    double operations;            /* of floating point, of one launch */
    double double_operations;     /* of them in double precision */
    double bytes[KF_PLOT_LEVELS]; /* of one launch */
    double efficiency[KF_PLOT_EFFICIENCIES];
} kf_plot_kernel;

typedef struct kf_plot_result {
    int sequence;
    char role[KF_NAME + 8]; /* "preset:NAME", "search", "final" */
    kf_config config;
    bool ok;
    double time_us; /* median of the whole step; only when ok */
    bool counted;   /* has hardware counters */
    int kernel_count;
    kf_plot_kernel *kernels; /* owned */
    double goals[KF_GOALS],
        costs[KF_GOALS]; /* what the run sought, of this result, and what is to be small */
} kf_plot_result;

typedef struct kf_plot_results {
    size_t count;
    kf_plot_result *results; /* in order of sequence; owned */
    int winner;              /* sequence of the result that the run chose; -1: not known */
    kf_objective objective;  /* of the run */
} kf_plot_results;

/* Reads the results of a run, which the caller frees. */
kf_status kf_plot_results_read(kf_store *store, const kf_run_summary *run, kf_plot_results *results,
                               kf_error *error);
void kf_plot_results_free(kf_plot_results *results);

/* The ok result with counters that is nearest to the best: of its config, or the fastest of all; NULL: none
 * has counters. */
const kf_plot_result *kf_plot_best_counted(const kf_plot_results *results);
/* Returns a preset's result that has counters, in whichever of its measurements. */
const kf_plot_result *kf_plot_preset_counted(const kf_plot_results *results, const char *preset);

/* The ok result of a preset; and the one that the run chose, or where that is not known the fastest (of those
 * measured once more at the end, if any); or NULL. */
const kf_plot_result *kf_plot_preset(const kf_plot_results *results, const char *preset);
const kf_plot_result *kf_plot_best(const kf_plot_results *results);

/* Says whether two configs are one, by their hashes. */
bool kf_plot_same_config(const kf_config *a, const kf_config *b);

/* For qsort of pointers to kf_plot_kernel, by time in a step. */
int kf_plot_slower_first(const void *left, const void *right);

#endif
