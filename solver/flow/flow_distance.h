/* The signed distance to a solid's surface, as kernels read it. */
#ifndef KF_SOLVER_FLOW_FLOW_DISTANCE_H
#define KF_SOLVER_FLOW_FLOW_DISTANCE_H

#include "base/plan/plan.h"
#include "kernels/distance_table.h"

/* Computes the distance to the mesh of the plan's scene and uploads it. The plan owns the table's memory. */
kf_status kf_flow_upload_distance(kf_plan *plan, kf_distance_table *table, kf_error *error);

#endif
