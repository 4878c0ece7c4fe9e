#include "harness/cli/world_argument.h"

#include "base/backend/team/world.h"
#include "base/util/log.h"

static void say_nothing(const char *line) {
    (void)line;
}

kf_status kf_argument_world(const kf_arguments *arguments, kf_error *error) {
    if (!kf_argument_given(arguments, "--devices") || !kf_world_is_wanted()) return KF_OK;
    KF_TRY(kf_world_open(error));
    if (kf_world_rank() > 0) kf_log_to(say_nothing);
    return KF_OK;
}
