/* Proposes every config in the order of the space. */
#include <stdlib.h>

#include "base/util/memory.h"
#include "harness/search/strategies.h"

typedef struct enumeration {
    uint64_t place, size;
} enumeration;

static void *open_enumeration(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    (void)strategy;
    (void)seed;
    enumeration *state = kf_allocate_zeroed(1, sizeof *state);
    state->size = kf_space_size(space);
    return state;
}

static bool next(void *state, uint64_t *index) {
    enumeration *at = state;
    if (at->place == at->size) return false;
    *index = at->place++;
    return true;
}

const kf_strategy_methods kf_strategy_enumerate = {
    .name = "enumerate",
    .summary = "every config, in the order of the space",
    .open = open_enumeration,
    .next = next,
    .close = free,
};
