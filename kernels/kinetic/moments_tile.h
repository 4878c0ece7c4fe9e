/* stream_collide of the plan `moments` with a thread for each node of a block's tile: what leaves the tile's nodes and
 * those around them lies in shared memory, where the nodes find what streams to them. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_TILE_H
#define KF_KERNELS_KINETIC_MOMENTS_TILE_H

#define KF_PLANE_X (KF_TILE_X + 2)
#define KF_PLANE_Y (KF_TILE_Y + 2)
#define KF_PLANE (KF_PLANE_X * KF_PLANE_Y)

/* What leaves a plane's places, in shared memory. */
typedef struct kf_plane_values {
    kf_real population[27][KF_PLANE];
} kf_plane_values;
/* Of large tiles more than the 48 KiB that a kernel has without asking for them: its launch says how much
 * (kinetic_launches.c). */
#if KF_CUDA && 27 * KF_PLANE * (KF_STORAGE == 2 ? 8 : 4) > 49152
#define KF_LEAVING KF_DYNAMIC_SHARED(kf_plane_values, leaving, 1);
#else
#define KF_LEAVING KF_SHARED kf_plane_values leaving[1];
#endif

/* A place of the plane outside of the domain, and a velocity that leads inwards from it. */
typedef struct kf_entry {
    int px, py, cx, cy, cz;
} kf_entry;

/* Sides of a tile, as bits, at faces of the domain that are not periodic; (x0, y0) is its lower corner. */
enum { KF_LOW_X = 1, KF_HIGH_X = 2, KF_LOW_Y = 4, KF_HIGH_Y = 8 };
KF_FUNCTION int kf_tile_sides(const kf_kinetic_arguments *a, int x0, int y0) {
    const int x =
        KF_FACE_0 == 0 ? 0 : (x0 < 0 ? KF_LOW_X : 0) + (x0 + KF_PLANE_X > a->nodes[0] ? KF_HIGH_X : 0);
    const int y =
        KF_FACE_2 == 0 ? 0 : (y0 < 0 ? KF_LOW_Y : 0) + (KF_HAS_LAST_ROW(a) && y0 + KF_PLANE_Y > a->nodes[1] ? KF_HIGH_Y : 0);
    return x + y;
}
KF_FUNCTION int kf_side_places(int sides) {
    return ((sides & KF_LOW_X) / KF_LOW_X + (sides & KF_HIGH_X) / KF_HIGH_X) * KF_PLANE_Y +
           ((sides & KF_LOW_Y) / KF_LOW_Y + (sides & KF_HIGH_Y) / KF_HIGH_Y) * KF_PLANE_X;
}
/* Number n of the entries at the sides, nine for each place. */
KF_FUNCTION kf_entry kf_side_entry(const kf_kinetic_arguments *a, int x0, int y0, int sides, int n) {
    kf_entry e;
    const int c1 = n % 9 % 3 - 1, c2 = n % 9 / 3 - 1,
              lines_x = (sides & KF_LOW_X) + (sides & KF_HIGH_X) / KF_HIGH_X;
    int place = n / 9;
    const int across_x = place < lines_x * KF_PLANE_Y;
    if (!across_x) place -= lines_x * KF_PLANE_Y;
    const int length = across_x ? KF_PLANE_Y : KF_PLANE_X, low = sides & (across_x ? KF_LOW_X : KF_LOW_Y);
    const int high = low == 0 || place >= length, inward = high ? -1 : 1;
    if (low != 0 && high) place -= length;
    e.px = !across_x ? place : high ? a->nodes[0] - x0 : 0;
    e.py = across_x ? place : high ? a->nodes[1] - y0 : 0;
    e.cx = across_x ? inward : c1;
    e.cy = across_x ? c1 : inward;
    e.cz = c2;
    return e;
}
/* The same of a plane outside (side < 0: below, side > 0: above the domain). */
KF_FUNCTION kf_entry kf_plane_entry(int side, int n) {
    kf_entry e;
    const int place = n / 9;
    e.px = place % KF_PLANE_X;
    e.py = place / KF_PLANE_X;
    e.cx = n % 9 % 3 - 1;
    e.cy = n % 9 / 3 - 1;
    e.cz = -side;
    return e;
}

/* The node at place p of the tile within its plane, from the first that is kept of it; -1: outside of the domain. */
KF_FUNCTION kf_index kf_tile_node(const kf_kinetic_arguments *a, int x0, int y0, int p) {
    const int nx = a->nodes[0], ny = a->nodes[1];
    const int x = kf_home(x0 + p % KF_PLANE_X, nx, KF_FACE_0 == 0), y = kf_tile_row(y0 + p / KF_PLANE_X, ny);
    if (!KF_IS_REACHED(a, y)) return -1;
    return kf_beyond(x, nx) == 0 && kf_beyond_rows(y, ny) == 0 ? kf_offset(a, x, y - KF_KEPT_FROM(a), 0) : -1;
}

#define KF_ARRIVED(i, name, cx, cy, cz) const kf_real f_##name = leaving->population[i][p - (cx)-KF_PLANE_X * (cy)];
#define KF_ARRIVED_LEVEL(c)                                                                                  \
    kf_sum_level(kf_sum_line(f_mm##c, f_zm##c, f_pm##c), kf_sum_line(f_mz##c, f_zz##c, f_pz##c),             \
                 kf_sum_line(f_mp##c, f_zp##c, f_pp##c))
KF_FUNCTION kf_real *kf_entrance(kf_plane_values *plane, const kf_entry *e) {
    return &plane->population[kf_direction(e->cx, e->cy, e->cz)][e->px + KF_PLANE_X * e->py];
}

#if KF_PREFETCH
#define KF_DECLARE_HELD                                                                                      \
    kf_held held[KF_SLOTS(KF_PLANE, KF_THREADS)];                                                            \
    kf_index at[KF_SLOTS(KF_PLANE, KF_THREADS)];                                                             \
    KF_EACH_SLOT(i, slot, KF_PLANE, KF_THREADS) at[slot] = kf_tile_node(a, x0, y0, i);
/* The moments of a plane of the source, whose first node is start. */
#define KF_FETCH(start)                                                                                      \
    KF_EACH_SLOT(i, slot, KF_PLANE, KF_THREADS) {                                                            \
        if (at[slot] >= 0) held[slot] = kf_load_held(a, a->source, (start) + at[slot]);                      \
    }
#define KF_TURN(start)                                                                                       \
    KF_EACH_SLOT(i, slot, KF_PLANE, KF_THREADS) {                                                            \
        if (at[slot] >= 0) KF_TURN_HELD(&held[slot], i)                                                      \
    }
#else
#define KF_DECLARE_HELD
#define KF_FETCH(start)
#define KF_TURN(start)                                                                                       \
    KF_EACH_OF(i, KF_PLANE, KF_THREADS) {                                                                    \
        const kf_index at = kf_tile_node(a, x0, y0, i);                                                      \
        if (at >= 0) {                                                                                       \
            const kf_held h = kf_load_held(a, a->source, (start) + at);                                      \
            KF_TURN_HELD(&h, i)                                                                              \
        }                                                                                                    \
    }
#endif
#define KF_TURN_HELD(h, p) kf_held_populations(a, h, &leaving->population[0][p], KF_PLANE);

/* Where what comes in at the sides of the tile goes: px of the places. */
typedef struct kf_ends {
    kf_plane_values *plane;
    int px[2];
} kf_ends;
#define KF_END_PLACE(to, high, k, row)                                                                       \
    (to)->plane->population[kf_direction((high) ? -1 : 1, (k) % 3 - 1, (k) / 3 - 1)]                         \
                           [((high) ? (to)->px[1] : (to)->px[0]) + KF_PLANE_X * (row)]
#include "moments_faces.h"

/* Place n of those behind faces across y that are mirrors: the image of the node before the face. */
#define KF_PUT_IMAGE(i, name, cx, cy, cz)                                                                    \
    leaving->population[i][place] = *kf_listed(a, kf_direction(cx, -(cy), cz), kf_listed_place(&h));
KF_FUNCTION void kf_find_image(const kf_kinetic_arguments *a, int x0, int y0, int z, int high, int px,
                               kf_plane_values *leaving) {
    const int x = kf_home(x0 + px, a->nodes[0], KF_FACE_0 == 0), y = high ? a->nodes[1] - 1 : 0;
    const int place = px + KF_PLANE_X * (high ? a->nodes[1] - y0 : 0);
    if (kf_beyond(x, a->nodes[0]) != 0) return;
    const kf_held h = kf_load_held(a, a->source, kf_node(a, x, y, z));
    if (kf_is_listed(&h)) {
        KF_EACH_VELOCITY(KF_PUT_IMAGE)
    } else {
        kf_moments m = kf_to_moments(&h);
        m.uy = -m.uy;
        m.xy = -m.xy;
        m.yz = -m.yz;
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, -KF_BODY_Y, KF_BODY_Z, &leaving->population[0][place], KF_PLANE);
    }
}

KF_BLOCK_KERNEL(stream_collide, kf_kinetic_arguments) {
    KF_LEAVING
    kf_rolling r;
    const int nx = a->nodes[0], ny = a->nodes[1], last = KF_FIRST_ROW(a) + KF_PART_ROWS(a), nz = a->nodes[2];
    const int tiles_y = (KF_PART_ROWS(a) + KF_TILE_Y - 1) / KF_TILE_Y;
    const int x0 = block_x * KF_TILE_X - 1, y0 = KF_FIRST_ROW(a) + block_y % tiles_y * KF_TILE_Y - 1;
#if KF_TEAM
    const int begin = a->first_plane, stop = begin + a->planes;
#else
    const int begin = 0, stop = nz;
#endif
    /* The last walk, which ends at a face, begins first, and the first one second: at the end no block has more to do. */
    const int walks = (stop - begin + a->march - 1) / a->march, walk = (block_y / tiles_y + walks - 1) % walks;
    const int first = begin + walk * a->march, end = first + a->march < stop ? first + a->march : stop;
    const int sides = kf_tile_sides(a, x0, y0);
    const kf_sides s = kf_sides_of(a, KF_FACE_0 == 0 ? 0 : -1, KF_FACE_0 == 0 ? 0 : nx, sides & KF_LOW_X, sides & KF_HIGH_X, y0, KF_PLANE_Y);
    kf_ends ends = {leaving, {0, nx - x0}};
    const int low_image = (sides & KF_LOW_Y) != 0 && KF_IS_MIRROR(-1),
              images = (low_image ? KF_PLANE_X : 0) + ((sides & KF_HIGH_Y) != 0 && KF_IS_MIRROR(1) ? KF_PLANE_X : 0);
    const int asked = ((sides & KF_LOW_X) != 0 && s.way[0] == KF_ASKED) || ((sides & KF_HIGH_X) != 0 && s.way[1] == KF_ASKED) ||
                      ((sides & KF_LOW_Y) != 0 && KF_IS_ASKED(-1)) || ((sides & KF_HIGH_Y) != 0 && KF_IS_ASKED(1));
    KF_DECLARE_HELD
    if (KF_FACE_4 == 0 || first > 0) {
        KF_FETCH(kf_node(a, 0, KF_KEPT_FROM(a), kf_home(first - 1, nz, KF_FACE_4 == 0)))
    }
    for (int z = first - 1; z <= end; z++) {
        const int side = KF_FACE_4 != 0 ? kf_beyond(z, nz) : 0;
        if (side == 0) {
            KF_TURN(kf_node(a, 0, KF_KEPT_FROM(a), kf_home(z, nz, KF_FACE_4 == 0)))
        }
        if (z < end && (KF_FACE_4 == 0 || z + 1 < nz)) {
            KF_FETCH(kf_node(a, 0, KF_KEPT_FROM(a), kf_home(z + 1, nz, KF_FACE_4 == 0)))
        }
        if (side == 0 && sides != 0) {
            const int plane = kf_home(z, nz, KF_FACE_4 == 0);
            /* By the last threads: the first ones have had places of the plane besides their own. */
            KF_EACH_OF_BACKWARDS(n, s.all + images, KF_THREADS) {
                if (n < s.all) {
                    kf_find_end(a, &s, n, plane, &ends);
                } else {
                    const int image = n - s.all, high = image >= KF_PLANE_X || !low_image;
                    kf_find_image(a, x0, y0, plane, high, image % KF_PLANE_X, leaving);
                }
            }
        }
        KF_EACH_OF(n, 9 * (side != 0 ? KF_PLANE : asked ? kf_side_places(sides) : 0), KF_THREADS) {
            const kf_entry e = side != 0 ? kf_plane_entry(side, n) : kf_side_entry(a, x0, y0, sides, n);
            const int x = x0 + e.px, y = y0 + e.py, tx = x + e.cx, ty = y + e.cy, tz = z + e.cz;
            if (side == 0 && !kf_is_asked(kf_beyond(x, nx) != 0, s.way[x >= nx], kf_beyond_rows(y, ny))) continue;
            if (kf_beyond(tx, nx) != 0 || !KF_IS_TARGET(a, ty, ny) || kf_beyond(tz, nz) != 0) continue;
            *kf_entrance(leaving, &e) = kf_incoming(a, e.cx, e.cy, e.cz, tx, ty, tz);
        }
        KF_BARRIER;
        KF_EACH_THREAD(t, KF_THREADS) {
            const int o = KF_OWN(t), tx = t % KF_TILE_X, ty = t / KF_TILE_X;
            const int p = tx + 1 + KF_PLANE_X * (ty + 1);
            const int x = x0 + 1 + tx, y = y0 + 1 + ty;
            KF_EACH_VELOCITY(KF_ARRIVED)
            const kf_level down = KF_ARRIVED_LEVEL(m), here = KF_ARRIVED_LEVEL(z), up = KF_ARRIVED_LEVEL(p);
            KF_ADD_UP(s, r, o)
            if (z > first && x < nx && y < last)
                kf_store_moments(a, a->target, kf_node(a, x, y, z - 1), kf_collide_sums(a, &s));
        }
        KF_BARRIER;
    }
}

#endif
