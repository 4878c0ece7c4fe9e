/* The work of the incompressible system's plans. */
#ifndef KF_COST_MODEL_INCOMPRESSIBLE_H
#define KF_COST_MODEL_INCOMPRESSIBLE_H

#include "cost_model/model.h"
#include "solver/incompressible/incompressible.h"

#endif
