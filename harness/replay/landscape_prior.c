#include "harness/replay/landscape_prior.h"

#include <string.h>

#include "base/util/text.h"
#include "solver/systems.h"

/* Opens the cost model for a landscape's problem and device as a prior. Returns false if the landscape does
 * not name them, or if the model does not cover them. */
bool kf_landscape_prior_open(const kf_landscape *landscape, kf_landscape_prior *prior) {
    kf_config config;
    memset(prior, 0, sizeof *prior);
    if (strcmp(landscape->backend, "cuda") != 0 || landscape->options.nodes[0] == 0) return false;
    kf_space_config(landscape->space, 0, &config);
    if (kf_problem_open(landscape->scene, config.system, &landscape->options, &prior->problem, NULL) != KF_OK)
        return false;
    kf_copy_text(prior->device.backend, sizeof prior->device.backend, landscape->backend);
    prior->device.peak_bandwidth = landscape->peak_bandwidth;
    prior->device.l2_bytes = landscape->l2_bytes;
    kf_cost_model_open(prior->problem, &prior->device, NULL, &prior->source.model);
    prior->source.space = landscape->space;
    prior->prior = (kf_prior){kf_cost_prior_time, &prior->source};
    if (kf_cost_model_leads(prior->source.model)) return true;
    kf_cost_model_close(prior->source.model);
    kf_problem_free(prior->problem);
    return false;
}

void kf_landscape_prior_close(kf_landscape_prior *prior) {
    kf_cost_model_close(prior->source.model);
    kf_problem_free(prior->problem);
}
