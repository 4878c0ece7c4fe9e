/* Problems of flows, which contain a scene. */
#ifndef KF_SOLVER_FLOW_FLOW_PROBLEM_H
#define KF_SOLVER_FLOW_FLOW_PROBLEM_H

#include "base/plan/system.h"
#include "scene/scene.h"

/* Opens the scene that the user named. The caller frees it with kf_scene_free. */
kf_status kf_flow_scene_open(const char *source, const kf_problem_options *options, kf_scene **scene,
                             kf_error *error);

/* KF_BAD_INPUT if the user asks for a number of samples and nothing in the scene is sampled. */
kf_status kf_flow_check_samples(const kf_scene *scene, double samples_per_cell, kf_error *error);

/* The methods open and trial of systems that run plain scenes. The trial is the scene on at most 24000 nodes
 * for 10 steps; with nested grids for 4 steps, in which the finest grid takes 8 or 16. */
kf_status kf_flow_problem_open(const char *source, const kf_problem_options *options, kf_problem **problem,
                               kf_error *error);
kf_status kf_flow_problem_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error);

/* Makes the problem of a scene, with its name, source, hash, seed, facts and notes. owned: the problem frees
 * the scene. */
kf_problem *kf_flow_problem(const kf_system *system, kf_scene *scene, bool owned);

/* KF_BAD_INPUT for a scene with nested grids, or with a kind of face that is not in `known`. A system lists
 * what it computes, so that a boundary condition of another system is never silently ignored. */
kf_status kf_flow_check_faces(const kf_scene *scene, const char *system, const kf_boundary *known, int count,
                              kf_error *error);

/* Returns whether the problem was opened as a flow, so that it contains a scene. */
bool kf_problem_is_flow(const kf_problem *problem);

/* Return the scene of a problem or plan, which must be a flow's. */
static inline const kf_scene *kf_problem_scene(const kf_problem *problem) {
    return problem->own;
}
static inline const kf_scene *kf_plan_scene(const kf_plan *plan) {
    return plan->problem->own;
}

#endif
