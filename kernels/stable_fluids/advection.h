/* Semi-Lagrangian advection (Stam 1999, "Stable fluids"). A cell traces the velocity back to the place
 * where its fluid was before the step, interpolates the fields there, and takes the values. Then it
 * applies what happens on arrival: dyes, buoyancy, forces, the solid. Besides linear interpolation there
 * are MacCormack's scheme (Selle et al. 2008) and a cubic one. Both are limited to the range of the
 * nearest cells.
 *
 * Defines that a scene or config sets:
 *   KF_DIMENSIONS 2|3, KF_NX, KF_NY, KF_NZ
 *   KF_ADVECTION, KF_SOLID          choices.h
 *   KF_PLANAR 0|1                   0: an array of pairs (u, v); 1: an array for each component (one
 *                                   simulation)
 *   KF_MIDPOINT 0|1                 traces use the midpoint rule
 *   KF_DYES 0 .. 3                  number of dyes
 *   KF_BUOYANCY, KF_ACCELERATION 0|1  dyes lift the fluid; a force field acts on it */
#ifndef KF_KERNELS_STABLE_FLUIDS_ADVECTION_H
#define KF_KERNELS_STABLE_FLUIDS_ADVECTION_H

#include "numbers.h"

#ifndef KF_ADVECTION
#define KF_ADVECTION KF_LINEAR_ADVECTION
#endif
#ifndef KF_MIDPOINT
#define KF_MIDPOINT 0
#endif
#ifndef KF_DYES
#define KF_DYES 0
#endif
#ifndef KF_BUOYANCY
#define KF_BUOYANCY 0
#endif
#ifndef KF_LIFT_MIRRORED
#define KF_LIFT_MIRRORED 0
#endif
#ifndef KF_ACCELERATION
#define KF_ACCELERATION 0
#endif
#ifndef KF_PLANAR
#define KF_PLANAR 0
#endif
#ifndef KF_SOLID
#define KF_SOLID KF_NO_SOLID
#endif
#define KF_CELLS (KF_NX * KF_NY * KF_NZ)
/* With KF_STRIPS the cpu first interpolates the velocities for a strip of cells, and then continues with
 * all of them. A SIMD loop over cells would load u and v separately. One cell after the other can load
 * them together. KF_STRIP_X(i) is the x of cell i of a row. */
#define KF_STRIPS (!KF_CUDA && KF_ADVECTION == KF_LINEAR_ADVECTION && !KF_PLANAR && KF_VELOCITY_BITS != 16)
#define KF_STRIP  128
#ifndef KF_STRIP_X
#define KF_STRIP_X(i) (i)
#endif

typedef struct kf_vector {
    kf_real u, v, w;
} kf_vector;

/* Reads the pair (u, v) of a cell from a velocity field. */
#if KF_PLANAR
typedef kf_stored_real kf_pair_part;
#define KF_PAIR_AT(field, cell)                                                                              \
    kf_complex_of(KF_FROM_STORED((field)[cell]), KF_FROM_STORED((field)[(cell) + KF_CELLS]))
#elif KF_CUDA || KF_VELOCITY_BITS == 16
typedef kf_stored_pair kf_pair_part;
#define KF_PAIR_AT(field, cell) kf_pair_from((field)[cell])
#else /* gcc gathers numbers, but not structs */
typedef kf_stored_pair kf_pair_part;
#define KF_PAIR_AT(field, cell)                                                                              \
    kf_complex_of(((const kf_real *)(field))[2 * (cell)], ((const kf_real *)(field))[2 * (cell) + 1])
#endif
typedef struct kf_view {
    const kf_pair_part *pairs;
    const kf_stored_real *thirds;
} kf_view;
KF_FUNCTION kf_view kf_view_of(const kf_fluid_arguments *a, const void *field, int simulation) {
    kf_view view;
    view.pairs = (const kf_pair_part *)field + (long long)KF_CELLS * simulation;
#if KF_CUDA
    unsigned long long address = __cvta_generic_to_global(view.pairs);
    asm("" : "+l"(address)); /* keeps the compiler from adding the simulation's offset again for each cell */
    view.pairs = (const kf_pair_part *)__cvta_global_to_generic(address);
#endif
    view.thirds =
        (const kf_stored_real *)((const kf_stored_pair *)field + (long long)KF_CELLS * a->simulations) +
        (KF_DIMENSIONS == 3 ? (long long)KF_CELLS * simulation : 0);
    return view;
}
KF_FUNCTION kf_vector kf_velocity_at(kf_view view, int cell) {
    const kf_complex pair = KF_PAIR_AT(view.pairs, cell);
    kf_vector velocity;
    velocity.u = pair.re, velocity.v = pair.im;
    velocity.w = KF_DIMENSIONS == 3 ? KF_FROM_STORED(view.thirds[cell]) : KF_R(0);
    return velocity;
}
KF_FUNCTION void kf_put_velocity(const kf_fluid_arguments *a, void *field, int simulation, int cell,
                                 kf_vector velocity) {
#if KF_PLANAR
    ((kf_stored_real *)field)[cell] = KF_TO_STORED(velocity.u);
    ((kf_stored_real *)field)[cell + KF_CELLS] = KF_TO_STORED(velocity.v);
#elif KF_CUDA || KF_VELOCITY_BITS == 16
    ((kf_stored_pair *)field)[(long long)KF_CELLS * simulation + cell] =
        kf_pair_to(kf_complex_of(velocity.u, velocity.v));
#else
    kf_real *pairs = (kf_real *)field + 2 * (long long)KF_CELLS * simulation;
    pairs[2 * cell] = velocity.u, pairs[2 * cell + 1] = velocity.v;
#endif
    if (KF_DIMENSIONS == 3)
        ((kf_stored_real *)((kf_stored_pair *)field +
                            (long long)KF_CELLS * a->simulations))[(long long)KF_CELLS * simulation + cell] =
            KF_TO_STORED(velocity.w);
}
/* Number a cell's images. KF_FOLD_X and KF_FOLD_LAST say that the box is continued by its mirror image
 * behind the walls across x and across the last axis. Bit 0 of an image's number means mirrored across x,
 * the next bit across the last axis. */
#define KF_IMAGES                   ((1 + KF_FOLD_X) * (1 + KF_FOLD_LAST))
#define KF_IMAGE_ACROSS_X(image)    (KF_FOLD_X && ((image)&1))
#define KF_IMAGE_ACROSS_LAST(image) (KF_FOLD_LAST && ((image) >> KF_FOLD_X))
KF_FUNCTION int kf_image(int x, int y, int z, int image) {
    const int last = KF_IMAGE_ACROSS_LAST(image), i = KF_IMAGE_ACROSS_X(image) ? KF_NX - 1 - x : x;
    const int j = last && KF_DIMENSIONS == 2 ? KF_NY - 1 - y : y,
              k = last && KF_DIMENSIONS == 3 ? KF_NZ - 1 - z : z;
    return (k * KF_NY + j) * KF_NX + i;
}
KF_FUNCTION void kf_put_images(const kf_fluid_arguments *a, void *field, int simulation, int x, int y, int z,
                               kf_vector velocity) {
    KF_UNROLL
    for (int image = 0; image < KF_IMAGES; image++) {
        kf_vector turned = velocity;
        if (KF_IMAGE_ACROSS_X(image)) turned.u = -turned.u;
        if (KF_IMAGE_ACROSS_LAST(image) && KF_DIMENSIONS == 2) turned.v = -turned.v;
        if (KF_IMAGE_ACROSS_LAST(image) && KF_DIMENSIONS == 3) turned.w = -turned.w;
        kf_put_velocity(a, field, simulation, kf_image(x, y, z, image), turned);
    }
}
KF_FUNCTION const kf_stored_real *kf_dye_of(const void *dyes, int simulation, int dye) {
    return (const kf_stored_real *)dyes + ((long long)simulation * KF_DYES + dye) * KF_CELLS;
}

/* The 2 cells an axis around a place, or 4 for cubic interpolation, and the weights. */
#if KF_ADVECTION == KF_CUBIC_ADVECTION
#define KF_SUPPORT 4
#else
#define KF_SUPPORT 2
#endif
typedef struct kf_place {
    int x[4], y[4], z[4]; /* cells; y and z as parts of a cell's index */
    kf_real wx, wy, wz;   /* distances from the cell below */
} kf_place;

KF_FUNCTION kf_real kf_locate_axis(int i, kf_real distance, int n, int pitch, int support, int *cells) {
    const kf_real floored = KF_FLOOR(-distance);
    const int below = kf_wrapped(i + kf_whole_cells(floored), n), above = kf_next(below, n);
    const int first = support == 4 ? 1 : 0;
    cells[first] = below * pitch, cells[first + 1] = above * pitch;
    if (support == 4)
        cells[0] = (below == 0 ? n - 1 : below - 1) * pitch, cells[3] = kf_next(above, n) * pitch;
    return -distance - floored;
}
/* Returns the place that lies `displacement` upstream of a cell. The weights come from the displacement.
 * In a position too few digits would be left for them. */
KF_FUNCTION kf_place kf_locate(int x, int y, int z, kf_vector displacement, int support) {
    kf_place place;
    place.wx = kf_locate_axis(x, displacement.u, KF_NX, 1, support, place.x);
    place.wy = kf_locate_axis(y, displacement.v, KF_NY, KF_NX, support, place.y);
    if (KF_DIMENSIONS == 3)
        place.wz = kf_locate_axis(z, displacement.w, KF_NZ, KF_NX * KF_NY, support, place.z);
    return place;
}

/* Returns a + w (b - a), which is exact in a uniform field. */
KF_FUNCTION kf_real kf_mix(kf_real a, kf_real b, kf_real w) {
    return a + w * (b - a);
}
KF_FUNCTION kf_complex kf_mix_pair(kf_complex a, kf_complex b, kf_real w) {
    return kf_complex_of(kf_mix(a.re, b.re, w), kf_mix(a.im, b.im, w));
}

#define KF_LINEAR_PLANE(type, value, mix, zz)                                                                \
    mix(mix(value(p->x[f] + p->y[f] + (zz)), value(p->x[f + 1] + p->y[f] + (zz)), p->wx),                    \
        mix(value(p->x[f] + p->y[f + 1] + (zz)), value(p->x[f + 1] + p->y[f + 1] + (zz)), p->wx), p->wy)
#define KF_LINEAR(type, value, mix)                                                                          \
    type result = KF_LINEAR_PLANE(type, value, mix, KF_DIMENSIONS == 3 ? p->z[f] : 0);                       \
    if (KF_DIMENSIONS == 3) result = mix(result, KF_LINEAR_PLANE(type, value, mix, p->z[f + 1]), p->wz);     \
    return result;
#define KF_PAIR_VALUE(cell) KF_PAIR_AT(field, cell)
#define KF_REAL_VALUE(cell) KF_FROM_STORED(field[cell])

KF_FUNCTION kf_complex kf_linear_pair(const kf_pair_part *field, const kf_place *p, int support) {
    const int f = support == 4 ? 1 : 0;
    KF_LINEAR(kf_complex, KF_PAIR_VALUE, kf_mix_pair)
}
KF_FUNCTION kf_real kf_linear_real(const kf_stored_real *field, const kf_place *p, int support) {
    const int f = support == 4 ? 1 : 0;
    KF_LINEAR(kf_real, KF_REAL_VALUE, kf_mix)
}
KF_FUNCTION kf_vector kf_linear_velocity(kf_view view, const kf_place *p, int support) {
    const kf_complex pair = kf_linear_pair(view.pairs, p, support);
    kf_vector velocity;
    velocity.u = pair.re, velocity.v = pair.im;
    velocity.w = KF_DIMENSIONS == 3 ? kf_linear_real(view.thirds, p, support) : KF_R(0);
    return velocity;
}

/* Returns how far a cell's fluid moved in the step, by the velocity in the cell or by that half way back
 * (midpoint rule). */
KF_FUNCTION kf_vector kf_trace(const kf_fluid_arguments *a, kf_view wind, int x, int y, int z) {
    kf_vector d = kf_velocity_at(wind, (z * KF_NY + y) * KF_NX + x);
    const kf_real step = KF_PARAMETER(a, step);
#if KF_MIDPOINT
    d.u *= KF_R(0.5) * step, d.v *= KF_R(0.5) * step, d.w *= KF_R(0.5) * step;
    const kf_place middle = kf_locate(x, y, z, d, 2);
    d = kf_linear_velocity(wind, &middle, 2);
#endif
    d.u *= step, d.v *= step, d.w *= step;
    return d;
}

/* The smallest and largest value of the cells of a linear interpolation. Schemes of higher order are
 * limited to this range. */
typedef struct kf_range {
    kf_real low, high;
} kf_range;
#define KF_RANGE_OF(value)                                                                                   \
    kf_range range;                                                                                          \
    const int f = KF_SUPPORT == 4 ? 1 : 0;                                                                   \
    range.low = range.high = value(p->x[f] + p->y[f] + (KF_DIMENSIONS == 3 ? p->z[f] : 0));                  \
    KF_UNROLL                                                                                                \
    for (int corner = 1; corner < (KF_DIMENSIONS == 3 ? 8 : 4); corner++) {                                  \
        const kf_real here = value(p->x[f + (corner & 1)] + p->y[f + (corner >> 1 & 1)] +                    \
                                   (KF_DIMENSIONS == 3 ? p->z[f + (corner >> 2)] : 0));                      \
        range.low = kf_smaller(range.low, here), range.high = kf_larger(range.high, here);                   \
    }                                                                                                        \
    return range;
#define KF_RE_VALUE(cell) KF_PAIR_AT(field, cell).re
#define KF_IM_VALUE(cell) KF_PAIR_AT(field, cell).im
KF_FUNCTION kf_range kf_range_re(const kf_pair_part *field, const kf_place *p) {
    KF_RANGE_OF(KF_RE_VALUE)
}
KF_FUNCTION kf_range kf_range_im(const kf_pair_part *field, const kf_place *p) {
    KF_RANGE_OF(KF_IM_VALUE)
}
KF_FUNCTION kf_range kf_range_real(const kf_stored_real *field, const kf_place *p) {
    KF_RANGE_OF(KF_REAL_VALUE)
}
KF_FUNCTION kf_real kf_limited(kf_real value, kf_range range) {
    return kf_smaller(kf_larger(value, range.low), range.high);
}

#if KF_ADVECTION == KF_CUBIC_ADVECTION
/* The weights of Catmull and Rom's cubic interpolation. */
KF_FUNCTION void kf_cubic_weights(kf_real w, kf_real *weights) {
    const kf_real w2 = w * w, w3 = w2 * w;
    weights[0] = KF_R(-0.5) * w3 + w2 - KF_R(0.5) * w;
    weights[1] = KF_R(1.5) * w3 - KF_R(2.5) * w2 + KF_R(1);
    weights[2] = KF_R(-1.5) * w3 + KF_R(2) * w2 + KF_R(0.5) * w;
    weights[3] = KF_R(0.5) * w3 - KF_R(0.5) * w2;
}
#define KF_CUBIC(value)                                                                                      \
    kf_real wx[4], wy[4], wz[4], sum = 0;                                                                    \
    kf_cubic_weights(p->wx, wx), kf_cubic_weights(p->wy, wy);                                                \
    if (KF_DIMENSIONS == 3) kf_cubic_weights(p->wz, wz);                                                     \
    KF_UNROLL                                                                                                \
    for (int k = 0; k < (KF_DIMENSIONS == 3 ? 4 : 1); k++) {                                                 \
        KF_UNROLL                                                                                            \
        for (int j = 0; j < 4; j++) {                                                                        \
            kf_real row = 0;                                                                                 \
            KF_UNROLL                                                                                        \
            for (int i = 0; i < 4; i++)                                                                      \
                row += wx[i] * value(p->x[i] + p->y[j] + (KF_DIMENSIONS == 3 ? p->z[k] : 0));                \
            sum += wy[j] * (KF_DIMENSIONS == 3 ? wz[k] : KF_R(1)) * row;                                     \
        }                                                                                                    \
    }                                                                                                        \
    return sum;
KF_FUNCTION kf_real kf_cubic_re(const kf_pair_part *field, const kf_place *p) {
    KF_CUBIC(KF_RE_VALUE)
}
KF_FUNCTION kf_real kf_cubic_im(const kf_pair_part *field, const kf_place *p) {
    KF_CUBIC(KF_IM_VALUE)
}
KF_FUNCTION kf_real kf_cubic_real(const kf_stored_real *field, const kf_place *p) {
    KF_CUBIC(KF_REAL_VALUE)
}
#endif

/* Returns the value of a field that arrives in the cell from its place upstream, by the scene's scheme.
 * `ahead` is the place downstream, from which MacCormack's scheme traces back to estimate its error. */
KF_FUNCTION kf_real kf_came_real(const kf_stored_real *field, const kf_stored_real *predicted, int cell,
                                 const kf_place *p, const kf_place *ahead) {
#if KF_ADVECTION == KF_CUBIC_ADVECTION
    return kf_limited(kf_cubic_real(field, p), kf_range_real(field, p));
#elif KF_ADVECTION == KF_MACCORMACK_ADVECTION
    const kf_real back = kf_linear_real(predicted, ahead, 2);
    return kf_limited(KF_FROM_STORED(predicted[cell]) + KF_R(0.5) * (KF_FROM_STORED(field[cell]) - back),
                      kf_range_real(field, p));
#else
    (void)predicted, (void)cell, (void)ahead;
    return kf_linear_real(field, p, 2);
#endif
}
KF_FUNCTION kf_vector kf_came_velocity(kf_view field, kf_view predicted, int cell, const kf_place *p,
                                       const kf_place *ahead) {
    kf_vector result;
#if KF_ADVECTION == KF_CUBIC_ADVECTION
    result.u = kf_limited(kf_cubic_re(field.pairs, p), kf_range_re(field.pairs, p));
    result.v = kf_limited(kf_cubic_im(field.pairs, p), kf_range_im(field.pairs, p));
#elif KF_ADVECTION == KF_MACCORMACK_ADVECTION
    const kf_complex back = kf_linear_pair(predicted.pairs, ahead, 2),
                     once = KF_PAIR_AT(predicted.pairs, cell);
    const kf_complex here = KF_PAIR_AT(field.pairs, cell);
    result.u = kf_limited(once.re + KF_R(0.5) * (here.re - back.re), kf_range_re(field.pairs, p));
    result.v = kf_limited(once.im + KF_R(0.5) * (here.im - back.im), kf_range_im(field.pairs, p));
#else
    const kf_complex pair = kf_linear_pair(field.pairs, p, 2);
    result.u = pair.re, result.v = pair.im;
#endif
    result.w = KF_DIMENSIONS == 3 ? kf_came_real(field.thirds, predicted.thirds, cell, p, ahead) : KF_R(0);
    return result;
}

#if KF_SOLID == KF_MOVING_SOLID
#define KF_TIME(a) ((kf_real)(a)->clock[0]) /* the end of this step */
#endif
/* Returns the solid share of a cell, and the solid's velocity there. A moving solid's mask is read at the
 * cell's place in the solid's own frame. It is not periodic. */
KF_FUNCTION kf_real kf_solid_at(const kf_fluid_arguments *a, int x, int y, int z, kf_vector *velocity) {
    const float *solid = (const float *)a->solid;
#if KF_SOLID == KF_MOVING_SOLID
    const kf_fluid_motion *m = &a->motion;
    const kf_real time = KF_TIME(a), angle = KF_R(m->spin) * time;
    kf_real r[3], turned[3];
    const int cell[3] = {x, y, z}, n[3] = {KF_NX, KF_NY, KF_NZ};
    KF_UNROLL
    for (int i = 0; i < 3; i++) { /* from the solid's centre, the shorter way around the periodic box */
        r[i] = KF_R(cell[i]) - KF_R(m->center[i]) - KF_R(m->velocity[i]) * time;
        r[i] -= KF_R(n[i]) * KF_FLOOR(r[i] / KF_R(n[i]) + KF_R(0.5));
    }
    const kf_real ax = KF_R(m->axis[0]), ay = KF_R(m->axis[1]), az = KF_R(m->axis[2]);
    const kf_real c = KF_R(cos(angle)), s = KF_R(sin(-angle)),
                  along = (KF_R(1) - c) * (ax * r[0] + ay * r[1] + az * r[2]);
    velocity->u = KF_R(m->velocity[0]) + KF_R(m->spin) * (ay * r[2] - az * r[1]);
    velocity->v = KF_R(m->velocity[1]) + KF_R(m->spin) * (az * r[0] - ax * r[2]);
    velocity->w = KF_R(m->velocity[2]) + KF_R(m->spin) * (ax * r[1] - ay * r[0]);
    turned[0] = c * r[0] + s * (ay * r[2] - az * r[1]) + along * ax;
    turned[1] = c * r[1] + s * (az * r[0] - ax * r[2]) + along * ay;
    turned[2] = c * r[2] + s * (ax * r[1] - ay * r[0]) + along * az;
    kf_real share = 0;
    int low[3];
    kf_real w[3];
    KF_UNROLL
    for (int i = 0; i < 3; i++) {
        const kf_real at = turned[i] + KF_R(m->center[i]), floored = KF_FLOOR(at);
        low[i] = kf_whole_cells(floored), w[i] = at - floored;
    }
    KF_UNROLL
    for (int corner = 0; corner < (KF_DIMENSIONS == 3 ? 8 : 4); corner++) {
        const int i = low[0] + (corner & 1), j = low[1] + (corner >> 1 & 1),
                  k = KF_DIMENSIONS == 3 ? low[2] + (corner >> 2) : 0;
        const int inside = i >= 0 && i < KF_NX && j >= 0 && j < KF_NY && k >= 0 && k < KF_NZ;
        const kf_real weight = (corner & 1 ? w[0] : KF_R(1) - w[0]) *
                               (corner >> 1 & 1 ? w[1] : KF_R(1) - w[1]) *
                               (KF_DIMENSIONS == 3 ? (corner >> 2 ? w[2] : KF_R(1) - w[2]) : KF_R(1));
        share += inside ? weight * KF_R(solid[(k * KF_NY + j) * KF_NX + i]) : KF_R(0);
    }
    return share;
#else
    velocity->u = velocity->v = velocity->w = 0;
    return KF_R(solid[(z * KF_NY + y) * KF_NX + x]);
#endif
}

/* The velocities that arrive in a strip of cells. */
typedef struct kf_strip {
#if KF_STRIPS
    /* The indices of the cells around each place upstream, x fastest. */
    unsigned from[KF_DIMENSIONS == 3 ? 8 : 4][KF_STRIP];
    kf_real weights[3][2 * KF_STRIP]; /* each weight twice, for u and for v */
    kf_real pairs[2 * KF_STRIP], thirds[KF_STRIP];
#else
    int none;
#endif
} kf_strip;
#if KF_STRIPS
KF_FUNCTION void kf_locate_cell(const kf_fluid_arguments *a, int simulation, int i, int y, int z, kf_strip *s,
                                int k) {
    const int x = KF_STRIP_X(i);
    const kf_place p = kf_locate(x, y, z, kf_trace(a, kf_view_of(a, a->wind, simulation), x, y, z), 2);
    KF_UNROLL
    for (int corner = 0; corner < (KF_DIMENSIONS == 3 ? 8 : 4); corner++)
        s->from[corner][k] =
            (unsigned)(p.x[corner & 1] + p.y[corner >> 1 & 1] + (KF_DIMENSIONS == 3 ? p.z[corner >> 2] : 0));
    s->weights[0][2 * k] = s->weights[0][2 * k + 1] = p.wx,
                      s->weights[1][2 * k] = s->weights[1][2 * k + 1] = p.wy;
    if (KF_DIMENSIONS == 3) s->weights[2][2 * k] = s->weights[2][2 * k + 1] = p.wz;
}
typedef kf_real kf_duo __attribute__((vector_size(2 * sizeof(kf_real)), aligned(sizeof(kf_real)), may_alias));
#define KF_FETCHED_PLANE(type, result, value, f, wx, wy)                                                     \
    type result = value(s->from[f][k]);                                                                      \
    {                                                                                                        \
        type upper = value(s->from[(f) + 2][k]);                                                             \
        result += (wx) * (value(s->from[(f) + 1][k]) - result);                                              \
        upper += (wx) * (value(s->from[(f) + 3][k]) - upper);                                                \
        result += (wy) * (upper - result);                                                                   \
    }
#define KF_DUO_VALUE(cell)   (*(const kf_duo *)(pairs + 2 * (unsigned long long)(cell)))
#define KF_THIRD_VALUE(cell) field.thirds[cell]
/* Computes what kf_linear_velocity returns, for each cell of the strip that has been located. */
KF_FUNCTION void kf_fetch_located(const kf_fluid_arguments *a, int simulation, int count, kf_strip *s) {
    const kf_view field = kf_view_of(a, a->field, simulation);
    const kf_real *pairs = (const kf_real *)field.pairs;
    for (int k = 0; k < count; k++) {
        const kf_duo wx = *(const kf_duo *)(s->weights[0] + 2 * k),
                     wy = *(const kf_duo *)(s->weights[1] + 2 * k);
        KF_FETCHED_PLANE(kf_duo, pair, KF_DUO_VALUE, 0, wx, wy)
#if KF_DIMENSIONS == 3
        const kf_duo wz = *(const kf_duo *)(s->weights[2] + 2 * k);
        KF_FETCHED_PLANE(kf_duo, pair_above, KF_DUO_VALUE, 4, wx, wy)
        KF_FETCHED_PLANE(kf_real, third, KF_THIRD_VALUE, 0, wx[0], wy[0])
        KF_FETCHED_PLANE(kf_real, third_above, KF_THIRD_VALUE, 4, wx[0], wy[0])
        pair += wz * (pair_above - pair);
        s->thirds[k] = third + wz[0] * (third_above - third);
#endif
        *(kf_duo *)(s->pairs + 2 * k) = pair;
    }
}
KF_FUNCTION void kf_fetch(const kf_fluid_arguments *a, int simulation, int y, int z, int from, int to,
                          kf_strip *s) {
    _Pragma("omp simd") for (int i = from; i < to; i++) kf_locate_cell(a, simulation, i, y, z, s, i - from);
    kf_fetch_located(a, simulation, to - from, s);
}
KF_FUNCTION kf_vector kf_fetched(const kf_strip *s, int k) {
    kf_vector velocity;
    velocity.u = s->pairs[2 * k], velocity.v = s->pairs[2 * k + 1],
    velocity.w = KF_DIMENSIONS == 3 ? s->thirds[k] : KF_R(0);
    return velocity;
}
#endif

/* Returns the velocity of a cell before the projection, and writes its dyes to dye_target. Forces that
 * depend on the arriving values come first, then the pull of a solid. fetched: with KF_STRIPS the arriving
 * velocities, of which the cell's is number k. */
KF_FUNCTION kf_vector kf_arrived(const kf_fluid_arguments *a, int simulation, int x, int y, int z,
                                 const kf_strip *fetched, int k) {
    const int cell = (z * KF_NY + y) * KF_NX + x;
    const kf_view field = kf_view_of(a, a->field, simulation);
#if KF_ADVECTION == KF_NO_ADVECTION
    kf_vector velocity = kf_velocity_at(field, cell);
#else
    const kf_view predicted = kf_view_of(a, a->predicted, simulation);
    const kf_vector d = kf_trace(a, kf_view_of(a, a->wind, simulation), x, y, z);
    const kf_place place = kf_locate(x, y, z, d, KF_SUPPORT);
#if KF_ADVECTION == KF_MACCORMACK_ADVECTION
    kf_vector back;
    back.u = -d.u, back.v = -d.v, back.w = -d.w;
    const kf_place ahead = kf_locate(x, y, z, back, 2);
#else
    const kf_place ahead = place;
#endif
#if KF_STRIPS
    kf_vector velocity = kf_fetched(fetched, k);
#else
    kf_vector velocity = kf_came_velocity(field, predicted, cell, &place, &ahead);
    (void)fetched, (void)k;
#endif
#if KF_DYES > 0
    const kf_real decay[3] = {KF_PARAMETER(a, decay_0), KF_PARAMETER(a, decay_1), KF_PARAMETER(a, decay_2)};
    const kf_real lift[3] = {KF_PARAMETER(a, lift_0), KF_PARAMETER(a, lift_1), KF_PARAMETER(a, lift_2)};
    KF_UNROLL
    for (int i = 0; i < KF_DYES; i++) {
        const kf_real dye =
            decay[i] * kf_came_real(kf_dye_of(a->dye, simulation, i),
                                    kf_dye_of(a->dye_predicted, simulation, i), cell, &place, &ahead);
        KF_UNROLL
        for (int image = 0; image < KF_IMAGES; image++)
            ((kf_stored_real *)
                 a->dye_target)[((long long)simulation * KF_DYES + i) * KF_CELLS + kf_image(x, y, z, image)] =
                KF_TO_STORED(dye);
#if KF_BUOYANCY
        /* In the mirror image, up and down are exchanged. */
        const kf_real up =
            KF_LIFT_MIRRORED && (KF_DIMENSIONS == 3 ? 2 * z >= KF_NZ : 2 * y >= KF_NY) ? -lift[i] : lift[i];
        if (KF_DIMENSIONS == 3)
            velocity.w += up * dye;
        else
            velocity.v += up * dye;
#endif
    }
    (void)lift;
#endif
#endif
#if KF_ACCELERATION
    const kf_vector push = kf_velocity_at(kf_view_of(a, a->acceleration, simulation), cell);
    const kf_real time = KF_PARAMETER(a, step);
    velocity.u += time * push.u, velocity.v += time * push.v, velocity.w += time * push.w;
#endif
#if KF_SOLID
    kf_vector solid;
    const kf_real pull = KF_PARAMETER(a, drag) * kf_solid_at(a, x, y, z, &solid),
                  left = (KF_R(1) - KF_PARAMETER(a, rebound) * pull) / (KF_R(1) + pull);
    velocity.u = solid.u + (velocity.u - solid.u) * left;
    velocity.v = solid.v + (velocity.v - solid.v) * left;
    velocity.w = solid.w + (velocity.w - solid.w) * left;
#endif
    return velocity;
}

#endif
