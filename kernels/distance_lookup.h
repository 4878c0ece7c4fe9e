/* Looks up the signed distance to a moving solid's surface in a table. */
#ifndef KF_KERNELS_DISTANCE_LOOKUP_H
#define KF_KERNELS_DISTANCE_LOOKUP_H

#include "distance_table.h"
#include "portable.h"

/* Returns the first of the eight table values around a place, and in `share` the place's fraction of the
 * spacing along each axis. A place outside the table counts as the nearest one inside. */
KF_FUNCTION const float *kf_distances_around(const kf_distance_table *table, const double place[3],
                                             double share[3]) {
    int at[3];
    for (int i = 0; i < 3; i++) {
        double point = (place[i] - table->corner[i]) / table->spacing;
        const double last = table->size[i] - 1;
        point = point < 0.0 ? 0.0 : point > last ? last : point;
        at[i] = (int)point;
        if (at[i] > table->size[i] - 2) at[i] = table->size[i] - 2;
        share[i] = point - at[i];
    }
    const long long row = table->size[0], plane = row * table->size[1];
    return table->values + at[0] + row * at[1] + plane * at[2];
}

/* Returns by how many values corner i of a table's cell lies behind the cell's first corner. Bits 0, 1 and
 * 2 of i count along x, y and z. */
KF_FUNCTION long long kf_distance_corner(const kf_distance_table *table, int i) {
    const long long row = table->size[0], plane = row * table->size[1];
    return i % 2 + (i / 2 % 2) * row + (i / 4) * plane;
}

#endif
