/* Figures: the numbers that a suite of fixed comparisons reports (`kftune bench`), and their kinds. A suite's
 * file names the kind of each figure. Kinds for all systems are in harness/bench; a system adds its own in
 * its kf_suite_system. */
#ifndef KF_BASE_RECORD_FIGURE_H
#define KF_BASE_RECORD_FIGURE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/record/measurement.h"
#include "base/record/roofs.h"

/* How a suite that judges its figures judges one of them. */
typedef struct kf_judgement {
    double low, high; /* about 95 % interval of value; NAN: none */
    double must, aim; /* required and desired value; NAN: nothing is required */
    bool of_share;    /* they refer to share, not to value */
    bool at_most;     /* the value may not exceed them; otherwise it may not be below */
    char note[320];   /* why there is no value, or a remark on it */
    char *config;     /* the config that was measured, for people; NULL: none; owned */
    cJSON *details;   /* further keys of the figure in JSON; NULL: none; owned */
} kf_judgement;

/* A figure. floor: the best value that can be expected (the time of a hand-written loop, the rate that memory
 * allows). share: how much of it was reached, floor / value for a time, value / floor for a rate. NAN: not
 * known; for value, not available. */
typedef struct kf_figure {
    char name[64];
    double value;
    char unit[16];
    double spread; /* relative spread of the samples behind value */
    double floor;
    double share;
    double published;      /* value in the paper that the suite follows; 0: none */
    bool failed;           /* it misses what the suite promises */
    kf_judgement *verdict; /* NULL in suites that do not judge; owned */
} kf_figure;

typedef struct kf_figures {
    kf_figure *list;
    int count;
    cJSON *about; /* further keys of the suite's JSON: the scene; NULL: none */
} kf_figures;

void kf_figures_add(kf_figures *figures, const kf_figure *figure); /* takes over the verdict */
void kf_figures_free(kf_figures *figures);                         /* its contents */

/* Returns whether the requirement is met: 1, 0, or -1 where nothing is required or known. */
int kf_figure_met(const kf_figure *figure);
/* Sets value and interval. The figure must have a verdict. */
void kf_figure_set(kf_figure *figure, double value, double low, double high);

/* A timing from which figures are computed: a config on a problem. */
typedef struct kf_timed {
    const kf_problem *problem;
    const kf_config *config;
    const kf_measurement *measurement;
} kf_timed;

enum { KF_FIGURE_VALUES = 8 };

/* The input of kf_figure_kind.make. */
typedef struct kf_figure_input {
    const cJSON *row; /* the figure's object in the suite's file, for the keys of its kind */
    kf_timed of, against;
    double limit; /* bytes/s, read and written, of copying in device memory */
    const kf_roofs *roofs;
    const kf_device_info *device;
    double values[KF_FIGURE_VALUES]; /* results of kf_figure_kind.measure */
} kf_figure_input;

typedef struct kf_figure_kind {
    const char *name;
    const char *const *keys; /* keys of its own in the suite's file, NULL-terminated; NULL: none */
    int timings;             /* number of timings that it needs: 0; 1 (of); 2 (of, against) */
    const char *unit;        /* unless the suite's file gives another */
    /* Measures what the figure needs beyond timings, on an open device, in a process of its own. Unknown
     * values are NAN. NULL: it needs nothing. */
    kf_status (*measure)(const kf_figure_input *input, kf_backend *backend, double values[KF_FIGURE_VALUES],
                         kf_error *error);
    /* Computes the value and what depends on it, once the timings are known. Unit, requirement and verdict
     * are set before. */
    void (*make)(const kf_figure_input *input, kf_figure *figure);
} kf_figure_kind;

#endif
