/* Samples uniformly without replacement, in a random order of all configs. The order is computed place by
 * place, so that a space of any size takes no memory. */
#include <stdlib.h>

#include "base/util/memory.h"
#include "harness/search/strategies.h"

typedef struct sampling {
    uint64_t place, size, seed;
} sampling;

static void *open_sampling(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    (void)strategy;
    sampling *state = kf_allocate(sizeof *state);
    *state = (sampling){0, kf_space_size(space), seed};
    return state;
}

static bool next(void *state, uint64_t *index) {
    sampling *at = state;
    if (at->place == at->size) return false;
    *index = kf_shuffled(at->size, at->seed, at->place++);
    return true;
}

const kf_strategy_methods kf_strategy_random = {
    .name = "random",
    .summary = "uniform random sampling without repetition",
    .open = open_sampling,
    .next = next,
    .close = free,
};
