#include "solver/picture/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1000,
    HEIGHT = 580,
    LEFT = KF_CHART_LEFT,
    RIGHT = 24,
    TOP = 84,
    BOTTOM = 64,
    TICKS = 6,
    SCALE = 2
};

static const kf_colour white = {255, 255, 255}, grey = {205, 210, 215};
const kf_colour kf_chart_black = {20, 20, 20},
                kf_chart_lines[4] = {{31, 90, 180}, {200, 110, 20}, {20, 130, 70}, {140, 60, 150}};

static int column_of(const kf_chart *c, double x) {
    return LEFT + (int)lround((x - c->low[0]) / (c->high[0] - c->low[0]) * (WIDTH - LEFT - RIGHT - 1));
}

static int row_of(const kf_chart *c, double y) {
    return HEIGHT - BOTTOM - 1 -
           (int)lround((y - c->low[1]) / (c->high[1] - c->low[1]) * (HEIGHT - TOP - BOTTOM - 1));
}

void kf_chart_line(kf_chart *c, double x0, double y0, double x1, double y1, kf_colour colour) {
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

/* Returns 1, 2 or 5 times a power of ten, so that the range has about TICKS steps. */
static double nice_step(double range) {
    const double power = pow(10.0, floor(log10(range / TICKS))), rest = range / TICKS / power;
    return power * (rest < 1.5 ? 1.0 : rest < 3.5 ? 2.0 : rest < 7.5 ? 5.0 : 10.0);
}

static void draw_tick(kf_chart *c, int axis, double at) {
    char label[32];
    (void)snprintf(label, sizeof label, "%.4g", at == 0.0 ? 0.0 : at);
    if (axis == 0) {
        kf_chart_line(c, at, c->low[1], at, c->high[1], grey);
        kf_canvas_text(&c->canvas, column_of(c, at) - kf_text_width(label, SCALE) / 2, HEIGHT - BOTTOM + 8,
                       SCALE, kf_chart_black, label);
    } else {
        kf_chart_line(c, c->low[0], at, c->high[0], at, grey);
        kf_canvas_text(&c->canvas, LEFT - 8 - kf_text_width(label, SCALE), row_of(c, at) - 7, SCALE,
                       kf_chart_black, label);
    }
}

void kf_chart_begin(kf_chart *c, const char *title, const char *across, const char *up) {
    kf_canvas_begin(&c->canvas, WIDTH, HEIGHT, white);
    for (int axis = 0; axis < 2; axis++) {
        const double step = nice_step(c->high[axis] - c->low[axis]);
        const int first = (int)ceil(c->low[axis] / step - 1e-9),
                  last = (int)floor(c->high[axis] / step + 1e-9);
        for (int tick = first; tick <= last; tick++)
            draw_tick(c, axis, tick * step);
    }
    kf_canvas_frame(&c->canvas, LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, kf_chart_black);
    kf_canvas_text(&c->canvas, LEFT, 12, SCALE, kf_chart_black, title);
    kf_canvas_text(&c->canvas, 8, TOP - 24, SCALE, kf_chart_black, up);
    kf_canvas_text(&c->canvas, (WIDTH - kf_text_width(across, SCALE)) / 2, HEIGHT - 28, SCALE, kf_chart_black,
                   across);
}

int kf_chart_remark(kf_chart *c, int x, kf_colour colour, const char *text) {
    kf_canvas_text(&c->canvas, x, 36, SCALE, colour, text);
    return x + kf_text_width(text, SCALE);
}

void kf_chart_point(kf_chart *c, double x, double y, double half, kf_colour colour) {
    enum { RADIUS = 5, CAP = 6 };
    const int column = column_of(c, x), row = row_of(c, y);
    for (int i = -RADIUS; i <= RADIUS; i++)
        for (int j = -RADIUS; j <= RADIUS; j++)
            if (i * i + j * j <= RADIUS * RADIUS)
                kf_canvas_blend(&c->canvas, column + i, row + j, colour, 1.0);
    if (!isfinite(half)) return;
    const int high = row_of(c, y + half), low = row_of(c, y - half);
    kf_canvas_fill(&c->canvas, column - 1, high, 2, low - high + 1, colour);
    kf_canvas_fill(&c->canvas, column - CAP, high - 1, 2 * CAP, 2, colour);
    kf_canvas_fill(&c->canvas, column - CAP, low - 1, 2 * CAP, 2, colour);
}

void kf_chart_band(kf_chart *c, double x, double low, double high, kf_colour colour) {
    const int left = column_of(c, x), right = column_of(c, c->high[0]);
    for (int row = row_of(c, fmin(high, c->high[1])); row <= row_of(c, fmax(low, c->low[1])); row++)
        for (int column = left; column <= right; column++)
            kf_canvas_blend(&c->canvas, column, row, colour, 0.25);
}

kf_status kf_chart_end(kf_chart *c, const char *path, kf_error *error) {
    const kf_status status = kf_canvas_write_png(&c->canvas, path, error);
    kf_canvas_free(&c->canvas);
    return status;
}

kf_status kf_charts_end(kf_chart *charts, int count, const char *path, kf_error *error) {
    const size_t bytes = (size_t)WIDTH * HEIGHT * 3;
    kf_canvas all;
    kf_canvas_begin(&all, WIDTH, HEIGHT * count, white);
    for (int i = 0; i < count; i++) {
        memcpy(all.pixels + (size_t)i * bytes, charts[i].canvas.pixels, bytes);
        kf_canvas_free(&charts[i].canvas);
    }
    const kf_status status = kf_canvas_write_png(&all, path, error);
    kf_canvas_free(&all);
    return status;
}
