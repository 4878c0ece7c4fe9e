/* Searches by successive halving over measuring effort (Li et al. 2020, "A system for massively parallel
 * hyperparameter tuning", without its stopping of jobs). Many configs are measured with little effort, the
 * best third of them with three times as much, and the best third of those with full effort. A config is
 * promoted as soon as it is among the best third of its rung. If none is, a new config starts: a random one
 * or a neighbour of the best. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/moves.h"
#include "harness/search/strategies.h"

enum { RUNGS = 3, SHARE = 3, LEADERS = 8 };
static const double efforts[RUNGS] = {1.0 / 9.0, 1.0 / 3.0, 1.0};

typedef struct kf_rung_entry {
    uint64_t index;
    double time_us; /* INFINITY: failed */
    bool promoted;
} kf_rung_entry;

typedef struct kf_rung {
    kf_rung_entry *entries; /* sorted by time */
    int count;
    size_t capacity;
} kf_rung;

/* A proposal without an answer yet. */
typedef struct kf_open_proposal {
    uint64_t index;
    int rung;
} kf_open_proposal;

typedef struct kf_halving {
    const kf_strategy *strategy;
    const kf_space *space;
    uint64_t random, order_seed, place;
    kf_rung rungs[RUNGS];
    kf_open_proposal *open;
    int open_count;
    size_t open_capacity;
    int rung; /* of the last proposal */
    int started;
} kf_halving;

static void *open_halving(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    kf_halving *state = kf_allocate_zeroed(1, sizeof *state);
    state->strategy = strategy;
    state->space = space;
    state->random = seed;
    state->order_seed = kf_random_next(&state->random);
    return state;
}

/* --- Proposing ------------------------------------------------------------------------------------------ */

/* Promotes one of the best third of a rung, beginning with the highest rung. */
static bool promote(kf_halving *state, uint64_t *index) {
    for (int r = RUNGS - 2; r >= 0; r--) {
        kf_rung *rung = &state->rungs[r];
        for (int i = 0; i < rung->count / SHARE; i++) {
            kf_rung_entry *entry = &rung->entries[i];
            if (entry->promoted || !isfinite(entry->time_us)) continue;
            entry->promoted = true;
            *index = entry->index;
            state->rung = r + 1;
            return true;
        }
    }
    return false;
}

/* Finds the best known config on the highest rung that has any. */
static bool leader(kf_halving *state, uint64_t *index) {
    for (int r = RUNGS - 1; r >= 0; r--) {
        const kf_rung *rung = &state->rungs[r];
        int count = 0;
        while (count < rung->count && count < LEADERS && isfinite(rung->entries[count].time_us))
            count++;
        if (count == 0) continue;
        *index = rung->entries[kf_random_below(&state->random, (uint64_t)count)].index;
        return true;
    }
    return false;
}

/* Takes the remaining configs of a small space: those on lower rungs, the best first. */
static bool anything(kf_halving *state, uint64_t *index) {
    for (int r = RUNGS - 2; r >= 0; r--)
        for (int i = 0; i < state->rungs[r].count; i++) {
            kf_rung_entry *entry = &state->rungs[r].entries[i];
            if (entry->promoted || !isfinite(entry->time_us)) continue;
            entry->promoted = true;
            *index = entry->index;
            state->rung = RUNGS - 1;
            return true;
        }
    return false;
}

static bool choose(kf_halving *state, uint64_t *index) {
    uint64_t near;
    if (promote(state, index)) return true;
    state->rung = 0;
    if (state->started++ % 2 == 1 && leader(state, &near) &&
        kf_move_near(state->strategy, state->space, &state->random, near, 1, index))
        return true;
    return kf_move_anywhere(state->strategy, state->space, state->order_seed, &state->place, index) ||
           anything(state, index);
}

static bool next(void *state, uint64_t *index) {
    kf_halving *halving = state;
    if (!choose(halving, index)) return false;
    halving->open =
        kf_grow(halving->open, (size_t)halving->open_count, &halving->open_capacity, sizeof *halving->open);
    halving->open[halving->open_count++] = (kf_open_proposal){*index, halving->rung};
    return true;
}

static double effort(const void *state) {
    const kf_halving *halving = state;
    return efforts[halving->rung];
}

/* --- Learning ------------------------------------------------------------------------------------------- */

/* Returns the rung to which an answer belongs, and closes the proposal. A config that was not proposed had
 * full effort. */
static int answered(kf_halving *state, uint64_t index) {
    for (int i = 0; i < state->open_count; i++) {
        if (state->open[i].index != index) continue;
        int rung = state->open[i].rung;
        state->open[i] = state->open[--state->open_count];
        return rung;
    }
    return RUNGS - 1;
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_halving *halving = state;
    kf_rung *rung = &halving->rungs[answered(halving, index)];
    rung->entries = kf_grow(rung->entries, (size_t)rung->count, &rung->capacity, sizeof *rung->entries);
    double time = ok ? time_us : INFINITY;
    int at = rung->count++;
    for (; at > 0 && rung->entries[at - 1].time_us > time; at--)
        rung->entries[at] = rung->entries[at - 1];
    rung->entries[at] = (kf_rung_entry){index, time, false};
}

static void close_halving(void *state) {
    kf_halving *halving = state;
    for (int r = 0; r < RUNGS; r++)
        free(halving->rungs[r].entries);
    free(halving->open);
    free(halving);
}

const kf_strategy_methods kf_strategy_halving = {
    .name = "halving",
    .summary = "successive halving: many configs measured a little, the best of them at full effort",
    .open = open_halving,
    .next = next,
    .effort = effort,
    .tell = tell,
    .close = close_halving,
};
