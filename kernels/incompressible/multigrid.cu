/* A V cycle of geometric multigrid on cell centres, from a residual to a correction of the pressure. It
 * smooths by damped Jacobi sweeps, sums residuals over the eight cells of a coarse one, and interpolates
 * corrections linearly as far as faces are open. The openness of a coarse face is the mean of its four
 * faces. */
#include "follow.h"
#include "grid.h"

#define KF_DONE (a->solve->done != 0)

/* Does the first sweep, or the first two at once, from the guess 0. It reads `wanted` and writes `guess`.
 * The first sweep divides by 6, so that it needs no openness. */
KF_FUNCTION kf_real kf_first_swept(const kf_grid *a, int x, int y, int z, kf_index k) {
    const kf_real *b = KF_CONSTANTS(a->wanted), damping = KF_R(a->damping), share = damping * KF_R(1.0 / 6.0);
    kf_real value = share * b[k];
    if (a->sweeps > 1) {
        const kf_links l = kf_links_of(a, a->open, k, x, y, z);
        if (l.sum > KF_R(0)) value += damping * (b[k] - share * (l.sum * b[k] - kf_around(&l, b))) / l.sum;
    }
    return value;
}
KF_KERNEL(smooth_first, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    const kf_index k = kf_place(a, x, y, z);
    KF_VALUES(a->guess)[k] = kf_first_swept(a, x, y, z, k);
}

/* Does one sweep, from `guess` to `other`. */
KF_FUNCTION kf_real kf_swept(const kf_grid *a, const kf_real *from, int x, int y, int z, kf_index k) {
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);
    const kf_real left = KF_CONSTANTS(a->wanted)[k] - l.sum * from[k] + kf_around(&l, from);
    return l.sum > KF_R(0) ? from[k] + KF_R(a->damping) * left / l.sum : KF_R(0);
}
KF_KERNEL(smooth, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    const kf_index k = kf_place(a, x, y, z);
    KF_VALUES(a->other)[k] = kf_swept(a, KF_CONSTANTS(a->guess), x, y, z, k);
}
/* Does the last sweep of the finest level. It also sums the products of its result (`other`) that the
 * solver needs. */
KF_BLOCK_KERNEL(smooth_last, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_SUMS_BEGIN
    KF_EACH_CELL_BEGIN
        const kf_real value = kf_swept(a, KF_CONSTANTS(a->guess), x, y, z, k);
        KF_VALUES(a->other)[k] = value;
        KF_SUM(0) += (double)value * (double)KF_CONSTANTS(a->wanted)[k];
        KF_SUM(1) += (double)value * (double)KF_CONSTANTS(a->image)[k];
    KF_EACH_CELL_END
    KF_SUMS_END(2, a->partial)
}

KF_FUNCTION int kf_coarse_place(const kf_grid *a, int x, int y, int z) {
    return (int)a->coarse_origin + x + a->coarse_row * y + a->coarse_plane * z;
}

/* Sums the residual over the eight cells of a coarse one. The extent is coarse cells. */
KF_FUNCTION kf_real kf_restricted(const kf_grid *a, int x, int y, int z) {
    const kf_real *from = KF_CONSTANTS(a->guess), *b = KF_CONSTANTS(a->wanted);
    kf_real sum = KF_R(0);
    KF_UNROLL
    for (int i = 0; i < 8; i++) {
        const int fx = 2 * x + i % 2, fy = 2 * y + i / 2 % 2, fz = 2 * z + i / 4;
#if KF_CUDA
        if (fx < a->cells[0] && fy < a->cells[1] && fz < a->cells[2]) {
            const kf_index k = kf_place(a, fx, fy, fz);
            const kf_links l = kf_links_of(a, a->open, k, fx, fy, fz);
            sum += b[k] - l.sum * from[k] + kf_around(&l, from);
        }
#else
        /* Beyond the last row or plane this one is read once more, with the factor 0 (kf_same). */
        const int row = fy < a->cells[1] ? fy : a->cells[1] - 1,
                  plane = fz < a->cells[2] ? fz : a->cells[2] - 1;
        const kf_index k = kf_place(a, fx, row, plane);
        const kf_links l = kf_links_of(a, a->open, k, fx, row, plane);
        const kf_real left = b[k] - l.sum * from[k] + kf_around(&l, from);
        sum += fx < a->cells[0] ? kf_same(fy, row) * kf_same(fz, plane) * left : KF_R(0);
#endif
    }
    return KF_R(0.5) * sum;
}
KF_KERNEL(restrict_residual, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_VALUES(a->coarse_wanted)[kf_coarse_place(a, x, y, z)] = kf_restricted(a, x, y, z);
}

/* Adds the coarse level's correction to `guess`. The extent is cells. */
KF_FUNCTION kf_real kf_interpolated(const kf_grid *a, int x, int y, int z) {
    const kf_real *e = KF_CONSTANTS(a->coarse_guess);
    const int at[3] = {x, y, z}, stride[3] = {1, a->coarse_row, a->coarse_plane};
    const int own = kf_coarse_place(a, x / 2, y / 2, z / 2);
    const unsigned here = a->coarse_open[own];
    (void)here;
    kf_real value = e[own];
    KF_UNROLL
    for (int i = 0; i < 3; i++) {
        const int up = at[i] % 2, half = at[i] / 2, n = a->coarse_cells[i], wraps = kf_is_periodic(a, i);
#if KF_CUDA
        const int step = up ? (wraps && half == n - 1 ? -(n - 1) : 1) : (wraps && half == 0 ? n - 1 : -1);
        const int to = own + step * stride[i];
        const unsigned word = up ? a->coarse_open[to] : here;
#else
        const int step = wraps && half == (up ? n - 1 : 0) ? (1 - 2 * up) * (n - 1) : 2 * up - 1;
        const int to = own + step * stride[i];
        const unsigned word = a->coarse_open[own + up * (to - own)];
#endif
        const int open = (int)(word >> (8 * i) & 255);
        const kf_real share = KF_R(0.25) * (open < KF_OPEN ? KF_R(open) * KF_R(1.0 / KF_OPEN) : KF_R(1));
        value += share * (e[to] - e[own]);
    }
    return value;
}
KF_KERNEL(interpolate, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_VALUES(a->guess)[kf_place(a, x, y, z)] += kf_interpolated(a, x, y, z);
}

/* Encloses what the `threads` threads of a block do for each cell (x, y, z) of the grid, at place k. */
#define KF_EACH_OF_GRID(g, threads, body)                                                                    \
    KF_EACH_THREAD_SCALAR(t, threads) {                                                                      \
        for (int i = t; i < (g)->cells[0] * (g)->cells[1] * (g)->cells[2]; i += (threads)) {                 \
            const int line = i / (g)->cells[0], z = line / (g)->cells[1];                                    \
            const int x = i - line * (g)->cells[0], y = line - z * (g)->cells[1];                            \
            const kf_index k = kf_place(g, x, y, z);                                                         \
            body                                                                                             \
        }                                                                                                    \
    }                                                                                                        \
    KF_BARRIER;
#define KF_SWEEP(g, threads, from, to)                                                                       \
    KF_EACH_OF_GRID(g, threads, KF_VALUES(to)[k] = kf_swept(g, KF_CONSTANTS(from), x, y, z, k);)

/* Solves the coarsest level in one block, by an even number of sweeps from 0 between `guess` and `other`. */
KF_BLOCK_KERNEL(solve_coarsest, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    (void)block_x, (void)block_y;
    KF_EACH_OF_GRID(a, KF_THREADS, KF_VALUES(a->guess)[k] = KF_R(0);)
    for (int sweep = 0; sweep < a->sweeps; sweep += 2) {
        KF_SWEEP(a, KF_THREADS, a->guess, a->other)
        KF_SWEEP(a, KF_THREADS, a->other, a->guess)
    }
}

/* Computes the open shares of coarse faces. The extent is coarse cells + 1. outflow_ratio: an
 * outflow's openness on the coarse level over that on this level. It is larger, since the pressure outside
 * is fewer coarse cells away. */
KF_SCALAR_KERNEL(coarsen, kf_incompressible_arguments) {
    KF_FOLLOW;
    const int at[3] = {x, y, z};
    unsigned word = 0;
    for (int c = 0; c < 3; c++) {
        const int i = (c + 1) % 3, j = (c + 2) % 3;
        int fine[3], sum = 0;
        fine[c] = 2 * at[c] < a->cells[c] ? 2 * at[c] : a->cells[c];
        if (at[i] >= a->coarse_cells[i] || at[j] >= a->coarse_cells[j]) continue;
        if (fine[c] == a->cells[c] && kf_is_periodic(a, c)) continue;
        for (int n = 0; n < 4; n++) {
            fine[i] = 2 * at[i] + n % 2;
            fine[j] = 2 * at[j] + n / 2;
            if (fine[i] < a->cells[i] && fine[j] < a->cells[j])
                sum += (int)(a->open[kf_place(a, fine[0], fine[1], fine[2])] >> (8 * c) & 255);
        }
        const int edge = fine[c] == 0 || fine[c] == a->cells[c];
        const double ratio = edge && !kf_is_periodic(a, c) ? a->outflow_ratio[2 * c + (fine[c] > 0)] : 1.0;
        int share = (int)(ratio * sum / 4.0 + 0.5);
        share = share > 255 ? 255 : share;
        word |= (unsigned)share << (8 * c);
    }
    a->coarse_open[kf_coarse_place(a, x, y, z)] = word;
}
