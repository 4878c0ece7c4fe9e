/* The scene that `kftune run` runs: the one that a config was tuned for, another one that the config may be
 * used for, or one that was never tuned. */
#ifndef KF_HARNESS_CLI_RUN_PROBLEM_H
#define KF_HARNESS_CLI_RUN_PROBLEM_H

#include "harness/cli/run_job.h"

/* Without --config: job->problem, of --scene. */
kf_status kf_run_open_scene(kf_run_job *job, const kf_command *command, kf_error *error);
/* With --config, which job->best holds: the scene inside it, or --scene, changed by what else is said. One
 * that differs in what does not touch the plan (speed, viscosity, yaw, another mesh on the same grid) is
 * said, and job->foreign is set, so that the config is verified on it; one that differs in more is
 * KF_BAD_INPUT with the difference and what to do. */
kf_status kf_run_open_tuned_scene(kf_run_job *job, kf_error *error);
/* Options that a config overrules are KF_BAD_INPUT with it. */
kf_status kf_run_refuse_said(const kf_arguments *arguments, kf_error *error);

/* The scene as JSON, to be kept with what is made of it, with the options of the command line that say
 * something else than its file (whole: all that the problem was opened with); NULL for what has no scene
 * file, pictures and kernels. The caller frees it. Fails only where the machine does (KF_HOST). */
kf_status kf_problem_document(const kf_problem *problem, const kf_arguments *arguments, bool whole,
                              cJSON **document, kf_error *error);

#endif
