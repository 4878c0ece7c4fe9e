/* Particles in memory, and the cells by which they are sorted. Defines that a config or scene sets:
 *   KF_DIMENSIONS 2|3
 *   KF_LAYOUT      4: four floats side by side; 3: three, and the fourth apart; 1: each apart
 *   KF_REACH       cells in a support
 *   KF_COLUMNS     each row of cells has its own beginning and end
 *   KF_CELL_ORDER  how cells are numbered (below)
 *   KF_PERIODIC    a bit for each periodic axis
 *   KF_TEAM        several devices share the particles */
#ifndef KF_KERNELS_SPH_PARTICLE_H
#define KF_KERNELS_SPH_PARTICLE_H

#include "arguments.h"
#include "choices.h"
#include "portable.h"

#define KF_UP (KF_DIMENSIONS - 1)
#ifndef KF_TEAM
#define KF_TEAM 0
#endif
/* Returns whether several devices share the particles. On the cpu it is not a constant, so that one
 * program serves both cases. In two programs the compiler might add floats in different orders. */
#if KF_CUDA
#define KF_HAS_PARTS(a) KF_TEAM
#else
#define KF_HAS_PARTS(a) ((a)->team != NULL)
#endif

typedef struct kf_four {
    float x, y, z, w;
} kf_four;

/* fmaxf and fminf must handle NaN, which keeps loops from being vectorised. These need not. */
KF_FUNCTION float kf_larger(float a, float b) {
    return a > b ? a : b;
}
KF_FUNCTION float kf_smaller(float a, float b) {
    return a < b ? a : b;
}

#if KF_CUDA
KF_FUNCTION float kf_square_root(float x) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}
KF_FUNCTION float kf_reciprocal(float x) {
    return __fdividef(1.0f, x);
}
#else
KF_FUNCTION float kf_square_root(float x) {
    return sqrtf(x);
}
KF_FUNCTION float kf_reciprocal(float x) {
    return 1.0f / x;
}
#endif

/* Loads the four values of particle i of `count`, in the config's layout. In two dimensions z is 0. */
KF_FUNCTION kf_four kf_load(const float *KF_RESTRICT values, int i, int count) {
    kf_four v;
    (void)count;
#if KF_LAYOUT == 4 && KF_CUDA
    const float4 f = ((const float4 *)values)[i];
    v.x = f.x, v.y = f.y, v.z = f.z, v.w = f.w;
#elif KF_LAYOUT == 4
    v.x = values[4 * i], v.y = values[4 * i + 1], v.z = values[4 * i + 2], v.w = values[4 * i + 3];
#elif KF_LAYOUT == 3
    v.x = values[3 * i], v.y = values[3 * i + 1], v.z = values[3 * i + 2], v.w = values[3 * count + i];
#else
    v.x = values[i], v.y = values[count + i], v.z = values[2 * count + i], v.w = values[3 * count + i];
#endif
#if KF_DIMENSIONS == 2
    v.z = 0.0f;
#endif
    return v;
}

KF_FUNCTION void kf_keep(float *values, int i, int count, kf_four v) {
    (void)count;
#if KF_LAYOUT == 4 && KF_CUDA
    ((float4 *)values)[i] = make_float4(v.x, v.y, v.z, v.w);
#elif KF_LAYOUT == 4
    values[4 * i] = v.x, values[4 * i + 1] = v.y, values[4 * i + 2] = v.z, values[4 * i + 3] = v.w;
#elif KF_LAYOUT == 3
    values[3 * i] = v.x, values[3 * i + 1] = v.y, values[3 * i + 2] = v.z, values[3 * count + i] = v.w;
#else
    values[i] = v.x, values[count + i] = v.y, values[2 * count + i] = v.z, values[3 * count + i] = v.w;
#endif
}

/* A deviatoric stress: a symmetric tensor without trace, so that zz is -xx - yy. */
typedef struct kf_deviator {
    float xx, yy, xy, xz, yz;
} kf_deviator;

/* Puts a stress together from the four values that are stored together and the fifth, which is apart. */
KF_FUNCTION kf_deviator kf_deviator_of(kf_four four, float last) {
    kf_deviator s;
    (void)last;
    s.xx = four.x, s.yy = four.y, s.xz = 0.0f, s.yz = 0.0f;
#if KF_DIMENSIONS == 2
    s.xy = four.w;
#else
    s.xy = four.z, s.xz = four.w, s.yz = last;
#endif
    return s;
}
KF_FUNCTION kf_deviator kf_load_stress(const float *KF_RESTRICT values, int i, int count) {
    return kf_deviator_of(kf_load(values, i, count), KF_DIMENSIONS == 3 ? values[4 * count + i] : 0.0f);
}
KF_FUNCTION void kf_keep_stress(float *values, int i, int count, kf_deviator s) {
    kf_four four;
    four.x = s.xx, four.y = s.yy;
#if KF_DIMENSIONS == 2
    four.z = 0.0f, four.w = s.xy;
#else
    four.z = s.xy, four.w = s.xz, values[4 * count + i] = s.yz;
#endif
    kf_keep(values, i, count, four);
}

/* --- Cells --- */

/* Returns the distance to the nearest periodic image along an axis. A list does not record which image is
 * near. */
KF_FUNCTION float kf_nearest_image(const kf_sph_arguments *a, int axis, float d) {
    if (!((KF_PERIODIC >> axis) & 1)) return d;
    const float half = 0.5f * a->size[axis];
    return d > half ? d - a->size[axis] : d < -half ? d + a->size[axis] : d;
}

KF_FUNCTION int kf_within(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}
KF_FUNCTION int kf_cell_along(const kf_sph_arguments *a, int axis, float x) {
    return kf_within((int)((x - a->low[axis]) * a->cell_inverse[axis]), 0, a->cells[axis] - 1);
}

/* The values of KF_CELL_ORDER. KF_ROWS numbers cells row by row. The others number them block by block:
 * KF_BRICKS has blocks of 4 cells an axis, numbered row by row, and KF_MORTON blocks of 8 in Morton's
 * order. KF_RUN is the count of consecutive numbers along a row. */
#define KF_ROWS   0
#define KF_BRICKS 1
#define KF_MORTON 2
#ifndef KF_CELL_ORDER
#define KF_CELL_ORDER KF_ROWS
#endif
#if KF_CELL_ORDER != KF_ROWS
#define KF_BLOCK_BITS (KF_CELL_ORDER == KF_BRICKS ? 2 : 3)
#define KF_RUN        (KF_CELL_ORDER == KF_BRICKS ? 4 : 2)
/* Returns what the index of a cell along one axis adds to its number. place: 0 for the axis of the rows,
 * then upwards. */
KF_FUNCTION int kf_cell_share(int cell, int place) {
    const int bits = cell & ((1 << KF_BLOCK_BITS) - 1);
#if KF_CELL_ORDER == KF_BRICKS
    return bits << KF_BLOCK_BITS * place;
#else
    return ((bits & 1) | (bits & 2) << (KF_DIMENSIONS - 1) | (bits & 4) << 2 * (KF_DIMENSIONS - 1)) << place;
#endif
}
#define KF_BLOCK_CELLS     (1 << KF_BLOCK_BITS * KF_DIMENSIONS)
#define KF_ALONG_ROW(cell) (((cell) >> KF_BLOCK_BITS) * KF_BLOCK_CELLS + kf_cell_share(cell, 0))
#else
#define KF_ALONG_ROW(cell) (cell)
#endif

/* The numbers of a row's first and last cells. Cell c of the row has the number base + KF_ALONG_ROW(c). */
typedef struct kf_cell_row {
    int base, low, high;
} kf_cell_row;
KF_FUNCTION int kf_row_number(const kf_sph_arguments *a, int cx, int cy) {
#if KF_DIMENSIONS == 2
    (void)a, (void)cy;
    return cx;
#else
    return cx * a->row_step[0] + cy * a->row_step[1];
#endif
}
/* Returns the row of cells at (cx, cy). With KF_COLUMNS it has only the cells from the first to the last
 * occupied one. */
KF_FUNCTION kf_cell_row kf_row_at(const kf_sph_arguments *a, int cx, int cy) {
    kf_cell_row r;
    (void)cy;
#if KF_COLUMNS
    const int row = kf_row_number(a, cx, cy);
    const int first = a->columns[2 * row], low = a->columns[2 * row + 1], end = a->columns[2 * row + 2];
    r.base = first - low, r.low = low, r.high = low + end - first - 1;
#else
#if KF_CELL_ORDER != KF_ROWS
    const int tx = cx >> KF_BLOCK_BITS, ty = cy >> KF_BLOCK_BITS;
    r.base = (KF_DIMENSIONS == 3 ? tx * a->tiles[1] + ty : tx) * a->tiles[KF_UP] * KF_BLOCK_CELLS +
             kf_cell_share(cx, KF_UP) + (KF_DIMENSIONS == 3 ? kf_cell_share(cy, 1) : 0);
#else
    r.base = kf_row_number(a, cx, cy) * a->cells[KF_UP];
#endif
    r.low = 0, r.high = a->cells[KF_UP] - 1;
#endif
    return r;
}
KF_FUNCTION float kf_up(kf_four p) {
#if KF_DIMENSIONS == 2
    return p.y;
#else
    return p.z;
#endif
}

/* Returns whether a position is inside the domain, up to rounding. It is false for NaN. */
KF_FUNCTION int kf_inside(const kf_sph_arguments *a, kf_four p) {
    const int x = p.x >= a->low[0] && p.x <= a->high[0], y = p.y >= a->low[1] && p.y <= a->high[1];
#if KF_DIMENSIONS == 2
    return x && y;
#else
    return x && y && p.z >= a->low[2] && p.z <= a->high[2];
#endif
}
KF_FUNCTION int kf_cell_of(const kf_sph_arguments *a, kf_four p) {
    if (!kf_inside(a, p)) return a->cell_count;
    const int cx = kf_cell_along(a, 0, p.x), cy = kf_cell_along(a, 1, p.y);
    const kf_cell_row row = kf_row_at(a, cx, cy);
    const int along = kf_within(kf_cell_along(a, KF_UP, kf_up(p)), row.low, row.high);
    return row.base + KF_ALONG_ROW(along);
}

KF_FUNCTION int kf_is_wall(int identity) {
    return (identity & KF_SPH_WALL_BIT) != 0;
}

/* --- A part's own particles: all slots, or some of them where several devices share the particles --- */
/* Returns the slot of the part's own particle number `item`, or -1 if the part has fewer particles. */
KF_FUNCTION int kf_slot_of(const kf_sph_arguments *a, int item) {
    const kf_sph_share *share = a->share;
    if (item < share->inside) return share->first + item;
    return item < share->inside + share->outside ? share->gone + item - share->inside : -1;
}
#define KF_SLOT(slot, item)                                                                                  \
    const int slot = KF_HAS_PARTS(a) ? kf_slot_of(a, item) : (item);                                         \
    if (KF_HAS_PARTS(a) && slot < 0) return;

/* Returns whether a plane of cells is one of low ... high - 1, or is seen by their particles. A slab
 * without planes sees none. */
KF_FUNCTION int kf_plane_near(const kf_sph_arguments *a, int low, int high, int plane) {
    const int reach = a->team->reach;
    if (low >= high) return 0;
    int near = plane >= low - reach && plane < high + reach;
    if ((KF_PERIODIC >> a->cut_axis) & 1) {
        const int n = a->cells[a->cut_axis];
        near |= plane - n >= low - reach || plane + n < high + reach;
    }
    return near;
}
#define KF_ROWS_OF_PLANE (KF_DIMENSIONS == 3 ? a->cells[1 - a->cut_axis] : 1)
/* Returns the first cell of a plane. For the plane behind the last one it is the number of cells. */
KF_FUNCTION int kf_plane_begin(const kf_sph_arguments *a, int plane) {
#if KF_COLUMNS
    return a->columns[2 * plane * KF_ROWS_OF_PLANE];
#else
    return plane * KF_ROWS_OF_PLANE * a->cells[KF_UP];
#endif
}
/* Returns the plane of a cell inside the domain. */
KF_FUNCTION int kf_plane_of(const kf_sph_arguments *a, int cell) {
#if KF_COLUMNS
    int low = 0, high = a->cells[a->cut_axis];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (cell >= kf_plane_begin(a, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
#else
    return cell / (KF_ROWS_OF_PLANE * a->cells[KF_UP]);
#endif
}
/* Returns the set of another part that has the role of this part's `next`, or of its `sorted`. */
KF_FUNCTION const kf_sph_set *kf_next_of(const kf_sph_arguments *a, int part) {
    const kf_sph_peer *own = &a->team->peers[a->team->part];
    return &a->team->peers[part].sets[a->next.position == own->sets[1].position];
}
KF_FUNCTION const kf_sph_set *kf_sorted_of(const kf_sph_arguments *a, int part) {
    const kf_sph_peer *own = &a->team->peers[a->team->part];
    return &a->team->peers[part].sets[a->sorted.position == own->sets[1].position];
}
/* Raises a maximum that decides the next time step. */
#define KF_RAISE(a, value, what)                                                                             \
    kf_raise(KF_HAS_PARTS(a) ? &(a)->share->value[(a)->share->turn] : &(a)->clock->value, what)

/* Counts the particle in slot i in its cell, for the next sort. */
KF_FUNCTION void kf_count_in_cell(const kf_sph_arguments *a, int i, kf_four p) {
    const int cell = kf_cell_of(a, p);
    /* Others look for the particle only in the planes that the part reaches. */
    if (KF_HAS_PARTS(a) && cell != a->cell_count) {
        const int *cut = a->share->cut + a->team->part;
        if (!kf_plane_near(a, cut[0], cut[1], kf_plane_of(a, cell))) a->clock->flags |= KF_SPH_FAR;
    }
    a->cell_of[2 * i] = cell;
    a->cell_of[2 * i + 1] = kf_atomic_count(&a->counts[cell]);
}

#endif
