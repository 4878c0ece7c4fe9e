/* Declares the cost model of a system: the work of a config's plan for a scene on a device. */
#ifndef KF_COST_MODEL_MODEL_H
#define KF_COST_MODEL_MODEL_H

#include "base/plan/system.h"
#include "base/space/space.h"
#include "cost_model/cost.h"

/* A constant of a model that was fitted to measurements instead of counted. tests/tools/cost_surveys.c fits
 * it again without one of the surveys. Nothing else changes it. */
typedef struct kf_cost_rate {
    const char *name;
    double *value;
    double guess; /* the value before fitting */
} kf_cost_rate;

/* The parts of a system with a cost model (kf_system.cost). */
typedef struct kf_cost_methods {
    void *(*open)(const kf_problem *problem, const kf_device_info *device); /* both outlive the state */
    /* Computes the work of a config's plan. KF_BAD_INPUT if the config does not belong to the system. */
    kf_status (*works)(void *state, const kf_config *config, kf_works *works, kf_error *error);
    void (*close)(void *state);
    const kf_cost_rate *rates; /* ended by an entry without a name; NULL: none */
    bool predicts_only;        /* its order of configs was not shown to be good enough to lead a search */
} kf_cost_methods;

typedef struct kf_cost_model kf_cost_model;

/* Opens the model for a problem; *model is NULL if the system has none. roofs: those that `kftune roofs`
 * measured on the device; NULL: none. */
void kf_cost_model_open(const kf_problem *problem, const kf_device_info *device, const kf_roofs *roofs,
                        kf_cost_model **model);
void kf_cost_model_close(kf_cost_model *model);

/* Returns the rates used for predictions. They are valid as long as the model. */
const kf_ceilings *kf_cost_model_ceilings(const kf_cost_model *model);
/* Predicts the step of a config. calibration may be NULL. */
kf_status kf_cost_model_predict(kf_cost_model *model, const kf_config *config,
                                const kf_calibration *calibration, kf_prediction *prediction,
                                kf_error *error);

/* Returns the model's fitted constants; NULL: it has none. */
const kf_cost_rate *kf_cost_model_rates(const kf_cost_model *model);

/* Returns whether a search on a GPU begins with the configs that the model ranks first. */
bool kf_cost_model_leads(const kf_cost_model *model);

/* Makes the model the prior of a strategy for a space of its system. */
typedef struct kf_cost_prior {
    kf_cost_model *model;
    const kf_space *space;
} kf_cost_prior;
double kf_cost_prior_time(void *cost_prior, uint64_t index); /* the function `predict` of a kf_prior */

#endif
