/* Replays searches on a stored landscape instead of a device. */
#ifndef KF_HARNESS_REPLAY_REPLAY_H
#define KF_HARNESS_REPLAY_REPLAY_H

#include "base/statistics/statistics.h"
#include "harness/replay/landscape.h"
#include "harness/search/strategy.h"

typedef struct kf_replay_request {
    const kf_landscape *landscape;
    const char *strategy;
    int evaluations; /* a search has so many, presets of the space included, which come first as when tuning.
                      * Measuring with effort e is e of an evaluation */
    int repeats;     /* searches */
    uint64_t seed;   /* of the first search; the others count on from it */
    const kf_prior *prior; /* NULL: the strategy has no prior knowledge */
} kf_replay_request;

/* Holds the regret: time of the config that a search would give out / time of the optimum - 1, both by the
 * landscape's own figures. A search gives out the config that was fastest among those measured at full
 * effort, or among all while there are none. While nothing correct was found the slowest correct config
 * counts. */
typedef struct kf_replay_result {
    int evaluations, repeats; /* evaluations: at most the size of the space */
    double *regrets;          /* [evaluation][repeat], after 1, 2, ... evaluations */
    double *spent;         /* [evaluation][repeat]: seconds that measuring would have taken; NAN: not known */
    double *means;         /* [evaluation] */
    kf_summary *summaries; /* [evaluation] */
    double *seconds;       /* [evaluation]: mean of spent */
    double overhead_us;    /* processor time the strategy took for one evaluation */
    bool raises_effort;    /* some config was measured with less than full effort */
} kf_replay_result;

/* Runs the searches of a request. After KF_OK the caller frees the result with kf_replay_free. */
kf_status kf_replay(const kf_replay_request *request, kf_replay_result *result, kf_error *error);
/* Gives the regrets of all searches after so many seconds of measuring. A search that has not ended its first
 * evaluation by then has the regret of the slowest correct config. count 0: seconds are not known. */
kf_summary kf_replay_after(const kf_replay_request *request, const kf_replay_result *result, double seconds);
/* Tells how soon searches come so near to the best. evaluations and seconds are medians over all searches.
 * They are INFINITY if fewer than half come there, seconds NAN if they are not known. */
typedef struct kf_replay_within {
    int reached; /* searches that come there at all */
    double evaluations, seconds;
} kf_replay_within;
kf_replay_within kf_replay_time_to(const kf_replay_result *result, double regret);
void kf_replay_free(kf_replay_result *result); /* its contents */

#endif
