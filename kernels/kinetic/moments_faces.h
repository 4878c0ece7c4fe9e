/* The plan `moments`: brings populations that come in across the domain's faces to the places of a tile
 * where its nodes read them. moments_tile.h lists the ways to do this. Which one a face uses is known at
 * compile time. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_FACES_H
#define KF_KERNELS_KINETIC_MOMENTS_FACES_H

/* Starts the loads of the populations that wait outside of outflows across x for plane z: nine for each
 * row of the tile's plane at each side. They are in flight until they are read. The last threads do this,
 * because the first ones have places of the border. */
#define KF_WAITING (9 * KF_PLANE_Y * (KF_WAITS(-1) + KF_WAITS(1)))
#if KF_WAITS(-1) || KF_WAITS(1)
#define KF_BRING_WAITING(z)                                                                                  \
    if ((sides & (KF_LOW_X + KF_HIGH_X)) != 0)                                                               \
        KF_EACH_SLOT_BACKWARDS(n, slot, KF_WAITING, KF_THREADS)                                              \
            kf_bring_waiting(a, kf_worked_out_here(n), x0, y0, z, sides, tile->population);                  \
    kf_end_copies();
KF_FUNCTION void kf_bring_waiting(const kf_module_arguments *a, int n, int x0, int y0, int z, int sides,
                                  kf_real *values) {
    const int k = n % (9 * KF_PLANE_Y) / KF_PLANE_Y, row = n % KF_PLANE_Y, cy = k % 3 - 1, cz = k / 3 - 1;
    const int side = !KF_WAITS(-1) || n >= 9 * KF_PLANE_Y ? 1 : -1,
              y = kf_tile_row(y0 + row, a->grid.nodes[1]);
    if ((sides & (side < 0 ? KF_LOW_X : KF_HIGH_X)) == 0 || !KF_IS_REACHED(a, y) ||
        kf_beyond_rows(y, a->grid.nodes[1]) != 0)
        return;
    kf_copy_ahead(&values[KF_SLOT(-side, cy, cz) + (side < 0 ? 0 : a->grid.nodes[0] - x0) + KF_PLANE_X * row],
                  (const kf_real *)a->outflow.waiting + kf_outflow_place(a, 0, side > 0, -side, cy, cz, y, z),
                  sizeof(kf_real));
}
#define KF_AWAIT_WAITING kf_await_copies(1) /* all except the moments of the next plane */
#define KF_AWAIT_STAGED  kf_await_copies(1) /* all except the waiting populations */
#else
#define KF_BRING_WAITING(z)
#define KF_AWAIT_WAITING ((void)0)
#define KF_AWAIT_STAGED  kf_await_copies(0)
#endif

/* Returns the offset of a population that comes in across a mirror: where a node beside the mirror reads
 * it, relative to its place without a mirror. The axis is 0 or 1. */
KF_FUNCTION int kf_mirror_reach(int axis, int c) {
    const int place = axis == 0 ? 1 : KF_PLANE_X, slot = axis == 0 ? 1 : 3;
    return c * (place - 2 * slot * KF_PLANE);
}
/* Offsets of the populations with cx 1 and -1 and with cy 1 and -1 that come to a node at (x, y), relative
 * to their places in the interior. */
typedef struct kf_reach {
    int low_x, high_x, low_y, high_y;
} kf_reach;
KF_FUNCTION kf_reach kf_reach_of(const kf_module_arguments *a, int x, int y) {
    kf_reach r;
    r.low_x = KF_IS_MIRROR_X(-1) && x == 0 ? kf_mirror_reach(0, 1) : 0;
    r.high_x = KF_IS_MIRROR_X(1) && x == a->grid.nodes[0] - 1 ? kf_mirror_reach(0, -1) : 0;
    r.low_y = KF_IS_MIRROR_Y(-1) && y == 0 ? kf_mirror_reach(1, 1) : 0;
    r.high_y = KF_IS_MIRROR_Y(1) && y == a->grid.nodes[1] - 1 ? kf_mirror_reach(1, -1) : 0;
    return r;
}
/* Returns the offset from a node's own place to the population with velocity (cx, cy, cz) that comes to
 * it. */
#define KF_FROM(reach, cx, cy, cz)                                                                           \
    (KF_SLOT(cx, cy, cz) - (cx)-KF_PLANE_X * (cy) +                                                          \
     ((cx) > 0   ? (reach).low_x                                                                             \
      : (cx) < 0 ? (reach).high_x                                                                            \
                 : 0) +                                                                                      \
     ((cy) > 0   ? (reach).low_y                                                                             \
      : (cy) < 0 ? (reach).high_y                                                                            \
                 : 0))

#if KF_ASKS
/* A place of the plane outside the domain, and a velocity that leads inwards from it. */
typedef struct kf_inward {
    int px, py, cx, cy, cz;
} kf_inward;
KF_FUNCTION int kf_side_places(int sides) {
    return ((sides & KF_LOW_X) / KF_LOW_X + (sides & KF_HIGH_X) / KF_HIGH_X) * KF_PLANE_Y +
           ((sides & KF_LOW_Y) / KF_LOW_Y + (sides & KF_HIGH_Y) / KF_HIGH_Y) * KF_PLANE_X;
}
/* Returns entry n at the sides. There are nine entries for each place. */
KF_FUNCTION kf_inward kf_side_entry(const kf_module_arguments *a, int x0, int y0, int sides, int n) {
    kf_inward e;
    const int c1 = n % 9 % 3 - 1, c2 = n % 9 / 3 - 1,
              lines_x = (sides & KF_LOW_X) + (sides & KF_HIGH_X) / KF_HIGH_X;
    int place = n / 9;
    const int across_x = place < lines_x * KF_PLANE_Y;
    if (!across_x) place -= lines_x * KF_PLANE_Y;
    const int length = across_x ? KF_PLANE_Y : KF_PLANE_X, low = sides & (across_x ? KF_LOW_X : KF_LOW_Y);
    const int high = low == 0 || place >= length, inward = high ? -1 : 1;
    if (low != 0 && high) place -= length;
    e.px = !across_x ? place : high ? a->grid.nodes[0] - x0 : 0;
    e.py = across_x ? place : high ? a->grid.nodes[1] - y0 : 0;
    e.cx = across_x ? inward : c1;
    e.cy = across_x ? c1 : inward;
    e.cz = c2;
    return e;
}
/* Returns place n of a plane outside the domain, below it (side < 0) or above it (side > 0), with a
 * velocity that leads inwards. */
KF_FUNCTION kf_inward kf_plane_entry(int side, int n) {
    kf_inward e;
    const int place = n / 9;
    e.px = place % KF_PLANE_X;
    e.py = place / KF_PLANE_X;
    e.cx = n % 9 % 3 - 1;
    e.cy = n % 9 / 3 - 1;
    e.cz = -side;
    return e;
}
/* Returns whether kf_incoming has to compute the population from a place beyond the sides x and y (0:
 * inside). */
KF_FUNCTION int kf_is_asked(int beyond_x, int beyond_y) {
    const int asked_y = beyond_y != 0 && KF_IS_ASKED_Y(beyond_y);
    return beyond_x == 0 ? asked_y : KF_IS_ASKED_X(beyond_x) || (asked_y && !KF_BOUNCES(beyond_x));
}

/* Computes all such populations of plane z. A plane outside the domain has only these. */
KF_RARE_FUNCTION void kf_ask(const kf_module_arguments *a, int x0, int y0, int z, int sides, int given,
                             kf_real *values) {
    const int nx = a->grid.nodes[0], ny = a->grid.nodes[1];
    KF_EACH_OF(n, 9 * (given ? kf_side_places(sides) : KF_PLANE), KF_THREADS) {
        const kf_inward e = given ? kf_side_entry(a, x0, y0, sides, n) : kf_plane_entry(z < 0 ? -1 : 1, n);
        const int x = x0 + e.px, y = y0 + e.py, tx = x + e.cx, ty = y + e.cy, tz = z + e.cz;
        const int beyond_x = kf_beyond(x, nx), beyond_y = kf_beyond_rows(y, ny);
        if (given && !kf_is_asked(beyond_x, beyond_y)) continue;
        if (kf_beyond(tx, nx) != 0 || !KF_IS_TARGET(a, ty, ny) || kf_beyond(tz, a->grid.nodes[2]) != 0)
            continue;
        kf_real *to = &values[KF_SLOT(e.cx, e.cy, e.cz) + e.px + KF_PLANE_X * e.py];
        if (given && beyond_x != 0 && KF_IS_MIRROR_X(beyond_x)) to += kf_mirror_reach(0, -beyond_x);
        if (given && beyond_y != 0 && KF_IS_MIRROR_Y(beyond_y)) to += kf_mirror_reach(1, -beyond_y);
        *to = kf_incoming(a, e.cx, e.cy, e.cz, tx, ty, tz);
    }
}
#endif

/* Bounces populations back at a face across x. A node at the face computes the incoming populations of
 * three planes from those that leave it. Those that come in this plane go to the places where it reads
 * them (reach). Those that come from above follow from what left the node one plane below, which it has
 * kept. Those that come from below are added to the sums from below. Rows outside the domain do not do
 * this, because their places are where the last row reads what a mirror across y sends. */
#define KF_KEPT(side, row) (3 * ((row) + ((side) > 0 ? KF_TILE_Y : 0)))
#if KF_BOUNCES(-1)
#define KF_BOUNCE_LOW                                                                                        \
    if (x == 0 && y < last) kf_bounce(a, -1, reach, here, &tile->beside.kept[KF_KEPT(-1, ty)], &r, o);
#define KF_ADD_KEPT_LOW                                                                                      \
    if (x == 0) KF_ADD_LEVEL(down, kf_bounced_level(-1, &tile->beside.kept[KF_KEPT(-1, ty)]))
#else
#define KF_BOUNCE_LOW
#define KF_ADD_KEPT_LOW
#endif
#if KF_BOUNCES(1)
#define KF_BOUNCE_HIGH                                                                                       \
    if (x == nx - 1 && y < last) kf_bounce(a, 1, reach, here, &tile->beside.kept[KF_KEPT(1, ty)], &r, o);
#define KF_ADD_KEPT_HIGH                                                                                     \
    if (x == nx - 1) KF_ADD_LEVEL(down, kf_bounced_level(1, &tile->beside.kept[KF_KEPT(1, ty)]))
#else
#define KF_BOUNCE_HIGH
#define KF_ADD_KEPT_HIGH
#endif
/* Adds what such a node has kept, when the plane above is beyond the last plane. */
#define KF_ADD_KEPT KF_ADD_KEPT_LOW KF_ADD_KEPT_HIGH
/* Returns the sums over the three populations with one cz that the face at this side sends back. back has
 * them by cy + 1. */
KF_FUNCTION kf_level_sums kf_bounced_level(int side, const kf_real *back) {
    const kf_real ends = back[2] + back[0], slope = back[2] - back[0], all = ends + back[1],
                  sign = (kf_real)-side;
    const kf_level_sums level = {all, sign * all, slope, all, ends, sign * slope};
    return level;
}
KF_FUNCTION void kf_bounce(const kf_module_arguments *a, int side, kf_reach reach, kf_real *here,
                           kf_real *kept, kf_rolling *r, int o) {
    const kf_real *u = KF_FACE_VELOCITY(a)[side > 0];
    const kf_real sign = (kf_real)-side;
    kf_real up[3];
    KF_UNROLL
    for (int cz = -1; cz <= 1; cz++) {
        KF_UNROLL
        for (int cy = -1; cy <= 1; cy++) {
            const kf_real back =
                kf_multiply_add(KF_R(6.0 * KF_UNIT) * KF_WEIGHT(1, cy, cz),
                                sign * u[0] + cy * u[1] + cz * u[2], here[KF_SLOT(side, -cy, -cz)]);
            kf_real *place = side < 0 ? &here[KF_FROM(reach, 1, cy, cz)] : &here[KF_FROM(reach, -1, cy, cz)];
            *place = cz == 0 ? back : cz < 0 ? kept[cy + 1] : KF_R(0.0);
            if (cz < 0) kept[cy + 1] = back;
            if (cz > 0) up[cy + 1] = back;
        }
    }
    KF_ADD_FROM_BELOW(kf_bounced_level(side, up), r, o)
}

/* Returns the sums over the populations that come in across a face along z (side): the mirrored share of
 * the image's sums, plus the rest of what the node itself has sent there. It leaves out populations that
 * also cross a face along x, because kf_bounce has added them. */
KF_FUNCTION kf_level_sums kf_sent_back(const kf_module_arguments *a, int side, int x, const kf_real *here,
                                       kf_real staying, kf_level_sums image) {
    if (KF_Z_FACE(side) == KF_FREE_SLIP_FACE) return image;
    const kf_real *u = KF_FACE_VELOCITY(a)[4 + (side > 0)];
    const kf_real share = KF_MIRRORS(4 + (side > 0)) ? (kf_real)a->faces.specular_share[4 + (side > 0)]
                                                     : KF_R(0.0),
                  rest = KF_R(1.0) - share;
    kf_real back[9];
    KF_UNROLL
    for (int k = 0; k < 9; k++) {
        const int cx = k % 3 - 1, cy = k / 3 - 1;
        const int bounced =
            (KF_BOUNCES(-1) && cx > 0 && x == 0) || (KF_BOUNCES(1) && cx < 0 && x == a->grid.nodes[0] - 1);
        const kf_real sent =
            kf_multiply_add(KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, 1), cx * u[0] + cy * u[1] - side * u[2],
                            KF_STAYS(cx, cy) ? staying : here[KF_SLOT(-cx, -cy, side)]);
        back[k] = bounced ? KF_R(0.0) : sent;
    }
    const kf_level_sums sums =
        kf_sum_level(kf_sum_line(back[0], back[1], back[2]), kf_sum_line(back[3], back[4], back[5]),
                     kf_sum_line(back[6], back[7], back[8]));
    image.one = kf_multiply_add(share, image.one, rest * sums.one);
    image.x = kf_multiply_add(share, image.x, rest * sums.x);
    image.y = kf_multiply_add(share, image.y, rest * sums.y);
    image.xx = kf_multiply_add(share, image.xx, rest * sums.xx);
    image.yy = kf_multiply_add(share, image.yy, rest * sums.yy);
    image.xy = kf_multiply_add(share, image.xy, rest * sums.xy);
    return image;
}

#endif
