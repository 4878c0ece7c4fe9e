/* Lists the commands. */
#include <stddef.h>

#include "harness/cli/command.h"

extern const kf_command kf_command_tune, kf_command_run, kf_command_space, kf_command_bench, kf_command_store,
    kf_command_plot, kf_command_roofs, kf_command_replay, kf_command_predict, kf_command_validate,
    kf_command_doctor, kf_command_scene, kf_command_list, kf_command_nightly, kf_command_report,
    kf_command_demo, kf_command_completion, kf_command_landscape, kf_command_judge, kf_command_compare,
    kf_command_plan;

const kf_command *const kf_commands[] = {
    &kf_command_tune,      &kf_command_run,
    &kf_command_compare,   &kf_command_scene,
    &kf_command_space,     &kf_command_predict,
    &kf_command_validate,  &kf_command_bench,
    &kf_command_roofs,     &kf_command_replay,
    &kf_command_nightly,   &kf_command_store,
    &kf_command_plot,      &kf_command_report,
    &kf_command_doctor,    &kf_command_list,
    &kf_command_landscape, &kf_command_judge,
    &kf_command_demo,      &kf_command_completion,
    &kf_command_plan,      NULL,
};
