#include "harness/nightly/commit.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/worker/await.h"

enum { SHORT_COMMIT = 12 };
static const double GIT_SECONDS = 10.0;

/* Labels a night with its commit: from variables of the CI, otherwise from git in the folder. The label is
 * empty if neither knows it. */
void kf_commit_of(const char *folder, char label[KF_LABEL]) {
    static const char *const variables[] = {"GITHUB_SHA", "CI_COMMIT_SHA"};
    label[0] = '\0';
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *commit = getenv(variables[i]);
        if (commit == NULL || commit[0] == '\0') continue;
        kf_copy_text(label, SHORT_COMMIT + 1, commit);
        return;
    }
    const char *const words[] = {"git", "describe", "--always", "--dirty", "--tags", NULL};
    const kf_await_request request = {.words = words, .folder = folder, .limit_seconds = GIT_SECONDS};
    kf_awaited git;
    if (kf_await(&request, &git, NULL) == KF_OK && git.ended && git.status == 0 && git.out.text != NULL) {
        git.out.text[strcspn(git.out.text, "\n")] = '\0';
        kf_copy_text(label, KF_LABEL, git.out.text);
    }
    kf_awaited_free(&git);
}
