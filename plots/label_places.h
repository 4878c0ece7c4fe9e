/* Places of names beside points in a plot, so that none lies over another, over a point or over a line. */
#ifndef KF_PLOTS_LABEL_PLACES_H
#define KF_PLOTS_LABEL_PLACES_H

#include <stdbool.h>

/* A rectangle in points of the picture; y grows upwards. */
typedef struct kf_label_box {
    double left, bottom, width, height;
} kf_label_box;

enum { KF_LABEL_BOXES = 4096 };

/* This is what is taken of a plot's area, from (0, 0) to (width, height). Zeroed but for its size it is
 * empty. */
typedef struct kf_label_places {
    double width, height;
    int count;
    kf_label_box boxes[KF_LABEL_BOXES];
} kf_label_places;

/* Marks a box as taken. A box beyond the last is ignored: labels may then lie over it. */
void kf_label_take(kf_label_places *places, kf_label_box box);

/* Marks a straight line as taken. */
void kf_label_take_line(kf_label_places *places, double x, double y, double to_x, double to_y);

/* Finds the free box of this size that lies nearest to the point (x, y), and takes it. The box right of the
 * point is the answer where none is free. Returns whether it lies so far off that it needs a line to its
 * point. */
bool kf_label_find(kf_label_places *places, double x, double y, double width, double height,
                   kf_label_box *found);

#endif
