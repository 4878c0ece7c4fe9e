/* The first commit that made a benchmark slower, found with the night's own interleaved comparison. */
#ifndef KF_HARNESS_NIGHTLY_BISECT_H
#define KF_HARNESS_NIGHTLY_BISECT_H

#include "base/statistics/detector.h"
#include "base/util/text.h"
#include "harness/nightly/suite.h"

typedef struct kf_bisect_request {
    const kf_suite *suite;
    const char *benchmark;  /* NULL: the only one of the suite */
    kf_store *store;        /* programs are kept beside it */
    const char *repository; /* folder */
    const char *good, *bad; /* revisions */
    const char *build;      /* shell command, run in the folder of a revision */
    const char *program;    /* what it makes, relative to that folder */
} kf_bisect_request;

typedef struct kf_bisect_result {
    int commits;         /* in the range */
    int tried;           /* built and measured */
    char first_bad[64];  /* hash; "" when it was not found */
    char subject[256];   /* of its message */
    kf_comparison whole; /* bad against good */
    kf_comparison step;  /* first bad against good */
    int skipped;         /* could not be built or measured */
} kf_bisect_result;

/* KF_GATE_FAILED: bad is not slower than good. */
kf_status kf_bisect(const kf_bisect_request *request, kf_bisect_result *result, kf_error *error);

#endif
