/* Finds the scene that `kftune run` runs: the one that a config was tuned for, another one that the config
 * may be used for, or one that was never tuned. */
#ifndef KF_HARNESS_CLI_RUN_PROBLEM_H
#define KF_HARNESS_CLI_RUN_PROBLEM_H

#include "harness/cli/run_job.h"

/* Opens job->problem from --scene, without --config. */
kf_status kf_run_open_scene(kf_run_job *job, const kf_command *command, kf_error *error);
/* Opens job->problem with --config, which job->best holds: the scene inside it, or --scene, changed by what
 * else is said. A scene that differs in what does not touch the plan (speed, viscosity, yaw, another mesh on
 * the same grid) is reported. job->foreign is then set, so that the config is verified on it. A scene that
 * differs in more is KF_BAD_INPUT with the difference and what to do. */
kf_status kf_run_open_tuned_scene(kf_run_job *job, kf_error *error);
/* Refuses, with KF_BAD_INPUT, options that a config overrules. */
kf_status kf_run_refuse_said(const kf_arguments *arguments, kf_error *error);

/* Makes the scene's JSON, to be kept with what is made of it. It has the options of the command line that say
 * something else than its file (whole: all that the problem was opened with). It is NULL for pictures and
 * kernels, which have no scene file. The caller frees it. It fails only where the machine does (KF_HOST). */
kf_status kf_problem_document(const kf_problem *problem, const kf_arguments *arguments, bool whole,
                              cJSON **document, kf_error *error);

#endif
