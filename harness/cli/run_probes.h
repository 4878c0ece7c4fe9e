/* Reads the probes of a run, and reports their results. */
#ifndef KF_HARNESS_CLI_RUN_PROBES_H
#define KF_HARNESS_CLI_RUN_PROBES_H

#include <cjson/cJSON.h>

#include "harness/cli/command.h"
#include "solver/output/production.h"

kf_value_check kf_value_probe;

#define KF_PROBE_OPTIONS                                                                                     \
    {"--probe", "NAME=PLACE",                                                                                \
     "velocity and pressure over time at X,Y,Z, along FROM:TO[:POINTS], or on surface[:AXIS[=PLACE]]; L is " \
     "the solid's length, from its middle: wake=2L,0,0.5L",                                                  \
     KF_ALL_CHECKED(kf_value_probe)},                                                                        \
    {                                                                                                        \
        "--probe-every", "N", "steps between rows of the probes (as of other tables)",                       \
            KF_WHOLE(1, KF_MOST_STEPS)                                                                       \
    }

typedef struct kf_run_probes {
    kf_probe list[KF_PROBES];
    size_t count;
} kf_run_probes;

/* Reads the probes of the scene file and of the options. An option replaces a probe of the file with the same
 * name. plan: NULL for a flow, otherwise the plan whose nodes the places refer to. how->record_every must be
 * known. */
kf_status kf_run_probes_read(const kf_arguments *arguments, const kf_problem *problem, kf_plan *plan,
                             kf_run_probes *probes, kf_production_options *how, kf_error *error);
void kf_run_probes_free(kf_run_probes *probes);

/* Lists the results of each probe for run.json. */
cJSON *kf_run_probes_json(const kf_production *done, const kf_run_probes *probes);
/* Prints a line for each probe. */
void kf_run_probes_print(const kf_production *done, const kf_run_probes *probes);

#endif
