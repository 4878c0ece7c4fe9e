/* Lets the gate verify every search for neighbours against a comparison of all pairs. */
#include "neighbours.h"

/* Counts each particle's neighbours, and mixes their identities into one number. It does both in the way
 * of a step's first sum and in that of its other sums. If these differ, it makes the number wrong on
 * purpose, so that the comparison fails. */
KF_SCALAR_KERNEL(find_neighbours, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x / KF_LANES)
    const int n = a->count;
    const kf_four p = kf_load(a->sorted.position, i, n);
    unsigned count = 0, mixed = 0, count_again = 0, mixed_again = 0;
    if (kf_inside(a, p)) {
        KF_FIRST_NEIGHBOURS(p, i, "omp simd reduction(+ : count, mixed)", {
            const unsigned near = r2 < a->support2 && j != i ? 1u : 0u;
            const unsigned who = (unsigned)(a->sorted.identity[j] & ~KF_SPH_WALL_BIT) + 1u;
            count += near, mixed += near * (who * 2654435761u ^ who >> 3);
        })
        KF_NEIGHBOURS(p, i, "omp simd reduction(+ : count_again, mixed_again)", {
            const unsigned near = r2 < a->support2 && j != i ? 1u : 0u;
            const unsigned who = (unsigned)(a->sorted.identity[j] & ~KF_SPH_WALL_BIT) + 1u;
            count_again += near, mixed_again += near * (who * 2654435761u ^ who >> 3);
        })
    }
    KF_ADD_LANES(unsigned, &count, &mixed, &count_again, &mixed_again)
    if (KF_LANE > 0) return;
    unsigned *to = a->found + 2 * (a->sorted.identity[i] & ~KF_SPH_WALL_BIT);
    to[0] = count;
    to[1] = count == count_again && mixed == mixed_again ? mixed : ~mixed;
}
