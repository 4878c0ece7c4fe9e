/* Declares strategies: which config to measure next, and how carefully. next() proposes an index of the space
 * and an effort, tell() reports what measuring gave. Several proposals may be open at a time (they are built
 * ahead). Configs that were never proposed (presets, a resumed run) may be told. No config is proposed twice,
 * nor one already told, but with a higher effort than before. For a seed, the same calls give the same
 * proposals. */
#ifndef KF_HARNESS_SEARCH_STRATEGY_H
#define KF_HARNESS_SEARCH_STRATEGY_H

#include "base/space/space.h"

typedef struct kf_strategy kf_strategy;

typedef struct kf_proposal {
    uint64_t index;
    double effort; /* share of the usual measuring, in (0, 1] */
} kf_proposal;

/* Says what is believed of a config before it is measured (a cost model, a similar scene). */
typedef struct kf_prior {
    /* Predicts a time in any unit; NAN or negative: no idea. */
    double (*predict)(void *context, uint64_t index);
    void *context;
} kf_prior;

enum { KF_STRATEGY_STARTS = 8, KF_STRATEGY_OPTIONS = 9 };

/* Describes a number that a strategy leaves to the user, within [least, most]. */
typedef struct kf_strategy_option {
    const char *name; /* NULL ends a table */
    const char *help; /* one line for `kftune list strategies` */
    double least, most, usual;
    bool whole;
} kf_strategy_option;

/* Describes a strategy, which has a file of its own. Its methods never see a config twice, because strategy.c
 * keeps account of what was proposed or told. */
typedef struct kf_strategy_methods {
    const char *name;
    const char *summary; /* one line for `kftune list strategies` */
    void *(*open)(const kf_strategy *strategy, const kf_space *space, uint64_t seed);
    /* Proposes a candidate. If it is known already, another one is asked for. False means that none is left.
     */
    bool (*next)(void *state, uint64_t *index);
    /* Gives the effort for the config that next proposed last; NULL: always 1. */
    double (*effort)(const void *state);
    void (*tell)(void *state, uint64_t index, bool ok, double time_us); /* NULL: does not learn */
    void (*set_prior)(void *state, const kf_prior *prior);              /* NULL: has no use for one */
    /* With a prior, so many of the configs that it ranks first are proposed before next is asked (at most
     * KF_STRATEGY_STARTS), and told like those that were never proposed. */
    int starts;
    void (*close)(void *state);
    const kf_strategy_option *options; /* at most KF_STRATEGY_OPTIONS; NULL: none */
} kf_strategy_methods;

/* Lists all strategies and ends with NULL. */
extern const kf_strategy_methods *const kf_strategies[];

/* Checks the text of a strategy as the command line and the store have it: its name, and options behind
 * it, "model:points=300:explore=5"; shorter than KF_STRATEGY_TEXT. Unknown names are KF_BAD_INPUT with the
 * nearest one, and so are values that are none of the option's and options given twice. */
kf_status kf_strategy_check(const char *text, kf_error *error);
/* Opens a strategy. The space must outlive it. */
kf_status kf_strategy_open(const char *text, const kf_space *space, uint64_t seed, kf_strategy **strategy,
                           kf_error *error);
/* Says whether a strategy that kf_strategy_check takes makes use of a prior. */
bool kf_strategy_uses_prior(const char *text);
/* Sets the prior before the first kf_strategy_next. What it refers to must outlive the strategy. */
void kf_strategy_set_prior(kf_strategy *strategy, const kf_prior *prior);
/* Proposes the next config; false if every config of the space was proposed or told at full effort. */
bool kf_strategy_next(kf_strategy *strategy, kf_proposal *proposal);
/* Tells the strategy a result. Where ok, the config was measured and verified, and time_us counts (lower
 * is better); else the time is not looked at. For a config that was proposed, the answer is to its last
 * proposal; another was measured at full effort. */
void kf_strategy_tell(kf_strategy *strategy, uint64_t index, bool ok, double time_us);
void kf_strategy_close(kf_strategy *strategy);

/* Returns to a strategy the value of an option by its place in the table. */
double kf_strategy_setting(const kf_strategy *strategy, int option);
/* Says to a strategy whether the config was proposed or told, at whatever effort. */
bool kf_strategy_knows(const kf_strategy *strategy, uint64_t index);

/* Returns place i of a random order of 0 .. size-1 that takes no memory, for i < size. */
uint64_t kf_shuffled(uint64_t size, uint64_t seed, uint64_t place);

#endif
