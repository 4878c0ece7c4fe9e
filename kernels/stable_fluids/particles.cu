/* Points that go with the flow; positions in cells, wrapped. Extent: (particles, simulations).
 * Defines: KF_PARTICLE_PAIRS 1: a thread has two particles, in two dimensions; the extent is half their number;
 * KF_PARTICLE_RULE 0 the seed's: velocity of the cell that holds it, one Euler step | 1 linear interpolation,
 * midpoint rule
 * What particles do does not depend on their order. So that neighbours read what lies together, they are put in the order of
 * bins now and then: pieces of rows of KF_BIN cells, all full of zeros before. */
#include "advection.h"

KF_FUNCTION kf_real kf_around(kf_real position, int n) {
    const kf_real moved = position - KF_R(n) * KF_FLOOR(position / KF_R(n));
    return moved < KF_R(n) ? moved : KF_R(0); /* rounding reaches n */
}
#if KF_PARTICLE_RULE == 1
/* Cell centres lie at half numbers. */
KF_FUNCTION kf_vector kf_flow_at(kf_view field, kf_vector p) {
    kf_vector down;
    down.u = KF_R(0.5) - p.u, down.v = KF_R(0.5) - p.v, down.w = KF_R(0.5) - p.w;
    const kf_place place = kf_locate(0, 0, 0, down, 2);
    return kf_linear_velocity(field, &place, 2);
}
#endif
/* Where a particle is after the step. */
KF_FUNCTION kf_vector kf_moved(kf_view field, kf_real step, kf_vector p) {
    kf_vector velocity;
#if KF_PARTICLE_RULE == 0
    const int i = kf_wrapped(kf_whole_cells(p.u), KF_NX), j = kf_wrapped(kf_whole_cells(p.v), KF_NY);
    const int k = KF_DIMENSIONS == 3 ? kf_wrapped(kf_whole_cells(p.w), KF_NZ) : 0;
    velocity = kf_velocity_at(field, (k * KF_NY + j) * KF_NX + i);
#else
    velocity = kf_flow_at(field, p);
    kf_vector middle = p;
    middle.u += KF_R(0.5) * step * velocity.u, middle.v += KF_R(0.5) * step * velocity.v, middle.w += KF_R(0.5) * step * velocity.w;
    velocity = kf_flow_at(field, middle);
#endif
    p.u = kf_around(p.u + step * velocity.u, KF_NX), p.v = kf_around(p.v + step * velocity.v, KF_NY);
    if (KF_DIMENSIONS == 3) p.w = kf_around(p.w + step * velocity.w, KF_NZ);
    return p;
}
#if KF_PARTICLE_PAIRS
/* Two at once, 16 bytes in single precision: more of the memory's answers are on their way. */
typedef struct KF_ALIGNED(16) kf_two_places { kf_complex first, second; } kf_two_places;
KF_KERNEL(particles, kf_fluid_arguments) {
    (void)z;
    kf_two_places *own = (kf_two_places *)((kf_complex *)a->particles + a->particle_count * y) + x;
    const kf_view field = kf_view_of(a, a->field, y);
    const kf_real step = KF_PARAMETER(a, particle_step);
    kf_two_places two = *own;
    kf_vector p, q;
    p.u = two.first.re, p.v = two.first.im, p.w = KF_R(0.5);
    q.u = two.second.re, q.v = two.second.im, q.w = KF_R(0.5);
    p = kf_moved(field, step, p), q = kf_moved(field, step, q);
    two.first = kf_complex_of(p.u, p.v), two.second = kf_complex_of(q.u, q.v);
    *own = two;
}
#else
KF_KERNEL(particles, kf_fluid_arguments) {
    (void)z;
    kf_real *own = (kf_real *)a->particles + (a->particle_count * y + x) * KF_DIMENSIONS;
    kf_vector p;
    p.u = own[0], p.v = own[1], p.w = KF_DIMENSIONS == 3 ? own[KF_DIMENSIONS - 1] : KF_R(0.5);
    p = kf_moved(kf_view_of(a, a->field, y), KF_PARAMETER(a, particle_step), p);
    own[0] = p.u, own[1] = p.v;
    if (KF_DIMENSIONS == 3) own[KF_DIMENSIONS - 1] = p.w;
}
#endif

#define KF_BIN    64
#define KF_BINS_X ((KF_NX + KF_BIN - 1) / KF_BIN)
#define KF_BINS   (KF_BINS_X * KF_NY * KF_NZ)
KF_FUNCTION int *kf_bin_of(const kf_fluid_arguments *a, int simulation, const kf_real *own) {
    const int i = kf_whole_cells(own[0]), j = kf_whole_cells(own[1]), k = KF_DIMENSIONS == 3 ? kf_whole_cells(own[KF_DIMENSIONS - 1]) : 0;
    return a->bins + (long long)KF_BINS * simulation + (kf_wrapped(k, KF_NZ) * KF_NY + kf_wrapped(j, KF_NY)) * KF_BINS_X +
           kf_wrapped(i, KF_NX) / KF_BIN;
}
/* Particles of each bin. Extent of this and the next but one: (particles, simulations). */
KF_SCALAR_KERNEL(count_particles, kf_fluid_arguments) {
    (void)z;
    kf_atomic_count(kf_bin_of(a, y, (const kf_real *)a->particles + (a->particle_count * y + x) * KF_DIMENSIONS));
}
/* Where each begins. Extent: a block of KF_BIN_THREADS, which has a stretch of bins a thread, and simulations. */
#define KF_BIN_THREADS 1024
#define KF_BINS_EACH   ((KF_BINS + KF_BIN_THREADS - 1) / KF_BIN_THREADS)
#define KF_BINS_TO(t)  (((t) + 1) * KF_BINS_EACH < KF_BINS ? ((t) + 1) * KF_BINS_EACH : KF_BINS)
KF_BLOCK_KERNEL(add_bins, kf_fluid_arguments) {
    KF_SHARED int before[KF_BIN_THREADS];
    int *bins = a->bins + (long long)KF_BINS * block_y;
    (void)block_x;
    KF_EACH_THREAD_SCALAR(t, KF_BIN_THREADS) {
        int sum = 0;
        for (int b = t * KF_BINS_EACH; b < KF_BINS_TO(t); b++) sum += bins[b];
        before[t] = sum;
    }
    KF_BARRIER;
    KF_EACH_OF(i, 1, KF_BIN_THREADS) {
        int sum = 0;
        for (int t = 0; t < KF_BIN_THREADS; t++) {
            const int here = before[t];
            before[t] = sum, sum += here;
        }
        (void)i;
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_BIN_THREADS) {
        int sum = before[t];
        for (int b = t * KF_BINS_EACH; b < KF_BINS_TO(t); b++) {
            const int here = bins[b];
            bins[b] = sum, sum += here;
        }
    }
}
/* Each to its place, with its number. */
KF_SCALAR_KERNEL(order_particles, kf_fluid_arguments) {
    (void)z;
    const long long first = a->particle_count * y;
    const kf_real *own = (const kf_real *)a->particles + (first + x) * KF_DIMENSIONS;
    const long long place = first + kf_atomic_count(kf_bin_of(a, y, own));
    kf_real *target = (kf_real *)a->ordered + place * KF_DIMENSIONS;
    KF_UNROLL for (int i = 0; i < KF_DIMENSIONS; i++) target[i] = own[i];
    a->ordered_numbers[place] = a->numbers[first + x];
}
/* And back to where they are looked for; bins are emptied. Extent: (particles or bins, whichever are more, simulations). */
KF_KERNEL(keep_order, kf_fluid_arguments) {
    (void)z;
    if (x < KF_BINS) a->bins[(long long)KF_BINS * y + x] = 0;
    if (x < a->particle_count) {
        const long long place = a->particle_count * y + x;
        kf_real *own = (kf_real *)a->particles + place * KF_DIMENSIONS;
        const kf_real *ordered = (const kf_real *)a->ordered + place * KF_DIMENSIONS;
        KF_UNROLL for (int i = 0; i < KF_DIMENSIONS; i++) own[i] = ordered[i];
        a->numbers[place] = a->ordered_numbers[place];
    }
}
