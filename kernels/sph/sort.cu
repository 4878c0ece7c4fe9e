/* The sort by cells: particles of `next` are counted, the counts are added up, and the particles go to
 * `sorted`. Ranked, those of a cell lie in the order of their identities, so that every sum has a fixed
 * order; scattered, in the order in which the atomics came. */
#include "particle.h"

KF_SCALAR_KERNEL(count_cells, kf_sph_arguments) {
    (void)y, (void)z;
    const int cell = kf_cell_of(a, kf_load(a->next.position, x, a->count));
    a->cell_of[2 * x] = cell;
    a->cell_of[2 * x + 1] = kf_atomic_count(&a->counts[cell]);
}

/* Cells are added up in groups of KF_SPH_SCAN; each of a block's threads has KF_SHARE of them. */
#define KF_THREADS 256
#define KF_SHARE   (KF_SPH_SCAN / KF_THREADS)

KF_FUNCTION int kf_share_count(const kf_sph_arguments *a, int first) {
    int sum = 0;
    for (int k = 0; k < KF_SHARE; k++)
        sum += first + k <= a->cell_count ? a->counts[first + k] : 0;
    return sum;
}

/* Sums the particles of a block's cells into tops, the first level of the scan that gives each cell its
 * first particle. */
KF_BLOCK_KERNEL(sum_cells, kf_sph_arguments) {
    KF_SHARED int part[KF_THREADS];
    (void)block_y;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        part[t] = kf_share_count(a, block_x * KF_SPH_SCAN + t * KF_SHARE);
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        if (t == 0) {
            int sum = 0;
            for (int k = 0; k < KF_THREADS; k++)
                sum += part[k];
            a->tops[block_x] = sum;
        }
    }
}

/* One block: exclusive sums of the groups. */
KF_BLOCK_KERNEL(sum_groups, kf_sph_arguments) {
    KF_SHARED int part[KF_THREADS];
    (void)block_x, (void)block_y;
    const int n = (a->cell_count + KF_SPH_SCAN) / KF_SPH_SCAN, share = (n + KF_THREADS - 1) / KF_THREADS;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        int sum = 0;
        for (int k = t * share; k < (t + 1) * share && k < n; k++)
            sum += a->tops[k];
        part[t] = sum;
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        int before = 0;
        for (int k = 0; k < t; k++)
            before += part[k];
        for (int k = t * share; k < (t + 1) * share && k < n; k++) {
            const int own = a->tops[k];
            a->tops[k] = before;
            before += own;
        }
    }
}

/* Finds where each cell begins; the counts are 0 again for the next time. */
KF_BLOCK_KERNEL(begin_cells, kf_sph_arguments) {
    KF_SHARED int part[KF_THREADS], before[KF_THREADS];
    (void)block_y;
    const int n = a->cell_count + 1;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        part[t] = kf_share_count(a, block_x * KF_SPH_SCAN + t * KF_SHARE);
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) { /* 16 groups of 16 threads: 32 additions instead of 256 */
        int sum = 0;
        for (int k = t / 16 * 16; k < t; k++)
            sum += part[k];
        before[t] = sum;
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        int at = a->tops[block_x] + before[t];
        for (int k = 15; k < t / 16 * 16; k += 16)
            at += before[k] + part[k];
        for (int k = 0; k < KF_SHARE; k++) {
            const int cell = block_x * KF_SPH_SCAN + t * KF_SHARE + k;
            if (cell >= n) break;
            a->start[cell] = at;
            at += a->counts[cell];
            a->counts[cell] = 0;
            if (cell == n - 1) a->start[n] = at;
        }
    }
}

KF_FUNCTION void kf_move(const kf_sph_arguments *a, int from, int to, int identity) {
    const int n = a->count;
    kf_keep(a->sorted.position, to, n, kf_load(a->next.position, from, n));
    kf_keep(a->sorted.velocity, to, n, kf_load(a->next.velocity, from, n));
    kf_keep(a->sorted.rate, to, n, kf_load(a->next.rate, from, n));
    if (KF_STRESS) kf_keep_stress(a->sorted.stress, to, n, kf_load_stress(a->next.stress, from, n));
    a->sorted.identity[to] = identity;
}

/* Atomic order: straight to its place. */
KF_SCALAR_KERNEL(scatter, kf_sph_arguments) {
    (void)y, (void)z;
    kf_move(a, x, a->start[a->cell_of[2 * x]] + a->cell_of[2 * x + 1], a->next.identity[x]);
}

KF_SCALAR_KERNEL(place, kf_sph_arguments) {
    (void)y, (void)z;
    const int to = a->start[a->cell_of[2 * x]] + a->cell_of[2 * x + 1];
    a->slots[2 * to] = a->next.identity[x];
    a->slots[2 * to + 1] = x;
}

/* Item x is a slot; its particle comes after those of the cell with smaller identities. */
KF_SCALAR_KERNEL(rank, kf_sph_arguments) {
    (void)y, (void)z;
    const int identity = a->slots[2 * x], from = a->slots[2 * x + 1];
    const int cell = a->cell_of[2 * from], first = a->start[cell], end = a->start[cell + 1];
    int to = first;
    if (cell == a->cell_count)
        to = x; /* these have no neighbours, and may be many */
    else
        for (int k = first; k < end; k++)
            to += a->slots[2 * k] < identity;
    kf_move(a, from, to, identity);
}
