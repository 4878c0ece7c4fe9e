/* The inverse transform of central moments in the paper's expanded form (section 4.4.2). Each population
 * after the collision is a polynomial in the velocity: f_i = sum over p, q, r of ux^p uy^q uz^r times a
 * sum of moments.
 *
 * With x = X + u the polynomials that select the velocities 0, +1, -1 are 1 - x^2, (x^2 + x) / 2, (x^2 -
 * x) / 2. Along one axis they give, for each power p of u, the terms in the table below. Three of these
 * multiply out to the paper's Eq. 10 (in monomials instead of De Rosis' combinations). Moments are
 * deviations, so f_i - w_i also gets what the moments of the rest state give at velocity u, which is the
 * equilibrium of density 1.
 *
 * KF_FORM 1 computes every term by itself, a moment times the velocities. KF_FORM 2 is the paper's
 * simplification: it sums the moments of each monomial first, and computes the monomials once for all
 * populations. */
#ifndef KF_KERNELS_KINETIC_EXPANDED_H
#define KF_KERNELS_KINETIC_EXPANDED_H

/* Each velocity is X(number, and -1, 0, 1 along x, y, z as the letters m, z, p). */
/* clang-format off */
#define KF_EXPANDED_DIRECTIONS(X)                                                                            \
    X(0, z, z, z)                                                                                            \
    X(1, p, z, z) X(2, m, z, z) X(3, z, p, z) X(4, z, m, z) X(5, z, z, p) X(6, z, z, m) X(7, p, p, z)        \
        X(8, m, p, z) X(9, p, m, z) X(10, m, m, z) X(11, p, z, p) X(12, m, z, p) X(13, p, z, m)              \
            X(14, m, z, m) X(15, z, p, p) X(16, z, m, p) X(17, z, p, m) X(18, z, m, m) X(19, p, p, p)        \
                X(20, m, p, p) X(21, p, m, p) X(22, m, m, p) X(23, p, p, m) X(24, m, p, m) X(25, p, m, m)    \
                    X(26, m, m, m)
/* clang-format on */

/* The terms of velocity c (z p m) with the powers 0 1 2 of u, where w is a factor of every term. There is
 * one table for each axis, because a macro cannot use itself. The z axis names the moment, and the others
 * hand on their letter. */
#define KF_Z_z0(a, b, w) ((f_##a##b##m * (w)) - (f_##a##b##p * (w)))
#define KF_Z_z1(a, b, w) (-KF_R(2) * (f_##a##b##z * (w)))
#define KF_Z_z2(a, b, w) (-(f_##a##b##m * (w)))
#define KF_Z_p0(a, b, w) (KF_R(0.5) * (f_##a##b##z * (w)) + KF_R(0.5) * (f_##a##b##p * (w)))
#define KF_Z_p1(a, b, w) (KF_R(0.5) * (f_##a##b##m * (w)) + (f_##a##b##z * (w)))
#define KF_Z_p2(a, b, w) (KF_R(0.5) * (f_##a##b##m * (w)))
#define KF_Z_m0(a, b, w) (-KF_R(0.5) * (f_##a##b##z * (w)) + KF_R(0.5) * (f_##a##b##p * (w)))
#define KF_Z_m1(a, b, w) (-KF_R(0.5) * (f_##a##b##m * (w)) + (f_##a##b##z * (w)))
#define KF_Z_m2(a, b, w) (KF_R(0.5) * (f_##a##b##m * (w)))
#define KF_Y_z0(a, Z, w) (Z(a, m, w) - Z(a, p, w))
#define KF_Y_z1(a, Z, w) (-KF_R(2) * Z(a, z, w))
#define KF_Y_z2(a, Z, w) (-Z(a, m, w))
#define KF_Y_p0(a, Z, w) (KF_R(0.5) * Z(a, z, w) + KF_R(0.5) * Z(a, p, w))
#define KF_Y_p1(a, Z, w) (KF_R(0.5) * Z(a, m, w) + Z(a, z, w))
#define KF_Y_p2(a, Z, w) (KF_R(0.5) * Z(a, m, w))
#define KF_Y_m0(a, Z, w) (-KF_R(0.5) * Z(a, z, w) + KF_R(0.5) * Z(a, p, w))
#define KF_Y_m1(a, Z, w) (-KF_R(0.5) * Z(a, m, w) + Z(a, z, w))
#define KF_Y_m2(a, Z, w) (KF_R(0.5) * Z(a, m, w))
#define KF_X_z0(Y, Z, w) (Y(m, Z, w) - Y(p, Z, w))
#define KF_X_z1(Y, Z, w) (-KF_R(2) * Y(z, Z, w))
#define KF_X_z2(Y, Z, w) (-Y(m, Z, w))
#define KF_X_p0(Y, Z, w) (KF_R(0.5) * Y(z, Z, w) + KF_R(0.5) * Y(p, Z, w))
#define KF_X_p1(Y, Z, w) (KF_R(0.5) * Y(m, Z, w) + Y(z, Z, w))
#define KF_X_p2(Y, Z, w) (KF_R(0.5) * Y(m, Z, w))
#define KF_X_m0(Y, Z, w) (-KF_R(0.5) * Y(z, Z, w) + KF_R(0.5) * Y(p, Z, w))
#define KF_X_m1(Y, Z, w) (-KF_R(0.5) * Y(m, Z, w) + Y(z, Z, w))
#define KF_X_m2(Y, Z, w) (KF_R(0.5) * Y(m, Z, w))

/* Expands T(velocity, powers) for the 27 monomials. */
/* clang-format off */
#define KF_MONOMIALS(T, a, b, c)                                                                             \
    T(a, b, c, 0, 0, 0)                                                                                      \
    T(a, b, c, 0, 0, 1) T(a, b, c, 0, 0, 2) T(a, b, c, 0, 1, 0) T(a, b, c, 0, 1, 1) T(a, b, c, 0, 1, 2)      \
        T(a, b, c, 0, 2, 0) T(a, b, c, 0, 2, 1) T(a, b, c, 0, 2, 2) T(a, b, c, 1, 0, 0) T(a, b, c, 1, 0, 1)  \
            T(a, b, c, 1, 0, 2) T(a, b, c, 1, 1, 0) T(a, b, c, 1, 1, 1) T(a, b, c, 1, 1, 2)                  \
                T(a, b, c, 1, 2, 0) T(a, b, c, 1, 2, 1) T(a, b, c, 1, 2, 2) T(a, b, c, 2, 0, 0)              \
                    T(a, b, c, 2, 0, 1) T(a, b, c, 2, 0, 2) T(a, b, c, 2, 1, 0) T(a, b, c, 2, 1, 1)          \
                        T(a, b, c, 2, 1, 2) T(a, b, c, 2, 2, 0) T(a, b, c, 2, 2, 1) T(a, b, c, 2, 2, 2)
/* clang-format on */

#define KF_POWER_0(u) KF_R(1.0)
#define KF_POWER_1(u) (u)
#define KF_POWER_2(u) ((u) * (u))
#if KF_FORM == KF_EXPANDED_FORM
#define KF_EXPANDED_TERM(a, b, c, p, q, r)                                                                   \
    +KF_X_##a##p(KF_Y_##b##q, KF_Z_##c##r, (KF_POWER_##p(ux) * KF_POWER_##q(uy) * KF_POWER_##r(uz)))
#define KF_DECLARE_MONOMIALS
#else
#define KF_EXPANDED_TERM(a, b, c, p, q, r)                                                                   \
    +monomial_##p##q##r *KF_X_##a##p(KF_Y_##b##q, KF_Z_##c##r, KF_R(1.0))
#define KF_DECLARE_MONOMIALS                                                                                 \
    const kf_real monomial_000 = KF_POWER_0(ux) * KF_POWER_0(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_001 = KF_POWER_0(ux) * KF_POWER_0(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_002 = KF_POWER_0(ux) * KF_POWER_0(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_010 = KF_POWER_0(ux) * KF_POWER_1(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_011 = KF_POWER_0(ux) * KF_POWER_1(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_012 = KF_POWER_0(ux) * KF_POWER_1(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_020 = KF_POWER_0(ux) * KF_POWER_2(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_021 = KF_POWER_0(ux) * KF_POWER_2(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_022 = KF_POWER_0(ux) * KF_POWER_2(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_100 = KF_POWER_1(ux) * KF_POWER_0(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_101 = KF_POWER_1(ux) * KF_POWER_0(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_102 = KF_POWER_1(ux) * KF_POWER_0(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_110 = KF_POWER_1(ux) * KF_POWER_1(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_111 = KF_POWER_1(ux) * KF_POWER_1(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_112 = KF_POWER_1(ux) * KF_POWER_1(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_120 = KF_POWER_1(ux) * KF_POWER_2(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_121 = KF_POWER_1(ux) * KF_POWER_2(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_122 = KF_POWER_1(ux) * KF_POWER_2(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_200 = KF_POWER_2(ux) * KF_POWER_0(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_201 = KF_POWER_2(ux) * KF_POWER_0(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_202 = KF_POWER_2(ux) * KF_POWER_0(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_210 = KF_POWER_2(ux) * KF_POWER_1(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_211 = KF_POWER_2(ux) * KF_POWER_1(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_212 = KF_POWER_2(ux) * KF_POWER_1(uy) * KF_POWER_2(uz);                           \
    const kf_real monomial_220 = KF_POWER_2(ux) * KF_POWER_2(uy) * KF_POWER_0(uz);                           \
    const kf_real monomial_221 = KF_POWER_2(ux) * KF_POWER_2(uy) * KF_POWER_1(uz);                           \
    const kf_real monomial_222 = KF_POWER_2(ux) * KF_POWER_2(uy) * KF_POWER_2(uz);
#endif

#define KF_EXPANDED_POPULATION(i, a, b, c)                                                                   \
    const kf_real g_##a##b##c = KF_MONOMIALS(KF_EXPANDED_TERM, a, b, c);
/* Adds the equilibrium of density 1, which the deviations lack. */
#define KF_EXPANDED_FINISH(i, name, cx, cy, cz)                                                              \
    f_##name = g_##name + kf_equilibrium_deviation(KF_W1(cx), KF_E(x, cx), KF_W1(cy), KF_E(y, cy),           \
                                                   KF_W1(cz), KF_E(z, cz), KF_R(0.0));
#define KF_FROM_MOMENTS(vx, vy, vz)                                                                          \
    KF_DECLARE_MONOMIALS                                                                                     \
    KF_EXPANDED_DIRECTIONS(KF_EXPANDED_POPULATION)                                                           \
    KF_EQUILIBRIUM_FACTORS(x, ux)                                                                            \
    KF_EQUILIBRIUM_FACTORS(y, uy)                                                                            \
    KF_EQUILIBRIUM_FACTORS(z, uz)                                                                            \
    KF_EACH_VELOCITY(KF_EXPANDED_FINISH)

#endif
