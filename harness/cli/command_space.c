/* The command kftune space shows the parameters, constraints, presets and size of a scene's space. */
#include <stdio.h>
#include <stdlib.h>

#include "base/backend/device_json.h"
#include "base/plan/system.h"
#include "base/space/space.h"
#include "base/util/json.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/worker/worker.h"

static const kf_option options[] = {
    KF_PROBLEM_OPTION,
    KF_SYSTEM_OPTION,
    {"--device", "cuda:N|cpu", "device the space is for (default: a GPU if one works, else the cpu)",
     KF_TEXT},
    KF_GRID_OPTIONS,
    KF_FIX_OPTION,
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    {NULL, NULL, NULL, KF_FLAG},
};

static void print_json(const kf_problem *problem, const kf_device_info *device, const kf_space *space) {
    cJSON *json = kf_json_answer("space");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(device));
    (void)cJSON_AddStringToObject(json, "scene", problem->name);
    (void)cJSON_AddItemToObject(json, "space", kf_space_to_json(space));
    kf_json_print(json);
}

static kf_status print_space(const kf_problem *problem, const kf_arguments *arguments, kf_error *error) {
    kf_device_info device;
    KF_TRY(kf_device_probe(kf_argument(arguments, "--device", NULL), &device, error));
    const char *const *fixed = NULL;
    int fixed_count = kf_argument_all(arguments, "--fix", &fixed);
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(problem, &device, fixed, fixed_count, &space, error));
    if (kf_arguments_json(arguments))
        print_json(problem, &device, space);
    else
        kf_space_print(space, stdout);
    kf_space_free(space);
    return KF_OK;
}

extern const kf_command kf_command_space;

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const kf_problem_options known = {.seed = 0};
    kf_problem *problem = NULL;
    KF_TRY(kf_argument_problem(arguments, &kf_command_space, NULL, NULL, &known, &problem, error));
    kf_problem_print_notes(problem);
    kf_status status = print_space(problem, arguments, error);
    kf_problem_free(problem);
    return status;
}

const kf_command kf_command_space = {
    .name = "space",
    .summary = "show the parameters, constraints, presets and size of a scene's space",
    .synopsis = "kftune space --scene FILE|NAME [options]",
    .description =
        "Prints the parameters of a scene's space with their values, their defaults and the presets.\n"
        "These depend on the scene and on the device.",
    .example = "kftune space --scene ahmed --device cpu",
    .options = options,
    .run = run,
};
