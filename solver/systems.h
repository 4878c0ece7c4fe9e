/* The table of systems. */
#ifndef KF_SOLVER_SYSTEMS_H
#define KF_SOLVER_SYSTEMS_H

#include "base/plan/system.h"

/* NULL-terminated table of all systems; nearest name in the error for an unknown one. */
extern const kf_system *const kf_systems[];
kf_status kf_system_find(const char *name, const kf_system **system, kf_error *error);

#endif
