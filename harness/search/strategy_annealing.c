/* Searches by simulated annealing. It steps to random neighbours: always to better ones, to worse ones with a
 * probability that falls with the loss and with time. Losses are ratios of times. If no step is found for a
 * long time, the walk is heated again. It then continues from the best config, and sometimes from a random
 * one, because a cold walk does not leave a local optimum. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/moves.h"
#include "harness/search/strategies.h"

/* The temperature, in logarithms of times, is hot / (1 + age / cooling): usually 5 % at first, 0.5 % after
 * 200 configs. */
enum { HOT, COOLING, PATIENCE, RANDOM, FIRST };
static const kf_strategy_option options[] = {
    [HOT] = {"hot", "initial temperature: a relative loss of this size is accepted with probability 1/e",
             1e-4, 10, 0.05, false},
    [COOLING] = {"cooling", "configs after which the temperature has halved", 1, 1e6, 20, false},
    [PATIENCE] = {"patience", "configs without an accepted step before it is heated again at the best config",
                  1, 1e6, 25, true},
    [RANDOM] = {"random", "every n-th reheating begins at a random config", 1, 1e6, 3, true},
    [FIRST] = {"first", "random configs before the walk begins at the best known one", 1, 1e6, 10, true},
    {.name = NULL},
};

typedef struct kf_annealing {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, place;
    uint64_t current, best;
    double current_log, best_log; /* logarithms of times; INFINITY: there is none yet */
    int told;                     /* configs told before the walk began */
    int age, idle;                /* configs told since it was heated, and since its last step */
    uint64_t ends;                /* number of times that it found no step */
    bool leaves;                  /* the next proposal is a random config, from which it continues */
    bool arrives;                 /* that config is current; it is proposed but not told yet */
} kf_annealing;

static void *open_annealing(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    kf_annealing *state = kf_allocate_zeroed(1, sizeof *state);
    state->strategy = strategy;
    state->space = space;
    state->random = seed;
    state->order_seed = kf_random_next(&state->random);
    state->current_log = state->best_log = INFINITY;
    return state;
}

static bool next(void *state, uint64_t *index) {
    kf_annealing *walk = state;
    const bool begun = walk->told >= kf_strategy_setting(walk->strategy, FIRST);
    if (begun && (isfinite(walk->current_log) || walk->arrives) &&
        kf_move_near(walk->strategy, walk->space, &walk->random, walk->current, 1, index))
        return true;
    if (!kf_move_anywhere(walk->strategy, walk->space, walk->order_seed, &walk->place, index)) return false;
    if (walk->leaves) {
        walk->current = *index;
        walk->leaves = false;
        walk->arrives = true;
    }
    return true;
}

static void heat(kf_annealing *walk) {
    const uint64_t round = (uint64_t)kf_strategy_setting(walk->strategy, RANDOM);
    walk->age = walk->idle = 0;
    walk->leaves = walk->ends++ % round == round - 1;
    walk->current = walk->best;
    walk->current_log = walk->leaves ? INFINITY : walk->best_log;
}

/* Takes a result. A slower config is accepted with probability exp(-difference of logarithms / temperature),
 * and the temperature falls with the age of the walk. After too many idle steps the walk is heated again
 * (Kirkpatrick and others, 1983). */
static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_annealing *walk = state;
    const double hot = kf_strategy_setting(walk->strategy, HOT),
                 cooling = kf_strategy_setting(walk->strategy, COOLING);
    const bool begun = walk->told >= kf_strategy_setting(walk->strategy, FIRST);
    double temperature = hot / (1 + walk->age / cooling), time = ok ? log(time_us) : INFINITY;
    double chance = kf_random_unit(&walk->random);
    if (time < walk->best_log) {
        walk->best = index;
        walk->best_log = time;
    }
    if (!begun) {
        walk->told++;
        walk->current = walk->best;
        walk->current_log = walk->best_log;
        return;
    }
    walk->age++;
    /* Neighbours of the former config may be open still. A step to one of them would lead back. */
    if (walk->leaves || (walk->arrives && index != walk->current)) return;
    if (walk->arrives) walk->leaves = !ok;
    walk->arrives = false;
    walk->idle++;
    if (time < walk->current_log || (ok && chance < exp((walk->current_log - time) / temperature))) {
        walk->current = index;
        walk->current_log = time;
        walk->idle = 0;
    } else if (walk->idle >= kf_strategy_setting(walk->strategy, PATIENCE)) {
        heat(walk);
    }
}

const kf_strategy_methods kf_strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing: a walk that accepts worse configs less and less",
    .open = open_annealing,
    .next = next,
    .tell = tell,
    .starts = 4,
    .close = free,
    .options = options,
};
