/* Does several runs in which one thing changes, as one command. */
#ifndef KF_HARNESS_CLI_RUN_SWEEP_H
#define KF_HARNESS_CLI_RUN_SWEEP_H

#include "base/util/file.h"
#include "harness/cli/command.h"
#include "harness/cli/sweep_lanes.h"

/* Lists rows of the command's options. */
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

/* Holds the part of a run in a sweep: its role, and the neighbour from whose flow it begins. */
typedef struct kf_run_part {
    bool first;               /* which says what the scene means; the others only warn, */
    bool alike;               /* and these not even that, as all is the same that is warned of */
    char neighbour[KF_PATH];  /* folder of a run that has settled; "": there is none */
    char checkpoint[KF_PATH]; /* its last */
} kf_run_part;
/* Does one run of the command. Without `part` (NULL) it is alone; else a sweep prints what it comes to. */
typedef kf_status (*kf_run_one)(const kf_arguments *arguments, const kf_run_part *part, kf_error *error);
/* Says whether an option is of sweeps alone. */
bool kf_run_is_of_sweeps(const char *option);

/* Says whether an option has several values: a list ("20,30,40") or a range ("-10:10:5") of --yaw,
 * --speed, --reynolds, a list of --scene, or --grids or --seeds. */
bool kf_run_is_sweep(const kf_arguments *arguments);
/* Runs them into folders below --output (<scene>-sweep), one after the other on each device of --devices,
 * writes sweep.csv and sweep.png there and prints the table. A run that fails does not keep the others; its
 * status is returned. */
kf_status kf_run_sweep(const kf_arguments *arguments, kf_run_one run, kf_error *error);

#endif
