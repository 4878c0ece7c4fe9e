/* Plans of nested grids, for the files that make them: nested_plan.c and nested_steps.c. */
#ifndef KF_SOLVER_KINETIC_NESTED_LEVELS_H
#define KF_SOLVER_KINETIC_NESTED_LEVELS_H

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/nested.h"

typedef struct kf_nested_plan {
    kf_nested *nested;
    kf_problem *problems[KF_MOST_LEVELS];
    kf_plan *plans[KF_MOST_LEVELS]; /* whose buffers and modules belong to the plan of all */
    kf_module *modules[KF_MOST_LEVELS][KF_MOST_DEVICES]; /* [l][part] between level l - 1 and l */
    /* Cells within the rim that level l covers, after even and odd steps. */
    kf_launch covered[KF_MOST_LEVELS][2];
    kf_launch averaged;                /* KF_COARSEN_AVERAGED of level 1 */
    kf_mark *given[KF_LANES];          /* what a lane was given so far is done */
    kf_mark *reached[KF_MOST_DEVICES]; /* of a team: what a part was given so far is done */
} kf_nested_plan;

/* Crossings between level - 1 and level: to its ghosts; to the rim of what it covers, and to the rest. */
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

/* Prepares a launch between level - 1, after an odd or an even number of its steps, and level; of a team the
 * part's share of it, or all of it on the first part (KF_ALL_OF_IT). */
enum { KF_ALL_OF_IT = -1 };
kf_status kf_nested_prepare(const kf_nested_plan *own, int level, kf_crossing_kind what, bool odd, int part,
                            kf_launch *launch, kf_error *error);
/* Names an item by its kernel and level. */
void kf_nested_name_item(kf_item *item, const char *name, int level);
/* Finds the steps of the coarsest level in which step number k of 2^level is one that an item is due at:
 * those that leave the phase over the period. */
bool kf_nested_is_ever_due(const kf_item *item, int level, int k, int *period, int *phase);
/* Returns whether a crossing has anything to do. */
bool kf_nested_has_items(const kf_launch *launch);
/* Append a step of the coarsest level to the plan of all, whose levels' plans and crossings are there: on one
 * device (nested_steps.c), and on a team's (nested_team.c). */
kf_status kf_nested_append_steps(kf_plan *plan, kf_error *error);
kf_status kf_nested_append_team_steps(kf_plan *plan, kf_error *error);

#endif
