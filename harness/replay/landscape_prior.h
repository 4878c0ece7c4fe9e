/* Provides the cost model as the prior for searches on a landscape, as `kftune tune` does for its strategy.
 */
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

/* Opens the prior. Returns false, with nothing to close, in cases where tuning would have no prior either:
 * the landscape is of the cpu, of a system without a cost model, or of a scene that is not shipped. The roofs
 * come from the device's data sheet, because a landscape contains no measured ones. */
bool kf_landscape_prior_open(const kf_landscape *landscape, kf_landscape_prior *prior);
void kf_landscape_prior_close(kf_landscape_prior *prior);

#endif
