/* Compares two programs on one benchmark, in turns, as a night compares them: for `git bisect run`. */
#ifndef KF_HARNESS_NIGHTLY_COMPARE_H
#define KF_HARNESS_NIGHTLY_COMPARE_H

#include "base/statistics/detector.h"
#include "harness/nightly/suite.h"

typedef struct kf_compare_request {
    const kf_suite *suite;
    const char *benchmark;             /* NULL: the only one of the suite */
    kf_store *store;                   /* configs may come from it */
    const char *reference, *candidate; /* built source trees, or folders of unpacked bundles */
    double threshold;                  /* log: what counts as a change */
} kf_compare_request;

typedef struct kf_compare_result {
    kf_comparison comparison; /* candidate against reference */
    int processes;            /* of each */
    bool identical;           /* executables and data files: the same by definition, nothing was measured */
    kf_finding finding;
} kf_compare_result;

/* Compares two programs. KF_MACHINE means that one of them cannot measure the benchmark. */
kf_status kf_nightly_compare(const kf_compare_request *request, kf_compare_result *result, kf_error *error);

#endif
