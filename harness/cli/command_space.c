/* kftune space */
#include <stdio.h>
#include <stdlib.h>

#include "base/backend/device_json.h"
#include "base/space/space.h"
#include "harness/cli/command.h"
#include "harness/cli/scene_argument.h"
#include "harness/worker/worker.h"
#include "scene/scene.h"
#include "solver/systems.h"

static const kf_option options[] = {
    {"--scene", "FILE|NAME", "a mesh, a scene file or the name of a shipped scene", false},
    {"--system", "NAME", "family of solver (default: kinetic)", false},
    {"--problem", "FILE", "system t1: the T1 file of a kernel, instead of a scene", false},
    {"--device", "cuda:N|cpu", "device the space is for (default: a GPU if one works, else the cpu)", false},
    {"--grid", "NXxNYxNZ", "nodes of the domain (default: as the scene says)", false},
    {"--samples-per-cell", "R", "surface samples in a fluid cell (default: as the scene says)", false},
    {"--fix", "KEY=VALUE[,VALUE]", "leave a parameter only these values", true},
    {NULL, NULL, NULL, false},
};

static void print_json(const kf_scene *scene, const kf_device_info *device, const kf_space *space) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "command", "space");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(device));
    (void)cJSON_AddStringToObject(json, "scene", scene->name);
    (void)cJSON_AddItemToObject(json, "space", kf_space_to_json(space));
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    puts(text != NULL ? text : "null");
    free(text);
}

static kf_status print_space(const kf_system *system, const kf_scene *scene, const kf_arguments *arguments,
                             kf_error *error) {
    KF_TRY(system->accepts(scene, error));
    kf_device_info device;
    KF_TRY(kf_device_probe(kf_argument(arguments, "--device", NULL), &device, error));
    kf_variables variables = {0};
    system->variables(scene, &device, &variables);
    const char *const *fixed = NULL;
    int fixed_count = kf_argument_all(arguments, "--fix", &fixed);
    kf_space *space = NULL;
    KF_TRY(kf_space_open(system->name, system->space_file, &variables, fixed, fixed_count, &space, error));
    if (kf_arguments_json(arguments))
        print_json(scene, &device, space);
    else
        kf_space_print(space, stdout);
    kf_space_free(space);
    return KF_OK;
}

extern const kf_command kf_command_space;

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const kf_system *system = NULL;
    kf_scene_options scene_options = {{0, 0, 0}, 0.0, 0, 0};
    KF_TRY(kf_argument_grid(arguments, "--grid", scene_options.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", 0.01, 10000.0, &scene_options.samples_per_cell,
                              error));
    KF_TRY(kf_system_find(kf_argument(arguments, "--system", "kinetic"), &system, error));
    kf_scene *scene = NULL;
    KF_TRY(kf_argument_scene(arguments, &kf_command_space, system, &scene_options, &scene, error));
    kf_status status = print_space(system, scene, arguments, error);
    kf_scene_free(scene);
    return status;
}

const kf_command kf_command_space = {
    .name = "space",
    .summary = "show the parameters, constraints, presets and size of a scene's space",
    .synopsis = "kftune space --scene FILE|NAME [options]",
    .description =
        "A space depends on the scene and the device: domains and constraints are evaluated for both.",
    .example = "kftune space --scene ahmed --device cpu",
    .options = options,
    .run = run,
};
