/* ACM-MRT with one rate for the orders 3 to 6, without computing their moments (KF_FORM 3). In the basis
 * hermite the collision multiplies the moments of these orders by 1 - rate. So it does the same to each
 * population's share of them: f* = (1 - rate) f + g, where g has no central-Hermite moment above order 2.
 * Only the moments of f up to order 2 are needed, and g is built from them axis by axis. With a_2 = k*_2 -
 * (1 - rate) k_2 (central-Hermite moments of order 2, after and before the collision) and the force's F (1
 * - rate / 2),
 *
 *     g = rate rho Ex Ey Ez + F . grad_u(Ex Ey Ez) (1 - rate / 2) + sum a_2 of the second derivatives,
 *
 * where Ex, Ey, Ez are the factors of the product equilibrium. In this basis the force vector R adds
 * nothing to the higher orders. The collision is the same as in the factorised form, with 40 % fewer
 * operations. */
#ifndef KF_KERNELS_KINETIC_LOW_ORDER_H
#define KF_KERNELS_KINETIC_LOW_ORDER_H

#if !KF_IS_ONE_RATE(KF_RATE_RULE) || KF_BASIS != KF_HERMITE_BASIS
#error "the form low_order needs one rate for the orders 3 to 6 and the basis hermite"
#endif

/* Computes a line of populations z, p, m from the central moments m0, 2 half1, 2 half2 about the velocity
 * 2 half_u, as KF_LINE_FROM_MOMENTS does. full is m0 with its part at rest. */
#define KF_LINE_FROM_HALVES(z, p, m, m0, full, half1, half2, half_u)                                         \
    const kf_real first_##z = (half1) + (half_u) * (full);                                                   \
    const kf_real second_##z = (half2) + KF_R(2.0) * (half_u) * ((half1) + first_##z);                       \
    const kf_real z = kf_less_twice(m0, second_##z), p = second_##z + first_##z, m = second_##z - first_##z;

/* Declares the equilibrium's factor along one axis, and its derivative by the velocity. */
#define KF_DECLARE_FACTORS(axis, u)                                                                          \
    const kf_real half_##axis = KF_R(0.5) * (u), even_##axis = KF_R(1.0 / 6.0) + half_##axis * (u);          \
    const kf_real E##axis##z = KF_R(1.0) - KF_R(2.0) * even_##axis, E##axis##p = even_##axis + half_##axis,  \
                  E##axis##m = even_##axis - half_##axis;

#if KF_RATE_RULE == KF_ONES_RATES /* with rate 1, `keep` is 0 */
#define KF_WITH_KEPT(g, f) (g)
#else
#define KF_WITH_KEPT(g, f) ((g) + keep * (f))
#endif

/* Computes the three populations at (cx, cy). The moments along z are P, Q, R. The first and second are
 * halved. */
#define KF_LOW_ORDER_Z(X, Y, rest)                                                                           \
    {                                                                                                        \
        const kf_real half2 = Rx * Ey##Y + sixth * P##Y;                                                     \
        KF_LINE_FROM_HALVES(gz, gp, gm, P##Y, P##Y + (rest), Q##Y, half2, half_z)                            \
        f_##X##Y##z = KF_WITH_KEPT(gz, f_##X##Y##z);                                                         \
        f_##X##Y##p = KF_WITH_KEPT(gp, f_##X##Y##p);                                                         \
        f_##X##Y##m = KF_WITH_KEPT(gm, f_##X##Y##m);                                                         \
    }
/* Computes the nine populations at cx, whose factor has the derivative dx. */
#define KF_LOW_ORDER_YZ(X, dx, rest_line, rest_z, rest_pm, forced)                                           \
    {                                                                                                        \
        const kf_real Rx = half_zz * Ex##X;                                                                  \
        const kf_real half_first = (forced) ? half_xy * (dx) + force_y * Ex##X : half_xy * (dx);             \
        KF_LINE_FROM_HALVES(Pz, Pp, Pm, T##X, T##X + (rest_line), half_first,                                \
                            half_yy * Ex##X + sixth * T##X, half_y)                                          \
        const kf_real moment = (forced) ? half_xz * (dx) + force_z * Ex##X : half_xz * (dx);                 \
        KF_LINE_FROM_HALVES(Qz, Qp, Qm, moment, moment, quarter_yz *Ex##X, sixth *moment, half_y)            \
        KF_LOW_ORDER_Z(X, z, rest_z)                                                                         \
        KF_LOW_ORDER_Z(X, p, rest_pm)                                                                        \
        KF_LOW_ORDER_Z(X, m, rest_pm)                                                                        \
    }

/* Returns the rate that the orders 3 to 6 share. jx .. jz, pi_.. and k_.. are moments of the streamed
 * populations, and k_.. are about the velocity. */
#define KF_LOW_ORDER_RATE(forced)                                                                            \
    ((forced)                                                                                                \
         ? kf_high_order_rates(a, density, jx + KF_R(0.5) * Fx, jy + KF_R(0.5) * Fy, jz + KF_R(0.5) * Fz,    \
                               kf_second_of(pi_xx + ux * Fx, pi_yy + uy * Fy, pi_zz + uz * Fz,               \
                                            pi_xy + KF_R(0.5) * (ux * Fy + uy * Fx),                         \
                                            pi_xz + KF_R(0.5) * (ux * Fz + uz * Fx),                         \
                                            pi_yz + KF_R(0.5) * (uy * Fz + uz * Fy)),                        \
                               kf_second_of(k_xx, k_yy, k_zz, k_xy, k_xz, k_yz))                             \
         : kf_high_order_rates(a, density, jx, jy, jz,                                                       \
                               kf_second_of(pi_xx, pi_yy, pi_zz, pi_xy, pi_xz, pi_yz),                       \
                               kf_second_of(k_xx, k_yy, k_zz, k_xy, k_xz, k_yz)))                            \
        .three

/* Collides f_*, from what KF_MOMENTUM declares. k_.. are central moments of order 2, less those at rest. */
#define KF_COLLIDE_LOW_ORDER(forced)                                                                         \
    do {                                                                                                     \
        const kf_real pi_xx = (((f_ppp + f_mpp) + (f_pmm + f_mmm)) + ((f_ppm + f_mpm) + (f_pmp + f_mmp))) +  \
                              (((f_ppz + f_mpz) + (f_pmz + f_mmz)) + ((f_pzp + f_mzp) + (f_pzm + f_mzm))) +  \
                              (f_pzz + f_mzz);                                                               \
        const kf_real pi_yy = (row_pz + row_mz) + ((row_pm + row_mm) + (row_pp + row_mp)),                   \
                      pi_zz = plane_p + plane_m;                                                             \
        const kf_real pi_xy = along_p - along_m, pi_yz = (row_pp - row_mp) - (row_pm - row_mm);              \
        const kf_real pi_xz = (((f_ppp - f_mpp) - (f_ppm - f_mpm)) + ((f_pmp - f_mmp) - (f_pmm - f_mmm))) +  \
                              ((f_pzp - f_mzp) - (f_pzm - f_mzm));                                           \
        const kf_real density = KF_R(KF_UNIT) + deviation, omega = KF_PARAMETER(a, shear_rate);              \
        const kf_real k_xx = pi_xx - ux * ((forced) ? jx - KF_R(0.5) * Fx : jx),                             \
                      k_yy = pi_yy - uy * ((forced) ? jy - KF_R(0.5) * Fy : jy),                             \
                      k_zz = pi_zz - uz * ((forced) ? jz - KF_R(0.5) * Fz : jz);                             \
        const kf_real k_xy = pi_xy - ((forced) ? uy * jx - KF_R(0.5) * ux * Fy : uy * jx),                   \
                      k_xz = pi_xz - ((forced) ? uz * jx - KF_R(0.5) * ux * Fz : uz * jx),                   \
                      k_yz = pi_yz - ((forced) ? uz * jy - KF_R(0.5) * uy * Fz : uz * jy);                   \
        const kf_real rate = KF_LOW_ORDER_RATE(forced), keep = KF_R(1.0) - rate;                             \
        const kf_real half = KF_R(0.5) * (rate - omega), sixth = KF_R(1.0 / 6.0);                            \
        const kf_real d_y = half * (k_xx - k_yy), d_z = half * (k_xx - k_zz);                                \
        const kf_real trace = ((k_xx + k_yy) + k_zz) - deviation;                                            \
        const kf_real half_xx = KF_R(1.0 / 3.0) * ((d_y + d_z) - KF_R(0.5) * keep * trace);                  \
        const kf_real half_yy = half_xx - d_y, half_zz = half_xx - d_z;                                      \
        const kf_real half_xy = half * k_xy, half_xz = half * k_xz, quarter_yz = KF_R(0.5) * half * k_yz;    \
        const kf_real half_source = KF_R(0.5) - KF_R(0.25) * rate;                                           \
        const kf_real force_x = half_source * Fx, force_y = half_source * Fy, force_z = half_source * Fz;    \
        (void)force_x, (void)force_y, (void)force_z, (void)keep;                                             \
        KF_DECLARE_FACTORS(x, ux)                                                                            \
        KF_DECLARE_FACTORS(y, uy)                                                                            \
        const kf_real half_z = KF_R(0.5) * uz, rest = KF_R(KF_UNIT) * rate, share = rate * deviation;        \
        KF_LINE_FROM_HALVES(Tz, Tp, Tm, share, rate *density, (forced) ? force_x : KF_R(0.0),                \
                            half_xx + sixth * share, half_x)                                                 \
        KF_LOW_ORDER_YZ(z, KF_R(-2.0) * ux, KF_R(2.0 / 3.0) * rest, KF_R(4.0 / 9.0) * rest,                  \
                        KF_R(1.0 / 9.0) * rest, forced)                                                      \
        KF_LOW_ORDER_YZ(p, ux + KF_R(0.5), KF_R(1.0 / 6.0) * rest, KF_R(1.0 / 9.0) * rest,                   \
                        KF_R(1.0 / 36.0) * rest, forced)                                                     \
        KF_LOW_ORDER_YZ(m, ux - KF_R(0.5), KF_R(1.0 / 6.0) * rest, KF_R(1.0 / 9.0) * rest,                   \
                        KF_R(1.0 / 36.0) * rest, forced)                                                     \
    } while (0)

#endif
