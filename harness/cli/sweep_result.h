/* Reports the results of a sweep: a table, a CSV file, a chart, and for several grids their limit. */
#ifndef KF_HARNESS_CLI_SWEEP_RESULT_H
#define KF_HARNESS_CLI_SWEEP_RESULT_H

#include "harness/cli/run_figures.h"

enum { KF_SWEEP_POINTS = 64 };

typedef struct kf_sweep_result {
    char title[160];  /* of the chart: what all runs have in common */
    const char *axis; /* the swept quantity with its unit */
    bool numbers;     /* the values are numbers, otherwise names */
    bool grids;       /* the values are cells along the solid, and nothing else differs */
    /* The values are seeds for the samples' places, so differences are due to chance. */
    bool seeds;
    int count;
    struct {
        char value[128];
        kf_run_figures run;
    } points[KF_SWEEP_POINTS];
} kf_sweep_result;

/* Adds the run in a folder, if there is one. */
void kf_sweep_result_add(kf_sweep_result *result, const char *value, const char *folder);
void kf_sweep_result_free(kf_sweep_result *result); /* its contents */

/* Refuses a folder that holds the table of another sweep: over something else, or over values that are not
 * among these. */
kf_status kf_sweep_result_check(const char *folder, const char *axis, int count, const char *const *values,
                                kf_error *error);

/* Writes sweep.csv and sweep.json into the folder, and sweep.png if there are two values or more. Prints the
 * table, or the contents of sweep.json. */
kf_status kf_sweep_result_write(const kf_sweep_result *result, const char *folder, bool json,
                                kf_error *error);

/* The limit of the drag on finer grids. With three grids or more, and an order of convergence between 1 and
 * 3, it is Richardson's extrapolation of the finest three. The error of the finest grid is then 1.25 times
 * its distance from the limit (the grid convergence index: Roache, J. Fluids Eng. 116 (1994) 405). Otherwise
 * the limit is the finest grid's drag, and its error the spread of all. */
typedef struct kf_grid_limit {
    bool known;                 /* the drag is known on at least two grids */
    bool extrapolated;          /* it is extrapolated with this order */
    double order, limit, error; /* `error` is that of the finest grid's drag */
} kf_grid_limit;
/* Finds the limit for these numbers of cells along the solid, which must increase. */
kf_grid_limit kf_grid_limit_of(int count, const double *cells, const double *drags);

#endif
