/* The fields of nested grids on one grid. */
#ifndef KF_SOLVER_KINETIC_NESTED_FIELDS_H
#define KF_SOLVER_KINETIC_NESTED_FIELDS_H

#include "solver/flow/flow_plan.h"
#include "solver/kinetic/nested.h"

/* The whole domain in the cells of a level: what the levels up to it say, linear between the nodes of coarser
 * ones. plans: of the levels, whose covered cells say what the finer ones do (kf_nested_settle). The caller
 * frees with kf_fields_free. */
kf_status kf_nested_join_fields(const kf_nested *nested, kf_plan *const *plans, int last, kf_fields *joined,
                                kf_error *error);
/* The fields of a level's box, of those of its plan; the caller frees them. */
void kf_nested_crop_fields(const kf_nested_level *level, const kf_fields *own, kf_fields *box);

#endif
