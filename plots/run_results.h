/* The results of one run in the form that plots need. */
#ifndef KF_PLOTS_RUN_RESULTS_H
#define KF_PLOTS_RUN_RESULTS_H

#include "results/store.h"

enum { KF_PLOT_LEVELS = 3 }; /* L1, L2, device memory */

/* The efficiencies of the paper's figures 11 to 15, in percent: achieved occupancy, loads, stores, branches
 * that do not divide a warp, working threads of a warp. */
enum { KF_PLOT_EFFICIENCIES = 5 };

typedef struct kf_plot_kernel {
    char name[48];
    double time_us;   /* of its launches in one step, medians */
    double launch_us; /* of one launch */
    int registers, block_threads,
        shared_bytes; /* registers of a thread, threads of a block, shared memory of a block; 0: not known */
    double theoretical_occupancy; /* 0..1; NAN here and below: not known */
    char occupancy_limit[16];
    double achieved_occupancy;    /* 0..1 */
    double operations;            /* floating-point operations of one launch */
    double double_operations;     /* those of them in double precision */
    double bytes[KF_PLOT_LEVELS]; /* of one launch */
    double efficiency[KF_PLOT_EFFICIENCIES];
} kf_plot_kernel;

typedef struct kf_plot_result {
    int sequence;
    char role[KF_NAME + 8]; /* "preset:NAME", "search", "final" */
    kf_config config;
    bool ok;
    double time_us; /* median of the whole step; only when ok */
    bool counted;   /* it has hardware counters */
    int kernel_count;
    kf_plot_kernel *kernels;                 /* owned */
    double goals[KF_GOALS], costs[KF_GOALS]; /* values of the run's goals, and costs that are to be small */
} kf_plot_result;

typedef struct kf_plot_results {
    size_t count;
    kf_plot_result *results; /* in order of sequence; owned */
    int winner;              /* sequence of the result that the run chose; -1: not known */
    kf_objective objective;  /* of the run */
} kf_plot_results;

/* Reads the results of a run. The caller frees them. */
kf_status kf_plot_results_read(kf_store *store, const kf_run_summary *run, kf_plot_results *results,
                               kf_error *error);
void kf_plot_results_free(kf_plot_results *results);

/* Returns the ok result with counters that is nearest to the best: one of its config, otherwise the fastest;
 * NULL: none has counters. */
const kf_plot_result *kf_plot_best_counted(const kf_plot_results *results);
/* Returns a result with counters among a preset's measurements. */
const kf_plot_result *kf_plot_preset_counted(const kf_plot_results *results, const char *preset);

/* The first returns the ok result of a preset. The second returns the one that the run chose; if that is not
 * known, the fastest (of those in the final, if any). NULL: there is none. */
const kf_plot_result *kf_plot_preset(const kf_plot_results *results, const char *preset);
const kf_plot_result *kf_plot_best(const kf_plot_results *results);

/* Returns whether two configs are the same, by their hashes. */
bool kf_plot_same_config(const kf_config *a, const kf_config *b);

/* Compares pointers to kf_plot_kernel for qsort by time in a step, the slowest first. */
int kf_plot_slower_first(const void *left, const void *right);

#endif
