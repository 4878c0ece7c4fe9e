/* The common part of all strategies: their table, and the record of known configs. */
#include "harness/search/strategy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/number.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/search/strategies.h"

const kf_strategy_methods *const kf_strategies[] = {
    &kf_strategy_model,  &kf_strategy_local,     &kf_strategy_annealing, &kf_strategy_survey,
    &kf_strategy_random, &kf_strategy_enumerate, &kf_strategy_shard,     NULL,
};

struct kf_strategy {
    const kf_strategy_methods *methods;
    void *state;
    uint64_t space_size;
    uint64_t *known; /* hash table of index + 1; 0: empty */
    uint64_t known_count, slot_count;
    uint64_t starts[KF_STRATEGY_STARTS], seed;
    int start_count, started;
    double settings[KF_STRATEGY_OPTIONS];
};

/* --- Known configs -------------------------------------------------------------------------------------- */

/* Finds the slot that contains index, or the empty slot where it belongs. */
static uint64_t find_slot(const uint64_t *known, uint64_t slot_count, uint64_t index) {
    uint64_t slot = kf_random_mix(index + 1) & (slot_count - 1);
    while (known[slot] != 0 && known[slot] != index + 1)
        slot = (slot + 1) & (slot_count - 1);
    return slot;
}

/* Doubles the table of known configs and inserts all of them again. */
static void grow(kf_strategy *strategy) {
    uint64_t slot_count = 2 * strategy->slot_count;
    uint64_t *known = kf_allocate_zeroed(slot_count, sizeof *known);
    for (uint64_t i = 0; i < strategy->slot_count; i++) {
        if (strategy->known[i] == 0) continue;
        known[find_slot(known, slot_count, strategy->known[i] - 1)] = strategy->known[i];
    }
    free(strategy->known);
    strategy->known = known;
    strategy->slot_count = slot_count;
}

bool kf_strategy_knows(const kf_strategy *strategy, uint64_t index) {
    return strategy->known[find_slot(strategy->known, strategy->slot_count, index)] != 0;
}

/* Records a config. Returns false if it was known. */
static bool note(kf_strategy *strategy, uint64_t index) {
    uint64_t slot = find_slot(strategy->known, strategy->slot_count, index);
    if (strategy->known[slot] != 0) return false;
    strategy->known[slot] = index + 1;
    if (++strategy->known_count * 2 > strategy->slot_count) grow(strategy);
    return true;
}

/* --- Starts from the prior ---------------------------------------------------------------------------- */

/* Ranks the configs of a space by the prior and keeps the first ones. In a large space it computes as many
 * random configs as take little time. */
static void rank_starts(kf_strategy *strategy, const kf_prior *prior) {
    enum { MOST_ASKED = 20000 };
    double times[KF_STRATEGY_STARTS];
    const uint64_t size = strategy->space_size, asked = size < MOST_ASKED ? size : MOST_ASKED;
    strategy->start_count = strategy->started = 0;
    for (uint64_t i = 0; i < asked; i++) {
        const uint64_t index = size <= MOST_ASKED ? i : kf_shuffled(size, strategy->seed, i);
        const double time = prior->predict(prior->context, index);
        int place = strategy->start_count;
        while (place > 0 && times[place - 1] > time)
            place--;
        if (!(time > 0) || place == strategy->methods->starts) continue;
        if (strategy->start_count < strategy->methods->starts) strategy->start_count++;
        for (int later = strategy->start_count - 1; later > place; later--) {
            times[later] = times[later - 1];
            strategy->starts[later] = strategy->starts[later - 1];
        }
        times[place] = time;
        strategy->starts[place] = index;
    }
}

/* --- Public --------------------------------------------------------------------------------------------- */

static const kf_strategy_methods *find_methods(const char *text) {
    const size_t length = strcspn(text, ":");
    for (int i = 0; kf_strategies[i] != NULL; i++)
        if (strncmp(kf_strategies[i]->name, text, length) == 0 && kf_strategies[i]->name[length] == '\0')
            return kf_strategies[i];
    return NULL;
}

/* Refuses an unknown strategy with the nearest name, or with all names. */
static kf_status fail_unknown(const char *text, kf_error *error) {
    char name[KF_NAME];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    const char *names[sizeof kf_strategies / sizeof kf_strategies[0]];
    kf_text all = {0};
    int count = 0;
    for (; kf_strategies[count] != NULL; count++) {
        names[count] = kf_strategies[count]->name;
        kf_text_append(&all, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    const char *nearest = kf_nearest(name, names, count);
    kf_status status =
        nearest != NULL
            ? kf_fail(error, KF_BAD_INPUT, "unknown strategy '%.60s'; did you mean '%s'?", name, nearest)
            : kf_fail(error, KF_BAD_INPUT, "unknown strategy '%.60s'; there are: %s", name, all.text);
    kf_text_free(&all);
    return status;
}

/* Refuses an unknown option of a strategy with the nearest name, or with all names. */
static kf_status fail_option(const kf_strategy_methods *methods, const char *name, kf_error *error) {
    const char *names[KF_STRATEGY_OPTIONS];
    kf_text all = {0};
    int count = 0;
    for (; methods->options != NULL && methods->options[count].name != NULL; count++) {
        names[count] = methods->options[count].name;
        kf_text_append(&all, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    const char *nearest = kf_nearest(name, names, count);
    kf_status status =
        count == 0 ? kf_fail(error, KF_BAD_INPUT, "strategy %s has no options; leave ':%.40s' out",
                             methods->name, name)
        : nearest != NULL
            ? kf_fail(error, KF_BAD_INPUT, "strategy %s has no option '%.40s'; did you mean '%s'?",
                      methods->name, name, nearest)
            : kf_fail(error, KF_BAD_INPUT, "strategy %s has no option '%.40s'; there are: %s", methods->name,
                      name, all.text);
    kf_text_free(&all);
    return status;
}

/* Reads an option "name=value". */
static kf_status read_option(const kf_strategy_methods *methods, char *text, double *settings, bool *given,
                             kf_error *error) {
    char *value = strchr(text, '='), *end = NULL;
    if (value == NULL)
        return kf_fail(error, KF_BAD_INPUT, "strategy %s: '%.40s' is no option; write %s:NAME=VALUE",
                       methods->name, text, methods->name);
    *value++ = '\0';
    int at = 0;
    while (methods->options != NULL && methods->options[at].name != NULL &&
           strcmp(methods->options[at].name, text) != 0)
        at++;
    if (methods->options == NULL || methods->options[at].name == NULL)
        return fail_option(methods, text, error);
    if (given[at]) return kf_fail(error, KF_BAD_INPUT, "strategy %s: %s is given twice", methods->name, text);
    given[at] = true;
    const kf_strategy_option *option = &methods->options[at];
    const double number = kf_read_decimal(value, &end);
    if (end != value && *end == '\0' && number >= option->least && number <= option->most &&
        (!option->whole || number == floor(number))) {
        settings[at] = number;
        return KF_OK;
    }
    return kf_fail(error, KF_BAD_INPUT, "strategy %s: %s is '%.40s', must be a %snumber from %g to %g",
                   methods->name, text, value, option->whole ? "whole " : "", option->least, option->most);
}

/* Reads the settings of a strategy from its text, "name:option=value:...". Other settings keep their usual
 * values. */
static kf_status read_settings(const char *text, double settings[KF_STRATEGY_OPTIONS], kf_error *error) {
    const kf_strategy_methods *methods = find_methods(text);
    char options[KF_STRATEGY_TEXT], *rest, *option;
    bool given[KF_STRATEGY_OPTIONS] = {false};
    if (methods == NULL) return fail_unknown(text, error);
    if (strlen(text) >= KF_STRATEGY_TEXT)
        return kf_fail(error, KF_BAD_INPUT, "strategy '%.60s' is longer than %d characters", text,
                       KF_STRATEGY_TEXT - 1);
    for (int i = 0; methods->options != NULL && methods->options[i].name != NULL; i++)
        settings[i] = methods->options[i].usual;
    rest = text[strlen(methods->name)] == ':' ? options : NULL;
    if (rest != NULL) kf_copy_text(options, sizeof options, text + strlen(methods->name) + 1);
    while (rest != NULL) {
        option = rest;
        rest = strchr(option, ':');
        if (rest != NULL) *rest++ = '\0';
        KF_TRY(read_option(methods, option, settings, given, error));
    }
    return KF_OK;
}

kf_status kf_strategy_check(const char *text, kf_error *error) {
    double settings[KF_STRATEGY_OPTIONS];
    return read_settings(text, settings, error);
}

kf_status kf_strategy_open(const char *text, const kf_space *space, uint64_t seed, kf_strategy **strategy,
                           kf_error *error) {
    double settings[KF_STRATEGY_OPTIONS] = {0};
    *strategy = NULL;
    KF_TRY(read_settings(text, settings, error));
    const kf_strategy_methods *methods = find_methods(text);
    kf_strategy *made = kf_allocate_zeroed(1, sizeof *made);
    made->methods = methods;
    made->space_size = kf_space_size(space);
    made->seed = seed;
    memcpy(made->settings, settings, sizeof settings);
    made->slot_count = 256;
    made->known = kf_allocate_zeroed(made->slot_count, sizeof *made->known);
    made->state = methods->open(made, space, seed);
    *strategy = made;
    return KF_OK;
}

bool kf_strategy_uses_prior(const char *text) {
    const kf_strategy_methods *methods = find_methods(text);
    return methods != NULL && (methods->set_prior != NULL || methods->starts > 0);
}

void kf_strategy_set_prior(kf_strategy *strategy, const kf_prior *prior) {
    if (strategy->methods->set_prior != NULL) strategy->methods->set_prior(strategy->state, prior);
    if (strategy->methods->starts > 0 && prior->predict != NULL) rank_starts(strategy, prior);
}

bool kf_strategy_next(kf_strategy *strategy, uint64_t *index) {
    while (strategy->started < strategy->start_count) {
        *index = strategy->starts[strategy->started++];
        if (note(strategy, *index)) return true;
    }
    while (strategy->known_count < strategy->space_size && strategy->methods->next(strategy->state, index))
        if (note(strategy, *index)) return true;
    return false;
}

void kf_strategy_tell(kf_strategy *strategy, uint64_t index, bool ok, double time_us) {
    if (index >= strategy->space_size) return;
    (void)note(strategy, index);
    if (strategy->methods->tell != NULL)
        strategy->methods->tell(strategy->state, index, ok && isfinite(time_us), time_us);
}

double kf_strategy_setting(const kf_strategy *strategy, int option) {
    return strategy->settings[option];
}

void kf_strategy_close(kf_strategy *strategy) {
    if (strategy == NULL) return;
    strategy->methods->close(strategy->state);
    free(strategy->known);
    free(strategy);
}

/* --- Random order --------------------------------------------------------------------------------------- */

/* A Feistel network permutes numbers with an even number of bits for any round function. A number beyond size
 * is permuted again until it is below size, at most 4 times on average. */
uint64_t kf_shuffled(uint64_t size, uint64_t seed, uint64_t place) {
    enum { ROUNDS = 8, LEAST_HALF = 3 };
    int half = LEAST_HALF;
    while (half < 32 && size > (uint64_t)1 << (2 * half))
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = place >> half, right = place & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t mixed = kf_random_mix(kf_random_mix(seed + round * 0x9e3779b97f4a7c15) + right + 1);
            uint64_t turned = left ^ (mixed & mask);
            left = right;
            right = turned;
        }
        place = left << half | right;
    } while (place >= size);
    return place;
}
