/* Finds crowded samples: both sides of a solid thinner than a cell, or other places with more surface around
 * a sample than a wall has. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/kinetic/kinetic_samples.h"

static const double FARTHEST_SHIFT = 0.5; /* cells */

/* The nodes around the solid. An axis whose seam the solid crosses is taken whole. */
typedef struct node_box {
    int low[3], length[3];
    double *value;
} node_box;

/* Returns the box of nodes that the samples reach when they are shifted by up to a cell. An axis on which
 * that leaves the domain is taken whole. Its values are zero. The caller frees them. */
static node_box box_around(const kf_scene *scene) {
    const double *const position[3] = {scene->samples.x, scene->samples.y, scene->samples.z};
    node_box box;
    size_t count = 1;
    for (int axis = 0; axis < 3; axis++) {
        double low = position[axis][0], high = low;
        for (size_t s = 1; s < scene->samples.count; s++) {
            low = fmin(low, position[axis][s]);
            high = fmax(high, position[axis][s]);
        }
        high += FARTHEST_SHIFT;
        box.low[axis] = (int)floor(low);
        box.length[axis] = (int)floor(high) + 2 - box.low[axis];
        if (box.low[axis] < 0 || box.low[axis] + box.length[axis] > scene->nodes[axis]) {
            box.low[axis] = 0;
            box.length[axis] = scene->nodes[axis];
        }
        count *= (size_t)box.length[axis];
    }
    box.value = kf_allocate_zeroed(count, sizeof(double));
    return box;
}

/* Places and weights of the eight nodes around a sample that lies so much further along each axis. */
static void nodes_around(const node_box *box, const kf_samples *samples, size_t s, const double shift[3],
                         size_t place[8], double weight[8]) {
    const double position[3] = {samples->x[s] + shift[0], samples->y[s] + shift[1], samples->z[s] + shift[2]};
    size_t at[3][2];
    double share[3][2];
    for (int axis = 0; axis < 3; axis++) {
        const int length = box->length[axis], cell = (int)floor(position[axis]);
        share[axis][1] = position[axis] - cell;
        share[axis][0] = 1.0 - share[axis][1];
        for (int up = 0; up < 2; up++) {
            /* At most one period off. */
            const int place_along = cell + up - box->low[axis];
            at[axis][up] = (size_t)(place_along < 0         ? place_along + length
                                    : place_along >= length ? place_along - length
                                                            : place_along);
        }
    }
    for (int c = 0; c < 8; c++) {
        const int x = c & 1, y = c >> 1 & 1, z = c >> 2;
        place[c] = at[0][x] + (size_t)box->length[0] * (at[1][y] + (size_t)box->length[1] * at[2][z]);
        weight[c] = share[0][x] * share[1][y] * share[2][z];
    }
}

/* Raises crowd[s], the surface about a sample (1 at most at a plane wall), to the larger of what it was
 * and is. */
static void raise_crowds(node_box *box, const kf_samples *samples, const double shift[3], double *crowd) {
    double weight[8];
    size_t place[8], count = (size_t)box->length[0] * (size_t)box->length[1] * (size_t)box->length[2];
    for (size_t n = 0; n < count; n++)
        box->value[n] = 0.0;
    for (size_t s = 0; s < samples->count; s++) {
        nodes_around(box, samples, s, shift, place, weight);
        for (int c = 0; c < 8; c++)
            box->value[place[c]] += weight[c] * samples->area[s];
    }
    for (size_t s = 0; s < samples->count; s++) {
        double here = 0.0;
        nodes_around(box, samples, s, shift, place, weight);
        for (int c = 0; c < 8; c++)
            here += weight[c] * box->value[place[c]];
        crowd[s] = fmax(crowd[s], here);
    }
}

/* Reduces the areas of crowded samples. The samples of a moving solid meet the nodes at changing positions,
 * which eight of them represent. In one of these a wall's samples, which are uneven, sum to slightly more
 * than 1. */
double *kf_kinetic_acting_areas(const kf_scene *scene) {
    static const double UNEVEN_WALL = 1.1;
    const kf_samples *samples = &scene->samples;
    const bool moving = scene->motion.moving;
    double *areas = kf_allocate((samples->count + 1) * sizeof *areas);
    double *crowd = kf_allocate_zeroed(samples->count + 1, sizeof *crowd);
    if (samples->count > 0) {
        node_box box = box_around(scene);
        for (int c = 0; c < (moving ? 8 : 1); c++)
            raise_crowds(&box, samples,
                         (double[3]){FARTHEST_SHIFT * (c & 1), FARTHEST_SHIFT * (c >> 1 & 1),
                                     FARTHEST_SHIFT * (c >> 2)},
                         crowd);
        free(box.value);
    }
    for (size_t s = 0; s < samples->count; s++)
        areas[s] = samples->area[s] / (crowd[s] > (moving ? UNEVEN_WALL : 1.0) ? crowd[s] : 1.0);
    free(crowd);
    return areas;
}
