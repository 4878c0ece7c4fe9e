/* The viscous term at a face of the staggered grid: the sum of the velocity's differences to its six
 * neighbours. Walls and the solid's surface stand for a neighbour that they separate from the face. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_VISCOUS_H
#define KF_KERNELS_INCOMPRESSIBLE_VISCOUS_H

#include "grid.h"

/* The Laplacian is around - links u + wall - wall_links u. The last two terms are the solid's part. */
typedef struct kf_friction {
    kf_real around, links, wall, wall_links;
} kf_friction;

/* A surface nearer than this share of a cell counts as being this far away, which bounds the friction. */
#define KF_NEAREST KF_R(0.25)

/* Returns the height of a face over the solid in cells, as the mean of its two cells' heights. The cells'
 * depths are added as integers, so that the height of a face on the surface is exactly 0. A contracted
 * product and sum would miss it. */
KF_FUNCTION kf_real kf_face_height(const kf_grid *a, int below, kf_index k) {
    const int depths = (int)(a->open[k] >> 24) + (int)(a->open[k + below] >> 24);
    return KF_R(256 - depths) * KF_R(0.5 / KF_DEPTH);
}

/* Returns the distance from neighbour i of a face, across the faces c, to the cell below it. It is that of
 * the face itself, `lower`, but along c, where a periodic face may lie between. */
KF_FUNCTION int kf_lower_of(const kf_grid *a, int c, int i, const int at[3], const int stride[3], int lower) {
    if (i / 2 != c) return lower;
    return i % 2 ? kf_below_above(a, c, at[c], stride[c]) : kf_below_below(a, c, at[c], stride[c]);
}

KF_FUNCTION kf_friction kf_friction_of(const kf_grid *a, const kf_real *u, int c, int x, int y, int z,
                                       kf_index k) {
    kf_friction f = {KF_R(0), KF_R(0), KF_R(0), KF_R(0)};
    const int stride[3] = {1, a->row, a->plane}, at[3] = {x, y, z};
#if KF_SOLID
    const int lower = kf_below(a, c, at[c], stride[c]);
    const kf_real height = kf_most_of(kf_face_height(a, lower, k), KF_R(0.02));
    const kf_real solid = kf_solid_velocity_at(a, c, x, y, z);
#endif
#if KF_CUDA
    KF_UNROLL
    for (int i = 0; i < 6; i++) {
        const int axis = i / 2, up = i % 2, last = a->cells[axis] - 1 + (axis == c);
        const int outside = !kf_is_periodic(a, axis) && at[axis] == (up ? last : 0);
        if (outside) {
            const int fixed = axis != c && a->faces[i] == KF_FACE_FIXED;
            f.around += fixed ? KF_R(2 * a->face_velocity[i][c]) : KF_R(0);
            f.links += fixed ? KF_R(2) : KF_R(0);
        } else {
            const kf_index to = k + (up ? kf_above(a, axis, at[axis], stride[axis])
                                        : kf_below(a, axis, at[axis], stride[axis]));
#if KF_SOLID
            const kf_real there = kf_face_height(a, kf_lower_of(a, c, i, at, stride, lower), to);
            if (there <= KF_R(0)) {
                const kf_real link = KF_R(1) / kf_most_of(height / (height - there), KF_NEAREST);
                f.wall += link * solid;
                f.wall_links += link;
                continue;
            }
#endif
            f.around += u[to];
            f.links += KF_R(1);
        }
    }
#else
    /* These are the same sums, with factors 0 and 1 for conditions that are the same along a row
     * (kf_same). */
    KF_UNROLL
    for (int i = 0; i < 6; i++) {
        const int axis = i / 2, up = i % 2, last = a->cells[axis] - 1 + (axis == c);
        const kf_real outside = KF_R(!kf_is_periodic(a, axis)) * kf_same(at[axis], up ? last : 0),
                      fixed = outside * KF_R(axis != c && a->faces[i] == KF_FACE_FIXED);
        /* Outside lies the face itself: a factor of 0 does not undo a NaN. */
        const kf_index to = k + (1 - (int)outside) * (up ? kf_above(a, axis, at[axis], stride[axis])
                                                         : kf_below(a, axis, at[axis], stride[axis]));
        kf_real open = KF_R(1) - outside;
#if KF_SOLID
        const kf_real there = kf_face_height(a, kf_lower_of(a, c, i, at, stride, lower), to);
        const kf_real link =
            there <= KF_R(0) ? open / kf_most_of(height / (height - there), KF_NEAREST) : KF_R(0);
        f.wall += link * solid;
        f.wall_links += link;
        open = there <= KF_R(0) ? KF_R(0) : open;
#endif
        f.around += open * u[to] + fixed * KF_R(2 * a->face_velocity[i][c]);
        f.links += open + KF_R(2) * fixed;
    }
#endif
    return f;
}

/* Returns `value` after the viscous term of u has acted for the sub-step. The solid's part is implicit,
 * with the velocity at the end of the sub-step. */
KF_FUNCTION kf_real kf_diffused(const kf_grid *a, const kf_real *u, int c, int x, int y, int z, kf_index k,
                                kf_real value) {
    const kf_friction f = kf_friction_of(a, u, c, x, y, z, k);
    const kf_real time = KF_R(a->viscosity * a->duration);
    return (value + time * (f.around - f.links * u[k] + f.wall)) / (KF_R(1) + time * f.wall_links);
}

#endif
