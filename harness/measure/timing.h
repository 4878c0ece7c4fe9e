/* Holds a plan while it is timed. Internal to harness/measure. */
#ifndef KF_HARNESS_MEASURE_TIMING_H
#define KF_HARNESS_MEASURE_TIMING_H

#include "harness/measure/measure.h"
#include "harness/measure/sm_clock.h"

/* Holds a row of the kernel table while its times are collected, of one part. */
typedef struct kf_row_times {
    double *us;
    size_t count, room;
    double launches, bytes, flops; /* of a step */
    double sum_us, run;            /* of the step that is being read: time and launches */
} kf_row_times;

typedef struct kf_timing {
    kf_plan *plan;
    const kf_measure_policy *policy;
    kf_event **events;
    int event_count;
    int cycle;               /* steps after which the items that are due repeat */
    bool has_ordinary_steps; /* something is due at them, and nothing rare */
    int batch;               /* steps that run between two events */
    int windows;             /* of the plan, of which a sample is the mean; 1 without any */
    int queue;               /* samples at once */
    /* A sample that stands for a whole cycle has the items that are due at some steps only in it. Where
     * that would take too long, a sample is two steps without them, and rare_us a step is added. */
    bool whole_cycles;
    double rare_us;
    kf_graph *ordinary; /* these two steps, where a run has its steps in a graph; else NULL */
    int *row;           /* [item] of the plan in the kernel table; -1: none */
    kf_row_times *rows; /* [row * part_count + part] */
    /* Each item of a team has two events for each of kf_timing_span steps, on its own device, because the
     * parts work at the same time and wait for each other. The items of one device follow each other
     * between `events`. */
    kf_event **pairs; /* [2 * (item * span + step)]; NULL: it is no team's */
    int pair_count, row_count;
    kf_sm_clock *clock; /* NULL where it cannot be read */
    kf_buffer *flush;   /* as large as the last-level cache; NULL unless samples begin cold */
    uint64_t steps_run; /* in all, for energy */
    /* The plan is of several processes, which do the same number of steps. The slowest one's time decides for
     * all. */
    bool together;
} kf_timing;

/* Gives all of several processes the longest of each of these times. */
kf_status kf_timing_agree(const kf_timing *t, double *times, int count, kf_error *error);
/* Gives the time since that moment of kf_clock_seconds, on all processes the longest. */
kf_status kf_timing_since(const kf_timing *t, double begin, double *elapsed_us, kf_error *error);

/* Items with longer periods than this many steps are rare; all others are due within as many. The steps from
 * this place of a cycle on stand for all that have nothing rare. */
enum { KF_ORDINARY_PLACE = 2, KF_ORDINARY_STEPS = 2 };
/* Finds cycle and has_ordinary_steps: the same on all processes, whose items may differ. */
kf_status kf_timing_begin(kf_timing *t, kf_error *error);
/* Steps that kf_launches_time_ordinary times at once, at most. */
int kf_timing_span(const kf_timing *t);

/* Sets steps_done to the next step at this place of a cycle. The state of the plan is of no interest any more
 * when it is timed. */
void kf_timing_go_to(kf_timing *t, int place);

/* Goes, in a plan with windows, to where this window of this sample is measured; does nothing for other
 * plans. */
kf_status kf_timing_seek(const kf_timing *t, size_t sample, int window, kf_error *error);

/* These functions of launches.c make the rows of the kernel table, time the steps at which rare items are
 * due, time ordinary steps, and turn times into the table. */
void kf_launches_begin(kf_timing *t, kf_measurement *m);
kf_status kf_launches_make_events(kf_timing *t, kf_error *error);
kf_status kf_launches_time_rare(kf_timing *t, const kf_measurement *m, kf_error *error);
kf_status kf_launches_time_ordinary(kf_timing *t, kf_error *error);
void kf_launches_end(kf_timing *t, kf_measurement *m);
void kf_launches_free(kf_timing *t);

#endif
