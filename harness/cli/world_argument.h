/* Opens the world for commands that may run in several processes. */
#ifndef KF_HARNESS_CLI_WORLD_ARGUMENT_H
#define KF_HARNESS_CLI_WORLD_ARGUMENT_H

#include "harness/cli/command.h"

/* Joins the other processes that mpirun or srun started. Without --devices each process is alone. From then
 * on only the first one prints. kf_world_close ends the world, whatever the status. */
kf_status kf_argument_world(const kf_arguments *arguments, kf_error *error);

#endif
