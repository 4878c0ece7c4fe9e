/* A table of the signed distance to a solid's surface, which host and device share. */
#ifndef KF_KERNELS_DISTANCE_TABLE_H
#define KF_KERNELS_DISTANCE_TABLE_H

/* Lengths are in cells. Places are in the solid's own axes, as these lie at time 0. Distances inside the
 * solid are negative. */
typedef struct kf_distance_table {
    const float *values; /* [z][y][x] */
    int size[3];
    double corner[3], spacing; /* the place of the first point; the distance between points */
} kf_distance_table;

#endif
