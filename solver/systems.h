/* The table of systems. */
#ifndef KF_SOLVER_SYSTEMS_H
#define KF_SOLVER_SYSTEMS_H

#include "base/plan/system.h"
#include "scene/scene.h"

/* All systems, NULL-terminated. kf_system_find finds one by its name; the error for an unknown name has the
 * nearest one. */
extern const kf_system *const kf_systems[];
kf_status kf_system_find(const char *name, const kf_system **system, kf_error *error);

/* Returns the sections that systems add to scenes (kf_system.scene_section), NULL-terminated. */
const kf_scene_section *const *kf_systems_scene_sections(void);

/* Finds the system of a problem whose scene was made in memory: the first of the table that runs plain
 * scenes, also on teams, and accepts this one. If none does, KF_BAD_INPUT has the reason of each. */
kf_status kf_system_of_scene(kf_problem *problem, kf_error *error);

/* KF_BAD_INPUT, naming the problem's file, if the system cannot run it. */
kf_status kf_system_accepts(const kf_system *system, const kf_problem *problem, kf_error *error);

/* Finds the system to which a section of the scene's file belongs; NULL: no section belongs to one.
 * KF_BAD_INPUT if problems of that system are programs and the file's name does not say so: a file from
 * anybody must not run anything. */
kf_status kf_system_by_section(const char *source, const kf_system **system, kf_error *error);

/* Opens a file or a shipped scene. system: a system's name; NULL: the one to which a section of the file
 * belongs, else the first of the table that accepts it. The caller frees it with kf_problem_free. */
kf_status kf_problem_open(const char *source, const char *system, const kf_problem_options *options,
                          kf_problem **problem, kf_error *error);

#endif
