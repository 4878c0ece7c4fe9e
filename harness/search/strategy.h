/* Declares strategies, which choose the config to measure next. next() proposes an index of the space; tell()
 * reports the measurement. Several proposals may be open at a time, because configs are built ahead. Configs
 * that were never proposed (presets, a resumed run) may be told. A config is never proposed twice, or after
 * it was told. With the same seed the same calls give the same proposals. */
#ifndef KF_HARNESS_SEARCH_STRATEGY_H
#define KF_HARNESS_SEARCH_STRATEGY_H

#include "base/space/space.h"

typedef struct kf_strategy kf_strategy;

/* A prediction for configs before they are measured (a cost model, a similar scene). */
typedef struct kf_prior {
    /* Predicts a time in any unit; NAN or negative: no prediction. */
    double (*predict)(void *context, uint64_t index);
    void *context;
} kf_prior;

enum { KF_STRATEGY_STARTS = 8, KF_STRATEGY_OPTIONS = 9 };

/* A numeric option of a strategy, within [least, most]. */
typedef struct kf_strategy_option {
    const char *name; /* NULL ends a table */
    const char *help; /* one line for `kftune list strategies` */
    double least, most, usual;
    bool whole;
} kf_strategy_option;

/* A strategy, which has its own file. Its methods never see a config twice, because strategy.c records what
 * was proposed or told. */
typedef struct kf_strategy_methods {
    const char *name;
    const char *summary; /* one line for `kftune list strategies` */
    void *(*open)(const kf_strategy *strategy, const kf_space *space, uint64_t seed);
    /* Proposes a candidate. If it is known, the next one is asked for. Returns false if there are no more. */
    bool (*next)(void *state, uint64_t *index);
    void (*tell)(void *state, uint64_t index, bool ok, double time_us); /* NULL: it does not learn */
    void (*set_prior)(void *state, const kf_prior *prior);              /* NULL: it does not use a prior */
    /* With a prior this number of the configs that it ranks first (at most KF_STRATEGY_STARTS) are proposed
     * before next is called. They are told like configs that were never proposed. */
    int starts;
    void (*close)(void *state);
    const kf_strategy_option *options; /* at most KF_STRATEGY_OPTIONS; NULL: none */
} kf_strategy_methods;

/* All strategies; the list ends with NULL. */
extern const kf_strategy_methods *const kf_strategies[];

/* Checks the text of a strategy, as the command line and the store have it: its name and options,
 * "model:points=300:explore=5", shorter than KF_STRATEGY_TEXT. KF_BAD_INPUT for an unknown name, with the
 * nearest one, for a value that the option does not accept, and for an option that is given twice. */
kf_status kf_strategy_check(const char *text, kf_error *error);
/* Opens a strategy. The space must outlive it. */
kf_status kf_strategy_open(const char *text, const kf_space *space, uint64_t seed, kf_strategy **strategy,
                           kf_error *error);
/* Returns whether a strategy, whose text has been checked, uses a prior. */
bool kf_strategy_uses_prior(const char *text);
/* Sets the prior before the first kf_strategy_next. All that it refers to must outlive the strategy. */
void kf_strategy_set_prior(kf_strategy *strategy, const kf_prior *prior);
/* Proposes the next config. Returns false if every config of the space was proposed or told, or if the
 * strategy has none left (shard: those of its share). */
bool kf_strategy_next(kf_strategy *strategy, uint64_t *index);
/* Tells the strategy a result. ok: the config was measured and verified, and time_us counts (lower is
 * better); otherwise the time is ignored. */
void kf_strategy_tell(kf_strategy *strategy, uint64_t index, bool ok, double time_us);
void kf_strategy_close(kf_strategy *strategy);

/* Returns the value of a strategy's option by its place in the table. */
double kf_strategy_setting(const kf_strategy *strategy, int option);
/* Returns whether the config was proposed or told. */
bool kf_strategy_knows(const kf_strategy *strategy, uint64_t index);

/* Returns place i of a random order of 0 .. size-1 for i < size. It needs no memory. */
uint64_t kf_shuffled(uint64_t size, uint64_t seed, uint64_t place);

#endif
