/* stream_collide of the plan `moments` with a thread for each node of a block's tile: what leaves the tile's nodes and
 * those around them goes to shared memory, to the node that it streams to. Of the places around the tile, its border, only
 * what leads into the tile is worked out.
 *
 * What comes in across faces of the domain: what a mirror (free slip) across x or y sends back goes, mirrored, where its
 * image would have sent it, and what bounces back from a face across x to the node that it leaves (kf_outlets); along z the
 * image of the last plane goes on from it, of which a wall or an inflow sends a share back the way it came (kf_sent_back).
 * What waits outside an outflow across x is read for each node there. Each other population is worked out by kf_incoming. */
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
/* Where the populations of velocity (cx, cy, cz) lie, by the node of the tile that they go to. Those that move along y go
 * beyond the tile, too, into a row that nobody reads. */
#define KF_LINE           (3 * KF_THREADS + 2 * KF_TILE_X)
#define KF_SLOT(cx, cy, cz) (KF_LINE * ((cx) + 1 + 3 * ((cz) + 1)) + KF_TILE_X + KF_THREADS * ((cy) + 1))
#define KF_PLANE_VALUES   (9 * KF_LINE)

/* What streams to the tile's nodes from one plane, in shared memory. */
typedef struct kf_plane_values {
    kf_real population[KF_PLANE_VALUES];
} kf_plane_values;
/* With two planes in turn the threads that make the next one wait for none that still reads the last. Of large tiles and of
 * two planes more than the 48 KiB that a kernel has without asking for them: its launch says how much (kinetic_launches.c). */
#if KF_CUDA && KF_PLANES * KF_PLANE_VALUES * (KF_STORAGE == 2 ? 8 : 4) > 49152
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
    const int x = KF_FACE_0 == 0 ? 0 : (x0 == 0 ? KF_LOW_X : 0) + (x0 + KF_TILE_X >= a->nodes[0] ? KF_HIGH_X : 0);
    const int y =
        KF_FACE_2 == 0 ? 0 : (y0 == 0 ? KF_LOW_Y : 0) + (KF_HAS_LAST_ROW(a) && y0 + KF_TILE_Y >= a->nodes[1] ? KF_HIGH_Y : 0);
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

/* The node at (px, py) of the tile within its plane, from the first that is kept of it; -1: outside of the domain. */
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
    b.px = b.axis ? n - row_high * KF_TILE_X : column_high ? KF_TILE_X : -1;
    b.py = !b.axis ? column - column_high * KF_PLANE_Y - 1 : row_high ? KF_TILE_Y : -1;
    b.inward = (b.axis ? row_high : column_high) ? -1 : 1;
    return b;
}

/* --- what leaves a plane's places ------------------------------------------------------------------------ */

/* How far what leaves (px, py) with c -1 or 1 along x or y goes: to the place beside, or at a mirror, as its mirrored
 * population, to the same; and whether that is in the tile. What bounces back from a face across x goes to its own node. */
typedef struct kf_outlets {
    int low_x, high_x, low_y, high_y;
    int has_low_x, has_x, has_high_x, has_low_y, has_y, has_high_y;
    int back_low, back_high;
} kf_outlets;
KF_FUNCTION kf_outlets kf_outlets_of(const kf_kinetic_arguments *a, int x0, int y0, int px, int py) {
    kf_outlets o;
    const int x = x0 + px, y = y0 + py;
    const int mirror_low_x = KF_IS_MIRROR_X(-1) && x == 0, mirror_high_x = KF_IS_MIRROR_X(1) && x == a->nodes[0] - 1,
              mirror_low_y = KF_IS_MIRROR_Y(-1) && y == 0, mirror_high_y = KF_IS_MIRROR_Y(1) && y == a->nodes[1] - 1;
    o.has_x = px >= 0 && px < KF_TILE_X;
    o.has_y = py >= 0 && py < KF_TILE_Y;
    o.low_x = mirror_low_x ? 2 * KF_LINE : -1;
    o.high_x = mirror_high_x ? -2 * KF_LINE : 1;
    o.low_y = mirror_low_y ? 2 * KF_THREADS : -KF_TILE_X;
    o.high_y = mirror_high_y ? -2 * KF_THREADS : KF_TILE_X;
    o.has_low_x = mirror_low_x || px >= 1;
    o.has_high_x = mirror_high_x || px < KF_TILE_X - 1;
    o.has_low_y = mirror_low_y || py >= 1;
    o.has_high_y = mirror_high_y || py < KF_TILE_Y - 1;
    o.back_low = KF_BOUNCES(-1) && x == 0;
    o.back_high = KF_BOUNCES(1) && x == a->nodes[0] - 1;
    return o;
}
#define KF_OUT_X(o, cx) ((cx) < 0 ? (o).low_x : (cx) > 0 ? (o).high_x : 0)
#define KF_OUT_Y(o, cy) ((cy) < 0 ? (o).low_y : (cy) > 0 ? (o).high_y : 0)
#define KF_HAS_X(o, cx) ((cx) < 0 ? (o).has_low_x : (cx) > 0 ? (o).has_high_x : (o).has_x)
#define KF_HAS_Y(o, cy) ((cy) < 0 ? (o).has_low_y : (cy) > 0 ? (o).has_high_y : (o).has_y)

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

/* What leaves node i of the tile, which holds h. */
#define KF_GO(f, cx, cy, cz)                                                                                 \
    if ((cx) == 0 || KF_HAS_X(o, cx)) to[KF_SLOT(cx, cy, cz) + KF_OUT_X(o, cx) + KF_OUT_Y(o, cy)] = f;       \
    if ((cx) == -1 && KF_BOUNCES(-1) && o.back_low) to[KF_SLOT(1, -(cy), -(cz))] = f;                        \
    if ((cx) == 1 && KF_BOUNCES(1) && o.back_high) to[KF_SLOT(-1, -(cy), -(cz))] = f;
#define KF_LEAVE(i, name, cx, cy, cz) KF_GO(f[i], cx, cy, cz)
KF_FUNCTION void kf_leave(const kf_kinetic_arguments *a, const kf_held *h, int i, int x0, int y0, int flip,
                          kf_real *values) {
    const int flip_z = KF_FLIP(flip), own = kf_worked_out_here(i);
    const kf_outlets o = kf_outlets_of(a, x0, y0, own % KF_TILE_X, own / KF_TILE_X);
    kf_real *const to = &values[own];
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_9 for (int k = 0; k < 27; k++) {
            const int cx = k % 3 - 1, cy = k / 3 % 3 - 1, cz = k / 9 - 1;
            const kf_real f = *kf_listed(a, kf_direction(cx, cy, flip_z * cz), place);
            KF_GO(f, cx, cy, cz)
        }
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), 1, 1, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE)
    }
}
/* Of a place of the border what leads into the tile: what leaves its image along that axis with velocity 1. to: the tile's
 * place beside it. */
#define KF_LEAVE_ROW(i, name, cx, cy, cz)                                                                    \
    if ((cy) == 1 && KF_HAS_X(o, cx)) to[KF_SLOT(cx, 0, cz) + KF_OUT_X(o, cx)] = f[i];
KF_FUNCTION void kf_leave_row(const kf_kinetic_arguments *a, const kf_held *h, int inward, int flip, kf_outlets o,
                              kf_real *to) {
    const int flip_z = KF_FLIP(flip);
    to += KF_THREADS * inward;
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_3 for (int k = 0; k < 9; k++) {
            const int cx = k % 3 - 1, cz = k / 3 - 1;
            const kf_real f = *kf_listed(a, kf_direction(cx, inward, flip_z * cz), place);
            if (KF_HAS_X(o, cx)) to[KF_SLOT(cx, 0, cz) + KF_OUT_X(o, cx)] = f;
        }
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), 1, inward, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, inward * KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE_ROW)
    }
}
#define KF_LEAVE_COLUMN(i, name, cx, cy, cz)                                                                 \
    if ((cx) == 1 && KF_HAS_Y(o, cy)) to[KF_SLOT(0, cy, cz) + KF_OUT_Y(o, cy)] = f[i];
KF_FUNCTION void kf_leave_column(const kf_kinetic_arguments *a, const kf_held *h, int inward, int flip, kf_outlets o,
                                 kf_real *to) {
    const int flip_z = KF_FLIP(flip);
    to += KF_LINE * inward;
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_3 for (int k = 0; k < 9; k++) {
            const int cy = k % 3 - 1, cz = k / 3 - 1;
            const kf_real f = *kf_listed(a, kf_direction(inward, cy, flip_z * cz), place);
            if (KF_HAS_Y(o, cy)) to[KF_SLOT(0, cy, cz) + KF_OUT_Y(o, cy)] = f;
        }
    } else {
        const kf_moments m = kf_image(kf_to_moments(h), inward, 1, flip_z);
        kf_real f[27];
        kf_to_populations(&m, KF_BODY_FORCE, inward * KF_BODY_X, KF_BODY_Y, flip_z * KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_LEAVE_COLUMN)
    }
}
KF_FUNCTION void kf_leave_border(const kf_kinetic_arguments *a, const kf_held *h, int n, int x0, int y0, int flip,
                                 kf_real *values) {
    const kf_border b = kf_border_place(kf_worked_out_here(n));
    const kf_outlets o = kf_outlets_of(a, x0, y0, b.px, b.py);
    if (b.axis == 1)
        kf_leave_row(a, h, b.inward, flip, o, &values[b.px + KF_TILE_X * (b.py + b.inward)]);
    else
        kf_leave_column(a, h, b.inward, flip, o, &values[b.px + b.inward + KF_TILE_X * b.py]);
}

#define KF_EACH_OWN(i, slot)    KF_EACH_FULL_SLOT(i, slot, KF_THREADS, KF_THREADS)
#define KF_EACH_BORDER(i, slot) KF_EACH_SLOT(i, slot, KF_BORDER, KF_THREADS)
/* A plane's moments on their way from the source, a plane ahead: those of the border, and with KF_PREFETCH the tile's too.
 * Each thread reads what it has asked for itself. */
typedef struct kf_staged {
    kf_word border[KF_NODE_WORDS * KF_BORDER];
#if KF_PREFETCH
    kf_word own[KF_NODE_WORDS * KF_THREADS];
#endif
} kf_staged;
#define KF_STAGE_WORD(i, name) kf_copy_ahead(&to[(i)*stride], kf_moment_address(a, a->source, i, k), sizeof(kf_word));
KF_FUNCTION void kf_stage(const kf_kinetic_arguments *a, kf_index k, kf_word *to, int stride) {
    KF_EACH_WORD(KF_STAGE_WORD)
}
#define KF_TAKE_WORD(i, name) h.name = from[(i)*stride];
KF_FUNCTION kf_held kf_take_staged(const kf_word *from, int stride) {
    kf_held h;
    KF_EACH_WORD(KF_TAKE_WORD)
    return h;
}
/* The node of border place n in a plane, from its first; -1: outside of the domain. */
KF_FUNCTION kf_index kf_border_node(const kf_kinetic_arguments *a, int x0, int y0, int n) {
    const kf_border b = kf_border_place(n);
    return kf_tile_node(a, x0, y0, b.px, b.py);
}
#if KF_PREFETCH
#define KF_STAGE_OWN(start)                                                                                  \
    KF_EACH_OWN(i, slot) if (own_node[slot] >= 0) kf_stage(a, (start) + own_node[slot], &staged->own[i], KF_THREADS);
#define KF_HELD(start, i, slot) kf_take_staged(&staged->own[i], KF_THREADS)
#else
#define KF_STAGE_OWN(start)
#define KF_HELD(start, i, slot) kf_load_held(a, a->source, (start) + own_node[slot])
#endif
/* Of the plane whose first node is start. */
#define KF_STAGE(start)                                                                                      \
    KF_STAGE_OWN(start)                                                                                      \
    KF_EACH_BORDER(n, slot) if (border_node[slot] >= 0)                                                      \
        kf_stage(a, (start) + border_node[slot], &staged->border[n], KF_BORDER);
#define KF_TURN(start, flip, values)                                                                         \
    KF_EACH_OWN(i, slot) if (own_node[slot] >= 0) {                                                          \
        const kf_held h = KF_HELD(start, i, slot);                                                           \
        kf_leave(a, &h, i, x0, y0, flip, values);                                                            \
    }                                                                                                        \
    KF_EACH_BORDER(n, slot) if (border_node[slot] >= 0) {                                                    \
        const kf_held h = kf_take_staged(&staged->border[n], KF_BORDER);                                     \
        kf_leave_border(a, &h, n, x0, y0, flip, values);                                                     \
    }

/* --- what comes in across faces -------------------------------------------------------------------------- */

/* What waits outside outflows across x: nine values for each row of the tile and side. By the last threads: the first ones
 * have places of the border. */
#define KF_NO_ROW  (-2)
#define KF_WAITING (9 * KF_TILE_Y * (KF_WAITS(-1) + KF_WAITS(1)))
#if KF_WAITS(-1) || KF_WAITS(1)
typedef struct kf_waiting {
    int side, row, cy, cz;
} kf_waiting;
KF_FUNCTION kf_waiting kf_waiting_item(int n) {
    kf_waiting w;
    const int k = n % (9 * KF_TILE_Y) / KF_TILE_Y;
    w.side = !KF_WAITS(-1) || n >= 9 * KF_TILE_Y ? 1 : -1;
    w.row = n % KF_TILE_Y;
    w.cy = k % 3 - 1;
    w.cz = k / 3 - 1;
    return w;
}
/* The row outside, or whose image is outside, that it comes from, if it waits there; else KF_NO_ROW. */
KF_FUNCTION int kf_waits_at(const kf_kinetic_arguments *a, int sides, int y0, const kf_waiting *w) {
    const int y = y0 + w->row, beyond = kf_beyond_rows(kf_tile_row(y - w->cy, a->nodes[1]), a->nodes[1]);
    if ((sides & (w->side < 0 ? KF_LOW_X : KF_HIGH_X)) == 0 || !KF_IS_TARGET(a, y, a->nodes[1])) return KF_NO_ROW;
    if (beyond == 0) return kf_tile_row(y - w->cy, a->nodes[1]);
    return KF_IS_MIRROR_Y(beyond) ? y : KF_NO_ROW;
}
/* What waits for plane `plane` (mirrored across z where flip is -1) is on its way to where it is read. */
#define KF_BRING_WAITING(plane, flip, values)                                                                \
    KF_EACH_SLOT_BACKWARDS(n, slot, KF_WAITING, KF_THREADS) {                                                \
        const kf_waiting w = kf_waiting_item(kf_worked_out_here(n));                                         \
        const int y = kf_waits_at(a, sides, y0, &w);                                                         \
        if (y != KF_NO_ROW)                                                                                  \
            kf_copy_ahead(&(values)[KF_SLOT(0, w.cy, w.cz) - KF_LINE * w.side +                              \
                                    (w.side < 0 ? 0 : a->nodes[0] - 1 - x0) + KF_TILE_X * w.row],            \
                          (const kf_real *)a->outflow +                                                      \
                              kf_outflow_place(a, 0, w.side > 0, -w.side,                                    \
                                               kf_tile_row(y0 + w.row - w.cy, a->nodes[1]) == y ? w.cy : -w.cy, \
                                               KF_FLIP(flip) * w.cz, y, plane),                              \
                          sizeof(kf_real));                                                                  \
    }                                                                                                        \
    kf_end_copies();
#define KF_AWAIT_WAITING kf_await_copies(1) /* all but the next plane's moments */
#define KF_AWAIT_STAGED  kf_await_copies(1) /* all but what waits */
#else
#define KF_BRING_WAITING(plane, flip, values)
#define KF_AWAIT_WAITING ((void)0)
#define KF_AWAIT_STAGED  kf_await_copies(0)
#endif

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
    e.px = !across_x ? place - 1 : high ? a->nodes[0] - x0 : -1;
    e.py = across_x ? place - 1 : high ? a->nodes[1] - y0 : -1;
    e.cx = across_x ? inward : c1;
    e.cy = across_x ? c1 : inward;
    e.cz = c2;
    return e;
}
/* The same of a plane outside (side < 0: below, side > 0: above the domain). */
KF_FUNCTION kf_entry kf_plane_entry(int side, int n) {
    kf_entry e;
    const int place = n / 9;
    e.px = place % KF_PLANE_X - 1;
    e.py = place / KF_PLANE_X - 1;
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
        const int tx = e.px + e.cx, ty = e.py + e.cy, tz = z + e.cz;
        if (given && !kf_is_asked(kf_beyond(x0 + e.px, nx), kf_beyond_rows(y0 + e.py, ny))) continue;
        if (tx < 0 || tx >= KF_TILE_X || ty < 0 || ty >= KF_TILE_Y) continue;
        if (kf_beyond(x0 + tx, nx) != 0 || !KF_IS_TARGET(a, y0 + ty, ny) || kf_beyond(tz, a->nodes[2]) != 0) continue;
        values[KF_SLOT(e.cx, e.cy, e.cz) + tx + KF_TILE_X * ty] = kf_incoming(a, e.cx, e.cy, e.cz, x0 + tx, y0 + ty, tz);
    }
}
#endif

/* What comes in across a face along z that sends it back: of what the image of the plane before it sends (f_*) the share
 * that the face mirrors, and what this node of that plane sent there. */
#define KF_SEND_BACK(i, name, cx, cy, cz)                                                                    \
    if ((cz) == -side) {                                                                                     \
        const kf_real back = sent[kf_direction(-(cx), -(cy), -(cz))] +                                       \
                             KF_R(6.0) * KF_WEIGHT(cx, cy, cz) * ((cx)*u[0] + (cy)*u[1] + (cz)*u[2]);        \
        f_##name = kf_multiply_add(share, f_##name - back, back);                                            \
    }
#define KF_SEND_LEVEL_BACK(side_, plane)                                                                     \
    {                                                                                                        \
        enum { side = side_, face = 4 + (side > 0) };                                                        \
        const kf_real *u = KF_FACE_VELOCITY(a)[face];                                                        \
        const kf_real share = KF_MIRRORS(face) ? (kf_real)a->specular_share[face] : KF_R(0.0);               \
        kf_real sent[27];                                                                                    \
        kf_node_populations(a, a->source, kf_node(a, x, y, plane), sent, 1);                                 \
        KF_EACH_VELOCITY(KF_SEND_BACK)                                                                       \
    }
#if KF_SENDS_BACK(-1)
#define KF_SEND_UP if (z < 0 && x < nx && y < last) KF_SEND_LEVEL_BACK(-1, 0)
#else
#define KF_SEND_UP
#endif
#if KF_SENDS_BACK(1)
#define KF_SEND_DOWN if (z >= nz && x < nx && y < last) KF_SEND_LEVEL_BACK(1, nz - 1)
#else
#define KF_SEND_DOWN
#endif

/* At a face across x that populations bounce back from a node has got those that it sent there in the places of those that
 * come back, of all planes. What comes back in the plane below it keeps until what comes from this plane is added up there,
 * in which is now what it kept before; to what has come from below for itself it adds what comes back upwards. */
#define KF_KEPT(side, row) (3 * ((row) + ((side) > 0 ? KF_TILE_Y : 0)))
#if KF_BOUNCES(-1) || KF_BOUNCES(1)
#define KF_KEEP_BOUNCED KF_SHARED kf_real kept[KF_KEPT(1, KF_TILE_Y)];
#else
#define KF_KEEP_BOUNCED
#endif
#define KF_BOUNCED(cx, cy, cz, f) (f + KF_R(6.0) * KF_WEIGHT(cx, cy, cz) * ((cx)*u[0] + (cy)*u[1] + (cz)*u[2]))
#define KF_BOUNCE_SAME(i, name, cx, cy, cz)                                                                  \
    if ((cz) == 0 && (cx) == -side) f_##name = KF_BOUNCED(cx, cy, cz, f_##name);
#define KF_BOUNCE_DOWN(i, name, cx, cy, cz)                                                                  \
    if ((cz) == -1 && (cx) == -side) {                                                                       \
        const kf_real back = KF_BOUNCED(cx, cy, cz, f_##name);                                               \
        f_##name = mine[(cy) + 1];                                                                           \
        mine[(cy) + 1] = back;                                                                               \
    }
#define KF_BOUNCE_UP(i, name, cx, cy, cz)                                                                    \
    if ((cz) == 1 && (cx) == -side) {                                                                        \
        const kf_real back = KF_BOUNCED(cx, cy, cz, f_##name);                                               \
        f_##name = KF_R(0.0);                                                                                \
        r.next_one[o] += back;                                                                               \
        r.next_x[o] += (kf_real)(cx)*back;                                                                   \
        r.next_xx[o] += back;                                                                                \
        r.next_y[o] += (kf_real)(cy)*back;                                                                   \
        r.next_yy[o] += (kf_real)((cy) * (cy)) * back;                                                       \
        r.next_xy[o] += (kf_real)((cx) * (cy)) * back;                                                       \
    }
#define KF_BOUNCE_LEVEL(side_, EACH)                                                                         \
    {                                                                                                        \
        enum { side = side_ };                                                                               \
        const kf_real *u = KF_FACE_VELOCITY(a)[side > 0];                                                    \
        kf_real *const mine = &kept[KF_KEPT(side, own / KF_TILE_X)];                                           \
        (void)mine;                                                                                          \
        KF_EACH_VELOCITY(EACH)                                                                               \
    }
#if KF_BOUNCES(-1)
#define KF_BOUNCE_LOW(EACH) if (x == 0) KF_BOUNCE_LEVEL(-1, EACH)
#else
#define KF_BOUNCE_LOW(EACH)
#endif
#if KF_BOUNCES(1)
#define KF_BOUNCE_HIGH(EACH) if (x == nx - 1) KF_BOUNCE_LEVEL(1, EACH)
#else
#define KF_BOUNCE_HIGH(EACH)
#endif

/* --- the kernel ------------------------------------------------------------------------------------------ */

#define KF_DECLARE_ARRIVED(i, name, cx, cy, cz) kf_real f_##name;
#define KF_ARRIVE(cz_, name, cx, cy, cz)        if ((cz) == cz_) f_##name = values[KF_SLOT(cx, cy, cz) + own];
#define KF_ARRIVE_DOWN(i, name, cx, cy, cz)     KF_ARRIVE(-1, name, cx, cy, cz)
#define KF_ARRIVE_SAME(i, name, cx, cy, cz)     KF_ARRIVE(0, name, cx, cy, cz)
#define KF_ARRIVE_UP(i, name, cx, cy, cz)       KF_ARRIVE(1, name, cx, cy, cz)
#define KF_ARRIVED_LEVEL(c)                                                                                  \
    kf_sum_level(kf_sum_line(f_mm##c, f_zm##c, f_pm##c), kf_sum_line(f_mz##c, f_zz##c, f_pz##c),             \
                 kf_sum_line(f_mp##c, f_zp##c, f_pp##c))

KF_BLOCK_KERNEL(stream_collide, kf_kinetic_arguments) {
    KF_LEAVING
    KF_SHARED kf_staged staged[1];
    KF_KEEP_BOUNCED
    kf_rolling r;
    const int nx = a->nodes[0], last = KF_FIRST_ROW(a) + KF_PART_ROWS(a), nz = a->nodes[2];
    const int tiles_y = (KF_PART_ROWS(a) + KF_TILE_Y - 1) / KF_TILE_Y;
    const int x0 = block_x * KF_TILE_X, y0 = KF_FIRST_ROW(a) + block_y % tiles_y * KF_TILE_Y;
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
    kf_index own_node[KF_SLOTS(KF_THREADS, KF_THREADS)], border_node[KF_SLOTS(KF_BORDER, KF_THREADS)];
    KF_EACH_OWN(i, slot) own_node[slot] = kf_tile_node(a, x0, y0, i % KF_TILE_X, i / KF_TILE_X);
    KF_EACH_BORDER(n, slot) border_node[slot] = kf_border_node(a, x0, y0, n);
    int flip, plane = kf_plane_of(a, first - 1, &flip);
    if (plane >= 0) {
        KF_STAGE(kf_node(a, 0, KF_KEPT_FROM(a), plane))
    }
    kf_end_copies();
    for (int z = first - 1; z <= end; z++) {
        kf_real *const values = leaving[KF_PLANES == 2 ? z & 1 : 0].population;
        const int given = plane >= 0;
        if (given) {
            KF_BRING_WAITING(plane, flip, values)
            KF_AWAIT_STAGED;
            KF_TURN(kf_node(a, 0, KF_KEPT_FROM(a), plane), flip, values)
        }
#if KF_ASKS
        if (!given || asked) kf_ask(a, x0, y0, z, sides, given, values);
#endif
        plane = z < end ? kf_plane_of(a, z + 1, &flip) : -1;
        if (plane >= 0) {
            KF_STAGE(kf_node(a, 0, KF_KEPT_FROM(a), plane))
        }
        kf_end_copies();
        KF_AWAIT_WAITING;
        KF_BARRIER;
        KF_EACH_THREAD(t, KF_THREADS) {
            const int o = KF_OWN(t), own = kf_worked_out_here(t), x = x0 + own % KF_TILE_X, y = y0 + own / KF_TILE_X;
            KF_EACH_VELOCITY(KF_DECLARE_ARRIVED)
            KF_EACH_VELOCITY(KF_ARRIVE_DOWN)
            KF_SEND_DOWN
            KF_BOUNCE_LOW(KF_BOUNCE_DOWN)
            KF_BOUNCE_HIGH(KF_BOUNCE_DOWN)
            const kf_level down = KF_ARRIVED_LEVEL(m);
            KF_EACH_VELOCITY(KF_ARRIVE_UP)
            KF_SEND_UP
            KF_BOUNCE_LOW(KF_BOUNCE_UP)
            KF_BOUNCE_HIGH(KF_BOUNCE_UP)
            const kf_level up = KF_ARRIVED_LEVEL(p);
            KF_EACH_VELOCITY(KF_ARRIVE_SAME)
            KF_BOUNCE_LOW(KF_BOUNCE_SAME)
            KF_BOUNCE_HIGH(KF_BOUNCE_SAME)
            const kf_level same = KF_ARRIVED_LEVEL(z);
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
