/* A regression planted on purpose: any system with a busy loop added to each of its steps, so that the whole
 * way from kernel to verdict can be tested. */
#ifndef KF_TESTS_TOOLS_PLANTED_H
#define KF_TESTS_TOOLS_PLANTED_H

#include "base/plan/system.h"

/* Returns the same system with a launch of kernels/probe/busy.cu at the end of every step, or the system
 * itself where no rounds are planted. The rounds are those of the environment variable
 * KFTUNE_PLANTED_ROUNDS, or else of the file kernels/planted in the data folder. The result and its plans
 * are valid until the next call. */
const kf_system *kf_system_planted(const kf_system *system);

/* This holds for this process and those that it starts. */
void kf_planted_rounds_set(long rounds);

#endif
