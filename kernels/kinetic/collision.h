/* The collision models. Populations are in the variables f_zzz, f_pzz, ... (lattice.h), as deviations from
 * the state at rest with density 1, which keeps single precision exact to rounding.
 *
 * BGK: f* = f + omega (f_eq - f) + (1 - omega/2) S with the product-form equilibrium f_eq (the discrete
 * Maxwellian on D3Q27) and the source S = F . grad_u f_eq.
 *
 * RM-MRT: raw moments. The shear moments relax with omega. With the rule suga_2015 (Suga, Kuwata,
 * Takashima, Chikasue 2015) the moments are orthogonal polynomials of the velocities and have that paper's
 * rates. Otherwise they are m_abc = sum f cx^a cy^b cz^c, the trace has rate 1, and the orders 3 to 6 have
 * one rate.
 *
 * ACM-MRT: central moments k_abc = sum f (cx-ux)^a (cy-uy)^b (cz-uz)^c by one transform for each axis
 * (factorised central moments, Geier 2009). The inverse transform may have the paper's expanded form
 * instead (expanded.h). The moments relax as k* = (I-L) k + L k_eq + (I-L/2) R. The shear rate follows
 * from the viscosity, and the rates of the orders 3 to 6 from a rule. In the basis hermite the trace has
 * rate 1, and the orders 4 to 6 are central-Hermite moments. In the paper's basis raw the trace has the
 * high-order rate, as far as this is stable with rates near 2 (docs/physics.md).
 *
 * Sources: bases, equilibrium, force vector R (Fei, Luo, Li 2018), kbc and k17 are from the papers.
 * adaptive_2020 and empirical_2019 are reconstructed from second-hand accounts.
 *
 * Defines that a config or scene sets, with values of choices.h: KF_COLLISION, KF_RATE_RULE, KF_BASIS,
 * KF_FORM; and KF_BODY_FORCE 0|1. */
#ifndef KF_KERNELS_KINETIC_COLLISION_H
#define KF_KERNELS_KINETIC_COLLISION_H

#include "lattice.h"

/* Transforms a line of three populations (c = -1, 0, +1) into its central moments of order 0, 1, 2, which
 * replace m, z, p. rest is the line's moment of order 0 at rest, which the stored deviations lack. */
#if KF_COLLISION == KF_RM_MRT_COLLISION /* raw moments are those about the velocity 0 */
#define KF_LINE_TO_MOMENTS(m, z, p, u, rest)                                                                 \
    do {                                                                                                     \
        const kf_real sum = p + m, difference = p - m;                                                       \
        m = sum + z;                                                                                         \
        z = difference;                                                                                      \
        p = sum;                                                                                             \
    } while (0)
#define KF_LINE_FROM_MOMENTS(m, z, p, u, rest)                                                               \
    do {                                                                                                     \
        const kf_real half = KF_R(0.5) * p, raw1 = z;                                                        \
        z = m - p;                                                                                           \
        p = half + KF_R(0.5) * raw1;                                                                         \
        m = half - KF_R(0.5) * raw1;                                                                         \
    } while (0)
#else
#define KF_LINE_TO_MOMENTS(m, z, p, u, rest)                                                                 \
    do {                                                                                                     \
        const kf_real sum = p + m, difference = p - m;                                                       \
        const kf_real order0 = sum + z;                                                                      \
        const kf_real order1 = difference - u * (order0 + KF_R((rest)*KF_UNIT));                             \
        p = sum - u * (difference + order1);                                                                 \
        z = order1;                                                                                          \
        m = order0;                                                                                          \
    } while (0)
#define KF_LINE_FROM_MOMENTS(m, z, p, u, rest)                                                               \
    do {                                                                                                     \
        const kf_real raw1 = z + u * (m + KF_R((rest)*KF_UNIT));                                             \
        const kf_real raw2 = p + u * (z + raw1);                                                             \
        const kf_real half = KF_R(0.5) * raw2;                                                               \
        z = m - raw2;                                                                                        \
        p = half + KF_R(0.5) * raw1;                                                                         \
        m = half - KF_R(0.5) * raw1;                                                                         \
    } while (0)
#endif

/* Transforms all 27 lines, nine along each axis. Afterwards f_<abc> is k_abc, where m, z, p stand for the
 * orders 0, 1, 2. */

#define KF_TO_MOMENTS(ux, uy, uz)                                                                            \
    KF_LINE_TO_MOMENTS(f_mmm, f_zmm, f_pmm, ux, 1.0 / 36.0);                                                 \
    KF_LINE_TO_MOMENTS(f_mmz, f_zmz, f_pmz, ux, 1.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mmp, f_zmp, f_pmp, ux, 1.0 / 36.0);                                                 \
    KF_LINE_TO_MOMENTS(f_mzm, f_zzm, f_pzm, ux, 1.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mzz, f_zzz, f_pzz, ux, 4.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mzp, f_zzp, f_pzp, ux, 1.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mpm, f_zpm, f_ppm, ux, 1.0 / 36.0);                                                 \
    KF_LINE_TO_MOMENTS(f_mpz, f_zpz, f_ppz, ux, 1.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mpp, f_zpp, f_ppp, ux, 1.0 / 36.0);                                                 \
    KF_LINE_TO_MOMENTS(f_mmm, f_mzm, f_mpm, uy, 1.0 / 6.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mmz, f_mzz, f_mpz, uy, 2.0 / 3.0);                                                  \
    KF_LINE_TO_MOMENTS(f_mmp, f_mzp, f_mpp, uy, 1.0 / 6.0);                                                  \
    KF_LINE_TO_MOMENTS(f_zmm, f_zzm, f_zpm, uy, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_zmz, f_zzz, f_zpz, uy, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_zmp, f_zzp, f_zpp, uy, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_pmm, f_pzm, f_ppm, uy, 1.0 / 18.0);                                                 \
    KF_LINE_TO_MOMENTS(f_pmz, f_pzz, f_ppz, uy, 2.0 / 9.0);                                                  \
    KF_LINE_TO_MOMENTS(f_pmp, f_pzp, f_ppp, uy, 1.0 / 18.0);                                                 \
    KF_LINE_TO_MOMENTS(f_mmm, f_mmz, f_mmp, uz, 1.0);                                                        \
    KF_LINE_TO_MOMENTS(f_mzm, f_mzz, f_mzp, uz, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_mpm, f_mpz, f_mpp, uz, 1.0 / 3.0);                                                  \
    KF_LINE_TO_MOMENTS(f_zmm, f_zmz, f_zmp, uz, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_zzm, f_zzz, f_zzp, uz, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_zpm, f_zpz, f_zpp, uz, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_pmm, f_pmz, f_pmp, uz, 1.0 / 3.0);                                                  \
    KF_LINE_TO_MOMENTS(f_pzm, f_pzz, f_pzp, uz, 0.0);                                                        \
    KF_LINE_TO_MOMENTS(f_ppm, f_ppz, f_ppp, uz, 1.0 / 9.0);
#define KF_FROM_MOMENTS_FACTORISED(ux, uy, uz)                                                               \
    KF_LINE_FROM_MOMENTS(f_mmm, f_mmz, f_mmp, uz, 1.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_mzm, f_mzz, f_mzp, uz, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_mpm, f_mpz, f_mpp, uz, 1.0 / 3.0);                                                \
    KF_LINE_FROM_MOMENTS(f_zmm, f_zmz, f_zmp, uz, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_zzm, f_zzz, f_zzp, uz, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_zpm, f_zpz, f_zpp, uz, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_pmm, f_pmz, f_pmp, uz, 1.0 / 3.0);                                                \
    KF_LINE_FROM_MOMENTS(f_pzm, f_pzz, f_pzp, uz, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_ppm, f_ppz, f_ppp, uz, 1.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mmm, f_mzm, f_mpm, uy, 1.0 / 6.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mmz, f_mzz, f_mpz, uy, 2.0 / 3.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mmp, f_mzp, f_mpp, uy, 1.0 / 6.0);                                                \
    KF_LINE_FROM_MOMENTS(f_zmm, f_zzm, f_zpm, uy, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_zmz, f_zzz, f_zpz, uy, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_zmp, f_zzp, f_zpp, uy, 0.0);                                                      \
    KF_LINE_FROM_MOMENTS(f_pmm, f_pzm, f_ppm, uy, 1.0 / 18.0);                                               \
    KF_LINE_FROM_MOMENTS(f_pmz, f_pzz, f_ppz, uy, 2.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_pmp, f_pzp, f_ppp, uy, 1.0 / 18.0);                                               \
    KF_LINE_FROM_MOMENTS(f_mmm, f_zmm, f_pmm, ux, 1.0 / 36.0);                                               \
    KF_LINE_FROM_MOMENTS(f_mmz, f_zmz, f_pmz, ux, 1.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mmp, f_zmp, f_pmp, ux, 1.0 / 36.0);                                               \
    KF_LINE_FROM_MOMENTS(f_mzm, f_zzm, f_pzm, ux, 1.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mzz, f_zzz, f_pzz, ux, 4.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mzp, f_zzp, f_pzp, ux, 1.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mpm, f_zpm, f_ppm, ux, 1.0 / 36.0);                                               \
    KF_LINE_FROM_MOMENTS(f_mpz, f_zpz, f_ppz, ux, 1.0 / 9.0);                                                \
    KF_LINE_FROM_MOMENTS(f_mpp, f_zpp, f_ppp, ux, 1.0 / 36.0);

/* Declares the one-dimensional factors of the product equilibrium as deviations from the weights, and
 * their derivatives. */
#define KF_EQUILIBRIUM_FACTORS(axis, u)                                                                      \
    const kf_real e_##axis##z = -(u) * (u);                                                                  \
    const kf_real e_##axis##p = KF_R(0.5) * ((u) * (u) + (u)), e_##axis##m = KF_R(0.5) * ((u) * (u) - (u));

/* Returns f_eq - w for the factors w + e of each axis and the density deviation d, in the unit of d. No
 * large terms cancel. */
KF_FUNCTION kf_real kf_equilibrium_deviation(kf_real wx, kf_real ex, kf_real wy, kf_real ey, kf_real wz,
                                             kf_real ez, kf_real d) {
    const kf_real xy = ex * (wy + ey) + wx * ey;
    const kf_real xyz = xy * (wz + ez) + wx * wy * ez;
    return KF_R(KF_UNIT) * xyz + d * (wx * wy * wz + xyz);
}

/* Returns F . grad_u f_eq. The derivatives of the factors are -2u, u + 1/2, u - 1/2. */
KF_FUNCTION kf_real kf_force_source(int cx, int cy, int cz, kf_real gx, kf_real gy, kf_real gz, kf_real ux,
                                    kf_real uy, kf_real uz, kf_real Fx, kf_real Fy, kf_real Fz) {
    const kf_real dx = cx == 0 ? KF_R(-2.0) * ux : ux + KF_R(0.5) * (kf_real)cx;
    const kf_real dy = cy == 0 ? KF_R(-2.0) * uy : uy + KF_R(0.5) * (kf_real)cy;
    const kf_real dz = cz == 0 ? KF_R(-2.0) * uz : uz + KF_R(0.5) * (kf_real)cz;
    return Fx * dx * gy * gz + Fy * gx * dy * gz + Fz * gx * gy * dz;
}

#define KF_W1(c)      KF_R(KF_WEIGHT_1D(c))
#define KF_E(axis, c) ((c) == 0 ? e_##axis##z : (c) > 0 ? e_##axis##p : e_##axis##m)
#define KF_RELAX_BGK(i, name, cx, cy, cz)                                                                    \
    f_##name += omega * (kf_equilibrium_deviation(KF_W1(cx), KF_E(x, cx), KF_W1(cy), KF_E(y, cy), KF_W1(cz), \
                                                  KF_E(z, cz), deviation) -                                  \
                         f_##name);
#define KF_ADD_BGK_SOURCE(i, name, cx, cy, cz)                                                               \
    f_##name += source * kf_force_source(cx, cy, cz, KF_W1(cx) + KF_E(x, cx), KF_W1(cy) + KF_E(y, cy),       \
                                         KF_W1(cz) + KF_E(z, cz), ux, uy, uz, Fx, Fy, Fz);

#if KF_COLLISION != KF_BGK_COLLISION
#include "relaxation.h"
#endif
#if !KF_LAYERS
#define KF_ASK_LAYER
#endif
#if KF_COLLISION == KF_ACM_MRT_COLLISION && (KF_FORM == KF_EXPANDED_FORM || KF_FORM == KF_SHARED_FORM)
#include "expanded.h"
#else
#define KF_FROM_MOMENTS(ux, uy, uz) KF_FROM_MOMENTS_FACTORISED(ux, uy, uz)
#endif

/* Collides f_* in place, with deviation, ux .. uz and Fx .. Fz in scope. forced is a constant 0 or 1:
 * whether Fx, Fy, Fz can differ from zero. All models have the same equilibrium and the same force, so
 * equal rates give equal results. */
#if KF_VELOCITIES == 19
#if KF_COLLISION != KF_BGK_COLLISION
#include "low_order.h"
#endif
#include "collision_19.h"
#define KF_COLLIDE(forced) KF_COLLIDE_19(forced)
#elif KF_COLLISION == KF_BGK_COLLISION
#define KF_COLLIDE(forced)                                                                                   \
    do {                                                                                                     \
        const kf_real omega = KF_PARAMETER(a, shear_rate);                                                   \
        KF_EQUILIBRIUM_FACTORS(x, ux)                                                                        \
        KF_EQUILIBRIUM_FACTORS(y, uy)                                                                        \
        KF_EQUILIBRIUM_FACTORS(z, uz)                                                                        \
        KF_EACH_VELOCITY(KF_RELAX_BGK)                                                                       \
        if (forced) {                                                                                        \
            const kf_real source = KF_R(1.0) - KF_R(0.5) * omega;                                            \
            KF_EACH_VELOCITY(KF_ADD_BGK_SOURCE)                                                              \
        }                                                                                                    \
    } while (0)
#elif KF_COLLISION == KF_ACM_MRT_COLLISION && KF_RATE_RULE == KF_KBC_RATES
#define KF_COLLIDE(forced) KF_COLLIDE_KBC(forced)
#elif KF_COLLISION == KF_ACM_MRT_COLLISION && KF_FORM == KF_LOW_ORDER_FORM
#include "low_order.h"
#define KF_COLLIDE(forced) KF_COLLIDE_LOW_ORDER(forced)
#else
#define KF_COLLIDE(forced)                                                                                   \
    do {                                                                                                     \
        KF_TO_MOMENTS(ux, uy, uz)                                                                            \
        KF_RELAX_MOMENTS;                                                                                    \
        KF_FROM_MOMENTS(ux, uy, uz)                                                                          \
    } while (0)
#endif

/* Declares the density deviation and the velocity of the streamed populations f_*. The velocity includes
 * half of the force. */
#define KF_DECLARE_STATE(force_x, force_y, force_z)                                                          \
    KF_MOMENTUM(deviation, jx, jy, jz)                                                                       \
    const kf_real per_density = kf_reciprocal(KF_R(KF_UNIT) + deviation);                                    \
    const kf_real ux = (jx + KF_R(0.5) * (force_x)) * per_density,                                           \
                  uy = (jy + KF_R(0.5) * (force_y)) * per_density,                                           \
                  uz = (jz + KF_R(0.5) * (force_z)) * per_density;

#if KF_BODY_FORCE
#define KF_BODY_X (KF_R(KF_UNIT) * KF_PARAMETER(a, body_force_x))
#define KF_BODY_Y (KF_R(KF_UNIT) * KF_PARAMETER(a, body_force_y))
#define KF_BODY_Z (KF_R(KF_UNIT) * KF_PARAMETER(a, body_force_z))
#else
#define KF_BODY_X KF_R(0.0)
#define KF_BODY_Y KF_R(0.0)
#define KF_BODY_Z KF_R(0.0)
#endif

#endif
