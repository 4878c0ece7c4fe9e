/* Draws the chart of drag and lift over a run. */
#include <math.h>
#include <stdio.h>

#include "solver/output/drag.h"
#include "solver/picture/chart.h"

/* Sets the range to the values of the later nine tenths, and to zero if it is near. unit: the steps per unit
 * of the horizontal axis. */
static void set_range(kf_chart *c, const kf_force_series *s, double unit) {
    c->low[0] = 0.0;
    c->high[0] = fmax(1e-9, (double)s->steps[s->count - 1] / unit);
    c->low[1] = (double)INFINITY;
    c->high[1] = (double)-INFINITY;
    for (size_t i = s->count / 10; i < s->count; i++)
        for (int k = KF_DRAG; k <= KF_LIFT; k++) {
            c->low[1] = fmin(c->low[1], s->values[k][i]);
            c->high[1] = fmax(c->high[1], s->values[k][i]);
        }
    const double room = fmax(0.08 * (c->high[1] - c->low[1]), 1e-3);
    c->low[1] -= room;
    c->high[1] += room;
}

/* Names a curve "drag 0.3127 +- 0.0021", in its colour. */
static int name_curve(kf_chart *c, int x, int k, const kf_drag_report *report) {
    static const char *const names[2] = {"drag", "lift"};
    const kf_series_mean *m = &report->mean[k];
    char text[64];
    if (!report->known)
        (void)snprintf(text, sizeof text, "%s", names[k]);
    else if (isfinite(m->half))
        (void)snprintf(text, sizeof text, "%s %.4f +- %.2g", names[k], m->mean, m->half);
    else
        (void)snprintf(text, sizeof text, "%s %.4f", names[k], m->mean);
    return kf_chart_remark(c, x, kf_chart_lines[k], text) + 24;
}

kf_status kf_drag_chart(const char *path, const char *title, const kf_force_series *s,
                        double flow_through_steps, kf_error *error) {
    if (s->count < 2) return KF_OK;
    const kf_drag_report report = kf_drag_report_of(s, flow_through_steps, 0.0);
    const double unit = flow_through_steps > 0.0 ? flow_through_steps : 1.0;
    kf_chart c;
    set_range(&c, s, unit);
    kf_chart_begin(&c, title, flow_through_steps > 0.0 ? "time in flow-throughs" : "steps", "coefficient");
    int x = KF_CHART_LEFT;
    for (int k = KF_DRAG; k <= KF_LIFT; k++) {
        const kf_series_mean *m = &report.mean[k];
        const double half = isfinite(m->half) ? m->half : 0.0, from = (double)report.from_step / unit;
        x = name_curve(&c, x, k, &report);
        if (report.settled) {
            kf_chart_band(&c, from, m->mean - half, m->mean + half, kf_chart_lines[k]);
            kf_chart_line(&c, from, m->mean, c.high[0], m->mean, kf_chart_black);
        }
        for (size_t i = 1; i < s->count; i++)
            kf_chart_line(&c, (double)s->steps[i - 1] / unit, s->values[k][i - 1], (double)s->steps[i] / unit,
                          s->values[k][i], kf_chart_lines[k]);
    }
    if (report.known)
        (void)kf_chart_remark(&c, x, kf_chart_black,
                              report.settled ? "(means with 95 % intervals)" : "(means; NOT settled)");
    return kf_chart_end(&c, path, error);
}
