/* Runs fixed comparisons: `kftune bench --suite NAME`. A suite is a file suites/NAME.json (docs/suites.md).
 * Suites that need no device are code (suite_search.c). */
#ifndef KF_HARNESS_BENCH_BENCH_H
#define KF_HARNESS_BENCH_BENCH_H

#include "base/record/figure.h"

/* The choices of the command line. A suite refuses those that it does not use. */
typedef struct kf_bench_options {
    const char *device; /* as for kf_backend_open */
    int nodes[3];       /* 0: the suite's grid */
    double samples_per_cell;
    const char *const *figures; /* names; NULL: all figures */
    int figure_count;
} kf_bench_options;

typedef struct kf_suite_file kf_suite_file;

typedef struct kf_bench_suite {
    char name[64];
    const char *summary;
    const char *promise; /* what it means if a figure fails */
    kf_suite_file *file; /* what it was read from; NULL: it is code */
    /* Runs the suite and names the device. It opens devices only in child processes, so no device may be open
     * before. */
    kf_status (*run)(const struct kf_bench_suite *suite, const kf_bench_options *options,
                     kf_device_info *device, kf_figures *figures, kf_error *error);
} kf_bench_suite;

/* Opens a suite from a file, or by the name of a shipped one. NULL means that no name was given. KF_BAD_INPUT
 * names the nearest known suite. The caller frees its contents. */
kf_status kf_bench_suite_open(const char *name, kf_bench_suite *suite, kf_error *error);
void kf_bench_suite_free(kf_bench_suite *suite);
/* Prints the shipped suites to stdout, one a line. */
void kf_bench_suites_print(void);

extern const kf_bench_suite kf_suite_search;
extern const kf_bench_suite kf_suite_scaling;

/* Returns the suite's figures as one JSON object, which the caller frees. */
cJSON *kf_figures_to_json(const kf_bench_suite *suite, const kf_device_info *device,
                          const kf_figures *figures);
/* Prints the figures as tables to stdout: first those without a goal, then those with one. */
void kf_figures_print(const kf_bench_suite *suite, const kf_device_info *device, const kf_figures *figures);

#endif
