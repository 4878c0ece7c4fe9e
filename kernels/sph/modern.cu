/* The scheme `modern`: weakly compressible SPH with the kernel Wendland C2. The density follows the
 * continuity equation with diffusion (Molteni and Colagrossi 2009). Pairs of particles exchange momentum
 * antisymmetrically, so it is conserved. Fluids of constant viscosity need one sum over the neighbours
 * (flow). Others need two: one for the rates of density and strain (strain), one for the forces (motion).
 *
 * Defines besides those of the headers:
 *   KF_STIFF       Tait's equation of state with exponent 7; otherwise a linear one
 *   KF_TENSION     negative pressures stay; otherwise they are set to 0
 *   KF_DROPS       walls do not pull isolated drops (with KF_TENSION)
 *   KF_SHIFTS      particles are shifted (kf_shift)
 *   KF_BOUNDED     there are walls without particles (walls.h)
 *   KF_DUMMIES     there are walls made of particles
 *   KF_ARTIFICIAL  Monaghan's artificial viscosity acts between particles that approach
 *   KF_VISCOUS     the fluid has a viscosity, as in Morris et al. 1997
 *   KF_CENTRAL     friction acts along the line between two particles instead (Monaghan and Gingold 1983)
 *   KF_IMPACT      pressures rise where fluid meets fluid or a wall (kf_impact) */
#include "integrate.h"
#include "neighbours.h"
#include "rheology.h"
#include "walls.h"

/* Returns what the limited Riemann solver of Zhang, Hu and Adams 2017 adds to the pressures of two
 * particles that approach at this speed. */
KF_FUNCTION float kf_impact(const kf_sph_arguments *a, float closing) {
    return kf_smaller(a->impact * closing, 1.0f) * closing;
}
KF_FUNCTION float kf_pressure(float e) {
#if KF_STIFF /* Tait: ((1 + e)^7 - 1) / 7 */
    const float p =
        e * (1.0f + e * (3.0f + e * (5.0f + e * (5.0f + e * (3.0f + e * (1.0f + e * (1.0f / 7.0f)))))));
#else
    const float p = e;
#endif
    return KF_TENSION ? p : kf_larger(p, 0.0f);
}

/* Return a neighbour's volume, and whether it is of the fluid. The volume of a wall's particle is negative
 * in memory. */
#if KF_DUMMIES
#define KF_VOLUME(q) fabsf(q.w)
#define KF_FLUID(q)  (q.w > 0.0f ? 1.0f : 0.0f)
#else
#define KF_VOLUME(q) q.w
#define KF_FLUID(q)  1.0f
#endif

/* ---- Walls made of particles ----
 *
 * A wall's particle takes pressure, velocity and stress from the fluid around it, so that the sums of the
 * fluid's particles can treat it as fluid (Adami, Hu and Adams 2012). The velocity is mirrored. The
 * continuity equation takes the wall at rest instead. */
#if KF_DUMMIES
KF_SCALAR_KERNEL(dummies, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    if (!kf_is_wall(a->sorted.identity[i])) return;
    kf_four p = kf_load(a->sorted.position, i, n);
    float sum = 0, pressure = 0, sx = 0, sy = 0, sz = 0;
    float txx = 0, tyy = 0, txy = 0, txz = 0, tyz = 0;
    KF_FIRST_NEIGHBOURS(p, i, "omp simd reduction(+ : sum, pressure, sx, sy, sz, txx, tyy, txy, txz, tyz)", {
        const kf_four w = KF_VELOCITY_OF(j);
        const float t = kf_weight(a, r2), weight = q.w > 0.0f ? t * t * t * t * (5.0f - 4.0f * t) : 0.0f;
        sum += weight;
        pressure += weight * (kf_pressure(w.w) +
                              (1.0f + w.w) * (a->gravity[0] * dx + a->gravity[1] * dy + a->gravity[2] * dz));
        sx += weight * w.x, sy += weight * w.y, sz += weight * w.z;
        if (KF_STRESS) {
            const kf_deviator s = KF_STRESS_OF(j);
            txx += weight * s.xx, tyy += weight * s.yy, txy += weight * s.xy;
            txz += weight * s.xz, tyz += weight * s.yz;
        }
    })
    KF_ADD_LANES(float, &sum, &pressure, &sx, &sy, &sz)
    if (KF_STRESS) KF_ADD_LANES(float, &txx, &tyy, &txy, &txz, &tyz)
    if (KF_LANE > 0) return;
    const float inverse = sum > 1e-6f ? 1.0f / sum : 0.0f, sign = a->wall_slips ? inverse : -inverse;
    kf_four v;
    v.x = sign * sx, v.y = sign * sy, v.z = sign * sz;
    pressure = kf_larger(pressure * inverse, 0.0f);
    v.w = KF_STIFF ? kf_power(1.0f + 7.0f * pressure, 1.0f / 7.0f) - 1.0f : pressure;
    p.w = -1.0f / (1.0f + v.w);
    kf_keep(a->sorted.velocity, i, n, v);
    if (KF_STRESS) {
        kf_deviator s;
        s.xx = inverse * txx, s.yy = inverse * tyy, s.xy = inverse * txy, s.xz = inverse * txz,
        s.yz = inverse * tyz;
        kf_keep_stress(a->sorted.stress, i, n, s);
    }
    kf_keep(a->sorted.position, i, n, p); /* other particles use only the volume's size, and its sign */
}
#endif

/* Returns the push of a wall without particles along its normal, over the particle's volume. It contains
 * the pressures of particle and wall, each times G of walls.h. The wall's pressure follows from the
 * particle's by hydrostatics: p_w G = p_i G + rho g_n M. To this come artificial viscosity while the
 * particle approaches, and a push back for a particle that is almost through the wall. */
KF_FUNCTION float kf_wall_push(const kf_sph_arguments *a, const kf_wall *w, kf_four v, float pressure,
                               int drop) {
    const float un = (v.x - w->vx) * w->nx + (v.y - w->vy) * w->ny + (v.z - w->vz) * w->nz;
    const float weight =
        -(a->gravity[0] * w->nx + a->gravity[1] * w->ny + a->gravity[2] * w->nz) * (1.0f + v.w);
    const float on_wall = (pressure * w->gradient + weight * w->moment);
    const float through = kf_larger(KF_CLOSEST_WALL - w->distance, 0.0f);
#if KF_IMPACT
    /* The velocity behind the wall is mirrored, which doubles the speed of approach. The term is that of both
     * pressures, so on_wall has none. */
    pressure += kf_impact(a, kf_larger(-2.0f * un, 0.0f));
#endif
    return pressure * w->gradient + (KF_TENSION && !drop ? on_wall : kf_larger(on_wall, 0.0f)) +
           0.1f * kf_smaller(through, 1.0f) * w->gradient +
           a->artificial * kf_larger(-un, 0.0f) / kf_larger(w->distance, KF_CLOSEST_WALL) * w->gradient;
}

/* Returns the displacement that evens out the particles (Lind et al. 2012). There is none near the
 * surface, where neighbours are missing. */
KF_FUNCTION kf_four kf_shift(const kf_sph_arguments *a, kf_four v, float cx, float cy, float cz,
                             float spread) {
    kf_four s;
    s.x = s.y = s.z = s.w = 0.0f;
    if (!KF_SHIFTS || spread < a->shifting_surface) return s;
    const float size = -a->shifting * kf_length(v.x, v.y, v.z) * a->clock->step;
    s.x = size * cx, s.y = size * cy, s.z = size * cz;
    return s;
}

/* Computes each particle's acceleration (pressure, walls, friction, gravity), the rate of its density and
 * its shift in one sum over its neighbours, and moves it through the step. */
#if !KF_STRESS
KF_SCALAR_KERNEL(flow, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n), v = kf_load(a->sorted.velocity, i, n);
    const float pressure = kf_pressure(v.w);
    float ax = 0, ay = 0, az = 0, compression = 0, diffusion = 0, cx = 0, cy = 0, cz = 0, spread = 0;
    float fx = 0, fy = 0, fz = 0; /* friction */
    if (p.w > 0.0f && kf_inside(a, p)) {
        KF_NEIGHBOURS(
            p, i,
            "omp simd reduction(+ : ax, ay, az, compression, diffusion, cx, cy, cz, spread, fx, fy, fz)", {
                const kf_four w = KF_VELOCITY_OF(j);
                const float t = kf_weight(a, r2), weight = t * t * t * KF_VOLUME(q);
                const float ux = v.x - w.x, uy = v.y - w.y, uz = v.z - w.z;
                const float vx = ux * dx + uy * dy + uz * dz;
                const float soft = kf_reciprocal(r2 + a->softening);
                float push = weight * (pressure + kf_pressure(w.w));
#if KF_DUMMIES
                compression += weight * (q.w > 0.0f ? vx : v.x * dx + v.y * dy + v.z * dz);
#else
            compression += weight * vx;
#endif
                diffusion += weight * KF_FLUID(q) * r2 * soft *
                             (w.w - v.w + a->gravity[0] * dx + a->gravity[1] * dy + a->gravity[2] * dz);
#if KF_ARTIFICIAL
                push -= weight * a->artificial * kf_smaller(vx, 0.0f) * soft;
#endif
#if KF_IMPACT
#if KF_DUMMIES
                const float apart = q.w > 0.0f ? vx : 2.0f * (v.x * dx + v.y * dy + v.z * dz);
#else
            const float apart = vx;
#endif
                push += weight * kf_impact(a, kf_larger(-apart, 0.0f) *
                                                  kf_reciprocal(kf_larger(kf_square_root(r2), 1e-3f)));
#endif
                ax += push * dx, ay += push * dy, az += push * dz;
#if KF_VISCOUS
#if KF_CENTRAL
                const float drag = (float)(KF_DIMENSIONS + 2) * weight * vx * soft * a->viscosity;
                const float gx = drag * dx, gy = drag * dy, gz = drag * dz;
#else
            const float drag = weight * r2 * soft * a->viscosity;
            const float gx = drag * ux, gy = drag * uy, gz = drag * uz;
#endif
#if KF_BOUNDED /* kept apart from the pressure force, which walls complete below */
                fx -= gx, fy -= gy, fz -= gz;
#else
            ax -= gx, ay -= gy, az -= gz;
#endif
#endif
#if KF_SHIFTS
                cx -= weight * dx, cy -= weight * dy, cz -= weight * dz;
#endif
#if KF_SHIFTS || KF_DROPS
                spread += weight * r2;
#endif
            })
        KF_ADD_LANES(float, &ax, &ay, &az, &compression, &diffusion)
        if (KF_VISCOUS && KF_BOUNDED) KF_ADD_LANES(float, &fx, &fy, &fz)
        if (KF_SHIFTS) KF_ADD_LANES(float, &cx, &cy, &cz)
        if (KF_SHIFTS || KF_DROPS) KF_ADD_LANES(float, &spread)
    }
    if (KF_LANE > 0) return;
    const float f = a->gradient, fv = f * p.w;
    /* A drop has no neighbours that even out its density. A wall that pulled it would make it swing
     * further each time. So walls do not pull drops, and a drop's density does not fall below the rest
     * density while it leaves a wall. */
    const int drop = KF_DROPS && spread * f < 0.125f * (float)KF_DIMENSIONS;
    const float on_wall = drop ? kf_larger(pressure, 0.0f) : pressure;
    ax *= fv, ay *= fv, az *= fv, cx *= f, cy *= f, cz *= f, spread *= f;
    compression *= -f;
#if KF_BOUNDED
    float more = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0; /* sums over walls of m and of m n n */
    fx *= fv, fy *= fv, fz *= fv;
    KF_ONE_BY_ONE for (int k = 0; k < KF_WALLS; k++) {
        kf_wall w;
        if (!kf_wall_at(a, p, k, &w)) continue;
        const float d = kf_larger(w.distance, KF_CLOSEST_WALL),
                    push = p.w * kf_wall_push(a, &w, v, on_wall, drop);
        const float ux = v.x - w.vx, uy = v.y - w.vy, uz = v.z - w.vz, un = ux * w.nx + uy * w.ny + uz * w.nz;
        const float drag = p.w * p.w * a->viscosity * (1.0f - w.slip) * w.gradient / d;
        ax += push * w.nx, ay += push * w.ny, az += push * w.nz;
        fx -= drag * (ux - un * w.nx), fy -= drag * (uy - un * w.ny), fz -= drag * (uz - un * w.nz);
        const float m = w.along / (1.0f - w.along), mx = m * w.nx, my = m * w.ny, mz = m * w.nz;
        more += m, xx += mx * w.nx, yy += my * w.ny, zz += mz * w.nz, xy += mx * w.ny, xz += mx * w.nz,
            yz += my * w.nz;
        compression -= (drop && v.w <= 0.0f ? kf_smaller(un, 0.0f) : un) * w.moment / d;
        cx -= w.gradient * w.nx, cy -= w.gradient * w.ny, cz -= w.gradient * w.nz;
        spread += w.moment;
    }
    /* The pressure behind a wall changes along the wall as it does before it. The fluid's sum lacks the
     * share T of this (walls.h), so it is divided by 1 - T along the wall. Otherwise a column of water
     * would fall at a side wall. */
    if (!drop) {
        const float px = ax, py = ay, pz = az;
        ax += more * px - xx * px - xy * py - xz * pz, ay += more * py - xy * px - yy * py - yz * pz;
        az += more * pz - xz * px - yz * py - zz * pz;
    }
    ax += fx, ay += fy, az += fz;
#endif
    kf_four acceleration;
    acceleration.x = ax + a->gravity[0], acceleration.y = ay + a->gravity[1],
    acceleration.z = az + a->gravity[2];
    acceleration.w = (1.0f + v.w) * compression + a->diffusion * f * diffusion;
    kf_integrate(a, i, p, v, acceleration, kf_shift(a, v, cx, cy, cz, spread));
}
#else

/* Computes de/dt, the shift and the new stress from the first sum over the neighbours. */
KF_SCALAR_KERNEL(strain, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n), v = kf_load(a->sorted.velocity, i, n);
    float lxx = 0, lxy = 0, lxz = 0, lyx = 0, lyy = 0, lyz = 0, lzx = 0, lzy = 0, lzz = 0;
    float compression = 0, diffusion = 0, cx = 0, cy = 0, cz = 0, spread = 0;
    if (p.w < 0.0f || !kf_inside(a, p)) return;
    KF_FIRST_NEIGHBOURS(
        p, i,
        "omp simd reduction(+:lxx,lxy,lxz,lyx,lyy,lyz,lzx,lzy,lzz,compression,diffusion,cx,cy,cz,spread)", {
            const kf_four w = KF_VELOCITY_OF(j);
            const float t = kf_weight(a, r2), weight = t * t * t * KF_VOLUME(q);
            const float ux = v.x - w.x, uy = v.y - w.y, uz = v.z - w.z;
            const float gx = weight * dx, gy = weight * dy, gz = weight * dz; /* -V grad W / f */
            lxx += ux * gx, lxy += ux * gy, lyx += uy * gx, lyy += uy * gy;
            if (KF_DIMENSIONS == 3) {
                lxz += ux * gz, lyz += uy * gz, lzx += uz * gx, lzy += uz * gy, lzz += uz * gz;
            }
#if KF_DUMMIES
            compression += q.w > 0.0f ? ux * gx + uy * gy + uz * gz : v.x * gx + v.y * gy + v.z * gz;
#endif
            diffusion += weight * KF_FLUID(q) * r2 * kf_reciprocal(r2 + a->softening) *
                         (w.w - v.w + a->gravity[0] * dx + a->gravity[1] * dy + a->gravity[2] * dz);
#if KF_SHIFTS
            cx -= gx, cy -= gy, cz -= gz, spread += weight * r2;
#endif
        })
    KF_ADD_LANES(float, &lxx, &lxy, &lyx, &lyy, &diffusion)
    if (KF_DIMENSIONS == 3) KF_ADD_LANES(float, &lxz, &lyz, &lzx, &lzy, &lzz)
    if (KF_DUMMIES) KF_ADD_LANES(float, &compression)
    if (KF_SHIFTS) KF_ADD_LANES(float, &cx, &cy, &cz, &spread)
    if (KF_LANE > 0) return;
    const float f = a->gradient;
    kf_gradient l;
#if !KF_DUMMIES
    compression = lxx + lyy + lzz;
#endif
    l.xx = f * lxx, l.xy = f * lxy, l.xz = f * lxz, l.yx = f * lyx, l.yy = f * lyy, l.yz = f * lyz;
    l.zx = f * lzx, l.zy = f * lzy, l.zz = f * lzz;
    compression *= -f, cx *= f, cy *= f, cz *= f, spread *= f;
    KF_ONE_BY_ONE for (int k = 0; k < KF_WALLS; k++) {
        kf_wall w;
        if (!kf_wall_at(a, p, k, &w)) continue;
        const float d = kf_larger(w.distance, KF_CLOSEST_WALL), g = w.moment / d;
        float ux = v.x - w.vx, uy = v.y - w.vy, uz = v.z - w.vz;
        const float un = ux * w.nx + uy * w.ny + uz * w.nz;
        compression -= un * g;
        ux -= w.slip * (ux - un * w.nx), uy -= w.slip * (uy - un * w.ny), uz -= w.slip * (uz - un * w.nz);
        const float gx = g * w.nx, gy = g * w.ny, gz = g * w.nz;
        l.xx += ux * gx, l.xy += ux * gy, l.xz += ux * gz, l.yx += uy * gx, l.yy += uy * gy, l.yz += uy * gz;
        l.zx += uz * gx, l.zy += uz * gy, l.zz += uz * gz;
        cx -= w.gradient * w.nx, cy -= w.gradient * w.ny, cz -= w.gradient * w.nz;
        spread += w.moment;
    }
    const kf_four s = kf_shift(a, v, cx, cy, cz, spread);
    a->sums[4 * i] = s.x, a->sums[4 * i + 1] = s.y, a->sums[4 * i + 2] = s.z;
    a->sums[4 * i + 3] = (1.0f + v.w) * compression + a->diffusion * f * diffusion;
    const kf_deviator old = kf_load_stress(a->sorted.stress, i, n);
    float viscosity;
    kf_keep_stress(a->sorted.stress, i, n,
                   kf_new_stress(a, l, kf_pressure(v.w), old, a->clock->previous, &viscosity));
#if KF_PAIRED
    a->sums[4 * n + i] = viscosity;
#endif
}

/* Computes the forces from the second sum over the neighbours, and moves the particle through the step. */
KF_SCALAR_KERNEL(motion, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n), v = kf_load(a->sorted.velocity, i, n);
    const kf_deviator new_stress = kf_load_stress(a->sorted.stress, i, n);
#if KF_PAIRED
    const kf_deviator s = kf_scaled(new_stress, KF_SUM_SHARE);
    const float viscosity = a->sums[4 * n + i];
#else
    const kf_deviator s = new_stress;
#endif
    const float pressure = kf_pressure(v.w), szz = -s.xx - s.yy;
    float ax = 0, ay = 0, az = 0;
    kf_four acceleration, shift;
    shift.x = shift.y = shift.z = shift.w = 0.0f;
    acceleration = shift;
    if (p.w > 0.0f && kf_inside(a, p)) {
        KF_NEIGHBOURS(p, i, "omp simd reduction(+ : ax, ay, az)", {
            const kf_four w = KF_VELOCITY_OF(j);
            kf_deviator u = KF_STRESS_OF(j);
            const float t = kf_weight(a, r2), weight = t * t * t * KF_VOLUME(q);
#if KF_PAIRED
            const float between = viscosity + (KF_FLUID(q) > 0.0f ? a->sums[4 * n + j] : viscosity);
            const float drag = KF_PAIR_SHARE * weight * between * r2 * kf_reciprocal(r2 + a->softening);
            u = kf_scaled(u, KF_SUM_SHARE);
            ax -= drag * (v.x - w.x), ay -= drag * (v.y - w.y), az -= drag * (v.z - w.z);
#endif
            float push = pressure + kf_pressure(w.w);
#if KF_ARTIFICIAL
            const float vx = (v.x - w.x) * dx + (v.y - w.y) * dy + (v.z - w.z) * dz;
            push -= a->artificial * kf_smaller(vx, 0.0f) * kf_reciprocal(r2 + a->softening);
#endif
            ax += weight * ((push - s.xx - u.xx) * dx - (s.xy + u.xy) * dy - (s.xz + u.xz) * dz);
            ay += weight * ((push - s.yy - u.yy) * dy - (s.xy + u.xy) * dx - (s.yz + u.yz) * dz);
            if (KF_DIMENSIONS == 3)
                az += weight * ((push - szz + u.xx + u.yy) * dz - (s.xz + u.xz) * dx - (s.yz + u.yz) * dy);
        })
        KF_ADD_LANES(float, &ax, &ay, &az)
        if (KF_LANE > 0) return;
        const float fv = a->gradient * p.w;
        const kf_four old = kf_load(a->sorted.rate, i, n);
        ax *= fv, ay *= fv, az *= fv;
        KF_ONE_BY_ONE for (int k = 0; k < KF_WALLS; k++) {
            kf_wall w;
            if (!kf_wall_at(a, p, k, &w)) continue;
            const float push = kf_wall_push(a, &w, v, pressure, 0), g = 2.0f * w.gradient;
            /* The traction of the fluid's stress on the wall. Its part along the wall is limited by the
             * wall's friction. */
            float tx = g * (s.xx * w.nx + s.xy * w.ny + s.xz * w.nz),
                  ty = g * (s.xy * w.nx + s.yy * w.ny + s.yz * w.nz),
                  tz = g * (s.xz * w.nx + s.yz * w.ny + szz * w.nz);
            const float tn = tx * w.nx + ty * w.ny + tz * w.nz;
            tx -= tn * w.nx, ty -= tn * w.ny, tz -= tn * w.nz;
            /* The traction continues linearly behind the wall. Its slope is that of the momentum balance
             * along the wall, d tau / d n = rho (a - g), with the last step's acceleration a. */
            float lx = a->gravity[0] - old.x, ly = a->gravity[1] - old.y, lz = a->gravity[2] - old.z;
            const float ln = lx * w.nx + ly * w.ny + lz * w.nz,
                        more = (KF_PAIRED ? KF_SUM_SHARE : 1.0f) * w.moment * (1.0f + v.w);
            tx += more * (lx - ln * w.nx), ty += more * (ly - ln * w.ny), tz += more * (lz - ln * w.nz);
#if KF_PAIRED
            const float ux = v.x - w.vx, uy = v.y - w.vy, uz = v.z - w.vz,
                        un = ux * w.nx + uy * w.ny + uz * w.nz;
            const float drag =
                2.0f * KF_PAIR_SHARE * p.w * viscosity * w.gradient / kf_larger(w.distance, KF_CLOSEST_WALL);
            tx += drag * (ux - un * w.nx), ty += drag * (uy - un * w.ny), tz += drag * (uz - un * w.nz);
#endif
            const float most = a->bed_friction * kf_larger(push - tn, 0.0f), size = kf_length(tx, ty, tz);
            const float along =
                (1.0f - w.slip) * (a->bed_friction > 0.0f && size > most ? most / size : 1.0f);
            ax += p.w * ((push - tn) * w.nx - along * tx), ay += p.w * ((push - tn) * w.ny - along * ty);
            az += p.w * ((push - tn) * w.nz - along * tz);
        }
        acceleration.x = ax + a->gravity[0], acceleration.y = ay + a->gravity[1];
        acceleration.z = az + a->gravity[2], acceleration.w = a->sums[4 * i + 3];
        shift.x = a->sums[4 * i], shift.y = a->sums[4 * i + 1], shift.z = a->sums[4 * i + 2];
    }
    if (KF_LANE > 0) return;
    kf_keep_stress(a->next.stress, i, n, new_stress);
    kf_integrate(a, i, p, v, acceleration, shift);
}
#endif
