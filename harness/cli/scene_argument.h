/* What a command works on: --scene, or --problem for systems that have no scenes. */
#ifndef KF_HARNESS_CLI_SCENE_ARGUMENT_H
#define KF_HARNESS_CLI_SCENE_ARGUMENT_H

#include "base/plan/system.h"
#include "harness/cli/command.h"
#include "scene/scene.h"

/* Opens what the options --scene, --grid and --samples-per-cell name, or --problem. options: grid and samples
 * as given; its seed is used. The option that the system has no use for, or that is missing, is KF_BAD_INPUT.
 * The caller frees with kf_scene_free. */
kf_status kf_argument_scene(const kf_arguments *arguments, const kf_command *command, const kf_system *system,
                            const kf_scene_options *options, kf_scene **scene, kf_error *error);

#endif
