/* Lists the strategies; the table in strategy.c contains them. A new strategy needs a file, a line here and a
 * line there. */
#ifndef KF_HARNESS_SEARCH_STRATEGIES_H
#define KF_HARNESS_SEARCH_STRATEGIES_H

#include "harness/search/strategy.h"

extern const kf_strategy_methods kf_strategy_enumerate;
extern const kf_strategy_methods kf_strategy_random;
extern const kf_strategy_methods kf_strategy_shard;
extern const kf_strategy_methods kf_strategy_local;
extern const kf_strategy_methods kf_strategy_annealing;
extern const kf_strategy_methods kf_strategy_survey;
extern const kf_strategy_methods kf_strategy_model;

#endif
