/* A chart of curves and points over an axis: title, named axes with round numbers, bands, bars of intervals.
 */
#ifndef KF_SOLVER_PICTURE_CHART_H
#define KF_SOLVER_PICTURE_CHART_H

#include "solver/picture/canvas.h"

typedef struct kf_chart {
    kf_canvas canvas;
    double low[2], high[2]; /* of the axes: across, up; set before kf_chart_begin, low below high */
} kf_chart;

extern const kf_colour kf_chart_black, kf_chart_lines[4]; /* of curves: blue, orange, green, purple */

/* Draws title, axes and their names. The caller ends with kf_chart_end. */
void kf_chart_begin(kf_chart *chart, const char *title, const char *across, const char *up);
/* A second line below the title, from this pixel column on; returns where its text ends. */
int kf_chart_remark(kf_chart *chart, int x, kf_colour colour, const char *text);
/* Draws a line; parts outside of the axes are left out. */
void kf_chart_line(kf_chart *chart, double x0, double y0, double x1, double y1, kf_colour colour);
/* A dot, with a bar of its interval where half is finite. */
void kf_chart_point(kf_chart *chart, double x, double y, double half, kf_colour colour);
/* The strip from x to the end of the axis that is between both values. */
void kf_chart_band(kf_chart *chart, double x, double low, double high, kf_colour colour);
/* Writes the picture, whole or not at all, and frees the chart. */
kf_status kf_chart_end(kf_chart *chart, const char *path, kf_error *error);

/* Draws several charts, one below the other in one picture. */
kf_status kf_charts_end(kf_chart *charts, int count, const char *path, kf_error *error);

enum { KF_CHART_LEFT = 110 }; /* pixel column where the axis across begins */

#endif
