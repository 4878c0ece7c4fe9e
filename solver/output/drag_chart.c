/* The chart of drag and lift over a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/output/drag.h"
#include "solver/picture/canvas.h"

enum { WIDTH = 1000, HEIGHT = 560, LEFT = 96, RIGHT = 24, TOP = 56, BOTTOM = 64, TICKS = 6, SCALE = 2 };

static const kf_colour white = {255, 255, 255}, black = {20, 20, 20}, grey = {205, 210, 215},
                       lines[2] = {{31, 90, 180}, {200, 110, 20}};

/* From values to pixels. */
typedef struct chart {
    kf_canvas canvas;
    double low[2], high[2]; /* of the axes: across, up */
    double unit;            /* steps of one on the axis across */
} chart;

static int column_of(const chart *c, double x) {
    return LEFT + (int)lround((x - c->low[0]) / (c->high[0] - c->low[0]) * (WIDTH - LEFT - RIGHT - 1));
}

static int row_of(const chart *c, double y) {
    return HEIGHT - BOTTOM - 1 -
           (int)lround((y - c->low[1]) / (c->high[1] - c->low[1]) * (HEIGHT - TOP - BOTTOM - 1));
}

static void draw_line(chart *c, double x0, double y0, double x1, double y1, kf_colour colour) {
    const int from[2] = {column_of(c, x0), row_of(c, y0)}, to[2] = {column_of(c, x1), row_of(c, y1)};
    const int length =
        abs(to[0] - from[0]) > abs(to[1] - from[1]) ? abs(to[0] - from[0]) : abs(to[1] - from[1]);
    for (int i = 0; i <= length; i++) {
        const double t = length == 0 ? 0.0 : (double)i / length;
        const int x = from[0] + (int)lround(t * (to[0] - from[0])),
                  y = from[1] + (int)lround(t * (to[1] - from[1]));
        if (y < TOP || y >= HEIGHT - BOTTOM) continue;
        kf_canvas_blend(&c->canvas, x, y, colour, 1.0);
        kf_canvas_blend(&c->canvas, x, y + 1, colour, 0.5);
    }
}

/* 1, 2 or 5 times a power of ten, so that about TICKS steps make up the range. */
static double nice_step(double range) {
    const double power = pow(10.0, floor(log10(range / TICKS))), rest = range / TICKS / power;
    return power * (rest < 1.5 ? 1.0 : rest < 3.5 ? 2.0 : rest < 7.5 ? 5.0 : 10.0);
}

/* The values of the later nine tenths, and zero only if it is near. */
static void set_range(chart *c, const kf_force_series *s) {
    c->low[0] = 0.0;
    c->high[0] = fmax(1e-9, (double)s->steps[s->count - 1] / c->unit);
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

/* Draws both axes with grid lines at round numbers. */
static void draw_axes(chart *c, const char *across) {
    char label[32];
    for (int axis = 0; axis < 2; axis++) {
        const double step = nice_step(c->high[axis] - c->low[axis]);
        const int first = (int)ceil(c->low[axis] / step), last = (int)floor(c->high[axis] / step);
        for (int tick = first; tick <= last; tick++) {
            const double at = tick * step;
            (void)snprintf(label, sizeof label, "%.4g", at);
            if (axis == 0) {
                draw_line(c, at, c->low[1], at, c->high[1], grey);
                kf_canvas_text(&c->canvas, column_of(c, at) - kf_text_width(label, SCALE) / 2,
                               HEIGHT - BOTTOM + 8, SCALE, black, label);
            } else {
                draw_line(c, c->low[0], at, c->high[0], at, grey);
                kf_canvas_text(&c->canvas, LEFT - 8 - kf_text_width(label, SCALE), row_of(c, at) - 7, SCALE,
                               black, label);
            }
        }
    }
    kf_canvas_frame(&c->canvas, LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, black);
    kf_canvas_text(&c->canvas, (WIDTH - kf_text_width(across, SCALE)) / 2, HEIGHT - 28, SCALE, black, across);
}

static void draw_band(chart *c, const kf_drag_report *report, int k) {
    const kf_series_mean *m = &report->mean[k];
    const int left = column_of(c, (double)report->from_step / c->unit), right = column_of(c, c->high[0]);
    const double half = isfinite(m->half) ? m->half : 0.0;
    for (int y = row_of(c, fmin(m->mean + half, c->high[1])); y <= row_of(c, fmax(m->mean - half, c->low[1]));
         y++)
        for (int x = left; x <= right; x++)
            kf_canvas_blend(&c->canvas, x, y, lines[k], 0.25);
    draw_line(c, (double)report->from_step / c->unit, m->mean, c->high[0], m->mean, black);
}

kf_status kf_drag_chart(const char *path, const char *title, const kf_force_series *s,
                        double flow_through_steps, kf_error *error) {
    if (s->count < 2) return KF_OK;
    const kf_drag_report report = kf_drag_report_of(s, flow_through_steps, 0.0);
    chart c = {.unit = flow_through_steps > 0.0 ? flow_through_steps : 1.0};
    set_range(&c, s);
    kf_canvas_begin(&c.canvas, WIDTH, HEIGHT, white);
    draw_axes(&c, flow_through_steps > 0.0 ? "flow-throughs" : "steps");
    kf_canvas_text(&c.canvas, LEFT, 14, SCALE, black, title);
    for (int k = KF_DRAG; k <= KF_LIFT; k++) {
        static const char *const names[2] = {"drag", "lift"};
        kf_canvas_text(&c.canvas, WIDTH - RIGHT - 150 + 80 * k, 14, SCALE, lines[k], names[k]);
        if (report.settled) draw_band(&c, &report, k);
        for (size_t i = 1; i < s->count; i++)
            draw_line(&c, (double)s->steps[i - 1] / c.unit, s->values[k][i - 1], (double)s->steps[i] / c.unit,
                      s->values[k][i], lines[k]);
    }
    const kf_status status = kf_canvas_write_png(&c.canvas, path, error);
    kf_canvas_free(&c.canvas);
    return status;
}
