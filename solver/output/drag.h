/* Computes the coefficients of a run from its forces: means over the settled part with 95 % intervals. */
#ifndef KF_SOLVER_OUTPUT_DRAG_H
#define KF_SOLVER_OUTPUT_DRAG_H

#include <stdint.h>

#include "base/plan/record.h"
#include "base/statistics/series.h"
#include "base/util/status.h"

enum { KF_DRAG, KF_LIFT, KF_SIDE, KF_COEFFICIENTS };

/* The coefficients of a run's rows of forces. All zero: no rows. */
typedef struct kf_force_series {
    uint64_t from; /* the settled part may not begin before this step */
    size_t count, room;
    uint64_t *steps;
    double *values[KF_COEFFICIENTS];
    double later[KF_COEFFICIENTS]; /* sums over the later half of the values, including the middle one */
} kf_force_series;

/* Adds a row of the table "forces" after step `step`. A row without coefficients is ignored. */
void kf_force_series_add(kf_force_series *series, uint64_t step, const kf_record *forces);
/* Adds the columns "drag_running_mean" and "lift_running_mean" to a row: means over the later half of the
 * rows so far, in which the start of the flow does not count. NAN without rows. */
void kf_force_series_running_means(const kf_force_series *series, kf_record *forces);
/* Reads the rows of a forces.csv up to step `last`, for a run that continues. A missing file has no rows. */
kf_status kf_force_series_read(kf_force_series *series, const char *csv, uint64_t last, kf_error *error);
void kf_force_series_free(kf_force_series *series); /* its contents */

typedef struct kf_drag_report {
    bool known;   /* there are coefficients */
    bool settled; /* the drag has settled (base/statistics/series.h) */
    uint64_t from_step,
        step; /* the part that the means are taken over: the settled one, or what is nearest to it */
    kf_series_mean mean[KF_COEFFICIENTS];
    kf_series_mean body[KF_COEFFICIENTS]; /* in axes that turn with the solid; lift is the same in both */
} kf_drag_report;

/* Makes the report of a series. A run has not settled before the stream has crossed the domain once
 * (flow_through_steps; 0: there is no stream). turn: radians by which the solid is turned about the axis of
 * lift (solver/flow/flow_record.c). */
kf_drag_report kf_drag_report_of(const kf_force_series *series, double flow_through_steps, double turn);
enum { KF_DRAG_FLOW_THROUGHS = 3 }; /* for this long the drag must have settled */
/* Returns whether the drag has settled for at least three flow-throughs, with an interval of at most 1 % of
 * the drag to either side. */
bool kf_drag_is_done(const kf_drag_report *report, double flow_through_steps);

/* Returns the number of steps until kf_drag_is_done, estimated from the present interval, which shrinks with
 * the square root of the settled part. NAN: the drag has not settled. */
double kf_drag_steps_left(const kf_drag_report *report, double flow_through_steps);

/* Forecasts the number of steps until the drag has settled, from the flow's own convergence. For a settled
 * drag it is kf_drag_steps_left. For a drag that still approaches its mean, it takes the means over thirds of
 * the later half, which approach each other by the same factor each time. It counts the steps until they
 * agree, and the settled part after that. NAN: the means do not approach each other. */
double kf_drag_steps_forecast(const kf_force_series *series, const kf_drag_report *report,
                              double flow_through_steps);

/* The drag in an open stream as columns of a row of forces: "open_stream_drag", its half-width, and those of
 * its parts. They are computed again whenever the rows have become a twentieth more. This depends only on the
 * number of rows, so a continued run writes the same rows as an uninterrupted one. */
enum { KF_DRAG_JUDGED = 5 };
typedef void kf_drag_judge(const void *context, const kf_drag_report *report, double values[KF_DRAG_JUDGED]);
typedef struct kf_drag_judgement {
    kf_drag_judge *judge; /* NULL: none, and no columns */
    const void *context;
    double flow_through_steps, turn; /* see kf_drag_report_of */
    size_t next;                     /* number of rows at which the values are next computed */
    double values[KF_DRAG_JUDGED];
} kf_drag_judgement;
/* Computes the values again if it is time, also after several rows were read at once. */
void kf_drag_judge_rows(kf_drag_judgement *judgement, kf_force_series *series);
/* Adds the values' columns to a row. */
void kf_drag_judgement_add(const kf_drag_judgement *judgement, kf_record *forces);

/* Draws drag and lift over the flow-throughs (over steps if flow_through_steps is 0), with the means over the
 * settled part as lines and their intervals as bands. A PNG that appears whole or not at all. */
kf_status kf_drag_chart(const char *path, const char *title, const kf_force_series *series,
                        double flow_through_steps, kf_error *error);

#endif
