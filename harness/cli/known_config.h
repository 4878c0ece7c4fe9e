/* Finds a config for a scene that was not tuned, from the most similar scene in the store. */
#ifndef KF_HARNESS_CLI_KNOWN_CONFIG_H
#define KF_HARNESS_CLI_KNOWN_CONFIG_H

#include "base/plan/plan.h"
#include "harness/cli/command.h"
#include "results/best_config.h"

/* Finds a config and fills *best with it. The store of --store is searched for the best config of this scene,
 * or of the scene nearest in nodes and samples (within KF_SIMILAR_FARTHEST), on a device with this backend's
 * name. Without a match, or without a store, it is the default config. With --fix it is the default config
 * with those values. The choice is printed. *foreign: the config was not tuned for this scene, and must pass
 * the gate. */
kf_status kf_known_config(const kf_arguments *arguments, const kf_problem *problem, kf_backend *backend,
                          kf_best_config *best, bool *foreign, kf_error *error);

/* Verifies the config on a reduced copy of the scene. KF_GATE_FAILED if it is wrong there. */
kf_status kf_known_config_verify(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                                 kf_error *error);

#endif
