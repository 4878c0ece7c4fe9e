/* The history of a benchmark over its nights, with the points at which its level changed. */
#ifndef KF_PLOTS_HISTORY_H
#define KF_PLOTS_HISTORY_H

#include "results/nightly.h"

enum { KF_HISTORY_SHOWN = 100 }; /* nights */

/* Writes path (.svg, .png or .pdf) from the last nights of the benchmark's latest series; benchmark NULL: the
 * first one. KF_BAD_INPUT if the store has no such benchmark, or fewer than two nights of it. */
kf_status kf_plot_history(kf_store *store, const char *benchmark, const char *path, kf_error *error);

#endif
