/* Walls without particles: half-spaces and terrain. Sums treat the fluid as if it continued behind a wall,
 * in layers at 0.5, 1.5 ... spacings from it. A table holds what these layers add to a sum, by the
 * particle's distance d from the wall. W is the kernel function.
 *   G  the sum of |dW/dn| along the normal n, for quantities that are constant behind the wall
 *   M  the sum of t |dW/dn| with t = n . (x_i - x'), for quantities that are linear in t
 *   T  the sum of u |dW/du| with u along the wall, for quantities that are linear in u */
#ifndef KF_KERNELS_SPH_WALLS_H
#define KF_KERNELS_SPH_WALLS_H

#include "particle.h"

#define KF_CLOSEST_WALL                                                                                      \
    0.25f /* spacings; a particle that is nearer, or behind the wall, counts as being here */

typedef struct kf_wall {
    float nx, ny, nz, distance;
    float vx, vy, vz, slip;
    float gradient, moment, along; /* G, M, T */
} kf_wall;

#if KF_TERRAIN
/* Evaluates the quadratic B-spline through the means of neighbouring heights, whose value and slopes are
 * continuous. */
KF_FUNCTION void kf_spline(float x, float inverse, float origin, int nodes, int *first, float *w, float *d) {
    const float u = (x - origin) * inverse;
    const int i = kf_within((int)floorf(u + 0.5f), 1, nodes - 2);
    const float t = fminf(fmaxf(u - (float)i, -0.5f), 0.5f);
    *first = i - 1;
    w[0] = 0.5f * (0.5f - t) * (0.5f - t), w[1] = 0.75f - t * t, w[2] = 0.5f * (0.5f + t) * (0.5f + t);
    d[0] = (t - 0.5f) * inverse, d[1] = -2.0f * t * inverse, d[2] = (t + 0.5f) * inverse;
}
/* Returns the terrain's height and slopes at (x, y). */
KF_FUNCTION void kf_height(const kf_sph_arguments *a, float x, float y, float *height, float *sx, float *sy) {
    float wx[3], gx[3], h = 0, px = 0, py = 0;
    int ix;
    kf_spline(x, a->height_inverse[0], a->height_origin[0], a->height_nodes[0], &ix, wx, gx);
#if KF_DIMENSIONS == 2
    (void)y;
    KF_UNROLL
    for (int k = 0; k < 3; k++) {
        const float value = a->heights[ix + k];
        h += wx[k] * value, px += gx[k] * value;
    }
#else
    float wy[3], gy[3];
    int iy;
    kf_spline(y, a->height_inverse[1], a->height_origin[1], a->height_nodes[1], &iy, wy, gy);
    KF_UNROLL
    for (int k = 0; k < 3; k++)
        KF_UNROLL
    for (int l = 0; l < 3; l++) {
        const float value = a->heights[(ix + k) * a->height_nodes[1] + iy + l];
        h += wx[k] * wy[l] * value, px += gx[k] * wy[l] * value, py += wx[k] * gy[l] * value;
    }
#endif
    *height = h, *sx = px, *sy = py;
}
/* Finds the terrain's tangent plane near p. The first pass takes it below p, the second at the foot of p
 * on the first plane. */
KF_FUNCTION void kf_terrain(const kf_sph_arguments *a, kf_four p, kf_wall *w) {
    float fx = p.x, fy = p.y;
    KF_UNROLL
    for (int pass = 0; pass < 2; pass++) {
        float h, sx, sy;
        kf_height(a, fx, fy, &h, &sx, &sy);
        const float inverse = 1.0f / sqrtf(1.0f + sx * sx + sy * sy);
#if KF_DIMENSIONS == 2
        w->nx = -sx * inverse, w->ny = inverse, w->nz = 0.0f;
        w->distance = (p.x - fx) * w->nx + (p.y - h) * w->ny;
        fx = p.x - w->distance * w->nx;
#else
        w->nx = -sx * inverse, w->ny = -sy * inverse, w->nz = inverse;
        w->distance = (p.x - fx) * w->nx + (p.y - fy) * w->ny + (p.z - h) * w->nz;
        fx = p.x - w->distance * w->nx, fy = p.y - w->distance * w->ny;
#endif
    }
    w->vx = w->vy = w->vz = w->slip = 0.0f;
}
#endif

#define KF_WALLS (a->plane_count + KF_TERRAIN)

/* Returns wall k of KF_WALLS as p sees it. The result is 0 if the wall is out of reach. */
KF_FUNCTION int kf_wall_at(const kf_sph_arguments *a, kf_four p, int k, kf_wall *w) {
    if (k < a->plane_count) {
        const kf_sph_plane *plane = &a->planes[k];
        w->nx = plane->normal[0], w->ny = plane->normal[1], w->nz = plane->normal[2];
        w->distance = w->nx * p.x + w->ny * p.y + w->nz * p.z - plane->offset;
        w->vx = plane->velocity[0], w->vy = plane->velocity[1], w->vz = plane->velocity[2];
        w->slip = plane->slip;
    }
#if KF_TERRAIN
    else
        kf_terrain(a, p, w);
#endif
    const float d = fmaxf(w->distance, KF_CLOSEST_WALL);
    if (d >= a->support) return 0;
    const float at = d * a->inverse_support * (float)(KF_SPH_TABLE - 1);
    const int i = kf_within((int)at, 0, KF_SPH_TABLE - 2);
    const float t = at - (float)i;
    const float *table = a->wall_table + 3 * i;
    w->gradient = table[0] + t * (table[3] - table[0]);
    w->moment = table[1] + t * (table[4] - table[1]);
    w->along = table[2] + t * (table[5] - table[2]);
    return 1;
}

#endif
