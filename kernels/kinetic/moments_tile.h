/* stream_collide of the plan `moments` with a thread for each node of a block's tile: what leaves the tile's nodes and
 * those around them lies in shared memory, where the nodes find what streams to them. Of the places around the tile, its
 * border, only what leads into the tile is worked out.
 *
 * What comes in across faces of the domain: behind free slip is the image of the nodes before it, so across x and y a node
 * reads the mirrored population where it left (kf_reach), and along z a mirrored plane goes on from the last one. What
 * bounces back from a face across x each node there sees to itself (kf_bounce), and so it does, from that image, where a
 * face across z sends populations back. Each other population is worked out by kf_incoming. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_TILE_H
#define KF_KERNELS_KINETIC_MOMENTS_TILE_H

#ifndef KF_PLANES
#define KF_PLANES 1
#endif
#define KF_PLANE_X (KF_TILE_X + 2)
#define KF_PLANE_Y (KF_TILE_Y + 2)
#define KF_PLANE   (KF_PLANE_X * KF_PLANE_Y)
/* Places around a tile: the row below it and the one above, then the columns beside it with the corners. */
#define KF_BORDER (2 * KF_TILE_X + 2 * KF_PLANE_Y)
/* Where the population of velocity (cx, cy, cz) lies: a mirrored one lies a fixed way off. */
#define KF_SLOT(cx, cy, cz) (KF_PLANE * ((cx) + 1 + 3 * ((cy) + 1) + 9 * ((cz) + 1)))

/* What leaves a plane's places, in shared memory. */
typedef struct kf_plane_values {
    kf_real population[27 * KF_PLANE];
} kf_plane_values;
/* With two planes in turn the threads that make the next one wait for none that still reads the last. Of large tiles and of
 * two planes more than the 48 KiB that a kernel has without asking for them: its launch says how much (kinetic_launches.c). */
#if KF_CUDA && KF_PLANES * 27 * KF_PLANE * (KF_STORAGE == 2 ? 8 : 4) > 49152
#define KF_LEAVING KF_DYNAMIC_SHARED(kf_plane_values, leaving, KF_PLANES);
#else
#define KF_LEAVING KF_SHARED kf_plane_values leaving[KF_PLANES];
#endif

/* Faces across x and y by their side, -1 or 1. */
#define KF_X_FACE(side)       ((side) < 0 ? KF_FACE_0 : KF_FACE_1)
#define KF_IS_MIRROR_X(side)  (KF_X_FACE(side) == 2)
#define KF_IS_MIRROR_Y(side)  ((side) < 0 ? KF_FACE_2 == 2 : KF_FACE_3 == 2)
#define KF_WAITS(side)        (KF_X_FACE(side) == 4)
#define KF_BOUNCES(side)      (KF_IS_SOLID_FACE(KF_X_FACE(side)) && !KF_MIRRORS((side) > 0))
#define KF_IS_ASKED_X(side)   (KF_IS_SOLID_FACE(KF_X_FACE(side)) && KF_MIRRORS((side) > 0))
#define KF_IS_ASKED_Y(side)   ((side) < 0 ? KF_FACE_2 != 0 && KF_FACE_2 != 2 : KF_FACE_3 != 0 && KF_FACE_3 != 2)
#define KF_ASKS_BESIDE (KF_IS_ASKED_X(-1) || KF_IS_ASKED_X(1) || KF_IS_ASKED_Y(-1) || KF_IS_ASKED_Y(1))
/* Across z: a plane that is made like the others, the image of the last one, of which a wall or an inflow sends a share back
 * the way it came (kf_sent_back). */
#define KF_Z_FACE(side)   ((side) < 0 ? KF_FACE_4 : KF_FACE_5)
#define KF_SENDS_BACK(side) (KF_IS_SOLID_FACE(KF_Z_FACE(side)) && !KF_ASKS_BESIDE)
#define KF_HAS_IMAGE(side)  (KF_Z_FACE(side) == 2 || KF_SENDS_BACK(side))
#define KF_IS_ASKED_Z(side) (KF_Z_FACE(side) != 0 && !KF_HAS_IMAGE(side))
#define KF_ASKS             (KF_ASKS_BESIDE || KF_IS_ASKED_Z(-1) || KF_IS_ASKED_Z(1))

/* Sides of a tile, as bits, at faces of the domain that are not periodic; (x0, y0) is its lower corner. */
enum { KF_LOW_X = 1, KF_HIGH_X = 2, KF_LOW_Y = 4, KF_HIGH_Y = 8 };
KF_FUNCTION int kf_tile_sides(const kf_kinetic_arguments *a, int x0, int y0) {
    const int x =
        KF_FACE_0 == 0 ? 0 : (x0 < 0 ? KF_LOW_X : 0) + (x0 + KF_PLANE_X > a->nodes[0] ? KF_HIGH_X : 0);
    const int y =
        KF_FACE_2 == 0 ? 0 : (y0 < 0 ? KF_LOW_Y : 0) + (KF_HAS_LAST_ROW(a) && y0 + KF_PLANE_Y > a->nodes[1] ? KF_HIGH_Y : 0);
    return x + y;
}

/* The domain's plane that takes the place of plane z: itself, the one at the other end, or the last one before a face, whose
 * image it is (flip -1); -1: what comes from there is asked for. */
KF_FUNCTION int kf_plane_of(const kf_kinetic_arguments *a, int z, int *flip) {
    const int side = KF_FACE_4 == 0 ? 0 : kf_beyond(z, a->nodes[2]);
    *flip = side == 0 ? 1 : -1;
    if (side == 0) return kf_home(z, a->nodes[2], KF_FACE_4 == 0);
    if (side < 0) return KF_HAS_IMAGE(-1) ? 0 : -1;
    return KF_HAS_IMAGE(1) ? a->nodes[2] - 1 : -1;
}
#if KF_HAS_IMAGE(-1) || KF_HAS_IMAGE(1)
#define KF_FLIP(flip) (flip)
#else
#define KF_FLIP(flip) 1
#endif

/* The node at place (px, py) of the tile within its plane, from the first that is kept of it; -1: outside of the domain. */
KF_FUNCTION kf_index kf_tile_node(const kf_kinetic_arguments *a, int x0, int y0, int px, int py) {
    const int nx = a->nodes[0], ny = a->nodes[1];
    const int x = kf_home(x0 + px, nx, KF_FACE_0 == 0), y = kf_tile_row(y0 + py, ny);
    if (!KF_IS_REACHED(a, y)) return -1;
    return kf_beyond(x, nx) == 0 && kf_beyond_rows(y, ny) == 0 ? kf_offset(a, x, y - KF_KEPT_FROM(a), 0) : -1;
}
/* Place n of the border: where it lies, and along which axis (0, 1) and which way it leads into the tile. */
typedef struct kf_border {
    int px, py, axis, inward;
} kf_border;
KF_FUNCTION kf_border kf_border_place(int n) {
    kf_border b;
    const int column = n - 2 * KF_TILE_X, row_high = n >= KF_TILE_X, column_high = column >= KF_PLANE_Y;
    b.axis = column < 0;
    b.px = b.axis ? 1 + n - row_high * KF_TILE_X : column_high ? KF_PLANE_X - 1 : 0;
    b.py = !b.axis ? column - column_high * KF_PLANE_Y : row_high ? KF_PLANE_Y - 1 : 0;
    b.inward = (b.axis ? row_high : column_high) ? -1 : 1;
    return b;
}

/* --- what leaves a plane's places ------------------------------------------------------------------------ */

/* The image of a node's moments along the axes that have flip -1. */
KF_FUNCTION kf_moments kf_image(kf_moments m, int flip_x, int flip_y, int flip_z) {
    const kf_real x = (kf_real)flip_x, y = (kf_real)flip_y, z = (kf_real)flip_z;
    m.ux *= x;
    m.uy *= y;
    m.uz *= z;
    m.xy *= x * y;
    m.xz *= x * z;
    m.yz *= y * z;
    return m;
}
/* What leaves the image of a node that holds h goes to `to`, its place in shared memory. */
#define KF_LEAVE(i, name, cx, cy, cz)        to[KF_SLOT(cx, cy, cz)] = f[i];
KF_FUNCTION void kf_leave(const kf_kinetic_arguments *a, const kf_held *h, int flip, kf_real *to) {
    const int flip_x = 1, flip_y = 1, flip_z = KF_FLIP(flip);
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_9 for (int k = 0; k < 27; k++)
            to[KF_PLANE * k] = *kf_listed(a, kf_direction(k % 3 - 1, k / 3 % 3 - 1, flip_z * (k / 9 - 1)), place);
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), flip_x, flip_y, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE)
    }
}
/* Of a place of the border what leads into the tile: what leaves its image along that axis with velocity 1. */
#define KF_LEAVE_ROW(i, name, cx, cy, cz)                                                                    \
    if ((cy) == 1) to[KF_SLOT(cx, 0, cz)] = f[i];
KF_FUNCTION void kf_leave_row(const kf_kinetic_arguments *a, const kf_held *h, int inward, int flip, kf_real *to) {
    const int flip_x = 1, flip_y = inward, flip_z = KF_FLIP(flip);
    to += 3 * KF_PLANE * inward;
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_3 for (int k = 0; k < 9; k++)
            to[KF_SLOT(k % 3 - 1, 0, k / 3 - 1)] = *kf_listed(a, kf_direction(k % 3 - 1, inward, flip_z * (k / 3 - 1)), place);
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), flip_x, flip_y, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, flip_y * KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE_ROW)
    }
}
#define KF_LEAVE_COLUMN(i, name, cx, cy, cz)                                                                 \
    if ((cx) == 1) to[KF_SLOT(0, cy, cz)] = f[i];
KF_FUNCTION void kf_leave_column(const kf_kinetic_arguments *a, const kf_held *h, int inward, int flip, kf_real *to) {
    const int flip_x = inward, flip_y = 1, flip_z = KF_FLIP(flip);
    to += KF_PLANE * inward;
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_3 for (int k = 0; k < 9; k++)
            to[KF_SLOT(0, k % 3 - 1, k / 3 - 1)] = *kf_listed(a, kf_direction(inward, k % 3 - 1, flip_z * (k / 3 - 1)), place);
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), flip_x, flip_y, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, flip_x * KF_BODY_X, KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE_COLUMN)
    }
}
KF_FUNCTION void kf_leave_border(const kf_kinetic_arguments *a, const kf_held *h, int n, int flip, kf_real *values) {
    const kf_border b = kf_border_place(n);
    kf_real *const to = &values[b.px + KF_PLANE_X * b.py];
    if (b.axis == 1)
        kf_leave_row(a, h, b.inward, flip, to);
    else
        kf_leave_column(a, h, b.inward, flip, to);
}

#define KF_EACH_OWN(i, slot)    KF_EACH_SLOT(i, slot, KF_THREADS, KF_THREADS)
#define KF_EACH_BORDER(i, slot) KF_EACH_SLOT(i, slot, KF_BORDER, KF_THREADS)
#define KF_OWN_NODE(i)          kf_tile_node(a, x0, y0, (i) % KF_TILE_X + 1, (i) / KF_TILE_X + 1)
#define KF_OWN_PLACE(i)         ((i) % KF_TILE_X + 1 + KF_PLANE_X * ((i) / KF_TILE_X + 1))
/* The moments of a plane of the source, whose first node is start: the tile's a plane ahead, or where they are needed; the
 * border's before those of the tile are turned into populations, which hides the wait for them. */
#define KF_DECLARE_HELD                                                                                      \
    kf_held own[KF_SLOTS(KF_THREADS, KF_THREADS)], around[KF_SLOTS(KF_BORDER, KF_THREADS)];                  \
    kf_index own_node[KF_SLOTS(KF_THREADS, KF_THREADS)], around_node[KF_SLOTS(KF_BORDER, KF_THREADS)];       \
    KF_EACH_OWN(i, slot) own_node[slot] = KF_OWN_NODE(i);                                                    \
    KF_EACH_BORDER(i, slot) {                                                                                \
        const kf_border b = kf_border_place(i);                                                              \
        around_node[slot] = kf_tile_node(a, x0, y0, b.px, b.py);                                             \
    }
#define KF_LOAD_OWN(start)                                                                                   \
    KF_EACH_OWN(i, slot) if (own_node[slot] >= 0) own[slot] = kf_load_held(a, a->source, (start) + own_node[slot]);
#define KF_LOAD_BORDER(start)                                                                                \
    KF_EACH_BORDER(i, slot) if (around_node[slot] >= 0) around[slot] = kf_load_held(a, a->source, (start) + around_node[slot]);
#define KF_TURN(flip, values)                                                                                \
    KF_EACH_OWN(i, slot) if (own_node[slot] >= 0) kf_leave(a, &own[slot], flip, &(values)[KF_OWN_PLACE(i)]); \
    KF_EACH_BORDER(i, slot) if (around_node[slot] >= 0) kf_leave_border(a, &around[slot], i, flip, values);

/* --- what comes in across faces -------------------------------------------------------------------------- */

/* What waits outside outflows across x: nine values a row of the plane and side. By the last threads: the first ones have
 * places of the border. */
#define KF_WAITING (9 * KF_PLANE_Y * (KF_WAITS(-1) + KF_WAITS(1)))
#if KF_WAITS(-1) || KF_WAITS(1)
typedef struct kf_waiting {
    int side, row, cy, cz;
} kf_waiting;
KF_FUNCTION kf_waiting kf_waiting_item(int n) {
    kf_waiting w;
    const int k = n % (9 * KF_PLANE_Y) / KF_PLANE_Y;
    w.side = !KF_WAITS(-1) || n >= 9 * KF_PLANE_Y ? 1 : -1;
    w.row = n % KF_PLANE_Y;
    w.cy = k % 3 - 1;
    w.cz = k / 3 - 1;
    return w;
}
KF_FUNCTION int kf_waits(const kf_kinetic_arguments *a, int sides, int y0, const kf_waiting *w) {
    const int y = kf_tile_row(y0 + w->row, a->nodes[1]);
    return (sides & (w->side < 0 ? KF_LOW_X : KF_HIGH_X)) != 0 && KF_IS_REACHED(a, y) && kf_beyond_rows(y, a->nodes[1]) == 0;
}
#define KF_DECLARE_WAITING kf_real waiting[KF_SLOTS(KF_WAITING, KF_THREADS)];
#define KF_ASK_WAITING(plane, flip)                                                                          \
    KF_EACH_SLOT_BACKWARDS(n, slot, KF_WAITING, KF_THREADS) {                                                \
        const kf_waiting w = kf_waiting_item(n);                                                             \
        if (kf_waits(a, sides, y0, &w))                                                                      \
            waiting[slot] = kf_outflow(a, 0, w.side > 0, -w.side, w.cy, KF_FLIP(flip) * w.cz,                \
                                       kf_tile_row(y0 + w.row, a->nodes[1]), plane);                         \
    }
#define KF_PUT_WAITING(values)                                                                               \
    KF_EACH_SLOT_BACKWARDS(n, slot, KF_WAITING, KF_THREADS) {                                                \
        const kf_waiting w = kf_waiting_item(n);                                                             \
        if (kf_waits(a, sides, y0, &w))                                                                      \
            (values)[KF_SLOT(0, w.cy, w.cz) - KF_PLANE * w.side + (w.side < 0 ? 0 : a->nodes[0] - x0) + KF_PLANE_X * w.row] = \
                waiting[slot];                                                                               \
    }
#else
#define KF_DECLARE_WAITING
#define KF_ASK_WAITING(plane, flip)
#define KF_PUT_WAITING(values)
#endif

/* Where a node at a mirror finds what comes in across it, from where it would lie without one; axis 0, 1. */
KF_FUNCTION int kf_mirror_reach(int axis, int c) {
    const int place = axis == 0 ? 1 : KF_PLANE_X, slot = axis == 0 ? 1 : 3;
    return c * (place - 2 * slot * KF_PLANE);
}
/* Of a node at (x, y), where what comes in with cx 1 and -1, cy 1 and -1 lies, from where it would lie inside. */
typedef struct kf_reach {
    int low_x, high_x, low_y, high_y;
} kf_reach;
KF_FUNCTION kf_reach kf_reach_of(const kf_kinetic_arguments *a, int x, int y) {
    kf_reach r;
    r.low_x = KF_IS_MIRROR_X(-1) && x == 0 ? kf_mirror_reach(0, 1) : 0;
    r.high_x = KF_IS_MIRROR_X(1) && x == a->nodes[0] - 1 ? kf_mirror_reach(0, -1) : 0;
    r.low_y = KF_IS_MIRROR_Y(-1) && y == 0 ? kf_mirror_reach(1, 1) : 0;
    r.high_y = KF_IS_MIRROR_Y(1) && y == a->nodes[1] - 1 ? kf_mirror_reach(1, -1) : 0;
    return r;
}
/* Where a node finds what comes to it with velocity (cx, cy, cz), from its own place. */
#define KF_FROM(reach, cx, cy, cz)                                                                           \
    (KF_SLOT(cx, cy, cz) - (cx)-KF_PLANE_X * (cy) + ((cx) > 0 ? (reach).low_x : (cx) < 0 ? (reach).high_x : 0) + \
     ((cy) > 0 ? (reach).low_y : (cy) < 0 ? (reach).high_y : 0))

#if KF_ASKS
/* A place of the plane outside of the domain, and a velocity that leads inwards from it. */
typedef struct kf_entry {
    int px, py, cx, cy, cz;
} kf_entry;
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
/* Whether what comes from a place beyond the sides x and y (or inside of one, 0) is asked for. */
KF_FUNCTION int kf_is_asked(int beyond_x, int beyond_y) {
    const int asked_y = beyond_y != 0 && KF_IS_ASKED_Y(beyond_y);
    return beyond_x == 0 ? asked_y : KF_IS_ASKED_X(beyond_x) || (asked_y && !KF_BOUNCES(beyond_x));
}

/* Those of a plane, which is given, or has only them. */
KF_RARE_FUNCTION void kf_ask(const kf_kinetic_arguments *a, int x0, int y0, int z, int sides, int given,
                             kf_real *values) {
    const int nx = a->nodes[0], ny = a->nodes[1];
    KF_EACH_OF(n, 9 * (given ? kf_side_places(sides) : KF_PLANE), KF_THREADS) {
        const kf_entry e = given ? kf_side_entry(a, x0, y0, sides, n) : kf_plane_entry(z < 0 ? -1 : 1, n);
        const int x = x0 + e.px, y = y0 + e.py, tx = x + e.cx, ty = y + e.cy, tz = z + e.cz;
        const int beyond_x = kf_beyond(x, nx), beyond_y = kf_beyond_rows(y, ny);
        if (given && !kf_is_asked(beyond_x, beyond_y)) continue;
        if (kf_beyond(tx, nx) != 0 || !KF_IS_TARGET(a, ty, ny) || kf_beyond(tz, a->nodes[2]) != 0) continue;
        kf_real *to = &values[KF_SLOT(e.cx, e.cy, e.cz) + e.px + KF_PLANE_X * e.py];
        if (given && beyond_x != 0 && KF_IS_MIRROR_X(beyond_x)) to += kf_mirror_reach(0, -beyond_x);
        if (given && beyond_y != 0 && KF_IS_MIRROR_Y(beyond_y)) to += kf_mirror_reach(1, -beyond_y);
        *to = kf_incoming(a, e.cx, e.cy, e.cz, tx, ty, tz);
    }
}
#endif

/* At a face across x that populations bounce back from a node makes what comes in from those that leave it, in all
 * planes. It puts where it finds them (reach) what comes from this plane, and, into the plane below, what left it there,
 * which it has kept; for itself from below it adds to the sums of what has come from there. (Not a row outside of the
 * domain, which would put it where the last one finds what a mirror across y sends.) */
#define KF_KEPT(side, row) (3 * ((row) + ((side) > 0 ? KF_TILE_Y : 0)))
#if KF_BOUNCES(-1) || KF_BOUNCES(1)
#define KF_KEEP_BOUNCED KF_SHARED kf_real kept[KF_KEPT(1, KF_TILE_Y)];
#else
#define KF_KEEP_BOUNCED
#endif
KF_FUNCTION void kf_bounce(const kf_kinetic_arguments *a, int side, kf_reach reach, kf_real *here, kf_real *kept,
                           kf_rolling *r, int o) {
    const kf_real *u = KF_FACE_VELOCITY(a)[side > 0];
    const kf_real sign = (kf_real)-side;
    kf_real up[3];
    KF_UNROLL for (int cz = -1; cz <= 1; cz++) {
        KF_UNROLL for (int cy = -1; cy <= 1; cy++) {
            const kf_real back = here[KF_SLOT(0, -cy, -cz) + KF_PLANE * side] +
                                 KF_R(6.0) * KF_WEIGHT(1, cy, cz) * (sign * u[0] + cy * u[1] + cz * u[2]);
            kf_real *place = side < 0 ? &here[KF_FROM(reach, 1, cy, cz)] : &here[KF_FROM(reach, -1, cy, cz)];
            *place = cz == 0 ? back : cz < 0 ? kept[cy + 1] : KF_R(0.0);
            if (cz < 0) kept[cy + 1] = back;
            if (cz > 0) up[cy + 1] = back;
        }
    }
    const kf_real ends = up[2] + up[0], slope = up[2] - up[0], all = ends + up[1];
    r->next_one[o] += all;
    r->next_x[o] += sign * all;
    r->next_xx[o] += all;
    r->next_y[o] += slope;
    r->next_yy[o] += ends;
    r->next_xy[o] += sign * slope;
}

/* What comes in across a face along z that sends it back: f by what its image is at the node (here) and the share that
 * the face mirrors; but not what comes in across x too, which a node there has made (kf_bounce). */
KF_FUNCTION kf_real kf_sent_back(const kf_kinetic_arguments *a, int side, int x, int cx, int cy, const kf_real *here, kf_real f) {
    const kf_real *u = KF_FACE_VELOCITY(a)[4 + (side > 0)];
    const kf_real back =
        here[KF_SLOT(-cx, -cy, -side)] + KF_R(6.0) * KF_WEIGHT(cx, cy, 1) * (cx * u[0] + cy * u[1] - side * u[2]);
    const int bounced = (KF_BOUNCES(-1) && cx > 0 && x == 0) || (KF_BOUNCES(1) && cx < 0 && x == a->nodes[0] - 1);
    const kf_real share = KF_MIRRORS(4 + (side > 0)) ? (kf_real)a->specular_share[4 + (side > 0)] : KF_R(0.0);
    return bounced ? f : kf_multiply_add(share, f - back, back);
}
#define KF_SEND_BACK(i, name, cx, cy, cz)                                                                    \
    if ((cz) == 1 && KF_SENDS_BACK(-1)) f_##name = below ? kf_sent_back(a, -1, x, cx, cy, here, f_##name) : f_##name; \
    if ((cz) == -1 && KF_SENDS_BACK(1)) f_##name = above ? kf_sent_back(a, 1, x, cx, cy, here, f_##name) : f_##name;

/* --- the kernel ------------------------------------------------------------------------------------------ */

#define KF_ARRIVED(i, name, cx, cy, cz) kf_real f_##name = here[KF_FROM(reach, cx, cy, cz)];
#define KF_ARRIVED_LEVEL(c)                                                                                  \
    kf_sum_level(kf_sum_line(f_mm##c, f_zm##c, f_pm##c), kf_sum_line(f_mz##c, f_zz##c, f_pz##c),             \
                 kf_sum_line(f_mp##c, f_zp##c, f_pp##c))

KF_BLOCK_KERNEL(stream_collide, kf_kinetic_arguments) {
    KF_LEAVING
    KF_KEEP_BOUNCED
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
#if KF_ASKS
    const int asked = ((sides & KF_LOW_X) != 0 && KF_IS_ASKED_X(-1)) || ((sides & KF_HIGH_X) != 0 && KF_IS_ASKED_X(1)) ||
                      ((sides & KF_LOW_Y) != 0 && KF_IS_ASKED_Y(-1)) || ((sides & KF_HIGH_Y) != 0 && KF_IS_ASKED_Y(1));
#endif
    KF_DECLARE_HELD
    KF_DECLARE_WAITING
#if KF_PREFETCH
    int flip_before;
    const int before = kf_plane_of(a, first - 1, &flip_before);
    if (before >= 0) {
        KF_LOAD_OWN(kf_node(a, 0, KF_KEPT_FROM(a), before))
    }
#endif
    for (int z = first - 1; z <= end; z++) {
        int flip;
        const int plane = kf_plane_of(a, z, &flip), given = plane >= 0;
        kf_real *const values = leaving[KF_PLANES == 2 ? z & 1 : 0].population;
        if (given) {
            const kf_index start = kf_node(a, 0, KF_KEPT_FROM(a), plane);
#if !KF_PREFETCH
            KF_LOAD_OWN(start)
#endif
            KF_LOAD_BORDER(start)
            KF_ASK_WAITING(plane, flip)
            KF_TURN(flip, values)
            KF_PUT_WAITING(values)
        }
        const int below = KF_SENDS_BACK(-1) && z < 0, above = KF_SENDS_BACK(1) && z >= nz;
#if KF_ASKS
        if (!given || asked) kf_ask(a, x0, y0, z, sides, given, values);
#endif
#if KF_PREFETCH
        const int ahead = z < end ? kf_plane_of(a, z + 1, &flip) : -1;
        if (ahead >= 0) {
            KF_LOAD_OWN(kf_node(a, 0, KF_KEPT_FROM(a), ahead))
        }
#endif
        KF_BARRIER;
        KF_EACH_THREAD(t, KF_THREADS) {
            const int o = KF_OWN(t), ty = t / KF_TILE_X, x = x0 + 1 + t % KF_TILE_X, y = y0 + 1 + ty;
            kf_real *const here = values + KF_OWN_PLACE(t);
            kf_reach reach = kf_reach_of(a, x, y);
            if (!given) reach.low_x = reach.high_x = reach.low_y = reach.high_y = 0;
#if KF_BOUNCES(-1)
            if (x == 0 && y < last) kf_bounce(a, -1, reach, here, &kept[KF_KEPT(-1, ty)], &r, o);
#endif
#if KF_BOUNCES(1)
            if (x == nx - 1 && y < last) kf_bounce(a, 1, reach, here, &kept[KF_KEPT(1, ty)], &r, o);
#endif
            KF_EACH_VELOCITY(KF_ARRIVED)
            if (below || above) {
                KF_EACH_VELOCITY(KF_SEND_BACK)
            }
            const kf_level down = KF_ARRIVED_LEVEL(m), same = KF_ARRIVED_LEVEL(z), up = KF_ARRIVED_LEVEL(p);
            KF_ADD_UP(s, r, o)
            if (z > first && x < nx && y < last)
                kf_store_moments(a, a->target, kf_node(a, x, y, z - 1), kf_collide_sums(a, &s));
        }
#if KF_PLANES == 1
        KF_BARRIER;
#endif
    }
}

#endif
