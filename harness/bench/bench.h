/* Fixed comparisons: `kftune bench --suite NAME`. A suite is one file, harness/bench/suite_<name>.c. */
#ifndef KF_HARNESS_BENCH_BENCH_H
#define KF_HARNESS_BENCH_BENCH_H

#include <stdbool.h>

#include "harness/backend/backend.h"

/* One figure. floor: the best that could be expected (a hand-written loop's time, what the memory allows);
 * share: how much of it was reached, floor / value for a time, value / floor for a rate. NAN: not known. */
typedef struct kf_figure {
    char name[64];
    double value;
    char unit[16];
    double spread; /* of the samples behind value, relative to it */
    double floor;
    double share;
    bool failed; /* the suite promises more than this */
} kf_figure;

typedef struct kf_figures {
    kf_figure *list; /* the caller frees */
    int count;
} kf_figures;

void kf_figures_add(kf_figures *figures, const kf_figure *figure);

typedef struct kf_suite {
    const char *name;
    const char *summary;
    const char *promise; /* what a failed figure breaks; NULL when the suite promises nothing */
    kf_status (*run)(kf_backend *backend, kf_figures *figures, kf_error *error);
} kf_suite;

extern const kf_suite kf_suite_backend;
extern const kf_suite kf_suite_toelke;
extern const kf_suite kf_suite_search;

/* NULL-terminated. */
extern const kf_suite *const kf_suites[];

#endif
