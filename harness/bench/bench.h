/* Fixed comparisons: `kftune bench --suite NAME`. A suite is one file, harness/bench/suite_<name>.c. */
#ifndef KF_HARNESS_BENCH_BENCH_H
#define KF_HARNESS_BENCH_BENCH_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/backend/backend.h"

/* What a suite that judges its figures says of one besides. */
typedef struct kf_judgement {
    double low, high; /* about 95 % interval of value; NAN: none */
    double must, aim; /* NAN: nothing is asked */
    bool of_share;    /* they are asked of share, not of value */
    bool at_most;     /* value may not be more than that; else not less */
    char note[320];   /* why there is no value, or what to know of it */
    char *config;     /* what it was measured with, for people; NULL: nothing to say; owned */
    cJSON *details;   /* further keys of the figure in JSON; NULL: none; owned */
} kf_judgement;

/* One figure. floor: the best that could be expected (a hand-written loop's time, what the memory allows);
 * share: how much of it was reached, floor / value for a time, value / floor for a rate. NAN: not known, or,
 * of value, not available. */
typedef struct kf_figure {
    char name[64];
    double value;
    char unit[16];
    double spread; /* of the samples behind value, relative to it */
    double floor;
    double share;
    double published;      /* the value in the paper that the suite follows; 0: none */
    bool failed;           /* the suite promises more than this */
    kf_judgement *verdict; /* NULL in suites that do not judge; owned */
} kf_figure;

typedef struct kf_figures {
    kf_figure *list;
    int count;
    cJSON *about; /* further keys of the suite's JSON: the scene; NULL: none */
} kf_figures;

void kf_figures_add(kf_figures *figures, const kf_figure *figure); /* takes the verdict */
void kf_figures_free(kf_figures *figures);                         /* its contents */

/* Whether what must be is: 1, 0, or -1 where nothing is asked or nothing known. */
int kf_figure_met(const kf_figure *figure);

/* Figures of the suite as one JSON object; the caller deletes it. */
typedef struct kf_bench_suite kf_bench_suite;
cJSON *kf_figures_to_json(const kf_bench_suite *suite, const kf_device_info *device,
                          const kf_figures *figures);
/* The same as tables on stdout: what is not judged, then what is. */
void kf_figures_print(const kf_bench_suite *suite, const kf_device_info *device, const kf_figures *figures);

/* What the command line may choose, in suites that say so. */
typedef struct kf_bench_options {
    const char *device; /* as for kf_backend_open */
    int nodes[3];       /* 0: the suite's own */
    double samples_per_cell;
    const char *const *figures; /* names; none: all */
    int figure_count;
} kf_bench_options;

struct kf_bench_suite {
    const char *name;
    const char *summary;
    const char *promise; /* what a failed figure breaks; NULL when the suite promises nothing */
    /* One of the two. run: on an open backend. run_apart: opens the device in processes of its own, so none
     * may be open, takes the options, and says what the device is. */
    kf_status (*run)(kf_backend *backend, kf_figures *figures, kf_error *error);
    kf_status (*run_apart)(const kf_bench_options *options, kf_device_info *device, kf_figures *figures,
                           kf_error *error);
};

extern const kf_bench_suite kf_suite_toelke;
extern const kf_bench_suite kf_suite_search;
extern const kf_bench_suite kf_suite_step;

/* NULL-terminated. */
extern const kf_bench_suite *const kf_bench_suites[];

#endif
