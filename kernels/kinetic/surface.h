/* Reads the solid's surface and sums over it, in modules whose arguments have its samples and the body. A
 * sample (immersed.h) of a static solid follows from its cell and the fractions within it, that of a
 * moving solid from its position at time 0 and the pose. The sums are force and torque, and what the
 * equations of motion of a free solid (body.h) need. Defines: those of immersed.h, KF_FREE 0|1. */
#ifndef KF_KERNELS_KINETIC_SURFACE_H
#define KF_KERNELS_KINETIC_SURFACE_H

#include "immersed.h"
#include "load.h"
#if KF_FREE
#include "body.h"
#endif

/* Loads sample s. The arm of a static sample costs divisions, so it is computed only if with_arm is set. */
KF_FUNCTION kf_sample kf_load_sample(const kf_module_arguments *a, int s, int with_arm) {
#if KF_MOVING
    (void)with_arm;
    return kf_place_sample(a, KF_POSE_OF(a, s), kf_moving_sample(a, s));
#else
    kf_sample sample;
    const kf_real *xs = (const kf_real *)a->samples.x, *ys = (const kf_real *)a->samples.y,
                  *zs = (const kf_real *)a->samples.z;
    sample.area = ((const kf_real *)a->samples.area)[s];
    sample.corner = ((const kf_index *)a->samples.corner)[s];
    sample.cell.fx = xs[s];
    sample.cell.fy = ys[s];
    sample.cell.fz = zs[s];
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    if (with_arm || KF_WRAP) {
        const double *center = ((const kf_pose *)a->samples.pose)->center;
        kf_position(a, sample.corner, &sample.cell.x, &sample.cell.y, &sample.cell.z);
        sample.cell.y = kf_home_row(a, sample.cell.y);
        const double rx = sample.cell.x + (double)sample.cell.fx - center[0],
                     ry = sample.cell.y + (double)sample.cell.fy - center[1],
                     rz = sample.cell.z + (double)sample.cell.fz - center[2];
        sample.cell.rx = (kf_real)kf_nearest(0, rx, a->grid.nodes[0]);
        sample.cell.ry = (kf_real)kf_nearest(1, ry, a->grid.nodes[1]);
        sample.cell.rz = (kf_real)kf_nearest(2, rz, a->grid.nodes[2]);
#if KF_WRAP
        kf_set_steps(a, sample.cell.x, sample.cell.y, sample.cell.z, &sample);
#endif
    }
    return sample;
#endif
}

#if KF_SOLIDS
/* Turns a sample's arm into that from the centre of all solids together. */
KF_FUNCTION void kf_turn_arm_to_all(const kf_module_arguments *a, kf_sample *sample) {
    const double *center = ((const kf_pose *)a->samples.pose)->center;
    const kf_sample_cell *cell = &sample->cell;
    sample->cell.rx = (kf_real)kf_nearest(0, cell->x + (double)cell->fx - center[0], a->grid.nodes[0]);
    sample->cell.ry = (kf_real)kf_nearest(1, cell->y + (double)cell->fy - center[1], a->grid.nodes[1]);
    sample->cell.rz = (kf_real)kf_nearest(2, cell->z + (double)cell->fz - center[2], a->grid.nodes[2]);
}

/* Adds the force g of sample s to the load of its solid, about that solid's centre. If the item continues
 * with sample `next` of the same solid, it keeps its sums. Otherwise they are added to the solid's load. */
KF_FUNCTION void kf_add_to_solid(const kf_module_arguments *a, int item, int s, int next,
                                 const kf_sample_cell *cell, double gx, double gy, double gz,
                                 kf_int64 *load) {
    const int solid = a->solids.of[s];
    kf_accumulate_load(load, gx, gy, gz, (double)cell->rx, (double)cell->ry, (double)cell->rz);
    if (next < a->samples.count && a->solids.of[next] == solid) return;
    kf_add_load_to((kf_int64 *)a->solids.load_sums + (long long)solid * KF_LOAD_SLOTS * KF_LOAD_SUMS, item,
                   load);
    kf_begin_load(load);
}
#endif

#if KF_FREE
/* Defines of a level of nested grids. KF_INNER_SIDES: a bit for each face of the grid that is inside the
 * domain, in the order of kf_face. KF_INNER_ROOM: samples stay this many cells and a half away from the
 * outermost nodes there. */
#ifndef KF_INNER_SIDES
#define KF_INNER_SIDES 0
#define KF_INNER_ROOM  0
#endif

/* Returns whether a sample is beyond the outermost nodes between faces, or too near a side that is no face
 * of the domain. */
KF_FUNCTION int kf_has_left_along(int axis, int cell, kf_real place, int nodes) {
    const int from_low = KF_INNER_SIDES >> 2 * axis & 1, from_high = KF_INNER_SIDES >> (2 * axis + 1) & 1;
    const kf_real before = (kf_real)cell + place, behind = (kf_real)(nodes - 1 - cell) - place;
    if (KF_WRAPS(axis)) return 0;
    return (from_low ? before < KF_R(0.5) + KF_INNER_ROOM : place < KF_R(0.0)) ||
           (from_high ? behind < KF_R(0.5) + KF_INNER_ROOM : place > KF_R(1.0));
}
KF_FUNCTION int kf_has_left(const kf_module_arguments *a, const kf_sample_cell *cell) {
    const int *nodes = a->grid.nodes;
    return kf_has_left_along(0, cell->x, cell->fx, nodes[0]) ||
           kf_has_left_along(1, cell->y, cell->fy, nodes[1]) ||
           kf_has_left_along(2, cell->z, cell->fz, nodes[2]);
}

/* The sums over an item's samples for the solid's equations of motion (body.h), and the number of samples
 * that have left the domain. */
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
KF_FUNCTION void kf_add_sample_to_body(const kf_module_arguments *a, const kf_sample *sample,
                                       kf_body_share *share, double density, double ux, double uy,
                                       double uz) {
    const double per_radius = 1.0 / ((const kf_pose *)a->samples.pose)->radius;
    double one[KF_BODY_SUMS];
    for (int i = 0; i < KF_BODY_SUMS; i++)
        one[i] = 0.0;
    kf_add_to_body(one, 2.0 * density * (double)sample->area, per_radius * (double)sample->cell.rx,
                   per_radius * (double)sample->cell.ry, per_radius * (double)sample->cell.rz, ux, uy, uz);
    for (int i = 0; i < KF_BODY_SUMS; i++)
        share->sums[i] += (kf_int64)floor(one[i] * KF_BODY_SCALE + 0.5); /* rounds without a bias */
    share->left += kf_has_left(a, &sample->cell);
}
KF_FUNCTION void kf_add_body_share(const kf_module_arguments *a, int item, const kf_body_share *share) {
    kf_int64 *slot = (kf_int64 *)a->body.sums + KF_BODY_SUMS * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < KF_BODY_SUMS; i++)
        kf_atomic_add_int64(slot + i, share->sums[i]);
    if (share->left != 0)
        kf_atomic_add_int64((kf_int64 *)a->body.sums + KF_BODY_SUMS * KF_LOAD_SLOTS, share->left);
}
#endif

#endif
