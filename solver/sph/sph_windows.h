/* The moments of a run at which its steps are timed, where their cost changes along the way: a column of
 * water that falls, and what it has become when it splashes. */
#ifndef KF_SOLVER_SPH_SPH_WINDOWS_H
#define KF_SOLVER_SPH_SPH_WINDOWS_H

#include "solver/sph/sph.h"

/* Sets plan->windows, if the scene has several. */
void kf_sph_declare_windows(kf_plan *plan);
/* The method kf_plan_methods.seek. Its first call runs the same scene with larger spacings (SMALL
 * particles on a cpu, LARGE on a GPU) with the plan's config, and notes its state at the windows; every
 * particle of the plan then goes where the coarse one that it is part of is, and as fast. shift is of no
 * meaning: a window is one moment. */
kf_status kf_sph_seek(kf_plan *plan, int window, double shift, kf_error *error);

#endif
