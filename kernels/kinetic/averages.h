/* Sums over the domain's nodes, for the averages by which the adaptive rate rule divides: density,
 * |momentum| and |second moment|. They are in fixed point, so they do not depend on the order of
 * additions. */
#ifndef KF_KERNELS_KINETIC_AVERAGES_H
#define KF_KERNELS_KINETIC_AVERAGES_H

#include "lattice.h"

/* Adds a node's terms, from its populations after a collision. */
KF_FUNCTION void kf_sum_node(const kf_real populations[KF_VELOCITIES], long long sums[3]) {
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
    KF_MOMENTUM(deviation, jx, jy, jz)
    const kf_real third = KF_R(KF_UNIT / 3.0);
#if KF_VELOCITIES == 19
    KF_SECOND_MOMENTS
    const kf_real xx = pi_xx + third, yy = pi_yy + third, zz = pi_zz + third, xy = pi_xy, xz = pi_xz,
                  yz = pi_yz;
#else
    const kf_real face_x = f_pzz + f_mzz, face_y = f_zpz + f_zmz, face_z = f_zzp + f_zzm;
    const kf_real edge_xy = (f_ppz + f_mmz) + (f_pmz + f_mpz), edge_xz = (f_pzp + f_mzm) + (f_pzm + f_mzp),
                  edge_yz = (f_zpp + f_zmm) + (f_zpm + f_zmp);
    const kf_real corner = ((f_ppp + f_mmm) + (f_ppm + f_mmp)) + ((f_pmp + f_mpm) + (f_pmm + f_mpp));
    const kf_real xx = face_x + edge_xy + edge_xz + corner + third,
                  yy = face_y + edge_xy + edge_yz + corner + third,
                  zz = face_z + edge_xz + edge_yz + corner + third;
    const kf_real xy = ((f_ppz + f_mmz) - (f_pmz + f_mpz)) +
                       (((f_ppp + f_mmm) + (f_ppm + f_mmp)) - ((f_pmp + f_mpm) + (f_pmm + f_mpp)));
    const kf_real xz = ((f_pzp + f_mzm) - (f_pzm + f_mzp)) +
                       (((f_ppp + f_mmm) + (f_pmp + f_mpm)) - ((f_ppm + f_mmp) + (f_pmm + f_mpp)));
    const kf_real yz = ((f_zpp + f_zmm) - (f_zpm + f_zmp)) +
                       (((f_ppp + f_mmm) + (f_pmm + f_mpp)) - ((f_ppm + f_mmp) + (f_pmp + f_mpm)));
#endif
    const kf_real momentum = kf_square_root(jx * jx + jy * jy + jz * jz);
    const kf_real second =
        kf_square_root(xx * xx + yy * yy + zz * zz + KF_R(2.0) * (xy * xy + xz * xz + yz * yz));
    sums[0] += (long long)((double)(KF_R(KF_UNIT) + deviation) * (KF_AVERAGE_SCALE / KF_UNIT));
    sums[1] += (long long)((double)momentum * (KF_AVERAGE_SCALE / KF_UNIT));
    sums[2] += (long long)((double)second * (KF_AVERAGE_SCALE / KF_UNIT));
}

/* Adds an item's sums to the domain's, in the slot for the item's number. */
KF_FUNCTION void kf_add_to_averages(const kf_module_arguments *a, int item, const long long sums[3]) {
    kf_int64 *slot = (kf_int64 *)a->fields.average_sums + 3 * (item % KF_AVERAGE_SLOTS);
    kf_atomic_add_int64_of_warp(slot, (kf_int64)sums[0]);
    kf_atomic_add_int64_of_warp(slot + 1, (kf_int64)sums[1]);
    kf_atomic_add_int64_of_warp(slot + 2, (kf_int64)sums[2]);
}

#endif
