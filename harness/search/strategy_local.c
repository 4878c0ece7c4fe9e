/* Searches greedily from many starts. It begins at the best of the presets and some random configs. It then
 * tries the configs that differ from the best one in a single parameter (and in a second one if a constraint
 * requires it), in random order, and moves as soon as one is better. If none is, it starts again: usually
 * from the best config with some changed parameters, every fourth time from a random config. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/strategies.h"

enum { NEIGHBOURS = 1 << 16, KICK_TRIES = 50, REPAIR_TRIES = 30 };

enum { RANDOM, FIRST };
static const kf_strategy_option options[] = {
    [RANDOM] = {"random", "every n-th restart begins at a random config", 1, 1e6, 4, true},
    [FIRST] = {"first", "random configs before the descent begins at the best known one", 0, 1e6, 10, true},
    {.name = NULL},
};

typedef struct kf_walk {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, order_place; /* random starts follow a shuffled order of the space */

    int preset; /* the next preset to propose */
    int first;  /* random configs proposed before the descent */
    bool has_best, has_current;
    uint64_t best, current;
    double best_us, current_us;

    uint64_t *neighbours; /* neighbours of current, shuffled */
    size_t count, next;
    bool awaiting_start; /* a new start is proposed but not told yet */
    uint64_t starts;
} kf_walk;

static void *open_walk(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    kf_walk *state = kf_allocate_zeroed(1, sizeof *state);
    state->strategy = strategy;
    state->space = space;
    state->random = seed;
    state->order_seed = kf_random_next(&state->random);
    return state;
}

static void close_walk(void *state) {
    free(((kf_walk *)state)->neighbours);
    free(state);
}

/* --- Neighbours ----------------------------------------------------------------------------------------- */

static void shuffle(kf_walk *walk, int *items, int count) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)kf_random_below(&walk->random, (uint64_t)i + 1), kept = items[i];
        items[i] = items[other];
        items[other] = kept;
    }
}

/* Repairs a change of parameter p that violates a constraint by a second random change. Otherwise the search
 * could not leave values that are linked, such as a layout and its group size. */
static bool repair(kf_walk *walk, int *positions, int p, uint64_t *index) {
    int parameters = kf_space_parameter_count(walk->space);
    for (int attempt = 0; attempt < REPAIR_TRIES; attempt++) {
        int q = (int)kf_random_below(&walk->random, (uint64_t)parameters), kept = positions[q];
        if (q == p) continue;
        positions[q] = (int)kf_random_below(&walk->random, (uint64_t)kf_space_domain_size(walk->space, q));
        bool valid = kf_space_positions_index(walk->space, positions, index);
        positions[q] = kept;
        if (valid) return true;
    }
    return false;
}

/* Lists the unknown configs that differ from current in parameter p, in random order. */
static size_t neighbours_along(kf_walk *walk, const int *positions, int p, uint64_t *found, size_t limit) {
    int size = kf_space_domain_size(walk->space, p), changed[KF_CONFIG_VALUES];
    int *order = kf_allocate((size_t)size * sizeof *order);
    size_t count = 0;
    memcpy(changed, positions, sizeof changed);
    for (int i = 0; i < size; i++)
        order[i] = i;
    shuffle(walk, order, size);
    for (int i = 0; i < size && count < limit; i++) {
        uint64_t index;
        changed[p] = order[i];
        if (order[i] == positions[p]) continue;
        if (!kf_space_positions_index(walk->space, changed, &index) && !repair(walk, changed, p, &index))
            continue;
        if (!kf_strategy_knows(walk->strategy, index)) found[count++] = index;
    }
    free(order);
    return count;
}

/* Takes one config for each parameter in turn, so that a parameter with many values does not displace the
 * others. */
static void interleave(kf_walk *walk, uint64_t *const *lists, const size_t *counts, int parameters) {
    int order[KF_CONFIG_VALUES];
    for (int p = 0; p < parameters; p++)
        order[p] = p;
    bool more = true;
    for (size_t round = 0; more; round++) {
        more = false;
        shuffle(walk, order, parameters);
        for (int i = 0; i < parameters; i++) {
            if (round >= counts[order[i]]) continue;
            walk->neighbours[walk->count++] = lists[order[i]][round];
            more = true;
        }
    }
}

/* Finds the neighbours of the current config along each parameter, the nearest values first and parameters in
 * turn. */
static void find_neighbours(kf_walk *walk) {
    int positions[KF_CONFIG_VALUES] = {0}, parameters = kf_space_parameter_count(walk->space);
    uint64_t *lists[KF_CONFIG_VALUES];
    size_t counts[KF_CONFIG_VALUES], total = 0;
    kf_space_positions(walk->space, walk->current, positions);
    for (int p = 0; p < parameters; p++) {
        lists[p] = kf_allocate((size_t)kf_space_domain_size(walk->space, p) * sizeof **lists);
        counts[p] = neighbours_along(walk, positions, p, lists[p], NEIGHBOURS);
        total += counts[p];
    }
    free(walk->neighbours);
    walk->neighbours = kf_allocate((total + 1) * sizeof *walk->neighbours);
    walk->count = walk->next = 0;
    interleave(walk, lists, counts, parameters);
    for (int p = 0; p < parameters; p++)
        free(lists[p]);
}

/* --- Starts --------------------------------------------------------------------------------------------- */

static bool next_preset(kf_walk *walk, uint64_t *index) {
    while (walk->preset < kf_space_preset_count(walk->space)) {
        kf_config config;
        const char *name = kf_space_preset_name(walk->space, walk->preset++);
        if (kf_space_preset(walk->space, name, &config, NULL) != KF_OK) continue;
        if (!kf_space_index(walk->space, &config, index, NULL, 0)) continue; /* --fix excludes it */
        if (!kf_strategy_knows(walk->strategy, *index)) return true;
    }
    return false;
}

/* Changes two or three random parameters of the best config, if the result is valid and unknown. */
static bool kick(kf_walk *walk, uint64_t *index) {
    int parameters = kf_space_parameter_count(walk->space), positions[KF_CONFIG_VALUES] = {0};
    for (int attempt = 0; attempt < KICK_TRIES && walk->has_best; attempt++) {
        kf_space_positions(walk->space, walk->best, positions);
        uint64_t changes = 2 + kf_random_below(&walk->random, 2);
        for (uint64_t i = 0; i < changes; i++) {
            int p = (int)kf_random_below(&walk->random, (uint64_t)parameters);
            uint64_t size = (uint64_t)kf_space_domain_size(walk->space, p);
            positions[p] = (int)kf_random_below(&walk->random, size);
        }
        if (kf_space_positions_index(walk->space, positions, index) &&
            !kf_strategy_knows(walk->strategy, *index))
            return true;
    }
    return false;
}

static bool random_start(kf_walk *walk, uint64_t *index) {
    uint64_t size = kf_space_size(walk->space);
    while (walk->order_place < size) {
        *index = kf_shuffled(size, walk->order_seed, walk->order_place++);
        if (!kf_strategy_knows(walk->strategy, *index)) return true;
    }
    return false;
}

static bool next_start(kf_walk *walk, uint64_t *index) {
    walk->awaiting_start = true;
    const uint64_t round = (uint64_t)kf_strategy_setting(walk->strategy, RANDOM);
    if (walk->starts++ % round != round - 1 && kick(walk, index)) return true;
    return random_start(walk, index);
}

/* --- Ask and tell --------------------------------------------------------------------------------------- */

static void move_to(kf_walk *walk, uint64_t index, double time_us) {
    walk->has_current = true;
    walk->awaiting_start = false;
    walk->current = index;
    walk->current_us = time_us;
    find_neighbours(walk);
}

static bool next(void *state, uint64_t *index) {
    kf_walk *walk = state;
    if (next_preset(walk, index)) return true;
    if (walk->first < kf_strategy_setting(walk->strategy, FIRST)) {
        walk->first++;
        if (random_start(walk, index)) return true;
    }
    if (walk->has_current && !walk->awaiting_start) {
        while (walk->next < walk->count) {
            *index = walk->neighbours[walk->next++];
            if (!kf_strategy_knows(walk->strategy, *index)) return true;
        }
    }
    return next_start(walk, index);
}

/* Takes a result. After a new start the next config that works becomes current, so that a failed start costs
 * one evaluation. Otherwise only a better config does. */
static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_walk *walk = state;
    if (!ok) return;
    if (!walk->has_best || time_us < walk->best_us) {
        walk->has_best = true;
        walk->best = index;
        walk->best_us = time_us;
    }
    if (!walk->has_current || walk->awaiting_start || time_us < walk->current_us)
        move_to(walk, index, time_us);
}

const kf_strategy_methods kf_strategy_local = {
    .name = "local",
    .summary = "greedy descent from presets and random configs, then from perturbed best and random ones",
    .open = open_walk,
    .next = next,
    .tell = tell,
    .starts = 4,
    .close = close_walk,
    .options = options,
};
