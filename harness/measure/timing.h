/* The state of a plan that is timed. Internal to harness/measure. */
#ifndef KF_HARNESS_MEASURE_TIMING_H
#define KF_HARNESS_MEASURE_TIMING_H

#include "harness/measure/measure.h"
#include "harness/measure/sm_clock.h"

/* A row of the kernel table for one part, while its times are collected. */
typedef struct kf_row_times {
    double *us;
    size_t count, room;
    double launches, bytes, flops; /* in a step */
    double sum_us, run;            /* in the step that is being read: total time and launches */
} kf_row_times;

typedef struct kf_timing {
    kf_plan *plan;
    const kf_measure_policy *policy;
    kf_event **events;
    int event_count;
    int cycle;               /* number of steps after which the due items repeat */
    bool has_ordinary_steps; /* items are due at ordinary steps, none of them rare */
    int batch;               /* number of steps between two events */
    int windows;             /* the plan's windows, over which a sample averages; 1: it has none */
    int queue;               /* number of samples queued at once */
    /* A sample of a whole cycle contains the rare items at their steps. If a cycle takes too long, a sample
     * is two steps without them, and rare_us is added to each step. */
    bool whole_cycles;
    double rare_us;
    kf_graph *ordinary; /* these two steps, if a run has its steps in a graph; otherwise NULL */
    int *row;           /* [item] the row of each item in the kernel table; -1: none */
    kf_row_times *rows; /* [row * part_count + part] */
    /* For a team each item has two events for each of kf_timing_span steps, on its own device, because the
     * parts work at the same time and wait for each other. On a single device the items between `events`
     * follow each other. */
    kf_event **pairs; /* [2 * (item * span + step)]; NULL: it is not a team */
    int pair_count, row_count;
    kf_sm_clock *clock; /* NULL: it cannot be read */
    kf_buffer *flush;   /* as large as the last-level cache; NULL unless samples begin with a cold cache */
    uint64_t steps_run; /* total, for the energy */
    /* The plan runs in several processes, which do the same number of steps. The time of the slowest one
     * decides. */
    bool together;
} kf_timing;

/* Replaces each time by the longest one among all processes. */
kf_status kf_timing_agree(const kf_timing *t, double *times, int count, kf_error *error);
/* Finds the time since this moment of kf_clock_seconds; in several processes the longest one. */
kf_status kf_timing_since(const kf_timing *t, double begin, double *elapsed_us, kf_error *error);

/* Items with periods longer than this number of steps are rare. All others are due within these steps. The
 * steps from this place of a cycle on represent all steps without rare items. */
enum { KF_ORDINARY_PLACE = 2, KF_ORDINARY_STEPS = 2 };
/* Finds cycle and has_ordinary_steps. They are the same in all processes, although items may differ. */
kf_status kf_timing_begin(kf_timing *t, kf_error *error);
/* Returns the largest number of steps that kf_launches_time_ordinary times at once. */
int kf_timing_span(const kf_timing *t);

/* Sets steps_done to the next step at this place of a cycle. The state of a plan no longer matters when it is
 * timed. */
void kf_timing_go_to(kf_timing *t, int place);

/* Moves a plan with windows to the step at which this window of this sample begins. Other plans are
 * unchanged. */
kf_status kf_timing_seek(const kf_timing *t, size_t sample, int window, kf_error *error);

/* These functions of launches.c begin the kernel table, time the steps with rare items, time ordinary steps,
 * and complete the table. */
void kf_launches_begin(kf_timing *t, kf_measurement *m);
kf_status kf_launches_make_events(kf_timing *t, kf_error *error);
kf_status kf_launches_time_rare(kf_timing *t, const kf_measurement *m, kf_error *error);
kf_status kf_launches_time_ordinary(kf_timing *t, kf_error *error);
void kf_launches_end(kf_timing *t, kf_measurement *m);
void kf_launches_free(kf_timing *t);

#endif
