/* The lattice of 19 velocities (KF_VELOCITIES 19): sums over the populations, and populations from
 * moments.
 *
 * With each of its 19 monomials 1, x, y, z, x^2 .. yz, x^2 y .. y z^2, x^2 y^2, x^2 z^2, y^2 z^2 the
 * lattice has all of its divisors. So central moments of these need no others, and the transform to a
 * moving frame is exact, as on 27 velocities (De Rosis and Coreixas 2020, Phys. Fluids 32, 117101).
 * Populations of 27 velocities turn into those of 19 with the same 19 moments when each corner's
 * population is added to the three edges beside it, subtracted from the three faces, and added to the one
 * at rest. Weights, equilibrium and force are those of 27 velocities, turned in this way.
 *
 * One thing differs. With the weights of 19 velocities the polynomial (y^2 - 1/3) (z^2 - 1/3) is not
 * orthogonal to x^2 - 1/3. With a sixth of x^2 - 1/3 added it is, so the collision relaxes this sum of
 * central moments. Without it high-order rates above 1 are unstable. */
#ifndef KF_KERNELS_KINETIC_LATTICE_19_H
#define KF_KERNELS_KINETIC_LATTICE_19_H

/* Declares the density deviation and the momentum of 19 populations. sum_.. are sums over edges with equal
 * signs, mixed_.. over those with opposite signs. */
#define KF_MOMENTUM(density_deviation, jx, jy, jz)                                                           \
    const kf_real sum_xy = f_ppz + f_mmz, mixed_xy = f_pmz + f_mpz, sum_xz = f_pzp + f_mzm,                  \
                  mixed_xz = f_pzm + f_mzp, sum_yz = f_zpp + f_zmm, mixed_yz = f_zpm + f_zmp;                \
    const kf_real along_xy = f_ppz - f_mmz, across_xy = f_pmz - f_mpz, along_xz = f_pzp - f_mzm,             \
                  across_xz = f_pzm - f_mzp, along_yz = f_zpp - f_zmm, across_yz = f_zpm - f_zmp;            \
    const kf_real face_x = f_pzz + f_mzz, face_y = f_zpz + f_zmz, face_z = f_zzp + f_zzm;                    \
    const kf_real edge_xy = sum_xy + mixed_xy, edge_xz = sum_xz + mixed_xz, edge_yz = sum_yz + mixed_yz;     \
    const kf_real density_deviation =                                                                        \
        ((face_x + face_y) + (face_z + f_zzz)) + ((edge_xy + edge_xz) + edge_yz);                            \
    const kf_real jx = (f_pzz - f_mzz) + ((along_xy + across_xy) + (along_xz + across_xz)),                  \
                  jy = (f_zpz - f_zmz) + ((along_xy - across_xy) + (along_yz + across_yz)),                  \
                  jz = (f_zzp - f_zzm) + ((along_xz - across_xz) + (along_yz - across_yz));

/* Declares the second moments less those at rest, after KF_MOMENTUM. */
#define KF_SECOND_MOMENTS                                                                                    \
    const kf_real pi_xx = face_x + (edge_xy + edge_xz), pi_yy = face_y + (edge_xy + edge_yz),                \
                  pi_zz = face_z + (edge_xz + edge_yz);                                                      \
    const kf_real pi_xy = sum_xy - mixed_xy, pi_xz = sum_xz - mixed_xz, pi_yz = sum_yz - mixed_yz;

/* Replaces f_* by `keep` f + g. The populations g (less those at rest) have the density `rate` + share and
 * no orthogonal central moments above order 2. Their moments of order 1 about the velocity ux, uy, uz are
 * 4 q_x .., those of order 2 are 4 a_xx .. (quarters, because an edge is a quarter of sums of moments).
 * With p_x = 1/3 + ux^2 and the density R the raw moments of (x, y) are
 *
 *     M20 = a_xx + 2 ux q_x + R p_x,   M11 = a_xy + ux q_y + uy (q_x + ux R),
 *     M21 = uy M20 + 2 ux a_xy + q_y p_x,
 *     M22 = p_y M20 + p_x (a_yy + 2 uy q_y) + 4 ux uy a_xy - a_zz / 6. */
#if defined(KF_RATE_RULE) && KF_RATE_RULE == KF_ONES_RATES &&                                                \
    KF_COLLISION == KF_ACM_MRT_COLLISION /* with rate 1, `keep` is 0 */
#define KF_WITH_KEPT_19(f, g) (g)
#else
#define KF_WITH_KEPT_19(f, g) (keep * (f) + (g))
#endif
#define KF_AXIS_19(axis, u)                                                                                  \
    const kf_real square_##axis = (u) * (u), spread_##axis = KF_R(1.0 / 3.0) + square_##axis,                \
                  excess_##axis = a_##axis##axis + KF_R(2.0) * (u)*q_##axis,                                 \
                  normal_##axis = excess_##axis + (third_share + quarter_density * square_##axis),           \
                  full_##axis = normal_##axis + third_rest, first_##axis = q_##axis + (u)*quarter_density;
/* Rebuilds the four edges of a plane, which have the names pp, mm, pm, mp there. */
#define KF_PLANE_19(i, j, l, u, v, pp, mm, pm, mp)                                                           \
    const kf_real twice_##i##j = KF_R(2.0) * a_##i##j;                                                       \
    const kf_real m11_##i##j = a_##i##j + ((u)*q_##j + (v)*first_##i);                                       \
    const kf_real m21_##i##j = (v)*full_##i + ((u)*twice_##i##j + q_##j * spread_##i),                       \
                  m12_##i##j = (u)*full_##j + ((v)*twice_##i##j + q_##i * spread_##j);                       \
    const kf_real m22_##i##j =                                                                               \
        (spread_##j * normal_##i + third_rest * square_##j) +                                                \
        (spread_##i * excess_##j + (KF_R(2.0) * (u) * ((v)*twice_##i##j) - KF_R(1.0 / 6.0) * a_##l##l));     \
    {                                                                                                        \
        const kf_real even = m22_##i##j + m11_##i##j, odd = m21_##i##j + m12_##i##j;                         \
        const kf_real even_mixed = m22_##i##j - m11_##i##j, odd_mixed = m12_##i##j - m21_##i##j;             \
        f_##pp = KF_WITH_KEPT_19(f_##pp, even + odd);                                                        \
        f_##mm = KF_WITH_KEPT_19(f_##mm, even - odd);                                                        \
        f_##pm = KF_WITH_KEPT_19(f_##pm, even_mixed + odd_mixed);                                            \
        f_##mp = KF_WITH_KEPT_19(f_##mp, even_mixed - odd_mixed);                                            \
    }
#define KF_FACES_19(axis, m22_a, m22_b, m12_a, m12_b, p, m)                                                  \
    {                                                                                                        \
        const kf_real even = KF_R(2.0) * (normal_##axis - (m22_a + m22_b)),                                  \
                      odd = KF_R(2.0) * (first_##axis - (m12_a + m12_b));                                    \
        f_##p = KF_WITH_KEPT_19(f_##p, even + odd);                                                          \
        f_##m = KF_WITH_KEPT_19(f_##m, even - odd);                                                          \
    }
#define KF_REBUILD_19(keep, rate, share)                                                                     \
    {                                                                                                        \
        const kf_real third_rest = KF_R(KF_UNIT / 12.0) * (rate), quarter_share = KF_R(0.25) * (share),      \
                      third_share = KF_R(1.0 / 3.0) * quarter_share,                                         \
                      quarter_density = KF_R(3.0) * third_rest + quarter_share;                              \
        KF_AXIS_19(x, ux)                                                                                    \
        KF_AXIS_19(y, uy)                                                                                    \
        KF_AXIS_19(z, uz)                                                                                    \
        KF_PLANE_19(x, y, z, ux, uy, ppz, mmz, pmz, mpz)                                                     \
        KF_PLANE_19(x, z, y, ux, uz, pzp, mzm, pzm, mzp)                                                     \
        KF_PLANE_19(y, z, x, uy, uz, zpp, zmm, zpm, zmp)                                                     \
        KF_FACES_19(x, m22_xy, m22_xz, m12_xy, m12_xz, pzz, mzz)                                             \
        KF_FACES_19(y, m22_xy, m22_yz, m21_xy, m12_yz, zpz, zmz)                                             \
        KF_FACES_19(z, m22_xz, m22_yz, m21_xz, m21_yz, zzp, zzm)                                             \
        f_zzz = KF_WITH_KEPT_19(f_zzz, KF_R(4.0) * ((quarter_share - (normal_x + (normal_y + normal_z))) +   \
                                                    (m22_xy + (m22_xz + m22_yz))));                          \
    }

#endif
