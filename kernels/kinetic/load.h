/* Sums force and torque on the solid, in modules whose arguments have the body. */
#ifndef KF_KERNELS_KINETIC_LOAD_H
#define KF_KERNELS_KINETIC_LOAD_H

#include "lattice.h"

/* Returns the distance along an axis from the centre of a solid by links. KF_SEAMS has a bit for each axis
 * along which the solid crosses a periodic face. There the distance is that of the nearest image. */
#ifdef KF_SEAMS
KF_FUNCTION double kf_from_center(int axis, double distance, int nodes) {
    return KF_SEAMS >> axis & 1 ? distance - nodes * floor(distance / nodes + 0.5) : distance;
}
#else
#define kf_from_center(axis, distance, nodes) distance
#endif

/* Sets the sums of the last step to 0. */
KF_FUNCTION void kf_clear_load(const kf_module_arguments *a, int item) {
    for (int i = item; i < KF_LOAD_SUMS * KF_LOAD_SLOTS; i += a->extent[0])
        a->body.load_sums[i] = 0;
}

/* Sets an item's own sums [KF_LOAD_SUMS] to 0. */
KF_FUNCTION void kf_begin_load(kf_int64 *load) {
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        load[i] = 0;
}

/* Adds an item's sums to the load. Sums in fixed point do not depend on the order of additions, nor on the
 * device that adds. So a reproducible run stays reproducible, and a team's sums equal those of one device.
 * Values are rounded to the nearest integer, which leaves no bias. */
KF_FUNCTION void kf_add_load_to(kf_int64 *sums, int item, const kf_int64 *load) {
    kf_int64 *slot = sums + KF_LOAD_SUMS * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        if (i < KF_LOAD_SUMS - 1 || load[i] != 0) kf_atomic_add_int64(slot + i, load[i]);
}
KF_FUNCTION void kf_add_load(const kf_module_arguments *a, int item, const kf_int64 *load) {
    kf_add_load_to((kf_int64 *)a->body.load_sums, item, load);
}
KF_FUNCTION kf_int64 kf_fixed_point(double value, double scale) {
    return (kf_int64)floor(value * scale + 0.5);
}
KF_FUNCTION void kf_accumulate_load(kf_int64 *load, double gx, double gy, double gz, double rx, double ry,
                                    double rz) {
    /* Converted to fixed point, a diverged value would look like a force. */
    if (!(fabs(gx) + fabs(gy) + fabs(gz) < KF_FORCE_LIMIT)) {
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

#endif
