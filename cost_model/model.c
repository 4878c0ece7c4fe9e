#include "cost_model/model.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"

struct kf_cost_model {
    const kf_cost_methods *methods;
    void *state;
    kf_ceilings ceilings;
};

void kf_cost_model_open(const kf_problem *problem, const kf_device_info *device, const kf_roofs *roofs,
                        kf_cost_model **model) {
    const kf_cost_methods *methods = problem->system->cost;
    *model = NULL;
    if (methods == NULL) return;
    kf_cost_model *made = kf_allocate_zeroed(1, sizeof *made);
    made->methods = methods;
    made->state = methods->open(problem, device);
    kf_ceilings_from(device, roofs, &made->ceilings);
    *model = made;
}

void kf_cost_model_close(kf_cost_model *model) {
    if (model == NULL) return;
    model->methods->close(model->state);
    free(model);
}

const kf_ceilings *kf_cost_model_ceilings(const kf_cost_model *model) {
    return &model->ceilings;
}

bool kf_cost_model_leads(const kf_cost_model *model) {
    return model != NULL && !model->methods->predicts_only;
}

const kf_cost_rate *kf_cost_model_rates(const kf_cost_model *model) {
    return model->methods->rates;
}

kf_status kf_cost_model_predict(kf_cost_model *model, const kf_config *config,
                                const kf_calibration *calibration, kf_prediction *prediction,
                                kf_error *error) {
    kf_works works = {.count = 0};
    kf_calibration none;
    kf_calibration_begin(&none);
    const kf_status status = model->methods->works(model->state, config, &works, error);
    if (status == KF_OK)
        kf_cost_predict(&works, &model->ceilings, calibration != NULL ? calibration : &none, prediction);
    kf_works_free(&works);
    return status;
}

double kf_cost_prior_time(void *cost_prior, uint64_t index) {
    const kf_cost_prior *prior = cost_prior;
    kf_config config;
    kf_prediction prediction;
    kf_space_config(prior->space, index, &config);
    if (kf_cost_model_predict(prior->model, &config, NULL, &prediction, NULL) != KF_OK) return NAN;
    return prediction.time_us;
}
