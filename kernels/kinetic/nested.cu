/* The exchanges between a level of nested grids and the next finer one, whose cells are half as wide and
 * which takes two steps for one. Density and velocity are the same on both. The second moments after a
 * collision represent the strain rate, and the host's factor scales them (docs/physics.md). A block works
 * on a tile of cells of the coarser level. It reads each node that these cells need once, and sums along
 * one axis after the other. Defines: those of state.cu. */
#include "nested_arguments.h"
typedef kf_nested_side kf_module_arguments; /* the headers' functions take this type */

#include "crossing.h"

#if KF_CUDA
/* KF_BLOCKS is the least number of blocks on a multiprocessor, which limits a thread's registers. With
 * fewer registers more blocks wait for memory at once. But each waits more often, because it loads some
 * values only after it has used others. */
#undef KF_LAUNCH_BOUNDS
#define KF_LAUNCH_BOUNDS __launch_bounds__(KF_THREADS, KF_BLOCKS)
#endif

/* --- Tiles --- */

/* The cells of a block: the axes u, v and that across the layer, and the first cell. */
typedef struct kf_tile {
    int axis[3], cell[3]; /* the first cell is counted from the nested box */
    int cells[3];
} kf_tile;

/* Returns the cells of a block. The first tiles of the boxes tell its box, and then its number tells the
 * position in the layers. */
KF_FUNCTION kf_tile kf_tile_of(const kf_nested_arguments *a, int block) {
    int box = 0;
    while (box + 1 < a->boxes && block >= a->start[box + 1])
        box++;
    const int across = a->across[box], u = across == 0 ? 1 : 0, v = across == 2 ? 1 : 2;
    const int *low = a->low[box], *size = a->size[box];
    const int tiles_u = (size[u] + KF_NESTED_TILE_U - 1) / KF_NESTED_TILE_U,
              tiles_v = (size[v] + KF_NESTED_TILE_V - 1) / KF_NESTED_TILE_V, tile = block - a->start[box];
    const int at_u = tile % tiles_u * KF_NESTED_TILE_U, at_v = tile / tiles_u % tiles_v * KF_NESTED_TILE_V,
              left_u = size[u] - at_u, left_v = size[v] - at_v;
    const kf_tile t = {{u, v, across},
                       {low[u] + at_u, low[v] + at_v, low[across] + tile / tiles_u / tiles_v * a->every},
                       {left_u < KF_NESTED_TILE_U ? left_u : KF_NESTED_TILE_U,
                        left_v < KF_NESTED_TILE_V ? left_v : KF_NESTED_TILE_V, 1}};
    return t;
}

/* The nodes of a level that a tile needs along an axis. */
typedef struct kf_span {
    int from, count;
    int period; /* a position beyond the grid is this far from the same node inside */
    kf_index stride;
} kf_span;

/* Brings the position of a node, which may be beyond a periodic grid, back into the grid. */
KF_FUNCTION int kf_around(int place, int nodes) {
    return place < 0 ? place + nodes : place >= nodes ? place - nodes : place;
}
KF_FUNCTION kf_index kf_stride_along(const kf_nested_side *a, int axis) {
    return axis == 0 ? 1 : axis == 1 ? (kf_index)a->grid.row_pitch : (kf_index)a->memory.plane_pitch;
}
/* Returns the position of node i of a span. Behind the last node it returns the last one, because tiles at
 * an end have fewer cells. */
KF_FUNCTION int kf_place_along(const kf_span *s, int i) {
    return kf_around(s->from + (i < s->count ? i : s->count - 1), s->period);
}
/* Returns what the position of node i adds to an index. */
KF_FUNCTION kf_index kf_along(const kf_span *s, int i) {
    return kf_place_along(s, i) * s->stride;
}
enum { KF_NO_PERIOD = 1 << 30 };

#if KF_CUDA
#define KF_TOGETHER
#else
/* On a cpu the items of such a loop are computed many at a time, so it takes no address of a variable. */
#define KF_TOGETHER _Pragma("omp simd")
#endif
/* Returns i / n for i below 65536 / n by a multiplication, because vectors have no division. */
KF_FUNCTION int kf_row_of(int i, int n) {
    return (int)((unsigned)i * (65536U / (unsigned)n + 1U) >> 16);
}
/* Returns the node, of several layers, on which thread t of a GPU works. Adjacent threads take nodes that
 * are adjacent in memory, so neighbours along x, which for some layers is the axis across them. */
KF_FUNCTION int kf_node_of(const kf_tile *tile, int t, int in_layer, int layers) {
#if KF_CUDA
    if (tile->axis[2] == 0 && t < in_layer * layers) return t % layers * in_layer + t / layers;
#endif
    (void)tile, (void)in_layer, (void)layers;
    return t;
}

/* --- Writing --- */

KF_FUNCTION void kf_put_moments(const kf_nested_side *a, kf_index k, const kf_real *kept, int stride,
                                kf_real scale) {
    kf_crossing c;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        c.value[q] = kept[q * stride];
    kf_store_moments(a, a->populations.source, k, kf_moments_of(c, scale));
}

#if KF_CUDA
/* Writes a node from what is kept of it. */
KF_FUNCTION void kf_put_node(const kf_nested_side *a, int moments, kf_index k, const kf_real *kept,
                             kf_real scale) {
    if (moments) {
        kf_put_moments(a, k, kept, 1, scale);
    } else {
        KF_UNROLL
        for (int i = 0; i < 27; i++)
            *kf_address(a, a->populations.source, i, k) = kf_to_store(kept[i]);
    }
}
#else
KF_FUNCTION void kf_put_all_moments(const kf_nested_side *a, const kf_span span[3], int length, int rows,
                                    int threads, const kf_real *kept, kf_real scale) {
    const kf_index begin = kf_node(a, 0, 0, 0);
    KF_EACH_THREAD_SCALAR(t, threads) {
        const int u = t % length, v = t / length % rows, w = t / length / rows;
        if (u < span[0].count && v < span[1].count && w < span[2].count)
            kf_put_moments(a, begin + kf_along(&span[2], w) + kf_along(&span[1], v) + kf_along(&span[0], u),
                           kept + KF_OWN(t), KF_PRIVATE(threads), scale);
    }
}
/* Writes the populations of all nodes. Those of a node are far apart in memory, so a cpu writes rows of
 * one population after the other. */
KF_FUNCTION void kf_put_all_populations(const kf_nested_side *a, const kf_span span[3], int length, int rows,
                                        int threads, const kf_real *kept) {
    const kf_index begin = kf_node(a, 0, 0, 0);
    const int in_line = span[0].stride == 1 && span[0].from + span[0].count <= span[0].period;
    for (int i = 0; i < 27; i++)
        for (int n = 0; n < span[1].count * span[2].count; n++) {
            const int v = n % span[1].count, w = n / span[1].count;
            const kf_real *row = kept + i * threads + (w * rows + v) * length;
            const kf_index first = begin + kf_along(&span[2], w) + kf_along(&span[1], v);
            if (in_line) {
                KF_TOGETHER for (int u = 0; u < span[0].count; u++) *
                    kf_address(a, a->populations.source, i, first + span[0].from + u) = kf_to_store(row[u]);
            } else {
                for (int u = 0; u < span[0].count; u++)
                    *kf_address(a, a->populations.source, i, first + kf_along(&span[0], u)) =
                        kf_to_store(row[u]);
            }
        }
}
/* Writes what threads kept for the nodes of spans, `length` nodes in a row and `rows` rows in a layer. */
KF_FUNCTION void kf_put(const kf_nested_side *a, int moments, const kf_span span[3], int length, int rows,
                        int threads, const kf_real *kept, kf_real scale) {
    if (moments)
        kf_put_all_moments(a, span, length, rows, threads, kept, scale);
    else
        kf_put_all_populations(a, span, length, rows, threads, kept);
}
#endif

/* --- To the finer level --- */

enum {
    KF_SEEN_U = KF_NESTED_TILE_U + 2, /* the coarser level's nodes */
    KF_SEEN_V = KF_NESTED_TILE_V + 2,
    KF_LAYER = KF_SEEN_U * KF_SEEN_V,
    KF_FINE_U = 2 * KF_NESTED_TILE_U,
    KF_FINE_V = 2 * KF_NESTED_TILE_V
};

/* Returns the middle one of the three nodes around the ghosts of a cell. At a face of the domain it is one
 * node farther inside. */
KF_FUNCTION int kf_middle(const kf_nested_arguments *a, int axis, int cell) {
    const int nodes = a->coarse.grid.nodes[axis], place = a->first[axis] + cell;
    return a->around[axis] ? place : place < 1 ? 1 : place > nodes - 2 ? nodes - 2 : place;
}
KF_FUNCTION kf_span kf_span_around(const kf_nested_arguments *a, const kf_tile *t, int i) {
    const int axis = t->axis[i], first = kf_middle(a, axis, t->cell[i]) - 1,
              last = kf_middle(a, axis, t->cell[i] + t->cells[i] - 1) + 1;
    const kf_span s = {first, last + 1 - first, a->around[axis] ? a->coarse.grid.nodes[axis] : KF_NO_PERIOD,
                       kf_stride_along(&a->coarse, axis)};
    return s;
}
KF_FUNCTION kf_span kf_span_of_ghosts(const kf_nested_arguments *a, const kf_tile *t, int i) {
    const int axis = t->axis[i];
    const kf_span s = {2 * t->cell[i] + a->ghosts[axis], 2 * t->cells[i], KF_NO_PERIOD,
                       kf_stride_along(&a->fine, axis)};
    return s;
}
/* The weights, at ghost j of a tile, of the parabola through three nodes of a span from node `from` on. */
typedef struct kf_parabola {
    int from;
    kf_real low, middle, high;
} kf_parabola;
KF_FUNCTION kf_parabola kf_parabola_at(const kf_nested_arguments *a, const kf_tile *t, int i,
                                       const kf_span *s, int j) {
    const int axis = t->axis[i], cell = t->cell[i] + (j / 2 < t->cells[i] ? j / 2 : t->cells[i] - 1),
              middle = kf_middle(a, axis, cell);
    const kf_real off = (kf_real)(a->first[axis] + cell - middle) + (j % 2 != 0 ? KF_R(0.25) : KF_R(-0.25));
    const kf_parabola p = {middle - 1 - s->from, KF_R(0.5) * off * (off - KF_R(1.0)), KF_R(1.0) - off * off,
                           KF_R(0.5) * off * (off + KF_R(1.0))};
    return p;
}
KF_FUNCTION kf_real kf_interpolate(kf_parabola p, const kf_real *values, int from, int stride) {
    return p.low * values[from] + p.middle * values[from + stride] + p.high * values[from + 2 * stride];
}

/* These are the steps of refine. kf_see reads the state of node i of three layers of the coarser level. */
KF_FUNCTION void kf_see(const kf_nested_arguments *a, const kf_span span[3], kf_index begin, int i,
                        kf_real (*seen)[3 * KF_LAYER]) {
    const int layer = kf_row_of(i, KF_LAYER), row = kf_row_of(i, KF_SEEN_U);
    const kf_crossing c = kf_look_at_coarse(&a->coarse, begin + kf_along(&span[0], i - row * KF_SEEN_U) +
                                                            kf_along(&span[1], row - layer * KF_SEEN_V) +
                                                            kf_along(&span[2], layer));
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        seen[q][i] = c.value[q];
}
/* Interpolates rows between the coarser level's rows, in two layers of KF_FINE_V rows. */
KF_FUNCTION void kf_make_rows(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3], int i,
                              kf_real (*layers)[2 * KF_LAYER], kf_real (*rows)[3 * KF_LAYER]) {
    const int row = kf_row_of(i, KF_SEEN_U), layer = row / KF_FINE_V;
    const kf_parabola p = kf_parabola_at(a, t, 1, &span[1], row % KF_FINE_V);
    const int from = layer * KF_LAYER + (p.from - row) * KF_SEEN_U + i;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        rows[q][i] = kf_interpolate(p, layers[q], from, KF_SEEN_U);
}
KF_FUNCTION void kf_make_ghost(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3], int i,
                               kf_real (*rows)[3 * KF_LAYER], kf_real *kept, int stride) {
    const kf_parabola p = kf_parabola_at(a, t, 0, &span[0], i % KF_FINE_U);
    kf_crossing c;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        c.value[q] = kf_interpolate(p, rows[q], i / KF_FINE_U * KF_SEEN_U + p.from, 1);
    kf_keep(&a->fine, KF_FINE_MOMENTS, c, KF_R(a->scale), kept, stride);
}

#if KF_CUDA
#if KF_EDGES
/* Writes the populations of a ghost to `fresh` (edges.h). */
KF_FUNCTION void kf_put_fresh(const kf_nested_side *a, kf_stored *fresh, const kf_real *kept) {
    const long long values = kf_edge_values(a, KF_EDGE_GHOSTS);
    KF_UNROLL
    for (int i = 0; i < 27; i++)
        fresh[i * values] = kf_to_store(kept[i]);
}
/* Writes a ghost to `fresh`, and returns whether the grid does not store it, too. */
KF_FUNCTION int kf_is_put_fresh(const kf_nested_side *a, const kf_tile *t, const kf_span s[3], int u, int v,
                                int w, const kf_real *kept) {
    const int along_u = s[0].from + u, along_v = s[1].from + v, along_w = s[2].from + w, across = t->axis[2];
    const int y = across == 0   ? along_u
                  : across == 1 ? along_w
                                : along_v,
              z = across == 2 ? along_w : along_v;
    kf_stored *fresh = kf_fresh_place(a, 0, across == 0 ? along_w : along_u, y, z);
    if (!fresh) return 0;
    kf_put_fresh(a, fresh, kept);
    return !kf_is_fresh_in_grid(a, y, z);
}
#endif
/* Computes and writes the ghosts of a tile, one ghost in each thread. */
KF_FUNCTION void kf_put_ghosts(const kf_nested_arguments *a, const kf_tile *tile, const kf_span span[3],
                               const kf_span ghosts[3], kf_real (*rows)[3 * KF_LAYER]) {
    enum { ROWS = KF_FINE_U * KF_FINE_V };
    const kf_index begin = kf_node(&a->fine, 0, 0, 0);
    KF_EACH_THREAD(t, KF_REFINE_THREADS) {
        const int node = kf_node_of(tile, t, ROWS, 2), u = node % KF_FINE_U, v = node / KF_FINE_U % KF_FINE_V,
                  w = node / ROWS;
        kf_real kept[KF_KEPT_OF_NODE(KF_FINE_MOMENTS)];
        if (u >= ghosts[0].count || v >= ghosts[1].count || w >= ghosts[2].count) continue;
        kf_make_ghost(a, tile, span, node, rows, kept, 1);
#if KF_EDGES
        if (kf_is_put_fresh(&a->fine, tile, ghosts, u, v, w, kept)) continue;
#endif
        kf_put_node(&a->fine, KF_FINE_MOMENTS,
                    begin + kf_along(&ghosts[0], u) + kf_along(&ghosts[1], v) + kf_along(&ghosts[2], w), kept,
                    KF_R(a->scale));
    }
}
#endif

/* Interpolates the finer level's ghosts in the cells beside the nested box, eight in each. It uses the 27
 * cells of the coarser level around it: along each axis the parabola through three of them. */
#define KF_THREADS KF_REFINE_THREADS
#define KF_BLOCKS  6
KF_BLOCK_KERNEL(refine, kf_nested_arguments) {
    enum { T = KF_THREADS };
    KF_SHARED kf_real seen[KF_CROSSING][3 * KF_LAYER], layers[KF_CROSSING][2 * KF_LAYER];
    const kf_tile tile = kf_tile_of(a, block_x);
    const kf_span span[3] = {kf_span_around(a, &tile, 0), kf_span_around(a, &tile, 1),
                             kf_span_around(a, &tile, 2)};
    const kf_span ghosts[3] = {kf_span_of_ghosts(a, &tile, 0), kf_span_of_ghosts(a, &tile, 1),
                               kf_span_of_ghosts(a, &tile, 2)};
    const kf_index begin = kf_node(&a->coarse, 0, 0, 0);
    (void)block_y;
    KF_TOGETHER KF_EACH_OF(i, 3 * KF_LAYER, T) {
        kf_see(a, span, begin, kf_node_of(&tile, i, KF_LAYER, 3), seen);
    }
    KF_BARRIER;
    const kf_parabola low = kf_parabola_at(a, &tile, 2, &span[2], 0),
                      high = kf_parabola_at(a, &tile, 2, &span[2], 1);
    KF_TOGETHER KF_EACH_OF(i, KF_LAYER, T) {
        KF_UNROLL
        for (int q = 0; q < KF_CROSSING; q++) {
            layers[q][i] = kf_interpolate(low, seen[q], i, KF_LAYER);
            layers[q][i + KF_LAYER] = kf_interpolate(high, seen[q], i, KF_LAYER);
        }
    }
    KF_BARRIER; /* rows of the finer level now replace what was read */
    KF_TOGETHER KF_EACH_OF(i, 2 * KF_FINE_V * KF_SEEN_U, T) {
        kf_make_rows(a, &tile, span, i, layers, seen);
    }
    KF_BARRIER;
#if KF_CUDA
    kf_put_ghosts(a, &tile, span, ghosts, seen);
#else
    kf_real kept[KF_KEPT_OF_NODE(KF_FINE_MOMENTS)][KF_PRIVATE(T)];
    KF_EACH_THREAD(t, T) {
        kf_make_ghost(a, &tile, span, t, seen, &kept[0][KF_OWN(t)], KF_PRIVATE(T));
    }
    kf_put(&a->fine, KF_FINE_MOMENTS, ghosts, KF_FINE_U, KF_FINE_V, T, &kept[0][0], KF_R(a->scale));
#endif
}

/* --- To the coarser level --- */

enum {
    KF_LINES_U = 2 * KF_NESTED_TILE_U + 2, /* lines of nodes across a tile's layer */
    KF_LINES_V = 2 * KF_NESTED_TILE_V + 2,
    KF_LINES = KF_LINES_U * KF_LINES_V,
    KF_CELLS = KF_NESTED_TILE_U * KF_NESTED_TILE_V
};

/* Returns the first of the four nodes in a line from which the middle of a cell is computed. Two of them
 * are the cell's own. All are in the box, because ghosts are no longer right when the coarser level has
 * come to the same time. */
KF_FUNCTION int kf_line_from(const kf_nested_arguments *a, int axis, int cell) {
    const int before = 2 * cell + a->ghosts[axis] - 1, last = a->end[axis] - 4,
              highest = before > last ? last : before,
              inside = highest < a->ghosts[axis] ? a->ghosts[axis] : highest;
    return a->periodic[axis] ? before : inside;
}
KF_FUNCTION kf_span kf_span_within(const kf_nested_arguments *a, const kf_tile *t, int i) {
    const int axis = t->axis[i], first = kf_line_from(a, axis, t->cell[i]),
              last = kf_line_from(a, axis, t->cell[i] + t->cells[i] - 1) + 3;
    const kf_span s = {first, last + 1 - first, a->periodic[axis] ? a->end[axis] : KF_NO_PERIOD,
                       kf_stride_along(&a->fine, axis)};
    return s;
}
KF_FUNCTION kf_span kf_span_of_cells(const kf_nested_arguments *a, const kf_tile *t, int i) {
    const int axis = t->axis[i];
    const kf_span s = {a->first[axis] + t->cell[i], t->cells[i], a->coarse.grid.nodes[axis],
                       kf_stride_along(&a->coarse, axis)};
    return s;
}
/* The places in a span of the first of the four nodes of a cell's line, and of the first of its own two. */
typedef struct kf_line {
    int from, own;
} kf_line;
KF_FUNCTION kf_line kf_line_of(const kf_nested_arguments *a, const kf_tile *t, int i, const kf_span *s,
                               int number) {
    const int axis = t->axis[i], cell = t->cell[i] + (number < t->cells[i] ? number : t->cells[i] - 1);
    const kf_line l = {kf_line_from(a, axis, cell) - s->from, 2 * cell + a->ghosts[axis] - s->from};
    return l;
}
/* Returns minus an eighth of the second difference along a line of four nodes. */
KF_FUNCTION kf_real kf_off_line(kf_real a, kf_real b, kf_real c, kf_real d) {
    return KF_R(1.0 / 16.0) * (b + c - a - d);
}
KF_FUNCTION kf_real kf_off_places(const kf_real *values, int from, int stride) {
    return kf_off_line(values[from], values[from + stride], values[from + 2 * stride],
                       values[from + 3 * stride]);
}

KF_FUNCTION kf_real kf_share_of(int own, int k) {
    return k == own || k == own + 1 ? KF_R(0.5) : KF_R(0.0);
}
/* Returns what node k of a line contributes to minus an eighth of the second difference. */
KF_FUNCTION kf_real kf_part_of(int k) {
    return k == 1 || k == 2 ? KF_R(1.0 / 16.0) : KF_R(-1.0 / 16.0);
}
/* The sums over a line across the layer: the mean of the cell's own two nodes, and minus an eighth of the
 * second difference. */
typedef struct kf_line_sums {
    kf_crossing mean, off;
} kf_line_sums;
KF_FUNCTION kf_line_sums kf_no_sums(void) {
    kf_line_sums s;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        s.mean.value[q] = s.off.value[q] = KF_R(0.0);
    return s;
}
KF_FUNCTION kf_line_sums kf_add_node(kf_line_sums s, kf_crossing c, kf_real share, kf_real part) {
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++) {
        s.mean.value[q] += share * c.value[q];
        s.off.value[q] += part * c.value[q];
    }
    return s;
}
/* Stores the mean of line i, and the mean less an eighth of the second difference. */
KF_FUNCTION void kf_keep_line(kf_line_sums s, int i, kf_real (*mean)[KF_LINES], kf_real (*middle)[KF_LINES]) {
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++) {
        mean[q][i] = s.mean.value[q];
        middle[q][i] = s.mean.value[q] + s.off.value[q];
    }
}

/* The first step of coarsen reads the lines across the layer. */
#if KF_CUDA
KF_FUNCTION int kf_is_in_region(const kf_kinetic_region *region, int x, int y, int z) {
    return x >= region->low[0] && x < region->high[0] && y >= region->low[1] && y < region->high[1] &&
           z >= region->low[2] && z < region->high[2];
}
/* Returns whether a line belongs to one of the tile's own cells. Of the lines beside them only the mean is
 * used. */
KF_FUNCTION int kf_is_own_line(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3], int u,
                               int v) {
    const int from_u = kf_line_of(a, t, 0, &span[0], 0).own, from_v = kf_line_of(a, t, 1, &span[1], 0).own;
    return u >= from_u && u < from_u + 2 * t->cells[0] && v >= from_v && v < from_v + 2 * t->cells[1];
}
/* Sums the values of four adjacent threads, in whole warps. */
KF_FUNCTION kf_real kf_sum_of_four(kf_real value) {
    value += __shfl_xor_sync(0xffffffffU, value, 1);
    return value + __shfl_xor_sync(0xffffffffU, value, 2);
}
/* Reads node k of line (u, v). With KF_EDGES the nodes across x have a separate array. One read serves
 * both, because a block visits it once. Where a still finer grid covers nodes, the grid has their state:
 * the exchange writes it there, and the flow's kernel leaves these nodes out. */
KF_FUNCTION kf_crossing kf_look_in_line(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3],
                                        int u, int v, int k) {
    const kf_index node =
        kf_node(&a->fine, 0, 0, 0) + kf_along(&span[0], u) + kf_along(&span[1], v) + kf_along(&span[2], k);
#if KF_EDGES
    const kf_nested_side *fine = &a->fine;
    const kf_stored *first = kf_address(fine, fine->populations.source, 0, node);
    kf_int64 apart = kf_address(fine, fine->populations.source, 1, node) - first;
    const int x = span[2].from + k, y = kf_place_along(&span[0], u), z = kf_place_along(&span[1], v);
    if (t->axis[2] == 0 && !kf_is_in_region(&fine->covered, x, y, z)) {
        first = (const kf_stored *)fine->edges.inner + kf_inner_index(fine, x, y, z);
        apart = kf_edge_values(fine, KF_EDGE_INNER);
    }
    return kf_look_apart(fine, first, apart);
#else
    (void)t;
    return kf_look_at_fine(&a->fine, node);
#endif
}
/* Reads the lines. Across x the four nodes of a line are in one or two sectors of memory. There four
 * threads read one node each, so that each sector is fetched once. Elsewhere one thread reads all four in
 * turn. */
KF_FUNCTION void kf_see_lines(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3],
                              kf_real (*mean)[KF_LINES], kf_real (*middle)[KF_LINES]) {
    const int together = t->axis[2] == 0, own = kf_line_of(a, t, 2, &span[2], 0).own;
    enum { WARPS = (4 * KF_LINES + 31) / 32 };
    KF_EACH_OF(n, together ? 32 * WARPS : KF_LINES, KF_COARSEN_THREADS) {
        const int i = together ? n / 4 : n, row = kf_row_of(i, KF_LINES_U), u = i - row * KF_LINES_U;
        const int inner = kf_is_own_line(a, t, span, u, row), first = together ? n % 4 : 0,
                  end = together ? first + 1 : 4;
        kf_line_sums sums = kf_no_sums();
        _Pragma("unroll 1") for (int k = first; k < end; k++) {
            if (i >= KF_LINES || (!inner && k != own && k != own + 1)) continue;
            sums =
                kf_add_node(sums, kf_look_in_line(a, t, span, u, row, k), kf_share_of(own, k), kf_part_of(k));
        }
        if (together) {
            KF_UNROLL
            for (int q = 0; q < KF_CROSSING; q++) {
                sums.mean.value[q] = kf_sum_of_four(sums.mean.value[q]);
                sums.off.value[q] = kf_sum_of_four(sums.off.value[q]);
            }
        }
        if (first == 0 && i < KF_LINES) kf_keep_line(sums, i, mean, middle);
    }
}
#else
KF_FUNCTION void kf_see_lines(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3],
                              kf_real (*mean)[KF_LINES], kf_real (*middle)[KF_LINES]) {
    const int own = kf_line_of(a, t, 2, &span[2], 0).own;
    const kf_index begin = kf_node(&a->fine, 0, 0, 0);
    kf_index along[4];
    kf_real share[4];
    for (int k = 0; k < 4; k++) {
        along[k] = kf_along(&span[2], k);
        share[k] = kf_share_of(own, k);
    }
    KF_TOGETHER for (int i = 0; i < KF_LINES; i++) {
        const int row = kf_row_of(i, KF_LINES_U);
        const kf_index line = begin + kf_along(&span[0], i - row * KF_LINES_U) + kf_along(&span[1], row);
        kf_line_sums sums = kf_no_sums();
        KF_UNROLL
        for (int k = 0; k < 4; k++)
            sums = kf_add_node(sums, kf_look_at_fine(&a->fine, line + along[k]), share[k], kf_part_of(k));
        kf_keep_line(sums, i, mean, middle);
    }
}
#endif

/* Returns value q at the centre of a cell. */
KF_FUNCTION kf_real kf_middle_of(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3],
                                 int cell, int q, const kf_real *mean, const kf_real *middle) {
    const kf_line u = kf_line_of(a, t, 0, &span[0], cell % KF_NESTED_TILE_U),
                  v = kf_line_of(a, t, 1, &span[1], cell / KF_NESTED_TILE_U);
    const int first = q * KF_LINES, own = first + v.own * KF_LINES_U + u.own,
              along_u = first + v.own * KF_LINES_U + u.from, along_v = first + v.from * KF_LINES_U + u.own;
    return KF_R(0.25) *
               (middle[own] + middle[own + 1] + middle[own + KF_LINES_U] + middle[own + KF_LINES_U + 1]) +
           KF_R(0.5) *
               (kf_off_places(mean, along_u, 1) + kf_off_places(mean, along_u + KF_LINES_U, 1) +
                kf_off_places(mean, along_v, KF_LINES_U) + kf_off_places(mean, along_v + 1, KF_LINES_U));
}
KF_FUNCTION void kf_keep_cell(const kf_nested_arguments *a, kf_real (*found)[KF_CELLS], int cell,
                              kf_real *kept, int stride) {
    kf_crossing c;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        c.value[q] = found[q][cell];
    kf_keep(&a->coarse, KF_COARSE_MOMENTS, c, KF_R(a->scale), kept, stride);
}

#if KF_CUDA
/* Writes the cells of a tile, one cell in each thread. */
KF_FUNCTION void kf_put_cells(const kf_nested_arguments *a, const kf_tile *tile, const kf_span cells[3],
                              kf_real (*found)[KF_CELLS]) {
    const kf_index begin = kf_node(&a->coarse, 0, 0, 0);
    KF_EACH_OF(cell, KF_CELLS, KF_COARSEN_THREADS) {
        const int u = cell % KF_NESTED_TILE_U, v = cell / KF_NESTED_TILE_U;
        kf_real kept[KF_KEPT_OF_NODE(KF_COARSE_MOMENTS)];
        if (u >= cells[0].count || v >= cells[1].count) continue;
        kf_keep_cell(a, found, cell, kept, 1);
        kf_put_node(&a->coarse, KF_COARSE_MOMENTS,
                    begin + kf_along(&cells[0], u) + kf_along(&cells[1], v) + kf_along(&cells[2], 0), kept,
                    KF_R(a->scale));
    }
}
#endif

/* Computes the cells of the coarser level that the nested box covers: the mean of a cell's eight nodes,
 * less an eighth of the second difference along each axis, which is a mean across that axis. */
#undef KF_THREADS
#undef KF_BLOCKS
#define KF_THREADS KF_COARSEN_THREADS
#define KF_BLOCKS  3
KF_BLOCK_KERNEL(coarsen, kf_nested_arguments) {
    enum { T = KF_THREADS };
    KF_SHARED kf_real mean[KF_CROSSING][KF_LINES], middle[KF_CROSSING][KF_LINES],
        found[KF_CROSSING][KF_CELLS];
    const kf_tile tile = kf_tile_of(a, block_x);
    const kf_span span[3] = {kf_span_within(a, &tile, 0), kf_span_within(a, &tile, 1),
                             kf_span_within(a, &tile, 2)};
    const kf_span cells[3] = {kf_span_of_cells(a, &tile, 0), kf_span_of_cells(a, &tile, 1),
                              kf_span_of_cells(a, &tile, 2)};
    (void)block_y;
    kf_see_lines(a, &tile, span, mean, middle);
    KF_BARRIER;
    KF_TOGETHER KF_EACH_OF(i, KF_CROSSING * KF_CELLS, T) {
        (&found[0][0])[i] =
            kf_middle_of(a, &tile, span, i % KF_CELLS, i / KF_CELLS, &mean[0][0], &middle[0][0]);
    }
    KF_BARRIER;
#if KF_CUDA
    kf_put_cells(a, &tile, cells, found);
#else
    kf_real kept[KF_KEPT_OF_NODE(KF_COARSE_MOMENTS)][KF_PRIVATE(KF_CELLS)];
    KF_EACH_THREAD(t, KF_CELLS) {
        kf_keep_cell(a, found, t, &kept[0][KF_OWN(t)], KF_PRIVATE(KF_CELLS));
    }
    kf_put(&a->coarse, KF_COARSE_MOMENTS, cells, KF_NESTED_TILE_U, KF_NESTED_TILE_V, KF_CELLS, &kept[0][0],
           KF_R(a->scale));
#endif
}
