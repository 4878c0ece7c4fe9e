/* Proposes one share of a landscape. All shards have the same random order of the first configs. A shard
 * takes those whose place has its remainder. */
#include <stdlib.h>

#include "base/util/memory.h"
#include "harness/search/strategies.h"

enum { REST, SHARDS, CONFIGS };
static const kf_strategy_option options[] = {
    {"i", "which shard, from 0", 0, 1e6, 0, true},
    {"n", "number of shards", 1, 1e6, 1, true},
    {"configs", "most configs in all shards together", 1, 1e12, 1e12, true},
    {.name = NULL},
};

typedef struct shard {
    uint64_t place, end, step, size, seed;
} shard;

static void *open_shard(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    shard *state = kf_allocate(sizeof *state);
    const uint64_t size = kf_space_size(space), wanted = (uint64_t)kf_strategy_setting(strategy, CONFIGS);
    *state = (shard){.place = (uint64_t)kf_strategy_setting(strategy, REST),
                     .end = wanted < size ? wanted : size,
                     .step = (uint64_t)kf_strategy_setting(strategy, SHARDS),
                     .size = size,
                     .seed = seed};
    return state;
}

static bool next(void *state, uint64_t *index) {
    shard *at = state;
    if (at->place >= at->end) return false;
    *index = kf_shuffled(at->size, at->seed, at->place);
    at->place += at->step;
    return true;
}

const kf_strategy_methods kf_strategy_shard = {
    .name = "shard",
    .summary = "every n-th config of a random sample: one part of a landscape (docs/clusters.md)",
    .open = open_shard,
    .next = next,
    .close = free,
    .options = options,
};
