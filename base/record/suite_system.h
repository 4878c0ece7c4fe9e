/* Systems bring this to suites of fixed comparisons (suites/NAME.json): changes of their problems, and
 * kinds of figures of their own. */
#ifndef KF_BASE_RECORD_SUITE_SYSTEM_H
#define KF_BASE_RECORD_SUITE_SYSTEM_H

#include "base/record/figure.h"
#include "base/util/json.h"

typedef struct kf_suite_system {
    /* A problem that is `from` with these changes (place: where they stand); it shares what does not change
     * with `from`, which outlives it. reason: why this device cannot hold such a problem, if it cannot; the
     * problem is NULL then. NULL: this system's problems cannot be changed, every scene is a file. */
    kf_status (*change)(const kf_problem *from, const cJSON *changes, kf_json_place place,
                        const kf_device_info *device, kf_problem **changed, char reason[256],
                        kf_error *error);
    /* Makes the trial of a changed problem fit to it; NULL: it does. */
    void (*adjust_trial)(const kf_problem *changed, kf_problem *trial);
    const kf_figure_kind *kinds; /* ended by an entry without a name; NULL: none */
} kf_suite_system;

#endif
