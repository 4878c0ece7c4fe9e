/* Describes configs as points of a metric space, for models that learn from measurements. */
#ifndef KF_HARNESS_SEARCH_FEATURES_H
#define KF_HARNESS_SEARCH_FEATURES_H

#include "base/space/space.h"

enum { KF_FEATURES = 48 };

/* Features describe a config, each by a number within 0..1. The coarse features are: - for whole numbers with
 * more than two values their logarithm, and their power of two if that is different (powers of two decide how
 * warps and cache lines are filled); - the products of two such numbers (threads of a block, nodes of a
 * tile); - for names and small sets a coordinate for each value, so that all differ equally. The fine
 * features, which a few configs cannot distinguish from the coarse ones, follow: - the quotients of two such
 * numbers (nodes of a tile for each thread of a block); - for numbers with a value 0 a coordinate for each
 * value, because most of these are codes of choices. Parameters with a single value, and features beyond
 * KF_FEATURES, are left out. */
typedef struct kf_features kf_features;

/* Makes the features of a space, which must live as long. Free them with kf_features_close. */
kf_features *kf_features_open(const kf_space *space);
void kf_features_close(kf_features *features);
/* Return the number of coarse features, and of all. */
int kf_features_coarse_count(const kf_features *features);
int kf_features_count(const kf_features *features);
/* Returns whether the parameter has more than two values that are whole numbers with an order. */
bool kf_features_is_size(const kf_features *features, int parameter);
/* Fills values, one for each feature. */
void kf_features_of(const kf_features *features, const int positions[KF_CONFIG_VALUES], float *values);

#endif
