/* Replays searches on a stored landscape instead of a device. */
#ifndef KF_HARNESS_REPLAY_REPLAY_H
#define KF_HARNESS_REPLAY_REPLAY_H

#include "base/statistics/statistics.h"
#include "harness/replay/landscape.h"
#include "harness/search/strategy.h"

typedef struct kf_replay_request {
    const kf_landscape *landscape;
    const char *strategy;
    int evaluations;       /* of a search; presets of the space come first, as in tuning, and are counted */
    int repeats;           /* searches */
    uint64_t seed;         /* seed of the first search; the others follow it */
    const kf_prior *prior; /* NULL: the strategy has no prior */
} kf_replay_request;

/* The regret: time of the config that a search returns / time of the optimum - 1, both by the landscape's
 * times. A search returns the fastest config that it has measured. If it has found no correct config, the
 * slowest correct one counts. */
typedef struct kf_replay_result {
    int evaluations, repeats; /* evaluations is at most the size of the space */
    double *regrets;          /* [evaluation][repeat], after 1, 2, ... evaluations */
    double *spent;         /* [evaluation][repeat]: seconds that measuring would have taken; NAN: not known */
    double *means;         /* [evaluation] */
    kf_summary *summaries; /* [evaluation] */
    double *seconds;       /* [evaluation]: mean of spent */
    double overhead_us;    /* processor time of the strategy for one evaluation */
} kf_replay_result;

/* Runs the searches of a request. After KF_OK the caller frees the result with kf_replay_free. */
kf_status kf_replay(const kf_replay_request *request, kf_replay_result *result, kf_error *error);
/* Returns the regrets of all searches after so many seconds of measuring. A search that has not finished its
 * first evaluation has the regret of the slowest correct config. count 0: seconds are not known. */
kf_summary kf_replay_after(const kf_replay_request *request, const kf_replay_result *result, double seconds);
/* How soon searches come within a regret. evaluations and seconds are medians over all searches. They are
 * INFINITY if fewer than half of the searches reach it; seconds are NAN if they are not known. */
typedef struct kf_replay_within {
    int reached; /* number of searches that reach it */
    double evaluations, seconds;
} kf_replay_within;
kf_replay_within kf_replay_time_to(const kf_replay_result *result, double regret);
void kf_replay_free(kf_replay_result *result); /* its contents */

#endif
