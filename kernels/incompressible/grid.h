/* The staggered grid as kernels see it: arithmetic, places in memory, openness of faces, the solid's
 * velocity, and sums over blocks. Defines: KF_DOUBLE 0|1, KF_SOLID (choices.h), and KF_THREADS of a block
 * that sums. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_GRID_H
#define KF_KERNELS_INCOMPRESSIBLE_GRID_H

#include "../choices.h"
#include "../portable.h"
#include "arguments.h"

#if KF_DOUBLE
typedef double kf_real;
#define KF_FLOOR floor
#else
typedef float kf_real;
#define KF_FLOOR floorf
#endif
#define KF_R(value) ((kf_real)(value))
#ifndef KF_PERIODIC /* 0: no axis is periodic */
#define KF_PERIODIC 1
#endif

typedef kf_incompressible_arguments kf_grid;

#define KF_VALUES(pointer)    ((kf_real *)(pointer))
#define KF_CONSTANTS(pointer) ((const kf_real *)(pointer))

/* The index of a place in memory. With 64 bits the compilers for the cpu recognise that adjacent places
 * are adjacent in memory. */
#if KF_CUDA
typedef int kf_index;
#else
typedef long long kf_index;
#endif
KF_FUNCTION kf_index kf_place(const kf_grid *a, int x, int y, int z) {
    return (kf_index)a->origin + x + a->row * y + a->plane * z;
}
KF_FUNCTION int kf_is_periodic(const kf_grid *a, int axis) {
    return KF_PERIODIC && a->faces[2 * axis] == KF_FACE_PERIODIC;
}

/* Return the distance to the neighbour above, and below, in places. */
KF_FUNCTION int kf_above(const kf_grid *a, int axis, int at, int stride) {
    return kf_is_periodic(a, axis) && at == a->cells[axis] - 1 ? -(a->cells[axis] - 1) * stride : stride;
}
KF_FUNCTION int kf_below(const kf_grid *a, int axis, int at, int stride) {
    return kf_is_periodic(a, axis) && at == 0 ? (a->cells[axis] - 1) * stride : -stride;
}

/* Return the distance from a neighbour above, and below, to the one below that. */
KF_FUNCTION int kf_below_above(const kf_grid *a, int axis, int at, int stride) {
    return kf_is_periodic(a, axis) && at == a->cells[axis] - 1 ? (a->cells[axis] - 1) * stride : -stride;
}
KF_FUNCTION int kf_below_below(const kf_grid *a, int axis, int at, int stride) {
    return kf_is_periodic(a, axis) && at == (a->cells[axis] > 1) ? (a->cells[axis] - 1) * stride : -stride;
}

/* The six neighbours of a cell, and the open share of each face between them and the cell. */
typedef struct kf_links {
    kf_index to[6];
    kf_real open[6], sum;
} kf_links;

/* Returns the six neighbours of cell k and the open share (0 to 1) of each face between them. `words`
 * holds it in steps of 1 / KF_OPEN. */
KF_FUNCTION kf_links kf_links_of(const kf_grid *a, const unsigned *words, kf_index k, int x, int y, int z) {
    kf_links l;
    const unsigned own = words[k];
    l.to[0] = k + kf_below(a, 0, x, 1);
    l.to[1] = k + kf_above(a, 0, x, 1);
    l.to[2] = k + kf_below(a, 1, y, a->row);
    l.to[3] = k + kf_above(a, 1, y, a->row);
    l.to[4] = k + kf_below(a, 2, z, a->plane);
    l.to[5] = k + kf_above(a, 2, z, a->plane);
    l.open[0] = KF_R((int)(own & 255));
    l.open[1] = KF_R((int)(words[l.to[1]] & 255));
    l.open[2] = KF_R((int)(own >> 8 & 255));
    l.open[3] = KF_R((int)(words[l.to[3]] >> 8 & 255));
    l.open[4] = KF_R((int)(own >> 16 & 255));
    l.open[5] = KF_R((int)(words[l.to[5]] >> 16 & 255));
    l.sum = KF_R(0);
    KF_UNROLL
    for (int i = 0; i < 6; i++) {
        l.open[i] *= KF_R(1.0 / KF_OPEN);
        l.sum += l.open[i];
    }
    return l;
}

/* Returns the sum of the neighbours' values, each times the open share of its face. */
KF_FUNCTION kf_real kf_around(const kf_links *l, const kf_real *values) {
    kf_real sum = KF_R(0);
    KF_UNROLL
    for (int i = 0; i < 6; i++)
        sum += l->open[i] * values[l->to[i]];
    return sum;
}

/* --- Sums over blocks of threads. A block has rows of cells and up to KF_MOST_SUMS sums --- */

#ifndef KF_MOST_SUMS
#define KF_MOST_SUMS 3
#endif
#define KF_SUMS_BEGIN                                                                                        \
    KF_SHARED double shared_sums[KF_MOST_SUMS][KF_THREADS];                                                  \
    double own[KF_MOST_SUMS][KF_PRIVATE(KF_THREADS)];                                                        \
    (void)block_x;                                                                                           \
    KF_EACH_THREAD(t, KF_THREADS) {                                                                          \
        KF_UNROLL                                                                                            \
        for (int i = 0; i < KF_MOST_SUMS; i++)                                                               \
            own[i][KF_OWN(t)] = 0.0;                                                                         \
    }
/* Encloses the statements for cell (x, y, z) at place k, which add to KF_SUM(0) and so on. */
#define KF_EACH_CELL_BEGIN                                                                                   \
    for (int line = block_y * a->rows_per_block; line < (block_y + 1) * a->rows_per_block; line++) {         \
        if (line >= a->cells[1] * a->cells[2]) break;                                                        \
        const int y = line % a->cells[1], z = line / a->cells[1];                                            \
        for (int first = 0; first < a->cells[0]; first += KF_THREADS)                                        \
            KF_EACH_THREAD(t, KF_THREADS) {                                                                  \
                const int x = first + t;                                                                     \
                if (x < a->cells[0]) {                                                                       \
                    const kf_index k = kf_place(a, x, y, z);
#define KF_EACH_CELL_END                                                                                     \
    }                                                                                                        \
    }                                                                                                        \
    }
#define KF_SUM(i) own[i][KF_OWN(t)]
#define KF_SUMS_END(count, target)                                                                           \
    KF_EACH_THREAD(t, KF_THREADS) {                                                                          \
        for (int i = 0; i < (count); i++)                                                                    \
            shared_sums[i][t] = own[i][KF_OWN(t)];                                                           \
    }                                                                                                        \
    for (int half = KF_THREADS / 2; half > 0; half /= 2) {                                                   \
        KF_BARRIER;                                                                                          \
        KF_EACH_THREAD(t, KF_THREADS) {                                                                      \
            if (t < half)                                                                                    \
                for (int i = 0; i < (count); i++)                                                            \
                    shared_sums[i][t] += shared_sums[i][t + half];                                           \
        }                                                                                                    \
    }                                                                                                        \
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {                                                                   \
        if (t == 0)                                                                                          \
            for (int i = 0; i < (count); i++)                                                                \
                (target)[(long long)i * a->partial_room + block_y] = shared_sums[i][0];                      \
    }

KF_FUNCTION kf_real kf_most_of(kf_real left, kf_real right) {
    return left > right ? left : right;
}

/* --- The solid --- */

/* Returns the solid's velocity along `component` at the face at `position`. */
KF_FUNCTION kf_real kf_solid_velocity(const kf_grid *a, int component, const kf_real position[3]) {
#if KF_SOLID == KF_MOVING_SOLID
    const kf_solid_state *s = a->solid;
    const int i = (component + 1) % 3, j = (component + 2) % 3;
    return KF_R(s->velocity[component]) + KF_R(s->turn[i]) * (position[j] - KF_R(s->center[j])) -
           KF_R(s->turn[j]) * (position[i] - KF_R(s->center[i]));
#else
    (void)a, (void)component, (void)position;
    return KF_R(0);
#endif
}

/* Returns the solid's velocity at face (x, y, z) along its normal c. */
KF_FUNCTION kf_real kf_solid_velocity_at(const kf_grid *a, int c, int x, int y, int z) {
    const kf_real position[3] = {KF_R(x) - (c == 0 ? KF_R(0.5) : KF_R(0)),
                                 KF_R(y) - (c == 1 ? KF_R(0.5) : KF_R(0)),
                                 KF_R(z) - (c == 2 ? KF_R(0.5) : KF_R(0))};
    return kf_solid_velocity(a, c, position);
}

/* Returns whether component `c` at face (x, y, z) is prescribed, and sets its value. */
#if KF_CUDA
KF_FUNCTION int kf_is_held(const kf_grid *a, int c, int x, int y, int z, kf_index k, kf_real *value) {
    const int at[3] = {x, y, z};
    const int lower = at[c] == 0, upper = at[c] == a->cells[c];
    if ((lower || upper) && !kf_is_periodic(a, c)) {
        const int face = 2 * c + upper;
        *value = KF_R(a->face_velocity[face][c]);
        if (a->faces[face] >= KF_FACE_SLIP) return 1;
    }
#if KF_SOLID
    if ((a->open[k] >> (8 * c) & 255) == 0) {
        *value = kf_solid_velocity_at(a, c, x, y, z);
        return 1;
    }
#else
    (void)k;
#endif
    return 0;
}
#else
/* Returns 1 if two integers are equal, otherwise 0. gcc does not vectorise a loop with a condition that is
 * the same along a row, so such conditions are factors. */
KF_FUNCTION kf_real kf_same(int left, int right) {
    const int apart = left - right;
    return KF_R(1 - (int)((unsigned)(apart | -apart) >> 31));
}
KF_FUNCTION int kf_is_held(const kf_grid *a, int c, int x, int y, int z, kf_index k, kf_real *value) {
    const int at[3] = {x, y, z};
    const kf_real wall = KF_R(!kf_is_periodic(a, c));
    const kf_real lower = wall * kf_same(at[c], 0), upper = wall * kf_same(at[c], a->cells[c]);
    const kf_real known =
        lower * KF_R(a->faces[2 * c] >= KF_FACE_SLIP) + upper * KF_R(a->faces[2 * c + 1] >= KF_FACE_SLIP);
    *value = lower * KF_R(a->face_velocity[2 * c][c]) + upper * KF_R(a->face_velocity[2 * c + 1][c]);
#if KF_SOLID
    *value += (KF_R(1) - known) * (kf_solid_velocity_at(a, c, x, y, z) - *value);
    return known + kf_same((int)(a->open[k] >> (8 * c) & 255), 0) > KF_R(0);
#else
    (void)k;
    return known > KF_R(0);
#endif
}
#endif
/* Returns the velocity at a face: the prescribed one if there is one, else the given value. */
KF_FUNCTION kf_real kf_settled(const kf_grid *a, int c, int x, int y, int z, kf_index k, kf_real value) {
    kf_real held;
    return kf_is_held(a, c, x, y, z, k, &held) ? held : value;
}

#endif
