/* Computes the field's score of a search strategy: how much of the way from random search to the optimum it
 * has gone, on average over the budget that random search needs (Willemsen et al., "A Methodology for
 * Comparing Auto-Tuning Optimization Algorithms", Future Generation Computer Systems 159 (2024),
 * doi:10.1016/j.future.2024.05.021). The score is the mean of (R - S) / (R - optimum). R is what random
 * search is expected to have found by then, S what the searches have found. 1 is the optimum from the first
 * config on, 0 is random search; below 0 is worse. */
#ifndef KF_HARNESS_REPLAY_REPLAY_SCORE_H
#define KF_HARNESS_REPLAY_REPLAY_SCORE_H

#include "harness/replay/replay.h"

/* Describes random search, which draws without repetition from all configs of the landscape. A config that
 * failed counts as the slowest correct one, for both. Its budget ends where the rank that it is expected to
 * have found is 95 % of the way from the median of the correct configs to the optimum. A second is worth as
 * many draws as configs take on average. */
typedef struct kf_replay_budget {
    int evaluations;
    double seconds; /* NAN: the landscape does not say how long configs took */
} kf_replay_budget;
kf_replay_budget kf_replay_budget_of(const kf_landscape *landscape);

/* Gives what random search is expected to have found after 1, 2, .. count evaluations, in microseconds;
 * the array is the caller's to free. */
double *kf_replay_random(const kf_landscape *landscape, int count);

typedef struct kf_replay_score {
    double evaluations; /* the score after 1, 2, .. evaluations of the budget, their mean; NAN: every config
                           is the best */
    double seconds;     /* likewise after each second of the budget; NAN: not known */
} kf_replay_score;
/* Scores searches of at least the budget's evaluations. One that ends within the budget of seconds keeps
 * what it has found. */
kf_replay_score kf_replay_score_of(const kf_landscape *landscape, const kf_replay_result *result);

#endif
