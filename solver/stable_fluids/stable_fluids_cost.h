/* The work of the stable fluids system's plans. */
#ifndef KF_COST_MODEL_STABLE_FLUIDS_H
#define KF_COST_MODEL_STABLE_FLUIDS_H

#include "cost_model/model.h"
#include "solver/stable_fluids/stable_fluids.h"

#endif
