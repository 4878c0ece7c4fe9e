/* Compares two programs on one benchmark by interleaved runs, as a night does. `git bisect run` can use it.
 */
#ifndef KF_HARNESS_NIGHTLY_COMPARE_H
#define KF_HARNESS_NIGHTLY_COMPARE_H

#include "base/statistics/detector.h"
#include "harness/nightly/suite.h"

typedef struct kf_compare_request {
    const kf_suite *suite;
    const char *benchmark;             /* NULL: the suite has only one */
    kf_store *store;                   /* the store, from which configs may come */
    const char *reference, *candidate; /* built source trees, or folders of unpacked bundles */
    double threshold;                  /* logarithm of the smallest ratio that counts as a change */
} kf_compare_request;

typedef struct kf_compare_result {
    kf_comparison comparison; /* of the candidate with the reference */
    int processes;            /* of each */
    bool identical;           /* executables and data files are identical, so nothing was measured */
    kf_finding finding;
} kf_compare_result;

/* Compares two programs. KF_MACHINE if one of them cannot measure the benchmark. */
kf_status kf_nightly_compare(const kf_compare_request *request, kf_compare_result *result, kf_error *error);

#endif
