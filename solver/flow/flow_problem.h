/* The problems of flows: a scene is what is inside. */
#ifndef KF_SOLVER_FLOW_FLOW_PROBLEM_H
#define KF_SOLVER_FLOW_FLOW_PROBLEM_H

#include "base/plan/system.h"
#include "scene/scene.h"

/* The scene that a user's words mean; the caller's to free with kf_scene_free. */
kf_status kf_flow_scene_open(const char *source, const kf_problem_options *options, kf_scene **scene,
                             kf_error *error);

/* Implement kf_system.open and kf_system.trial for systems that run scenes as they are: the trial is the
 * scene on at most 24000 nodes, for 10 steps; of nested grids for 4, in which the finest does 8 or 16. */
kf_status kf_flow_problem_open(const char *source, const kf_problem_options *options, kf_problem **problem,
                               kf_error *error);
kf_status kf_flow_problem_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error);

/* A problem of this scene, with name, source, hash, seed, facts and notes from it. It takes the scene over
 * (owned), or leaves it to whoever made it. */
kf_problem *kf_flow_problem(const kf_system *system, kf_scene *scene, bool owned);

/* Refuses a scene with nested grids, or a face that is none of the known ones: a system names what it
 * computes, so that a boundary condition of another one is not taken for one of its own. */
kf_status kf_flow_check_faces(const kf_scene *scene, const char *system, const kf_boundary *known, int count,
                              kf_error *error);

/* Returns whether the problem was opened as a flow: then there is a scene inside. */
bool kf_problem_is_flow(const kf_problem *problem);

/* Only for the problems and plans of flows. */
static inline const kf_scene *kf_problem_scene(const kf_problem *problem) {
    return problem->own;
}
static inline const kf_scene *kf_plan_scene(const kf_plan *plan) {
    return plan->problem->own;
}

#endif
