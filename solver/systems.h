/* The table of systems. */
#ifndef KF_SOLVER_SYSTEMS_H
#define KF_SOLVER_SYSTEMS_H

#include "base/plan/system.h"
#include "scene/scene.h"

/* NULL-terminated table of all systems; nearest name in the error for an unknown one. */
extern const kf_system *const kf_systems[];
kf_status kf_system_find(const char *name, const kf_system **system, kf_error *error);

/* The sections that systems add to scenes (kf_system.scene_section), NULL-terminated. */
const kf_scene_section *const *kf_systems_scene_sections(void);

/* Gives a problem whose scene was made in memory the first system of the table that runs scenes as they are,
 * on teams too, and accepts this one; KF_BAD_INPUT with each one's reason when none does. */
kf_status kf_system_of_scene(kf_problem *problem, kf_error *error);

/* KF_BAD_INPUT, with the problem's file, where the system cannot run it. */
kf_status kf_system_accepts(const kf_system *system, const kf_problem *problem, kf_error *error);

/* The system whose section the scene's file has; NULL: none has one of its own. KF_BAD_INPUT where that
 * system's problems are programs and the file's name does not say so: what may come from anybody must not run
 * anything. */
kf_status kf_system_by_section(const char *source, const kf_system **system, kf_error *error);

/* Opens what a user named: a file, or a shipped scene. system: its name; NULL: the one whose section the file
 * has, else the first of the table that accepts it. The caller frees with kf_problem_free. */
kf_status kf_problem_open(const char *source, const char *system, const kf_problem_options *options,
                          kf_problem **problem, kf_error *error);

#endif
