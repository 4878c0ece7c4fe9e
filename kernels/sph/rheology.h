/* The deviatoric stress as a function of the rate of strain D, the pressure p and the stored stress.
 * docs/sph.md names the laws.
 *   KF_YIELD      0 none; 1 constant; 2 mu(I) p; 3 c cos(phi) + p sin(phi) (Drucker-Prager)
 *   KF_FLOW       0 bi-viscous: eta = min(limit, K gamma^(n-1) + tau_y / gamma)
 *                 1 Papanastasiou: eta = K gamma^(n-1) + tau_y (1 - exp(-m gamma)) / gamma
 *                 2 elastoviscoplastic: the stored stress follows the Jaumann rate and returns radially to
 *                   the yield surface
 *   KF_NEWTONIAN  the exponent n is 1
 *
 * gamma = 2 |D| with |D| = sqrt(D:D / 2), tau = 2 eta D, |tau| = sqrt(tau:tau / 2) = eta gamma. */
#ifndef KF_KERNELS_SPH_RHEOLOGY_H
#define KF_KERNELS_SPH_RHEOLOGY_H

#include "particle.h"

typedef struct kf_gradient { /* gradient of the velocity: xy = d v_x / d y */
    float xx, xy, xz, yx, yy, yz, zx, zy, zz;
} kf_gradient;

KF_FUNCTION float kf_power(float base, float exponent) {
#if KF_CUDA
    return __powf(base, exponent);
#else
    return powf(base, exponent);
#endif
}

/* Returns sqrt(s:s / 2) of a symmetric tensor without trace. */
KF_FUNCTION float kf_size(kf_deviator s) {
    const float zz = -s.xx - s.yy;
    return sqrtf(0.5f * (s.xx * s.xx + s.yy * s.yy + zz * zz) + s.xy * s.xy + s.xz * s.xz + s.yz * s.yz);
}
KF_FUNCTION kf_deviator kf_scaled(kf_deviator s, float factor) {
    s.xx *= factor, s.yy *= factor, s.xy *= factor, s.xz *= factor, s.yz *= factor;
    return s;
}
KF_FUNCTION kf_deviator kf_strain_rate(kf_gradient l) {
    kf_deviator d;
    const float third = (l.xx + l.yy + l.zz) * (1.0f / 3.0f);
    d.xx = l.xx - third, d.yy = l.yy - third;
    d.xy = 0.5f * (l.xy + l.yx), d.xz = 0.5f * (l.xz + l.zx), d.yz = 0.5f * (l.yz + l.zy);
    return d;
}

/* Returns the yield stress at this shear rate and pressure, or 0 if the material has none. */
KF_FUNCTION float kf_yield_stress(const kf_sph_arguments *a, float gamma, float pressure) {
#if KF_YIELD == KF_CONSTANT_YIELD
    (void)gamma, (void)pressure;
    return a->yield;
#elif KF_YIELD == KF_MU_I_YIELD
    if (pressure <= 0.0f) return 0.0f;
    /* a->grain is a grain's diameter times the root of its density. */
    const float i = gamma * a->grain / sqrtf(pressure);
    return (a->friction + (a->friction_fast - a->friction) * i / (i + a->inertial_number)) * pressure;
#elif KF_YIELD == KF_DRUCKER_PRAGER_YIELD
    (void)gamma;
    return fmaxf(a->yield + a->friction * pressure, 0.0f);
#else
    (void)a, (void)gamma, (void)pressure;
    return 0.0f;
#endif
}

/* Returns K gamma^(n-1). */
KF_FUNCTION float kf_consistency(const kf_sph_arguments *a, float gamma) {
#if KF_NEWTONIAN
    (void)gamma;
    return a->consistency;
#else
    return a->consistency * kf_power(fmaxf(gamma, a->smallest_rate), a->exponent - 1.0f);
#endif
}

#if KF_FLOW == KF_ELASTIC_FLOW
/* Returns the size |tau| of the stress after its return to the yield surface, from the elastic trial
 * stress. It solves
 * au| + G dt gamma = |trial| with K gamma^n = |tau| - tau_y. */
KF_FUNCTION float kf_returned(const kf_sph_arguments *a, float trial, float yield, float dt) {
    const float stiff = a->shear_modulus * dt;
    if (stiff <= 0.0f) return trial; /* no time has passed before the first step */
#if KF_NEWTONIAN
    return (a->consistency * trial + stiff * yield) / (a->consistency + stiff);
#else
    float gamma = (trial - yield) / (a->consistency + stiff);
    for (int k = 0; k < 6; k++) {
        const float g = fmaxf(gamma, a->smallest_rate),
                    power = a->consistency * kf_power(g, a->exponent - 1.0f);
        gamma = g - (power * g + stiff * g - (trial - yield)) / (a->exponent * power + stiff);
    }
    return trial - stiff * fmaxf(gamma, 0.0f);
#endif
}
#endif

/* Velocities that alternate from particle to particle cancel in a sum over neighbours, so the stress does
 * not damp them and they would grow. In laws with a viscosity, the share KF_PAIR_SHARE of the stress
 * therefore acts between pairs, as in Morris' viscosity. */
#define KF_PAIRED     (KF_STRESS && KF_FLOW != KF_ELASTIC_FLOW)
#define KF_PAIR_SHARE 0.1f
#define KF_SUM_SHARE  (1.0f - KF_PAIR_SHARE)

/* Returns the new stress, and sets *viscosity in the laws that have one. */
KF_FUNCTION kf_deviator kf_new_stress(const kf_sph_arguments *a, kf_gradient l, float pressure,
                                      kf_deviator old, float dt, float *viscosity) {
    const kf_deviator d = kf_strain_rate(l);
    const float gamma = 2.0f * kf_size(d), yield = kf_yield_stress(a, gamma, pressure);
#if KF_FLOW == KF_ELASTIC_FLOW
    *viscosity = 0.0f;
    const float wxy = 0.5f * (l.xy - l.yx), wxz = 0.5f * (l.xz - l.zx), wyz = 0.5f * (l.yz - l.zy);
    const float zz = -old.xx - old.yy, g = 2.0f * a->shear_modulus;
    kf_deviator t = old; /* adds W tau - tau W with W the antisymmetric part of the gradient */
    t.xx += dt * (g * d.xx + 2.0f * (wxy * old.xy + wxz * old.xz));
    t.yy += dt * (g * d.yy + 2.0f * (-wxy * old.xy + wyz * old.yz));
    t.xy += dt * (g * d.xy + wxy * (old.yy - old.xx) + wxz * old.yz + wyz * old.xz);
    t.xz += dt * (g * d.xz + wxz * (zz - old.xx) + wxy * old.yz - wyz * old.xy);
    t.yz += dt * (g * d.yz + wyz * (zz - old.yy) - wxy * old.xz - wxz * old.xy);
    const float size = kf_size(t);
    if (size <= yield) return t;
    return kf_scaled(t, kf_returned(a, size, yield, dt) / size);
#else
    (void)old, (void)dt;
    const float rate = fmaxf(gamma, a->smallest_rate);
#if KF_FLOW == KF_PAPANASTASIOU_FLOW
    const float eta = kf_consistency(a, gamma) + yield * (1.0f - expf(-a->growth * rate)) / rate;
#else
    const float eta = kf_consistency(a, gamma) + yield / rate;
#endif
    *viscosity = fminf(eta, a->viscosity_limit);
    return kf_scaled(d, 2.0f * *viscosity);
#endif
}

#endif
