/* The work of the d2q9 system's plans. */
#ifndef KF_COST_MODEL_D2Q9_H
#define KF_COST_MODEL_D2Q9_H

#include "cost_model/model.h"
#include "solver/d2q9/d2q9.h"

#endif
