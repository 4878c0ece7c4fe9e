/* Additions of a system to suites of fixed comparisons (suites/NAME.json): changes of its problems, and kinds
 * of figures of its own. */
#ifndef KF_BASE_RECORD_SUITE_SYSTEM_H
#define KF_BASE_RECORD_SUITE_SYSTEM_H

#include "base/record/figure.h"
#include "base/util/json.h"

typedef struct kf_suite_system {
    /* Makes the problem `from` with these changes (place: where they are in the file, for messages). It
     * shares the unchanged parts with `from`, which must outlive it. If this device cannot hold the problem,
     * *changed is NULL and reason says why. NULL: problems of the system cannot be changed; each is a
     * file. */
    kf_status (*change)(const kf_problem *from, const cJSON *changes, kf_json_place place,
                        const kf_device_info *device, kf_problem **changed, char reason[256],
                        kf_error *error);
    /* Adapts a trial to a changed problem; NULL: no adaptation is needed. */
    void (*adjust_trial)(const kf_problem *changed, kf_problem *trial);
    const kf_figure_kind *kinds; /* ended by an entry without a name; NULL: none */
} kf_suite_system;

#endif
