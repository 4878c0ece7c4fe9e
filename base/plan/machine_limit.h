/* Limits that no machine of a kind passes. A shorter time cannot be that of the work that it stands for. */
#ifndef KF_BASE_PLAN_MACHINE_LIMIT_H
#define KF_BASE_PLAN_MACHINE_LIMIT_H

#include "base/backend/backend.h"

/* KF_GATE_FAILED where so many bytes cannot be written in step_us microseconds: what the last-level cache
 * does not hold goes no faster than the memory's peak, and nothing faster than 64 bytes a clock for each
 * multiprocessor, or for a core of a cpu two lines at 6 GHz. Of a team, whose device this is the first of,
 * all devices together. */
kf_status kf_check_machine_limit(const kf_device_info *device, double bytes, double step_us, kf_error *error);

#endif
