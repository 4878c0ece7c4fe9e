/* Relaxation of moments. collision.h includes this file and describes the models. All moments here are
 * deviations from those of the state at rest with density 1. */
#ifndef KF_KERNELS_KINETIC_RELAXATION_H
#define KF_KERNELS_KINETIC_RELAXATION_H

/* --- Rates --- */

/* The rates of the moments of order 3, 4, 5, 6 at a node. */
typedef struct kf_rates {
    kf_real three, four, five, six;
} kf_rates;

KF_FUNCTION kf_rates kf_equal_rates(kf_real rate) {
    kf_rates rates;
    rates.three = rates.four = rates.five = rates.six = rate;
    return rates;
}

/* The moments of order 2: xx, yy, zz, xy, xz, yz. */
typedef struct kf_second {
    kf_real xx, yy, zz, xy, xz, yz;
} kf_second;

KF_FUNCTION kf_second kf_second_of(kf_real xx, kf_real yy, kf_real zz, kf_real xy, kf_real xz, kf_real yz) {
    kf_second second;
    second.xx = xx;
    second.yy = yy;
    second.zz = zz;
    second.xy = xy;
    second.xz = xz;
    second.yz = yz;
    return second;
}

/* The rule adaptive_2020 adds this to tau for each omega^2 |k'|^2, where k' are the central second moments
 * without their trace. omega^2 |k'|^2 is 4/9 of the strain rate's square. Rates near 2 let noise grow
 * along walls and in shear, and a rate of 1.5 damps it (docs/physics.md). */
#define KF_TAU_OF_STRAIN 64.0
#define KF_TAU_LEAST     0.005
#define KF_TAU_LARGEST   (1.0 / 6.0)

/* Returns the rates by the rule, from density, momentum, second moments pi (sum f c c, without the rest
 * state's 1/3 on the diagonal) and k (the same about the velocity).
 *
 * adaptive_2020 (Li et al. 2020, second-hand): the rates are 1 / (tau + 1/2) with tau = theta .
 * (rho/<rho>, |j|/<|j|>, |Pi|/<|Pi|>, 1) and the term of the strain, limited to 0.005 .. 1/6. averages has
 * the reciprocals of the domain averages a few steps before.
 *
 * empirical_2019 (Li et al. 2019, second-hand): the rates are 1 / (3 nu' + 1/2) with nu' = nu (5 - 4 g),
 * where nu is 0.005, 0.007, 0.009, 0.01 for the orders 3 to 6. g is taken here as the speed over 0.1, at
 * most 1. */
KF_FUNCTION kf_rates kf_high_order_rates(const kf_module_arguments *a, kf_real density, kf_real jx,
                                         kf_real jy, kf_real jz, kf_second pi, kf_second k) {
    (void)a, (void)density, (void)jx, (void)jy, (void)jz, (void)pi, (void)k;
#if KF_RATE_RULE == KF_ADAPTIVE_2020_RATES
    const kf_real *averages = (const kf_real *)a->fields.averages;
    const kf_real third = KF_R(KF_UNIT / 3.0);
    const kf_real dxx = pi.xx + third, dyy = pi.yy + third, dzz = pi.zz + third;
    const kf_real momentum = kf_square_root(jx * jx + jy * jy + jz * jz);
    const kf_real second = kf_square_root(dxx * dxx + dyy * dyy + dzz * dzz +
                                          KF_R(2.0) * (pi.xy * pi.xy + pi.xz * pi.xz + pi.yz * pi.yz));
    const kf_real omega = KF_PARAMETER(a, shear_rate), xy = k.xx - k.yy, xz = k.xx - k.zz;
    const kf_real half_square =
        KF_R(1.0 / 3.0) * (xy * xy + xz * (xz - xy)) + (k.xy * k.xy + k.xz * k.xz + k.yz * k.yz);
    const kf_real strained =
        KF_R(2.0 * KF_TAU_OF_STRAIN / (KF_UNIT * KF_UNIT)) * (omega * omega) * half_square;
    const kf_real tau = KF_R(0.0003 / KF_UNIT) * (density * averages[0]) -
                        KF_R(0.00775 / KF_UNIT) * (momentum * averages[1]) +
                        KF_R(0.00016 / KF_UNIT) * (second * averages[2]) + (KF_R(0.0087) + strained);
    const kf_real high = tau < KF_R(KF_TAU_LARGEST) ? tau : KF_R(KF_TAU_LARGEST);
    return kf_equal_rates(kf_reciprocal((high > KF_R(KF_TAU_LEAST) ? high : KF_R(KF_TAU_LEAST)) + KF_R(0.5)));
#elif KF_RATE_RULE == KF_CONSTANT_RATES
    return kf_equal_rates(KF_PARAMETER(a, high_order_rate));
#elif KF_RATE_RULE == KF_EMPIRICAL_2019_RATES
    const kf_real speed = kf_square_root(jx * jx + jy * jy + jz * jz) * kf_reciprocal(density) * KF_R(10.0);
    const kf_real factor = KF_R(3.0) * (KF_R(5.0) - KF_R(4.0) * (speed < KF_R(1.0) ? speed : KF_R(1.0)));
    kf_rates rates;
    rates.three = kf_reciprocal(KF_R(0.005) * factor + KF_R(0.5));
    rates.four = kf_reciprocal(KF_R(0.007) * factor + KF_R(0.5));
    rates.five = kf_reciprocal(KF_R(0.009) * factor + KF_R(0.5));
    rates.six = kf_reciprocal(KF_R(0.010) * factor + KF_R(0.5));
    return rates;
#else
    return kf_equal_rates(KF_R(1.0));
#endif
}

#define KF_CENTRAL_RATES                                                                                     \
    kf_high_order_rates(a, density, density *ux, density *uy, density *uz,                                   \
                        kf_second_of(f_pmm + density * ux * ux, f_mpm + density * uy * uy,                   \
                                     f_mmp + density * uz * uz, f_zzm + density * ux * uy,                   \
                                     f_zmz + density * ux * uz, f_mzz + density * uy * uz),                  \
                        kf_second_of(f_pmm, f_mpm, f_mmp, f_zzm, f_zmz, f_mzz))

/* --- Parts that the models share --- */

/* Order 1: about the velocity that includes half of the force, k1 = -F/2 becomes +F/2. */
#define KF_RELAX_ORDER_1                                                                                     \
    f_zmm = KF_R(0.5) * Fx;                                                                                  \
    f_mzm = KF_R(0.5) * Fy;                                                                                  \
    f_mmz = KF_R(0.5) * Fz;

/* Order 2: the shear moments relax with omega, and the trace is given. */
#define KF_RELAX_ORDER_2(trace)                                                                              \
    const kf_real stay = KF_R(1.0) - omega;                                                                  \
    const kf_real d1 = stay * (f_pmm - f_mpm), d2 = stay * (f_pmm - f_mmp);                                  \
    f_pmm = ((trace) + d1 + d2) * c;                                                                         \
    f_mpm = f_pmm - d1;                                                                                      \
    f_mmp = f_pmm - d2;                                                                                      \
    f_zzm *= stay;                                                                                           \
    f_zmz *= stay;                                                                                           \
    f_mzz *= stay;

#define KF_RELAX_ORDER_3                                                                                     \
    const kf_real keep3 = KF_R(1.0) - rates.three;                                                           \
    const kf_real source3 = (KF_R(1.0) - KF_R(0.5) * rates.three) * c;                                       \
    f_zpm = keep3 * f_zpm + source3 * Fx;                                                                    \
    f_zmp = keep3 * f_zmp + source3 * Fx;                                                                    \
    f_pzm = keep3 * f_pzm + source3 * Fy;                                                                    \
    f_mzp = keep3 * f_mzp + source3 * Fy;                                                                    \
    f_pmz = keep3 * f_pmz + source3 * Fz;                                                                    \
    f_mpz = keep3 * f_mpz + source3 * Fz;                                                                    \
    f_zzz *= keep3;

/* --- RM-MRT --- */

#if KF_COLLISION == KF_RM_MRT_COLLISION

/* Return a raw moment of order c + 1 along one axis: that of the rest state (w), what velocity u adds to
 * it in equilibrium (e), and the derivative of this by u (d). */
#define KF_RAW_W(c)    ((c) < 0 ? KF_R(1.0) : (c) == 0 ? KF_R(0.0) : KF_R(1.0 / 3.0))
#define KF_RAW_E(c, u) ((c) < 0 ? KF_R(0.0) : (c) == 0 ? (u) : (u) * (u))
#define KF_RAW_D(c, u) ((c) < 0 ? KF_R(0.0) : (c) == 0 ? KF_R(1.0) : KF_R(2.0) * (u))
#define KF_RAW_G(c, u) (KF_RAW_W(c) + KF_RAW_E(c, u))
#define KF_RAW_EQUILIBRIUM(cx, cy, cz)                                                                       \
    kf_equilibrium_deviation(KF_RAW_W(cx), KF_RAW_E(cx, ux), KF_RAW_W(cy), KF_RAW_E(cy, uy), KF_RAW_W(cz),   \
                             KF_RAW_E(cz, uz), deviation)
#define KF_RAW_SOURCE(cx, cy, cz)                                                                            \
    (Fx * KF_RAW_D(cx, ux) * KF_RAW_G(cy, uy) * KF_RAW_G(cz, uz) +                                           \
     Fy * KF_RAW_G(cx, ux) * KF_RAW_D(cy, uy) * KF_RAW_G(cz, uz) +                                           \
     Fz * KF_RAW_G(cx, ux) * KF_RAW_G(cy, uy) * KF_RAW_D(cz, uz))

#if KF_RATE_RULE == KF_SUGA_2015_RATES

/* The orthogonal moments of Suga et al. 2015 are products of 1, c and c^2 - 2/3, and sums and differences
 * of the normal ones of order 2, 3 and 4. Their rates are: trace 1.54; order 3: sums 1.5, differences and
 * c c c 1.74; order 4: the sum of the three 1.4, the others 1.98; order 5: 1.83; order 6: 1.61. With m' =
 * m + S/2 - m_eq, which has no orders 0 and 1, m* = m' - s m' + m_eq + S/2. The order of moment (cx, cy,
 * cz) is cx + cy + cz + 3. */
#define KF_DEVIATE_RAW(i, name, cx, cy, cz)                                                                  \
    if ((cx) + (cy) + (cz) >= -1)                                                                            \
        f_##name += KF_R(0.5) * KF_RAW_SOURCE(cx, cy, cz) - KF_RAW_EQUILIBRIUM(cx, cy, cz);
#define KF_RESTORE_RAW(i, name, cx, cy, cz)                                                                  \
    if ((cx) + (cy) + (cz) >= -1)                                                                            \
        f_##name += KF_RAW_EQUILIBRIUM(cx, cy, cz) + KF_R(0.5) * KF_RAW_SOURCE(cx, cy, cz);
#define KF_RELAX_ORTHOGONAL_PAIR(p, q)                                                                       \
    do {                                                                                                     \
        const kf_real half_sum = KF_R(-0.25) * (p + q), half_difference = KF_R(-0.37) * (p - q);             \
        p = half_sum + half_difference;                                                                      \
        q = half_sum - half_difference;                                                                      \
    } while (0);
#define KF_RELAX_MOMENTS                                                                                     \
    do {                                                                                                     \
        const kf_real omega = KF_PARAMETER(a, shear_rate), c = KF_R(1.0 / 3.0), q = KF_R(2.0 / 3.0);         \
        KF_EACH_VELOCITY(KF_DEVIATE_RAW)                                                                     \
        const kf_real sum4 = f_ppm + f_pmp + f_mpp, sum2 = f_pmm + f_mpm + f_mmp;                            \
        const kf_real all4 = KF_R(0.58 / 3.0) * (sum4 - KF_R(2.0) * q * sum2);                               \
        const kf_real h220 = all4 + KF_R(-0.98) * (f_ppm - q * (f_pmm + f_mpm)),                             \
                      h202 = all4 + KF_R(-0.98) * (f_pmp - q * (f_pmm + f_mmp)),                             \
                      h022 = all4 + KF_R(-0.98) * (f_mpp - q * (f_mpm + f_mmp));                             \
        const kf_real h211 = KF_R(-0.98) * (f_pzz - q * f_mzz), h121 = KF_R(-0.98) * (f_zpz - q * f_zmz),    \
                      h112 = KF_R(-0.98) * (f_zzp - q * f_zzm);                                              \
        const kf_real h122 = KF_R(-0.83) * (f_zpp - q * (f_zpm + f_zmp)),                                    \
                      h212 = KF_R(-0.83) * (f_pzp - q * (f_pzm + f_mzp)),                                    \
                      h221 = KF_R(-0.83) * (f_ppz - q * (f_pmz + f_mpz));                                    \
        const kf_real h222 = KF_R(-0.61) * (f_ppp - q * sum4 + q * q * sum2);                                \
        KF_RELAX_ORDER_2(KF_R(-0.54) * sum2)                                                                 \
        KF_RELAX_ORTHOGONAL_PAIR(f_zpm, f_zmp)                                                               \
        KF_RELAX_ORTHOGONAL_PAIR(f_pzm, f_mzp)                                                               \
        KF_RELAX_ORTHOGONAL_PAIR(f_pmz, f_mpz)                                                               \
        f_zzz *= KF_R(-0.74);                                                                                \
        f_ppm = h220 + q * (f_pmm + f_mpm);                                                                  \
        f_pmp = h202 + q * (f_pmm + f_mmp);                                                                  \
        f_mpp = h022 + q * (f_mpm + f_mmp);                                                                  \
        f_pzz = h211 + q * f_mzz;                                                                            \
        f_zpz = h121 + q * f_zmz;                                                                            \
        f_zzp = h112 + q * f_zzm;                                                                            \
        f_zpp = h122 + q * (f_zpm + f_zmp);                                                                  \
        f_pzp = h212 + q * (f_pzm + f_mzp);                                                                  \
        f_ppz = h221 + q * (f_pmz + f_mpz);                                                                  \
        f_ppp = h222 + q * (f_ppm + f_pmp + f_mpp) - q * q * (f_pmm + f_mpm + f_mmp);                        \
        f_zmm += Fx;                                                                                         \
        f_mzm += Fy;                                                                                         \
        f_mmz += Fz;                                                                                         \
        KF_EACH_VELOCITY(KF_RESTORE_RAW)                                                                     \
    } while (0)

#else

/* The order of moment (cx, cy, cz) is cx + cy + cz + 3. */
#define KF_RELAX_RAW(i, name, cx, cy, cz)                                                                    \
    if ((cx) + (cy) + (cz) >= 0)                                                                             \
        f_##name += rate * (KF_RAW_EQUILIBRIUM(cx, cy, cz) - f_##name) + source * KF_RAW_SOURCE(cx, cy, cz);

#define KF_RELAX_MOMENTS                                                                                     \
    do {                                                                                                     \
        const kf_real omega = KF_PARAMETER(a, shear_rate), c = KF_R(1.0 / 3.0);                              \
        const kf_second none = kf_second_of(ux, ux, ux, ux, ux, ux); /* rm_mrt's rules ask nothing */        \
        const kf_rates rates = kf_high_order_rates(a, KF_R(1.0), ux, uy, uz, none, none);                    \
        const kf_real rate = rates.three, source = KF_R(1.0) - KF_R(0.5) * rate;                             \
        const kf_real half = KF_R(1.0) - KF_R(0.5) * omega;                                                  \
        const kf_real exx = KF_RAW_EQUILIBRIUM(1, -1, -1), eyy = KF_RAW_EQUILIBRIUM(-1, 1, -1),              \
                      ezz = KF_RAW_EQUILIBRIUM(-1, -1, 1);                                                   \
        const kf_real sxx = KF_R(2.0) * Fx * ux, syy = KF_R(2.0) * Fy * uy, szz = KF_R(2.0) * Fz * uz;       \
        const kf_real d1 = (f_pmm - f_mpm) + omega * ((exx - eyy) - (f_pmm - f_mpm)) + half * (sxx - syy);   \
        const kf_real d2 = (f_pmm - f_mmp) + omega * ((exx - ezz) - (f_pmm - f_mmp)) + half * (sxx - szz);   \
        f_pmm = (exx + eyy + ezz + KF_R(0.5) * (sxx + syy + szz) + d1 + d2) * c;                             \
        f_mpm = f_pmm - d1;                                                                                  \
        f_mmp = f_pmm - d2;                                                                                  \
        f_zzm += omega * (KF_RAW_EQUILIBRIUM(0, 0, -1) - f_zzm) + half * (Fx * uy + Fy * ux);                \
        f_zmz += omega * (KF_RAW_EQUILIBRIUM(0, -1, 0) - f_zmz) + half * (Fx * uz + Fz * ux);                \
        f_mzz += omega * (KF_RAW_EQUILIBRIUM(-1, 0, 0) - f_mzz) + half * (Fy * uz + Fz * uy);                \
        f_zmm += Fx;                                                                                         \
        f_mzm += Fy;                                                                                         \
        f_mmz += Fz;                                                                                         \
        KF_EACH_VELOCITY(KF_RELAX_RAW)                                                                       \
    } while (0)

#endif

/* --- ACM-MRT with the paper's raw central moments --- */

#elif KF_IS_RATE_BY_ORDER(KF_RATE_RULE) && KF_BASIS == KF_RAW_BASIS

#define KF_RELAX_MOMENTS                                                                                     \
    do {                                                                                                     \
        const kf_real c = KF_R(1.0 / 3.0), density = KF_R(KF_UNIT) + deviation;                              \
        const kf_real omega = KF_PARAMETER(a, shear_rate);                                                   \
        const kf_rates rates = KF_CENTRAL_RATES;                                                             \
        const kf_real keep4 = KF_R(1.0) - rates.four, keep5 = KF_R(1.0) - rates.five;                        \
        const kf_real source5 = (KF_R(1.0) - KF_R(0.5) * rates.five) * (c * c);                              \
        const kf_real trace = f_pmm + f_mpm + f_mmp;                                                         \
        KF_RELAX_ORDER_1                                                                                     \
        KF_RELAX_ORDER_2(trace + rates.three * (deviation - trace))                                          \
        KF_RELAX_ORDER_3                                                                                     \
        f_ppm += rates.four * (deviation * (c * c) - f_ppm);                                                 \
        f_pmp += rates.four * (deviation * (c * c) - f_pmp);                                                 \
        f_mpp += rates.four * (deviation * (c * c) - f_mpp);                                                 \
        f_pzz *= keep4;                                                                                      \
        f_zpz *= keep4;                                                                                      \
        f_zzp *= keep4;                                                                                      \
        f_zpp = keep5 * f_zpp + source5 * Fx;                                                                \
        f_pzp = keep5 * f_pzp + source5 * Fy;                                                                \
        f_ppz = keep5 * f_ppz + source5 * Fz;                                                                \
        f_ppp += rates.six * (deviation * (c * c * c) - f_ppp);                                              \
    } while (0)

/* --- ACM-MRT with central-Hermite moments --- */

#elif KF_IS_RATE_BY_ORDER(KF_RATE_RULE)

/* Return the part of a moment of order 4 to 6 that follows from the moments of lower order. */
#define KF_TAIL_22(p, q)   (c * (p + q) - c * c * deviation)
#define KF_TAIL_5(p, q, s) (c * (p + q) - c * c * s)
#define KF_TAIL_6          (c * (f_ppm + f_pmp + f_mpp) - c * c * (f_pmm + f_mpm + f_mmp) + c * c * c * deviation)

#define KF_RELAX_MOMENTS                                                                                     \
    do {                                                                                                     \
        const kf_real c = KF_R(1.0 / 3.0), density = KF_R(KF_UNIT) + deviation;                              \
        const kf_real omega = KF_PARAMETER(a, shear_rate);                                                   \
        const kf_rates rates = KF_CENTRAL_RATES;                                                             \
        const kf_real keep4 = KF_R(1.0) - rates.four, keep5 = KF_R(1.0) - rates.five,                        \
                      keep6 = KF_R(1.0) - rates.six;                                                         \
        const kf_real h220 = f_ppm - KF_TAIL_22(f_pmm, f_mpm), h202 = f_pmp - KF_TAIL_22(f_pmm, f_mmp),      \
                      h022 = f_mpp - KF_TAIL_22(f_mpm, f_mmp);                                               \
        const kf_real h211 = f_pzz - c * f_mzz, h121 = f_zpz - c * f_zmz, h112 = f_zzp - c * f_zzm;          \
        const kf_real h122 = f_zpp - KF_TAIL_5(f_zpm, f_zmp, f_zmm),                                         \
                      h212 = f_pzp - KF_TAIL_5(f_pzm, f_mzp, f_mzm),                                         \
                      h221 = f_ppz - KF_TAIL_5(f_pmz, f_mpz, f_mmz);                                         \
        const kf_real h222 = f_ppp - KF_TAIL_6;                                                              \
        KF_RELAX_ORDER_1                                                                                     \
        KF_RELAX_ORDER_2(deviation)                                                                          \
        KF_RELAX_ORDER_3                                                                                     \
        f_ppm = keep4 * h220 + KF_TAIL_22(f_pmm, f_mpm);                                                     \
        f_pmp = keep4 * h202 + KF_TAIL_22(f_pmm, f_mmp);                                                     \
        f_mpp = keep4 * h022 + KF_TAIL_22(f_mpm, f_mmp);                                                     \
        f_pzz = keep4 * h211 + c * f_mzz;                                                                    \
        f_zpz = keep4 * h121 + c * f_zmz;                                                                    \
        f_zzp = keep4 * h112 + c * f_zzm;                                                                    \
        f_zpp = keep5 * h122 + KF_TAIL_5(f_zpm, f_zmp, f_zmm);                                               \
        f_pzp = keep5 * h212 + KF_TAIL_5(f_pzm, f_mzp, f_mzm);                                               \
        f_ppz = keep5 * h221 + KF_TAIL_5(f_pmz, f_mpz, f_mmz);                                               \
        f_ppp = keep6 * h222 + KF_TAIL_6;                                                                    \
    } while (0)

/* --- K17: cumulants, Geier, Pasquali, Schoenherr, J. Comput. Phys. 348 (2017) 862 --- */

#elif KF_RATE_RULE == KF_K17_RATES

/* The paper's limiter: a large moment relaxes with a rate nearer to 1. */
KF_FUNCTION kf_real kf_limit_rate(kf_real rate, kf_real moment) {
    const kf_real size = moment < KF_R(0.0) ? -moment : moment;
    return rate + (KF_R(1.0) - rate) * size / (size + KF_R(0.01));
}

/* Relaxes two moments of order 3 by their sum (rate w3) and difference (rate w4). The force's part k_eq =
 * cs^2 F is subtracted before, and half of it is added after. */
#define KF_RELAX_PAIR(p, q, force)                                                                           \
    do {                                                                                                     \
        const kf_real part = KF_R(1.0 / 6.0) * (force);                                                      \
        const kf_real sum = p + q + KF_R(2.0) * part, difference = p - q;                                    \
        const kf_real sum_after = (KF_R(1.0) - kf_limit_rate(w3, sum)) * sum;                                \
        const kf_real difference_after = (KF_R(1.0) - kf_limit_rate(w4, difference)) * difference;           \
        p = KF_R(0.5) * (sum_after + difference_after);                                                      \
        q = KF_R(0.5) * (sum_after - difference_after);                                                      \
    } while (0)

/* Return the post-collision moments of order 4 from their cumulants C and the moments of order 2, as
 * deviations. */
#define KF_CUMULANT_22(C, p, q, r)                                                                           \
    ((C) + (c * ((p) + (q)) + (p) * (q)-c * c * deviation + KF_R(2.0) * (r) * (r)) * per_density)
#define KF_CUMULANT_211(C, p, r, s, t) ((C) + ((c + (p)) * (r) + KF_R(2.0) * (s) * (t)) * per_density)

/* The rates that follow from that of the shear moments, and the factors of the cumulants of order 4. */
typedef struct kf_k17_rates {
    kf_real shear, w3, w4, w5, C4, C4b;
} kf_k17_rates;
KF_FUNCTION kf_k17_rates kf_find_k17_rates(kf_real w) {
    const kf_real one = KF_R(1.0);
    const kf_real w3 = KF_R(8.0) * (w - KF_R(2.0)) * (one + KF_R(2.0) * w) /
                       (KF_R(-8.0) - KF_R(14.0) * w + KF_R(7.0) * w * w);
    const kf_real w4 = KF_R(8.0) * (w - KF_R(2.0)) * (KF_R(-7.0) + KF_R(4.0) * w) /
                       (KF_R(56.0) - KF_R(50.0) * w + KF_R(9.0) * w * w);
    const kf_real w5 = KF_R(24.0) * (w - KF_R(2.0)) * (KF_R(-2.0) - KF_R(7.0) * w + KF_R(3.0) * w * w) /
                       (KF_R(48.0) + KF_R(152.0) * w - KF_R(130.0) * w * w + KF_R(29.0) * w * w * w);
    const kf_real part = one / w - KF_R(0.5), wall = KF_R(2.0) - KF_R(7.0) * w + KF_R(5.0) * w * w;
    const kf_real A = (KF_R(4.0) + KF_R(2.0) * w - KF_R(3.0) * w * w) / wall;
    const kf_real B = (KF_R(4.0) + KF_R(28.0) * w - KF_R(14.0) * w * w) / (KF_R(3.0) * wall);
    const kf_k17_rates rates = {w, w3, w4, w5, KF_R(-2.0 / 3.0) * part * A, KF_R(-1.0 / 3.0) * part * B};
    return rates;
}
#if KF_LAYERS
/* Returns the viscosity of turbulence at a node, which is 0 outside the box of the layers. */
KF_FUNCTION kf_real kf_eddies_at(const kf_module_arguments *a, int x, int y, int z) {
    const int *low = a->layer.box.low, *high = a->layer.box.high;
    if (x < low[0] || x >= high[0] || y < low[1] || y >= high[1] || z < low[2] || z >= high[2])
        return KF_R(0.0);
    return ((const kf_real *)a->layer
                .eddies)[(x - low[0]) + (kf_index)(high[0] - low[0]) *
                                            ((y - low[1]) + (kf_index)(high[1] - low[1]) * (z - low[2]))];
}
/* A kernel asks for it before it loads the populations of the node at x, y and z, so that it need not wait
 * for the answer. */
#define KF_ASK_LAYER const kf_real eddies = kf_eddies_at(a, x, y, z);
/* The usual viscosity is 1/3 (1/rate - 1/2). Without viscosity of turbulence the rate keeps all its digits.
 */
#define KF_SHEAR_RATE                                                                                        \
    (KF_PARAMETER(a, shear_rate) / (KF_R(1.0) + KF_R(3.0) * KF_PARAMETER(a, shear_rate) * eddies))
#else
#define KF_SHEAR_RATE KF_PARAMETER(a, shear_rate)
#endif
#define KF_FIND_K17_RATES const kf_k17_rates rates = kf_find_k17_rates(KF_SHEAR_RATE);

#define KF_RELAX_MOMENTS                                                                                     \
    do {                                                                                                     \
        const kf_real c = KF_R(1.0 / 3.0), one = KF_R(1.0);                                                  \
        KF_FIND_K17_RATES                                                                                    \
        const kf_real w = rates.shear, w3 = rates.w3, w4 = rates.w4, w5 = rates.w5;                          \
        const kf_real per_density = kf_reciprocal(one + deviation);                                          \
        const kf_real trace = f_pmm + f_mpm + f_mmp;                                                         \
        const kf_real dxx = KF_R(-0.5) * w * (KF_R(3.0) * f_pmm - trace) + KF_R(0.5) * (deviation - trace);  \
        const kf_real dyy = dxx + KF_R(1.5) * w * (f_pmm - f_mpm);                                           \
        const kf_real dzz = dxx + KF_R(1.5) * w * (f_pmm - f_mmp);                                           \
        const kf_real dxy = KF_R(-3.0) * w * f_zzm, dxz = KF_R(-3.0) * w * f_zmz,                            \
                      dyz = KF_R(-3.0) * w * f_mzz;                                                          \
        const kf_real cubic = KF_R(3.0) * (one - KF_R(0.5) * w);                                             \
        const kf_real qx = ux * ux * dxx, qy = uy * uy * dyy, qz = uz * uz * dzz;                            \
        const kf_real stay = one - w;                                                                        \
        const kf_real d1 = stay * (f_pmm - f_mpm) - cubic * (qx - qy);                                       \
        const kf_real d2 = stay * (f_pmm - f_mmp) - cubic * (qx - qz);                                       \
        KF_RELAX_ORDER_1                                                                                     \
        f_pmm = (deviation - KF_R(1.5) * (qx + qy + qz) + d1 + d2) * c;                                      \
        f_mpm = f_pmm - d1;                                                                                  \
        f_mmp = f_pmm - d2;                                                                                  \
        f_zzm *= stay;                                                                                       \
        f_zmz *= stay;                                                                                       \
        f_mzz *= stay;                                                                                       \
        KF_RELAX_PAIR(f_zpm, f_zmp, Fx);                                                                     \
        KF_RELAX_PAIR(f_pzm, f_mzp, Fy);                                                                     \
        KF_RELAX_PAIR(f_pmz, f_mpz, Fz);                                                                     \
        f_zzz *= one - kf_limit_rate(w5, f_zzz);                                                             \
        const kf_real C4 = rates.C4, C4b = rates.C4b;                                                        \
        const kf_real C220 = C4 * (dxx + dyy), C202 = C4 * (dxx + dzz), C022 = C4 * (dyy + dzz);             \
        f_ppm = KF_CUMULANT_22(C220, f_pmm, f_mpm, f_zzm);                                                   \
        f_pmp = KF_CUMULANT_22(C202, f_pmm, f_mmp, f_zmz);                                                   \
        f_mpp = KF_CUMULANT_22(C022, f_mpm, f_mmp, f_mzz);                                                   \
        f_pzz = KF_CUMULANT_211(C4b * dyz, f_pmm, f_mzz, f_zzm, f_zmz);                                      \
        f_zpz = KF_CUMULANT_211(C4b * dxz, f_mpm, f_zmz, f_zzm, f_mzz);                                      \
        f_zzp = KF_CUMULANT_211(C4b * dxy, f_mmp, f_zzm, f_zmz, f_mzz);                                      \
        f_zpp = ((c + f_mmp) * f_zpm + (c + f_mpm) * f_zmp + KF_R(4.0) * f_mzz * f_zzz +                     \
                 KF_R(2.0) * (f_zmz * f_mpz + f_zzm * f_mzp)) *                                              \
                per_density;                                                                                 \
        f_pzp = ((c + f_mmp) * f_pzm + (c + f_pmm) * f_mzp + KF_R(4.0) * f_zmz * f_zzz +                     \
                 KF_R(2.0) * (f_mzz * f_pmz + f_zzm * f_zmp)) *                                              \
                per_density;                                                                                 \
        f_ppz = ((c + f_mpm) * f_pmz + (c + f_pmm) * f_mpz + KF_R(4.0) * f_zzm * f_zzz +                     \
                 KF_R(2.0) * (f_mzz * f_pzm + f_zmz * f_zpm)) *                                              \
                per_density;                                                                                 \
        const kf_real a2 = f_pmm, b2 = f_mpm, c2 = f_mmp;                                                    \
        const kf_real product = (c * c * (a2 + b2 + c2) + c * (a2 * b2 + b2 * c2 + c2 * a2) + a2 * b2 * c2 - \
                                 c * c * c * (KF_R(2.0) + deviation) * deviation);                           \
        const kf_real mixed = f_zzm * f_zmz * f_mzz;                                                         \
        f_ppp =                                                                                              \
            (KF_R(4.0) * f_zzz * f_zzz + (c + a2) * C022 + (c + b2) * C202 + (c + c2) * C220 +               \
             KF_R(4.0) * (f_mzz * f_pzz + f_zmz * f_zpz + f_zzm * f_zzp) +                                   \
             KF_R(2.0) * (f_zpm * f_zmp + f_pzm * f_mzp + f_pmz * f_mpz)) *                                  \
                per_density +                                                                                \
            (product - KF_R(16.0) * mixed -                                                                  \
             KF_R(2.0) * (f_zmz * f_zmz * (c + b2) + f_mzz * f_mzz * (c + a2) + f_zzm * f_zzm * (c + c2))) * \
                (per_density * per_density);                                                                 \
        f_zpm += KF_R(1.0 / 6.0) * Fx;                                                                       \
        f_zmp += KF_R(1.0 / 6.0) * Fx;                                                                       \
        f_pzm += KF_R(1.0 / 6.0) * Fy;                                                                       \
        f_mzp += KF_R(1.0 / 6.0) * Fy;                                                                       \
        f_pmz += KF_R(1.0 / 6.0) * Fz;                                                                       \
        f_mpz += KF_R(1.0 / 6.0) * Fz;                                                                       \
        f_zpp += KF_R(1.0 / 18.0) * Fx;                                                                      \
        f_pzp += KF_R(1.0 / 18.0) * Fy;                                                                      \
        f_ppz += KF_R(1.0 / 18.0) * Fz;                                                                      \
    } while (0)

/* --- KBC: Karlin, Boesch, Chikatamarla, Phys. Rev. E 90 (2014) 031302 --- */

#else

/* Returns the shear part of a deviation from equilibrium, whose second moments are Nxz, Nyz, Pxy, Pxz,
 * Pyz. */
#define KF_KBC_SHEAR(cx, cy, cz)                                                                             \
    ((cx) * (cx) + (cy) * (cy) + (cz) * (cz) == 1   ? ((cx) != 0   ? along_x                                 \
                                                       : (cy) != 0 ? along_y                                 \
                                                                   : along_z)                                \
     : (cx) * (cx) + (cy) * (cy) + (cz) * (cz) == 2 ? KF_R(0.25) * ((cz) == 0   ? KF_R((cx) * (cy)) * pi_xy  \
                                                                    : (cy) == 0 ? KF_R((cx) * (cz)) * pi_xz  \
                                                                                : KF_R((cy) * (cz)) * pi_yz) \
                                                    : KF_R(0.0))
#define KF_KBC_EQUILIBRIUM(cx, cy, cz)                                                                       \
    kf_equilibrium_deviation(KF_W1(cx), KF_E(x, cx), KF_W1(cy), KF_E(y, cy), KF_W1(cz), KF_E(z, cz),         \
                             deviation)
#define KF_KBC_SOURCE(cx, cy, cz)                                                                            \
    kf_force_source(cx, cy, cz, KF_W1(cx) + KF_E(x, cx), KF_W1(cy) + KF_E(y, cy), KF_W1(cz) + KF_E(z, cz),   \
                    ux, uy, uz, Fx, Fy, Fz)
/* With g = f + S/2 the collision is f* = g - beta (2 Ds + gamma Dh) + S/2. First f becomes D = g - f_eq,
 * which consists of the shear part Ds and the rest Dh. */
#define KF_KBC_DEVIATE(i, name, cx, cy, cz)                                                                  \
    f_##name -= KF_KBC_EQUILIBRIUM(cx, cy, cz);                                                              \
    if (forced_) f_##name += KF_R(0.5) * KF_KBC_SOURCE(cx, cy, cz);
#define KF_KBC_SUM(i, name, cx, cy, cz)                                                                      \
    {                                                                                                        \
        const kf_real shear = KF_KBC_SHEAR(cx, cy, cz), rest = f_##name - shear;                             \
        const kf_real weighed = rest / (KF_WEIGHT(cx, cy, cz) + KF_KBC_EQUILIBRIUM(cx, cy, cz));             \
        mixed += shear * weighed;                                                                            \
        square += rest * weighed;                                                                            \
    }
#define KF_KBC_RELAX(i, name, cx, cy, cz)                                                                    \
    {                                                                                                        \
        const kf_real shear = KF_KBC_SHEAR(cx, cy, cz);                                                      \
        f_##name +=                                                                                          \
            KF_KBC_EQUILIBRIUM(cx, cy, cz) - beta * (KF_R(2.0) * shear + gamma * (f_##name - shear));        \
        if (forced_) f_##name += KF_R(0.5) * KF_KBC_SOURCE(cx, cy, cz);                                      \
    }
#define KF_COLLIDE_KBC(forced)                                                                               \
    do {                                                                                                     \
        enum { forced_ = (forced) };                                                                         \
        const kf_real beta = KF_R(0.5) * KF_PARAMETER(a, shear_rate);                                        \
        KF_EQUILIBRIUM_FACTORS(x, ux)                                                                        \
        KF_EQUILIBRIUM_FACTORS(y, uy)                                                                        \
        KF_EQUILIBRIUM_FACTORS(z, uz)                                                                        \
        KF_EACH_VELOCITY(KF_KBC_DEVIATE)                                                                     \
        const kf_real even_xy = (f_ppz + f_mmz) + (f_pmz + f_mpz),                                           \
                      even_xz = (f_pzp + f_mzm) + (f_pzm + f_mzp),                                           \
                      even_yz = (f_zpp + f_zmm) + (f_zpm + f_zmp);                                           \
        const kf_real pi_xx = (f_pzz + f_mzz) + even_xy + even_xz,                                           \
                      pi_yy = (f_zpz + f_zmz) + even_xy + even_yz,                                           \
                      pi_zz = (f_zzp + f_zzm) + even_xz + even_yz;                                           \
        const kf_real pi_xy = ((f_ppz + f_mmz) - (f_pmz + f_mpz)) +                                          \
                              (((f_ppp + f_mmm) + (f_ppm + f_mmp)) - ((f_pmp + f_mpm) + (f_pmm + f_mpp)));   \
        const kf_real pi_xz = ((f_pzp + f_mzm) - (f_pzm + f_mzp)) +                                          \
                              (((f_ppp + f_mmm) + (f_pmp + f_mpm)) - ((f_ppm + f_mmp) + (f_pmm + f_mpp)));   \
        const kf_real pi_yz = ((f_zpp + f_zmm) - (f_zpm + f_zmp)) +                                          \
                              (((f_ppp + f_mmm) + (f_pmm + f_mpp)) - ((f_ppm + f_mmp) + (f_pmp + f_mpm)));   \
        const kf_real nxz = pi_xx - pi_zz, nyz = pi_yy - pi_zz, sixth = KF_R(1.0 / 6.0);                     \
        const kf_real along_x = sixth * (KF_R(2.0) * nxz - nyz), along_y = sixth * (KF_R(2.0) * nyz - nxz),  \
                      along_z = -sixth * (nxz + nyz);                                                        \
        kf_real mixed = 0, square = KF_R(1e-30);                                                             \
        KF_EACH_VELOCITY(KF_KBC_SUM)                                                                         \
        const kf_real gamma = KF_R(1.0) / beta - (KF_R(2.0) - KF_R(1.0) / beta) * mixed / square;            \
        KF_EACH_VELOCITY(KF_KBC_RELAX)                                                                       \
    } while (0)

#endif
#endif
