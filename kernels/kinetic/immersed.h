/* The parts that all variants of the immersed boundary share: a sample's cell with the eight weights of
 * the 2x2x2 hat kernel, the velocity of the surface, and the penalty force. Defines: KF_MOVING, KF_WRAP
 * (sample.h). */
#ifndef KF_KERNELS_KINETIC_IMMERSED_H
#define KF_KERNELS_KINETIC_IMMERSED_H

#include "sample.h"

typedef struct kf_sample {
    kf_sample_cell cell;
    kf_index corner;
#if KF_WRAP
    kf_index step[3]; /* from the corner to the cell's next node along each axis */
#endif
    kf_real area;
    kf_real bx, by, bz; /* velocity of the surface at the sample */
} kf_sample;

#if KF_WRAP
#define KF_CELL_NODE(sample, dx, dy, dz)                                                                     \
    ((sample).corner + ((dx) ? (sample).step[0] : 0) + ((dy) ? (sample).step[1] : 0) +                       \
     ((dz) ? (sample).step[2] : 0))
/* Sets the steps to the other nodes of the cell whose corner is node (x, y, z) of the domain. */
KF_FUNCTION void kf_set_steps(const kf_module_arguments *a, int x, int y, int z, kf_sample *sample) {
    sample->step[0] = kf_offset(a, x == a->grid.nodes[0] - 1 ? -x : 1, 0, 0);
#if KF_CUT_Y
    (void)y;
    sample->step[1] = kf_offset(a, 0, 1, 0);
#else
    sample->step[1] = kf_offset(a, 0, y == a->grid.nodes[1] - 1 ? -y : 1, 0);
#endif
    sample->step[2] = kf_offset(a, 0, 0, z == a->grid.nodes[2] - 1 ? -z : 1);
}
/* Returns the distance along an axis to the nearest image of a point in the periodic domain. */
KF_FUNCTION double kf_nearest(int axis, double distance, int nodes) {
    return KF_WRAPS(axis) ? distance - nodes * floor(distance / nodes + 0.5) : distance;
}
#else
#define KF_CELL_NODE(sample, dx, dy, dz)  ((sample).corner + kf_offset(a, dx, dy, dz))
#define kf_nearest(axis, distance, nodes) (distance)
#endif

#if KF_MOVING
/* A sample as it is stored, and its present position. */
KF_FUNCTION kf_real4 kf_moving_sample(const kf_module_arguments *a, int s) {
    kf_real4 kept;
    kept.x = ((const kf_real *)a->samples.x)[s];
    kept.y = ((const kf_real *)a->samples.y)[s];
    kept.z = ((const kf_real *)a->samples.z)[s];
    kept.w = ((const kf_real *)a->samples.area)[s];
    return kept;
}
/* Returns a moving solid's sample, which is stored in the solid's axes, at the place that the pose gives
 * it. The result has its cell and weights, the cell's first node, and the surface's velocity v + w x r in
 * cells a step. */
KF_FUNCTION kf_sample kf_place_sample(const kf_module_arguments *a, const kf_pose *pose, kf_real4 kept) {
    kf_sample sample;
    sample.area = kept.w;
    sample.cell = kf_place_moving(pose, a->grid.nodes, (double)kept.x, (double)kept.y, (double)kept.z);
    const int hx = kf_home(0, sample.cell.x, a->grid.nodes[0]), hy = kf_sample_row(a, sample.cell.y),
              hz = kf_home(2, sample.cell.z, a->grid.nodes[2]);
    sample.corner = kf_node(a, hx, hy, hz);
#if KF_WRAP
    kf_set_steps(a, hx, hy, hz, &sample);
#endif
    const double *w = pose->angular_velocity, *v = pose->velocity;
    sample.bx = (kf_real)v[0] + (kf_real)w[1] * sample.cell.rz - (kf_real)w[2] * sample.cell.ry;
    sample.by = (kf_real)v[1] + (kf_real)w[2] * sample.cell.rx - (kf_real)w[0] * sample.cell.rz;
    sample.bz = (kf_real)v[2] + (kf_real)w[0] * sample.cell.ry - (kf_real)w[1] * sample.cell.rx;
    return sample;
}
#endif

/* Expands X(dx, dy, dz) for the eight nodes of a cell, and gives each its hat weight. */
#define KF_CELL_NODES(X)                                                                                     \
    X(0, 0, 0) X(1, 0, 0) X(0, 1, 0) X(1, 1, 0) X(0, 0, 1) X(1, 0, 1) X(0, 1, 1) X(1, 1, 1)
#define KF_HAT(d, fraction)           ((d) ? (fraction) : KF_R(1.0) - (fraction))
#define KF_CELL_WEIGHT(c, dx, dy, dz) (KF_HAT(dx, (c).fx) * KF_HAT(dy, (c).fy) * KF_HAT(dz, (c).fz))

/* Returns whether the part computes the force of the nodes in a plane. */
KF_FUNCTION int kf_has_forces(const kf_module_arguments *a, int z) {
#if KF_TEAM
    const int low = a->part.first_plane - a->part.reach,
              high = a->part.first_plane + a->part.planes - 1 + a->part.reach, nz = a->grid.nodes[2];
    for (int shift = KF_WRAPS(2) ? -nz : 0; shift <= (KF_WRAPS(2) ? nz : 0); shift += nz)
        if (z + shift >= low && z + shift <= high) return 1;
    return 0;
#else
    (void)a, (void)z;
    return 1;
#endif
}

/* Returns whether the sample's cell has a node whose force the part computes. */
KF_FUNCTION int kf_is_near(const kf_module_arguments *a, const kf_sample *sample) {
#if KF_TEAM && KF_MOVING
    const int nz = a->grid.nodes[2];
#if KF_CUT_Y
    const int y = kf_sample_row(a, sample->cell.y);
    if (y + 1 < a->part.first_row - a->part.reach || y > a->part.first_row + a->part.rows - 1 + a->part.reach)
        return 0;
#endif
    return kf_has_forces(a, kf_home(2, sample->cell.z, nz)) ||
           kf_has_forces(a, kf_home(2, sample->cell.z + 1, nz));
#else
    (void)a, (void)sample;
    return 1;
#endif
}

KF_FUNCTION kf_real4 kf_penalty(const kf_sample *sample, kf_real density, kf_real ux, kf_real uy,
                                kf_real uz) {
    const kf_real strength = KF_R(2.0) * density * sample->area;
    kf_real4 g;
    g.x = strength * (sample->bx - ux);
    g.y = strength * (sample->by - uy);
    g.z = strength * (sample->bz - uz);
    g.w = KF_R(0.0);
    return g;
}

#if KF_STORAGE == KF_F64_STORAGE
#define kf_atomic_add_real kf_atomic_add_double
#else
#define kf_atomic_add_real kf_atomic_add_float
#endif

#endif
