/* Plots of a store's contents. Only plots/ uses gnuplot. */
#ifndef KF_PLOTS_PLOT_H
#define KF_PLOTS_PLOT_H

#include "results/store.h"

/* Kinds of plots. */
typedef enum kf_plot_kind {
    KF_PLOT_KERNELS,     /* time of each kernel for baseline, paper and best */
    KF_PLOT_SURFACE,     /* best time over sample block length and layout */
    KF_PLOT_CONVERGENCE, /* best time so far over evaluations */
    KF_PLOT_ROOFLINE,    /* kernels of the best config under the roofs of the device; needs counters */
    KF_PLOT_OCCUPANCY,   /* achieved and theoretical occupancy for baseline, paper and best */
    KF_PLOT_FRONT,       /* the first two goals of a run with several */
    KF_PLOTS
} kf_plot_kind;
extern const char *const kf_plot_names[KF_PLOTS];

/* Finds the run with this id or uuid (or its unique beginning); NULL: the newest finished run with a result
 * that counts. KF_BAD_INPUT if there is none. */
kf_status kf_plot_find_run(kf_store *store, const char *name, kf_run_summary *run, kf_error *error);

/* Writes path, whose ending .svg, .png or .pdf determines the format, completely or not at all. KF_BAD_INPUT
 * if the run lacks the data for the plot, KF_MACHINE if gnuplot is missing. */
kf_status kf_plot_write(kf_plot_kind kind, kf_store *store, const kf_run_summary *run, const char *path,
                        kf_error *error);

/* KF_BAD_INPUT if path has none of the endings. */
kf_status kf_plot_check_path(const char *path, kf_error *error);

#endif
