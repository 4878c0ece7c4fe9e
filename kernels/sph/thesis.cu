/* The scheme `thesis` of Sandvik 2021 (NTNU), with those misprints corrected that its own text proves
 * (docs/sph.md). The density is a sum with the kernel poly6. The pressure gradient has the kernel spiky at
 * half its weight. Friction is a Laplacian, or a stress from the velocity gradient. XSPH is fed back into
 * the momentum. Walls push by a penalty, and speed and acceleration are limited. Velocities are those of
 * half steps. There are three dimensions.
 *
 * Defines: KF_STRESS, friction is a stress. KF_XSPH, velocities are smoothed. */
#include "integrate.h"
#include "neighbours.h"
#include "rheology.h"
#include "walls.h"

KF_FUNCTION float kf_clipped(float e) {
    return kf_larger(e, 0.0f);
}

/* Sums each particle's density with the kernel poly6, and stores its deviation from the rest density. */
KF_SCALAR_KERNEL(density, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n);
    float sum = 0;
    if (!kf_inside(a, p)) return;
    KF_FIRST_NEIGHBOURS(p, i, "omp simd reduction(+ : sum)", {
        const float t = kf_larger(a->support2 - r2, 0.0f);
        sum += t * t * t;
    })
    KF_ADD_LANES(float, &sum)
    if (KF_LANE > 0) return;
#if KF_SEARCH == KF_SEARCH_LIST /* a list does not contain the particle itself */
    sum += a->support2 * a->support2 * a->support2;
#endif
    kf_four v = kf_load(a->sorted.velocity, i, n);
    v.w = a->poly6 * sum - 1.0f;
    kf_keep(a->sorted.velocity, i, n, v);
}

#if KF_STRESS
/* Returns 2 mu D, or the stress of the thesis' Bingham law, which jumps at the yield stress: mu_s below
 * it, tau_y / |D| + 2 mu |D|^(N-1) above. */
KF_FUNCTION kf_deviator kf_thesis_stress(const kf_sph_arguments *a, kf_gradient l) {
    const kf_deviator d = kf_strain_rate(l);
    const float size = kf_size(d);
    if (KF_YIELD && 2.0f * a->viscosity_at_rest * size <= a->yield)
        return kf_scaled(d, 2.0f * a->viscosity_at_rest);
    const float least = kf_larger(size, a->smallest_rate);
    float factor =
        KF_NEWTONIAN ? 2.0f * a->consistency : 2.0f * a->consistency * kf_power(least, a->exponent - 1.0f);
    if (KF_YIELD) factor += a->yield / least;
    return kf_scaled(d, factor);
}

/* Computes each particle's velocity gradient with the kernel spiky, its stress (kf_thesis_stress), and the
 * sums of XSPH. */
KF_SCALAR_KERNEL(stress, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n), v = kf_load(a->sorted.velocity, i, n);
    float lxx = 0, lxy = 0, lxz = 0, lyx = 0, lyy = 0, lyz = 0, lzx = 0, lzy = 0, lzz = 0, sx = 0, sy = 0,
          sz = 0;
    if (!kf_inside(a, p)) return;
    KF_NEIGHBOURS(p, i, "omp simd reduction(+ : lxx, lxy, lxz, lyx, lyy, lyz, lzx, lzy, lzz, sx, sy, sz)", {
        const kf_four w = KF_VELOCITY_OF(j);
        const float r = kf_square_root(r2), gap = kf_larger(a->support - r, 0.0f);
        const float g = gap * gap * kf_reciprocal(kf_larger(r, 1e-6f) * (1.0f + w.w));
        const float ux = w.x - v.x, uy = w.y - v.y, uz = w.z - v.z;
        const float gx = g * dx, gy = g * dy, gz = g * dz;
        lxx -= ux * gx, lxy -= ux * gy, lxz -= ux * gz, lyx -= uy * gx, lyy -= uy * gy, lyz -= uy * gz;
        lzx -= uz * gx, lzy -= uz * gy, lzz -= uz * gz;
        if (KF_XSPH) {
            const float t = kf_larger(a->support2 - r2, 0.0f),
                        s = t * t * t * kf_reciprocal(2.0f + v.w + w.w);
            sx += s * ux, sy += s * uy, sz += s * uz;
        }
    })
    KF_ADD_LANES(float, &lxx, &lxy, &lxz, &lyx, &lyy, &lyz, &lzx, &lzy, &lzz, &sx, &sy, &sz)
    if (KF_LANE > 0) return;
    const float f = a->spiky, s = 2.0f * a->xsph * a->poly6;
    kf_gradient l;
    l.xx = f * lxx, l.xy = f * lxy, l.xz = f * lxz, l.yx = f * lyx, l.yy = f * lyy, l.yz = f * lyz;
    l.zx = f * lzx, l.zy = f * lzy, l.zz = f * lzz;
    kf_keep_stress(a->sorted.stress, i, n, kf_thesis_stress(a, l));
    a->sums[4 * i] = s * sx, a->sums[4 * i + 1] = s * sy, a->sums[4 * i + 2] = s * sz;
}
#endif

/* Adds the walls' acceleration. A particle that is d behind a wall is pushed by K_s d - K_d (v . n) along
 * the normal n. One that is near a wall feels friction along it. */
KF_FUNCTION kf_four kf_penalty(const kf_sph_arguments *a, kf_four p, kf_four v, kf_four acceleration) {
    KF_ONE_BY_ONE for (int k = 0; k < KF_WALLS; k++) {
        kf_wall w;
        if (!kf_wall_at(a, p, k, &w)) continue;
        const float vn = v.x * w.nx + v.y * w.ny + v.z * w.nz;
        if (w.distance < 0.0f) {
            const float push = -a->penalty * w.distance - a->damping * vn;
            acceleration.x += push * w.nx, acceleration.y += push * w.ny, acceleration.z += push * w.nz;
        }
        if (w.distance < a->drag_height) {
            acceleration.x -= a->drag * (v.x - vn * w.nx), acceleration.y -= a->drag * (v.y - vn * w.ny);
            acceleration.z -= a->drag * (v.z - vn * w.nz);
        }
    }
    return acceleration;
}

KF_FUNCTION kf_four kf_limited(kf_four v, float limit) {
    const float size = kf_length(v.x, v.y, v.z), factor = size > limit ? limit / size : 1.0f;
    v.x *= factor, v.y *= factor, v.z *= factor;
    return v;
}

/* Sums each particle's forces by pressure and stress, or by pressure and viscosity. It adds walls and
 * gravity, limits acceleration and speed, and moves the particle through the step. */
KF_SCALAR_KERNEL(force, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    kf_four p = kf_load(a->sorted.position, i, n), v = kf_load(a->sorted.velocity, i, n), f;
    float px = 0, py = 0, pz = 0, sx = 0, sy = 0, sz = 0;
    const float pressure = kf_clipped(v.w), h = a->clock->step;
    if (kf_inside(a, p)) {
#if KF_STRESS
        const kf_deviator s = kf_load_stress(a->sorted.stress, i, n);
        KF_NEIGHBOURS(p, i, "omp simd reduction(+ : px, py, pz)", {
            const kf_four w = KF_VELOCITY_OF(j);
            const kf_deviator u = KF_STRESS_OF(j);
            const float r = kf_square_root(r2), gap = kf_larger(a->support - r, 0.0f);
            const float g = gap * gap * kf_reciprocal(kf_larger(r, 1e-6f) * (1.0f + w.w));
            const float push = a->half_pressure * (pressure + kf_clipped(w.w));
            const float xx = push - s.xx - u.xx, yy = push - s.yy - u.yy,
                        zz = push + s.xx + u.xx + s.yy + u.yy;
            px += g * (xx * dx - (s.xy + u.xy) * dy - (s.xz + u.xz) * dz);
            py += g * (yy * dy - (s.xy + u.xy) * dx - (s.yz + u.yz) * dz);
            pz += g * (zz * dz - (s.xz + u.xz) * dx - (s.yz + u.yz) * dy);
        })
        KF_ADD_LANES(float, &px, &py, &pz)
        sx = a->sums[4 * i], sy = a->sums[4 * i + 1], sz = a->sums[4 * i + 2];
        px *= a->spiky, py *= a->spiky, pz *= a->spiky;
#else
        KF_NEIGHBOURS(p, i, "omp simd reduction(+ : px, py, pz, sx, sy, sz)", {
            const kf_four w = KF_VELOCITY_OF(j);
            const float r = kf_square_root(r2), gap = kf_larger(a->support - r, 0.0f),
                        volume = kf_reciprocal(1.0f + w.w);
            const float push = a->half_pressure * a->spiky * (pressure + kf_clipped(w.w)) * volume * gap *
                               gap * kf_reciprocal(kf_larger(r, 1e-6f));
            const float drag = a->laplacian * gap * volume, ux = w.x - v.x, uy = w.y - v.y, uz = w.z - v.z;
            px += push * dx + drag * ux, py += push * dy + drag * uy, pz += push * dz + drag * uz;
            if (KF_XSPH) {
                const float t = kf_larger(a->support2 - r2, 0.0f),
                            s = t * t * t * kf_reciprocal(2.0f + v.w + w.w);
                sx += s * ux, sy += s * uy, sz += s * uz;
            }
        })
        KF_ADD_LANES(float, &px, &py, &pz, &sx, &sy, &sz)
        const float s = 2.0f * a->xsph * a->poly6;
        sx *= s, sy *= s, sz *= s;
#endif
        if (KF_LANE > 0) return;
        const float volume = 1.0f / (1.0f + v.w);
        f.x = px * volume + a->gravity[0], f.y = py * volume + a->gravity[1],
        f.z = pz * volume + a->gravity[2];
        f.w = 0.0f;
        f = kf_limited(kf_penalty(a, p, v, f), a->acceleration_limit);
        v.x += sx + h * f.x, v.y += sy + h * f.y, v.z += sz + h * f.z;
        v = kf_limited(v, a->speed_limit);
        p.x += h * v.x, p.y += h * v.y, p.z += h * v.z, p.w = volume;
        p = kf_settled(a, p);
        kf_watch(a, i, p);
        const float speed = kf_length(v.x, v.y, v.z);
        if (!(speed < 1e10f)) a->clock->flags |= KF_SPH_LOST;
        KF_RAISE(a, speed, speed);
        KF_RAISE(a, acceleration, kf_length(f.x, f.y, f.z));
        kf_keep(a->next.rate, i, n, f);
    }
    if (KF_LANE > 0) return;
    a->next.identity[i] = a->sorted.identity[i];
    kf_keep(a->next.position, i, n, p), kf_keep(a->next.velocity, i, n, v);
    if (KF_STRESS) kf_keep_stress(a->next.stress, i, n, kf_load_stress(a->sorted.stress, i, n));
    kf_count(a, i, p);
}
