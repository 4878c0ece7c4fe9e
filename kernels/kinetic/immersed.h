/* The parts of the immersed boundary that all its variants share: a sample's cell with the eight weights
 * of the 2x2x2 hat kernel, the velocity of the surface, the penalty force, and the sums over the solid.
 * Defines: KF_MOVING, KF_WRAP (sample.h), KF_FREE 0|1. */
#ifndef KF_KERNELS_KINETIC_IMMERSED_H
#define KF_KERNELS_KINETIC_IMMERSED_H

#include "sample.h"
#if KF_FREE
#include "body.h"
#endif

typedef struct kf_sample {
    kf_sample_cell cell;
    kf_index corner;
#if KF_WRAP
    kf_index step[3]; /* from the corner to the cell's next node along each axis */
#endif
    kf_real area;
    kf_real bx, by, bz; /* velocity of the surface here */
} kf_sample;

#if KF_WRAP
#define KF_CELL_NODE(sample, dx, dy, dz)                                                                     \
    ((sample).corner + ((dx) ? (sample).step[0] : 0) + ((dy) ? (sample).step[1] : 0) +                       \
     ((dz) ? (sample).step[2] : 0))
/* Steps of the cell whose corner is the node (x, y, z) of the domain. */
KF_FUNCTION void kf_set_steps(const kf_kinetic_arguments *a, int x, int y, int z, kf_sample *sample) {
    sample->step[0] = kf_offset(a, x == a->nodes[0] - 1 ? -x : 1, 0, 0);
#if KF_CUT_Y
    (void)y;
    sample->step[1] = kf_offset(a, 0, 1, 0);
#else
    sample->step[1] = kf_offset(a, 0, y == a->nodes[1] - 1 ? -y : 1, 0);
#endif
    sample->step[2] = kf_offset(a, 0, 0, z == a->nodes[2] - 1 ? -z : 1);
}
/* A distance along an axis to the nearest image of a point in the periodic domain. */
KF_FUNCTION double kf_nearest(int axis, double distance, int nodes) {
    return KF_WRAPS(axis) ? distance - nodes * floor(distance / nodes + 0.5) : distance;
}
#else
#define KF_CELL_NODE(sample, dx, dy, dz)  ((sample).corner + kf_offset(a, dx, dy, dz))
#define kf_nearest(axis, distance, nodes) (distance)
#endif

#if KF_MOVING
/* A sample as it is kept, and where it is now. */
KF_FUNCTION kf_real4 kf_moving_sample(const kf_kinetic_arguments *a, int s) {
    kf_real4 kept;
    kept.x = ((const kf_real *)a->sample_x)[s];
    kept.y = ((const kf_real *)a->sample_y)[s];
    kept.z = ((const kf_real *)a->sample_z)[s];
    kept.w = ((const kf_real *)a->sample_area)[s];
    return kept;
}
/* Returns a moving solid's sample, kept in the solid's axes, where the pose puts it: its cell and weights,
 * the cell's first node, and the surface's velocity v + w x r, in cells a step. */
KF_FUNCTION kf_sample kf_place_sample(const kf_kinetic_arguments *a, const kf_pose *pose, kf_real4 kept) {
    kf_sample sample;
    sample.area = kept.w;
    sample.cell = kf_place_moving(pose, a->nodes, (double)kept.x, (double)kept.y, (double)kept.z);
    const int hx = kf_home(0, sample.cell.x, a->nodes[0]), hy = kf_sample_row(a, sample.cell.y),
              hz = kf_home(2, sample.cell.z, a->nodes[2]);
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

/* Loads sample s. The arm of a static sample costs divisions, so only who needs it asks for it (with_arm). */
KF_FUNCTION kf_sample kf_load_sample(const kf_kinetic_arguments *a, int s, int with_arm) {
#if KF_MOVING
    (void)with_arm;
    return kf_place_sample(a, (const kf_pose *)a->pose, kf_moving_sample(a, s));
#else
    kf_sample sample;
    const kf_real *xs = (const kf_real *)a->sample_x, *ys = (const kf_real *)a->sample_y,
                  *zs = (const kf_real *)a->sample_z;
    sample.area = ((const kf_real *)a->sample_area)[s];
    sample.corner = ((const kf_index *)a->sample_corner)[s];
    sample.cell.fx = xs[s];
    sample.cell.fy = ys[s];
    sample.cell.fz = zs[s];
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    if (with_arm || KF_WRAP) {
        const double *center = ((const kf_pose *)a->pose)->center;
        kf_position(a, sample.corner, &sample.cell.x, &sample.cell.y, &sample.cell.z);
        sample.cell.y = kf_home_row(a, sample.cell.y);
        const double rx = sample.cell.x + (double)sample.cell.fx - center[0],
                     ry = sample.cell.y + (double)sample.cell.fy - center[1],
                     rz = sample.cell.z + (double)sample.cell.fz - center[2];
        sample.cell.rx = (kf_real)kf_nearest(0, rx, a->nodes[0]);
        sample.cell.ry = (kf_real)kf_nearest(1, ry, a->nodes[1]);
        sample.cell.rz = (kf_real)kf_nearest(2, rz, a->nodes[2]);
#if KF_WRAP
        kf_set_steps(a, sample.cell.x, sample.cell.y, sample.cell.z, &sample);
#endif
    }
    return sample;
#endif
}

/* X(dx, dy, dz) for the eight nodes of a cell, and the hat weight of each. */
#define KF_CELL_NODES(X)                                                                                     \
    X(0, 0, 0) X(1, 0, 0) X(0, 1, 0) X(1, 1, 0) X(0, 0, 1) X(1, 0, 1) X(0, 1, 1) X(1, 1, 1)
#define KF_HAT(d, fraction)           ((d) ? (fraction) : KF_R(1.0) - (fraction))
#define KF_CELL_WEIGHT(c, dx, dy, dz) (KF_HAT(dx, (c).fx) * KF_HAT(dy, (c).fy) * KF_HAT(dz, (c).fz))

/* Returns whether the sample's cell has a node whose force the part works out. */
KF_FUNCTION int kf_is_near(const kf_kinetic_arguments *a, const kf_sample *sample) {
#if KF_TEAM && KF_MOVING
    const int low = a->first_plane - a->reach, high = a->first_plane + a->planes - 1 + a->reach,
              nz = a->nodes[2];
    const int z = kf_home(2, sample->cell.z, nz), above = kf_home(2, sample->cell.z + 1, nz);
#if KF_CUT_Y
    const int y = kf_sample_row(a, sample->cell.y);
    if (y + 1 < a->first_row - a->reach || y > a->first_row + a->rows - 1 + a->reach) return 0;
#endif
    for (int shift = KF_WRAPS(2) ? -nz : 0; shift <= (KF_WRAPS(2) ? nz : 0); shift += nz)
        if ((z + shift >= low && z + shift <= high) || (above + shift >= low && above + shift <= high))
            return 1;
    return 0;
#else
    (void)a, (void)sample;
    return 1;
#endif
}

/* The sums of the step before make room for this step's. */
KF_FUNCTION void kf_clear_load(const kf_kinetic_arguments *a, int item) {
    for (int i = item; i < KF_LOAD_SUMS * KF_LOAD_SLOTS; i += a->extent[0])
        a->load_sums[i] = 0;
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

/* Fixed-point sums do not depend on the order of the additions, nor on who adds what: what is reproducible
 * stays so, and a team's is one device's. Rounded to the nearest, which leaves no bias. */
KF_FUNCTION void kf_add_load(const kf_kinetic_arguments *a, int item, const kf_int64 *load) {
    kf_int64 *slot = (kf_int64 *)a->load_sums + KF_LOAD_SUMS * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        if (i < KF_LOAD_SUMS - 1 || load[i] != 0) kf_atomic_add_int64(slot + i, load[i]);
}
KF_FUNCTION kf_int64 kf_fixed_point(double value, double scale) {
    return (kf_int64)floor(value * scale + 0.5);
}
KF_FUNCTION void kf_accumulate_load(kf_int64 *load, double gx, double gy, double gz, double rx, double ry,
                                    double rz) {
    if (!(fabs(gx) + fabs(gy) + fabs(gz) < KF_FORCE_LIMIT)) { /* as fixed point it would look like a force */
        load[KF_LOAD_SUMS - 1]++;
        return;
    }
    load[0] -= kf_fixed_point(gx, KF_FORCE_SCALE);
    load[1] -= kf_fixed_point(gy, KF_FORCE_SCALE);
    load[2] -= kf_fixed_point(gz, KF_FORCE_SCALE);
    load[3] -= kf_fixed_point(ry * gz - rz * gy, KF_TORQUE_SCALE);
    load[4] -= kf_fixed_point(rz * gx - rx * gz, KF_TORQUE_SCALE);
    load[5] -= kf_fixed_point(rx * gy - ry * gx, KF_TORQUE_SCALE);
}

#if KF_FREE
/* Returns whether a sample lies beyond the outermost nodes between faces. */
KF_FUNCTION int kf_has_left(const kf_kinetic_arguments *a, const kf_sample_cell *cell) {
    const kf_real least = KF_R(0.0), most = KF_R(1.0);
    return (!KF_WRAPS(0) && (cell->fx < least || cell->fx > most)) ||
           (!KF_WRAPS(1) && (cell->fy < least || cell->fy > most)) ||
           (!KF_WRAPS(2) && (cell->fz < least || cell->fz > most));
}

/* The sums that the samples of an item add to the solid's equations of motion (body.h), and how many of
 * them have left the domain. */
typedef struct kf_body_share {
    kf_int64 sums[KF_BODY_SUMS];
    int left;
} kf_body_share;
KF_FUNCTION kf_body_share kf_no_body_share(void) {
    kf_body_share share;
    for (int i = 0; i < KF_BODY_SUMS; i++)
        share.sums[i] = 0;
    share.left = 0;
    return share;
}
KF_FUNCTION void kf_add_sample_to_body(const kf_kinetic_arguments *a, const kf_sample *sample,
                                       kf_body_share *share, double density, double ux, double uy,
                                       double uz) {
    const double per_radius = 1.0 / ((const kf_pose *)a->pose)->radius;
    double one[KF_BODY_SUMS];
    for (int i = 0; i < KF_BODY_SUMS; i++)
        one[i] = 0.0;
    kf_add_to_body(one, 2.0 * density * (double)sample->area, per_radius * (double)sample->cell.rx,
                   per_radius * (double)sample->cell.ry, per_radius * (double)sample->cell.rz, ux, uy, uz);
    for (int i = 0; i < KF_BODY_SUMS; i++)
        share->sums[i] += (kf_int64)floor(one[i] * KF_BODY_SCALE + 0.5); /* without a bias */
    share->left += kf_has_left(a, &sample->cell);
}
KF_FUNCTION void kf_add_body_share(const kf_kinetic_arguments *a, int item, const kf_body_share *share) {
    kf_int64 *slot = (kf_int64 *)a->body_sums + KF_BODY_SUMS * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < KF_BODY_SUMS; i++)
        kf_atomic_add_int64(slot + i, share->sums[i]);
    if (share->left != 0)
        kf_atomic_add_int64((kf_int64 *)a->body_sums + KF_BODY_SUMS * KF_LOAD_SLOTS, share->left);
}
#endif

#endif
