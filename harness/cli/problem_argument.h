/* Opens the problem that the command line names. */
#ifndef KF_HARNESS_CLI_PROBLEM_ARGUMENT_H
#define KF_HARNESS_CLI_PROBLEM_ARGUMENT_H

#include "base/plan/problem.h"
#include "harness/cli/command.h"

/* Options that several commands share. */
#define KF_PROBLEM_OPTION                                                                                    \
    {                                                                                                        \
        "--scene", "FILE|NAME",                                                                              \
            "a mesh, a scene file, a shipped scene, or the T1 file of a kernel (.t1.json)", KF_TEXT          \
    }
#define KF_SYSTEM_OPTION                                                                                     \
    {                                                                                                        \
        "--system", "NAME",                                                                                  \
            "family of solver (default: the first of 'kftune list systems' that runs the scene)", KF_TEXT    \
    }
#define KF_SAMPLES_OPTION                                                                                    \
    {                                                                                                        \
        "--samples-per-cell", "R", "samples for each cell^2 of surface (default: as the scene says)",        \
            KF_DECIMAL(KF_LEAST_SAMPLES_PER_CELL, KF_MOST_SAMPLES_PER_CELL)                                  \
    }
#define KF_GRID_OPTIONS                                                                                      \
    {"--grid", "NXxNY[xNZ]", "nodes of the domain (default: as the scene says)", KF_CHECKED(kf_value_grid)}, \
        KF_SAMPLES_OPTION
#define KF_FIX_OPTION                                                                                        \
    {                                                                                                        \
        "--fix", "KEY=VALUE[,VALUE]", "only configs in which the parameter has this value, or one of these", \
            KF_ALL_CHECKED(kf_value_pair)                                                                    \
    }
#define KF_DEVICE_OPTION                                                                                     \
    { "--device", "cuda:N|cpu", "where to run (default: a GPU if one works, else the cpu)", KF_TEXT }
#define KF_TEAM_OPTION                                                                                       \
    { "--devices", "cuda:0-3|cpu,cpu", "a team of devices that share the domain (docs/teams.md)", KF_TEXT }
#define KF_TURNS_OPTION                                                                                      \
    {                                                                                                        \
        "--take-turns", NULL,                                                                                \
            "share the GPU with other runs that have this option: they measure in turns, config by config",  \
            KF_FLAG                                                                                          \
    }
#define KF_KEEP_GOING_OPTION                                                                                 \
    { "--keep-going", NULL, "go on when the default and other configs fail for the same reason", KF_FLAG }

/* Opens the problem that --scene, --system, --grid and --samples-per-cell name. known: values for options
 * that are missing. source, system: used where --scene and --system are missing; source NULL: --scene is
 * required; system NULL: the first that runs the scene. The caller frees the problem with kf_problem_free. */
kf_status kf_argument_problem(const kf_arguments *arguments, const kf_command *command, const char *source,
                              const char *system, const kf_problem_options *known, kf_problem **problem,
                              kf_error *error);

/* Lets a scene be refused before it is made if it is too large for the command's devices, or for the fallback
 * if none is named (NULL: the best device). The options are valid as long as the arguments. */
void kf_argument_memory(const kf_arguments *arguments, const char *fallback, kf_problem_options *options);

/* Prints to stderr what the system chose for the user or repaired in a file, a line for each note. */
void kf_problem_print_notes(const kf_problem *problem);

#endif
