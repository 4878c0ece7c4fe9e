/* Finds the commit that a night measures, for its verdicts. */
#ifndef KF_HARNESS_NIGHTLY_COMMIT_H
#define KF_HARNESS_NIGHTLY_COMMIT_H

#include "results/nightly.h"

/* Takes the commit from the CI (GITHUB_SHA, CI_COMMIT_SHA: 12 digits), otherwise from `git describe --always
 * --dirty --tags` in the folder; "": neither knows it. */
void kf_commit_of(const char *folder, char label[KF_LABEL]);

#endif
