/* The sort where several devices share the particles (arguments.h). It decides which planes a part has and
 * keeps, finds their particles on other parts, and names its own to them. sort.cu includes this file.
 *
 * In a step the parts wait for each other three times: before one adds the counts of others, before it
 * takes particles that others name in `exports`, and before it writes what others may still be reading. */
#ifndef KF_KERNELS_SPH_TEAM_H
#define KF_KERNELS_SPH_TEAM_H

#include "parcels.h"

/* The cost of a particle besides that of its candidates, in units of a candidate. */
#define KF_COST_OF_PARTICLE 32

/* --- Cuts --- */

/* Computes the cost of each row of a part's slab: the number of candidates that the row's particles visit,
 * and the number of these particles. Item x is a row. */
KF_SCALAR_KERNEL(weigh_rows, kf_sph_arguments) {
    (void)y, (void)z;
    const kf_sph_share *share = a->share;
    const int part = a->team->part, rows = KF_ROWS_OF_PLANE, reach = a->team->reach;
    const int row = share->cut[part] * rows + x;
    if (x == 0) a->share->weighed = 1;
    if (row >= share->cut[part + 1] * rows) return;
    const int plane = row / rows, along = row % rows;
    const int cx = a->cut_axis == 0 ? plane : along, cy = a->cut_axis == 0 ? along : plane;
    const kf_cell_row own = kf_row_at(a, cx, cy);
    kf_int64 cost = 0, *to = (kf_int64 *)a->team->peers[part].weights + 2 * row;
    for (int c = own.low; c <= own.high; c++) {
        const int number = own.base + KF_ALONG_ROW(c), count = a->start[number + 1] - a->start[number];
        kf_int64 candidates = KF_COST_OF_PARTICLE;
        if (count == 0) continue;
        for (int ox = cx - reach; ox <= cx + reach; ox++)
            for (int oy = KF_DIMENSIONS == 3 ? cy - reach : 0; oy <= (KF_DIMENSIONS == 3 ? cy + reach : 0);
                 oy++) {
                if (ox < 0 || ox >= a->cells[0] || (KF_DIMENSIONS == 3 && (oy < 0 || oy >= a->cells[1])))
                    continue;
                const kf_cell_row r = kf_row_at(a, ox, oy);
                const int low = kf_within(c - reach, r.low, r.high),
                          high = kf_within(c + reach, r.low, r.high);
                candidates += a->start[r.base + high + 1] - a->start[r.base + low];
            }
        cost += candidates * count;
    }
    to[0] = cost;
    to[1] = a->start[own.base + KF_ALONG_ROW(own.high) + 1] - a->start[own.base + KF_ALONG_ROW(own.low)];
}

/* Computes the cost and the number of particles of each plane. Item x is a plane. */
KF_SCALAR_KERNEL(weigh_planes, kf_sph_arguments) {
    (void)y, (void)z;
    const kf_sph_team *team = a->team;
    const int rows = KF_ROWS_OF_PLANE;
    int part = 0;
    if (!a->share->weighed) return;
    while (x >= a->share->cut[part + 1])
        part++;
    if (team->packs && part != team->part) { /* the part that has the plane adds its cost */
        team->plane_weights[2 * x] = team->plane_weights[2 * x + 1] = 0;
        return;
    }
    const kf_sph_peer *peer = &team->peers[part];
    kf_int64 cost = 0, count = 0;
    for (int row = x * rows; row < (x + 1) * rows; row++)
        cost += peer->weights[2 * row], count += peer->weights[2 * row + 1];
    team->plane_weights[2 * x] = cost;
    team->plane_weights[2 * x + 1] = count;
}

/* Returns the cost of the most expensive part with these cuts. */
KF_FUNCTION kf_int64 kf_dearest(const kf_sph_arguments *a, const int *cut) {
    kf_int64 dearest = 0;
    for (int part = 0; part < a->team->parts; part++) {
        kf_int64 cost = 0;
        for (int plane = cut[part]; plane < cut[part + 1]; plane++)
            cost += a->team->plane_weights[2 * plane];
        dearest = cost > dearest ? cost : dearest;
    }
    return dearest;
}

/* Cuts the planes into parts of equal cost, as far as whole planes allow. No part gets more particles than
 * its memory holds, if the others have room for the rest. */
KF_FUNCTION void kf_cut_planes(const kf_sph_arguments *a, kf_int64 all, int *cut) {
    const int parts = a->team->parts, planes = a->cells[a->cut_axis];
    const kf_int64 *weights = (const kf_int64 *)a->team->plane_weights, most = a->team->most;
    kf_int64 before = 0, own = 0;
    int plane = 0;
    for (int part = 0; part < parts; part++, own = 0) {
        const kf_int64 share = all / parts * (part + 1) + all % parts * (part + 1) / parts;
        cut[part] = plane;
        for (; plane < planes; plane++) {
            const kf_int64 cost = weights[2 * plane], count = weights[2 * plane + 1];
            if (part < parts - 1 && (2 * before + cost > 2 * share || own + count > most)) break;
            before += cost, own += count;
        }
    }
    cut[parts] = planes;
}

/* Moves the cuts if the most expensive part costs 5 % more than the mean and new cuts lower that. All
 * parts compute the same cuts. */
KF_FUNCTION void kf_move_cuts(const kf_sph_arguments *a, kf_sph_share *share) {
    int cut[KF_SPH_PARTS + 1];
    kf_int64 all = 0;
    for (int plane = 0; plane < a->cells[a->cut_axis]; plane++)
        all += a->team->plane_weights[2 * plane];
    const kf_int64 now = kf_dearest(a, share->cut);
    if (20 * now <= 21 * (all / a->team->parts)) return;
    kf_cut_planes(a, all, cut);
    if (kf_dearest(a, cut) >= now) return;
    for (int part = 0; part <= a->team->parts; part++)
        share->cut[part] = cut[part];
}

KF_FUNCTION void kf_set_window(const kf_sph_arguments *a, kf_sph_share *share, int k, int low, int high) {
    const int planes = a->cells[a->cut_axis];
    low = kf_within(low, 0, planes), high = kf_within(high, 0, planes);
    share->window[k][0] = low < high ? kf_plane_begin(a, low) : a->cell_count;
    share->window[k][1] = low < high ? kf_plane_begin(a, high) : a->cell_count;
}

/* Begins a sort: moves the cuts if costs are known, and sets the cells that the part keeps. The extent is
 * 1. */
KF_SCALAR_KERNEL(begin_sort, kf_sph_arguments) {
    (void)x, (void)y, (void)z;
    kf_sph_share *share = a->share;
    const int part = a->team->part, reach = a->team->reach, planes = a->cells[a->cut_axis];
    for (int k = 0; k <= a->team->parts; k++)
        share->before[k] = share->cut[k];
    if (share->weighed) kf_move_cuts(a, share);
    share->weighed = share->exported = 0;
    for (int k = 0; k < a->team->parts; k++)
        share->packed[k] = 0;
    const int low = share->cut[part], high = share->cut[part + 1], some = low < high,
              periodic = some && ((KF_PERIODIC >> a->cut_axis) & 1);
    kf_set_window(a, share, 0, some ? low - reach : 0, some ? high + reach : 0);
    kf_set_window(a, share, 1, periodic ? planes + low - reach : planes, planes);
    kf_set_window(a, share, 2, 0, periodic ? high + reach - planes : 0);
}

/* --- Counts --- */

/* Returns whether particles that this part has counted may lie in the plane. */
KF_FUNCTION int kf_had_reached(const kf_sph_arguments *a, int part, int plane) {
    return kf_plane_near(a, a->share->before[part], a->share->before[part + 1], plane);
}

/* Sums the particles of each cell over all parts. Item x is a cell of plane y. Particles outside the
 * domain stay with their part. */
KF_SCALAR_KERNEL(add_counts, kf_sph_arguments) {
    (void)z;
    const kf_sph_team *team = a->team;
    const int cell = kf_plane_begin(a, y) + x;
    if (x == 0 && y == 0) team->total[a->cell_count] = a->counts[a->cell_count];
    if (cell >= kf_plane_begin(a, y + 1) || !kf_keeps_plane(a, team->part, y)) return;
    int sum = team->packs ? a->counts[cell] : 0; /* these include the particles that came in parcels */
    for (int part = 0; part < team->parts && !team->packs; part++)
        if (kf_had_reached(a, part, y)) sum += team->peers[part].counts[cell];
    team->total[cell] = sum;
}
/* Sets this part's counts to 0, after all parts have read them. */
KF_SCALAR_KERNEL(clear_counts, kf_sph_arguments) {
    (void)z;
    const int cell = kf_plane_begin(a, y) + x;
    if (x == 0 && y == 0) a->counts[a->cell_count] = 0;
    const int own = a->team->part, counted = kf_had_reached(a, own, y) || kf_keeps_plane(a, own, y);
    if (cell < kf_plane_begin(a, y + 1) && counted) a->counts[cell] = 0;
}

/* --- Particles --- */

/* Returns the number of slots that the sort fills. */
KF_FUNCTION int kf_filled(const kf_sph_arguments *a) {
    const int filled = a->start[a->cell_count + 1];
    return filled < a->count ? filled : a->count;
}

/* Records in this part's slot `to` which particle comes there, and from where. */
KF_FUNCTION void kf_take_slot(const kf_sph_arguments *a, int to, int identity, int from) {
    if (to >= a->count) {
        a->clock->flags |= KF_SPH_FULL;
        return;
    }
    a->slots[2 * to] = identity;
    a->slots[2 * to + 1] = from;
}

/* Takes the particle in slot i of the set `next` of `part`, if this part keeps its cell. Within a cell,
 * particles that lower parts have counted come first. */
KF_FUNCTION void kf_take(const kf_sph_arguments *a, int part, int i) {
    const kf_sph_team *team = a->team;
    const kf_sph_peer *peer = &team->peers[part];
    const int cell = peer->cell_of[2 * i];
    if (cell == a->cell_count && part != team->part) return;
    int to = peer->cell_of[2 * i + 1];
    if (cell != a->cell_count) {
        const int plane = kf_plane_of(a, cell);
        if (!kf_keeps_plane(a, team->part, plane)) return;
        for (int k = 0; k < part && !team->packs; k++)
            if (kf_had_reached(a, k, plane)) to += team->peers[k].counts[cell];
    }
    to += a->start[cell];
    kf_take_slot(a, to, kf_next_of(a, part)->identity[i], team->packs ? i : part * a->count + i);
}

/* Takes this part's own particles, and names those to others whose planes others keep. */
KF_SCALAR_KERNEL(place, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const kf_sph_team *team = a->team;
    const int cell = a->cell_of[2 * i];
    kf_take(a, team->part, i);
    if (cell == a->cell_count || team->packs) return;
    const int plane = kf_plane_of(a, cell);
    int wanted = 0;
    for (int part = 0; part < team->parts; part++)
        wanted |= part != team->part && kf_keeps_plane(a, part, plane);
    if (wanted) team->peers[team->part].exports[kf_atomic_count(&a->share->exported)] = i;
}

/* Takes the particles that came in parcels. */
KF_SCALAR_KERNEL(place_arrivals, kf_sph_arguments) {
    (void)y, (void)z;
    for (int k = x; k < a->share->from[a->team->parts]; k += a->extent[0]) {
        const int from = a->count + k, *cell = a->cell_of + 2 * from;
        kf_take_slot(a, a->start[cell[0]] + cell[1], kf_who_came(a, k)[0], from);
    }
}

/* Takes the particles that part y names. */
KF_SCALAR_KERNEL(take, kf_sph_arguments) {
    (void)z;
    const kf_sph_peer *peer = &a->team->peers[y];
    if (y == a->team->part) return;
    const int count = peer->share->exported;
    for (int k = x; k < count; k += a->extent[0])
        kf_take(a, y, peer->exports[k]);
}

KF_FUNCTION int kf_cell_of_slot(const kf_sph_arguments *a, int from) {
    if (a->team->packs) return a->cell_of[2 * from];
    return a->team->peers[from / a->count].cell_of[2 * (from % a->count)];
}

/* Moves a particle from its old place to its slot in `sorted`. */
KF_FUNCTION void kf_move_taken(const kf_sph_arguments *a, int from, int to, int identity) {
    if (!a->team->packs)
        kf_move(a, kf_next_of(a, from / a->count), from % a->count, to, identity);
    else if (from < a->count)
        kf_move(a, &a->next, from, to, identity);
    else
        kf_move_row(a, from - a->count, to, identity);
}

/* Ends the sort: sets which slots are the part's own. The extent is 1. */
KF_SCALAR_KERNEL(end_sort, kf_sph_arguments) {
    (void)x, (void)y, (void)z;
    kf_sph_share *share = a->share;
    const int low = share->cut[a->team->part], high = share->cut[a->team->part + 1];
    const int full = a->start[a->cell_count + 1] > a->count;
    share->first = low < high ? a->start[kf_plane_begin(a, low)] : 0;
    share->inside = low < high ? a->start[kf_plane_begin(a, high)] - share->first : 0;
    share->gone = a->start[a->cell_count];
    share->outside = a->start[a->cell_count + 1] - share->gone;
    if (!full) return;
    /* The run will end. Until then no kernel may touch a slot beyond the last. */
    a->clock->flags |= KF_SPH_FULL;
    share->first = share->inside = share->gone = share->outside = 0;
}

/* --- Copies of others' particles, where they have changed since the sort --- */
/* Returns the k-th plane beside the slab if it holds the slot, otherwise -1. Planes are counted outwards
 * from the slab, alternately on both sides. */
KF_FUNCTION int kf_plane_beside(const kf_sph_arguments *a, int k, int slot) {
    const kf_sph_share *share = a->share;
    const int part = a->team->part, planes = a->cells[a->cut_axis], away = k / 2 + 1;
    int plane = k % 2 == 0 ? share->cut[part] - away : share->cut[part + 1] + away - 1;
    if ((KF_PERIODIC >> a->cut_axis) & 1) plane += plane < 0 ? planes : plane >= planes ? -planes : 0;
    if (plane < 0 || plane >= planes) return -1;
    return slot >= a->start[kf_plane_begin(a, plane)] && slot < a->start[kf_plane_begin(a, plane + 1)] ? plane
                                                                                                       : -1;
}

/* Copies again the values of `sorted` that a->first names (KF_SPH_COPY_MOTION ...) of all other parts'
 * particles. In a plane they have the same order as in their own part. */
KF_SCALAR_KERNEL(copy_others, kf_sph_arguments) {
    (void)y, (void)z;
    const kf_sph_share *share = a->share;
    const int n = a->count, others = share->gone - share->inside;
    for (int k = x; k < others; k += a->extent[0]) {
        const int slot = k < share->first ? k : k + share->inside;
        int plane = -1, part = 0;
        for (int beside = 0; beside < 2 * a->team->reach && plane < 0; beside++)
            plane = kf_plane_beside(a, beside, slot);
        if (plane < 0) continue;
        while (plane >= share->cut[part + 1])
            part++;
        const kf_sph_peer *peer = &a->team->peers[part];
        const kf_sph_set *set = kf_sorted_of(a, part);
        const int begin = kf_plane_begin(a, plane), from = peer->start[begin] + slot - a->start[begin];
        if (a->first & KF_SPH_COPY_MOTION) {
            kf_keep(a->sorted.position, slot, n, kf_load(set->position, from, n));
            kf_keep(a->sorted.velocity, slot, n, kf_load(set->velocity, from, n));
        }
#if KF_STRESS
        if (a->first & KF_SPH_COPY_STRESS)
            kf_keep_stress(a->sorted.stress, slot, n, kf_load_stress(set->stress, from, n));
        if (a->first & KF_SPH_COPY_VISCOSITY) a->sums[4 * n + slot] = peer->sums[4 * n + from];
#endif
    }
}

#endif
