/* Conjugate gradients (Hestenes and Stiefel 1952) for the pressure. In the equation of a cell, the sum
 * over its faces of openness times the difference of pressures is the net flow into the cell.
 * The preconditioner that needs no other file is here, an incomplete factorisation. A solve is a fixed list
 * of launches. Those after the residual is small enough return at once (solve->done). */
#include "follow.h"
#include "grid.h"

#define KF_DONE (a->solve->done != 0)

/* Computes the residual r in cell k from the pressure p. mean is that of the right-hand side. */
#define KF_RESIDUAL_HERE                                                                                     \
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);                                                  \
    const kf_real right = KF_CONSTANTS(a->right)[k] - (l.sum > KF_R(0) ? mean : KF_R(0));                    \
    const kf_real r = right - l.sum * p[k] + kf_around(&l, p);                                               \
    KF_VALUES(a->residual)[k] = r;
KF_BLOCK_KERNEL(residual, kf_incompressible_arguments) {
    KF_FOLLOW;
    KF_SUMS_BEGIN
    const kf_real *p = KF_CONSTANTS(a->pressure), mean = a->singular ? KF_R(a->solve->mean) : KF_R(0);
    KF_EACH_CELL_BEGIN
        KF_RESIDUAL_HERE
        KF_SUM(0) += (double)r * (double)r;
        KF_SUM(1) += (double)right * (double)right;
    KF_EACH_CELL_END
    KF_SUMS_END(2, a->partial)
}

/* Computes the direction of the next step: p = z + beta p. */
KF_KERNEL(direct, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    const kf_index k = kf_place(a, x, y, z);
    const kf_real beta = KF_R(a->solve->beta);
    kf_real *p = KF_VALUES(a->direction);
    const kf_real *preconditioned = KF_CONSTANTS(a->preconditioned ? a->corrected : a->residual);
    p[k] = preconditioned[k] + beta * p[k];
}

/* Computes q = A p, and the product p q. */
KF_BLOCK_KERNEL(apply, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_SUMS_BEGIN
    const kf_real *p = KF_CONSTANTS(a->direction);
    KF_EACH_CELL_BEGIN
        const kf_links l = kf_links_of(a, a->open, k, x, y, z);
        const kf_real q = l.sum * p[k] - kf_around(&l, p);
        KF_VALUES(a->image)[k] = q;
        KF_SUM(0) += (double)q * (double)p[k];
    KF_EACH_CELL_END
    KF_SUMS_END(1, a->partial)
}

/* Makes a step along p. */
KF_BLOCK_KERNEL(advance, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_SUMS_BEGIN
    const kf_real alpha = KF_R(a->solve->alpha);
    KF_EACH_CELL_BEGIN
        const kf_real r = KF_CONSTANTS(a->residual)[k] - alpha * KF_CONSTANTS(a->image)[k];
        KF_VALUES(a->pressure)[k] += alpha * KF_CONSTANTS(a->direction)[k];
        KF_VALUES(a->residual)[k] = r;
        KF_SUM(0) += (double)r * (double)r;
    KF_EACH_CELL_END
    KF_SUMS_END(1, a->partial)
}

/* Adds the whole correction to the pressure, for multigrid without conjugate gradients. */
KF_KERNEL(add_correction, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    const kf_index k = kf_place(a, x, y, z);
    KF_VALUES(a->pressure)[k] += KF_CONSTANTS(a->corrected)[k];
}
KF_BLOCK_KERNEL(residual_again, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_SUMS_BEGIN
    const kf_real *p = KF_CONSTANTS(a->pressure), mean = a->singular ? KF_R(a->solve->mean) : KF_R(0);
    KF_EACH_CELL_BEGIN
        KF_RESIDUAL_HERE
        KF_SUM(0) += (double)r * (double)r;
    KF_EACH_CELL_END
    KF_SUMS_END(1, a->partial)
}

/* Sums z r and z q for a preconditioner that has written z. */
KF_BLOCK_KERNEL(products, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_SUMS_BEGIN
    KF_EACH_CELL_BEGIN
        const double corrected = (double)KF_CONSTANTS(a->corrected)[k];
        KF_SUM(0) += corrected * (double)KF_CONSTANTS(a->residual)[k];
        KF_SUM(1) += corrected * (double)KF_CONSTANTS(a->image)[k];
    KF_EACH_CELL_END
    KF_SUMS_END(2, a->partial)
}

/* --- Incomplete factorisation: IC(0) with the cells ordered by colour, red (even x + y + z) first
 * ---------------- */

/* Returns the pivot of a black cell: its diagonal less the contributions of its red neighbours. */
KF_FUNCTION kf_real kf_black_pivot(const kf_grid *a, const kf_links *l, int x, int y, int z) {
    const int at[3] = {x, y, z}, stride[3] = {1, a->row, a->plane};
    kf_real pivot = l->sum;
    (void)stride;
    KF_UNROLL
    for (int i = 0; i < 6; i++) {
        int to[3] = {at[0], at[1], at[2]};
        const int axis = i / 2, n = a->cells[axis];
        to[axis] += i % 2 ? 1 : -1;
        if (kf_is_periodic(a, axis)) to[axis] = to[axis] < 0 ? n - 1 : to[axis] == n ? 0 : to[axis];
        if (l->open[i] > KF_R(0) && to[axis] >= 0 && to[axis] < n) {
            const kf_links other = kf_links_of(a, a->open, l->to[i], to[0], to[1], to[2]);
            pivot -= l->open[i] * l->open[i] / other.sum;
        }
    }
    return pivot > KF_R(0.01) * l->sum ? pivot : KF_R(0.01) * l->sum;
}
/* Substitutes forwards: a red cell is r / pivot, and a black cell uses its red neighbours. */
KF_SCALAR_KERNEL(factor_red, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE || (x + y + z) % 2 != 0) return;
    const kf_index k = kf_place(a, x, y, z);
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);
    KF_VALUES(a->corrected)[k] = l.sum > KF_R(0) ? KF_CONSTANTS(a->residual)[k] / l.sum : KF_R(0);
}
KF_SCALAR_KERNEL(factor_black, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE || (x + y + z) % 2 == 0) return;
    const kf_index k = kf_place(a, x, y, z);
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);
    const kf_real *red = KF_CONSTANTS(a->corrected), *right = KF_CONSTANTS(a->residual);
    const kf_real black =
        l.sum > KF_R(0) ? (right[k] + kf_around(&l, red)) / kf_black_pivot(a, &l, x, y, z) : KF_R(0);
    KF_VALUES(a->corrected)[k] = black;
}
/* Substitutes backwards: red cells again, with the results of the black cells. */
KF_SCALAR_KERNEL(factor_back, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE || (x + y + z) % 2 != 0) return;
    const kf_index k = kf_place(a, x, y, z);
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);
    kf_real *corrected = KF_VALUES(a->corrected);
    if (l.sum > KF_R(0)) corrected[k] += kf_around(&l, corrected) / l.sum;
}

/* --- Scalars: one block adds up what the blocks left
 * ---------------------------------------------------------------- */

#define KF_TOTALS(count)                                                                                     \
    KF_SHARED double shared_sums[3][KF_THREADS];                                                             \
    (void)block_x, (void)block_y;                                                                            \
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {                                                                   \
        for (int i = 0; i < (count); i++) {                                                                  \
            double sum = 0.0;                                                                                \
            for (int b = t; b < a->blocks; b += KF_THREADS)                                                  \
                sum += a->partial[(long long)i * a->partial_room + b];                                       \
            shared_sums[i][t] = sum;                                                                         \
        }                                                                                                    \
    }                                                                                                        \
    for (int half = KF_THREADS / 2; half > 0; half /= 2) {                                                   \
        KF_BARRIER;                                                                                          \
        KF_EACH_THREAD_SCALAR(t, KF_THREADS) {                                                               \
            if (t < half)                                                                                    \
                for (int i = 0; i < (count); i++)                                                            \
                    shared_sums[i][t] += shared_sums[i][t + half];                                           \
        }                                                                                                    \
    }                                                                                                        \
    KF_EACH_THREAD_SCALAR(t, KF_THREADS)                                                                     \
        if (t == 0)
#define KF_TOTAL(i) shared_sums[i][0]

/* Begins a solve from the sums of the divergence. */
KF_BLOCK_KERNEL(begin_solve, kf_incompressible_arguments) {
    KF_FOLLOW;
    KF_TOTALS(3) {
        kf_solve_state *s = a->solve;
        s->cells = KF_TOTAL(1);
        s->mean = KF_TOTAL(1) > 0.0 ? KF_TOTAL(0) / KF_TOTAL(1) : 0.0;
        s->divergence = KF_TOTAL(2);
        s->beta = s->alpha = 0.0;
        s->iterations = 0;
    }
}

KF_FUNCTION void kf_judge_residual(const kf_grid *a, kf_solve_state *s, double square) {
    s->residual = sqrt(square / s->scale);
    s->done = square <= s->limit && (s->iterations >= a->least_iterations || square == 0.0);
}
KF_BLOCK_KERNEL(begin_iterations, kf_incompressible_arguments) {
    KF_FOLLOW;
    KF_TOTALS(2) {
        kf_solve_state *s = a->solve;
        const double asked = a->tolerance * a->tolerance * KF_TOTAL(1);
        s->limit = asked > a->floor ? asked : a->floor;
        s->scale = s->limit / (a->tolerance * a->tolerance);
        s->rz = KF_TOTAL(0);
        kf_judge_residual(a, s, KF_TOTAL(0));
    }
}
KF_BLOCK_KERNEL(find_alpha, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_TOTALS(1) {
        kf_solve_state *s = a->solve;
        s->alpha = KF_TOTAL(0) > 0.0 ? s->rz / KF_TOTAL(0) : 0.0; /* the direction is only rounding error */
    }
}
/* Ends a step: judges the new residual, and without a preconditioner finds the next beta. */
KF_BLOCK_KERNEL(judge, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_TOTALS(1) {
        kf_solve_state *s = a->solve;
        s->iterations++;
        if (!a->preconditioned) {
            const double rz = KF_TOTAL(0);
            s->beta = s->rz > 0.0 ? rz / s->rz : 0.0;
            s->rz = rz;
        }
        kf_judge_residual(a, s, KF_TOTAL(0));
    }
}
/* Computes beta after a preconditioner that has written z. A preconditioner that is not the same symmetric
 * matrix in each step needs the formula of Polak and Ribiere: beta = z (r - r before) / (z r before),
 * where r - r before is - alpha q. */
KF_BLOCK_KERNEL(find_beta, kf_incompressible_arguments) {
    KF_FOLLOW;
    if (KF_DONE) return;
    KF_TOTALS(2) {
        kf_solve_state *s = a->solve;
        const double change = a->flexible ? -s->alpha * KF_TOTAL(1) : KF_TOTAL(0);
        s->beta = s->iterations > 0 && s->rz > 0.0 ? change / s->rz : 0.0;
        s->rz = KF_TOTAL(0);
    }
}
KF_SCALAR_KERNEL(end_solve, kf_incompressible_arguments) {
    KF_FOLLOW;
    (void)x, (void)y, (void)z;
    kf_solve_state *s = a->solve;
    s->solves++;
    s->all_iterations += s->iterations;
    if (!s->done) {
        s->missed++;
        if (!(s->residual <= s->worst)) s->worst = s->residual;
    }
}
