/* Finds the commit that a night measures, so that a verdict can name it. */
#ifndef KF_HARNESS_NIGHTLY_COMMIT_H
#define KF_HARNESS_NIGHTLY_COMMIT_H

#include "results/nightly.h"

/* Asks the CI (GITHUB_SHA, CI_COMMIT_SHA: 12 digits), else `git describe --always --dirty --tags` in the
 * folder; "" where neither knows. */
void kf_commit_of(const char *folder, char label[KF_LABEL]);

#endif
