/* Lists of neighbours that serve several steps: with a skin, so that they stay complete while particles move. */
#define KF_MAKES_LISTS 1
#include "neighbours.h"

KF_SCALAR_KERNEL(make_lists, kf_sph_arguments) {
    (void)y, (void)z;
    const int i = x;
    const kf_four p = kf_load(a->sorted.position, i, a->count);
    unsigned *mine = a->hits + kf_word(a, i);
    int home[3], length = 0;
    kf_home_of(a, p, home);
    if (!kf_inside(a, p)) {
        a->hit_count[i] = 0;
        return;
    }
    KF_ONE_BY_ONE for (int k = 0; k < KF_RANGES; k++) {
        const kf_range r = kf_candidates(a, p, home, k);
        KF_SOME for (int j = r.first; j < r.end; j++) {
            KF_DISTANCE(r)
            if (r2 < a->list_support2 && j != i) {
                if (length < a->capacity) mine[KF_STRIDE * length] = (unsigned)j;
                length++;
            }
        }
    }
    if (length > a->capacity) a->clock->flags |= KF_SPH_OVERFLOW;
    a->hit_count[i] = length < a->capacity ? length : a->capacity;
    kf_keep(a->list_position, i, a->count, p);
}
