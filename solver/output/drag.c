#include "solver/output/drag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/memory.h"

static const char *const columns[KF_COEFFICIENTS] = {"drag_coefficient", "lift_coefficient",
                                                     "side_coefficient"};
static const double NARROW = 0.01, STEADY = 1e-3, NEARER = 0.95;

/* Adds a row to the series of coefficients, with the running sum of its later half. A row that is not
 * finite is left out. */
static void add_row(kf_force_series *s, uint64_t step, const double values[KF_COEFFICIENTS]) {
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        if (!isfinite(values[c])) return;
    if (s->count == s->room) {
        s->room = 2 * s->room + 256;
        s->steps = kf_reallocate(s->steps, s->room * sizeof *s->steps);
        for (int c = 0; c < KF_COEFFICIENTS; c++)
            s->values[c] = kf_reallocate(s->values[c], s->room * sizeof *s->values[c]);
    }
    const size_t leaves = s->count / 2;
    for (int c = 0; c < KF_COEFFICIENTS; c++) {
        s->values[c][s->count] = values[c];
        s->later[c] += values[c];
        if (s->count % 2 == 1) s->later[c] -= s->values[c][leaves];
    }
    s->steps[s->count++] = step;
}

void kf_force_series_running_means(const kf_force_series *series, kf_record *forces) {
    static const char *const names[] = {"drag_running_mean", "lift_running_mean"};
    const size_t earlier = series->count / 2;
    const double rows = (double)(series->count - earlier);
    for (int c = KF_DRAG; c <= KF_LIFT; c++)
        kf_record_add(forces, names[c], "", rows > 0.0 ? series->later[c] / rows : (double)NAN);
}

void kf_force_series_add(kf_force_series *series, uint64_t step, const kf_record *forces) {
    double values[KF_COEFFICIENTS];
    /* Values are taken as the file has them, so that a run that goes on from it has the same means. */
    for (int c = 0; c < KF_COEFFICIENTS; c++) {
        char written[32];
        (void)snprintf(written, sizeof written, "%.8g", kf_record_value(forces, columns[c]));
        values[c] = strtod(written, NULL);
    }
    add_row(series, step, values);
}

/* Reads a row, step,time_s,drag,lift,side,... . Returns false at the end of the complete rows. */
static bool read_row(const char *row, uint64_t *step, double values[KF_COEFFICIENTS]) {
    char *end = NULL;
    *step = strtoull(row, &end, 10);
    if (end == row || *end != ',') return false;
    (void)strtod(end + 1, &end);
    for (int c = 0; c < KF_COEFFICIENTS; c++) {
        if (*end != ',') return false;
        values[c] = strtod(end + 1, &end);
    }
    return true;
}

kf_status kf_force_series_read(kf_force_series *series, const char *csv, uint64_t last, kf_error *error) {
    char *text = NULL;
    size_t size;
    uint64_t step;
    double values[KF_COEFFICIENTS];
    if (access(csv, R_OK) != 0) return KF_OK;
    KF_TRY(kf_file_read(csv, 0, &text, &size, error));
    const char *row = strchr(text, '\n');
    for (; row != NULL && read_row(row + 1, &step, values) && step <= last; row = strchr(row + 1, '\n'))
        add_row(series, step, values);
    free(text);
    return KF_OK;
}

void kf_force_series_free(kf_force_series *series) {
    free(series->steps);
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        free(series->values[c]);
    *series = (kf_force_series){0};
}

/* Turns the means. Turning an interval would be wrong, because drag and side force vary together. So each row
 * is turned before the mean is taken. */
static void turn_means(const kf_force_series *s, double turn, kf_drag_report *report) {
    const size_t first = report->mean[KF_DRAG].first, count = s->count - first;
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        report->body[c] = report->mean[c];
    if (turn == 0.0) return;
    double *turned = kf_allocate(count * sizeof *turned);
    for (int c = KF_DRAG; c <= KF_SIDE; c += KF_SIDE - KF_DRAG) {
        const double of_drag = c == KF_DRAG ? cos(turn) : sin(turn),
                     of_side = c == KF_DRAG ? -sin(turn) : cos(turn);
        for (size_t i = 0; i < count; i++)
            turned[i] = of_drag * s->values[KF_DRAG][first + i] + of_side * s->values[KF_SIDE][first + i];
        report->body[c] = kf_series_mean_of(turned, count);
        report->body[c].first = first;
    }
    free(turned);
}

/* Shortens a settled part that begins too early; its interval becomes no narrower. A part with too few rows
 * for an interval is dropped. */
static void leave_out_foreign(const kf_force_series *s, kf_drag_report *report) {
    enum { FEWEST = 16 };
    kf_series_mean *mean = &report->mean[KF_DRAG];
    size_t first = mean->first;
    while (first < s->count && s->steps[first] < s->from)
        first++;
    if (first == mean->first) return;
    if (s->count - first < FEWEST) {
        report->settled = false;
        return;
    }
    const double half = mean->half;
    *mean = kf_series_mean_of(s->values[KF_DRAG] + first, s->count - first);
    mean->first = first;
    mean->half = fmax(mean->half, half);
}

/* Takes the settled part from the drag, and computes the means of all other coefficients over the same
 * rows. */
kf_drag_report kf_drag_report_of(const kf_force_series *s, double flow_through_steps, double turn) {
    kf_drag_report report = {.known = s->count > 0};
    if (!report.known) return report;
    report.mean[KF_DRAG] = kf_series_settled(s->values[KF_DRAG], s->count, &report.settled);
    leave_out_foreign(s, &report);
    const size_t first = report.mean[KF_DRAG].first;
    for (int c = KF_LIFT; c < KF_COEFFICIENTS; c++) {
        report.mean[c] = kf_series_mean_of(s->values[c] + first, s->count - first);
        report.mean[c].first = first;
    }
    turn_means(s, turn, &report);
    report.from_step = s->steps[first];
    report.step = s->steps[s->count - 1];
    report.settled = report.settled && (double)report.step >= flow_through_steps;
    return report;
}

double kf_drag_steps_left(const kf_drag_report *report, double flow_through_steps) {
    const kf_series_mean *drag = &report->mean[KF_DRAG];
    const double have = (double)(report->step - report->from_step),
                 wide = drag->half / (NARROW * fabs(drag->mean));
    if (!report->known || !report->settled || !isfinite(wide)) return (double)NAN;
    return fmax(0.0, fmax(KF_DRAG_FLOW_THROUGHS * flow_through_steps, have * wide * wide) - have);
}

static double mean_of_rows(const double *values, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Estimates the steps from the last row until the means of thirds of the later half differ by a thousandth.
 * When the start of the flow decays exponentially, each difference is the previous one times a factor. NAN:
 * it does not decay. */
static double steps_of_transient(const kf_force_series *s) {
    enum { FEWEST = 8 };
    const size_t third = s->count / 6;
    if (third < FEWEST) return (double)NAN;
    const double *last = s->values[KF_DRAG] + s->count - third;
    const double c = mean_of_rows(last, third), before = mean_of_rows(last - third, third),
                 first = mean_of_rows(last - 2 * third, third),
                 span = (double)(s->steps[s->count - 1] - s->steps[s->count - 1 - third]),
                 wanted = STEADY * fabs(c), now = fabs(c - before), was = fabs(before - first);
    if (now <= wanted) return 0.0;
    if (now >= NEARER * was) return (double)NAN;
    return span * log(wanted / now) / log(now / was);
}

double kf_drag_steps_forecast(const kf_force_series *series, const kf_drag_report *report,
                              double flow_through_steps) {
    if (!report->known) return (double)NAN;
    if (report->settled) return kf_drag_steps_left(report, flow_through_steps);
    const double transient = steps_of_transient(series);
    return transient + KF_DRAG_FLOW_THROUGHS * flow_through_steps;
}

bool kf_drag_is_done(const kf_drag_report *report, double flow_through_steps) {
    const kf_series_mean *drag = &report->mean[KF_DRAG];
    return report->known && report->settled && drag->half <= NARROW * fabs(drag->mean) &&
           (double)(report->step - report->from_step) >= KF_DRAG_FLOW_THROUGHS * flow_through_steps;
}

static const char *const judged_names[KF_DRAG_JUDGED] = {"open_stream_drag", "open_stream_half",
                                                         "half_statistics", "half_grid", "half_tunnel"};

/* Judges the rows after every twentieth more of them, always at the same numbers of rows. So a continued run
 * judges like an uninterrupted one. */
void kf_drag_judge_rows(kf_drag_judgement *j, kf_force_series *series) {
    enum { SHARE = 20 };
    const size_t count = series->count;
    size_t last = 0;
    if (j->judge == NULL) return;
    if (j->next == 0) {
        j->next = 1;
        for (int i = 0; i < KF_DRAG_JUDGED; i++)
            j->values[i] = (double)NAN;
    }
    for (; j->next <= count; j->next += j->next < SHARE ? 1 : j->next / SHARE)
        last = j->next;
    if (last == 0) return;
    /* The number of rows at that time. */
    series->count = last;
    const kf_drag_report report = kf_drag_report_of(series, j->flow_through_steps, j->turn);
    series->count = count;
    j->judge(j->context, &report, j->values);
}

void kf_drag_judgement_add(const kf_drag_judgement *j, kf_record *forces) {
    for (int i = 0; j->judge != NULL && i < KF_DRAG_JUDGED; i++)
        kf_record_add(forces, judged_names[i], "", j->next > 0 ? j->values[i] : (double)NAN);
}
