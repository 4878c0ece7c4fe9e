/* Runs fixed comparisons: `kftune bench --suite NAME`. A suite is a file suites/NAME.json (docs/suites.md).
 * One that needs no device is code (suite_search.c). */
#ifndef KF_HARNESS_BENCH_BENCH_H
#define KF_HARNESS_BENCH_BENCH_H

#include "base/record/figure.h"

/* Holds what the command line may choose. A suite refuses what it has no use for. */
typedef struct kf_bench_options {
    const char *device; /* as for kf_backend_open */
    int nodes[3];       /* 0: the suite's own */
    double samples_per_cell;
    const char *const *figures; /* names; none: all */
    int figure_count;
} kf_bench_options;

typedef struct kf_suite_file kf_suite_file;

typedef struct kf_bench_suite {
    char name[64];
    const char *summary;
    const char *promise; /* what a failed figure breaks */
    kf_suite_file *file; /* what it was read from; NULL: it is code */
    /* Opens devices only in processes of their own, so none may be open; says what the device is. */
    kf_status (*run)(const struct kf_bench_suite *suite, const kf_bench_options *options,
                     kf_device_info *device, kf_figures *figures, kf_error *error);
} kf_bench_suite;

/* Opens a suite from a file, or by the name of a shipped one. An unknown name is KF_BAD_INPUT with the
 * nearest right one; NULL means that none was given. The caller frees its contents. */
kf_status kf_bench_suite_open(const char *name, kf_bench_suite *suite, kf_error *error);
void kf_bench_suite_free(kf_bench_suite *suite);
/* Prints the shipped suites on stdout, one a line. */
void kf_bench_suites_print(void);

extern const kf_bench_suite kf_suite_search;
extern const kf_bench_suite kf_suite_scaling;

/* Returns the suite's figures as one JSON object, which the caller deletes. */
cJSON *kf_figures_to_json(const kf_bench_suite *suite, const kf_device_info *device,
                          const kf_figures *figures);
/* Prints the figures as tables on stdout: first those that are not judged, then those that are. */
void kf_figures_print(const kf_bench_suite *suite, const kf_device_info *device, const kf_figures *figures);

#endif
