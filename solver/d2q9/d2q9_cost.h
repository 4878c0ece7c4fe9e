/* The work of the d2q9 system's plans. */
#ifndef KF_COST_MODEL_D2Q9_H
#define KF_COST_MODEL_D2Q9_H

#include "cost_model/model.h"

extern const kf_cost_methods kf_cost_d2q9;

#endif
