/* The spectrum in memory, and what happens to a mode: diffusion and projection.
 *
 * Defines that a config or scene sets:
 *   KF_NX, KF_NY, KF_NZ, KF_DIMENSIONS
 *   KF_PITCH             modes of a row in memory, at least KF_MODES_X
 *   KF_TILE              0: rows follow each other; otherwise the columns of a tile
 *   KF_EXPONENTIAL 0|1   diffusion is implicit, or exact */
#ifndef KF_KERNELS_STABLE_FLUIDS_MODES_H
#define KF_KERNELS_STABLE_FLUIDS_MODES_H

#include "numbers.h"

/* With KF_OVERLAP the pass begins while the one before it ends. It awaits its predecessor only then.
 * Elsewhere waiting would hold the twiddles in registers that long lines do not have. Passes do not let
 * their successor begin early, because its blocks would take the place of their own. */
#ifndef KF_OVERLAP
#define KF_OVERLAP 0
#endif
#if KF_OVERLAP
#define KF_AWAIT_LAST KF_AWAIT_PREDECESSOR
#else
#define KF_AWAIT_LAST ((void)0)
#endif
#define KF_LINE_X  (KF_NX / (1 + KF_FOLD_X)) /* values of a row that are transformed */
#define KF_MODES_X ((KF_LINE_X + 1) / 2)
#define KF_ROWS    (KF_NY * KF_NZ / (1 + KF_FOLD_LAST))

typedef struct KF_ALIGNED(2 * sizeof(kf_stored_mode)) kf_mode_pair {
    kf_stored_mode u, v;
} kf_mode_pair;

/* Returns the place of mode kx of a row (y, or z NY + y). The unit is a mode of all components in two
 * dimensions, and of one component in three. */
KF_FUNCTION int kf_mode_place(int kx, int row) {
#if KF_TILE > 0
    return (kx / KF_TILE * KF_ROWS + row) * KF_TILE + kx % KF_TILE;
#else
    return row * KF_PITCH + kx;
#endif
}
#define KF_SPECTRUM_MODES ((long long)KF_PITCH * KF_ROWS)

/* Returns the address of one component of a mode. */
KF_FUNCTION kf_stored_mode *kf_mode(const kf_fluid_arguments *a, int simulation, int component, int place) {
#if KF_DIMENSIONS == 2
    return (kf_stored_mode *)a->spectrum + (KF_SPECTRUM_MODES * simulation + place) * 2 + component;
#else
    return (kf_stored_mode *)a->spectrum + KF_SPECTRUM_MODES * (3 * simulation + component) + place;
#endif
}
#if KF_DIMENSIONS == 2
KF_FUNCTION kf_mode_pair *kf_modes(const kf_fluid_arguments *a, int simulation, int place) {
    return (kf_mode_pair *)a->spectrum + KF_SPECTRUM_MODES * simulation + place;
}
#endif

/* Read and write both components of a mode in one access. On the cpu they are separate numbers, because
 * gcc does not vectorise structs. */
#if KF_DIMENSIONS == 2
KF_FUNCTION void kf_read_modes(const kf_fluid_arguments *a, int simulation, int place, kf_complex *u,
                               kf_complex *v) {
#if KF_CUDA || KF_SPECTRUM_BITS == 16
    const kf_mode_pair modes = *kf_modes(a, simulation, place);
    *u = kf_mode_from(modes.u), *v = kf_mode_from(modes.v);
#else
    const kf_real *modes = (const kf_real *)a->spectrum + 4 * KF_SPECTRUM_MODES * simulation;
    u->re = modes[4 * place], u->im = modes[4 * place + 1], v->re = modes[4 * place + 2],
    v->im = modes[4 * place + 3];
#endif
}
KF_FUNCTION void kf_write_modes(const kf_fluid_arguments *a, int simulation, int place, kf_complex u,
                                kf_complex v) {
#if KF_CUDA || KF_SPECTRUM_BITS == 16
    kf_mode_pair modes;
    modes.u = kf_mode_to(u), modes.v = kf_mode_to(v);
    *kf_modes(a, simulation, place) = modes;
#else
    kf_real *modes = (kf_real *)a->spectrum + 4 * KF_SPECTRUM_MODES * simulation;
    modes[4 * place] = u.re, modes[4 * place + 1] = u.im, modes[4 * place + 2] = v.re,
              modes[4 * place + 3] = v.im;
#endif
}
#endif

/* Returns the wave number of line i of n, with its sign. */
#define KF_SIGNED(i, n) (2 * (i) > (n) ? (i) - (n) : (i))
/* Returns what to add to i for this wave number. At half the sampling rate the sign has no meaning. */
#define KF_SIGN_SHIFT(i, n) (2 * (i) >= (n) ? -(n) : 0)

/* The factors of a mode. D is the diffusion's factor. The projected mode is whole u - along k (k . u) with
 * whole = scale D and along = scale D / k^2. */
typedef struct kf_mode_factors {
    kf_real k[3], along, whole;
    int mean; /* k = 0, which is not projected */
} kf_mode_factors;
/* Returns the factors of the wave numbers kx, ky, kz. mean: all are 0. highest: one is at half the
 * sampling rate. */
KF_FUNCTION kf_mode_factors kf_factors_of(const kf_fluid_arguments *a, kf_real kx, kf_real ky, kf_real kz,
                                          int mean, int highest) {
    kf_mode_factors f;
    const kf_real nu = KF_PARAMETER(a, viscosity), scale = KF_PARAMETER(a, scale);
    f.mean = mean;
    f.k[0] = kx * KF_PARAMETER(a, wave_x);
    f.k[1] = ky * KF_PARAMETER(a, wave_y);
    f.k[2] = KF_DIMENSIONS == 3 ? kz * KF_PARAMETER(a, wave_z) : KF_R(0);
    const kf_real k2 = f.k[0] * f.k[0] + f.k[1] * f.k[1] + (KF_DIMENSIONS == 3 ? f.k[2] * f.k[2] : KF_R(0));
#if KF_EXPONENTIAL
#if KF_VELOCITY_BITS == 64
    f.whole = scale * exp(-nu * k2);
#else
    f.whole = scale * expf(-nu * k2);
#endif
    f.along = f.whole / (mean ? KF_R(1) : k2);
#elif KF_CUDA && KF_VELOCITY_BITS != 64
    const float under = 1.0f + nu * k2;
    float shared;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(shared) : "f"(mean ? 1.0f : under * k2));
    f.along = scale * shared, f.whole = f.along * (mean ? KF_R(1) : k2);
#else
    f.whole = scale / (KF_R(1) + nu * k2);
    f.along = f.whole / (mean ? KF_R(1) : k2);
#endif
    if (highest) f.along = f.whole = 0;
    return f;
}
KF_FUNCTION kf_mode_factors kf_factors(const kf_fluid_arguments *a, int kx, int iy, int iz) {
    return kf_factors_of(a, KF_R(kx), KF_R(iy + KF_SIGN_SHIFT(iy, KF_NY)),
                         KF_DIMENSIONS == 3 ? KF_R(iz + KF_SIGN_SHIFT(iz, KF_NZ)) : KF_R(0),
                         kx == 0 && iy == 0 && iz == 0,
                         2 * kx == KF_NX || 2 * iy == KF_NY || (KF_DIMENSIONS == 3 && 2 * iz == KF_NZ));
}
#if KF_DIMENSIONS == 2
/* Returns a component of the projected mode. In two dimensions a mode without divergence has one
 * amplitude, along (-ky, kx). Computing it avoids a difference of large numbers. */
KF_FUNCTION kf_complex kf_projected_2(const kf_mode_factors *f, kf_complex u, kf_complex v, int component) {
    const kf_complex w = kf_complex_of(f->along * (f->k[0] * v.re - f->k[1] * u.re),
                                       f->along * (f->k[0] * v.im - f->k[1] * u.im));
    const kf_real turn = component == 0 ? -f->k[1] : f->k[0];
    const kf_complex whole = component == 0 ? u : v;
    return f->mean ? kf_complex_of(f->whole * whole.re, f->whole * whole.im)
                   : kf_complex_of(turn * w.re, turn * w.im);
}
/* Returns the thread's component, if another thread has the other one. Both compute the same amplitude to
 * the last bit. */
KF_FUNCTION kf_complex kf_projected_own(const kf_mode_factors *f, kf_complex mine, kf_complex other,
                                        int component) {
    const kf_real p = component == 0 ? -f->k[1] : f->k[0], q = component == 0 ? f->k[0] : -f->k[1],
                  turn = p * f->along;
    const kf_real re = kf_sum_of_products(p, mine.re, q, other.re),
                  im = kf_sum_of_products(p, mine.im, q, other.im);
    return kf_complex_of(f->mean ? f->whole * mine.re : turn * re, f->mean ? f->whole * mine.im : turn * im);
}
#else
KF_FUNCTION void kf_projected_3(const kf_mode_factors *f, kf_complex *c) {
    const kf_real re = f->along * (f->k[0] * c[0].re + f->k[1] * c[1].re + f->k[2] * c[2].re);
    const kf_real im = f->along * (f->k[0] * c[0].im + f->k[1] * c[1].im + f->k[2] * c[2].im);
    KF_UNROLL
    for (int i = 0; i < 3; i++)
        c[i] = kf_complex_of(f->whole * c[i].re - f->k[i] * re, f->whole * c[i].im - f->k[i] * im);
}
#endif

#endif
