/* The clock, which computes the next time step. Exchange of the state with the host's arrays. Totals of
 * the flow, and gauges. */
#include "particle.h"

/* Takes the maxima over all parts, and makes the next step raise the other pair. If parts do not read each
 * other's memory, the host has already written the maximum into each part's own entry. */
KF_FUNCTION void kf_gather(const kf_sph_arguments *a, kf_sph_clock *clock) {
    kf_sph_share *own = a->share;
    const int turn = own->turn, alone = a->team->packs;
    for (int part = alone ? a->team->part : 0; part < (alone ? a->team->part + 1 : a->team->parts); part++) {
        const kf_sph_share *share = a->team->peers[part].share;
        if (share->speed[turn] > clock->speed) clock->speed = share->speed[turn];
        if (share->acceleration[turn] > clock->acceleration) clock->acceleration = share->acceleration[turn];
        if (share->moved[turn] > clock->moved) clock->moved = share->moved[turn];
    }
    own->turn = 1 - turn;
    own->speed[1 - turn] = own->acceleration[1 - turn] = own->moved[1 - turn] = 0;
}

/* Computes the length of the next step from the largest speed and acceleration of this one (docs/sph.md). */
KF_SCALAR_KERNEL(advance_clock, kf_sph_arguments) {
    (void)x, (void)y, (void)z;
    kf_sph_clock *clock = a->clock;
    if (KF_HAS_PARTS(a)) kf_gather(a, clock);
    const float speed = kf_bits_float(clock->speed), acceleration = kf_bits_float(clock->acceleration);
    clock->time += (double)clock->step;
    clock->previous = clock->step;
    if (!a->list_position) clock->moved = 0; /* in the list's last step */
    if (a->time_step > 0.0f)
        clock->step = a->time_step;
    else {
        clock->step = fminf(fminf(a->courant_length / (a->acoustic_speed + speed), a->viscous_step),
                            0.25f * sqrtf(a->force_length / fmaxf(acceleration, 1e-12f)));
        /* Fast particles shorten the step, so that they stay within the skin until the list has served all
         * its steps. */
        if (a->list_slack > 0.0f && a->list_left > 0) {
            const float left = fmaxf(0.9f * a->list_slack - sqrtf(kf_bits_float(clock->moved)), 0.0f);
            clock->step = fminf(clock->step, left / ((float)a->list_left *
                                                     fmaxf(speed + acceleration * clock->step, 1e-12f)));
        }
    }
    clock->speed = clock->acceleration = 0;
}

/* The host's state has 16 floats for each particle, from identity `first` on: position, velocity and e,
 * rates, stress. */
enum { KF_STATE = 16 };
/* Writes particles from the host's rows in the config's layout. A particle's identity is its number in the
 * state. If several devices share the particles, `numbers` has it. The particles of walls come last. */
KF_SCALAR_KERNEL(unpack, kf_sph_arguments) {
    (void)y, (void)z;
    const int i = a->first + x, n = a->count;
    const float *from = a->exchange + (long long)KF_STATE * x;
    kf_four p, v, r;
    p.x = from[0], p.y = from[1], p.z = from[2];
    v.x = from[3], v.y = from[4], v.z = from[5], v.w = from[6];
    r.x = from[7], r.y = from[8], r.z = from[9], r.w = from[10];
    const int number = KF_HAS_PARTS(a) ? a->team->numbers[x] : i;
    const int wall = number >= a->fluid_count;
    a->next.identity[i] = wall ? number | KF_SPH_WALL_BIT : number;
    p.w = (wall ? -1.0f : 1.0f) / (1.0f + v.w);
    kf_keep(a->next.position, i, n, p), kf_keep(a->next.velocity, i, n, v), kf_keep(a->next.rate, i, n, r);
#if KF_STRESS
    kf_deviator s;
    s.xx = from[11], s.yy = from[12], s.xy = from[13], s.xz = from[14], s.yz = from[15];
    kf_keep_stress(a->next.stress, i, n, s);
#endif
}
/* Writes the particles first ... first + limit - 1 into the host's rows, in the order of their identities. */
KF_SCALAR_KERNEL(pack, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const int n = a->count, place = (a->next.identity[i] & ~KF_SPH_WALL_BIT) - a->first;
    if (place < 0 || place >= a->limit) return;
    float *to = a->exchange + (long long)KF_STATE * place;
    const kf_four p = kf_load(a->next.position, i, n), v = kf_load(a->next.velocity, i, n),
                  r = kf_load(a->next.rate, i, n);
    to[0] = p.x, to[1] = p.y, to[2] = p.z;
    to[3] = v.x, to[4] = v.y, to[5] = v.z, to[6] = v.w;
    to[7] = r.x, to[8] = r.y, to[9] = r.z, to[10] = r.w;
    to[11] = to[12] = to[13] = to[14] = to[15] = 0.0f;
#if KF_STRESS
    const kf_deviator s = kf_load_stress(a->next.stress, i, n);
    to[11] = s.xx, to[12] = s.yy, to[13] = s.xy, to[14] = s.xz, to[15] = s.yz;
#endif
}

/* Adds a term to a sum that consists of two integers, in units of 2^-18 and 2^-62. Sums of integers do not
 * depend on the order of the terms. So the result is the same on any number of devices, and after a
 * restart. */
KF_FUNCTION void kf_add_exactly(kf_int64 *sum, double term) {
    const double scaled = fmax(fmin(term, 1e9), -1e9) * KF_SPH_WHOLE, whole = floor(scaled);
    sum[1] += (kf_int64)((scaled - whole) * (double)KF_SPH_PART_OF_WHOLE);
    sum[0] += (kf_int64)whole + (sum[1] >= KF_SPH_PART_OF_WHOLE);
    sum[1] -= sum[1] >= KF_SPH_PART_OF_WHOLE ? KF_SPH_PART_OF_WHOLE : 0;
}

/* Computes the totals of KF_SPH_CHUNK particles for each item. */
KF_SCALAR_KERNEL(totals, kf_sph_arguments) {
    (void)y, (void)z;
    const int n = a->count, first = x * KF_SPH_CHUNK,
              end = first + KF_SPH_CHUNK < n ? first + KF_SPH_CHUNK : n;
    kf_sph_sums sum;
    for (int k = 0; k < KF_SPH_EXACT; k++)
        sum.exact[k][0] = sum.exact[k][1] = 0;
    for (int k = 0; k < KF_SPH_TOTALS - KF_SPH_EXACT; k++)
        sum.largest[k] = 0.0;
    for (int item = first; item < end; item++) {
        const int i = KF_HAS_PARTS(a) ? kf_slot_of(a, item) : item;
        if (KF_HAS_PARTS(a) && i < 0) break;
        const kf_four p = kf_load(a->next.position, i, n), v = kf_load(a->next.velocity, i, n);
        if (kf_is_wall(a->next.identity[i]) || !kf_inside(a, p)) continue;
        const double speed2 = (double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z,
                     off = fabs((double)v.w);
        const double terms[KF_SPH_EXACT] = {
            1.0,
            0.5 * speed2,
            -((double)a->gravity[0] * p.x + (double)a->gravity[1] * p.y + (double)a->gravity[2] * p.z),
            v.x,
            v.y,
            v.z,
            p.x,
            p.y,
            p.z,
            off,
            off > KF_SPH_OFF_FROM ? 1.0 : 0.0};
        const double sizes[KF_SPH_TOTALS - KF_SPH_EXACT] = {sqrt(speed2), off, p.x, v.w};
        for (int k = 0; k < KF_SPH_EXACT; k++)
            kf_add_exactly((kf_int64 *)sum.exact[k], terms[k]);
        for (int k = 0; k < KF_SPH_TOTALS - KF_SPH_EXACT; k++)
            sum.largest[k] = fmax(sum.largest[k], sizes[k]);
    }
    a->totals[x] = sum;
}

/* Reads the gauges. Gauge g has x, y, z and reach at gauges[4 g]; it sees through periodic faces. It finds
 * the highest particle of the column around it (as the bits of a float, from 1 on), and a pressure that is
 * weighted by nearness. The sums are in fixed point, so their order does not matter. */
KF_SCALAR_KERNEL(gauges, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const int n = a->count;
    const kf_four p = kf_load(a->next.position, i, n), v = kf_load(a->next.velocity, i, n);
    if (kf_is_wall(a->next.identity[i]) || !kf_inside(a, p)) return;
    for (int g = 0; g < a->gauge_count; g++) {
        const float *at = a->gauges + 4 * g;
        const float dx = kf_nearest_image(a, 0, p.x - at[0]),
                    dy = KF_DIMENSIONS == 3 ? kf_nearest_image(a, 1, p.y - at[1]) : 0.0f, reach = at[3];
        if (dx * dx + dy * dy > reach * reach) continue;
        const float up = kf_up(p), dz = kf_nearest_image(a, KF_UP, up - at[2]),
                    r = sqrtf(dx * dx + dy * dy + dz * dz);
        kf_int64 *sums = (kf_int64 *)a->gauge_sums + 3 * g;
        if (dx * dx + dy * dy <= 0.5f * 0.5f * a->support2) {
            const int bits = kf_float_bits(up + 1.0f);
            int *top = (int *)sums, seen = *(volatile int *)top;
            while (bits > seen) {
                const int before = kf_atomic_compare_swap_int(top, seen, bits);
                if (before == seen) break;
                seen = before;
            }
        }
        if (r >= reach) continue;
        const float weight = (1.0f - r / reach) * (1.0f - r / reach);
#if KF_CLIPPED
        const float pressure = fmaxf(v.w, 0.0f);
#else
        const float pressure = KF_STIFF ? (powf(1.0f + v.w, 7.0f) - 1.0f) / 7.0f : v.w;
#endif
        kf_atomic_add_int64(&sums[1], (kf_int64)(weight * 1e9f));
        kf_atomic_add_int64(&sums[2], (kf_int64)(weight * pressure * 1e12f));
    }
}
