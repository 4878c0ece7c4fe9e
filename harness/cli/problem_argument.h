/* Reads from the command line what a command works on. */
#ifndef KF_HARNESS_CLI_PROBLEM_ARGUMENT_H
#define KF_HARNESS_CLI_PROBLEM_ARGUMENT_H

#include "base/plan/problem.h"
#include "harness/cli/command.h"

/* Opens what the options --scene, --system, --grid and --samples-per-cell of the command name. known: what
 * holds where they say nothing, and source where --scene is not given (NULL: then --scene is required). The
 * caller frees with kf_problem_free. */
kf_status kf_argument_problem(const kf_arguments *arguments, const kf_command *command, const char *source,
                              const kf_problem_options *known, kf_problem **problem, kf_error *error);

/* Has a scene that is too large for the devices of the command, or else for those of the fallback (NULL: the
 * best there is), refused before it is made. The options do not outlive the arguments. */
void kf_argument_memory(const kf_arguments *arguments, const char *fallback, kf_problem_options *options);

/* Prints on stderr, a line each, what the problem's system chose for the user or mended in a file. */
void kf_problem_print_notes(const kf_problem *problem);

#endif
