/* Parts of a step that are passes of their own between transforms of whole fields, for the plans paper,
 * separate, packed and batched. There is one simulation. The work arrays are planes [component][z][y][2
 * (NX / 2 + 1)] of reals, which transforms turn into modes in place. The plan packed has u + i v as
 * [z][y][x] instead, and w in a plane behind. */
#include "advection.h"
#include "modes.h"

#ifndef KF_KEEP
#define KF_KEEP 0
#endif
#define KF_HALF_MODES  (KF_NX / 2 + 1)
#define KF_PLANE_MODES ((long long)KF_HALF_MODES * KF_ROWS)

/* Copies the velocity, since the source's advection reads from a copy. */
KF_KERNEL(copy_velocity, kf_fluid_arguments) {
    const int cell = (z * KF_NY + y) * KF_NX + x;
    kf_put_velocity(a, a->target, 0, cell, kf_velocity_at(kf_view_of(a, a->field, 0), cell));
}

KF_FUNCTION kf_vector kf_advected(const kf_fluid_arguments *a, int x, int y, int z, const kf_strip *fetched,
                                  int k) {
    const kf_vector velocity = kf_arrived(a, 0, x, y, z, fetched, k);
#if KF_KEEP
    if (a->kept != 0) kf_put_velocity(a, a->kept, 0, (z * KF_NY + y) * KF_NX + x, velocity);
#endif
    return velocity;
}
KF_FUNCTION void kf_to_planes(const kf_fluid_arguments *a, int x, int y, int z, kf_vector velocity) {
    kf_real *plane = (kf_real *)a->spectrum + (long long)2 * KF_HALF_MODES * (z * KF_NY + y) + x;
    plane[0] = velocity.u;
    plane[2 * KF_PLANE_MODES] = velocity.v;
    if (KF_DIMENSIONS == 3) plane[4 * KF_PLANE_MODES] = velocity.w;
}
KF_FUNCTION void kf_to_packed(const kf_fluid_arguments *a, int x, int y, int z, kf_vector velocity) {
    const int row = z * KF_NY + y;
    ((kf_complex *)a->spectrum)[(long long)row * KF_NX + x] = kf_complex_of(velocity.u, velocity.v);
    if (KF_DIMENSIONS == 3)
        ((kf_real *)((kf_complex *)a->spectrum + KF_CELLS))[(long long)2 * KF_HALF_MODES * row + x] =
            velocity.w;
}
#define KF_NOTHING_BEFORE(a, x0, x1, y, z, strip) 1
#define KF_STRIP_END(a, x0, end, y, z)            ((end) - (x0) < KF_STRIP ? (end) : (x0) + KF_STRIP)
#if KF_STRIPS
#define KF_ADVECTION_KERNEL(name, put)                                                                       \
    KF_FUNCTION void name##_strip(const kf_fluid_arguments *a, int x0, int x1, int y, int z,                 \
                                  kf_strip *strip) {                                                         \
        kf_fetch_located(a, 0, x1 - x0, strip);                                                              \
        _Pragma("omp simd") for (int x = x0; x < x1; x++)                                                    \
            put(a, x, y, z, kf_advected(a, x, y, z, strip, x - x0));                                         \
    }                                                                                                        \
    KF_ROW_KERNEL(name, kf_fluid_arguments, KF_STRIP_END, kf_strip, 1, KF_NOTHING_BEFORE, name##_strip) {    \
        kf_locate_cell(a, 0, x, y, z, kept, x - x0);                                                         \
    }
#else
#define KF_ADVECTION_KERNEL(name, put)                                                                       \
    KF_KERNEL(name, kf_fluid_arguments) {                                                                    \
        put(a, x, y, z, kf_advected(a, x, y, z, 0, 0));                                                      \
    }
#endif
KF_ADVECTION_KERNEL(advect_planes, kf_to_planes)
KF_ADVECTION_KERNEL(advect_packed, kf_to_packed)

#if KF_DIMENSIONS == 2
#define KF_PROJECT(c)                                                                                        \
    const kf_complex before[2] = {c[0], c[1]};                                                               \
    c[0] = kf_projected_2(&f, before[0], before[1], 0), c[1] = kf_projected_2(&f, before[0], before[1], 1);
#else
#define KF_PROJECT(c) kf_projected_3(&f, c);
#endif

/* Diffuses and projects the modes of all components. The extent is the modes of a plane. */
KF_KERNEL(project_planes, kf_fluid_arguments) {
    kf_complex *mode = (kf_complex *)a->spectrum + (long long)KF_HALF_MODES * (z * KF_NY + y) + x, c[3];
    const kf_mode_factors f = kf_factors(a, x, y, z);
    KF_UNROLL
    for (int i = 0; i < KF_DIMENSIONS; i++)
        c[i] = mode[i * KF_PLANE_MODES];
    KF_PROJECT(c)
    KF_UNROLL
    for (int i = 0; i < KF_DIMENSIONS; i++)
        mode[i * KF_PLANE_MODES] = c[i];
}

/* Diffuses and projects the modes k and -k of u + i v, which are separated for this and joined again. In
 * planes that are their own mirror image, the item of -k leaves half of them out. */
KF_FUNCTION void kf_project_packed(const kf_fluid_arguments *a, int x, int y, int z) {
    const int my = y == 0 ? 0 : KF_NY - y, mz = z == 0 ? 0 : KF_NZ - z, mx = x == 0 ? 0 : KF_NX - x;
    const int row = z * KF_NY + y, mirror = (KF_DIMENSIONS == 3 ? mz : 0) * KF_NY + my;
    if (mirror < row || (mirror == row && mx < x)) return;
    kf_complex *pairs = (kf_complex *)a->spectrum;
    const long long here = (long long)row * KF_NX + x, there = (long long)mirror * KF_NX + mx;
    const kf_complex p = pairs[here], q = pairs[there];
    const kf_mode_factors f = kf_factors(a, KF_SIGNED(x, KF_NX), y, z);
    kf_complex c[3];
    c[0] = kf_complex_of(KF_R(0.5) * (p.re + q.re), KF_R(0.5) * (p.im - q.im));
    c[1] = kf_complex_of(KF_R(0.5) * (p.im + q.im), KF_R(0.5) * (q.re - p.re));
#if KF_DIMENSIONS == 3
    /* The component w is real and has modes for kx <= NX / 2 only. Elsewhere its mode is the conjugate of
     * the mirrored one. */
    kf_complex *thirds = pairs + KF_CELLS;
    const int left = 2 * x <= KF_NX;
    kf_complex *third =
        left ? thirds + (long long)KF_HALF_MODES * row + x : thirds + (long long)KF_HALF_MODES * mirror + mx;
    c[2] = *third;
    if (!left) c[2].im = -c[2].im;
#endif
    KF_PROJECT(c)
    pairs[here] = kf_complex_of(c[0].re - c[1].im, c[0].im + c[1].re);
    pairs[there] = kf_complex_of(c[0].re + c[1].im, c[1].re - c[0].im);
#if KF_DIMENSIONS == 3
    *third = kf_complex_of(c[2].re, left ? c[2].im : -c[2].im);
    if (left && 2 * mx <= KF_NX)
        thirds[(long long)KF_HALF_MODES * mirror + mx] = kf_complex_of(c[2].re, -c[2].im);
#endif
}

/* The extent is NX along kx, and half of the last axis, its middle included. */
#if KF_CUDA || KF_DIMENSIONS == 3
KF_SCALAR_KERNEL(project_packed, kf_fluid_arguments) {
    kf_project_packed(a, x, y, z);
}
#else
/* The factors for the modes of a row, then for those of the mirrored row in the order of the former. */
typedef struct kf_packed_strip {
    kf_real along[KF_STRIP], whole[KF_STRIP], k0[KF_STRIP], k1[KF_STRIP], there[2 * KF_STRIP];
} kf_packed_strip;
KF_FUNCTION void kf_project_strip(const kf_fluid_arguments *a, int x0, int x1, int y, int z,
                                  kf_packed_strip *s) {
    if (y == 0 || 2 * y == KF_NY) {
        for (int x = x0; x < x1; x++)
            kf_project_packed(a, x, y, z);
        return;
    }
    kf_real *here = (kf_real *)a->spectrum + 2 * ((long long)y * KF_NX + x0);
    kf_real *there = (kf_real *)a->spectrum + 2 * (long long)(KF_NY - y) * KF_NX;
    for (int x = x0; x < x1; x++) {
        const kf_real *mode = there + 2 * (x == 0 ? 0 : KF_NX - x);
        s->there[2 * (x - x0)] = mode[0], s->there[2 * (x - x0) + 1] = mode[1];
    }
    _Pragma("omp simd") for (int i = 0; i < x1 - x0; i++) {
        kf_mode_factors f;
        f.along = s->along[i], f.whole = s->whole[i], f.k[0] = s->k0[i], f.k[1] = s->k1[i], f.mean = 0;
        const kf_complex p = kf_complex_of(here[2 * i], here[2 * i + 1]),
                         q = kf_complex_of(s->there[2 * i], s->there[2 * i + 1]);
        const kf_complex u = kf_complex_of(KF_R(0.5) * (p.re + q.re), KF_R(0.5) * (p.im - q.im));
        const kf_complex v = kf_complex_of(KF_R(0.5) * (p.im + q.im), KF_R(0.5) * (q.re - p.re));
        const kf_complex first = kf_projected_2(&f, u, v, 0), second = kf_projected_2(&f, u, v, 1);
        here[2 * i] = first.re - second.im, here[2 * i + 1] = first.im + second.re;
        s->there[2 * i] = first.re + second.im, s->there[2 * i + 1] = second.re - first.im;
    }
    for (int x = x0; x < x1; x++) {
        kf_real *mode = there + 2 * (x == 0 ? 0 : KF_NX - x);
        mode[0] = s->there[2 * (x - x0)], mode[1] = s->there[2 * (x - x0) + 1];
    }
}
KF_ROW_KERNEL(project_packed, kf_fluid_arguments, KF_STRIP_END, kf_packed_strip, 1, KF_NOTHING_BEFORE,
              kf_project_strip) {
    const kf_mode_factors f = kf_factors(a, KF_SIGNED(x, KF_NX), y, z);
    kept->along[x - x0] = f.along, kept->whole[x - x0] = f.whole, kept->k0[x - x0] = f.k[0],
                    kept->k1[x - x0] = f.k[1];
}
#endif

/* Converts the planes to a velocity. */
KF_KERNEL(update, kf_fluid_arguments) {
    const kf_real *plane = (const kf_real *)a->spectrum + (long long)2 * KF_HALF_MODES * (z * KF_NY + y) + x;
    kf_vector velocity;
    velocity.u = plane[0], velocity.v = plane[2 * KF_PLANE_MODES];
    velocity.w = KF_DIMENSIONS == 3 ? plane[4 * KF_PLANE_MODES] : KF_R(0);
    kf_put_velocity(a, a->target, 0, (z * KF_NY + y) * KF_NX + x, velocity);
}
