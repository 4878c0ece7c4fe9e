/* Declarations that nested_plan.c, nested_steps.c and nested_team.c share. */
#ifndef KF_SOLVER_KINETIC_NESTED_LEVELS_H
#define KF_SOLVER_KINETIC_NESTED_LEVELS_H

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/nested.h"

typedef struct kf_nested_plan {
    kf_nested *nested;
    kf_problem *problems[KF_MOST_LEVELS];
    kf_plan *plans[KF_MOST_LEVELS]; /* their buffers and modules belong to the joint plan */
    kf_module *modules[KF_MOST_LEVELS][KF_MOST_DEVICES]; /* [l][part] between level l - 1 and l */
    /* Cells within the rim that level l covers, after even and odd steps. */
    kf_launch covered[KF_MOST_LEVELS][2];
    kf_launch averaged;                /* KF_COARSEN_AVERAGED of level 1 */
    kf_mark *given[KF_LANES];          /* what a lane was given so far is done */
    kf_mark *reached[KF_MOST_DEVICES]; /* of a team: what a part was given so far is done */
} kf_nested_plan;

/* Crossings are the exchanges between level - 1 and level: interpolation to the ghost nodes, restriction to
 * the rim of the covered cells, and restriction to the other covered cells. */
typedef enum kf_crossing_kind {
    KF_REFINE,
    KF_COARSEN_RIM,
    KF_COARSEN_REST,
    KF_COARSEN_AVERAGED /* of the rest, the planes that averages of the domain are over */
} kf_crossing_kind;

static inline kf_nested_plan *kf_nested_of(const kf_plan *plan) {
    return plan->system;
}
static inline const kf_kinetic *kf_nested_kinetic(const kf_nested_plan *own, int level) {
    return own->plans[level]->system;
}

/* Prepares the launch of an exchange between level - 1 and level. `odd` says whether level - 1 has done an
 * odd number of steps. `part` selects a part's share on a team; KF_ALL_OF_IT selects the whole exchange, on
 * the first part. */
enum { KF_ALL_OF_IT = -1 };
kf_status kf_nested_prepare(const kf_nested_plan *own, int level, kf_crossing_kind what, bool odd, int part,
                            kf_launch *launch, kf_error *error);
/* Names an item after its kernel and level. */
void kf_nested_name_item(kf_item *item, const char *name, int level);
/* Finds the steps of the coarsest level in which an item is due at step number k of the level's 2^level
 * steps. These are the steps whose number modulo *period is *phase. Returns whether there are any. */
bool kf_nested_is_ever_due(const kf_item *item, int level, int k, int *period, int *phase);
/* Returns whether an exchange has any cells. */
bool kf_nested_has_items(const kf_launch *launch);
/* Append one step of the coarsest level to the joint plan. The plans of the levels and the exchanges must
 * exist. One function is for one device (nested_steps.c), the other for a team (nested_team.c). */
kf_status kf_nested_append_steps(kf_plan *plan, kf_error *error);
kf_status kf_nested_append_team_steps(kf_plan *plan, kf_error *error);

#endif
