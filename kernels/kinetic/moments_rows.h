/* stream_collide of the plan `moments` with several rows a thread: a warp's lanes lie along x, each with KF_ROWS nodes
 * along y, and no warp waits for another. Of a plane a warp turns one row after the other into the populations that
 * leave it, from the one below its nodes to the one above them. Those that move along x go to the lanes beside through
 * shared memory and are added up line by line (kf_line); a node has its sums of a plane when the row above it has been.
 * What comes in at the two ends of a row is worked out for all rows of the plane at once, a lane for each end of each row.
 *
 * At faces of the domain what a node of it gets across the face is asked for where the sums are made. Included by
 * moments.cu alone. */
#ifndef KF_KERNELS_KINETIC_MOMENTS_ROWS_H
#define KF_KERNELS_KINETIC_MOMENTS_ROWS_H

#if KF_TILE_X != 32 || KF_NODES_PER_THREAD % 2 != 0 || KF_TILE_Y % KF_NODES_PER_THREAD != 0 || KF_NODES_PER_THREAD > 14
#error "a warp has 32 nodes along x and an even number of rows"
#endif

#define KF_LANES 32
enum {
    KF_ROWS = KF_NODES_PER_THREAD,
    KF_SOURCES = KF_ROWS + 2, /* rows that are read */
    KF_WARPS = KF_TILE_Y / KF_ROWS,
    KF_LINE_PLACES = KF_LANES + 1,
    KF_RIGHT_END = KF_LINE_PLACES / 2 /* the right ends of the rows, after the left ones */
};

/* What a warp's lanes hand to each other: populations of a row that move along x, by cy + 1 + 3 (cz + 1), to the right and
 * to the left, for two rows in turn, so that it is enough to wait once a row. A lane takes what the place before it, or
 * after it, has put there. What comes in at the rows' ends has as many places between directions. What comes in across the
 * low and the high face along y, by cx + 1 + 3 (cz + 1). */
typedef struct kf_line_values {
    kf_real place[9][KF_LINE_PLACES];
} kf_line_values;
typedef struct kf_warp_values {
    kf_line_values right[2], left[2], ends, beyond[2];
} kf_warp_values;
#if KF_CUDA && 63 * 33 * (KF_TILE_Y / KF_NODES_PER_THREAD) * (KF_STORAGE == 2 ? 8 : 4) > 49152
#define KF_WARP_VALUES KF_DYNAMIC_SHARED(kf_warp_values, warps, KF_WARPS);
#else
#define KF_WARP_VALUES KF_SHARED kf_warp_values warps[KF_WARPS];
#endif

typedef kf_warp_values kf_ends;
#define KF_END_PLACE(to, high, k, row) (to)->ends.place[k][(row) + ((high) ? KF_RIGHT_END : 0)]
#include "moments_faces.h"

/* Sums of what a node, if it is one of the domain, gets with cz from outside. */
KF_RARE_FUNCTION kf_level kf_incoming_level(const kf_kinetic_arguments *a, int cz, int x, int y, int z) {
    kf_real f[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    if (kf_is_inside(a, x, y, z)) {
        for (int k = 0; k < 9; k++)
            f[k] = kf_incoming(a, k % 3 - 1, k / 3 - 1, cz, x, y, z);
    }
    return kf_sum_level(kf_sum_line(f[0], f[1], f[2]), kf_sum_line(f[3], f[4], f[5]),
                        kf_sum_line(f[6], f[7], f[8]));
}

/* Where a warp is: its first node, the last of its rows' lanes within the domain. */
typedef struct kf_warp_place {
    int x0, y0, last;
} kf_warp_place;

/* What comes in at the ends of the rows of plane z, and across faces where it is asked for a lane for each direction of each
 * place outside. */
KF_FUNCTION void kf_find_ends(const kf_kinetic_arguments *a, const kf_warp_place *w, int lane, int z, kf_warp_values *to) {
    const int nx = a->nodes[0], ny = a->nodes[1], nz = a->nodes[2];
    const kf_sides s = kf_sides_of(a, w->x0 - 1, w->x0 + w->last + 1, 1, 1, w->y0 - 1, KF_SOURCES);
    for (int n = lane; n < s.all; n += KF_LANES)
        kf_find_end(a, &s, n, z, to);
    const int low_y = KF_IS_ASKED(-1) && w->y0 == 0, high_y = KF_IS_ASKED(1) && w->y0 + KF_ROWS >= ny;
    const int asked_x = s.way[0] == KF_ASKED || s.way[1] == KF_ASKED;
    const int ends = 2 * 9 * KF_SOURCES, count = low_y || high_y ? ends + 2 * 9 * KF_LANES : asked_x ? ends : 0;
    for (int n = lane; n < count; n += KF_LANES) {
        const int of_row = n >= ends, i = of_row ? n - ends : n, length = of_row ? KF_LANES : KF_SOURCES;
        const int high = i / (9 * length), k = i / length % 9, place = i % length;
        const int cx = of_row ? k % 3 - 1 : high ? -1 : 1, cy = !of_row ? k % 3 - 1 : high ? -1 : 1, cz = k / 3 - 1;
        const int x = of_row ? w->x0 + place : s.x[high], y = !of_row ? w->y0 + place - 1 : high ? ny : -1;
        const int asked = kf_is_asked(!of_row && s.way[high] != KF_FROM_NODES, s.way[high], kf_beyond(y, ny)) &&
                          (!of_row || (x < nx && (high ? high_y : low_y)));
        const int tx = kf_home(x + cx, nx, KF_FACE_0 == 0), ty = kf_home(y + cy, ny, KF_FACE_2 == 0),
                  tz = kf_home(z + cz, nz, KF_FACE_4 == 0);
        kf_line_values *values = of_row ? &to->beyond[high] : &to->ends;
        if (asked && kf_is_inside(a, tx, ty, tz))
            values->place[k][place + (!of_row && high ? KF_RIGHT_END : 0)] = kf_incoming(a, cx, cy, cz, tx, ty, tz);
    }
}

/* Whether what leaves row j of the sources with cy arrives at a row of the warp's. */
#define KF_ARRIVES(j, cy) ((j) + (cy) >= 1 && (j) + (cy) <= KF_ROWS)
#define KF_HAND_ON(value, cx, cy, cz)                                                                        \
    if (KF_ARRIVES(j, cy)) {                                                                                 \
        if ((cx) == 0)                                                                                       \
            own[(cy) + 1 + 3 * ((cz) + 1)][o] = value;                                                       \
        else if ((cx) > 0)                                                                                   \
            values->right[j % 2].place[(cy) + 1 + 3 * ((cz) + 1)][lane + 1] = value;                             \
        else                                                                                                 \
            values->left[j % 2].place[(cy) + 1 + 3 * ((cz) + 1)][lane] = value;                                  \
    }
#define KF_HAND_ON_MADE(i, name, cx, cy, cz)   KF_HAND_ON(f[i], cx, cy, cz)
#define KF_HAND_ON_ASKED(i, name, cx, cy, cz)                                                               \
    if ((cy) == (j == 0 ? 1 : -1)) KF_HAND_ON(asked->place[(cx) + 1 + 3 * ((cz) + 1)][lane], cx, cy, cz)
#define KF_HAND_ON_LISTED(i, name, cx, cy, cz)                                                               \
    KF_HAND_ON(*kf_listed(a, image ? kf_direction(cx, -(cy), cz) : i, listed), cx, cy, cz)
#define KF_TAKE_LINE(cy, cz)                                                                                 \
    kf_sum_line(from_right[((cy) + 1 + 3 * ((cz) + 1)) * KF_LINE_PLACES], own[(cy) + 1 + 3 * ((cz) + 1)][o], \
                from_left[((cy) + 1 + 3 * ((cz) + 1)) * KF_LINE_PLACES])

/* Lines by cz + 1 of a row's populations with one cy, as they arrive at a thread's places. */
typedef struct kf_lines {
    kf_line of[3][KF_OWN_COUNT];
} kf_lines;

KF_BLOCK_KERNEL(stream_collide, kf_kinetic_arguments) {
    KF_WARP_VALUES
    kf_rolling r[KF_ROWS];
    kf_lines same[KF_SOURCES], ahead[KF_SOURCES]; /* with cy 0, cy 1, of each row */
    kf_held held[KF_OWN_COUNT];
    kf_real own[9][KF_OWN_COUNT];
    const int nx = a->nodes[0], ny = a->nodes[1], nz = a->nodes[2];
    const int tiles_y = (ny + KF_TILE_Y - 1) / KF_TILE_Y;
    const int x0 = block_x * KF_TILE_X, tile_y = block_y % tiles_y * KF_TILE_Y;
#if KF_TEAM
    const int begin = a->first_plane, stop = begin + a->planes;
#else
    const int begin = 0, stop = nz;
#endif
    /* The last walk, which ends at a face, begins first, and the first one second: at the end no block has more to do. */
    const int walks = (stop - begin + a->march - 1) / a->march, walk = (block_y / tiles_y + walks - 1) % walks;
    const int first = begin + walk * a->march, end = first + a->march < stop ? first + a->march : stop;
    const int last = x0 + KF_LANES <= nx ? KF_LANES - 1 : nx - 1 - x0;
    const int low = KF_FACE_4 != 0 && first == 0 ? first : first - 1,
              high = KF_FACE_4 != 0 && end == nz ? end : end + 1; /* the planes that are inside */
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        const int o = KF_OWN(t), x = x0 + t % KF_LANES, y0 = tile_y + t / KF_LANES * KF_ROWS;
        held[o] = kf_load_held(a, a->source, kf_node(a, kf_within(x, nx, KF_FACE_0 == 0), kf_within(y0 - 1, ny, KF_FACE_2 == 0),
                                                     kf_home(low, nz, KF_FACE_4 == 0)));
        if (low == first) {
            KF_UNROLL for (int n = 0; n < KF_ROWS; n++) {
                const kf_level up = kf_incoming_level(a, 1, x, y0 + n, first);
                KF_ADD_NEXT(up, r[n], o)
            }
        }
    }
    for (int z = low; z < high; z++) {
        const int plane = kf_home(z, nz, KF_FACE_4 == 0), next = z + 1 < high ? kf_home(z + 1, nz, KF_FACE_4 == 0) : plane;
        KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
            const kf_warp_place w = {x0, tile_y + t / KF_LANES * KF_ROWS, last};
            kf_find_ends(a, &w, t % KF_LANES, plane, &warps[t / KF_LANES]);
        }
        KF_UNROLL for (int j = 0; j < KF_SOURCES; j++) {
            KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
                const int o = KF_OWN(t), lane = t % KF_LANES, y0 = tile_y + t / KF_LANES * KF_ROWS;
                kf_warp_values *values = &warps[t / KF_LANES];
                /* Handed on in each branch: else all would wait in registers for where they meet. */
                const int beyond = KF_FACE_2 != 0 && j != 1 ? kf_beyond(y0 + j - 1, ny) : 0,
                          image = beyond != 0 && KF_IS_MIRROR(j == 0 ? -1 : 1);
                if (beyond != 0 && !image) {
                    const kf_line_values *asked = &values->beyond[j > 0];
                    KF_WARP_BARRIER;
                    KF_EACH_VELOCITY(KF_HAND_ON_ASKED)
                } else if (kf_is_listed(&held[o])) {
                    const kf_bits listed = kf_listed_place(&held[o]);
                    KF_EACH_VELOCITY(KF_HAND_ON_LISTED)
                } else {
                    kf_moments m = kf_to_moments(&held[o]);
                    kf_real f[27];
                    if (image) {
                        m.uy = -m.uy;
                        m.xy = -m.xy;
                        m.yz = -m.yz;
                    }
                    kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, image ? -KF_BODY_Y : KF_BODY_Y, KF_BODY_Z, f, 1);
                    KF_EACH_VELOCITY(KF_HAND_ON_MADE)
                }
                /* The next row. */
                const int turn = j + 1 == KF_SOURCES;
                const int x = kf_within(x0 + lane, nx, KF_FACE_0 == 0),
                          y = kf_within(y0 + (turn ? -1 : j), ny, KF_FACE_2 == 0);
                held[o] = kf_load_held(a, a->source, kf_node(a, x, y, turn ? next : plane));
            }
            KF_WARP_BARRIER;
            KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
                const int o = KF_OWN(t), lane = t % KF_LANES;
                const kf_warp_values *values = &warps[t / KF_LANES];
                const kf_real *ends = &values->ends.place[0][j],
                              *from_left = lane == 0 ? ends : &values->right[j % 2].place[0][lane],
                              *from_right = lane == last ? ends + KF_RIGHT_END : &values->left[j % 2].place[0][lane + 1];
                kf_line behind[3];
                KF_UNROLL for (int cz = -1; cz <= 1; cz++) {
                    if (KF_ARRIVES(j, 1)) ahead[j].of[cz + 1][o] = KF_TAKE_LINE(1, cz);
                    if (KF_ARRIVES(j, 0)) same[j].of[cz + 1][o] = KF_TAKE_LINE(0, cz);
                    if (KF_ARRIVES(j, -1)) behind[cz + 1] = KF_TAKE_LINE(-1, cz);
                }
                if (KF_ARRIVES(j, -1)) {
                    const int n = j - 2; /* the node whose sums this row completes */
                    const kf_level down = kf_sum_level(behind[0], same[j - 1].of[0][o], ahead[n].of[0][o]),
                                   here = kf_sum_level(behind[1], same[j - 1].of[1][o], ahead[n].of[1][o]),
                                   up = kf_sum_level(behind[2], same[j - 1].of[2][o], ahead[n].of[2][o]);
                    const int x = x0 + lane, y = tile_y + t / KF_LANES * KF_ROWS + n;
                    KF_ADD_UP(s, r[n], o)
                    if (z > first && x < nx && y < ny)
                        kf_store_moments(a, a->target, kf_node(a, x, y, z - 1), kf_collide_sums(a, &s));
                }
            }
        }
        KF_WARP_BARRIER;
    }
    if (high == end) {
        KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
            const int o = KF_OWN(t), x = x0 + t % KF_LANES, y0 = tile_y + t / KF_LANES * KF_ROWS;
            KF_UNROLL for (int n = 0; n < KF_ROWS; n++) {
                const kf_level down = kf_incoming_level(a, -1, x, y0 + n, end - 1);
                KF_COMPLETE(s, r[n], o)
                if (x < nx && y0 + n < ny)
                    kf_store_moments(a, a->target, kf_node(a, x, y0 + n, end - 1), kf_collide_sums(a, &s));
            }
        }
    }
}

#endif
