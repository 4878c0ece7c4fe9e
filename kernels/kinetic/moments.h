/* The moment representation (plan `moments`). If all rates of the moments of third and higher order are 1,
 * the populations after a collision follow from nine numbers and the body force F. The central-Hermite
 * moments about the velocity u, which includes half of the force, are then: F / 2 in order 1, a symmetric
 * tensor without trace in order 2, and zero in all higher orders. Nothing is lost. The idea is that of Li
 * et al. 2023 (ACM Trans. Graph. 42, 6), who store ten numbers, the trace among them. Here the trace is
 * needed only with a body force, for an initial state in equilibrium without it.
 *
 * The band's nodes, on which a force of the solid acts, are listed nodes. Their populations are in a list,
 * [27][listed_count], and the grid has a mark and the place in the list instead of their moments. There
 * are no ghosts.
 *
 * Defines that a config or scene sets: KF_LISTED 0|1: there are listed nodes. KF_PACKED 0|1: the moments
 * are stored in words of 32 bits (packed.h) instead of a kf_real each. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_H
#define KF_KERNELS_KINETIC_MOMENTS_H

#include "collision.h"

/* Density less 1, velocity, and half of the moments of order 2 after the collision. All but the velocity
 * are in KF_UNIT. */
typedef struct kf_moments {
    kf_real deviation, ux, uy, uz, xx, yy, xy, xz, yz;
#if KF_BODY_FORCE
    kf_real zz;
#endif
} kf_moments;
#if KF_BODY_FORCE
#define KF_ZZ(m) ((m)->zz)
#else
#define KF_ZZ(m) (-((m)->xx + (m)->yy))
#endif

#define KF_NINE_MOMENTS(X)                                                                                   \
    X(0, deviation) X(1, ux) X(2, uy) X(3, uz) X(4, xx) X(5, yy) X(6, xy) X(7, xz) X(8, yz)
#if KF_BODY_FORCE
#define KF_MOMENT_MEMBERS(X) KF_NINE_MOMENTS(X) X(9, zz)
#else
#define KF_MOMENT_MEMBERS(X) KF_NINE_MOMENTS(X)
#endif

/* The grid stores a node as words. A listed node has a mark in all words but word 1, which has its place
 * in the list. The mark is a NaN that no arithmetic makes, or, with KF_PACKED, two such halves. */
#if KF_PACKED
#include "packed.h"
#if KF_CUT_Y /* a part has a range of rows, some of them across a periodic face */
KF_FUNCTION unsigned kf_of_node_in_domain(const kf_module_arguments *a, kf_index k) {
    int x, y, z;
    kf_position(a, k, &x, &y, &z);
    return kf_of_node(x + (long long)a->grid.row_pitch *
                              (kf_home_row(a, y) + 1 + (a->grid.nodes[1] + 2LL) * (z + 1)));
}
#define KF_OF_NODE(a, k) kf_of_node_in_domain(a, k)
#else
#define KF_OF_NODE(a, k) kf_of_node((k) - (a)->memory.origin)
#endif
typedef unsigned kf_word;
typedef int kf_bits;
#define KF_MARK            KF_MARK_HALVES
#define kf_bits_of(word)   ((kf_bits)(word))
#define kf_word_from(bits) ((kf_word)(bits))
#define KF_PACKED_WORDS(X) X(0, w0) X(1, w1) X(2, w2) X(3, w3) X(4, w4) X(5, w5)
#if KF_BODY_FORCE
#define KF_EACH_WORD(X) KF_PACKED_WORDS(X) X(6, w6)
#else
#define KF_EACH_WORD(X) KF_PACKED_WORDS(X)
#endif
#define KF_WORD_MEMBER(i, name) kf_word name;
#define KF_NODE_WORDS           (6 + KF_BODY_FORCE)
typedef struct kf_held {
    KF_EACH_WORD(KF_WORD_MEMBER)
} kf_held;
#else
#define KF_OF_NODE(a, k) 0
typedef kf_real kf_word;
#if KF_STORAGE == KF_F64_STORAGE
typedef long long kf_bits;
#define KF_MARK      KF_MARK_DOUBLE
#define kf_bits_of   kf_double_bits
#define kf_word_from kf_bits_double
#else
typedef int kf_bits;
#define KF_MARK      KF_MARK_SINGLE
#define kf_bits_of   kf_float_bits
#define kf_word_from kf_bits_float
#endif
#define KF_EACH_WORD(X) KF_MOMENT_MEMBERS(X)
#define KF_NODE_WORDS   (9 + KF_BODY_FORCE)
typedef kf_moments kf_held;
#endif

/* Returns the address of word i at node k, as kf_address does for populations. */
KF_FUNCTION kf_word *kf_moment_address(const kf_module_arguments *a, const void *grid, int i, kf_index k) {
#if KF_LAYOUT == KF_SOA_LAYOUT
    return (kf_word *)grid + kf_place(a, KF_NODE_WORDS, i, k);
#else
    return (kf_word *)grid + kf_place(a, KF_NODE_WORDS, 0, k) + kf_place(a, KF_NODE_WORDS, i, 0);
#endif
}
#define KF_LOAD_WORD(i, name)  h.name = *kf_moment_address(a, grid, i, k);
#define KF_STORE_WORD(i, name) *(kf_moment_address(a, grid, i, k)) = (h.name);
KF_FUNCTION kf_held kf_load_held(const kf_module_arguments *a, const void *grid, kf_index k) {
    kf_held h;
    KF_EACH_WORD(KF_LOAD_WORD)
    return h;
}

/* Convert the words of a node that is not listed to moments, and back. */
#if KF_PACKED
KF_FUNCTION kf_moments kf_to_moments(const kf_held *h) {
    kf_moments m;
    m.ux = kf_float_of(h->w0);
    m.uy = kf_float_of(h->w1);
    m.uz = kf_float_of(h->w2);
    kf_from_halves(h->w3, &m.deviation, &m.xx);
    kf_from_halves(h->w4, &m.yy, &m.xy);
    kf_from_halves(h->w5, &m.xz, &m.yz);
#if KF_BODY_FORCE
    m.zz = kf_float_of(h->w6);
#endif
    return m;
}
KF_FUNCTION kf_held kf_to_held(const kf_moments *m, unsigned of_node) {
    kf_held h;
    h.w0 = kf_word_of(m->ux);
    h.w1 = kf_word_of(m->uy);
    h.w2 = kf_word_of(m->uz);
    h.w3 = kf_to_halves(kf_by_chance(m->deviation, kf_word_of(m->xx) ^ of_node), m->xx);
    h.w4 = kf_to_halves(m->yy, m->xy);
    h.w5 = kf_to_halves(m->xz, m->yz);
#if KF_BODY_FORCE
    h.w6 = kf_word_of(m->zz);
#endif
    return h;
}
#else
KF_FUNCTION kf_moments kf_to_moments(const kf_held *h) {
    return *h;
}
KF_FUNCTION kf_held kf_to_held(const kf_moments *m, unsigned of_node) {
    (void)of_node;
    return *m;
}
#endif
KF_FUNCTION kf_moments kf_load_moments(const kf_module_arguments *a, const void *grid, kf_index k) {
    const kf_held h = kf_load_held(a, grid, k);
    return kf_to_moments(&h);
}
KF_FUNCTION void kf_store_moments(const kf_module_arguments *a, void *grid, kf_index k, kf_moments m) {
    const kf_held h = kf_to_held(&m, KF_OF_NODE(a, k));
    KF_EACH_WORD(KF_STORE_WORD)
}

/* Returns the address of a word of a node at a face across x. These words have an array of their own, in
 * which they are adjacent. */
KF_FUNCTION kf_word *kf_edge_word(const kf_module_arguments *a, int high, int i, int y, int z) {
    return (kf_word *)a->outflow.edge +
           (((long long)KF_NODE_WORDS * high + i) * a->grid.nodes[2] + z) * a->grid.nodes[1] + y;
}

/* --- Listed nodes --- */

/* It loads all words before it branches, so that all loads are in flight together. */
#define KF_UNMARKED(i, name) | ((i) == 1 ? 0 : kf_bits_of(h->name) ^ KF_MARK)
KF_FUNCTION int kf_is_listed(const kf_held *h) {
#if KF_LISTED
    return (0 KF_EACH_WORD(KF_UNMARKED)) == 0;
#else
    (void)h;
    return 0;
#endif
}
KF_FUNCTION kf_bits kf_listed_place(const kf_held *h) {
#if KF_PACKED
    return kf_bits_of(h->w1);
#else
    return kf_bits_of(h->ux);
#endif
}
KF_FUNCTION void kf_mark_listed(const kf_module_arguments *a, void *grid, kf_index k, kf_bits place) {
    KF_UNROLL
    for (int i = 0; i < KF_NODE_WORDS; i++)
        *kf_moment_address(a, grid, i, k) = kf_word_from(i == 1 ? place : KF_MARK);
}
KF_FUNCTION kf_real *kf_listed(const kf_module_arguments *a, int i, kf_bits place) {
    return (kf_real *)a->band.listed + ((long long)i * a->band.listed_count + place);
}

/* --- Populations from moments --- */

/* Computes a line of three populations from its central-Hermite moments of order 0, 1, 2 (the latter two
 * halved), as deviations from the state at rest, which has `rest` in order 0. Each operation says where it
 * is rounded. The threads of several tiles compute what leaves a node, and must find the same bits. */
#define KF_HERMITE_LINE(m, z, p, u, order0, rest, half1, half2)                                              \
    {                                                                                                        \
        const kf_real first = half1,                                                                         \
                      odd = kf_multiply_add(KF_R(0.5) * (u), (order0) + KF_R((rest)*KF_UNIT), first);        \
        const kf_real even =                                                                                 \
            kf_multiply_add(u, odd + first, kf_multiply_add(KF_R(1.0 / 6.0), order0, half2));                \
        z = kf_less_twice(order0, even);                                                                     \
        p = even + odd;                                                                                      \
        m = even - odd;                                                                                      \
    }

/* Compute the nine populations that move with one cx, whose letter is c. level is the value of the line
 * along x at this cx. c0 and c1 are what moments of order 0 and 1 along x add to it. Along y a moment of
 * order 1 or 2 along z has a line of fixed shape. The three populations with one cx and cy come out
 * together. */
#define KF_HERMITE_ROW(c, y, weight)                                                                         \
    KF_HERMITE_LINE(f_##c##y##m, f_##c##y##z, f_##c##y##p, m->uz, zero_##y, weight,                          \
                    KF_WITH_FORCE(kf_multiply_add(xz_##y, by_1, yz_##y *by_0), Fz *by_0 *ends_##y),          \
                    zz_##y *by_0)
#define KF_HERMITE_LEVEL(c, level, c0, c1, weight)                                                           \
    {                                                                                                        \
        const kf_real by_0 = c0, by_1 = c1;                                                                  \
        kf_real zero_m, zero_z, zero_p;                                                                      \
        KF_HERMITE_LINE(zero_m, zero_z, zero_p, m->uy, level, weight,                                        \
                        KF_WITH_FORCE(kf_multiply_add(m->xy, by_1, KF_R(0.0)), Fy *by_0), m->yy *by_0)       \
        KF_HERMITE_ROW(c, m, (weight) / 6.0)                                                                 \
        KF_HERMITE_ROW(c, z, (weight)*2.0 / 3.0)                                                             \
        KF_HERMITE_ROW(c, p, (weight) / 6.0)                                                                 \
    }
/* Returns half of a moment of order 1. A quarter of the force belongs to it. */
#define KF_WITH_FORCE(moment, force)               (forced ? kf_multiply_add(KF_R(0.25), force, moment) : (moment))
#define KF_DECLARE_POPULATION(i, name, cx, cy, cz) kf_real f_##name;
#define KF_PUT_POPULATION(i, name, cx, cy, cz)     populations[(i) * (long long)stride] = f_##name;

/* Computes all populations of the moments m under the force F: populations[i * stride]. forced is a
 * constant 0 or 1: whether F can differ from zero. */
KF_FUNCTION void kf_to_populations(const kf_moments *m, int forced, kf_real Fx, kf_real Fy, kf_real Fz,
                                   kf_real *populations, int stride) {
    KF_EACH_VELOCITY(KF_DECLARE_POPULATION)
    const kf_real half_y = KF_R(0.5) * m->uy, middle_y = kf_multiply_add(half_y, m->uy, KF_R(1.0 / 6.0));
    const kf_real ends_m = middle_y - half_y, ends_z = kf_multiply_add(-m->uy, m->uy, KF_R(2.0 / 3.0)),
                  ends_p = middle_y + half_y;
    const kf_real zz = KF_ZZ(m), zz_m = zz * ends_m, zz_z = zz * ends_z, zz_p = zz * ends_p;
    const kf_real xz_m = m->xz * ends_m, xz_z = m->xz * ends_z, xz_p = m->xz * ends_p;
    const kf_real yz_m = m->yz * (m->uy - KF_R(0.5)), yz_z = m->yz * (KF_R(-2.0) * m->uy),
                  yz_p = m->yz * (m->uy + KF_R(0.5));
    kf_real level_m, level_z, level_p;
    KF_HERMITE_LINE(level_m, level_z, level_p, m->ux, m->deviation, 1.0, forced ? KF_R(0.25) * Fx : KF_R(0.0),
                    m->xx)
    const kf_real half = KF_R(0.5) * m->ux, ends = kf_multiply_add(half, m->ux, KF_R(1.0 / 6.0));
    KF_HERMITE_LEVEL(m, level_m, ends - half, m->ux - KF_R(0.5), 1.0 / 6.0)
    KF_HERMITE_LEVEL(z, level_z, kf_multiply_add(-m->ux, m->ux, KF_R(2.0 / 3.0)), -KF_R(2.0) * m->ux,
                     2.0 / 3.0)
    KF_HERMITE_LEVEL(p, level_p, ends + half, m->ux + KF_R(0.5), 1.0 / 6.0)
    KF_EACH_VELOCITY(KF_PUT_POPULATION)
}

/* Returns the population of velocity (cx, cy, cz) alone. */
#define KF_HERMITE_1(c, u) ((c) == 0 ? KF_R(-2.0) * (u) : (u) + KF_R(0.5) * (kf_real)(c))
#define KF_HERMITE_2(c)    ((c) == 0 ? KF_R(-1.0) : KF_R(0.5))
KF_FUNCTION kf_real kf_to_population(const kf_moments *m, int forced, kf_real Fx, kf_real Fy, kf_real Fz,
                                     int cx, int cy, int cz) {
    KF_EQUILIBRIUM_FACTORS(x, m->ux)
    KF_EQUILIBRIUM_FACTORS(y, m->uy)
    KF_EQUILIBRIUM_FACTORS(z, m->uz)
    const kf_real x0 = KF_W1(cx) + KF_E(x, cx), x1 = KF_HERMITE_1(cx, m->ux), x2 = KF_HERMITE_2(cx);
    const kf_real y0 = KF_W1(cy) + KF_E(y, cy), y1 = KF_HERMITE_1(cy, m->uy), y2 = KF_HERMITE_2(cy);
    const kf_real z0 = KF_W1(cz) + KF_E(z, cz), z1 = KF_HERMITE_1(cz, m->uz), z2 = KF_HERMITE_2(cz);
    kf_real f = kf_equilibrium_deviation(KF_W1(cx), KF_E(x, cx), KF_W1(cy), KF_E(y, cy), KF_W1(cz),
                                         KF_E(z, cz), m->deviation);
    f += KF_R(2.0) * (m->xx * x2 * y0 * z0 + m->yy * x0 * y2 * z0 + KF_ZZ(m) * x0 * y0 * z2);
    f += KF_R(2.0) * (m->xy * x1 * y1 * z0 + m->xz * x1 * y0 * z1 + m->yz * x0 * y1 * z1);
    if (forced) f += KF_R(0.5) * (Fx * x1 * y0 * z0 + Fy * x0 * y1 * z0 + Fz * x0 * y0 * z1);
    return f;
}

/* Computes all populations of a node with the words h, listed or not. */
KF_FUNCTION void kf_held_populations(const kf_module_arguments *a, const kf_held *h, kf_real *populations,
                                     int stride) {
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL
        for (int i = 0; i < 27; i++)
            populations[i * (long long)stride] = *kf_listed(a, i, place);
    } else {
        const kf_moments m = kf_to_moments(h);
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, populations, stride);
    }
}
KF_FUNCTION void kf_node_populations(const kf_module_arguments *a, const void *grid, kf_index k,
                                     kf_real *populations, int stride) {
    const kf_held h = kf_load_held(a, grid, k);
    kf_held_populations(a, &h, populations, stride);
}
KF_FUNCTION kf_real kf_node_population(const kf_module_arguments *a, const void *grid, kf_index k, int cx,
                                       int cy, int cz) {
    const kf_held h = kf_load_held(a, grid, k);
    if (kf_is_listed(&h)) return *kf_listed(a, kf_direction(cx, cy, cz), kf_listed_place(&h));
    const kf_moments m = kf_to_moments(&h);
    return kf_to_population(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, cx, cy, cz);
}

/* --- Collision --- */

/* The sums of 1, c and c c over the streamed populations, as deviations from the state at rest. */
typedef struct kf_sums {
    kf_real one, x, y, z, xx, yy, zz, xy, xz, yz;
} kf_sums;

/* Collides with the body force alone. Moments of order 2 relax with the shear rate, and those of higher
 * order become 0. */
KF_FUNCTION kf_moments kf_collide_sums(const kf_module_arguments *a, const kf_sums *s) {
    const kf_real half = KF_R(0.5) - KF_R(0.5) * KF_PARAMETER(a, shear_rate);
#if KF_BODY_FORCE
    const kf_real qx = s->x + KF_R(0.5) * KF_BODY_X, qy = s->y + KF_R(0.5) * KF_BODY_Y,
                  qz = s->z + KF_R(0.5) * KF_BODY_Z;
#else /* adding 0 would be an operation */
    const kf_real qx = s->x, qy = s->y, qz = s->z;
#endif
    const kf_real per_density = kf_reciprocal(KF_R(KF_UNIT) + s->one);
    kf_moments m;
    m.deviation = s->one;
    m.ux = qx * per_density;
    m.uy = qy * per_density;
    m.uz = qz * per_density;
    kf_real xx = s->xx - qx * m.ux, yy = s->yy - qy * m.uy, zz = s->zz - qz * m.uz;
    kf_real xy = s->xy - qx * m.uy, xz = s->xz - qx * m.uz, yz = s->yz - qy * m.uz;
#if KF_BODY_FORCE
    xx += m.ux * KF_BODY_X;
    yy += m.uy * KF_BODY_Y;
    zz += m.uz * KF_BODY_Z;
    xy += KF_R(0.5) * (m.ux * KF_BODY_Y + m.uy * KF_BODY_X);
    xz += KF_R(0.5) * (m.ux * KF_BODY_Z + m.uz * KF_BODY_X);
    yz += KF_R(0.5) * (m.uy * KF_BODY_Z + m.uz * KF_BODY_Y);
#endif
    const kf_real d1 = half * (xx - yy), d2 = half * (xx - zz);
    m.xx = KF_R(1.0 / 3.0) * (d1 + d2);
    m.yy = m.xx - d1;
#if KF_BODY_FORCE
    m.zz = m.xx - d2;
#endif
    m.xy = half * xy;
    m.xz = half * xz;
    m.yz = half * yz;
    return m;
}

/* Returns the moments that the collision would have given with the further force G. Before they relax, the
 * moments of order 2 about the velocity with half of G are larger by (G F + F G + G G) / (4 density),
 * where F is the body force. */
KF_FUNCTION kf_moments kf_add_force(const kf_module_arguments *a, kf_moments m, kf_real Gx, kf_real Gy,
                                    kf_real Gz) {
    const kf_real stay = KF_R(1.0) - KF_PARAMETER(a, shear_rate);
    const kf_real per_density = kf_reciprocal(KF_R(KF_UNIT) + m.deviation),
                  eighth = KF_R(0.125) * stay * per_density;
    const kf_real hx = Gx + KF_R(2.0) * KF_BODY_X, hy = Gy + KF_R(2.0) * KF_BODY_Y,
                  hz = Gz + KF_R(2.0) * KF_BODY_Z;
    const kf_real d1 = eighth * (Gx * hx - Gy * hy), d2 = eighth * (Gx * hx - Gz * hz);
    const kf_real xx = KF_R(1.0 / 3.0) * (d1 + d2);
    m.ux += KF_R(0.5) * Gx * per_density;
    m.uy += KF_R(0.5) * Gy * per_density;
    m.uz += KF_R(0.5) * Gz * per_density;
    m.xx += xx;
    m.yy += xx - d1;
#if KF_BODY_FORCE
    m.zz += xx - d2;
#endif
    m.xy += eighth * (Gx * Gy + KF_BODY_X * Gy + KF_BODY_Y * Gx);
    m.xz += eighth * (Gx * Gz + KF_BODY_X * Gz + KF_BODY_Z * Gx);
    m.yz += eighth * (Gy * Gz + KF_BODY_Y * Gz + KF_BODY_Z * Gy);
    return m;
}

#endif
