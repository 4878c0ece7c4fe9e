#include "solver/output/probe_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "solver/flow/flow_plan.h"
#include "solver/picture/chart.h"

/* Values of the quantities from first to end, with some room around them. */
static void set_range(kf_chart *c, const kf_probe_curve *curve, size_t count, int first, int end) {
    for (int axis = 0; axis < 2; axis++) {
        c->low[axis] = (double)INFINITY;
        c->high[axis] = (double)-INFINITY;
    }
    for (size_t i = 0; i < count; i++) {
        c->low[0] = fmin(c->low[0], curve[i].at);
        c->high[0] = fmax(c->high[0], curve[i].at);
        for (int q = first; q < end; q++) {
            c->low[1] = fmin(c->low[1], curve[i].value[q]);
            c->high[1] = fmax(c->high[1], curve[i].value[q]);
        }
    }
    const double most = fmax(fabs(c->low[1]), fabs(c->high[1]));
    const double room = fmax(0.08 * (c->high[1] - c->low[1]), fmax(1e-3 * most, 1e-12));
    c->low[1] -= room;
    c->high[1] += room;
    if (!(c->high[0] > c->low[0])) c->high[0] = c->low[0] + fmax(1e-9, 1e-3 * fabs(c->low[0]));
}

static void name_curve(kf_chart *c, const kf_probe *probe, const kf_probe_report *report, int q, int *x) {
    static const char *const names[KF_PROBED] = {"x", "y", "z", "mean"};
    const kf_series_mean *m = &report->mean[q];
    char text[64];
    if (probe->kind != KF_PROBE_POINT)
        (void)snprintf(text, sizeof text, "%s", names[q]);
    else if (isfinite(m->half))
        (void)snprintf(text, sizeof text, "%s %.4g +- %.2g", names[q], m->mean, m->half);
    else
        (void)snprintf(text, sizeof text, "%s %.4g", names[q], m->mean);
    *x = kf_chart_remark(c, *x, kf_chart_lines[q], text) + 24;
}

/* Sides of a solid that taps look to: along the axis across the cut's length, and neither way at its ends. */
enum { UP, DOWN, ENDS, SIDES };

static int across_of(const kf_probe *probe) {
    double along[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < probe->count; i++)
        for (int a = 1; a < 3; a++)
            along[a] += fabs(probe->normals[i][a]);
    return along[1] > along[2] ? 1 : 2;
}

static int side_of(const kf_probe *probe, size_t tap, int across) {
    static const double END = 0.3;
    const double normal = probe->normals[tap][across];
    return normal > END ? UP : normal < -END ? DOWN : ENDS;
}

/* Draws a cut's points, which do not follow each other, as dots in a colour for each side, and names these.
 */
static void draw_taps(kf_chart *c, const kf_probe *probe, const kf_probe_curve *curve, size_t count, int q) {
    static const int colours[SIDES] = {0, 1, 3};
    const int across = across_of(probe);
    bool seen[SIDES] = {false};
    char text[32];
    for (size_t i = 0; i < count; i++) {
        const int side = side_of(probe, i, across);
        seen[side] = true;
        kf_chart_point(c, curve[i].at, curve[i].value[q], (double)INFINITY, kf_chart_lines[colours[side]]);
    }
    int x = KF_CHART_LEFT;
    for (int side = 0; side < SIDES; side++) {
        if (!seen[side]) continue;
        if (side == ENDS)
            (void)snprintf(text, sizeof text, "ends");
        else
            (void)snprintf(text, sizeof text, "side of %c%c", side == UP ? '+' : '-', 'x' + across);
        x = kf_chart_remark(c, x, kf_chart_lines[colours[side]], text) + 24;
    }
}

/* Draws one panel with the quantities from first to end. */
static void draw_panel(kf_chart *c, const char *title, const char *up, const kf_probe *probe,
                       const kf_probe_report *report, const kf_probe_curve *curve, size_t count, int first,
                       int end) {
    static const char *const across[] = {"time in s", "distance along the line in m", "x in m"};
    char axis[128];
    int x = KF_CHART_LEFT;
    set_range(c, curve, count, first, end);
    (void)snprintf(axis, sizeof axis, "%s (means over step %" PRIu64 " to %" PRIu64 ")", across[probe->kind],
                   report->from_step, report->to_step);
    kf_chart_begin(c, title, axis, up);
    for (int q = first; q < end; q++) {
        if (end - first > 1 || probe->kind == KF_PROBE_POINT) name_curve(c, probe, report, q, &x);
        if (probe->kind == KF_PROBE_SURFACE) draw_taps(c, probe, curve, count, q);
        for (size_t i = 1; i < count && probe->kind != KF_PROBE_SURFACE; i++)
            kf_chart_line(c, curve[i - 1].at, curve[i - 1].value[q], curve[i].at, curve[i].value[q],
                          kf_chart_lines[q]);
    }
}

/* Makes a title such as "ball, probe wake at (2.1, 0.5, 0.5) m, Re 1e+04". */
static void make_title(const kf_plan *plan, const kf_probe *probe, char title[160]) {
    const double reynolds = kf_facts_value(&plan->problem->facts, "reynolds"), *p = probe->points[0],
                 *q = probe->points[probe->count - 1];
    char where[96] = "", flow[32] = "";
    if (probe->kind == KF_PROBE_POINT)
        (void)snprintf(where, sizeof where, " at (%.4g, %.4g, %.4g) m", p[0], p[1], p[2]);
    if (probe->kind == KF_PROBE_LINE)
        (void)snprintf(where, sizeof where, ", (%.3g, %.3g, %.3g) to (%.3g, %.3g, %.3g) m", p[0], p[1], p[2],
                       q[0], q[1], q[2]);
    if (reynolds > 0.0) (void)snprintf(flow, sizeof flow, ", Re %.4g", reynolds);
    const char *name = plan->problem->name;
    const bool cut = strlen(name) > 32;
    (void)snprintf(title, 160, "%.*s%s%s, probe %s%s", cut ? 30 : 32, name, cut ? ".." : "", flow,
                   probe->name, where);
}

kf_status kf_probe_chart(const kf_plan *plan, const kf_probe *probe, const kf_probe_report *report,
                         const kf_probe_curve *curve, size_t count, kf_error *error) {
    char title[160], pressure[64] = "";
    kf_chart charts[2];
    int panels = 0;
    make_title(plan, probe, title);
    if (count < (probe->kind == KF_PROBE_SURFACE ? 1U : 2U)) return KF_OK;
    if (probe->kind != KF_PROBE_SURFACE)
        draw_panel(&charts[panels++], title, "velocity in m/s", probe, report, curve, count, 0, 3);
    if (report->pressure != NULL) {
        (void)snprintf(pressure, sizeof pressure, "%s%s",
                       report->pressure_unit[0] == '1' ? "pressure coefficient" : "pressure over density in ",
                       report->pressure_unit[0] == '1' ? "" : "m2/s2");
        draw_panel(&charts[panels], panels == 1 ? "" : title, pressure, probe, report, curve, count, 3, 4);
        panels++;
    }
    return kf_charts_end(charts, panels, report->picture, error);
}
