/* Ranks the configs of a space by a prior, which is asked once a config, because asking takes
 * microseconds. */
#ifndef KF_HARNESS_SEARCH_RANKING_H
#define KF_HARNESS_SEARCH_RANKING_H

#include "harness/search/strategy.h"

typedef struct kf_ranking kf_ranking;

/* Asks the prior for all configs, in a large space for some thousand at random (seed). NULL where the prior
 * has no function. Space and what the prior refers to must outlive the ranking. */
kf_ranking *kf_ranking_open(const kf_space *space, const kf_prior *prior, uint64_t seed);
/* Closes a ranking. NULL, a prior that has no idea, is allowed here and below. */
void kf_ranking_close(kf_ranking *ranking);

/* Returns the logarithm of the prior's time; NAN: it has no idea. */
float kf_ranking_logarithm(kf_ranking *ranking, uint64_t index);
/* These give how many configs stand in the ranking, some hundred at most, and number i of them; 0 is the
 * fastest. */
int kf_ranking_count(const kf_ranking *ranking);
uint64_t kf_ranking_first(const kf_ranking *ranking, int i);
/* Draws at random one of those that were asked for when the ranking was opened. */
uint64_t kf_ranking_draw(const kf_ranking *ranking, uint64_t *random);

#endif
