/* A regression planted on purpose: any system with a busy loop added to each of its steps, so that the whole
 * way from kernel to verdict can be tested. */
#ifndef KF_HARNESS_NIGHTLY_PLANTED_H
#define KF_HARNESS_NIGHTLY_PLANTED_H

#include "base/plan/system.h"

/* The same system with a launch of kernels/probe/busy.cu of so many rounds at the end of every step. One at a
 * time: the result and its plans are of use until the next call. */
const kf_system *kf_system_planted(const kf_system *system, long rounds);

#endif
