/* Forecasts what a few measured configs say about the others of their space, where there is no cost model:
 * by the surrogate of the strategy `model`, fitted once. */
#ifndef KF_HARNESS_SEARCH_FORECAST_H
#define KF_HARNESS_SEARCH_FORECAST_H

#include "base/space/space.h"

enum { KF_FORECAST_MOST = 160 }; /* configs that it is fitted on */

/* Forecasts times. times_us[i], above 0, was measured of the config with number known[i] of the space. There
 * are 2 to KF_FORECAST_MOST of them, no config twice. predicted_us[i] becomes what is expected of asked[i].
 * The same input gives the same forecast. */
void kf_forecast(const kf_space *space, const uint64_t *known, const double *times_us, int known_count,
                 const uint64_t *asked, size_t asked_count, double *predicted_us);

#endif
