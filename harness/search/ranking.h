/* Ranks the configs of a space by a prior. A prediction is computed once for each config, because it takes
 * microseconds. */
#ifndef KF_HARNESS_SEARCH_RANKING_H
#define KF_HARNESS_SEARCH_RANKING_H

#include "harness/search/strategy.h"

typedef struct kf_ranking kf_ranking;

/* Computes the prior for all configs, or for some thousand random ones (seed) of a large space. NULL: the
 * prior has no function. The space and all that the prior refers to must outlive the ranking. */
kf_ranking *kf_ranking_open(const kf_space *space, const kf_prior *prior, uint64_t seed);
/* Closes a ranking. NULL is a ranking without any prediction; this and the following functions accept it. */
void kf_ranking_close(kf_ranking *ranking);

/* Returns the logarithm of the prior's time; NAN: there is no prediction. */
float kf_ranking_logarithm(kf_ranking *ranking, uint64_t index);
/* These return the number of configs in the ranking, at most some hundred, and config number i; 0 is the
 * fastest. */
int kf_ranking_count(const kf_ranking *ranking);
uint64_t kf_ranking_first(const kf_ranking *ranking, int i);
/* Draws one of the configs that were computed when the ranking was opened. */
uint64_t kf_ranking_draw(const kf_ranking *ranking, uint64_t *random);

#endif
