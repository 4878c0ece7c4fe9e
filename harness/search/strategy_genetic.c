/* A genetic algorithm: the fittest configs are crossed, value by value, and mutated; a child takes the place
 * of the worst. */
#include <math.h>
#include <stdlib.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/search/moves.h"
#include "harness/search/strategies.h"

enum { POPULATION = 12, TOURNAMENT = 3, TRIES = 60 };

typedef struct kf_member {
    uint64_t index;
    double time_us;
} kf_member;

typedef struct kf_genetic {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, place;
    kf_member members[POPULATION];
    int count, proposed;
} kf_genetic;

static void *open_genetic(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    kf_genetic *state = kf_allocate_zeroed(1, sizeof *state);
    state->strategy = strategy;
    state->space = space;
    state->random = seed;
    state->order_seed = kf_random_next(&state->random);
    return state;
}

static uint64_t parent(kf_genetic *state) {
    const kf_member *fittest = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        const kf_member *one = &state->members[kf_random_below(&state->random, (uint64_t)state->count)];
        if (fittest == NULL || one->time_us < fittest->time_us) fittest = one;
    }
    return fittest->index;
}

/* Every value from one of two parents, then a mutation in about one parameter. */
static bool child(kf_genetic *state, uint64_t *index) {
    int mother[KF_CONFIG_VALUES], father[KF_CONFIG_VALUES];
    int parameters = kf_space_parameter_count(state->space);
    for (int attempt = 0; attempt < TRIES; attempt++) {
        kf_space_positions(state->space, parent(state), mother);
        kf_space_positions(state->space, parent(state), father);
        for (int p = 0; p < parameters; p++) {
            if (kf_random_below(&state->random, 2) == 0) mother[p] = father[p];
            if (kf_random_below(&state->random, (uint64_t)parameters) == 0)
                mother[p] =
                    (int)kf_random_below(&state->random, (uint64_t)kf_space_domain_size(state->space, p));
        }
        if (kf_space_positions_index(state->space, mother, index) &&
            !kf_strategy_knows(state->strategy, *index))
            return true;
    }
    return kf_move_near(state->strategy, state->space, &state->random, parent(state), 1, index);
}

static bool next(void *state, uint64_t *index) {
    kf_genetic *genetic = state;
    if (genetic->proposed++ >= POPULATION && genetic->count >= 2 && child(genetic, index)) return true;
    return kf_move_anywhere(genetic->strategy, genetic->space, genetic->order_seed, &genetic->place, index);
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_genetic *genetic = state;
    if (!ok) return;
    if (genetic->count < POPULATION) {
        genetic->members[genetic->count++] = (kf_member){index, time_us};
        return;
    }
    kf_member *worst = &genetic->members[0];
    for (int i = 1; i < POPULATION; i++)
        if (genetic->members[i].time_us > worst->time_us) worst = &genetic->members[i];
    if (time_us < worst->time_us) *worst = (kf_member){index, time_us};
}

const kf_strategy_methods kf_strategy_genetic = {
    .name = "genetic",
    .summary = "genetic algorithm: crosses and mutates the fittest configs",
    .open = open_genetic,
    .next = next,
    .tell = tell,
    .starts = 6,
    .close = free,
};
