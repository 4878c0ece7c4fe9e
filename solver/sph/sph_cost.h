/* The work of the sph system's plans. */
#ifndef KF_COST_MODEL_SPH_H
#define KF_COST_MODEL_SPH_H

#include "cost_model/model.h"
#include "solver/sph/sph.h"

#endif
