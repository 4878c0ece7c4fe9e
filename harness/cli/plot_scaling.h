/* Plots how a step scales: the measurements of `kftune bench --suite scaling`, and the model's prediction for
 * up to 16,384 devices. */
#ifndef KF_HARNESS_CLI_PLOT_SCALING_H
#define KF_HARNESS_CLI_PLOT_SCALING_H

#include <stdbool.h>

#include "base/util/status.h"

/* Predicts scaling from a file of figures (`bench --suite scaling --json`) and a file of links (`roofs
 * --devices --json`; NULL: those of H200s). It draws into `path`, and prints the prediction and its
 * assumptions as text or JSON. KF_BAD_INPUT if a file lacks the links, or the figure that gives a device's
 * rate. */
kf_status kf_plot_scaling(const char *file, const char *links, const char *path, bool json, kf_error *error);

#endif
