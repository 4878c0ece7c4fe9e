/* The moments of a run at which its steps are timed if their cost changes along the run: for instance a
 * column of water that falls, and its state when it splashes. */
#ifndef KF_SOLVER_SPH_SPH_WINDOWS_H
#define KF_SOLVER_SPH_SPH_WINDOWS_H

#include "solver/sph/sph.h"

/* Sets plan->windows, if the scene has several. */
void kf_sph_declare_windows(kf_plan *plan);
/* The method kf_plan_methods.seek. The first call runs the same scene with larger spacings (SMALL particles
 * on a cpu, LARGE on a GPU) and the plan's config, and stores its state at the windows. Each particle of the
 * plan then gets position and velocity of the coarse particle that it is part of. shift is not used: a window
 * is one moment. */
kf_status kf_sph_seek(kf_plan *plan, int window, double shift, kf_error *error);

#endif
