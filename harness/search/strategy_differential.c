/* Differential evolution on positions: a trial is the best config moved by the difference of two others,
 * crossed with the member it competes with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/search/moves.h"
#include "harness/search/strategies.h"

enum { POPULATION = 12, OPEN = 64, TRIES = 60 };
static const double WEIGHT = 0.7, CROSSOVER = 0.6;

typedef struct kf_differential {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, place;
    uint64_t members[POPULATION];
    double times_us[POPULATION];
    int count, proposed, turn;
    uint64_t trials[OPEN]; /* index + 1 of proposals not yet told; 0: free */
    int rivals[OPEN];      /* the member each competes with */
} kf_differential;

static void *open_differential(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    kf_differential *state = kf_allocate_zeroed(1, sizeof *state);
    state->strategy = strategy;
    state->space = space;
    state->random = seed;
    state->order_seed = kf_random_next(&state->random);
    return state;
}

static double uniform(kf_differential *state) {
    return (double)(kf_random_next(&state->random) >> 11) * 0x1p-53;
}

static int fittest(const kf_differential *state) {
    int best = 0;
    for (int i = 1; i < state->count; i++)
        if (state->times_us[i] < state->times_us[best]) best = i;
    return best;
}

/* A position between two is rounded at random, so that small differences count too. */
static int moved(kf_differential *state, int from, int plus, int minus, int size) {
    double target = from + WEIGHT * (plus - minus);
    int position = (int)floor(target + uniform(state));
    return position < 0 ? 0 : position >= size ? size - 1 : position;
}

static bool trial(kf_differential *state, int rival, uint64_t *index) {
    int at[KF_CONFIG_VALUES], base[KF_CONFIG_VALUES], plus[KF_CONFIG_VALUES], minus[KF_CONFIG_VALUES];
    int parameters = kf_space_parameter_count(state->space);
    kf_space_positions(state->space, state->members[fittest(state)], base);
    for (int attempt = 0; attempt < TRIES && parameters > 0; attempt++) {
        kf_space_positions(state->space, state->members[rival], at);
        kf_space_positions(state->space,
                           state->members[kf_random_below(&state->random, (uint64_t)state->count)], plus);
        kf_space_positions(state->space,
                           state->members[kf_random_below(&state->random, (uint64_t)state->count)], minus);
        int forced = (int)kf_random_below(&state->random, (uint64_t)parameters);
        for (int p = 0; p < parameters; p++)
            if (p == forced || uniform(state) < CROSSOVER)
                at[p] = moved(state, base[p], plus[p], minus[p], kf_space_domain_size(state->space, p));
        if (kf_space_positions_index(state->space, at, index) && !kf_strategy_knows(state->strategy, *index))
            return true;
    }
    return kf_move_near(state->strategy, state->space, &state->random, state->members[rival], 1, index);
}

static void remember(kf_differential *state, uint64_t index, int rival) {
    for (int i = 0; i < OPEN; i++) {
        if (state->trials[i] != 0) continue;
        state->trials[i] = index + 1;
        state->rivals[i] = rival;
        return;
    }
}

static bool next(void *state, uint64_t *index) {
    kf_differential *evolution = state;
    if (evolution->proposed++ >= POPULATION && evolution->count >= 4) {
        int rival = evolution->turn++ % evolution->count;
        if (trial(evolution, rival, index)) {
            remember(evolution, *index, rival);
            return true;
        }
    }
    return kf_move_anywhere(evolution->strategy, evolution->space, evolution->order_seed, &evolution->place,
                            index);
}

/* A config that was no trial joins while there is room, then competes with the worst. */
static int rival_of(kf_differential *state, uint64_t index) {
    for (int i = 0; i < OPEN; i++) {
        if (state->trials[i] != index + 1) continue;
        state->trials[i] = 0;
        return state->rivals[i];
    }
    if (state->count < POPULATION) {
        state->times_us[state->count] = INFINITY;
        return state->count++;
    }
    int worst = 0;
    for (int i = 1; i < state->count; i++)
        if (state->times_us[i] > state->times_us[worst]) worst = i;
    return worst;
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_differential *evolution = state;
    if (!ok) {
        for (int i = 0; i < OPEN; i++)
            if (evolution->trials[i] == index + 1) evolution->trials[i] = 0;
        return;
    }
    int rival = rival_of(evolution, index);
    if (time_us >= evolution->times_us[rival]) return;
    evolution->times_us[rival] = time_us;
    evolution->members[rival] = index;
}

const kf_strategy_methods kf_strategy_differential = {
    .name = "differential",
    .summary = "differential evolution: the best config moved by differences of others",
    .open = open_differential,
    .next = next,
    .tell = tell,
    .starts = 6,
    .close = free,
};
