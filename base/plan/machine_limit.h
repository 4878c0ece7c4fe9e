/* Limits that no machine of a kind exceeds. A step time below them cannot be right. */
#ifndef KF_BASE_PLAN_MACHINE_LIMIT_H
#define KF_BASE_PLAN_MACHINE_LIMIT_H

#include "base/backend/backend.h"

/* KF_GATE_FAILED if no such device can write so many bytes in step_us microseconds. Bytes beyond the
 * last-level cache are written no faster than the memory's peak rate. All bytes are written at most at 64
 * bytes a clock for each multiprocessor; on a cpu, at two cache lines a clock for each core at 6 GHz. If the
 * device is the first of a team, the limit is that of the whole team. */
kf_status kf_check_machine_limit(const kf_device_info *device, double bytes, double step_us, kf_error *error);

#endif
