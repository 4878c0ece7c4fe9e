/* Declares the cost model of a system: what work a config's plan does for a scene on a device. */
#ifndef KF_COST_MODEL_MODEL_H
#define KF_COST_MODEL_MODEL_H

#include "base/plan/system.h"
#include "base/space/space.h"
#include "cost_model/cost.h"

/* Holds a constant of a model that is no count but was read off measurements. tests/tools/cost_surveys.c
 * chooses it anew, with a survey left out; nothing else changes it. */
typedef struct kf_cost_rate {
    const char *name;
    double *value;
    double guess; /* before any survey was held against it: where choosing begins */
} kf_cost_rate;

/* Holds what a system with a cost model provides (kf_system.cost). */
typedef struct kf_cost_methods {
    void *(*open)(const kf_problem *problem, const kf_device_info *device); /* both outlive the state */
    /* Refuses a config that is none of the system's with KF_BAD_INPUT. */
    kf_status (*works)(void *state, const kf_config *config, kf_works *works, kf_error *error);
    void (*close)(void *state);
    const kf_cost_rate *rates; /* the last has no name; NULL: none */
    bool predicts_only; /* its order has not been shown to be near enough to measurements to lead a search */
} kf_cost_methods;

typedef struct kf_cost_model kf_cost_model;

/* Opens the model of a problem; *model is NULL when the system has none. roofs: as `kftune roofs` measured
 * them on the device, or NULL. */
void kf_cost_model_open(const kf_problem *problem, const kf_device_info *device, const kf_roofs *roofs,
                        kf_cost_model **model);
void kf_cost_model_close(kf_cost_model *model);

/* Returns the rates that predictions are made with. They live as long as the model. */
const kf_ceilings *kf_cost_model_ceilings(const kf_cost_model *model);
/* Predicts a config's step; calibration NULL: none. */
kf_status kf_cost_model_predict(kf_cost_model *model, const kf_config *config,
                                const kf_calibration *calibration, kf_prediction *prediction,
                                kf_error *error);

/* Returns the model's rates, or NULL where it has none. */
const kf_cost_rate *kf_cost_model_rates(const kf_cost_model *model);

/* Returns whether a search on a GPU begins with the model's order. */
bool kf_cost_model_leads(const kf_cost_model *model);

/* Makes the model the prior of a strategy over a space of its system. */
typedef struct kf_cost_prior {
    kf_cost_model *model;
    const kf_space *space;
} kf_cost_prior;
double kf_cost_prior_time(void *cost_prior, uint64_t index); /* a kf_prior's predict */

#endif
