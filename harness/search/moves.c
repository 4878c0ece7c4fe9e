#include "harness/search/moves.h"

#include <string.h>

#include "base/util/random.h"

enum { TRIES = 200, TRIES_A_CHANGE = 50 };

bool kf_move_near(const kf_strategy *strategy, const kf_space *space, uint64_t *random, uint64_t index,
                  int changes, uint64_t *moved) {
    int at[KF_CONFIG_VALUES] = {0}, changed[KF_CONFIG_VALUES], parameters = kf_space_parameter_count(space);
    if (parameters == 0) return false;
    kf_space_positions(space, index, at);
    for (int attempt = 0; attempt < TRIES; attempt++) {
        memcpy(changed, at, sizeof changed);
        for (int left = changes + attempt / TRIES_A_CHANGE; left > 0; left--) {
            int p = (int)kf_random_below(random, (uint64_t)parameters);
            changed[p] = (int)kf_random_below(random, (uint64_t)kf_space_domain_size(space, p));
        }
        if (kf_space_positions_index(space, changed, moved) && !kf_strategy_knows(strategy, *moved))
            return true;
    }
    return false;
}

bool kf_move_anywhere(const kf_strategy *strategy, const kf_space *space, uint64_t seed, uint64_t *place,
                      uint64_t *index) {
    uint64_t size = kf_space_size(space);
    while (*place < size) {
        *index = kf_shuffled(size, seed, (*place)++);
        if (!kf_strategy_knows(strategy, *index)) return true;
    }
    return false;
}
