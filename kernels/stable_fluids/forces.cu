/* Changes the velocity before its advection, and prepares what some schemes need: pushes of the scene,
 * sources, vorticity confinement, MacCormack's first advection, and the reflected velocity. */
#include "advection.h"

/* Applies the pushes of this step in their order, then advances the clock. Each simulation has one block
 * of KF_THREADS threads, since pushes may overlap. */
#ifndef KF_THREADS
#define KF_THREADS 128
#endif
KF_BLOCK_KERNEL(impulses, kf_fluid_arguments) {
    const long long now = a->clock[2 * block_y];
    long long next = a->clock[2 * block_y + 1];
    while (next < a->impulse_count && a->impulses[next].step <= now) {
        const kf_fluid_impulse *p = &a->impulses[next];
        const int width = 2 * p->reach + 1,
                  count = KF_DIMENSIONS == 3 ? width * width * width : width * width;
        KF_EACH_OF(i, count, KF_THREADS) {
            const int dx = i % width - p->reach, dy = i / width % width - p->reach,
                      dz = KF_DIMENSIONS == 3 ? i / (width * width) - p->reach : 0;
            const int x = kf_wrapped(p->cell[0] + dx, KF_NX), y = kf_wrapped(p->cell[1] + dy, KF_NY),
                      z = kf_wrapped(p->cell[2] + dz, KF_NZ);
            const kf_real weight =
                KF_R(1) / KF_R(1 + dx * dx * dx * dx + dy * dy * dy * dy + dz * dz * dz * dz);
            const int cell = (z * KF_NY + y) * KF_NX + x;
            kf_vector velocity = kf_velocity_at(kf_view_of(a, a->target, block_y), cell);
            velocity.u += weight * KF_R(p->vector[0]), velocity.v += weight * KF_R(p->vector[1]),
                velocity.w += weight * KF_R(p->vector[2]);
            kf_put_velocity(a, a->target, block_y, cell, velocity);
        }
        KF_BARRIER;
        next++;
    }
    KF_BARRIER;
    KF_EACH_OF(i, 1, KF_THREADS) {
        a->clock[2 * block_y] = now + 1;
        a->clock[2 * block_y + 1] = next;
    }
}

/* Returns the distance of a cell from a source along an axis, across the box's ends where that is nearer. */
KF_FUNCTION kf_real kf_from_source(double center, int cell, int n) {
    const kf_real d = KF_R(cell) - KF_R(center), half = KF_R(0.5) * KF_R(n);
    return d > half ? d - KF_R(n) : d < -half ? d + KF_R(n) : d;
}

/* Returns the weight of a source at a cell, (1 - r^2 / R^2)^2; 0: it does not act there now. */
KF_FUNCTION kf_real kf_source_weight(const kf_fluid_source *s, long long now, int x, int y, int z) {
    if (now < s->first || now > s->last) return KF_R(0);
    const kf_real dx = kf_from_source(s->center[0], x, KF_NX), dy = kf_from_source(s->center[1], y, KF_NY),
                  dz = KF_DIMENSIONS == 3 ? kf_from_source(s->center[2], z, KF_NZ) : KF_R(0);
    const kf_real left = KF_R(1) - (dx * dx + dy * dy + dz * dz) / KF_R(s->radius * s->radius);
    return left > KF_R(0) ? left * left : KF_R(0);
}

/* Applies the sources, with a thread for each cell of the box around one. The extent is (cells of the
 * largest box, sources, simulations). Where several sources act on a cell, the first one's thread applies
 * all: the velocity is pulled to their weighted mean, so that neither their order matters nor which of two
 * mirror images comes first. */
KF_SCALAR_KERNEL(sources, kf_fluid_arguments) {
    const kf_fluid_source *own = &a->sources[y];
    const long long now = a->clock[2 * z] - 1;
    const int reach = (int)own->radius + 1, width = 2 * reach + 1;
    if (x >= (KF_DIMENSIONS == 3 ? width * width * width : width * width)) return;
    const int cx = kf_wrapped((int)KF_FLOOR(KF_R(own->center[0]) + KF_R(0.5)) + x % width - reach, KF_NX);
    const int cy =
        kf_wrapped((int)KF_FLOOR(KF_R(own->center[1]) + KF_R(0.5)) + x / width % width - reach, KF_NY);
    const int cz =
        KF_DIMENSIONS == 3
            ? kf_wrapped((int)KF_FLOOR(KF_R(own->center[2]) + KF_R(0.5)) + x / (width * width) - reach, KF_NZ)
            : 0;
    const int cell = (cz * KF_NY + cy) * KF_NX + cx;
    kf_vector pulled = {KF_R(0), KF_R(0), KF_R(0)}, driven = {KF_R(0), KF_R(0), KF_R(0)};
    kf_real kept = KF_R(1), pulls = KF_R(0);
    if (kf_source_weight(own, now, cx, cy, cz) == KF_R(0)) return;
    for (int i = 0; i < y; i++)
        if (kf_source_weight(&a->sources[i], now, cx, cy, cz) > KF_R(0)) return;
    for (int i = y; i < a->extent[1]; i++) {
        const kf_fluid_source *s = &a->sources[i];
        const kf_real weight = kf_source_weight(s, now, cx, cy, cz), pull = weight * KF_R(s->pull);
        kept *= KF_R(1) - pull, pulls += pull;
        pulled.u += pull * KF_R(s->velocity[0]), pulled.v += pull * KF_R(s->velocity[1]),
            pulled.w += pull * KF_R(s->velocity[2]);
        driven.u += weight * KF_R(s->acceleration[0]), driven.v += weight * KF_R(s->acceleration[1]),
            driven.w += weight * KF_R(s->acceleration[2]);
    }
    const kf_real share = pulls > KF_R(0) ? (KF_R(1) - kept) / pulls : KF_R(0);
    kf_vector velocity = kf_velocity_at(kf_view_of(a, a->target, z), cell);
    velocity.u = kept * velocity.u + share * pulled.u + driven.u;
    velocity.v = kept * velocity.v + share * pulled.v + driven.v;
    velocity.w = kept * velocity.w + share * pulled.w + driven.w;
    kf_put_velocity(a, a->target, z, cell, velocity);
#if KF_DYES > 0
    KF_UNROLL
    for (int i = 0; i < KF_DYES; i++) {
        kf_stored_real *dye =
            (kf_stored_real *)a->dye_target + ((long long)z * KF_DYES + i) * KF_CELLS + cell;
        kf_real poured = KF_R(0);
        for (int k = y; k < a->extent[1]; k++)
            poured += kf_source_weight(&a->sources[k], now, cx, cy, cz) * KF_R(a->sources[k].dye[i]);
        *dye = KF_TO_STORED(KF_FROM_STORED(*dye) + poured);
    }
#endif
}

/* Returns the vorticity by central differences. In two dimensions it is along z. */
KF_FUNCTION kf_vector kf_vorticity(kf_view field, int x, int y, int z) {
    const int xm = kf_wrapped(x + KF_NX - 1, KF_NX), xp = kf_next(x, KF_NX),
              ym = kf_wrapped(y + KF_NY - 1, KF_NY), yp = kf_next(y, KF_NY);
    const int zm = kf_wrapped(z + KF_NZ - 1, KF_NZ), zp = kf_next(z, KF_NZ);
#define KF_AT(i, j, k) kf_velocity_at(field, ((k)*KF_NY + (j)) * KF_NX + (i))
    const kf_vector west = KF_AT(xm, y, z), east = KF_AT(xp, y, z), south = KF_AT(x, ym, z),
                    north = KF_AT(x, yp, z);
    const kf_vector below = KF_AT(x, y, zm), above = KF_AT(x, y, zp);
#undef KF_AT
    kf_vector curl;
    curl.u = KF_DIMENSIONS == 3 ? KF_R(0.5) * (north.w - south.w - above.v + below.v) : KF_R(0);
    curl.v = KF_DIMENSIONS == 3 ? KF_R(0.5) * (above.u - below.u - east.w + west.w) : KF_R(0);
    curl.w = KF_R(0.5) * (east.v - west.v - north.u + south.u);
    return curl;
}
KF_FUNCTION kf_real kf_length(kf_vector v) {
#if KF_VELOCITY_BITS == 64
    return sqrt(v.u * v.u + v.v * v.v + v.w * v.w);
#else
    return sqrtf(v.u * v.u + v.v * v.v + v.w * v.w);
#endif
}
/* Adds vorticity confinement (Fedkiw, Stam and Jensen 2001): eps N x omega, where N is the direction in
 * which |omega| grows. z is simulation times NZ plus the plane. */
KF_SCALAR_KERNEL(confine, kf_fluid_arguments) {
    const int simulation = z / KF_NZ, k = z % KF_NZ;
    const kf_view field = kf_view_of(a, a->field, simulation);
    const kf_vector curl = kf_vorticity(field, x, y, k);
    kf_vector n, push;
    n.u = kf_length(kf_vorticity(field, kf_next(x, KF_NX), y, k)) -
          kf_length(kf_vorticity(field, kf_wrapped(x + KF_NX - 1, KF_NX), y, k));
    n.v = kf_length(kf_vorticity(field, x, kf_next(y, KF_NY), k)) -
          kf_length(kf_vorticity(field, x, kf_wrapped(y + KF_NY - 1, KF_NY), k));
    n.w = KF_DIMENSIONS == 3 ? kf_length(kf_vorticity(field, x, y, kf_next(k, KF_NZ))) -
                                   kf_length(kf_vorticity(field, x, y, kf_wrapped(k + KF_NZ - 1, KF_NZ)))
                             : KF_R(0);
    /* The constant keeps the force small where the vorticity is uniform. There rounding alone would choose
     * a direction, and the force would grow. */
    const kf_real share = KF_PARAMETER(a, confinement) / (kf_length(n) + KF_R(0.03));
    push.u = share * (n.v * curl.w - n.w * curl.v);
    push.v = share * (n.w * curl.u - n.u * curl.w);
    push.w = share * (n.u * curl.v - n.v * curl.u);
    kf_put_velocity(a, (void *)a->acceleration, simulation, (k * KF_NY + y) * KF_NX + x, push);
}

/* Advects a field once by linear interpolation. This is the first half of MacCormack's scheme. */
KF_KERNEL(predict, kf_fluid_arguments) {
    const int simulation = z / KF_NZ, k = z % KF_NZ, cell = (k * KF_NY + y) * KF_NX + x;
    const kf_vector d = kf_trace(a, kf_view_of(a, a->wind, simulation), x, y, k);
    const kf_place place = kf_locate(x, y, k, d, 2);
    kf_put_velocity(a, (void *)a->predicted, simulation, cell,
                    kf_linear_velocity(kf_view_of(a, a->field, simulation), &place, 2));
#if KF_DYES > 0
    KF_UNROLL
    for (int i = 0; i < KF_DYES; i++)
        ((kf_stored_real *)a->dye_predicted)[((long long)simulation * KF_DYES + i) * KF_CELLS + cell] =
            KF_TO_STORED(kf_linear_real(kf_dye_of(a->dye, simulation, i), &place, 2));
#endif
}

/* Computes the field that the second half of a step with reflection advects: twice the projected velocity
 * less the velocity before the projection (Zehnder, Narain and Thomaszewski 2018). */
KF_KERNEL(reflect, kf_fluid_arguments) {
    const int simulation = z / KF_NZ, cell = ((z % KF_NZ) * KF_NY + y) * KF_NX + x;
    const kf_vector kept = kf_velocity_at(kf_view_of(a, a->kept, simulation), cell);
    kf_vector velocity = kf_velocity_at(kf_view_of(a, a->target, simulation), cell);
    velocity.u = KF_R(2) * velocity.u - kept.u, velocity.v = KF_R(2) * velocity.v - kept.v,
    velocity.w = KF_R(2) * velocity.w - kept.w;
    kf_put_velocity(a, a->kept, simulation, cell, velocity);
}
