/* Opens the world of commands that several processes may do together. */
#ifndef KF_HARNESS_CLI_WORLD_ARGUMENT_H
#define KF_HARNESS_CLI_WORLD_ARGUMENT_H

#include "harness/cli/command.h"

/* Joins the others that mpirun or srun started; without --devices each is alone. All but the first say
 * nothing from then on. kf_world_close ends it, whatever the status. */
kf_status kf_argument_world(const kf_arguments *arguments, kf_error *error);

#endif
