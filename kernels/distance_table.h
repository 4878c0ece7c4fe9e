/* A table of the signed distance to a solid's surface, shared by host and device. */
#ifndef KF_KERNELS_DISTANCE_TABLE_H
#define KF_KERNELS_DISTANCE_TABLE_H

/* Lengths are in cells, and places in the solid's own axes at time 0. Distances inside are negative. */
typedef struct kf_distance_table {
    const float *values; /* [z][y][x] */
    int size[3];
    double corner[3], spacing; /* the place of the first point; the distance between points */
} kf_distance_table;

#endif
