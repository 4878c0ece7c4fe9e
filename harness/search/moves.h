/* Moves through a space that several strategies use. */
#ifndef KF_HARNESS_SEARCH_MOVES_H
#define KF_HARNESS_SEARCH_MOVES_H

#include "harness/search/strategy.h"

/* Finds an unknown valid config that differs from index in `changes` parameters, or in more if constraints
 * link them. Returns false if some hundred random tries found none. */
bool kf_move_near(const kf_strategy *strategy, const kf_space *space, uint64_t *random, uint64_t index,
                  int changes, uint64_t *moved);

/* Returns unknown configs in random order. `place` starts at 0. Returns false if all are known. */
bool kf_move_anywhere(const kf_strategy *strategy, const kf_space *space, uint64_t seed, uint64_t *place,
                      uint64_t *index);

#endif
