/* Problems of the sph system. */
#ifndef KF_SOLVER_SPH_SPH_PROBLEM_H
#define KF_SOLVER_SPH_SPH_PROBLEM_H

#include "base/plan/system.h"
#include "scene/particles.h"

/* Opens a scene of particles: a file or a shipped scene by name. The caller frees *problem. */
kf_status kf_sph_problem_open(const char *source, const kf_problem_options *options, kf_problem **problem,
                              kf_error *error);
/* Makes the trial: the same scene with a few thousand particles. Their positions are randomised, so that no
 * two pairs are equal. */
kf_status kf_sph_problem_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error);
/* Makes the problem of a scene, which it takes over. */
kf_problem *kf_sph_problem(kf_particle_scene *scene);

#endif
