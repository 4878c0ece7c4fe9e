/* The search for neighbours on the cpu. It first writes the numbers of the near particles, and then runs
 * one loop of whole vectors over them. That loop reads from arrays of x, of y and so on, into which the
 * particles' values are copied. With KF_LAYOUT 4 particles are loaded whole and transposed, which is
 * faster than gathering their floats. neighbours.h includes this file and lists the defines. */
#ifndef KF_KERNELS_SPH_NEAR_H
#define KF_KERNELS_SPH_NEAR_H

#include "particle.h"
#if defined(__AVX512F__)
#include "lanes.h"
#endif

/* Without these options compilers add a vector's lanes one after the other, and use only half of the
 * widest vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("associative-math", "no-signed-zeros", "no-trapping-math")
#if defined(__AVX512F__)
#pragma GCC target("prefer-vector-width=512")
#endif
#endif

enum { KF_MOST_NEAR = 4096, KF_BESIDE = 128 };
#define KF_ALIGNED __attribute__((aligned(64))) /* otherwise compilers peel off the first lanes of a loop */

/* --- Candidates: bits, then numbers --- */
#if KF_SEARCH == KF_SEARCH_STAGED
#if defined(__AVX512F__) && KF_LAYOUT != 3 /* compilers make no mask from comparisons in a loop */
#if KF_LAYOUT == 4
/* Returns x (which 0), y (1) or z (2) of 16 particles, of which each vector has four. */
KF_FUNCTION kf_lanes kf_component(const kf_lanes *fours, int which) {
    const kf_numbers from = which + (kf_numbers){0, 4, 8, 12, 16, 20, 24, 28};
    return kf_join(kf_choose_lanes(fours[0], from, fours[1]), kf_choose_lanes(fours[2], from, fours[3]));
}
#endif
/* Returns which of the first `count` of 16 candidates are near, as bits. */
KF_FUNCTION unsigned kf_near_lanes(const kf_sph_arguments *a, kf_neighbour_range r, int first, int count,
                                   float reach2) {
    const unsigned short lanes = (unsigned short)(count < KF_VECTOR ? (1u << count) - 1u : 0xffffu);
    kf_lanes d[3];
#if KF_LAYOUT == 4
    const float *const at = a->sorted.position + 4 * first;
    const unsigned long long floats = count < KF_VECTOR ? (1ull << 4 * count) - 1ull : ~0ull;
    kf_lanes fours[4];
    for (int k = 0; k < 4; k++)
        fours[k] = kf_load_lanes((unsigned short)(floats >> 16 * k), at + 16 * k);
    for (int axis = 0; axis < KF_DIMENSIONS; axis++)
        d[axis] = kf_component(fours, axis);
#else
    for (int axis = 0; axis < KF_DIMENSIONS; axis++)
        d[axis] = kf_load_lanes(lanes, a->sorted.position + axis * a->count + first);
#endif
    d[0] = r.x - d[0], d[1] = r.y - d[1];
    kf_lanes r2 = kf_fma_lanes(d[1], d[1], d[0] * d[0]);
#if KF_DIMENSIONS == 3
    d[2] = r.z - d[2];
    r2 = kf_fma_lanes(d[2], d[2], r2);
#endif
    return kf_less_lanes(lanes, r2, reach2 - (kf_lanes){0});
}
#endif
/* Returns which of the candidates first ... end - 1, at most 32, are near, as bits. */
KF_FUNCTION unsigned kf_near_bits(const kf_sph_arguments *a, kf_neighbour_range r, int first, int end) {
    unsigned hits = 0;
    const float reach2 = KF_MAKES_LISTS ? a->list_support2 : a->support2;
#if defined(__AVX512F__) && KF_LAYOUT != 3
    for (int from = first; from < end; from += KF_VECTOR)
        hits |= kf_near_lanes(a, r, from, end - from, reach2) << (from - first);
#else
    _Pragma("omp simd reduction(| : hits)") for (int j = first; j < end; j++) {
        KF_DISTANCE(r)
        hits |= (r2 < reach2 ? 1u : 0u) << (j - first);
    }
#endif
    return hits;
}
/* Appends base + i to the numbers that are near for each bit i of `bits`, and returns their new count. If
 * there is no room for 32 more, it raises KF_SPH_OVERFLOW. */
KF_FUNCTION int kf_add_near(const kf_sph_arguments *a, int *near, int count, int base, unsigned bits) {
    if (count > KF_MOST_NEAR - 32) {
        a->clock->flags |= KF_SPH_OVERFLOW;
        return count;
    }
#if defined(__AVX512F__)
    kf_numbers numbers = base + (kf_numbers){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    *(kf_loose_numbers *)(near + count) = kf_compress((unsigned short)bits, numbers);
    count += __builtin_popcount(bits & 0xffffu);
    numbers += 16;
    *(kf_loose_numbers *)(near + count) = kf_compress((unsigned short)(bits >> 16), numbers);
    return count + __builtin_popcount(bits >> 16);
#else
    for (; bits != 0; bits &= bits - 1)
        near[count++] = base + KF_LOW_BIT(bits);
    return count;
#endif
}
/* Writes the numbers of the particles near i, in a list without i itself, and returns their count. With
 * `keeps` it also stores the bits for the other sums of the step: words 2 l and 2 l + 1 of particle i are
 * slot l (neighbours.h). */
KF_FUNCTION int kf_find_near(const kf_sph_arguments *a, kf_four p, int i, int keeps, int *near) {
    unsigned *mine = a->hits + kf_word(a, i);
    int home[3], count = 0, kept = 0;
    kf_home_of(a, p, home);
    for (int k = 0; k < KF_RANGES; k++) {
        const kf_neighbour_range r = kf_candidates(a, p, home, k);
        for (int b = r.first; b < r.end; b += 32) {
            unsigned hits = kf_near_bits(a, r, b, r.end < b + 32 ? r.end : b + 32);
            if (KF_MAKES_LISTS && i >= b && i < b + 32) hits &= ~(1u << (i - b));
            if (hits == 0) continue;
            if (keeps && kept < a->capacity / 2) mine[2 * kept] = (unsigned)b, mine[2 * kept + 1] = hits;
            kept++;
            count = kf_add_near(a, near, count, b, hits);
        }
    }
    if (!keeps) return count;
    if (kept > a->capacity / 2) a->clock->flags |= KF_SPH_OVERFLOW;
    a->hit_count[i] = kept < a->capacity / 2 ? kept : a->capacity / 2;
    return count;
}
KF_FUNCTION int kf_kept_near(const kf_sph_arguments *a, int i, int *near) {
    const unsigned *mine = a->hits + kf_word(a, i);
    int count = 0;
    for (int l = 0; l < a->hit_count[i]; l++)
        count = kf_add_near(a, near, count, (int)mine[2 * l], mine[2 * l + 1]);
    return count;
}
#else
KF_FUNCTION int kf_listed_near(const kf_sph_arguments *a, int i, int *near) {
    const int *mine = (const int *)a->hits + kf_word(a, i);
    const int count = a->hit_count[i] < KF_MOST_NEAR ? a->hit_count[i] : KF_MOST_NEAR;
    for (int k = 0; k < count; k++)
        near[k] = mine[k];
    return count;
}
#endif

/* --- Whole vectors of neighbours; unused lanes hold i itself, moved out of reach --- */
typedef struct kf_beside {
    float x[KF_BESIDE], y[KF_BESIDE], z[KF_BESIDE], w[KF_BESIDE];
} KF_ALIGNED kf_beside;
/* Copies values of `count` particles side by side, and fills up the last vector. */
KF_FUNCTION void kf_put_beside(const float *values, const int *numbers, int count, int all, kf_beside *to) {
#if defined(__AVX512F__) && KF_LAYOUT == 4
    (void)all;
    for (int from = 0; from < count; from += KF_VECTOR) {
        kf_lanes row[4];
        for (int k = 0; k < 4; k++) { /* of particles k, 4 + k, 8 + k and 12 + k */
            const int *which = numbers + from + k;
            row[k] = (kf_lanes){0};
            row[k] = kf_insert_four(row[k], values + 4 * which[0], 0);
            row[k] = kf_insert_four(row[k], values + 4 * which[4], 1);
            row[k] = kf_insert_four(row[k], values + 4 * which[8], 2);
            row[k] = kf_insert_four(row[k], values + 4 * which[12], 3);
        }
        const kf_lanes xy = kf_low_pairs(row[0], row[1]), zw = kf_high_pairs(row[0], row[1]),
                       more_xy = kf_low_pairs(row[2], row[3]), more_zw = kf_high_pairs(row[2], row[3]);
        *(kf_lanes *)(to->x + from) = kf_low_doubles(xy, more_xy);
        *(kf_lanes *)(to->y + from) = kf_high_doubles(xy, more_xy);
        *(kf_lanes *)(to->z + from) = kf_low_doubles(zw, more_zw);
        *(kf_lanes *)(to->w + from) = kf_high_doubles(zw, more_zw);
    }
#else
    _Pragma("omp simd") for (int k = 0; k < count; k++) {
        const kf_four v = kf_load(values, numbers[k], all);
        to->x[k] = v.x, to->y[k] = v.y, to->z[k] = v.z, to->w[k] = v.w;
    }
#endif
}
KF_FUNCTION kf_four kf_from_beside(const kf_beside *from, int k) {
    kf_four v;
    v.x = from->x[k], v.y = from->y[k], v.z = KF_DIMENSIONS == 3 ? from->z[k] : 0.0f, v.w = from->w[k];
    return v;
}
#define KF_VELOCITY_OF(j) kf_from_beside(&kf_velocity, kf_m)
#define KF_STRESS_OF(j)   kf_deviator_of(kf_from_beside(&kf_stress, kf_m), kf_stress_last[kf_m])

/* Moves neighbours across a periodic face to where p sees them, and unused lanes out of reach. */
KF_FUNCTION void kf_put_in_place(const kf_sph_arguments *a, kf_four p, int count, int whole,
                                 kf_beside *position) {
    int home[3];
    kf_home_of(a, p, home);
    for (int k = 0; KF_PERIODIC && kf_sees_images(a, home) && k < whole; k++) {
        position->x[k] = p.x - kf_nearest_image(a, 0, p.x - position->x[k]);
        position->y[k] = p.y - kf_nearest_image(a, 1, p.y - position->y[k]);
        if (KF_DIMENSIONS == 3) position->z[k] = p.z - kf_nearest_image(a, 2, p.z - position->z[k]);
    }
    for (int k = count; k < whole; k++)
        position->x[k] = p.x + 2.0f * a->support;
}
#define KF_VISIT_NEAR(p, i, pragma, ...)                                                                     \
    {                                                                                                        \
        kf_beside kf_position, kf_velocity, kf_stress;                                                       \
        float kf_stress_last[KF_BESIDE] KF_ALIGNED;                                                          \
        for (int kf_m = 0; kf_m < KF_VECTOR; kf_m++)                                                         \
            kf_near[kf_count + kf_m] = i;                                                                    \
        for (int kf_from = 0; kf_from < kf_count; kf_from += KF_BESIDE) {                                    \
            const int kf_left = kf_count - kf_from < KF_BESIDE ? kf_count - kf_from : KF_BESIDE,             \
                      kf_whole = (kf_left + KF_VECTOR - 1) / KF_VECTOR * KF_VECTOR,                          \
                      *const kf_some = kf_near + kf_from;                                                    \
            kf_put_beside(a->sorted.position, kf_some, kf_whole, a->count, &kf_position);                    \
            kf_put_in_place(a, p, kf_left, kf_whole, &kf_position);                                          \
            kf_put_beside(a->sorted.velocity, kf_some, kf_whole, a->count, &kf_velocity);                    \
            if (KF_STRESS) kf_put_beside(a->sorted.stress, kf_some, kf_whole, a->count, &kf_stress);         \
            for (int kf_m = 0; KF_STRESS && KF_DIMENSIONS == 3 && kf_m < kf_whole; kf_m++)                   \
                kf_stress_last[kf_m] = a->sorted.stress[4 * a->count + kf_some[kf_m]];                       \
            KF_SIMD(pragma) for (int kf_m = 0; kf_m < kf_whole; kf_m++) {                                    \
                const int j = kf_some[kf_m];                                                                 \
                const kf_four q = kf_from_beside(&kf_position, kf_m);                                        \
                const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;                                  \
                const float r2 = dx * dx + dy * dy + dz * dz;                                                \
                (void)j, (void)dz;                                                                           \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
        }                                                                                                    \
    }

#define KF_NEAR_NUMBERS(found)                                                                               \
    int kf_near[KF_MOST_NEAR + KF_VECTOR] KF_ALIGNED;                                                        \
    const int kf_count = found;
#define KF_SCAN_STAGED(p, i, pragma, keeps, ...)                                                             \
    {                                                                                                        \
        KF_NEAR_NUMBERS(kf_find_near(a, p, i, keeps, kf_near))                                               \
        KF_VISIT_NEAR(p, i, pragma, __VA_ARGS__)                                                             \
    }
#define KF_EACH_KEPT(p, i, pragma, ...)                                                                      \
    {                                                                                                        \
        KF_NEAR_NUMBERS(kf_kept_near(a, i, kf_near))                                                         \
        KF_VISIT_NEAR(p, i, pragma, __VA_ARGS__)                                                             \
    }
#define KF_EACH_LISTED(p, i, pragma, ...)                                                                    \
    {                                                                                                        \
        KF_NEAR_NUMBERS(kf_listed_near(a, i, kf_near))                                                       \
        KF_VISIT_NEAR(p, i, pragma, __VA_ARGS__)                                                             \
    }

#endif
