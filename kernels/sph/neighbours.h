/* The search for a particle's neighbours, which are the particles closer than the support. A sum over them
 * is written once, and KF_SEARCH says how they are found:
 *
 *     KF_NEIGHBOURS(p, i, "omp simd reduction(+ : sx, sy)", { sx += ...; sy += ...; })
 *
 *     KF_SEARCH_CELLS   cell by cell, as in the thesis
 *     KF_SEARCH_ROWS    row by row: the cells of a row that the support reaches hold one range of
 *                       particles. With KF_PRUNE the range ends where the sphere of the support does
 *     KF_SEARCH_MASKS   rows; the first sum of a step (KF_FIRST_NEIGHBOURS) stores a bit for each
 *                       candidate, and the others visit the particles whose bits are set
 *     KF_SEARCH_LIST    Verlet lists, which lists.cu makes every few steps
 *     KF_SEARCH_STAGED  rows in two loops: the first only computes bits of the candidates, the second
 *                       visits the near ones, so that all lanes of a warp have work in it
 *
 * The staged search keeps KF_STAGE_SLOTS words with a set bit at a time, on a GPU in shared memory for
 * KF_SUM_THREADS threads. With KF_KEEPS_SLOTS the first sum of a step leaves these words for the others.
 * On the cpu the second loop is one of whole vectors (near.h), for lists too.
 *
 * On a GPU a thread loads KF_IN_FLIGHT candidates or listed neighbours at a time. KF_LANES adjacent
 * threads may share a particle's candidates or list (searches cells, rows and list). Then KF_ADD_LANES
 * gives each of them the sum of all.
 *
 * The body sees j, dx, dy, dz (own position less j's) and r2. On the cpu the candidates of a range are the
 * SIMD loop, and the body runs for all of them. What it adds must vanish beyond the support, as kf_weight
 * does. */
#ifndef KF_KERNELS_SPH_NEIGHBOURS_H
#define KF_KERNELS_SPH_NEIGHBOURS_H

#include "particle.h"

#define KF_SEARCH_CELLS  0
#define KF_SEARCH_ROWS   1
#define KF_SEARCH_MASKS  2
#define KF_SEARCH_LIST   3
#define KF_SEARCH_STAGED 4

#define KF_PERIODIC_UP ((KF_PERIODIC >> KF_UP) & 1)
#define KF_WIDTH       (2 * KF_REACH + 1)
#define KF_SLOW        (KF_DIMENSIONS == 3 ? KF_WIDTH * KF_WIDTH : KF_WIDTH) /* rows around a particle */
#if KF_SEARCH == KF_SEARCH_CELLS
#define KF_PARTS KF_WIDTH
#elif KF_CELL_ORDER != KF_ROWS /* the runs of consecutive cells that a particle's part of a row touches */
#define KF_PARTS ((KF_WIDTH + KF_RUN - 2) / KF_RUN + 1 + KF_PERIODIC_UP)
#else
#define KF_PARTS (KF_PERIODIC_UP ? 3 : 1)
#endif
#define KF_RANGES (KF_SLOW * KF_PARTS)

/* The candidates first ... end - 1, and the particle's position as they see it across periodic faces. */
typedef struct kf_neighbour_range {
    int first, end;
    float x, y, z;
} kf_neighbour_range;

/* Returns the distance from a position in a cell to the cell that lies `offset` cells further along an
 * axis, in cells. */
KF_FUNCTION float kf_gap(float in_cell, int offset) {
    return kf_larger(kf_larger((float)offset - in_cell, in_cell - (float)(offset + 1)), 0.0f);
}
KF_FUNCTION int kf_wrapped(const kf_sph_arguments *a, int axis, int cell, float *x) {
    if ((KF_PERIODIC >> axis) & 1) {
        if (cell < 0)
            *x += a->size[axis], cell += a->cells[axis];
        else if (cell >= a->cells[axis])
            *x -= a->size[axis], cell -= a->cells[axis];
    }
    return cell;
}
#if KF_CELL_ORDER != KF_ROWS
/* Returns the last cell of the run of consecutive cell numbers along a row that contains this cell. It may
 * be beyond a periodic face. */
KF_FUNCTION int kf_end_of_run(const kf_sph_arguments *a, int cell) {
    const int n = a->cells[KF_UP];
    const int inside = !KF_PERIODIC_UP ? cell : cell < 0 ? cell + n : cell >= n ? cell - n : cell;
    const int end = inside | (KF_RUN - 1);
    return cell - inside + (end < n ? end : n - 1);
}
/* Returns the candidates of part k of the search for the neighbours of a particle at p, whose cell is
 * `home`. Where they lie across a periodic face, p is moved by the domain's size. With KF_PRUNE, cells
 * that the support does not reach are left out. */
#endif
KF_FUNCTION kf_neighbour_range kf_candidates(const kf_sph_arguments *a, kf_four p, const int *home, int k) {
    kf_neighbour_range r;
    r.first = r.end = 0;
    r.x = p.x, r.y = p.y, r.z = p.z;
    const int slow = k / KF_PARTS, part = k % KF_PARTS;
#if KF_DIMENSIONS == 3
    const int ox = slow / KF_WIDTH - KF_REACH, oy = slow % KF_WIDTH - KF_REACH;
#else
    const int ox = slow - KF_REACH, oy = 0;
#endif
    int low = home[KF_UP] - KF_REACH, high = home[KF_UP] + KF_REACH;
#if KF_PRUNE
    {
        const float gx = kf_gap((p.x - a->low[0]) * a->cell_inverse[0] - (float)home[0], ox),
                    gy = KF_DIMENSIONS == 3
                             ? kf_gap((p.y - a->low[1]) * a->cell_inverse[1] - (float)home[1], oy)
                             : 0.0f,
                    left = (float)(KF_REACH * KF_REACH) * 1.00001f - gx * gx - gy * gy;
        if (left <= 0.0f) return r;
        const float up = (kf_up(p) - a->low[KF_UP]) * a->cell_inverse[KF_UP],
                    reach = kf_square_root(left) + 1e-3f;
        const int l = (int)floorf(up - reach), h = (int)floorf(up + reach);
        low = l > low ? l : low, high = h < high ? h : high;
    }
#endif
    const int cx = kf_wrapped(a, 0, home[0] + ox, &r.x);
    if (cx < 0 || cx >= a->cells[0]) return r;
    int cy = 0;
#if KF_DIMENSIONS == 3
    cy = kf_wrapped(a, 1, home[1] + oy, &r.y);
    if (cy < 0 || cy >= a->cells[1]) return r;
#endif
    (void)oy;
    const kf_cell_row row = kf_row_at(a, cx, cy);
    float *up = KF_DIMENSIONS == 3 ? &r.z : &r.y;
#if KF_SEARCH == KF_SEARCH_CELLS
    low = high = kf_wrapped(a, KF_UP, low + part, up);
#elif KF_CELL_ORDER != KF_ROWS
    if (!KF_PERIODIC_UP) low = low < 0 ? 0 : low, high = high > row.high ? row.high : high;
    for (int runs = 0; runs < part && low <= high; runs++)
        low = kf_end_of_run(a, low) + 1;
    if (low > high) return r;
    const int end = kf_end_of_run(a, low), from = low;
    low = kf_wrapped(a, KF_UP, low, up);
    high = low + (end < high ? end : high) - from;
#else
    if (part == 1) {
        if (low >= 0) return r;
        high = row.high, low += a->cells[KF_UP], *up += a->size[KF_UP];
    } else if (part == 2) {
        if (high < a->cells[KF_UP]) return r;
        high -= a->cells[KF_UP], low = 0, *up -= a->size[KF_UP];
    }
#endif
#if KF_COLUMNS /* particles beyond the ends of a row are in its last cells */
    low = kf_within(low, row.low, row.high), high = kf_within(high, row.low, row.high);
#else
    low = low < row.low ? row.low : low, high = high > row.high ? row.high : high;
    if (low > high) return r;
#endif
    r.first = a->start[row.base + KF_ALONG_ROW(low)], r.end = a->start[row.base + KF_ALONG_ROW(high) + 1];
    return r;
}

KF_FUNCTION void kf_home_of(const kf_sph_arguments *a, kf_four p, int *home) {
    home[0] = kf_cell_along(a, 0, p.x), home[1] = kf_cell_along(a, 1, p.y);
    home[2] = KF_DIMENSIONS == 3 ? kf_cell_along(a, 2, p.z) : 0;
}

/* Returns the place of particle i's first word in lists and masks. Its words have the distance KF_STRIDE.
 * On a GPU the k-th words of 32 particles are adjacent, so that a warp's accesses are coalesced. */
#define KF_STRIDE (KF_CUDA ? 32 : 1)
KF_FUNCTION long long kf_word(const kf_sph_arguments *a, int i) {
    const long long n = a->capacity;
    return KF_CUDA ? (long long)(i >> 5) * n * 32 + (i & 31) : i * n;
}

#if KF_CUDA
#define KF_SIMD(pragma)
#define KF_NEAR(test)         if (test)
#define KF_LOW_BIT(word)      (__ffs((int)(word)) - 1)
#define KF_ONE_BY_ONE         _Pragma("unroll 1")
#define KF_TEXT_PRAGMA(words) _Pragma(#words)
#define KF_ANY_PRAGMA(words)  KF_TEXT_PRAGMA(words)
#define KF_SOME               KF_ANY_PRAGMA(unroll KF_IN_FLIGHT)
#else
#define KF_SIMD(pragma) _Pragma(pragma)
#define KF_NEAR(test)
#define KF_LOW_BIT(word) __builtin_ctz(word)
#define KF_ONE_BY_ONE
#define KF_SOME
#define KF_VECTOR 16 /* lanes of the widest vectors */
#endif

#ifndef KF_LANES
#define KF_LANES 1
#endif
#if KF_LANES > 1
#if KF_SEARCH == KF_SEARCH_MASKS || KF_SEARCH == KF_SEARCH_STAGED
#error "bits are one thread's"
#endif
#define KF_LANE ((int)(threadIdx.x % KF_LANES))
KF_FUNCTION unsigned kf_group(void) { /* the lanes of a warp that share a particle */
    return ((1u << KF_LANES) - 1u) << (threadIdx.x % 32 / KF_LANES * KF_LANES);
}
KF_FUNCTION float kf_sum_of_lanes(float own) {
    KF_UNROLL
    for (int other = KF_LANES / 2; other > 0; other /= 2)
        own += __shfl_xor_sync(kf_group(), own, other);
    return own;
}
KF_FUNCTION unsigned kf_sum_of_lanes(unsigned own) {
    KF_UNROLL
    for (int other = KF_LANES / 2; other > 0; other /= 2)
        own += __shfl_xor_sync(kf_group(), own, other);
    return own;
}
#define KF_ADD_LANES(type, ...)                                                                              \
    {                                                                                                        \
        type *const kf_sums[] = {__VA_ARGS__};                                                               \
        KF_UNROLL                                                                                            \
        for (int kf_s = 0; kf_s < (int)(sizeof kf_sums / sizeof *kf_sums); kf_s++)                           \
            *kf_sums[kf_s] = kf_sum_of_lanes(*kf_sums[kf_s]);                                                \
    }
#else
#define KF_LANE 0
#define KF_ADD_LANES(type, ...)                                                                              \
    {}
#endif

#define KF_DISTANCE(from)                                                                                    \
    const kf_four q = kf_load(a->sorted.position, j, a->count);                                              \
    const float dx = from.x - q.x, dy = from.y - q.y, dz = from.z - q.z;                                     \
    const float r2 = dx * dx + dy * dy + dz * dz;                                                            \
    (void)dz;

/* The values of a neighbour, besides its position, that a sum's body reads. */
#if KF_CUDA || (KF_SEARCH != KF_SEARCH_STAGED && KF_SEARCH != KF_SEARCH_LIST)
#define KF_VELOCITY_OF(j) kf_load(a->sorted.velocity, j, a->count)
#define KF_STRESS_OF(j)   kf_load_stress(a->sorted.stress, j, a->count)
#endif

/* --- Searches cells and rows: every candidate of every range --- */
#define KF_SCAN(p, pragma, ...)                                                                              \
    {                                                                                                        \
        int kf_home[3];                                                                                      \
        kf_home_of(a, p, kf_home);                                                                           \
        KF_ONE_BY_ONE for (int kf_k = 0; kf_k < KF_RANGES; kf_k++) {                                         \
            const kf_neighbour_range kf_r = kf_candidates(a, p, kf_home, kf_k);                              \
            KF_SOME KF_SIMD(pragma) for (int j = kf_r.first + KF_LANE; j < kf_r.end; j += KF_LANES) {        \
                KF_DISTANCE(kf_r)                                                                            \
                KF_NEAR(r2 < a->support2) __VA_ARGS__                                                        \
            }                                                                                                \
        }                                                                                                    \
    }

/* --- Search masks, first sum: every candidate, and a bit for each near one --- */
#if KF_CUDA
#define KF_MARK(pragma, ...)                                                                                 \
    KF_SOME for (int j = kf_b; j < kf_e; j++) {                                                              \
        KF_DISTANCE(kf_r)                                                                                    \
        if (r2 < a->support2) {                                                                              \
            kf_hits |= (j != i ? 1u : 0u) << (j - kf_b);                                                     \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#else /* two loops, since only such ones vectorise */
#define KF_MARK(pragma, ...)                                                                                 \
    _Pragma("omp simd reduction(| : kf_hits)") for (int j = kf_b; j < kf_e; j++) {                           \
        KF_DISTANCE(kf_r)                                                                                    \
        kf_hits |= (r2 < a->support2 && j != i ? 1u : 0u) << (j - kf_b);                                     \
    }                                                                                                        \
    _Pragma(pragma) for (int j = kf_b; j < kf_e; j++) {                                                      \
        KF_DISTANCE(kf_r)                                                                                    \
        __VA_ARGS__                                                                                          \
    }
#endif
#define KF_SCAN_AND_MARK(p, i, pragma, ...)                                                                  \
    {                                                                                                        \
        int kf_home[3], kf_words = 0;                                                                        \
        unsigned *kf_mine = a->hits + kf_word(a, i);                                                         \
        kf_home_of(a, p, kf_home);                                                                           \
        KF_ONE_BY_ONE for (int kf_k = 0; kf_k < KF_RANGES; kf_k++) {                                         \
            const kf_neighbour_range kf_r = kf_candidates(a, p, kf_home, kf_k);                              \
            KF_ONE_BY_ONE for (int kf_b = kf_r.first; kf_b < kf_r.end; kf_b += 32) {                         \
                const int kf_e = kf_r.end < kf_b + 32 ? kf_r.end : kf_b + 32;                                \
                unsigned kf_hits = 0;                                                                        \
                KF_MARK(pragma, __VA_ARGS__)                                                                 \
                if (kf_words < a->capacity) kf_mine[KF_STRIDE * kf_words] = kf_hits;                         \
                kf_words++;                                                                                  \
            }                                                                                                \
        }                                                                                                    \
        if (kf_words > a->capacity) a->clock->flags |= KF_SPH_OVERFLOW;                                      \
    }

/* Each lane of a warp walks through its own ranges and bits, so that each has work in every pass of the
 * loop. */
#define KF_EACH_MARKED(p, i, ...)                                                                            \
    {                                                                                                        \
        int kf_home[3], kf_k = -1, kf_b = 0, kf_e = 0, kf_w = 0;                                             \
        unsigned kf_bits = 0;                                                                                \
        const unsigned *kf_mine = a->hits + kf_word(a, i);                                                   \
        kf_neighbour_range kf_r;                                                                             \
        kf_home_of(a, p, kf_home);                                                                           \
        kf_r.x = p.x, kf_r.y = p.y, kf_r.z = p.z;                                                            \
        for (;;) {                                                                                           \
            while (kf_bits == 0) {                                                                           \
                kf_b += 32;                                                                                  \
                if (kf_b >= kf_e) {                                                                          \
                    if (++kf_k >= KF_RANGES) break;                                                          \
                    kf_r = kf_candidates(a, p, kf_home, kf_k);                                               \
                    kf_b = kf_r.first, kf_e = kf_r.end;                                                      \
                    if (kf_b >= kf_e) continue;                                                              \
                }                                                                                            \
                kf_bits = kf_w < a->capacity ? kf_mine[KF_STRIDE * kf_w] : 0u;                               \
                kf_w++;                                                                                      \
            }                                                                                                \
            if (kf_bits == 0) break;                                                                         \
            const int j = kf_b + KF_LOW_BIT(kf_bits);                                                        \
            kf_bits &= kf_bits - 1;                                                                          \
            KF_DISTANCE(kf_r)                                                                                \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

/* --- Search list (lists.cu makes the lists) --- */
/* Returns whether neighbours may lie across a periodic face. Cells are as large as the support and the
 * skin, so the answer holds while a list is kept. */
KF_FUNCTION int kf_sees_images(const kf_sph_arguments *a, const int *home) {
    int sees = 0;
    KF_UNROLL
    for (int axis = 0; axis < KF_DIMENSIONS; axis++)
        if ((KF_PERIODIC >> axis) & 1)
            sees |= home[axis] < KF_REACH || home[axis] >= a->cells[axis] - KF_REACH;
    return sees;
}
/* Like KF_DISTANCE, but to j's nearest periodic image if there may be one. */
#define KF_WAY_TO_IMAGE(from, images)                                                                        \
    const kf_four q = kf_load(a->sorted.position, j, a->count);                                              \
    float dx = from.x - q.x, dy = from.y - q.y, dz = from.z - q.z;                                           \
    if (KF_PERIODIC && (images)) {                                                                           \
        dx = kf_nearest_image(a, 0, dx), dy = kf_nearest_image(a, 1, dy);                                    \
        if (KF_DIMENSIONS == 3) dz = kf_nearest_image(a, 2, dz);                                             \
    }
#define KF_DISTANCE_TO_IMAGE(from)                                                                           \
    KF_WAY_TO_IMAGE(from, kf_images)                                                                         \
    const float r2 = dx * dx + dy * dy + dz * dz;                                                            \
    (void)dz;
#if KF_CUDA
#define KF_EACH_LISTED(p, i, pragma, ...)                                                                    \
    {                                                                                                        \
        const unsigned *kf_mine = a->hits + kf_word(a, i);                                                   \
        const int kf_length = a->hit_count[i];                                                               \
        int kf_home[3];                                                                                      \
        kf_home_of(a, p, kf_home);                                                                           \
        const int kf_images = kf_sees_images(a, kf_home);                                                    \
        (void)kf_images;                                                                                     \
        KF_SOME KF_SIMD(pragma) for (int kf_l = KF_LANE; kf_l < kf_length; kf_l += KF_LANES) {               \
            const int j = (int)kf_mine[KF_STRIDE * kf_l];                                                    \
            KF_DISTANCE_TO_IMAGE(p)                                                                          \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#endif

/* --- Search staged: bits of candidates, then the neighbours --- */
#ifndef KF_MAKES_LISTS
#define KF_MAKES_LISTS 0
#endif
#if !KF_CUDA && (KF_SEARCH == KF_SEARCH_STAGED || KF_SEARCH == KF_SEARCH_LIST)
#include "near.h"
#elif KF_SEARCH == KF_SEARCH_STAGED
KF_FUNCTION unsigned *kf_stage(void) { /* one array for all sums of a kernel */
    __shared__ unsigned words[2 * KF_STAGE_SLOTS * KF_SUM_THREADS];
    return words + threadIdx.x;
}
#define KF_STAGE                                                                                             \
    unsigned *const kf_stage_bits = kf_stage(), *const kf_stage_base =                                       \
                                                    kf_stage_bits + KF_STAGE_SLOTS * KF_SUM_THREADS;
#define KF_SLOT_OF(array, slot) array[(slot)*KF_SUM_THREADS]

/* Returns which of the candidates first ... end - 1, at most 32, are near, as bits. */
KF_FUNCTION unsigned kf_near_bits(const kf_sph_arguments *a, kf_neighbour_range r, int first, int end) {
    unsigned hits = 0, bit = 1;
    const float reach2 = KF_MAKES_LISTS ? a->list_support2 : a->support2;
    KF_SOME for (int j = first; j < end; j++) {
        KF_DISTANCE(r)
        hits |= r2 < reach2 ? bit : 0u;
        bit <<= 1;
    }
    return hits;
}
/* Stores a slot, which is a first candidate and the bits of the near ones from it on. Slot l of particle i
 * is its words 2 l and 2 l + 1. */
#define KF_KEEP_SLOT(first, hits)                                                                            \
    {                                                                                                        \
        if (kf_kept < a->capacity / 2) {                                                                     \
            kf_mine[KF_STRIDE * (2 * kf_kept)] = (unsigned)(first);                                          \
            kf_mine[KF_STRIDE * (2 * kf_kept + 1)] = (hits);                                                 \
        }                                                                                                    \
        kf_kept++;                                                                                           \
    }
#define KF_END_KEPT                                                                                          \
    {                                                                                                        \
        if (kf_kept > a->capacity / 2) a->clock->flags |= KF_SPH_OVERFLOW;                                   \
        a->hit_count[i] = kf_kept < a->capacity / 2 ? kf_kept : a->capacity / 2;                             \
    }

/* Visits the neighbours in slots 0 ... number - 1, none of which is empty. LOAD reads slot kf_l into
 * kf_bits and kf_base. */
#define KF_VISIT_SLOTS(p, number, LOAD, ...)                                                                 \
    {                                                                                                        \
        unsigned kf_bits = 0;                                                                                \
        int kf_base = 0, kf_l = 0;                                                                           \
        for (;;) {                                                                                           \
            if (kf_bits == 0) {                                                                              \
                if (kf_l == (number)) break;                                                                 \
                LOAD kf_l++;                                                                                 \
            }                                                                                                \
            const int j = kf_base + KF_LOW_BIT(kf_bits);                                                     \
            kf_bits &= kf_bits - 1;                                                                          \
            KF_DISTANCE_TO_IMAGE(p)                                                                          \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define KF_FROM_STAGE                                                                                        \
    kf_bits = KF_SLOT_OF(kf_stage_bits, kf_l), kf_base = (int)KF_SLOT_OF(kf_stage_base, kf_l);
#define KF_FROM_KEPT                                                                                         \
    kf_base = (int)kf_mine[KF_STRIDE * (2 * kf_l)], kf_bits = kf_mine[KF_STRIDE * (2 * kf_l + 1)];

#define KF_SCAN_STAGED(p, i, pragma, keeps, ...)                                                             \
    {                                                                                                        \
        KF_STAGE                                                                                             \
        int kf_home[3], kf_k = 0, kf_b = 0, kf_kept = 0;                                                     \
        unsigned *kf_mine = a->hits + kf_word(a, i);                                                         \
        kf_neighbour_range kf_r;                                                                             \
        kf_r.first = kf_r.end = 0, kf_r.x = kf_r.y = kf_r.z = 0.0f;                                          \
        kf_home_of(a, p, kf_home);                                                                           \
        const int kf_images = kf_sees_images(a, kf_home);                                                    \
        (void)kf_images, (void)kf_mine, (void)kf_kept;                                                       \
        while (kf_k < KF_RANGES || kf_b < kf_r.end) {                                                        \
            int kf_n = 0;                                                                                    \
            KF_ONE_BY_ONE while (kf_n < KF_STAGE_SLOTS) {                                                    \
                if (kf_b >= kf_r.end) {                                                                      \
                    if (kf_k == KF_RANGES) break;                                                            \
                    kf_r = kf_candidates(a, p, kf_home, kf_k++);                                             \
                    kf_b = kf_r.first;                                                                       \
                }                                                                                            \
                const int kf_e = kf_r.end < kf_b + 32 ? kf_r.end : kf_b + 32;                                \
                const unsigned kf_hits = kf_near_bits(a, kf_r, kf_b, kf_e);                                  \
                if (kf_hits != 0) {                                                                          \
                    KF_SLOT_OF(kf_stage_bits, kf_n) = kf_hits;                                               \
                    KF_SLOT_OF(kf_stage_base, kf_n) = (unsigned)kf_b;                                        \
                    kf_n++;                                                                                  \
                    if (keeps) KF_KEEP_SLOT(kf_b, kf_hits)                                                   \
                }                                                                                            \
                kf_b = kf_e;                                                                                 \
            }                                                                                                \
            KF_VISIT_SLOTS(p, kf_n, KF_FROM_STAGE, __VA_ARGS__)                                              \
        }                                                                                                    \
        if (keeps) KF_END_KEPT                                                                               \
    }
#define KF_EACH_KEPT(p, i, pragma, ...)                                                                      \
    {                                                                                                        \
        const unsigned *kf_mine = a->hits + kf_word(a, i);                                                   \
        const int kf_number = a->hit_count[i];                                                               \
        int kf_home[3];                                                                                      \
        kf_home_of(a, p, kf_home);                                                                           \
        const int kf_images = kf_sees_images(a, kf_home);                                                    \
        (void)kf_images;                                                                                     \
        KF_VISIT_SLOTS(p, kf_number, KF_FROM_KEPT, __VA_ARGS__)                                              \
    }
#endif

#if KF_SEARCH == KF_SEARCH_STAGED && KF_KEEPS_SLOTS
#define KF_FIRST_NEIGHBOURS(p, i, pragma, ...) KF_SCAN_STAGED(p, i, pragma, 1, __VA_ARGS__)
#define KF_NEIGHBOURS(p, i, pragma, ...)       KF_EACH_KEPT(p, i, pragma, __VA_ARGS__)
#elif KF_SEARCH == KF_SEARCH_STAGED
#define KF_FIRST_NEIGHBOURS(p, i, pragma, ...) KF_SCAN_STAGED(p, i, pragma, 0, __VA_ARGS__)
#define KF_NEIGHBOURS(p, i, pragma, ...)       KF_SCAN_STAGED(p, i, pragma, 0, __VA_ARGS__)
#elif KF_SEARCH == KF_SEARCH_MASKS
#define KF_FIRST_NEIGHBOURS(p, i, pragma, ...) KF_SCAN_AND_MARK(p, i, pragma, __VA_ARGS__)
#define KF_NEIGHBOURS(p, i, pragma, ...)       KF_EACH_MARKED(p, i, __VA_ARGS__)
#elif KF_SEARCH == KF_SEARCH_LIST
#define KF_FIRST_NEIGHBOURS(p, i, pragma, ...) KF_EACH_LISTED(p, i, pragma, __VA_ARGS__)
#define KF_NEIGHBOURS(p, i, pragma, ...)       KF_EACH_LISTED(p, i, pragma, __VA_ARGS__)
#else
#define KF_FIRST_NEIGHBOURS(p, i, pragma, ...) KF_SCAN(p, pragma, __VA_ARGS__)
#define KF_NEIGHBOURS(p, i, pragma, ...)       KF_SCAN(p, pragma, __VA_ARGS__)
#endif

/* Returns 1 - r/h, or 0 beyond the support. */
KF_FUNCTION float kf_weight(const kf_sph_arguments *a, float r2) {
    return kf_larger(1.0f - kf_square_root(r2) * a->inverse_support, 0.0f);
}

#endif
