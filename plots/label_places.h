/* Finds places for names beside points in a plot, so that no name covers another one, a point or a line. */
#ifndef KF_PLOTS_LABEL_PLACES_H
#define KF_PLOTS_LABEL_PLACES_H

#include <stdbool.h>

/* A rectangle in points of the picture; y grows upwards. */
typedef struct kf_label_box {
    double left, bottom, width, height;
} kf_label_box;

enum { KF_LABEL_BOXES = 4096 };

/* The occupied parts of a plot's area, from (0, 0) to (width, height). If all but its size is zero, it is
 * empty. */
typedef struct kf_label_places {
    double width, height;
    int count;
    kf_label_box boxes[KF_LABEL_BOXES];
} kf_label_places;

/* Marks a box as occupied. A box beyond the last is ignored, so labels may cover it. */
void kf_label_take(kf_label_places *places, kf_label_box box);

/* Marks a straight line as occupied. */
void kf_label_take_line(kf_label_places *places, double x, double y, double to_x, double to_y);

/* Finds the free box of this size nearest to the point (x, y), and marks it. If none is free, it is the box
 * right of the point. Returns whether the box is so far away that it needs a line to its point. */
bool kf_label_find(kf_label_places *places, double x, double y, double width, double height,
                   kf_label_box *found);

#endif
