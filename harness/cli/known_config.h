/* Finds a config for a scene that was not tuned, from what the store knows of the scene most like it. */
#ifndef KF_HARNESS_CLI_KNOWN_CONFIG_H
#define KF_HARNESS_CLI_KNOWN_CONFIG_H

#include "base/plan/plan.h"
#include "harness/cli/command.h"
#include "results/best_config.h"

/* Looks in the store of option --store for the best config of this scene, or else of the scene nearest in
 * nodes and samples (within KF_SIMILAR_FARTHEST), on a device of this backend's name; without any, or without
 * a store, takes the default config; with option --fix the default with those values. Says which, and fills
 * *best with it. *foreign: it was not tuned for this scene, and must pass the gate. */
kf_status kf_known_config(const kf_arguments *arguments, const kf_problem *problem, kf_backend *backend,
                          kf_best_config *best, bool *foreign, kf_error *error);

/* Runs that gate on a reduced copy of the scene: KF_GATE_FAILED when the config is wrong here. */
kf_status kf_known_config_verify(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                                 kf_error *error);

#endif
