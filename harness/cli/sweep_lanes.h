/* Shares the runs of a sweep among devices. Each device, or team of some, does its own runs one after the
 * other. All work at the same time, in processes of their own. */
#ifndef KF_HARNESS_CLI_SWEEP_LANES_H
#define KF_HARNESS_CLI_SWEEP_LANES_H

#include <stdbool.h>

#include "base/util/status.h"

enum { KF_SWEEP_LANES = 64 };

typedef struct kf_sweep_lanes {
    int count;                        /* at least 1 */
    char devices[KF_SWEEP_LANES][32]; /* of each, as --devices takes it; "": what the command says */
} kf_sweep_lanes;

/* Makes the lanes of a team's spec ("cuda:0-3"; NULL: one lane), `each` devices for each. The threads of
 * several "cpu" are shared out. KF_BAD_INPUT where the devices are no whole number of teams. */
kf_status kf_sweep_lanes_open(kf_sweep_lanes *lanes, const char *spec, int each, kf_error *error);

/* Does one item; before: the item that was done in the same lane and succeeded last, -1 without. */
typedef kf_status kf_sweep_item(void *context, int item, int before, const char *devices, kf_error *error);

/* Does `count` items in order, shared out in one piece for each lane, which has its own neighbours; of
 * several lanes each item is done by a process of its own whose lines begin with name(context, item). One
 * that fails does not keep the others, and is warned of; one that is refused, interrupted, or that the
 * machine could not do (KF_HOST) ends all. Returns the last failure. */
kf_status kf_sweep_lanes_run(const kf_sweep_lanes *lanes, int count, kf_sweep_item *work,
                             const char *(*name)(void *context, int item), void *context, kf_error *error);

#endif
