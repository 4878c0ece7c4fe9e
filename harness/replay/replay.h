/* Replay: searches that ask a stored landscape instead of a device. */
#ifndef KF_HARNESS_REPLAY_REPLAY_H
#define KF_HARNESS_REPLAY_REPLAY_H

#include "harness/measure/statistics.h"
#include "harness/replay/landscape.h"
#include "harness/search/strategy.h"

typedef struct kf_replay_request {
    const kf_landscape *landscape;
    const char *strategy;
    int evaluations; /* a search has so many, presets of the space included, which come first as when tuning
                      */
    int repeats;     /* searches */
    uint64_t seed;   /* of the first search; the others count on from it */
    const kf_prior *prior; /* NULL: the strategy has no prior knowledge */
} kf_replay_request;

/* Regret: time of the best config found / time of the optimum - 1. While nothing correct was found it is that
 * of the slowest correct config. */
typedef struct kf_replay_result {
    int evaluations, repeats; /* evaluations: at most the size of the space */
    double *regrets;          /* [evaluation][repeat], after 1, 2, ... evaluations */
    double *means;            /* [evaluation] */
    kf_summary *summaries;    /* [evaluation] */
    double *seconds;          /* [evaluation]: mean of what measuring would have taken; NAN: not known */
    double overhead_us;       /* processor time the strategy took for one evaluation */
} kf_replay_result;

kf_status kf_replay(const kf_replay_request *request, kf_replay_result *result, kf_error *error);
void kf_replay_free(kf_replay_result *result); /* its contents */

#endif
