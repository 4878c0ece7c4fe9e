/* A chart of curves and points over an axis, with a title, named axes with round numbers, bands and error
 * bars. */
#ifndef KF_SOLVER_PICTURE_CHART_H
#define KF_SOLVER_PICTURE_CHART_H

#include "solver/picture/canvas.h"

typedef struct kf_chart {
    kf_canvas canvas;
    /* Range of the axes (0: across, 1: up), low below high; set it before kf_chart_begin. */
    double low[2], high[2];
} kf_chart;

/* Colours of curves: blue, orange, green, purple. */
extern const kf_colour kf_chart_black, kf_chart_lines[4];

/* Draws title, axes and their names. kf_chart_end must follow. */
void kf_chart_begin(kf_chart *chart, const char *title, const char *across, const char *up);
/* Writes a second line below the title, from pixel column x on. Returns the column where the text ends. */
int kf_chart_remark(kf_chart *chart, int x, kf_colour colour, const char *text);
/* Draws a line. Parts outside the axes are left out. */
void kf_chart_line(kf_chart *chart, double x0, double y0, double x1, double y1, kf_colour colour);
/* Draws the strip between two values, from x to the end of the axis. */
void kf_chart_point(kf_chart *chart, double x, double y, double half, kf_colour colour);
/* The strip from x to the end of the axis that is between both values. */
void kf_chart_band(kf_chart *chart, double x, double low, double high, kf_colour colour);
/* Writes the picture, which appears whole or not at all, and frees the chart. */
kf_status kf_chart_end(kf_chart *chart, const char *path, kf_error *error);

/* Draws several charts, one below the other in one picture. */
kf_status kf_charts_end(kf_chart *charts, int count, const char *path, kf_error *error);

enum { KF_CHART_LEFT = 110 }; /* pixel column where the horizontal axis begins */

#endif
