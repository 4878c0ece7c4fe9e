/* Lists of neighbours that serve several steps: with a skin, so that they stay complete while particles move. Found in two
 * loops (KF_SEARCH_STAGED): the lanes of a warp append at the same time, side by side in memory. */
#define KF_MAKES_LISTS 1
#include "neighbours.h"

KF_SCALAR_KERNEL(make_lists, kf_sph_arguments) {
    (void)y, (void)z;
    const int i = x;
    const kf_four p = kf_load(a->sorted.position, i, a->count);
    unsigned *mine = a->hits + kf_word(a, i);
    int length = 0;
    if (!kf_inside(a, p)) {
        a->hit_count[i] = 0;
        return;
    }
    KF_FIRST_NEIGHBOURS(p, i, "", {
        (void)r2;
        if (j != i) {
            if (length < a->capacity) mine[KF_STRIDE * length] = (unsigned)j;
            length++;
        }
    })
    if (length > a->capacity) a->clock->flags |= KF_SPH_OVERFLOW;
    a->hit_count[i] = length < a->capacity ? length : a->capacity;
    kf_keep(a->list_position, i, a->count, p);
}
