/* The D2Q9 lattice: velocities, weights, precision and memory layout. The order of the velocities and
 * their names are those of Eq. 1 of J. Toelke, "Implementation of a lattice Boltzmann kernel using the
 * Compute Unified Device Architecture developed by nVIDIA", Computing and Visualization in Science, 2008.
 *
 * Defines that a config sets:
 *   KF_STORAGE, KF_LAYOUT  type and memory layout of the populations (choices.h)
 *   KF_ALPHA_LOG2          log2 of the nodes in a block of the csoa layout
 *   KF_INDEX64 0|1         indices have 64 bits */
#ifndef KF_KERNELS_D2Q9_LATTICE_H
#define KF_KERNELS_D2Q9_LATTICE_H

#include "arguments.h"
#include "choices.h"
#include "portable.h"

#if KF_STORAGE == KF_F64_STORAGE
typedef double kf_stored;
typedef double kf_real;
#define KF_PARAMETER(a, name) ((a)->double_precision.name)
#else
typedef float kf_real;
#define KF_PARAMETER(a, name) ((a)->single_precision.name)
#if KF_STORAGE == KF_F32_STORAGE
typedef float kf_stored;
#else
#include "half.h"
typedef kf_half kf_stored;
#endif
#endif
#define KF_R(value) ((kf_real)(value))

#if KF_INDEX64
typedef long long kf_index;
#else
typedef int kf_index;
#endif

/* Half precision stores 2^15 times the value: the largest deviations, below 2, fit in, and small ones keep
 * their digits. */
KF_FUNCTION kf_real kf_from_store(kf_stored value) {
#if KF_STORAGE != KF_F16_STORAGE
    return value;
#else
    return kf_from_half(value) * 3.0517578125e-05f;
#endif
}
KF_FUNCTION kf_stored kf_to_store(kf_real value) {
#if KF_STORAGE != KF_F16_STORAGE
    return value;
#else
    return kf_to_half(value * 32768.0f);
#endif
}

/* Each velocity is X(number, name, cx, cy, opposite). */
#define KF_D2Q9(X)                                                                                           \
    X(0, r, 0, 0, r)                                                                                         \
    X(1, e, 1, 0, w)                                                                                         \
    X(2, n, 0, 1, s)                                                                                         \
    X(3, w, -1, 0, e)                                                                                        \
    X(4, s, 0, -1, n)                                                                                        \
    X(5, ne, 1, 1, sw)                                                                                       \
    X(6, nw, -1, 1, se)                                                                                      \
    X(7, sw, -1, -1, ne)                                                                                     \
    X(8, se, 1, -1, nw)

enum { KF_r, KF_e, KF_n, KF_w, KF_s, KF_ne, KF_nw, KF_sw, KF_se };

KF_CONSTANT signed char kf_cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
KF_CONSTANT signed char kf_cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
KF_CONSTANT signed char kf_opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
KF_CONSTANT double kf_weight[9] = {4.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0, 1.0 / 9.0,
                                   1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0};
/* Returns the number of the velocity with index cx + 1 + 3 (cy + 1). */
KF_CONSTANT signed char kf_direction_of[9] = {7, 4, 8, 3, 0, 1, 6, 2, 5};

/* The nine populations of a node. */
#define KF_MEMBER(i, name, cx, cy, opposite) kf_real name;
typedef struct kf_nine {
    KF_D2Q9(KF_MEMBER)
} kf_nine;

KF_FUNCTION kf_index kf_node(const kf_d2q9_arguments *a, int x, int y) {
    return (kf_index)(a->origin + (long long)a->row_pitch * (y + 1)) + x;
}
/* Returns the distance in node indices to the neighbour at (cx, cy). */
#define KF_OFFSET(a, cx, cy) ((kf_index)(cx) + (kf_index)(cy) * (a)->row_pitch)

/* Returns the place of component i of node k in memory (Eq. 9 of Chen et al. 2021, the paper of the
 * kinetic system). */
KF_FUNCTION kf_index kf_place(const kf_d2q9_arguments *a, int i, kf_index k) {
#if KF_LAYOUT == KF_AOS_LAYOUT
    (void)a;
    return k * 9 + i;
#elif KF_LAYOUT == KF_SOA_LAYOUT
    return (kf_index)a->capacity * i + k;
#else
    (void)a;
    return (((k >> KF_ALPHA_LOG2) * 9 + i) << KF_ALPHA_LOG2) + (k & (((kf_index)1 << KF_ALPHA_LOG2) - 1));
#endif
}

KF_FUNCTION kf_real kf_population(const kf_d2q9_arguments *a, const void *f, int i, kf_index k) {
    return kf_from_store(((const kf_stored *)f)[kf_place(a, i, k)]);
}
KF_FUNCTION void kf_set_population(const kf_d2q9_arguments *a, void *f, int i, kf_index k, kf_real value) {
    ((kf_stored *)f)[kf_place(a, i, k)] = kf_to_store(value);
}

/* Load or store all populations of `kf_nine f` at node k. */
#define KF_LOAD_PULL(i, name, cx, cy, opposite)                                                              \
    f.name = kf_population(a, a->source, i, k - KF_OFFSET(a, cx, cy));
#define KF_LOAD_HERE(i, name, cx, cy, opposite)  f.name = kf_population(a, a->source, i, k);
#define KF_STORE_HERE(i, name, cx, cy, opposite) kf_set_population(a, a->target, i, k, f.name);
#define KF_STORE_PUSHED(i, name, cx, cy, opposite)                                                           \
    kf_set_population(a, a->target, i, k + KF_OFFSET(a, cx, cy), f.name);
#define KF_LOAD_SWAPPED(i, name, cx, cy, opposite)                                                           \
    f.name = kf_population(a, a->source, KF_##opposite, k - KF_OFFSET(a, cx, cy));
#define KF_STORE_SWAPPED(i, name, cx, cy, opposite) kf_set_population(a, a->target, KF_##opposite, k, f.name);

#endif
