/* Finds the cell and the weights of a sample of the solid's surface. Defines: KF_MOVING 0|1. KF_WRAP: the
 * axes (bits 0 to 2) along which the solid can lie across a periodic face. */
#ifndef KF_KERNELS_KINETIC_SAMPLE_H
#define KF_KERNELS_KINETIC_SAMPLE_H

#include "lattice.h"

/* With KF_SOLIDS there are several solids, and a sample has the pose of its own solid. */
#ifndef KF_SOLIDS
#define KF_SOLIDS 0
#endif
#if KF_SOLIDS
#define KF_POSE_OF(a, s) ((const kf_pose *)(a)->solids.poses + (a)->solids.of[s])
#else
#define KF_POSE_OF(a, s) ((const kf_pose *)(a)->samples.pose)
#endif

typedef struct kf_sample_cell {
    int x, y, z;        /* lower corner of the sample's cell; outside the domain if the cell wraps around */
    kf_real fx, fy, fz; /* position within the cell, 0 .. 1 */
    kf_real rx, ry, rz; /* arm from the solid's centre */
} kf_sample_cell;

#define KF_WRAPS(axis) (KF_WRAP >> (axis)&1)

/* Returns the cell of a position along an axis. A sample on the last node belongs to the last cell, with
 * the fraction 1, so that no sample touches a ghost. */
KF_FUNCTION int kf_cell_of(int axis, double position, int nodes) {
    const int cell = (int)floor(position);
    if (KF_WRAPS(axis)) return cell;
    return cell < 0 ? 0 : cell > nodes - 2 ? nodes - 2 : cell;
}

/* Returns a node's position within the periodic domain. */
KF_FUNCTION int kf_home(int axis, int position, int nodes) {
    if (!KF_WRAPS(axis)) return position;
    const int rest = position % nodes;
    return rest < 0 ? rest + nodes : rest;
}

/* Returns the part's own row for this position. A part that is cut across y stores some rows, which may
 * continue across the periodic face. */
#if KF_CUT_Y
KF_FUNCTION int kf_sample_row(const kf_module_arguments *a, int position) {
    return kf_home(1, position - a->part.rows_before, a->grid.nodes[1]) + a->part.rows_before;
}
#else
#define kf_sample_row(a, position) kf_home(1, position, (a)->grid.nodes[1])
#endif

KF_FUNCTION kf_sample_cell kf_place_moving(const kf_pose *pose, const int *nodes, double x, double y,
                                           double z) {
    const double *r = pose->rotation;
    const double rx = r[0] * x + r[1] * y + r[2] * z, ry = r[3] * x + r[4] * y + r[5] * z,
                 rz = r[6] * x + r[7] * y + r[8] * z;
    const double px = pose->center[0] + rx, py = pose->center[1] + ry, pz = pose->center[2] + rz;
    kf_sample_cell cell;
    cell.x = kf_cell_of(0, px, nodes[0]);
    cell.y = kf_cell_of(1, py, nodes[1]);
    cell.z = kf_cell_of(2, pz, nodes[2]);
    cell.fx = (kf_real)(px - cell.x);
    cell.fy = (kf_real)(py - cell.y);
    cell.fz = (kf_real)(pz - cell.z);
    cell.rx = (kf_real)rx;
    cell.ry = (kf_real)ry;
    cell.rz = (kf_real)rz;
    return cell;
}

#endif
