/* The double precision reference solution on nested grids (nested.h), which the gate compares kernels with.
 */
#ifndef KF_SOLVER_KINETIC_NESTED_REFERENCE_H
#define KF_SOLVER_KINETIC_NESTED_REFERENCE_H

#include "solver/kinetic/nested.h"
#include "solver/kinetic/reference.h"

typedef struct kf_nested_run kf_nested_run;

/* Begins a run at the initial state of the scenes, in equilibrium. kf_nested_end frees it. */
kf_nested_run *kf_nested_begin(const kf_nested *nested);
/* Takes a step of the coarsest level; step counts from 0. */
void kf_nested_advance(kf_nested_run *run, int step);
/* Returns the mass of the domain in cells of the coarsest level. Each place counts on its finest level only.
 */
double kf_nested_mass(const kf_nested_run *run);
/* Stores the state of each level in `results` and frees the run. Cells that a finer level covers are means of
 * its nodes. The caller owns the values of the results. */
void kf_nested_end(kf_nested_run *run, kf_reference_result results[KF_MOST_LEVELS]);

#endif
