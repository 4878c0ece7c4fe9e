/* Tells what the runs of a sweep come to: a table, a CSV file, a chart; for several grids the value that
 * they lead to. */
#ifndef KF_HARNESS_CLI_SWEEP_RESULT_H
#define KF_HARNESS_CLI_SWEEP_RESULT_H

#include "harness/cli/run_figures.h"

enum { KF_SWEEP_POINTS = 64 };

typedef struct kf_sweep_result {
    char title[160];  /* of the chart: what all have in common */
    const char *axis; /* what changes, with its unit */
    bool numbers;     /* the values are numbers; else names */
    bool grids;       /* they are cells along the solid, and all else is the same */
    bool seeds;       /* they are seeds of the samples' places: what differs is chance */
    int count;
    struct {
        char value[128];
        kf_run_figures run;
    } points[KF_SWEEP_POINTS];
} kf_sweep_result;

/* Adds the run of a folder; nothing where there is none. */
void kf_sweep_result_add(kf_sweep_result *result, const char *value, const char *folder);
void kf_sweep_result_free(kf_sweep_result *result); /* its contents */

/* Writes sweep.csv, sweep.json and, of two values and more, sweep.png into the folder; prints the table, or
 * what sweep.json holds. */
kf_status kf_sweep_result_write(const kf_sweep_result *result, const char *folder, bool json,
                                kf_error *error);

/* Holds where the drags of grids lead to. With three and more it is Richardson's extrapolation of the
 * three finest where the order that they show is between 1 and 3; the error of the finest is 1.25 times
 * its distance from the limit (the grid convergence index: Roache, J. Fluids Eng. 116 (1994) 405).
 * Elsewhere the limit is the finest grid's, and its error the spread of all. */
typedef struct kf_grid_limit {
    bool known;                 /* there are two grids at least whose drag is known */
    bool extrapolated;          /* with this order */
    double order, limit, error; /* error: of the finest grid's drag */
} kf_grid_limit;
/* Finds the limit for `cells` along the solid, which are in rising order. */
kf_grid_limit kf_grid_limit_of(int count, const double *cells, const double *drags);

#endif
