/* Works out what the forces of a run come to: means of the coefficients over the settled part, with their
 * 95 % intervals. */
#ifndef KF_SOLVER_OUTPUT_DRAG_H
#define KF_SOLVER_OUTPUT_DRAG_H

#include <stdint.h>

#include "base/plan/record.h"
#include "base/statistics/series.h"
#include "base/util/status.h"

enum { KF_DRAG, KF_LIFT, KF_SIDE, KF_COEFFICIENTS };

/* The coefficients of a run's rows of forces. Zeroed: none yet. */
typedef struct kf_force_series {
    uint64_t from; /* the settled part begins at this step or later */
    size_t count, room;
    uint64_t *steps;
    double *values[KF_COEFFICIENTS];
    double later[KF_COEFFICIENTS]; /* sums of the later half of the values, the middle one included */
} kf_force_series;

/* Adds a row of the table "forces" after step steps; a row without defined coefficients is left out. */
void kf_force_series_add(kf_force_series *series, uint64_t step, const kf_record *forces);
/* Adds the columns "drag_running_mean" and "lift_running_mean" to a row: means over the later half of the
 * rows so far, which forgets how the flow began; NAN without any. */
void kf_force_series_running_means(const kf_force_series *series, kf_record *forces);
/* Adds the rows of a forces.csv up to step last, for a run that goes on; none when the file is not there. */
kf_status kf_force_series_read(kf_force_series *series, const char *csv, uint64_t last, kf_error *error);
void kf_force_series_free(kf_force_series *series); /* its contents */

typedef struct kf_drag_report {
    bool known;   /* there are coefficients */
    bool settled; /* by the drag (base/statistics/series.h) */
    uint64_t from_step,
        step; /* the part that the means are taken over: the settled one, or what is nearest to it */
    kf_series_mean mean[KF_COEFFICIENTS];
    kf_series_mean body[KF_COEFFICIENTS]; /* in axes that turn with the solid; lift is the same in both */
} kf_drag_report;

/* Makes the report of a series. Rows before the stream has gone through once (flow_through_steps; 0
 * without a stream) have not settled. turn: radians that the solid is turned by about the axis of lift
 * (solver/flow/flow_record.c). */
kf_drag_report kf_drag_report_of(const kf_force_series *series, double flow_through_steps, double turn);
enum { KF_DRAG_FLOW_THROUGHS = 3 }; /* that a settled drag is watched for */
/* Settled for at least three flow-throughs, and the interval no wider than 1 % of the drag to either side. */
bool kf_drag_is_done(const kf_drag_report *report, double flow_through_steps);

/* Steps that kf_drag_is_done is still away, by the interval as it is: it shrinks with the square root of the
 * settled part. NAN: the drag has not settled yet. */
double kf_drag_steps_left(const kf_drag_report *report, double flow_through_steps);

/* Steps that a run until the drag has settled still takes, by the flow's own convergence: of a settled drag
 * kf_drag_steps_left; of one that still comes nearer to its mean, when its means over thirds of the later
 * half, which come nearer by the same factor each time, no longer differ, and the settled part after that.
 * NAN: the means do not come nearer. */
double kf_drag_steps_forecast(const kf_force_series *series, const kf_drag_report *report,
                              double flow_through_steps);

/* Values of the drag in an open stream that a row of forces has: "open_stream_drag", its half, and the halves
 * of its parts. Renewed whenever the rows are a twentieth more, which depends on their number alone: a run
 * that goes on writes the same rows as one in one piece. */
enum { KF_DRAG_JUDGED = 5 };
typedef void kf_drag_judge(const void *context, const kf_drag_report *report, double values[KF_DRAG_JUDGED]);
typedef struct kf_drag_judgement {
    kf_drag_judge *judge; /* NULL: none, and no columns */
    const void *context;
    double flow_through_steps, turn; /* as of kf_drag_report_of */
    size_t next;                     /* rows at which the values are renewed */
    double values[KF_DRAG_JUDGED];
} kf_drag_judgement;
/* Renews the values if it is time, also after several rows that were read at once. */
void kf_drag_judge_rows(kf_drag_judgement *judgement, kf_force_series *series);
/* Adds the values' columns to a row. */
void kf_drag_judgement_add(const kf_drag_judgement *judgement, kf_record *forces);

/* A chart of drag and lift over the flow-throughs (steps where flow_through_steps is 0), the means over the
 * settled part as lines with their intervals as bands. PNG, written whole or not at all. */
kf_status kf_drag_chart(const char *path, const char *title, const kf_force_series *series,
                        double flow_through_steps, kf_error *error);

#endif
