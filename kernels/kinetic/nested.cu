/* Nested grids: what crosses between a level and the next finer one, whose cells are half as wide and which
 * takes two steps for one. Density and velocity are the same on both; the second moments that a collision
 * leaves stand for the rate of strain and are scaled by the host's factor (docs/physics.md). A block works on
 * a tile of cells of the coarser level: it looks once at each node that they need, and sums along one axis
 * after the other. Defines: those of state.cu. */
#include "nested_arguments.h"
typedef kf_nested_side kf_module_arguments; /* what the functions of the headers take */

#include "left.h"
#include "moments.h"

#if KF_CUDA
/* So many blocks have to find room, which leaves registers for all values of a node: they are on their way at
 * once. Where a compiler saves registers for more blocks it loads some values after it has used others, and
 * a thread waits for memory again and again. */
#undef KF_LAUNCH_BOUNDS
#define KF_LAUNCH_BOUNDS __launch_bounds__(KF_THREADS, KF_BLOCKS)
#endif

enum { KF_CROSSING = 9 };
/* Density - 1, velocity, and halves of the second moments without their trace, xx yy xy xz yz, over the
 * density; all but the velocity in KF_UNIT. */
typedef struct kf_crossing {
    kf_real value[KF_CROSSING];
} kf_crossing;

#define KF_ADD_SUMS(i, name, cx, cy, cz)                                                                     \
    s.one += f_##name;                                                                                       \
    if ((cx) != 0) s.x += KF_R(cx) * f_##name;                                                               \
    if ((cy) != 0) s.y += KF_R(cy) * f_##name;                                                               \
    if ((cz) != 0) s.z += KF_R(cz) * f_##name;                                                               \
    if ((cx) != 0) s.xx += f_##name;                                                                         \
    if ((cy) != 0) s.yy += f_##name;                                                                         \
    if ((cz) != 0) s.zz += f_##name;                                                                         \
    if ((cx) * (cy) != 0) s.xy += KF_R((cx) * (cy)) * f_##name;                                              \
    if ((cx) * (cz) != 0) s.xz += KF_R((cx) * (cz)) * f_##name;                                              \
    if ((cy) * (cz) != 0) s.yz += KF_R((cy) * (cz)) * f_##name;

/* This is what populations after a collision say, whose momentum has half of a step's force too much. */
KF_FUNCTION kf_crossing kf_of_populations(const kf_nested_side *a, const kf_real *populations) {
    kf_sums s;
    kf_crossing c;
    s.one = s.x = s.y = s.z = s.xx = s.yy = s.zz = s.xy = s.xz = s.yz = KF_R(0.0);
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
    KF_EACH_VELOCITY(KF_ADD_SUMS)
    (void)a;
    const kf_real density = KF_R(KF_UNIT) + s.one, per_density = kf_reciprocal(density);
    const kf_real ux = (s.x - KF_R(0.5) * KF_BODY_X) * per_density,
                  uy = (s.y - KF_R(0.5) * KF_BODY_Y) * per_density,
                  uz = (s.z - KF_R(0.5) * KF_BODY_Z) * per_density;
    const kf_real xx = s.xx - ux * (s.x + s.x - density * ux), yy = s.yy - uy * (s.y + s.y - density * uy),
                  zz = s.zz - uz * (s.z + s.z - density * uz);
    const kf_real third = (xx + yy + zz) * KF_R(1.0 / 3.0), half = KF_R(0.5) * per_density;
    c.value[0] = s.one;
    c.value[1] = ux;
    c.value[2] = uy;
    c.value[3] = uz;
    c.value[4] = half * (xx - third);
    c.value[5] = half * (yy - third);
    c.value[6] = half * (s.xy - ux * s.y - uy * s.x + density * ux * uy);
    c.value[7] = half * (s.xz - ux * s.z - uz * s.x + density * ux * uz);
    c.value[8] = half * (s.yz - uy * s.z - uz * s.y + density * uy * uz);
    return c;
}

#define KF_LOAD_TO_ARRAY(i, name, cx, cy, cz)                                                                \
    populations[i] = kf_from_store(*kf_address(a, a->populations.source, i, k));
#define KF_STORE_FROM_ARRAY(i, name, cx, cy, cz)                                                             \
    *kf_address(a, a->populations.source, i, k) = kf_to_store(populations[i]);

/* This is what node k of a level says. */
KF_FUNCTION kf_crossing kf_look(const kf_nested_side *a, kf_index k) {
    kf_real populations[27];
#if KF_MOMENTS
    const kf_held h = kf_load_held(a, a->populations.source, k);
    if (!kf_is_listed(&h)) {
        const kf_moments m = kf_to_moments(&h);
        const kf_real per_density = kf_reciprocal(KF_R(KF_UNIT) + m.deviation),
                      third = (m.xx + m.yy + KF_ZZ(&m)) * KF_R(1.0 / 3.0);
        kf_crossing c;
        c.value[0] = m.deviation;
        c.value[1] = m.ux;
        c.value[2] = m.uy;
        c.value[3] = m.uz;
        c.value[4] = (m.xx - third) * per_density;
        c.value[5] = (m.yy - third) * per_density;
        c.value[6] = m.xy * per_density;
        c.value[7] = m.xz * per_density;
        c.value[8] = m.yz * per_density;
        return c;
    }
    kf_held_populations(a, &h, populations, 1);
#else
    KF_EACH_VELOCITY(KF_LOAD_TO_ARRAY)
#endif
    return kf_of_populations(a, populations);
}

/* Gives a node of a level the state after a collision that says c. What is stored of it is kept first, so
 * that a cpu works it out for many nodes at once. */
#if KF_MOMENTS
enum { KF_KEPT = KF_CROSSING };
#else
enum { KF_KEPT = 27 };
#endif
/* The moments of a level that a node says, whose second ones are scaled to it. */
KF_FUNCTION kf_moments kf_moments_of(kf_crossing c, kf_real scale) {
    const kf_real factor = (KF_R(KF_UNIT) + c.value[0]) * scale;
    kf_moments m;
    m.deviation = c.value[0];
    m.ux = c.value[1];
    m.uy = c.value[2];
    m.uz = c.value[3];
    m.xx = c.value[4] * factor;
    m.yy = c.value[5] * factor;
    m.xy = c.value[6] * factor;
    m.xz = c.value[7] * factor;
    m.yz = c.value[8] * factor;
#if KF_BODY_FORCE
    m.zz = -(m.xx + m.yy);
#endif
    return m;
}
/* Makes kept[i * stride], i < KF_KEPT. */
KF_FUNCTION void kf_keep(const kf_nested_side *a, kf_crossing c, kf_real scale, kf_real *kept, int stride) {
    (void)a;
#if KF_MOMENTS
    (void)scale;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        kept[q * stride] = c.value[q];
#else
    const kf_moments m = kf_moments_of(c, scale);
    kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, kept, stride);
#endif
}
/* --- Tiles -----------------------------------------------------------------------------------------------
 */

/* The cells of a block, along u, v and across the layer. */
typedef struct kf_tile {
    int axis[3], cell[3]; /* of the first, counted from the nested box */
    int cells[3];
} kf_tile;

/* Finds the cells of a block: its box by the first tile of each, then its place in the layers. */
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
                       {low[u] + at_u, low[v] + at_v, low[across] + tile / tiles_u / tiles_v},
                       {left_u < KF_NESTED_TILE_U ? left_u : KF_NESTED_TILE_U,
                        left_v < KF_NESTED_TILE_V ? left_v : KF_NESTED_TILE_V, 1}};
    return t;
}

/* Nodes of a level that a tile needs along an axis. */
typedef struct kf_span {
    int from, count;
    int period; /* places beyond the grid are on its other side, so far away */
    kf_index stride;
} kf_span;

/* Place of a node that may lie beyond a grid that is periodic along the axis. */
KF_FUNCTION int kf_around(int place, int nodes) {
    return place < 0 ? place + nodes : place >= nodes ? place - nodes : place;
}
KF_FUNCTION kf_index kf_stride_along(const kf_nested_side *a, int axis) {
    return axis == 0 ? 1 : axis == 1 ? (kf_index)a->grid.row_pitch : (kf_index)a->memory.plane_pitch;
}
/* Returns what node i of a span adds to an index. Behind the last it is the last: tiles at an end have less
 * to do. */
KF_FUNCTION kf_index kf_along(const kf_span *s, int i) {
    return kf_around(s->from + (i < s->count ? i : s->count - 1), s->period) * s->stride;
}
enum { KF_NO_PERIOD = 1 << 30 };

#if KF_CUDA
#define KF_TOGETHER
#else /* items of a loop that a cpu works out many at a time, which take no address of a variable in it */
#define KF_TOGETHER _Pragma("omp simd")
#endif
/* Divides i below 65536 / n by n: vectors have no division. */
KF_FUNCTION int kf_row_of(int i, int n) {
    return (int)((unsigned)i * (65536U / (unsigned)n + 1U) >> 16);
}
/* Which node of so many layers thread t of a GPU works on: neighbours along x, the axis across some layers,
 * are neighbours in memory. */
KF_FUNCTION int kf_node_of(const kf_tile *tile, int t, int in_layer, int layers) {
#if KF_CUDA
    if (tile->axis[2] == 0 && t < in_layer * layers) return t % layers * in_layer + t / layers;
#endif
    (void)tile, (void)in_layer, (void)layers;
    return t;
}

/* --- Writing ----------------------------------------------------------------------------------------------
 */

#if KF_MOMENTS
KF_FUNCTION void kf_put_node(const kf_nested_side *a, kf_index k, const kf_real *kept, int stride,
                             kf_real scale) {
    kf_crossing c;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        c.value[q] = kept[q * stride];
    kf_store_moments(a, a->populations.source, k, kf_moments_of(c, scale));
}
#elif KF_CUDA
KF_FUNCTION void kf_put_node(const kf_nested_side *a, kf_index k, const kf_real *kept, int stride,
                             kf_real scale) {
    (void)scale;
    KF_UNROLL
    for (int i = 0; i < KF_KEPT; i++)
        *kf_address(a, a->populations.source, i, k) = kf_to_store(kept[i * stride]);
}
#endif

/* Writes what threads kept for the nodes of spans, so many in a row and rows in a layer, in order of
 * kf_node_of. */
KF_FUNCTION void kf_put(const kf_nested_side *a, const kf_tile *tile, const kf_span span[3], int length,
                        int rows, int threads, const kf_real *kept, kf_real scale) {
    const kf_index begin = kf_node(a, 0, 0, 0);
#if KF_MOMENTS || KF_CUDA
    KF_EACH_THREAD_SCALAR(t, threads) {
        const int i = kf_node_of(tile, t, length * rows, threads / (length * rows)), u = i % length,
                  v = i / length % rows, w = i / length / rows;
        if (u < span[0].count && v < span[1].count && w < span[2].count)
            kf_put_node(a, begin + kf_along(&span[2], w) + kf_along(&span[1], v) + kf_along(&span[0], u),
                        kept + KF_OWN(t), KF_PRIVATE(threads), scale);
    }
#else /* populations lie far apart: a cpu writes rows of one after the other */
    const int in_line = span[0].stride == 1 && span[0].from + span[0].count <= span[0].period;
    (void)scale, (void)tile;
    for (int i = 0; i < KF_KEPT; i++)
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
#endif
}

/* --- To the finer level ----------------------------------------------------------------------------------
 */

enum {
    KF_SEEN_U = KF_NESTED_TILE_U + 2, /* nodes of the coarser level */
    KF_SEEN_V = KF_NESTED_TILE_V + 2,
    KF_LAYER = KF_SEEN_U * KF_SEEN_V,
    KF_FINE_U = 2 * KF_NESTED_TILE_U,
    KF_FINE_V = 2 * KF_NESTED_TILE_V
};

/* The middle of the three nodes that a cell's ghosts lie among: at a face of the domain one farther in. */
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
/* The parabola through three nodes of a span, the first of which is `from`, at ghost j of a tile. */
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

/* Steps of refine. The first looks at node i of the three layers of the coarser level. */
KF_FUNCTION void kf_see(const kf_nested_arguments *a, const kf_span span[3], kf_index begin, int i,
                        kf_real (*seen)[3 * KF_LAYER]) {
    const int layer = kf_row_of(i, KF_LAYER), row = kf_row_of(i, KF_SEEN_U);
    const kf_crossing c =
        kf_look(&a->coarse, begin + kf_along(&span[0], i - row * KF_SEEN_U) +
                                kf_along(&span[1], row - layer * KF_SEEN_V) + kf_along(&span[2], layer));
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        seen[q][i] = c.value[q];
}
/* Rows of nodes of the coarser level between its own, two layers of KF_FINE_V. */
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
    kf_keep(&a->fine, c, KF_R(a->scale), kept, stride);
}

/* The ghosts of the finer level in cells beside the nested box, eight in each, from the 27 cells of the
 * coarser one around it: along each axis the parabola through three of them. */
#define KF_THREADS KF_REFINE_THREADS
#define KF_BLOCKS  3
KF_BLOCK_KERNEL(refine, kf_nested_arguments) {
    enum { T = KF_THREADS };
    KF_SHARED kf_real seen[KF_CROSSING][3 * KF_LAYER], layers[KF_CROSSING][2 * KF_LAYER];
    kf_real kept[KF_KEPT][KF_PRIVATE(T)];
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
    KF_BARRIER; /* what was seen makes room for rows of the finer level */
    KF_TOGETHER KF_EACH_OF(i, 2 * KF_FINE_V * KF_SEEN_U, T) {
        kf_make_rows(a, &tile, span, i, layers, seen);
    }
    KF_BARRIER;
    KF_EACH_THREAD(t, T) {
        kf_make_ghost(a, &tile, span, kf_node_of(&tile, t, KF_FINE_U * KF_FINE_V, 2), seen,
                      &kept[0][KF_OWN(t)], KF_PRIVATE(T));
    }
    kf_put(&a->fine, &tile, ghosts, KF_FINE_U, KF_FINE_V, T, &kept[0][0], KF_R(a->scale));
}

/* --- To the coarser level --------------------------------------------------------------------------------
 */

enum {
    KF_LINES_U = 2 * KF_NESTED_TILE_U + 2, /* lines across a tile's layer */
    KF_LINES_V = 2 * KF_NESTED_TILE_V + 2,
    KF_LINES = KF_LINES_U * KF_LINES_V,
    KF_CELLS = KF_NESTED_TILE_U * KF_NESTED_TILE_V
};

/* The first of the four nodes in a line that the middle of a cell comes from, all of the box: ghosts are not
 * right any more when the coarser level has come to the same time. The cell's own two are among them. */
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
/* Places in a span of the first of the four nodes of a cell's line, and of the first of its own two. */
typedef struct kf_line {
    int from, own;
} kf_line;
KF_FUNCTION kf_line kf_line_of(const kf_nested_arguments *a, const kf_tile *t, int i, const kf_span *s,
                               int number) {
    const int axis = t->axis[i], cell = t->cell[i] + (number < t->cells[i] ? number : t->cells[i] - 1);
    const kf_line l = {kf_line_from(a, axis, cell) - s->from, 2 * cell + a->ghosts[axis] - s->from};
    return l;
}
/* Returns the part of four nodes in a line in an eighth of the second difference along it. */
KF_FUNCTION kf_real kf_off_line(kf_real a, kf_real b, kf_real c, kf_real d) {
    return KF_R(1.0 / 16.0) * (b + c - a - d);
}
KF_FUNCTION kf_real kf_off_places(const kf_real *values, int from, int stride) {
    return kf_off_line(values[from], values[from + stride], values[from + 2 * stride],
                       values[from + 3 * stride]);
}

/* The four nodes of a line across the layer: what each adds to an index, and its share in the mean of the two
 * that are the cell's own. A GPU has the code for one node, and finds both for each. Of lines beside the
 * tile's own cells nothing but that mean is taken: there it leaves the other two nodes out. */
typedef struct kf_four {
    int own;
    kf_index off[4];
    kf_real share[4];
} kf_four;
KF_FUNCTION kf_real kf_share_of(int own, int k) {
    return k == own || k == own + 1 ? KF_R(0.5) : KF_R(0.0);
}
#if KF_CUDA
#define KF_ONE_BY_ONE  _Pragma("unroll 1")
#define KF_OFF_OF(k)   kf_along(&span[2], k)
#define KF_SHARE_OF(k) kf_share_of(four->own, k)
#define KF_LEAVES(k)   (!inner && (k) != four->own && (k) != four->own + 1)
#else
#define KF_ONE_BY_ONE  KF_UNROLL
#define KF_OFF_OF(k)   four->off[k]
#define KF_SHARE_OF(k) four->share[k]
#define KF_LEAVES(k)   0
#endif
KF_FUNCTION int kf_is_own_line(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3], int u,
                               int v) {
    const int from_u = kf_line_of(a, t, 0, &span[0], 0).own, from_v = kf_line_of(a, t, 1, &span[1], 0).own;
    return u >= from_u && u < from_u + 2 * t->cells[0] && v >= from_v && v < from_v + 2 * t->cells[1];
}

/* Steps of coarsen. Of line i across the layer: the mean of the cell's own two nodes, and that less the
 * second difference along it. */
KF_FUNCTION void kf_see_line(const kf_nested_arguments *a, const kf_tile *t, const kf_span span[3],
                             kf_index begin, const kf_four *four, int i, kf_real (*mean)[KF_LINES],
                             kf_real (*middle)[KF_LINES]) {
    const int row = kf_row_of(i, KF_LINES_U), inner = kf_is_own_line(a, t, span, i - row * KF_LINES_U, row);
    const kf_index line = begin + kf_along(&span[0], i - row * KF_LINES_U) + kf_along(&span[1], row);
    kf_crossing of_own, off;
    (void)inner;
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        of_own.value[q] = off.value[q] = KF_R(0.0);
    KF_ONE_BY_ONE
    for (int k = 0; k < 4; k++) {
        if (KF_LEAVES(k)) continue;
        const kf_real part = k == 1 || k == 2 ? KF_R(1.0 / 16.0) : KF_R(-1.0 / 16.0);
        const kf_crossing c = kf_look(&a->fine, line + KF_OFF_OF(k));
        KF_UNROLL
        for (int q = 0; q < KF_CROSSING; q++) {
            of_own.value[q] += KF_SHARE_OF(k) * c.value[q];
            off.value[q] += part * c.value[q];
        }
    }
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++) {
        mean[q][i] = of_own.value[q];
        middle[q][i] = of_own.value[q] + off.value[q];
    }
}
/* Returns value q in the middle of a cell. */
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
    kf_keep(&a->coarse, c, KF_R(a->scale), kept, stride);
}

/* Cells of the coarser level that the nested box covers: the mean of a cell's eight nodes, less an eighth of
 * the second difference along each axis, means across it. */
#undef KF_THREADS
#undef KF_BLOCKS
#define KF_THREADS KF_COARSEN_THREADS
#define KF_BLOCKS  2
KF_BLOCK_KERNEL(coarsen, kf_nested_arguments) {
    enum { T = KF_THREADS };
    KF_SHARED kf_real mean[KF_CROSSING][KF_LINES], middle[KF_CROSSING][KF_LINES],
        found[KF_CROSSING][KF_CELLS];
    kf_real kept[KF_KEPT][KF_PRIVATE(KF_CELLS)];
    const kf_tile tile = kf_tile_of(a, block_x);
    const kf_span span[3] = {kf_span_within(a, &tile, 0), kf_span_within(a, &tile, 1),
                             kf_span_within(a, &tile, 2)};
    const kf_span cells[3] = {kf_span_of_cells(a, &tile, 0), kf_span_of_cells(a, &tile, 1),
                              kf_span_of_cells(a, &tile, 2)};
    const kf_index begin = kf_node(&a->fine, 0, 0, 0);
    kf_four four;
    four.own = kf_line_of(a, &tile, 2, &span[2], 0).own;
    KF_UNROLL
    for (int k = 0; k < 4; k++) {
        four.off[k] = kf_along(&span[2], k);
        four.share[k] = kf_share_of(four.own, k);
    }
    (void)block_y;
    KF_TOGETHER KF_EACH_OF(i, KF_LINES, T) {
        kf_see_line(a, &tile, span, begin, &four, i, mean, middle);
    }
    KF_BARRIER;
    KF_TOGETHER KF_EACH_OF(i, KF_CROSSING * KF_CELLS, T) {
        (&found[0][0])[i] =
            kf_middle_of(a, &tile, span, i % KF_CELLS, i / KF_CELLS, &mean[0][0], &middle[0][0]);
    }
    KF_BARRIER;
    KF_EACH_THREAD(t, KF_CELLS) {
        const int cell = t < KF_CELLS ? t : 0;
        kf_keep_cell(a, found, cell, &kept[0][KF_OWN(t)], KF_PRIVATE(KF_CELLS));
    }
    kf_put(&a->coarse, &tile, cells, KF_NESTED_TILE_U, KF_NESTED_TILE_V, KF_CELLS, &kept[0][0],
           KF_R(a->scale));
}
