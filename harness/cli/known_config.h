/* A configuration for a scene that was not tuned: what the store knows of the scene most like it. */
#ifndef KF_HARNESS_CLI_KNOWN_CONFIG_H
#define KF_HARNESS_CLI_KNOWN_CONFIG_H

#include "base/plan/plan.h"
#include "harness/cli/command.h"
#include "results/best_config.h"

/* Looks in the store of option --store for the best config of this problem, or else of the one that is most
 * like it, on a device of this backend's name; says which, and fills *best with it. One of another problem
 * passes the gate of tuning first. KF_BAD_INPUT when nothing is known, KF_GATE_FAILED
 * when the config is wrong here. */
kf_status kf_known_config(const kf_arguments *arguments, const kf_problem *problem, kf_backend *backend,
                          kf_best_config *best, kf_error *error);

#endif
