/* Makes Verlet lists: lists of neighbours that serve several steps. They hold all particles up to the
 * support and a skin, so that they stay complete while particles move. With KF_SEARCH_STAGED two loops
 * make them. The lanes of a warp then append at the same time, side by side in memory. */
#define KF_MAKES_LISTS 1
#include "neighbours.h"

/* Lists each particle's neighbours within support and skin, for the steps until the next sort. A list that
 * is too short raises KF_SPH_OVERFLOW. */
KF_SCALAR_KERNEL(make_lists, kf_sph_arguments) {
    (void)y, (void)z;
    KF_SLOT(i, x)
    const kf_four p = kf_load(a->sorted.position, i, a->count);
    unsigned *mine = a->hits + kf_word(a, i);
    int length = 0;
    if (!kf_inside(a, p)) {
        a->hit_count[i] = 0;
        return;
    }
#if KF_CUDA
    KF_FIRST_NEIGHBOURS(p, i, "", {
        (void)r2;
        if (j != i) {
            if (length < a->capacity) mine[KF_STRIDE * length] = (unsigned)j;
            length++;
        }
    })
#else
    KF_NEAR_NUMBERS(kf_find_near(a, p, i, 0, kf_near))
    for (length = 0; length < kf_count && length < a->capacity; length++)
        mine[length] = (unsigned)kf_near[length];
    length = kf_count;
#endif
    if (length > a->capacity) a->clock->flags |= KF_SPH_OVERFLOW;
    a->hit_count[i] = length < a->capacity ? length : a->capacity;
    kf_keep(a->list_position, i, a->count, p);
}
