/* Finds the scene of `kftune run`: the one for which a config was tuned, another one for which the config may
 * be used, or one without a config. */
#ifndef KF_HARNESS_CLI_RUN_PROBLEM_H
#define KF_HARNESS_CLI_RUN_PROBLEM_H

#include "harness/cli/run_job.h"

/* Opens job->problem from --scene if there is no --config. */
kf_status kf_run_open_scene(kf_run_job *job, const kf_command *command, kf_error *error);
/* Opens job->problem for the config in job->best: the scene inside it, or --scene, with the changes of other
 * options. A difference that does not affect the plan (speed, viscosity, yaw, another mesh on the same grid)
 * is reported, and job->foreign is set, so that the config is verified. Any other difference is KF_BAD_INPUT
 * with what to do. */
kf_status kf_run_open_tuned_scene(kf_run_job *job, kf_error *error);
/* Refuses options that the config overrides, with KF_BAD_INPUT. */
kf_status kf_run_refuse_said(const kf_arguments *arguments, kf_error *error);

/* Makes the scene's JSON, which is kept beside results. It contains the options that differ from the scene's
 * file (whole: all options with which the problem was opened). It is NULL for pictures and kernels, which
 * have no scene file. The caller frees it. It fails only for a fault of the machine (KF_HOST). */
kf_status kf_problem_document(const kf_problem *problem, const kf_arguments *arguments, bool whole,
                              cJSON **document, kf_error *error);

#endif
