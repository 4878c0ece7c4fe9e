/* Plots how a step scales: what `kftune bench --suite scaling` measured, and what the model of scaling says
 * up to 16,384 devices. */
#ifndef KF_HARNESS_CLI_PLOT_SCALING_H
#define KF_HARNESS_CLI_PLOT_SCALING_H

#include <stdbool.h>

#include "base/util/status.h"

/* Predicts from figures, which `bench --suite scaling --json` printed, and from links, which `roofs
 * --devices --json` printed, or NULL for those of H200s. Draws into path and prints the predicted table
 * with its assumptions, as JSON if asked. KF_BAD_INPUT where the file lacks the figure that the model
 * takes a device's rate from, or links. */
kf_status kf_plot_scaling(const char *file, const char *links, const char *path, bool json, kf_error *error);

#endif
