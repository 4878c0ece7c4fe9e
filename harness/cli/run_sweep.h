/* Does several runs as one command, with one option that changes from run to run. */
#ifndef KF_HARNESS_CLI_RUN_SWEEP_H
#define KF_HARNESS_CLI_RUN_SWEEP_H

#include "base/util/file.h"
#include "harness/cli/command.h"
#include "harness/cli/sweep_lanes.h"

/* Rows for the command's table of options. */
#define KF_SWEEP_OPTIONS                                                                                     \
    {"--grids", "N,N,N", "sweep: run on grids with these numbers of cells along the solid, 24,32,48",        \
     KF_TEXT},                                                                                               \
        {"--seeds", "N,N,N", "sweep: run with other random places of the surface's samples, 1:4:1",          \
         KF_TEXT},                                                                                           \
        {"--start", "neighbour|scene",                                                                       \
         "sweep: runs begin in the settled flow of the run before (neighbour), or as the scene says",        \
         KF_TEXT},                                                                                           \
        {"--devices-each", "N",                                                                              \
         "sweep: number of --devices that share a run (1); the others run other values at the same time",    \
         KF_WHOLE(1, KF_SWEEP_LANES)},                                                                       \
    {                                                                                                        \
        "--resume", NULL, "sweep: skip finished runs, and continue the others", KF_FLAG                      \
    }

/* The part of a run in a sweep. */
typedef struct kf_run_part {
    bool first; /* it is the first run, which describes the scene; later runs only print warnings */
    /* This run's warnings are the same as the first run's, so it prints none. */
    bool alike;
    char neighbour[KF_PATH];  /* the folder of a settled run from whose flow it begins; "": none */
    char checkpoint[KF_PATH]; /* its last */
} kf_run_part;
/* Does one run of the command. part: its part in a sweep, which then prints the results; NULL: it is a single
 * run. */
typedef kf_status (*kf_run_one)(const kf_arguments *arguments, const kf_run_part *part, kf_error *error);
/* Returns whether an option exists only for sweeps. */
bool kf_run_is_of_sweeps(const char *option);

/* Returns whether an option has several values: a list ("20,30,40") or a range ("-10:10:5") for --yaw,
 * --speed, --reynolds, a list for --scene, or --grids or --seeds. */
bool kf_run_is_sweep(const kf_arguments *arguments);
/* Does all runs in folders below --output (<scene>-sweep), one after the other on each device of --devices.
 * It writes sweep.csv and sweep.png there, and prints the table. A failed run does not stop the others; its
 * status is returned. */
kf_status kf_run_sweep(const kf_arguments *arguments, kf_run_one run, kf_error *error);

#endif
