/* Streaming and collision in the plan `moments`. A block has a tile, with a thread for each node. Shared
 * memory has the populations that leave the tile's nodes and those around them, and the nodes find there
 * what streams to them. Around the tile, in its border, only the populations that lead into the tile are
 * computed.
 *
 * Populations come in across the domain's faces in four ways.
 *   mirror (free slip)    behind it is the image of the nodes before it. Across x and y a node reads the
 *                         mirrored population where it left (kf_reach). Across z what has gone up from
 *                         the last plane comes down again, and what has gone down from the first plane
 *                         comes up
 *   bounce-back           each node computes what returns from a face across x (kf_bounce), and across z
 *                         (kf_sent_back)
 *   outflow across x      what waits outside is copied to where it is read
 *   all others            kf_incoming computes each population */
#ifndef KF_KERNELS_KINETIC_MOMENTS_TILE_H
#define KF_KERNELS_KINETIC_MOMENTS_TILE_H

#define KF_PLANE_X (KF_TILE_X + 2)
#define KF_PLANE_Y (KF_TILE_Y + 2)
#define KF_PLANE   (KF_PLANE_X * KF_PLANE_Y)
/* The number of places around a tile: the rows below and above it, then the columns beside it, with the
 * corners. */
#define KF_BORDER (2 * KF_TILE_X + 2 * KF_PLANE_Y)
/* Returns the offset of the population with velocity (cx, cy, cz) from its place. A mirrored population
 * has a further constant offset. */
#define KF_SLOT(cx, cy, cz) (KF_PLANE * ((cx) + 1 + 3 * ((cy) + 1) + 9 * ((cz) + 1)))

/* The moments of the next plane at the places around the tile, in flight from the source. Each thread
 * reads only those that it has loaded. And for each row and side along x the populations that a face there
 * sends back to the plane below (kf_bounce). */
typedef struct kf_tile_border {
    kf_word border[KF_NODE_WORDS * KF_BORDER];
    kf_real kept[2 * 3 * KF_TILE_Y];
} kf_tile_border;
/* A block's shared memory: the populations that leave a plane's places, and loads in flight. made: all
 * threads have written the populations that leave their places. read: all have read those that stream to
 * them. */
typedef struct kf_tile {
    kf_split_barrier made, read;
    kf_real population[27 * KF_PLANE];
    kf_tile_border beside;
} kf_tile;
/* A kernel has 48 KiB of shared memory by default. A larger tile uses dynamic shared memory, whose size
 * its launch gives (kinetic_launches.c). */
#define KF_VALUE_BYTES (KF_STORAGE == KF_F64_STORAGE ? 8 : 4)
#define KF_TILE_WORDS  (27 * KF_PLANE + 6 * KF_TILE_Y + KF_NODE_WORDS * KF_BORDER)
#if KF_CUDA && 16 + KF_TILE_WORDS * KF_VALUE_BYTES > 49152
#define KF_DECLARE_TILE KF_DYNAMIC_SHARED(kf_tile, tile, 1);
#else
#define KF_DECLARE_TILE KF_SHARED kf_tile tile[1];
#endif

/* Return what a face across x or y is, by its side -1 or 1. */
#define KF_X_FACE(side)      ((side) < 0 ? KF_FACE_0 : KF_FACE_1)
#define KF_IS_MIRROR_X(side) (KF_X_FACE(side) == KF_FREE_SLIP_FACE)
#define KF_IS_MIRROR_Y(side) ((side) < 0 ? KF_FACE_2 == KF_FREE_SLIP_FACE : KF_FACE_3 == KF_FREE_SLIP_FACE)
#define KF_WAITS(side)       (KF_X_FACE(side) == KF_OUTFLOW_FACE)
/* A face across x decides at its edges only if it gives way to no face across y or z (KF_DECIDING), and if no
 * other face has a part in it. */
#if KF_MIXED_EDGES
#define KF_BOUNCES(side) 0
#else
#define KF_BOUNCES(side)                                                                                     \
    (KF_IS_SOLID_FACE(KF_X_FACE(side)) && !KF_MIRRORS((side) > 0) && !KF_GIVES_WAY_TO_YZ(KF_X_FACE(side)))
#endif
#define KF_IS_ASKED_X(side)                                                                                  \
    (KF_X_FACE(side) != KF_PERIODIC_FACE && !KF_IS_MIRROR_X(side) && !KF_WAITS(side) && !KF_BOUNCES(side))
#define KF_IS_ASKED_Y(side)                                                                                  \
    ((side) < 0 ? KF_FACE_2 != KF_PERIODIC_FACE && KF_FACE_2 != KF_FREE_SLIP_FACE                            \
                : KF_FACE_3 != KF_PERIODIC_FACE && KF_FACE_3 != KF_FREE_SLIP_FACE)
#define KF_ASKS_BESIDE (KF_IS_ASKED_X(-1) || KF_IS_ASKED_X(1) || KF_IS_ASKED_Y(-1) || KF_IS_ASKED_Y(1))
/* Return what a face across z is. KF_HAS_IMAGE: behind it is the image of the last plane, of which a wall
 * or an inflow reflects a share. */
#define KF_Z_FACE(side) ((side) < 0 ? KF_FACE_4 : KF_FACE_5)
#define KF_HAS_IMAGE(side)                                                                                   \
    ((KF_Z_FACE(side) == KF_FREE_SLIP_FACE || KF_IS_SOLID_FACE(KF_Z_FACE(side))) && !KF_ASKS_BESIDE)
#define KF_IS_ASKED_Z(side) (KF_Z_FACE(side) != KF_PERIODIC_FACE && !KF_HAS_IMAGE(side))
#define KF_ASKS             (KF_ASKS_BESIDE || KF_IS_ASKED_Z(-1) || KF_IS_ASKED_Z(1))

/* Returns the sides of a tile at faces of the domain that are not periodic, as bits. (x0, y0) is the
 * tile's lower corner. */
enum { KF_LOW_X = 1, KF_HIGH_X = 2, KF_LOW_Y = 4, KF_HIGH_Y = 8 };
KF_FUNCTION int kf_tile_sides(const kf_module_arguments *a, int x0, int y0) {
    const int x = KF_FACE_0 == KF_PERIODIC_FACE
                      ? 0
                      : (x0 < 0 ? KF_LOW_X : 0) + (x0 + KF_PLANE_X > a->grid.nodes[0] ? KF_HIGH_X : 0);
    const int y = KF_FACE_2 == KF_PERIODIC_FACE
                      ? 0
                      : (y0 < 0 ? KF_LOW_Y : 0) +
                            (KF_HAS_LAST_ROW(a) && y0 + KF_PLANE_Y > a->grid.nodes[1] ? KF_HIGH_Y : 0);
    return x + y;
}

/* Returns the node at place (px, py) of the tile within its plane, counted from the first stored node. It
 * is -1 outside the domain. */
KF_FUNCTION kf_index kf_tile_node(const kf_module_arguments *a, int x0, int y0, int px, int py) {
    const int nx = a->grid.nodes[0], ny = a->grid.nodes[1];
    const int x = kf_home(x0 + px, nx, KF_FACE_0 == KF_PERIODIC_FACE), y = kf_tile_row(y0 + py, ny);
    if (!KF_IS_REACHED(a, y)) return -1;
    return kf_beyond(x, nx) == 0 && kf_beyond_rows(y, ny) == 0 ? kf_offset(a, x, y - KF_KEPT_FROM(a), 0) : -1;
}
/* Returns whether plane z has nodes, its own or those across a periodic face. */
#define KF_IS_GIVEN(z, nz) (KF_FACE_4 == KF_PERIODIC_FACE || kf_beyond(z, nz) == 0)
/* Place n of the border: its position, and the axis (0, 1) and direction that lead into the tile. */
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

/* --- Populations that leave a plane's places --- */

/* Returns whether populations stay with their thread, because no other thread reads them. */
#define KF_STAYS(cx, cy) ((cx) == 0 && (cy) == 0 && !KF_ASKS)
/* The three populations of a place with one cx and cy, by cz from -1 to 1. */
typedef struct kf_z_column {
    kf_real m, z, p;
} kf_z_column;
KF_FUNCTION void kf_put_column(kf_real *place, kf_z_column c) {
    place[0] = c.m;
    place[9 * KF_PLANE] = c.z;
    place[18 * KF_PLANE] = c.p;
}
KF_FUNCTION kf_z_column kf_get_column(const kf_real *place) {
    const kf_z_column c = {place[0], place[9 * KF_PLANE], place[18 * KF_PLANE]};
    return c;
}
KF_FUNCTION kf_z_column kf_listed_column(const kf_module_arguments *a, int cx, int cy, kf_bits place) {
    const kf_z_column c = {*kf_listed(a, kf_direction(cx, cy, -1), place),
                           *kf_listed(a, kf_direction(cx, cy, 0), place),
                           *kf_listed(a, kf_direction(cx, cy, 1), place)};
    return c;
}

#define KF_ORDER_BY_COLUMN(i, name, cx, cy, cz) by_column[3 * ((cx) + 1 + 3 * ((cy) + 1)) + (cz) + 1] = f[i];
#define KF_COLUMN(k)                                                                                         \
    { by_column[3 * (k)], by_column[3 * (k) + 1], by_column[3 * (k) + 2] }
/* Writes the populations that leave place i of the tile, whose node has the words h. */
KF_FUNCTION void kf_leave(const kf_module_arguments *a, const kf_held *h, int i, kf_real *values,
                          kf_rolling *r) {
    const int o = KF_OWN(i);
    kf_real *const to = &values[i % KF_TILE_X + 1 + KF_PLANE_X * (i / KF_TILE_X + 1)];
    kf_z_column stays;
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL_BY_3
        for (int k = 0; k < 9; k++)
            if (!KF_STAYS(k % 3 - 1, k / 3 - 1))
                kf_put_column(to + KF_SLOT(k % 3 - 1, k / 3 - 1, -1),
                              kf_listed_column(a, k % 3 - 1, k / 3 - 1, place));
        stays = kf_listed_column(a, 0, 0, place);
    } else {
        const kf_moments m = kf_to_moments(h);
        kf_real f[27], by_column[27];
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_ORDER_BY_COLUMN)
        KF_UNROLL
        for (int k = 0; k < 9; k++) {
            const kf_z_column c = KF_COLUMN(k);
            if (KF_STAYS(k % 3 - 1, k / 3 - 1))
                stays = c;
            else
                kf_put_column(to + KF_SLOT(k % 3 - 1, k / 3 - 1, -1), c);
        }
    }
    if (KF_STAYS(0, 0)) {
        r->staying[0][o] = stays.m;
        r->staying[1][o] = stays.z;
        r->staying[2][o] = stays.p;
    }
}
/* Writes the populations that lead into the tile from a border place beyond y: those that leave the image
 * of the place along that axis with velocity 1. They have the same bits as if a tile contained the place,
 * because how the domain is cut decides which nodes a tile contains. */
KF_FUNCTION void kf_leave_row(const kf_module_arguments *a, const kf_held *h, int inward, kf_real *to) {
    to += KF_SLOT(-1, inward, -1);
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL
        for (int c = 0; c < 3; c++)
            kf_put_column(to + KF_PLANE * c, kf_listed_column(a, c - 1, inward, place));
    } else {
        const kf_real flip = (kf_real)inward;
        kf_moments m = kf_to_moments(h);
        kf_real f[27], by_column[27];
        m.uy *= flip;
        m.xy *= flip;
        m.yz *= flip;
        kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, flip * KF_BODY_Y, KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_ORDER_BY_COLUMN)
        KF_UNROLL
        for (int c = 0; c < 3; c++) {
            const kf_z_column leaving = KF_COLUMN(6 + c);
            kf_put_column(to + KF_PLANE * c, leaving);
        }
    }
}
/* Writes the populations that lead into the tile from a border place beyond x, like kf_leave_row along y. */
KF_FUNCTION void kf_leave_column(const kf_module_arguments *a, const kf_held *h, int inward, kf_real *to) {
    to += KF_SLOT(inward, -1, -1);
    if (kf_is_listed(h)) {
        const kf_bits place = kf_listed_place(h);
        KF_UNROLL
        for (int c = 0; c < 3; c++)
            kf_put_column(to + 3 * KF_PLANE * c, kf_listed_column(a, inward, c - 1, place));
    } else {
        const kf_real flip = (kf_real)inward;
        kf_moments m = kf_to_moments(h);
        kf_real f[27], by_column[27];
        m.ux *= flip;
        m.xy *= flip;
        m.xz *= flip;
        kf_to_populations(&m, KF_BODY_FORCE, flip * KF_BODY_X, KF_BODY_Y, KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_ORDER_BY_COLUMN)
        KF_UNROLL
        for (int c = 0; c < 3; c++) {
            const kf_z_column leaving = KF_COLUMN(3 * c + 2);
            kf_put_column(to + 3 * KF_PLANE * c, leaving);
        }
    }
}
KF_FUNCTION void kf_leave_border(const kf_module_arguments *a, const kf_held *h, int n, kf_real *values) {
    const kf_border b = kf_border_place(kf_worked_out_here(n));
    kf_real *const to = &values[b.px + KF_PLANE_X * b.py];
    if (b.axis == 1)
        kf_leave_row(a, h, b.inward, to);
    else
        kf_leave_column(a, h, b.inward, to);
}

#define KF_EACH_OWN(i, slot)    KF_EACH_FULL_SLOT(i, slot, KF_THREADS, KF_THREADS)
#define KF_EACH_BORDER(i, slot) KF_EACH_SLOT(i, slot, KF_BORDER, KF_THREADS)
#define KF_STAGE_WORD(i, name)                                                                               \
    kf_copy_ahead(&to[(i)*stride], from + kf_place(a, KF_NODE_WORDS, i, 0), sizeof(kf_word));
KF_FUNCTION void kf_stage(const kf_module_arguments *a, const kf_word *from, kf_word *to, int stride) {
    KF_EACH_WORD(KF_STAGE_WORD)
}
/* Return the index in plane z of the node that kf_tile_node gives, and the address of its word 0. */
KF_FUNCTION kf_index kf_index_in_plane(const kf_module_arguments *a, kf_index node, int z) {
    return kf_node(a, 0, KF_KEPT_FROM(a), 0) + node + (kf_index)a->memory.plane_pitch * z;
}
KF_FUNCTION kf_word *kf_in_plane(const kf_module_arguments *a, void *grid, kf_index node, int z) {
#if KF_LAYOUT == KF_CSOA_LAYOUT && !KF_ALIGNED_ROWS
    return kf_moment_address(a, grid, 0, kf_index_in_plane(a, node, z));
#else
    return kf_moment_address(a, grid, 0, kf_index_in_plane(a, node, 0)) +
           (long long)z *
               ((kf_index)a->memory.plane_pitch * (KF_LAYOUT == KF_SOA_LAYOUT ? 1 : KF_NODE_WORDS));
#endif
}
#define KF_TAKE_WORD(i, name) h.name = from[(i)*stride];
KF_FUNCTION kf_held kf_take_staged(const kf_word *from, int stride) {
    kf_held h;
    KF_EACH_WORD(KF_TAKE_WORD)
    return h;
}
/* Returns the node of border place n. */
KF_FUNCTION kf_index kf_border_node(const kf_module_arguments *a, int x0, int y0, int n) {
    const kf_border b = kf_border_place(n);
    return kf_tile_node(a, x0, y0, b.px, b.py);
}
#define KF_HELD(plane, i, slot)                                                                              \
    kf_load_held(a, a->populations.source, kf_index_in_plane(a, own_node[slot], plane))
#define KF_STAGE(plane)                                                                                      \
    KF_EACH_BORDER(n, slot)                                                                                  \
        if (border_node[slot] >= 0)                                                                          \
            kf_stage(a, kf_in_plane(a, a->populations.source, border_node[slot], plane),                     \
                     &tile->beside.border[n], KF_BORDER);
#define KF_TURN(plane, values)                                                                               \
    KF_EACH_OWN(i, slot)                                                                                     \
        if (own_node[slot] >= 0) {                                                                           \
            const kf_held h = KF_HELD(plane, i, slot);                                                       \
            kf_leave(a, &h, i, values, &r);                                                                  \
        }                                                                                                    \
    KF_EACH_BORDER(n, slot)                                                                                  \
        if (border_node[slot] >= 0) {                                                                        \
            const kf_held h = kf_take_staged(&tile->beside.border[n], KF_BORDER);                            \
            kf_leave_border(a, &h, n, values);                                                               \
        }

#include "moments_faces.h"

#define KF_PUT_WORD(i, name) *(to + kf_place(a, KF_NODE_WORDS, i, 0)) = (h.name);
#define KF_PUT_EDGE(i, name) *kf_edge_word(a, high, i, row, level) = h.name;
/* Stores the moments of the node at (x, y, z), whose index in its plane is `node`. */
KF_FUNCTION void kf_put_moments(const kf_module_arguments *a, kf_index node, int x, int y, int z,
                                kf_moments m) {
    kf_word *const to = kf_in_plane(a, a->populations.target, node, z);
    const kf_held h = kf_to_held(&m, KF_OF_NODE(a, kf_index_in_plane(a, node, z)));
    KF_EACH_WORD(KF_PUT_WORD)
    if ((KF_WAITS(-1) && x == 0) || (KF_WAITS(1) && x == a->grid.nodes[0] - 1)) {
        const int high = kf_worked_out_here(x > 0), row = kf_worked_out_here(y),
                  level = kf_worked_out_here(z);
        if (a->outflow.edge) {
            KF_EACH_WORD(KF_PUT_EDGE)
        }
    }
}

/* --- The kernel --- */

/* Loads the three populations that arrive with one cx and cy, which are named by their letters. */
#define KF_ARRIVE(nx, ny, cx, cy) kf_z_column f_##nx##ny = kf_get_column(&here[KF_FROM(reach, cx, cy, -1)]);
#define KF_ARRIVE_STAYED                                                                                     \
    kf_z_column f_zz = {r.staying[0][o], r.staying[1][o], r.staying[2][o]};                                  \
    if (!KF_STAYS(0, 0)) f_zz = kf_get_column(&here[KF_SLOT(0, 0, -1)]);
#define KF_ARRIVED_LEVEL(c)                                                                                  \
    kf_sum_level(kf_sum_line(f_mm.c, f_zm.c, f_pm.c), kf_sum_line(f_mz.c, f_zz.c, f_pz.c),                   \
                 kf_sum_line(f_mp.c, f_zp.c, f_pp.c))
/* Declares the node of thread t. */
#define KF_NODE_OF_THREAD                                                                                    \
    const int o = KF_OWN(t), tx = t % KF_TILE_X, ty = t / KF_TILE_X;                                         \
    const int x = x0 + 1 + tx, y = y0 + 1 + ty;                                                              \
    kf_real *const here = tile->population + (tx + 1 + KF_PLANE_X * (ty + 1));

/* Streams and collides in the plan `moments`. Each block walks up through the planes with its tile. It
 * turns the moments of a plane into populations in shared memory, and the nodes sum the populations that
 * stream to them. A node is collided and stored when the plane above it has been read. */
KF_BLOCK_KERNEL(stream_collide, kf_module_arguments) {
    KF_DECLARE_TILE
    kf_rolling r;
    const int nx = a->grid.nodes[0], last = KF_FIRST_ROW(a) + KF_PART_ROWS(a), nz = a->grid.nodes[2];
    const int tiles_y = (KF_PART_ROWS(a) + KF_TILE_Y - 1) / KF_TILE_Y;
    const int x0 = block_x * KF_TILE_X - 1, y0 = KF_FIRST_ROW(a) + block_y % tiles_y * KF_TILE_Y - 1;
#if KF_TEAM
    const int begin = a->part.first_plane, stop = begin + a->part.planes;
#else
    const int begin = 0, stop = nz;
#endif
    /* The walk that ends at the last plane begins first, the one from the first plane second, and the
     * short ones last. So no block has much left to do at the end. */
    int planes = KF_WALK(stop - begin, a->march), left = stop - begin - planes, first = stop - planes;
    for (int walk = 0; walk < block_y / tiles_y; walk++) {
        first = walk == 0 ? begin : first + planes;
        planes = KF_WALK(left, a->march);
        left -= planes;
    }
    int end = first + planes;
    if (kf_shorten_walk(a, x0, y0, &first, &end)) return;
    const int sides = kf_tile_sides(a, x0, y0);
#if KF_ASKS
    const int asked =
        ((sides & KF_LOW_X) != 0 && KF_IS_ASKED_X(-1)) || ((sides & KF_HIGH_X) != 0 && KF_IS_ASKED_X(1)) ||
        ((sides & KF_LOW_Y) != 0 && KF_IS_ASKED_Y(-1)) || ((sides & KF_HIGH_Y) != 0 && KF_IS_ASKED_Y(1));
#endif
    kf_index own_node[KF_SLOTS(KF_THREADS, KF_THREADS)], border_node[KF_SLOTS(KF_BORDER, KF_THREADS)];
    KF_EACH_OWN(i, slot)
        own_node[slot] = kf_tile_node(a, x0, y0, i % KF_TILE_X + 1, i / KF_TILE_X + 1);
    KF_EACH_BORDER(n, slot)
        border_node[slot] = kf_border_node(a, x0, y0, n);
    KF_EACH_THREAD(t, KF_THREADS) {
        KF_NODE_OF_THREAD
        KF_BEGIN_SUMS(r, o)
        if (tx < 3)
            tile->beside.kept[KF_KEPT(-1, ty) + tx] = tile->beside.kept[KF_KEPT(1, ty) + tx] = KF_R(0.0);
        if (t == 0) {
            kf_begin_split_barrier(&tile->made, KF_THREADS);
            kf_begin_split_barrier(&tile->read, KF_THREADS);
        }
        (void)x, (void)y, (void)here;
    }
    KF_BARRIER;
    /* A walk reads from the plane before its first to the one behind its last. It stops at the last plane
     * before a face whose other side is an image. */
    const int from = KF_HAS_IMAGE(-1) && first == 0 ? 0 : first - 1,
              to = KF_HAS_IMAGE(1) && end == nz ? end - 1 : end;
    if (KF_IS_GIVEN(from, nz)) {
        KF_STAGE(kf_home(from, nz, KF_FACE_4 == KF_PERIODIC_FACE))
    }
    kf_end_copies();
    for (int z = from; z <= to; z++) {
        const int given = KF_IS_GIVEN(z, nz), plane = kf_home(z, nz, KF_FACE_4 == KF_PERIODIC_FACE);
        if (z > from) kf_await_all(&tile->read, z - from - 1);
        if (given) {
            KF_BRING_WAITING(plane)
            KF_AWAIT_STAGED;
            KF_TURN(plane, tile->population)
        }
#if KF_ASKS
        if (!given || asked) kf_ask(a, x0, y0, z, sides, given, tile->population);
#endif
        if (z < to && KF_IS_GIVEN(z + 1, nz)) {
            KF_STAGE(kf_home(z + 1, nz, KF_FACE_4 == KF_PERIODIC_FACE))
        }
        kf_end_copies();
        KF_AWAIT_WAITING;
        kf_arrive(&tile->made);
        kf_await_all(&tile->made, z - from);
        KF_EACH_THREAD(t, KF_THREADS) {
            KF_NODE_OF_THREAD
            kf_reach reach = kf_reach_of(a, x, y);
            if (!given) reach.low_x = reach.high_x = reach.low_y = reach.high_y = 0;
            KF_BOUNCE_LOW
            KF_BOUNCE_HIGH
            KF_ARRIVE(m, m, -1, -1)
            KF_ARRIVE(z, m, 0, -1)
            KF_ARRIVE(p, m, 1, -1)
            KF_ARRIVE(m, z, -1, 0)
            KF_ARRIVE_STAYED
            KF_ARRIVE(p, z, 1, 0)
            KF_ARRIVE(m, p, -1, 1)
            KF_ARRIVE(z, p, 0, 1)
            KF_ARRIVE(p, p, 1, 1)
            const kf_level_sums down = KF_ARRIVED_LEVEL(m);
            if (KF_HAS_IMAGE(-1) && z == 0)
                KF_ADD_FROM_BELOW(kf_sent_back(a, -1, x, here, r.staying[0][o], down), &r, o)
            const kf_level_sums same = KF_ARRIVED_LEVEL(z);
            kf_arrive(&tile->read);
            const kf_level_sums up = KF_ARRIVED_LEVEL(p);
            KF_ADD_UP(s, r, o)
            if (z > first && x < nx && y < last)
                kf_put_moments(a, own_node[o], x, y, z - 1, kf_collide_sums(a, &s));
        }
    }
    if (KF_HAS_IMAGE(1) && end == nz)
        KF_EACH_THREAD(t, KF_THREADS) {
            KF_NODE_OF_THREAD
            const kf_level_sums above = {r.next_one[o], r.next_x[o],  r.next_y[o],
                                         r.next_xx[o],  r.next_yy[o], r.next_xy[o]};
            kf_level_sums down = kf_sent_back(a, 1, x, here, r.staying[2][o], above);
            KF_ADD_KEPT
            KF_COMPLETE(s, r, o)
            if (x < nx && y < last) kf_put_moments(a, own_node[o], x, y, nz - 1, kf_collide_sums(a, &s));
        }
}

#endif
