/* A sub-step of MacCormack's advection (Selle et al., J. Sci. Comput. 35 (2008) 350) with the viscous
 * term. The velocity `carrier` advects the velocity `source`, and `target` is the result. There are two
 * kernels: predict and correct.
 *
 * Defines besides those of grid.h:
 *   KF_MIDPOINT 0|1    traces use the midpoint rule
 *   KF_LIMITER         where the bounds of a corrected value come from: values that it finds again, or
 *                      bounds that the prediction has kept (choices.h)
 *   KF_VISCOUS         choices.h
 *   KF_PERIODIC 0|1    some axis is periodic
 *   KF_STEPS 0|1       0: eight separate addresses; 1: one address and constant steps from it
 *   KF_ROW, KF_PLANE   where the lengths of rows and planes are constants */
#include "grid.h"
#include "viscous.h"

#ifdef KF_ROW
#define KF_STRIDES(a)                                                                                        \
    { 1, KF_ROW, KF_PLANE }
#else
#define KF_STRIDES(a)                                                                                        \
    { 1, (a)->row, (a)->plane }
#endif

KF_FUNCTION kf_real kf_least(kf_real a, kf_real b) {
    return a < b ? a : b;
}

#if KF_STEPS
/* A GPU has one instruction for each of these, and portable C has none. KF_REACH limits a number before
 * its conversion to an integer. A GPU converts any number, so there the integers are limited instead. A
 * NaN becomes the lower limit, or stays. */
#if KF_CUDA && KF_DOUBLE
#define KF_REACH(value, least, most) (value)
#define KF_SATURATE(value)           fmin(fmax(value, 0.0), 1.0)
#define KF_FLOOR_TO_INT(value)       __double2int_rd(value)
#elif KF_CUDA
#define KF_REACH(value, least, most) (value)
#define KF_SATURATE(value)           __saturatef(value)
#define KF_FLOOR_TO_INT(value)       __float2int_rd(value)
#else
#define KF_REACH(value, least, most) kf_least(kf_most_of(value, least), most)
#define KF_SATURATE(value)           (value)
#define KF_FLOOR_TO_INT(value)       ((int)KF_FLOOR(value))
#endif

/* Eight values around a point, which are reached from `base` by one step `up` along each axis, and the
 * weights of their interpolation. */
typedef struct kf_corners {
    int base, up[3];
    kf_real share[3];
} kf_corners;

/* Finds the two values around `at` plus `offset` along one axis. The position is limited to [0, count -
 * 1], or wraps. At an end it is an interpolation of the last two values, so that the step up is a
 * constant. bounded: it is the last value alone, which the limiter's bounds need. */
KF_FUNCTION void kf_find(const kf_grid *a, int axis, int at, kf_real offset, int count, int stride,
                         int bounded, kf_corners *c) {
    int low;
    if (kf_is_periodic(a, axis)) {
        const kf_real most = KF_R(count - 1), held = offset > most ? most : (offset > -most ? offset : -most);
        const int whole = KF_FLOOR_TO_INT(held);
        low = at + whole;
        low = low < 0 ? low + count : low >= count ? low - count : low;
        c->share[axis] = held - KF_R(whole);
        c->up[axis] = low + 1 == count ? (1 - count) * stride : stride;
    } else if (bounded) {
        const kf_real held = KF_REACH(offset, KF_R(-at - 1), KF_R(count - at));
        int whole = KF_FLOOR_TO_INT(held);
        whole = whole < -at - 1 ? -at - 1 : whole;
        whole = whole > count - 1 - at ? count - 1 - at : whole;
        low = at + whole;
        c->share[axis] = held - KF_R(whole);
        c->up[axis] = low >= 0 && low < count - 1 ? stride : 0;
        low = low < 0 ? 0 : low;
        if (c->up[axis] == 0) c->share[axis] = KF_R(0);
    } else {
        const kf_real held = KF_REACH(offset, KF_R(-at), KF_R(count - 1 - at));
        int whole = KF_FLOOR_TO_INT(held);
        whole = whole < -at ? -at : whole;
        whole = whole > count - 2 - at ? count - 2 - at : whole;
        low = at + whole;
        c->share[axis] = KF_SATURATE(held - KF_R(whole));
        c->up[axis] = stride;
    }
    c->base += low * stride;
}
#else
/* Eight values around a point, and the weights of their interpolation. */
typedef struct kf_corners {
    int low[3], high[3]; /* for each axis, the offsets of the two values in places */
    kf_real share[3];
} kf_corners;

/* Finds the two values around `at` plus `offset` along one axis. The position is limited to [0, count -
 * 1], or wraps. A NaN goes to the lower end. */
KF_FUNCTION void kf_find(const kf_grid *a, int axis, int at, kf_real offset, int count, int stride,
                         int bounded, kf_corners *c) {
    (void)bounded;
    const kf_real most = KF_R(count - 1);
    offset = offset > most ? most : (offset > -most ? offset : -most);
    const kf_real whole = KF_FLOOR(offset);
    int low = at + (int)whole, high;
    c->share[axis] = offset - whole;
    if (kf_is_periodic(a, axis)) {
        low = low < 0 ? low + count : low >= count ? low - count : low;
        high = low + 1 == count ? 0 : low + 1;
    } else {
        high = low + 1;
        low = low < 0 ? 0 : low > count - 1 ? count - 1 : low;
        high = high < 0 ? 0 : high > count - 1 ? count - 1 : high;
    }
    c->low[axis] = low * stride;
    c->high[axis] = high * stride;
}
#endif

/* Returns the corners for the interpolation of component `of` at a displacement d from the face of
 * component `from` at (x, y, z). bounded: the caller also needs the bounds of the values. */
KF_FUNCTION kf_corners kf_corners_of(const kf_grid *a, int of, int from, int x, int y, int z,
                                     const kf_real d[3], int bounded) {
    kf_corners c;
    const int stride[3] = KF_STRIDES(a), at[3] = {x, y, z};
#if KF_STEPS
    c.base = 0;
#endif
    KF_UNROLL
    for (int i = 0; i < 3; i++) {
        const kf_real half = KF_R(0.5) * KF_R((of == i) - (from == i));
        kf_find(a, i, at[i], d[i] + half, a->cells[i] + (of == i && !kf_is_periodic(a, i)), stride[i],
                bounded, &c);
    }
    return c;
}

KF_FUNCTION kf_real kf_mix(kf_real low, kf_real high, kf_real share) {
    return low + share * (high - low);
}

#if KF_STEPS
/* Reads the eight values. Bit i of a value's index says that it lies above along axis i. */
KF_FUNCTION void kf_gather(const kf_grid *a, const void *field, int of, const kf_corners *c,
                           kf_real values[8]) {
    const kf_real *v = KF_CONSTANTS(field) + of * a->capacity + a->origin + c->base;
    KF_UNROLL
    for (int i = 0; i < 8; i++)
        values[i] = v[(i & 1 ? c->up[0] : 0) + (i & 2 ? c->up[1] : 0) + (i & 4 ? c->up[2] : 0)];
}
#else
KF_FUNCTION void kf_gather(const kf_grid *a, const void *field, int of, const kf_corners *c,
                           kf_real values[8]) {
    const kf_real *v = KF_CONSTANTS(field) + of * a->capacity + a->origin;
    const int y[4] = {c->low[1] + c->low[2], c->high[1] + c->low[2], c->low[1] + c->high[2],
                      c->high[1] + c->high[2]};
    KF_UNROLL
    for (int i = 0; i < 8; i++)
        values[i] = v[(i & 1 ? c->high[0] : c->low[0]) + y[i / 2]];
}
#endif
KF_FUNCTION kf_real kf_mixture(const kf_real v[8], const kf_real share[3]) {
    return kf_mix(kf_mix(kf_mix(v[0], v[1], share[0]), kf_mix(v[2], v[3], share[0]), share[1]),
                  kf_mix(kf_mix(v[4], v[5], share[0]), kf_mix(v[6], v[7], share[0]), share[1]), share[2]);
}
#if KF_STEPS
KF_FUNCTION kf_real kf_sample(const kf_grid *a, const void *field, int of, const kf_corners *c) {
    kf_real values[8];
    kf_gather(a, field, of, c, values);
    return kf_mixture(values, c->share);
}
#else
KF_FUNCTION kf_real kf_sample(const kf_grid *a, const void *field, int of, const kf_corners *c) {
    const kf_real *v = KF_CONSTANTS(field) + of * a->capacity + a->origin;
    const int y0 = c->low[1] + c->low[2], y1 = c->high[1] + c->low[2], y2 = c->low[1] + c->high[2],
              y3 = c->high[1] + c->high[2];
    return kf_mix(kf_mix(kf_mix(v[c->low[0] + y0], v[c->high[0] + y0], c->share[0]),
                         kf_mix(v[c->low[0] + y1], v[c->high[0] + y1], c->share[0]), c->share[1]),
                  kf_mix(kf_mix(v[c->low[0] + y2], v[c->high[0] + y2], c->share[0]),
                         kf_mix(v[c->low[0] + y3], v[c->high[0] + y3], c->share[0]), c->share[1]),
                  c->share[2]);
}
#endif

/* Returns the carrier's velocity at a face, with the result of kf_sample: one component is stored there,
 * the others are means of four values. */
KF_FUNCTION void kf_carrier_at(const kf_grid *a, int from, int x, int y, int z, kf_real u[3]) {
    const int stride[3] = KF_STRIDES(a), at[3] = {x, y, z}, n = a->cells[from];
    const kf_index k = kf_place(a, x, y, z);
    const int wraps = kf_is_periodic(a, from);
    /* These are the cells on both sides of the face. */
    const kf_index low = k + (at[from] > 0 ? -stride[from] : wraps ? (n - 1) * stride[from] : 0);
    const kf_index high = at[from] < n ? k : wraps ? k - n * stride[from] : k - stride[from];
    KF_UNROLL
    for (int of = 0; of < 3; of++) {
        const kf_real *v = KF_CONSTANTS(a->carrier) + of * a->capacity;
        const int m = a->cells[of], last = kf_is_periodic(a, of) ? m - 1 : m;
        const int up = at[of] < last ? stride[of] : kf_is_periodic(a, of) ? -last * stride[of] : 0;
        const kf_real half = KF_R(0.5);
        u[of] = of == from ? v[k]
                : of < from
                    ? kf_mix(kf_mix(v[low], v[low + up], half), kf_mix(v[high], v[high + up], half), half)
                    : kf_mix(kf_mix(v[low], v[high], half), kf_mix(v[low + up], v[high + up], half), half);
    }
}

/* Returns the displacement of the face's place over `time` in the carrier's flow. u is the carrier's
 * velocity at the place. */
KF_FUNCTION void kf_trace(const kf_grid *a, int from, int x, int y, int z, const kf_real u[3], kf_real time,
                          kf_real d[3]) {
#if KF_MIDPOINT
    const kf_real half[3] = {KF_R(0.5) * (time * u[0]), KF_R(0.5) * (time * u[1]), KF_R(0.5) * (time * u[2])};
    KF_UNROLL
    for (int of = 0; of < 3; of++) {
        const kf_corners c = kf_corners_of(a, of, from, x, y, z, half, 0);
        d[of] = time * kf_sample(a, a->carrier, of, &c);
    }
#else
    (void)a, (void)from, (void)x, (void)y, (void)z;
    KF_UNROLL
    for (int of = 0; of < 3; of++)
        d[of] = time * u[of];
#endif
}

KF_FUNCTION void kf_bounds_of(const kf_real v[8], kf_real *least, kf_real *most) {
    *least = *most = v[0];
    KF_UNROLL
    for (int i = 1; i < 8; i++) {
        *least = kf_least(*least, v[i]);
        *most = kf_most_of(*most, v[i]);
    }
}

/* Predicts component c of the velocity at its face (x, y, z): the first half of MacCormack's scheme. The
 * value comes from where the fluid was a step before (semi-Lagrangian). The values around that place limit
 * the correction. */
KF_FUNCTION void kf_predict(const kf_grid *a, int c, int x, int y, int z) {
    const kf_index k = kf_place(a, x, y, z);
    kf_real u[3], d[3];
    kf_carrier_at(a, c, x, y, z, u);
    kf_trace(a, c, x, y, z, u, KF_R(-a->duration), d);
    const kf_corners from = kf_corners_of(a, c, c, x, y, z, d, KF_LIMITER == KF_KEPT_LIMITER);
#if KF_LIMITER == KF_KEPT_LIMITER
    kf_real values[8], least, most;
    kf_gather(a, a->source, c, &from, values);
    kf_bounds_of(values, &least, &most);
    const kf_real moved = kf_mixture(values, from.share);
    KF_VALUES(a->kept)[c * a->capacity + k] = least;
    KF_VALUES(a->kept)[(3 + c) * a->capacity + k] = most;
#else
    const kf_real moved = kf_sample(a, a->source, c, &from);
#endif
    KF_VALUES(a->predicted)[c * a->capacity + k] = kf_settled(a, c, x, y, z, k, moved);
}

/* Limits the value to the range from which the prediction was interpolated. */
#if KF_STEPS
KF_FUNCTION kf_real kf_limit(const kf_grid *a, int of, const kf_corners *c, kf_real value) {
    kf_real values[8], least, most;
    kf_gather(a, a->source, of, c, values);
    kf_bounds_of(values, &least, &most);
    return kf_least(kf_most_of(value, least), most);
}
#else
KF_FUNCTION kf_real kf_limit(const kf_grid *a, int of, const kf_corners *c, kf_real value) {
    const kf_real *v = KF_CONSTANTS(a->source) + of * a->capacity + a->origin;
    kf_real least = v[c->low[0] + c->low[1] + c->low[2]], most = least;
    KF_UNROLL
    for (int i = 1; i < 8; i++) {
        const kf_real corner = v[(i & 1 ? c->high[0] : c->low[0]) + (i & 2 ? c->high[1] : c->low[1]) +
                                 (i & 4 ? c->high[2] : c->low[2])];
        least = kf_least(least, corner);
        most = kf_most_of(most, corner);
    }
    return kf_least(kf_most_of(value, least), most);
}
#endif

/* Corrects component c at face (x, y, z): the second half of MacCormack's scheme. It adds half of the
 * error that tracing back shows, limits the result to the values around its origin, and adds force and
 * explicit viscosity. */
KF_FUNCTION void kf_correct(const kf_grid *a, int c, int x, int y, int z) {
    const kf_index k = kf_place(a, x, y, z);
    const long long at = c * a->capacity + k;
    kf_real u[3], d[3];
    kf_carrier_at(a, c, x, y, z, u);
    kf_trace(a, c, x, y, z, u, KF_R(a->duration), d);
    const kf_corners to = kf_corners_of(a, c, c, x, y, z, d, 0);
    kf_real value = KF_CONSTANTS(a->predicted)[at] +
                    KF_R(0.5) * (KF_CONSTANTS(a->source)[at] - kf_sample(a, a->predicted, c, &to));
#if KF_LIMITER == KF_GATHERED_LIMITER
    kf_trace(a, c, x, y, z, u, KF_R(-a->duration), d);
    const kf_corners from = kf_corners_of(a, c, c, x, y, z, d, 1);
    value = kf_limit(a, c, &from, value);
#elif KF_LIMITER == KF_KEPT_LIMITER
    value =
        kf_least(kf_most_of(value, KF_CONSTANTS(a->kept)[at]), KF_CONSTANTS(a->kept)[3 * a->capacity + at]);
#endif
    value += KF_R(a->duration * a->force[c]);
#if KF_VISCOUS == KF_EXPLICIT_VISCOUS_TERM
    value = kf_diffused(a, KF_CONSTANTS(a->carrier) + c * a->capacity, c, x, y, z, k, value);
#endif
    KF_VALUES(a->target)[at] = kf_settled(a, c, x, y, z, k, value);
}

/* The extent is cells + 1 along each axis. */
KF_KERNEL(predict, kf_incompressible_arguments) {
    KF_UNROLL
    for (int c = 0; c < 3; c++)
        kf_predict(a, c, x, y, z);
}
KF_KERNEL(correct, kf_incompressible_arguments) {
    KF_UNROLL
    for (int c = 0; c < 3; c++)
        kf_correct(a, c, x, y, z);
}

#if KF_VISCOUS == KF_IMPLICIT_VISCOUS_TERM
/* Does a Jacobi iteration of the implicit viscous term. `source` is the advected velocity, and `carrier`
 * the last iterate. */
KF_KERNEL(diffuse, kf_incompressible_arguments) {
    const kf_index k = kf_place(a, x, y, z);
    KF_UNROLL
    for (int c = 0; c < 3; c++) {
        const kf_real *last = KF_CONSTANTS(a->carrier) + c * a->capacity;
        const kf_friction f = kf_friction_of(a, last, c, x, y, z, k);
        const kf_real time = KF_R(a->viscosity * a->duration);
        const kf_real value = (KF_CONSTANTS(a->source)[c * a->capacity + k] + time * (f.around + f.wall)) /
                              (KF_R(1) + time * (f.links + f.wall_links));
        KF_VALUES(a->target)[c * a->capacity + k] = kf_settled(a, c, x, y, z, k, value);
    }
}
#endif
