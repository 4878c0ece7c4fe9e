/* Decides how long a production run is. */
#ifndef KF_HARNESS_CLI_RUN_DURATION_H
#define KF_HARNESS_CLI_RUN_DURATION_H

#include "harness/cli/command.h"
#include "scene/scene.h"
#include "solver/output/production.h"

kf_value_check kf_value_time, kf_value_until;

/* Lists rows of the command's options. */
#define KF_DURATION_OPTIONS                                                                                  \
    {"--steps", "N", "time steps to run (1000); after a restart, further steps",                             \
     KF_WHOLE(1, KF_MOST_STEPS)},                                                                            \
        {"--flow-throughs", "N", "length instead of --steps: how often the stream crosses the domain",       \
         KF_DECIMAL(1e-3, 1e6)},                                                                             \
        {"--time", "2s", "length instead of --steps: simulated time, in s or ms",                            \
         KF_CHECKED(kf_value_time)},                                                                         \
    {                                                                                                        \
        "--until", "settled",                                                                                \
            "end once the drag has settled and its 95 % interval is within 1 % (at most 50 flow-throughs, "  \
            "or as "                                                                                         \
            "said)",                                                                                         \
            KF_CHECKED(kf_value_until)                                                                       \
    }

/* Returns the scene of a flow, or NULL of anything else. */
const kf_scene *kf_run_scene(const kf_problem *problem);

/* Reads the number of --steps; it stays where the option is not given. */
kf_status kf_run_steps(const kf_arguments *arguments, long *steps, kf_error *error);

/* Gives the length in steps: --steps, or what --flow-throughs, --time and --until make of the scene. *steps
 * stays where none is given. Sets how->flow_through and how->until_settled. */
kf_status kf_run_duration(const kf_arguments *arguments, const kf_problem *problem, long *steps,
                          kf_production_options *how, kf_error *error);

#endif
