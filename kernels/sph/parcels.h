/* Parcels, which parts send each other if they do not read each other's memory (arguments.h). A parcel
 * consists of rows of integers that hold the bits of floats. `outgoing` has the rows for part 0, then
 * those for part 1, and so on. `incoming` has the rows that came, in the same order. The host transfers
 * them. sort.cu includes this file.
 *
 * In a sort a part sends each particle to all other parts that keep its plane. It counts the particles
 * that came together with its own, so that the counts of its cells are complete. After the sort it sends
 * the values that have changed of those particles of its slab that others keep. Their order is the same on
 * both parts, so a row needs no name. */
#ifndef KF_KERNELS_SPH_PARCELS_H
#define KF_KERNELS_SPH_PARCELS_H

#include "particle.h"

#define KF_ROW (KF_SPH_ROW + (KF_STRESS ? KF_SPH_STRESSES : 0))

/* --- Rows --- */

KF_FUNCTION int *kf_put_four(int *row, kf_four v) {
    row[0] = kf_float_bits(v.x), row[1] = kf_float_bits(v.y);
    row[2] = kf_float_bits(v.z), row[3] = kf_float_bits(v.w);
    return row + 4;
}
KF_FUNCTION kf_four kf_four_of(const int *row) {
    kf_four v;
    v.x = kf_bits_float(row[0]), v.y = kf_bits_float(row[1]);
    v.z = kf_bits_float(row[2]), v.w = kf_bits_float(row[3]);
    return v;
}
#if KF_STRESS
KF_FUNCTION int *kf_put_stress(int *row, kf_deviator s) {
    row[0] = kf_float_bits(s.xx), row[1] = kf_float_bits(s.yy), row[2] = kf_float_bits(s.xy);
    row[3] = kf_float_bits(s.xz), row[4] = kf_float_bits(s.yz);
    return row + KF_SPH_STRESSES;
}
KF_FUNCTION kf_deviator kf_stress_of(const int *row) {
    kf_deviator s;
    s.xx = kf_bits_float(row[0]), s.yy = kf_bits_float(row[1]), s.xy = kf_bits_float(row[2]);
    s.xz = kf_bits_float(row[3]), s.yz = kf_bits_float(row[4]);
    return s;
}
#endif

KF_FUNCTION int kf_keeps_plane(const kf_sph_arguments *a, int part, int plane) {
    return kf_plane_near(a, a->share->cut[part], a->share->cut[part + 1], plane);
}

/* Gives each part its first row from the numbers of rows in `packed`. `packed` then has the next row to
 * fill for each part. */
KF_FUNCTION void kf_begin_rows(kf_sph_share *share, int parts, int *begin) {
    begin[0] = 0;
    for (int k = 0; k < parts; k++) {
        begin[k + 1] = begin[k] + share->packed[k];
        share->packed[k] = begin[k];
    }
}

/* --- Particles, in a sort --- */

/* Counts for each other part the particles of this part whose planes it keeps. */
KF_SCALAR_KERNEL(count_parcels, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const int cell = a->cell_of[2 * i];
    if (cell == a->cell_count) return;
    const int plane = kf_plane_of(a, cell);
    for (int part = 0; part < a->team->parts; part++)
        if (part != a->team->part && kf_keeps_plane(a, part, plane))
            (void)kf_atomic_count(&a->share->packed[part]);
}
KF_SCALAR_KERNEL(begin_parcels, kf_sph_arguments) {
    (void)x, (void)y, (void)z;
    kf_begin_rows(a->share, a->team->parts, a->share->to);
}
/* Writes these particles into rows. Rows beyond the room are not written, and the host does not transfer
 * them. */
KF_SCALAR_KERNEL(pack_parcels, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const int n = a->count, cell = a->cell_of[2 * i];
    if (cell == a->cell_count) return;
    const int plane = kf_plane_of(a, cell);
    for (int part = 0; part < a->team->parts; part++) {
        if (part == a->team->part || !kf_keeps_plane(a, part, plane)) continue;
        const int place = kf_atomic_count(&a->share->packed[part]);
        if (place >= a->team->room) continue;
        int *row = a->team->outgoing + (long long)KF_ROW * place;
        row = kf_put_four(row, kf_load(a->next.position, i, n));
        row = kf_put_four(row, kf_load(a->next.velocity, i, n));
        row = kf_put_four(row, kf_load(a->next.rate, i, n));
#if KF_STRESS
        row = kf_put_stress(row, kf_load_stress(a->next.stress, i, n));
#endif
        row[0] = a->next.identity[i];
        row[1] = cell;
    }
}

/* Returns the identity and the cell of a particle that has come. */
KF_FUNCTION const int *kf_who_came(const kf_sph_arguments *a, int k) {
    return a->team->incoming + (long long)KF_ROW * (k + 1) - 2;
}
/* Counts the particles that have come in their cells, as kf_count_in_cell does with a part's own. */
KF_SCALAR_KERNEL(count_arrivals, kf_sph_arguments) {
    (void)y, (void)z;
    for (int k = x; k < a->share->from[a->team->parts]; k += a->extent[0]) {
        const int cell = kf_who_came(a, k)[1], at = 2 * (a->count + k);
        a->cell_of[at] = cell;
        a->cell_of[at + 1] = kf_atomic_count(&a->counts[cell]);
    }
}
/* Moves the particle of row k that has come into a slot of `sorted`. */
KF_FUNCTION void kf_move_row(const kf_sph_arguments *a, int k, int to, int identity) {
    const int n = a->count, *row = a->team->incoming + (long long)KF_ROW * k;
    kf_keep(a->sorted.position, to, n, kf_four_of(row));
    kf_keep(a->sorted.velocity, to, n, kf_four_of(row + 4));
    kf_keep(a->sorted.rate, to, n, kf_four_of(row + 8));
#if KF_STRESS
    kf_keep_stress(a->sorted.stress, to, n, kf_stress_of(row + 12));
#endif
    a->sorted.identity[to] = identity;
}

/* --- Copies of values that have changed --- */

/* Finds the planes of the slab of `owner` that `keeper` keeps, as three ranges, and their slots here: low
 * ... high - 1. */
KF_FUNCTION void kf_common_slots(const kf_sph_arguments *a, int owner, int keeper, int slots[3][2]) {
    const int *cut = a->share->cut, reach = a->team->reach, planes = a->cells[a->cut_axis];
    const int some = cut[keeper] < cut[keeper + 1], periodic = some && ((KF_PERIODIC >> a->cut_axis) & 1);
    const int low = some ? cut[keeper] - reach : 0, high = some ? cut[keeper + 1] + reach : 0;
    int range[3][2] = {{low, high}, {high, high}, {low, low}};
    if (periodic) { /* across the periodic face, except what the first range has */
        range[1][0] = kf_within(planes + low, high, planes), range[1][1] = planes;
        range[2][0] = 0, range[2][1] = kf_within(high - planes, 0, low);
    }
    for (int k = 0; k < 3; k++) {
        const int first = kf_within(range[k][0], cut[owner], cut[owner + 1]),
                  end = kf_within(range[k][1], first, cut[owner + 1]);
        slots[k][0] = first < end ? a->start[kf_plane_begin(a, first)] : 0;
        slots[k][1] = first < end ? a->start[kf_plane_begin(a, end)] : 0;
    }
}
KF_FUNCTION int kf_slot_count(int slots[3][2]) {
    return slots[0][1] - slots[0][0] + slots[1][1] - slots[1][0] + slots[2][1] - slots[2][0];
}
KF_FUNCTION int kf_slot_at(int slots[3][2], int k) {
    int range = 0;
    for (; range < 2 && k >= slots[range][1] - slots[range][0]; range++)
        k -= slots[range][1] - slots[range][0];
    return slots[range][0] + k;
}

/* Counts the rows of copies, which stay the same until the next sort. The extent is 1. */
KF_SCALAR_KERNEL(begin_copies, kf_sph_arguments) {
    (void)x, (void)y, (void)z;
    const int own = a->team->part, parts = a->team->parts;
    kf_sph_share *share = a->share;
    int slots[3][2];
    for (int to = 1; to >= 0; to--) {
        for (int part = 0; part < parts; part++) {
            kf_common_slots(a, to ? own : part, to ? part : own, slots);
            share->packed[part] = part != own ? kf_slot_count(slots) : 0;
        }
        kf_begin_rows(share, parts, to ? share->to : share->from);
    }
}

/* Returns the count of numbers in a row of copies. */
KF_FUNCTION int kf_copied(int what) {
    return (what & KF_SPH_COPY_MOTION ? 8 : 0) + (what & KF_SPH_COPY_STRESS ? KF_SPH_STRESSES : 0) +
           (what & KF_SPH_COPY_VISCOSITY ? 1 : 0);
}

/* Writes the values of `sorted` that a->first names (KF_SPH_COPY_MOTION ...) into rows for part y. */
KF_SCALAR_KERNEL(pack_copies, kf_sph_arguments) {
    (void)z;
    const int n = a->count, own = a->team->part, what = a->first, begin = a->share->to[y];
    const int count = a->share->to[y + 1] - begin;
    int slots[3][2];
    if (x >= count) return;
    kf_common_slots(a, own, y, slots);
    for (int k = x; k < count; k += a->extent[0]) {
        const int slot = kf_slot_at(slots, k);
        const long long at = (long long)kf_copied(what) * (begin + k);
        int *row = a->team->outgoing + at;
        if (at + kf_copied(what) > (long long)KF_ROW * a->team->room) return;
        if (what & KF_SPH_COPY_MOTION) {
            row = kf_put_four(row, kf_load(a->sorted.position, slot, n));
            row = kf_put_four(row, kf_load(a->sorted.velocity, slot, n));
        }
#if KF_STRESS
        if (what & KF_SPH_COPY_STRESS) row = kf_put_stress(row, kf_load_stress(a->sorted.stress, slot, n));
        if (what & KF_SPH_COPY_VISCOSITY) row[0] = kf_float_bits(a->sums[4 * n + slot]);
#endif
    }
}
/* Moves the values that came from part y to their particles. */
KF_SCALAR_KERNEL(unpack_copies, kf_sph_arguments) {
    (void)z;
    const int n = a->count, own = a->team->part, what = a->first, begin = a->share->from[y];
    const int count = a->share->from[y + 1] - begin;
    int slots[3][2];
    if (x >= count) return;
    kf_common_slots(a, y, own, slots);
    for (int k = x; k < count; k += a->extent[0]) {
        const int slot = kf_slot_at(slots, k);
        const int *row = a->team->incoming + (long long)kf_copied(what) * (begin + k);
        if (what & KF_SPH_COPY_MOTION) {
            kf_keep(a->sorted.position, slot, n, kf_four_of(row));
            kf_keep(a->sorted.velocity, slot, n, kf_four_of(row + 4));
            row += 8;
        }
#if KF_STRESS
        if (what & KF_SPH_COPY_STRESS) {
            kf_keep_stress(a->sorted.stress, slot, n, kf_stress_of(row));
            row += KF_SPH_STRESSES;
        }
        if (what & KF_SPH_COPY_VISCOSITY) a->sums[4 * n + slot] = kf_bits_float(row[0]);
#endif
    }
}

#endif
