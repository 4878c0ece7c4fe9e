/* Collisions on 19 velocities: ACM-MRT with one rate for the orders 3 and 4 (the form low_order of 27
 * velocities, low_order.h), and BGK, in which all orders have that rate. */
#ifndef KF_KERNELS_KINETIC_COLLISION_19_H
#define KF_KERNELS_KINETIC_COLLISION_19_H

#if KF_COLLISION != KF_BGK_COLLISION &&                                                                      \
    (KF_COLLISION != KF_ACM_MRT_COLLISION || !KF_IS_ONE_RATE(KF_RATE_RULE) ||                                \
     KF_BASIS != KF_HERMITE_BASIS || KF_FORM != KF_LOW_ORDER_FORM)
#error "19 velocities take BGK, or ACM-MRT in the form low_order"
#endif

/* 19 velocities are unstable with rates near 2, and adaptive_2020 gives 1.96 and more (docs/physics.md). */
#if KF_COLLISION == KF_ACM_MRT_COLLISION && KF_RATE_RULE == KF_ADAPTIVE_2020_RATES
#define KF_RATE_19(forced) KF_R(KF_LARGEST_RATE_19)
#else
#define KF_RATE_19(forced) KF_LOW_ORDER_RATE(forced)
#endif

/* Declares the central moments k_.. of order 2, less those at rest, from what KF_MOMENTUM declares. */
#if KF_COLLISION == KF_BGK_COLLISION
#define KF_ORDER_2_19(forced)                                                                                \
    const kf_real rate = KF_PARAMETER(a, shear_rate), keep = KF_R(1.0) - rate;                               \
    const kf_real a_xx = KF_R(0.0), a_yy = KF_R(0.0), a_zz = KF_R(0.0), a_xy = KF_R(0.0), a_xz = KF_R(0.0),  \
                  a_yz = KF_R(0.0);
#else
#define KF_ORDER_2_19(forced)                                                                                \
    KF_SECOND_MOMENTS                                                                                        \
    const kf_real density = KF_R(KF_UNIT) + deviation, omega = KF_PARAMETER(a, shear_rate);                  \
    const kf_real half_x = (forced) ? KF_R(0.5) * Fx : KF_R(0.0),                                            \
                  half_y = (forced) ? KF_R(0.5) * Fy : KF_R(0.0),                                            \
                  half_z = (forced) ? KF_R(0.5) * Fz : KF_R(0.0);                                            \
    const kf_real k_xx = pi_xx - ux * (jx - half_x), k_yy = pi_yy - uy * (jy - half_y),                      \
                  k_zz = pi_zz - uz * (jz - half_z);                                                         \
    const kf_real k_xy = pi_xy - (uy * jx - ux * half_y), k_xz = pi_xz - (uz * jx - ux * half_z),            \
                  k_yz = pi_yz - (uz * jy - uy * half_z);                                                    \
    const kf_real rate = KF_RATE_19(forced), keep = KF_R(1.0) - rate;                                        \
    const kf_real quarter = KF_R(0.25) * (rate - omega), trace = ((k_xx + k_yy) + k_zz) - deviation;         \
    const kf_real d_y = quarter * (k_xx - k_yy), d_z = quarter * (k_xx - k_zz);                              \
    const kf_real a_xx = KF_R(1.0 / 3.0) * ((d_y + d_z) - KF_R(0.25) * keep * trace), a_yy = a_xx - d_y,     \
                  a_zz = a_xx - d_z;                                                                         \
    const kf_real a_xy = quarter * k_xy, a_xz = quarter * k_xz, a_yz = quarter * k_yz;
#endif
#define KF_COLLIDE_19(forced)                                                                                \
    do {                                                                                                     \
        KF_ORDER_2_19(forced)                                                                                \
        const kf_real source = KF_R(0.25) - KF_R(0.125) * rate;                                              \
        const kf_real q_x = (forced) ? source * Fx : KF_R(0.0), q_y = (forced) ? source * Fy : KF_R(0.0),    \
                      q_z = (forced) ? source * Fz : KF_R(0.0);                                              \
        (void)source, (void)keep;                                                                            \
        KF_REBUILD_19(keep, rate, rate *deviation)                                                           \
    } while (0)

#endif
