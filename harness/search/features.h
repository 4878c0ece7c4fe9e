/* Describes configs as points of a metric space, for models that learn from measurements. */
#ifndef KF_HARNESS_SEARCH_FEATURES_H
#define KF_HARNESS_SEARCH_FEATURES_H

#include "base/space/space.h"

enum { KF_FEATURES = 48 };

/* Features describe a config, each of them within 0..1:
 *  - whole numbers of more than two values: their logarithm, and how often two divides them where that is not
 *    the same (what fills warps and lines goes by powers of two);
 *  - the products of two such numbers (threads of a block, nodes of a tile);
 *  - names and small sets: a coordinate a value, so that all differ equally.
 * These are the coarse ones. Behind them are the fine ones, which few configs do not tell apart from them:
 *  - the quotients of two such numbers (nodes of a tile for each thread of a block);
 *  - numbers of which one is 0, because most are codes of choices: a coordinate a value, as for names.
 * Parameters with one value left, and what goes beyond KF_FEATURES, are left out. */
typedef struct kf_features kf_features;

kf_features *kf_features_open(const kf_space *space);
void kf_features_close(kf_features *features);
int kf_features_coarse_count(const kf_features *features);
int kf_features_count(const kf_features *features); /* with the fine ones */
/* Says whether the parameter's values are whole numbers with an order, more than two of them. */
bool kf_features_is_size(const kf_features *features, int parameter);
/* Fills values, one for each feature. */
void kf_features_of(const kf_features *features, const int positions[KF_CONFIG_VALUES], float *values);

#endif
