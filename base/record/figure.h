/* Figures: what a suite of fixed comparisons reports (`kftune bench`), and the kinds of them. A suite's file
 * names a kind for each of its figures; kinds that make sense for every system are in harness/bench, a system
 * brings its own through solver/suites/. */
#ifndef KF_BASE_RECORD_FIGURE_H
#define KF_BASE_RECORD_FIGURE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/record/measurement.h"
#include "base/record/roofs.h"

/* A suite that judges its figures says this of one besides. */
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

/* Returns whether what must be is: 1, 0, or -1 where nothing is asked or nothing known. */
int kf_figure_met(const kf_figure *figure);
/* Value and interval; the figure must have a verdict. */
void kf_figure_set(kf_figure *figure, double value, double low, double high);

/* A timing that figures are made of: a config on a problem. */
typedef struct kf_timed {
    const kf_problem *problem;
    const kf_config *config;
    const kf_measurement *measurement;
} kf_timed;

enum { KF_FIGURE_VALUES = 8 };

/* Input that a figure is made of. */
typedef struct kf_figure_input {
    const cJSON *row; /* the figure as the suite has it, for the keys of its kind */
    kf_timed of, against;
    double limit; /* bytes a second that copying in device memory reads and writes */
    const kf_roofs *roofs;
    const kf_device_info *device;
    double values[KF_FIGURE_VALUES]; /* what measure found */
} kf_figure_input;

typedef struct kf_figure_kind {
    const char *name;
    const char *const *keys; /* of its rows, beside those of all figures; NULL-terminated; NULL: none */
    int timings;             /* 0: it is made of none; 1: of one (of); 2: of two (of, against) */
    const char *unit;        /* unless the row says otherwise */
    /* Measures what the figure needs beyond timings, on an open device, in a process of its own; NULL:
     * nothing. Values that are not known are NAN. */
    kf_status (*measure)(const kf_figure_input *input, kf_backend *backend, double values[KF_FIGURE_VALUES],
                         kf_error *error);
    /* Fills in value and what is known beside it; unit, what is asked and the verdict are there. Called when
     * the timings are there. */
    void (*make)(const kf_figure_input *input, kf_figure *figure);
} kf_figure_kind;

#endif
