/* The end of a step. Velocities are kicked, particles drift, and velocities are kicked again, with rates
 * that are predicted over the drift.
 *
 * A particle comes with the velocity v* = v_n-1 + h a_n-1, predicted for its present place. h is the
 * length of the step that led there. The acceleration a_n at this place corrects it: v_n = v_n-1 + (a_n-1
 * + a_n) h / 2 = v* + (a_n - a_n-1) h / 2. The particle then drifts with v_n + a_n h' / 2, where h' is the
 * coming step's length, and gets the prediction v* = v_n + h' a_n. The density is integrated in the same
 * way. */
#ifndef KF_KERNELS_SPH_INTEGRATE_H
#define KF_KERNELS_SPH_INTEGRATE_H

#include "particle.h"

/* Raises a maximum. One lane stands for its warp, and it uses the atomic only if its value is larger, so
 * atomics are rare. */
KF_FUNCTION void kf_raise(int *largest, float value) {
    int bits = kf_float_bits(value);
#if KF_CUDA && __CUDA_ARCH__ >= 800
    const unsigned lanes = __activemask();
    int lane;
    asm("mov.s32 %0, %%laneid;" : "=r"(lane));
    bits = __reduce_max_sync(lanes, bits);
    if (lane != __ffs((int)lanes) - 1) return;
#endif
    int seen = *(volatile int *)largest;
    while (bits > seen) {
        const int before = kf_atomic_compare_swap_int(largest, seen, bits);
        if (before == seen) break;
        seen = before;
    }
}

KF_FUNCTION float kf_length(float x, float y, float z) {
    return sqrtf(x * x + y * y + z * z);
}

/* Wraps a particle into [0, size) along periodic axes, and holds it inside all faces that are not open. */
KF_FUNCTION kf_four kf_settled(const kf_sph_arguments *a, kf_four p) {
    if (KF_PERIODIC & 1) p.x -= a->size[0] * floorf(p.x / a->size[0]);
    if (KF_PERIODIC & 2) p.y -= a->size[1] * floorf(p.y / a->size[1]);
    if (KF_PERIODIC & 4) p.z -= a->size[2] * floorf(p.z / a->size[2]);
    p.x = fminf(fmaxf(p.x, a->least[0]), a->most[0]), p.y = fminf(fmaxf(p.y, a->least[1]), a->most[1]);
    if (KF_DIMENSIONS == 3) p.z = fminf(fmaxf(p.z, a->least[2]), a->most[2]);
    return p;
}

#if KF_FUSED_COUNT
#define kf_count(a, i, p) kf_count_in_cell(a, i, p)
#else
#define kf_count(a, i, p) ((void)0)
#endif

/* Records how far a particle has moved since its list was made. Beyond half of the skin the list may lack
 * a neighbour. */
KF_FUNCTION void kf_watch(const kf_sph_arguments *a, int i, kf_four p) {
#if KF_LISTS_KEPT
    if (!a->list_position) return;
    const kf_four q = kf_load(a->list_position, i, a->count);
    const float d[3] = {p.x - q.x, p.y - q.y, p.z - q.z};
    float d2 = 0.0f;
    KF_UNROLL
    for (int axis = 0; axis < KF_DIMENSIONS; axis++) {
        const float along = kf_nearest_image(a, axis, d[axis]);
        d2 += along * along;
    }
    if (d2 > a->list_slack * a->list_slack) a->clock->flags |= KF_SPH_SKIN;
    KF_RAISE(a, moved, d2);
#else
    (void)a, (void)i, (void)p;
#endif
}

/* Moves a particle through the step. acceleration.w is de/dt. `shift` is a displacement that evens out the
 * particles and does not change velocities. */
KF_FUNCTION void kf_integrate(const kf_sph_arguments *a, int i, kf_four p, kf_four v, kf_four acceleration,
                              kf_four shift) {
    const int n = a->count, identity = a->sorted.identity[i];
    a->next.identity[i] = identity;
    if (kf_is_wall(identity) || !kf_inside(a, p)) {
        kf_keep(a->next.position, i, n, p), kf_keep(a->next.velocity, i, n, v);
        kf_keep(a->next.rate, i, n, acceleration);
        kf_count(a, i, p);
        return;
    }
    const float h = a->clock->step, half = 0.5f * a->clock->previous;
    const kf_four old = kf_load(a->sorted.rate, i, n);
    kf_four w;
    v.x += half * (acceleration.x - old.x), v.y += half * (acceleration.y - old.y);
    v.z += half * (acceleration.z - old.z), v.w += half * (acceleration.w - old.w);
    w.x = v.x + h * acceleration.x, w.y = v.y + h * acceleration.y, w.z = v.z + h * acceleration.z;
    w.w = v.w + h * acceleration.w;
    p.x += 0.5f * h * (v.x + w.x) + shift.x, p.y += 0.5f * h * (v.y + w.y) + shift.y;
    p.z += 0.5f * h * (v.z + w.z) + shift.z;
    p.w = 1.0f / (1.0f + w.w);
    p = kf_settled(a, p);
    kf_watch(a, i, p);
    kf_keep(a->next.position, i, n, p), kf_keep(a->next.velocity, i, n, w);
    kf_keep(a->next.rate, i, n, acceleration);
    kf_count(a, i, p);
    const float speed = kf_length(w.x, w.y, w.z);
    /* The negated form also catches NaN. */
    if (!(speed < 1e10f && w.w > -1.0f && w.w < 1e10f)) a->clock->flags |= KF_SPH_LOST;
    KF_RAISE(a, speed, speed);
    KF_RAISE(a, acceleration, kf_length(acceleration.x, acceleration.y, acceleration.z));
}

#endif
