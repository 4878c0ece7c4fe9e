/* Moves particles with the flow. Their positions are in cells and periodic. The extent is (particles,
 * simulations).
 *
 * Defines that a config or scene sets:
 *   KF_PARTICLE_PAIRS 0|1  1: a thread has two particles, in two dimensions; the extent is half their
 *                          number
 *   KF_PARTICLE_RULE       0: the source's, Euler's rule with the velocity of the cell that holds the
 *                          particle; 1: midpoint rule with linear interpolation */
#include "advection.h"

KF_FUNCTION kf_real kf_around(kf_real position, int n) {
    const kf_real moved = position - KF_R(n) * KF_FLOOR(position / KF_R(n));
    return moved < KF_R(n) ? moved : KF_R(0); /* rounding may give n */
}
#if KF_PARTICLE_RULE == KF_MIDPOINT_RULE
/* Returns the velocity at a place. Cell centres are at half numbers. */
KF_FUNCTION kf_vector kf_flow_at(kf_view field, kf_vector p) {
    kf_vector down;
    down.u = KF_R(0.5) - p.u, down.v = KF_R(0.5) - p.v, down.w = KF_R(0.5) - p.w;
    const kf_place place = kf_locate(0, 0, 0, down, 2);
    return kf_linear_velocity(field, &place, 2);
}
#endif
/* Returns where a particle is after the step. */
KF_FUNCTION kf_vector kf_moved(kf_view field, kf_real step, kf_vector p) {
    kf_vector velocity;
#if KF_PARTICLE_RULE == KF_EULER_RULE
    const int i = kf_wrapped(kf_whole_cells(p.u), KF_NX), j = kf_wrapped(kf_whole_cells(p.v), KF_NY);
    const int k = KF_DIMENSIONS == 3 ? kf_wrapped(kf_whole_cells(p.w), KF_NZ) : 0;
    velocity = kf_velocity_at(field, (k * KF_NY + j) * KF_NX + i);
#else
    velocity = kf_flow_at(field, p);
    kf_vector middle = p;
    middle.u += KF_R(0.5) * step * velocity.u, middle.v += KF_R(0.5) * step * velocity.v,
        middle.w += KF_R(0.5) * step * velocity.w;
    velocity = kf_flow_at(field, middle);
#endif
    p.u = kf_around(p.u + step * velocity.u, KF_NX), p.v = kf_around(p.v + step * velocity.v, KF_NY);
    if (KF_DIMENSIONS == 3) p.w = kf_around(p.w + step * velocity.w, KF_NZ);
    return p;
}
#if KF_PARTICLE_PAIRS
/* A thread moves two particles, which are 16 bytes in single precision, so that more loads are in flight.
 * The last particles come first, because their velocities were written last and are still in the cache.
 * Positions are used once, so they are the first to leave it. */
typedef struct KF_ALIGNED(16) kf_two_places {
    kf_complex first, second;
} kf_two_places;
KF_FUNCTION kf_two_places kf_read_places(const kf_two_places *own) {
#if KF_CUDA && KF_VELOCITY_BITS != 64
    const float4 values = __ldcs((const float4 *)own);
    kf_two_places two;
    two.first = kf_complex_of(values.x, values.y), two.second = kf_complex_of(values.z, values.w);
    return two;
#else
    return *own;
#endif
}
KF_FUNCTION void kf_write_places(kf_two_places *own, kf_vector p, kf_vector q) {
#if KF_CUDA && KF_VELOCITY_BITS != 64
    __stcs((float4 *)own, make_float4(p.u, p.v, q.u, q.v));
#else
    own->first = kf_complex_of(p.u, p.v), own->second = kf_complex_of(q.u, q.v);
#endif
}
KF_KERNEL(particles, kf_fluid_arguments) {
    (void)z;
    kf_two_places *own =
        (kf_two_places *)((kf_complex *)a->particles + a->particle_count * y) + (a->extent[0] - 1 - x);
    const kf_view field = kf_view_of(a, a->field, y);
    const kf_real step = KF_PARAMETER(a, particle_step);
    const kf_two_places two = kf_read_places(own);
    kf_vector p, q;
    p.u = two.first.re, p.v = two.first.im, p.w = KF_R(0.5);
    q.u = two.second.re, q.v = two.second.im, q.w = KF_R(0.5);
    p = kf_moved(field, step, p), q = kf_moved(field, step, q);
    kf_write_places(own, p, q);
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
