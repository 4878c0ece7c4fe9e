/* The fields of nested grids on one grid. */
#ifndef KF_SOLVER_KINETIC_NESTED_FIELDS_H
#define KF_SOLVER_KINETIC_NESTED_FIELDS_H

#include "solver/flow/flow_plan.h"
#include "solver/kinetic/nested.h"

/* Joins the fields of levels 0 to `last` on one grid over the whole domain, with the cells of level `last`.
 * Each place takes the values of its finest level; values of coarser levels are interpolated linearly.
 * `plans` are those of the levels. kf_nested_settle must have restricted the finer levels first. The caller
 * frees `joined` with kf_fields_free. */
kf_status kf_nested_join_fields(const kf_nested *nested, kf_plan *const *plans, int last, kf_fields *joined,
                                kf_error *error);
/* Copies the fields of a level's box out of the fields of its plan, `own`, which contain ghost nodes. The
 * caller frees `box`. */
void kf_nested_crop_fields(const kf_nested_level *level, const kf_fields *own, kf_fields *box);

#endif
