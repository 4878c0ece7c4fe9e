/* Simulated annealing: steps to random neighbours, better ones always, worse ones with a chance that falls
 * with the loss and with time. Losses are ratios of times. */
#include <math.h>
#include <stdlib.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/search/moves.h"
#include "harness/search/strategies.h"

/* The temperature, in logarithms of times, is HOT / (1 + told / COOLING): 5 % at first, 0.5 % after 200. */
static const double HOT = 0.05, COOLING = 20;
enum { PATIENCE = 25 }; /* told without a step, before the walk goes back to the best */

typedef struct kf_annealing {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, place;
    uint64_t current, best;
    double current_log, best_log; /* of times; INFINITY: there is none yet */
    int told, idle;
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
    if (isfinite(walk->current_log) &&
        kf_move_near(walk->strategy, walk->space, &walk->random, walk->current, 1, index))
        return true;
    return kf_move_anywhere(walk->strategy, walk->space, walk->order_seed, &walk->place, index);
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_annealing *walk = state;
    double temperature = HOT / (1 + walk->told++ / COOLING), time = ok ? log(time_us) : INFINITY;
    double chance = (double)(kf_random_next(&walk->random) >> 11) * 0x1p-53;
    walk->idle++;
    if (time < walk->best_log) {
        walk->best = index;
        walk->best_log = time;
    }
    if (time < walk->current_log || (ok && chance < exp((walk->current_log - time) / temperature))) {
        walk->current = index;
        walk->current_log = time;
        walk->idle = 0;
    } else if (walk->idle >= PATIENCE) {
        walk->current = walk->best;
        walk->current_log = walk->best_log;
        walk->idle = 0;
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
};
