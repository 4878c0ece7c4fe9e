/* What comes in across faces of the domain at the sides of a plane's places, for the plan `moments`: each
 * population as kf_incoming says, but made like what comes from nodes, for a whole place at once, where that can be.
 *
 * Whoever includes this says where what comes in at row `row` of the low or high side along x goes, by k = cy + 1 + 3 (cz +
 * 1): KF_END_PLACE(to, high, k, row) of a kf_ends. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_FACES_H
#define KF_KERNELS_KINETIC_MOMENTS_FACES_H

/* The nearest node of the domain: what is read there in place of one outside is not used. */
KF_FUNCTION int kf_within(int position, int nodes, int periodic) {
    const int home = kf_home(position, nodes, periodic);
    return home < 0 ? 0 : home >= nodes ? nodes - 1 : home;
}
#if KF_CUT_Y && KF_FACE_2 == 0
#define kf_within_rows(y, ny) (y)
#else
#define kf_within_rows(y, ny) kf_within(y, ny, 0)
#endif

/* What leaves a node with velocity (cx, cy, cz) by cy + 1 + 3 (cz + 1): with cx -1 the mirror image of what leaves the
 * node's with cx 1. The node may be an image itself, along x or y (flip_x, flip_y -1). */
#define KF_KEEP_END(i, name, cx, cy, cz) if ((cx) == 1) end[(cy) + 1 + 3 * ((cz) + 1)] = f[i];
KF_FUNCTION void kf_end_populations(const kf_kinetic_arguments *a, const kf_held *h, int cx, int flip_x, int flip_y,
                                    kf_real *end) {
    if (kf_is_listed(h)) {
        KF_UNROLL for (int k = 0; k < 9; k++) end[k] =
            *kf_listed(a, kf_direction(flip_x * cx, flip_y * (k % 3 - 1), k / 3 - 1), kf_listed_place(h));
    } else {
        const kf_real mirror = (kf_real)(flip_x * cx), across = (kf_real)flip_y;
        kf_moments m = kf_to_moments(h);
        kf_real f[27];
        m.ux *= mirror;
        m.xz *= mirror;
        m.uy *= across;
        m.yz *= across;
        m.xy *= mirror * across;
        kf_to_populations(&m, KF_BODY_FORCE, mirror * KF_BODY_X, across * KF_BODY_Y, KF_BODY_Z, f, 1);
        KF_EACH_VELOCITY(KF_KEEP_END)
    }
}

/* Free slip across y: behind the face is the image of the node before it. Of other faces each population is asked for. */
#define KF_IS_MIRROR(side) ((side) < 0 ? KF_FACE_2 == 2 : KF_FACE_3 == 2)
#define KF_IS_ASKED(side)  ((side) < 0 ? KF_FACE_2 != 0 && KF_FACE_2 != 2 : KF_FACE_3 != 0 && KF_FACE_3 != 2)

/* How what comes in at one side along x is found: it leaves nodes, or their images behind a face (free slip); it
 * bounces back from a face; it waits outside an outflow; or each population is asked for. */
enum { KF_FROM_NODES, KF_FROM_IMAGES, KF_BOUNCED, KF_WAITING, KF_ASKED };
KF_FUNCTION int kf_way_in(const kf_kinetic_arguments *a, int high, int x) {
    const int kind = high ? KF_FACE_1 : KF_FACE_0;
    if (kind == 0 || kf_beyond(x, a->nodes[0]) == 0) return KF_FROM_NODES;
    if (kind == 2) return KF_FROM_IMAGES;
    if (kind == 4) return KF_WAITING;
#if KF_SPECULAR
    return a->specular_share[high] != 0 ? KF_ASKED : KF_BOUNCED;
#else
    return KF_BOUNCED;
#endif
}

/* Of what leaves node (., y of the row, z + cz) across a face those that come back in plane z: each to the row that a
 * population from outside would have left. */
KF_FUNCTION void kf_bounce(const kf_kinetic_arguments *a, const kf_real *leaves, int high, int row, int rows, int cz,
                           kf_ends *to) {
    const kf_real *u = KF_FACE_VELOCITY(a)[high];
    KF_UNROLL for (int cy = -1; cy <= 1; cy++) {
        const int cx = high ? -1 : 1, from = row - cy;
        const kf_real back = cz < 0 ? leaves[7 - cy] : cz > 0 ? leaves[1 - cy] : leaves[4 - cy];
        const kf_real weight = KF_R(1.0 / 6.0) * KF_R(KF_WEIGHT_1D(cy)) * (cz != 0 ? KF_R(1.0 / 6.0) : KF_R(2.0 / 3.0));
        if (from >= 0 && from < rows)
            KF_END_PLACE(to, high, cy + 1 + 3 * (cz + 1), from) =
                back + KF_R(6.0) * weight * (cx * u[0] + cy * u[1] + cz * u[2]);
    }
}

/* The sides of a plane's rows along x: x coordinates of the places, how what comes in there is found, and how many items of
 * work that is (an end of a row each, of a face that it bounces back from an end in each of three planes); y of the first
 * row, number of rows. */
typedef struct kf_sides {
    int x[2], way[2], lefts, all, y0, rows;
} kf_sides;
KF_FUNCTION kf_sides kf_sides_of(const kf_kinetic_arguments *a, int low, int high, int has_low, int has_high, int y0,
                                 int rows) {
    kf_sides s;
    s.x[0] = low;
    s.x[1] = high;
    s.way[0] = kf_way_in(a, 0, low);
    s.way[1] = kf_way_in(a, 1, high);
    s.lefts = !has_low || s.way[0] == KF_ASKED ? 0 : s.way[0] == KF_BOUNCED ? 3 * rows : rows;
    s.all = s.lefts + (!has_high || s.way[1] == KF_ASKED ? 0 : s.way[1] == KF_BOUNCED ? 3 * rows : rows);
    s.y0 = y0;
    s.rows = rows;
    return s;
}
/* What item n of the next plane needs is asked for, where no node of the tile has asked for it yet. */
#define KF_BRING_WORD(i, name) kf_bring_near(kf_moment_address(a, a->source, i, k));
KF_FUNCTION void kf_bring_end(const kf_kinetic_arguments *a, int x, int y, int z, int way, int high, int cz) {
    const int from_z = z + 1 + cz;
    if (from_z >= a->nodes[2]) return;
    if (way == KF_WAITING) {
        KF_UNROLL for (int k = 0; k < 9; k++) kf_bring_near(
            (const kf_real *)a->outflow +
            kf_outflow_place(a, 0, high, high ? -1 : 1, k % 3 - 1, k / 3 - 1, y, from_z));
    } else if (way == KF_BOUNCED && cz > 0) {
        const kf_index k = kf_node(a, x, y, from_z);
        KF_EACH_WORD(KF_BRING_WORD)
    }
}
/* Item n of them in plane z. */
KF_FUNCTION void kf_find_end(const kf_kinetic_arguments *a, const kf_sides *s, int n, int z, kf_ends *to) {
    const int nx = a->nodes[0], ny = a->nodes[1], nz = a->nodes[2];
    const int high = n >= s->lefts, i = high ? n - s->lefts : n, row = i % s->rows, way = high ? s->way[1] : s->way[0];
    const int cx = high ? -1 : 1, cz = way == KF_BOUNCED ? i / s->rows - 1 : 0;
    const int y = kf_tile_row(s->y0 + row, ny), beyond = kf_beyond_rows(y, ny),
              from_z = kf_home(z + cz, nz, KF_FACE_4 == 0);
    const int image = beyond != 0 && KF_IS_MIRROR(beyond);
    if (!KF_IS_REACHED(a, y)) return;
    if ((beyond != 0 && (!image || way == KF_BOUNCED)) || kf_beyond(from_z, nz) != 0) return;
    kf_bring_end(a, kf_within(high ? s->x[1] : s->x[0], nx, KF_FACE_0 == 0), kf_within_rows(y, ny), z, way, high, cz);
    kf_real end[9];
    if (way == KF_WAITING) {
        KF_UNROLL for (int k = 0; k < 9; k++) end[k] =
            kf_outflow(a, 0, high, cx, image ? 1 - k % 3 : k % 3 - 1, k / 3 - 1, kf_within_rows(y, ny), z);
    } else {
        const kf_held h = kf_load_held(
            a, a->source, kf_node(a, kf_within(high ? s->x[1] : s->x[0], nx, KF_FACE_0 == 0), kf_within_rows(y, ny), from_z));
        kf_end_populations(a, &h, way == KF_BOUNCED ? -cx : cx, way == KF_FROM_IMAGES ? -1 : 1, image ? -1 : 1, end);
    }
    if (way == KF_BOUNCED)
        kf_bounce(a, end, high, row, s->rows, cz, to);
    else
        KF_UNROLL for (int k = 0; k < 9; k++) KF_END_PLACE(to, high, k, row) = end[k];
}

/* Whether what comes from a place at (x, y), outside along x (on the side with this way in) or y, is asked for. */
KF_FUNCTION int kf_is_asked(int outside_x, int way, int beyond_y) {
    const int asked_y = beyond_y != 0 && KF_IS_ASKED(beyond_y);
    return outside_x ? way == KF_ASKED || (asked_y && way != KF_BOUNCED) : asked_y;
}

#endif
