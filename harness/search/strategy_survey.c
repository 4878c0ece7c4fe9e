/* Surveys the whole space and its best configs, for landscapes. Every other config is random, for judging
 * cost models and replays. The model proposes the others. */
#include <stdlib.h>

#include "base/util/memory.h"
#include "harness/search/strategies.h"

enum { PARTS = 2 };

typedef struct kf_survey {
    kf_strategy *parts[PARTS];
    int turn;
} kf_survey;

static void *open_survey(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    (void)strategy;
    static const char *const names[PARTS] = {"random", "model"};
    kf_survey *survey = kf_allocate_zeroed(1, sizeof *survey);
    for (int i = 0; i < PARTS; i++)
        (void)kf_strategy_open(names[i], space, seed, &survey->parts[i], NULL); /* these strategies exist */
    return survey;
}

static bool next(void *state, uint64_t *index) {
    kf_survey *survey = state;
    for (int i = 0; i < PARTS; i++)
        if (kf_strategy_next(survey->parts[survey->turn++ % PARTS], index)) return true;
    return false;
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    const kf_survey *survey = state;
    for (int i = 0; i < PARTS; i++)
        kf_strategy_tell(survey->parts[i], index, ok, time_us);
}

static void set_prior(void *state, const kf_prior *prior) {
    const kf_survey *survey = state;
    for (int i = 0; i < PARTS; i++)
        kf_strategy_set_prior(survey->parts[i], prior);
}

static void close_survey(void *state) {
    kf_survey *survey = state;
    for (int i = 0; i < PARTS; i++)
        kf_strategy_close(survey->parts[i]);
    free(survey);
}

const kf_strategy_methods kf_strategy_survey = {
    .name = "survey",
    .summary = "random configs and the model's proposals in turns, to record a landscape",
    .open = open_survey,
    .next = next,
    .tell = tell,
    .set_prior = set_prior,
    .close = close_survey,
};
