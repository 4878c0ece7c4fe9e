/* Predicts the times of other configs from a few measured ones if there is no cost model. It fits the
 * surrogate of the strategy `model` once. */
#ifndef KF_HARNESS_SEARCH_FORECAST_H
#define KF_HARNESS_SEARCH_FORECAST_H

#include "base/space/space.h"

enum { KF_FORECAST_MOST = 160 }; /* number of configs for the fit */

/* Predicts times. times_us[i], above 0, was measured for config number known[i] of the space. There are 2 to
 * KF_FORECAST_MOST of them, each config once. predicted_us[i] becomes the prediction for asked[i]. The same
 * input gives the same prediction. */
void kf_forecast(const kf_space *space, const uint64_t *known, const double *times_us, int known_count,
                 const uint64_t *asked, size_t asked_count, double *predicted_us);

#endif
