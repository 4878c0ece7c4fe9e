/* The sort by cells. Particles of `next` are counted by cells, a scan of the counts gives each cell's
 * first slot, and the particles move to `sorted`. By rank, the particles of a cell have the order of their
 * identities, so that every sum has a fixed order. Scattered, they have the order of the atomics. */
#include "particle.h"

KF_SCALAR_KERNEL(count_cells, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    kf_count_in_cell(a, i, kf_load(a->next.position, i, a->count));
}

#if KF_TEAM
#define KF_TOTAL a->team->total
/* Returns whether the part keeps none of the cells first ... end - 1. */
KF_FUNCTION int kf_is_apart(const kf_sph_arguments *a, int first, int end) {
    const kf_sph_share *share = a->share;
    int apart = end < a->cell_count;
    for (int k = 0; k < 3; k++)
        apart &= end < share->window[k][0] || first > share->window[k][1];
    return apart;
}
#else
#define KF_TOTAL                   a->counts
#define kf_is_apart(a, first, end) 0
#endif

/* The scan sums groups of KF_SPH_SCAN cells. Each thread of a block has KF_SHARE of them. */
#define KF_THREADS 256
#define KF_SHARE   (KF_SPH_SCAN / KF_THREADS)

KF_FUNCTION int kf_share_count(const kf_sph_arguments *a, int first) {
    int sum = 0;
    for (int k = 0; k < KF_SHARE; k++)
        sum += first + k <= a->cell_count ? KF_TOTAL[first + k] : 0;
    return sum;
}

/* Sums the particles of a group into `tops`. This is the scan's first level. */
KF_BLOCK_KERNEL(sum_cells, kf_sph_arguments) {
    KF_SHARED int part[KF_THREADS];
    (void)block_y;
    const int apart = kf_is_apart(a, block_x * KF_SPH_SCAN, (block_x + 1) * KF_SPH_SCAN);
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        part[t] = apart ? 0 : kf_share_count(a, block_x * KF_SPH_SCAN + t * KF_SHARE);
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

/* Replaces the sums over groups by exclusive sums. It is one block. */
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

/* Computes the first slot of each cell, and sets the counts to 0 for the next sort. */
KF_BLOCK_KERNEL(begin_cells, kf_sph_arguments) {
    KF_SHARED int part[KF_THREADS], before[KF_THREADS];
    (void)block_y;
    const int n = a->cell_count + 1;
    if (kf_is_apart(a, block_x * KF_SPH_SCAN, (block_x + 1) * KF_SPH_SCAN)) return;
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        part[t] = kf_share_count(a, block_x * KF_SPH_SCAN + t * KF_SHARE);
    }
    KF_BARRIER;
    /* 16 groups of 16 threads need 32 additions in a row instead of 256. */
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
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
            at += KF_TOTAL[cell];
            KF_TOTAL[cell] = 0;
            if (cell == n - 1) a->start[n] = at;
        }
    }
}

KF_FUNCTION void kf_move(const kf_sph_arguments *a, const kf_sph_set *set, int from, int to, int identity) {
    const int n = a->count;
    kf_keep(a->sorted.position, to, n, kf_load(set->position, from, n));
    kf_keep(a->sorted.velocity, to, n, kf_load(set->velocity, from, n));
    kf_keep(a->sorted.rate, to, n, kf_load(set->rate, from, n));
    if (KF_STRESS) kf_keep_stress(a->sorted.stress, to, n, kf_load_stress(set->stress, from, n));
    a->sorted.identity[to] = identity;
}

#if !KF_TEAM
/* Moves particles to their slots, in the order of the atomics within a cell. */
KF_SCALAR_KERNEL(scatter, kf_sph_arguments) {
    (void)y, (void)z;
    kf_move(a, &a->next, x, a->start[a->cell_of[2 * x]] + a->cell_of[2 * x + 1], a->next.identity[x]);
}

KF_SCALAR_KERNEL(place, kf_sph_arguments) {
    (void)y, (void)z;
    const int to = a->start[a->cell_of[2 * x]] + a->cell_of[2 * x + 1];
    a->slots[2 * to] = a->next.identity[x];
    a->slots[2 * to + 1] = x;
}
#define kf_cell_of_slot(a, from) (a)->cell_of[2 * (from)]
#else
#include "team.h"
#endif

/* Moves the particle of slot x behind those of its cell with smaller identities. */
KF_SCALAR_KERNEL(rank, kf_sph_arguments) {
    (void)y, (void)z;
#if KF_TEAM
    if (x >= kf_filled(a)) return;
#endif
    const int identity = a->slots[2 * x], from = a->slots[2 * x + 1];
    const int cell = kf_cell_of_slot(a, from), first = a->start[cell], end = a->start[cell + 1];
    int to = first;
    /* Particles outside the domain have no neighbours and need no order, and there may be many. */
    if (cell == a->cell_count)
        to = x;
    else
        for (int k = first; k < end; k++)
            to += a->slots[2 * k] < identity;
#if KF_TEAM
    kf_move_taken(a, from, to, identity);
#else
    kf_move(a, &a->next, from, to, identity);
#endif
}
