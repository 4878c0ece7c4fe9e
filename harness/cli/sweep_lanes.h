/* Shares the runs of a sweep among devices. Each device, or team, is a lane and does its runs one after the
 * other. The lanes work at the same time in their own processes. */
#ifndef KF_HARNESS_CLI_SWEEP_LANES_H
#define KF_HARNESS_CLI_SWEEP_LANES_H

#include <stdbool.h>

#include "base/util/status.h"

enum { KF_SWEEP_LANES = 64 };

typedef struct kf_sweep_lanes {
    int count; /* at least 1 */
    char devices[KF_SWEEP_LANES]
                [32]; /* the devices of each lane, as --devices takes them; "": those of the command line */
} kf_sweep_lanes;

/* Makes a lane for every `each` devices of spec ("cuda:0-3"; NULL: one lane). The threads of the cpu are
 * divided among several "cpu". KF_BAD_INPUT if the devices do not make up whole teams. */
kf_status kf_sweep_lanes_open(kf_sweep_lanes *lanes, const char *spec, int each, kf_error *error);

/* Does one item. before: the last item that succeeded in the same lane; -1: none. */
typedef kf_status kf_sweep_item(void *context, int item, int before, const char *devices, kf_error *error);

/* Does `count` items in order. Each lane gets one contiguous piece, so that its items are neighbours. With
 * several lanes each item runs in its own process, whose lines begin with name(context, item). A failed item
 * causes a warning and does not stop the others. A refused or interrupted item, or a fault of the machine
 * (KF_HOST), ends all. Returns the last failure. */
kf_status kf_sweep_lanes_run(const kf_sweep_lanes *lanes, int count, kf_sweep_item *work,
                             const char *(*name)(void *context, int item), void *context, kf_error *error);

#endif
