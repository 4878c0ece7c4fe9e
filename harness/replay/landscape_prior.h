/* Gives searches on a landscape the cost model as prior, as `kftune tune` gives it to its strategy. */
#ifndef KF_HARNESS_REPLAY_LANDSCAPE_PRIOR_H
#define KF_HARNESS_REPLAY_LANDSCAPE_PRIOR_H

#include "cost_model/model.h"
#include "harness/replay/landscape.h"
#include "harness/search/strategy.h"

typedef struct kf_landscape_prior {
    kf_problem *problem;
    kf_device_info device;
    kf_cost_prior source;
    kf_prior prior; /* for kf_replay_request */
} kf_landscape_prior;

/* Opens the prior. It is false, with nothing to close, where tuning would have no prior either: the landscape
 * is of the cpu, of a system without a cost model, or of a scene that is not shipped. The roofs are those of
 * the device's data sheet, since a landscape has none that were measured. */
bool kf_landscape_prior_open(const kf_landscape *landscape, kf_landscape_prior *prior);
void kf_landscape_prior_close(kf_landscape_prior *prior);

#endif
