/* kftune scene: what was understood of a mesh or a scene file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/scene_summary.h"
#include "scene/placement.h"
#include "solver/picture/scene_view.h"

static const kf_option options[] = {
    KF_PLACEMENT_OPTIONS,
    {"--grid", "NXxNYxNZ", "nodes of the domain (default: as the scene says)", false},
    {"--samples-per-cell", "R", "surface samples in a fluid cell (default: as the scene says)", false},
    {"--write", "FILE", "a mesh: write the scene file that says all this, to go on from", false},
    {"--picture", "FILE", "where the picture goes (<scene>.scene.png)", false},
    {NULL, NULL, NULL, false},
};

static const char *const positional[] = {"FILE|NAME", NULL};

/* A mesh is placed as the options say. */
static kf_status open_scene(const kf_arguments *arguments, const char *name, kf_scene **scene,
                            kf_error *error) {
    kf_scene_options wanted = {.seed = 0};
    kf_placement placement;
    KF_TRY(kf_argument_grid(arguments, "--grid", wanted.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", 1.0, 1000.0, &wanted.samples_per_cell, error));
    KF_TRY(kf_argument_placement(arguments, &placement, error));
    const char *asked = kf_argument(arguments, "--write", NULL);
    if (!kf_scene_is_mesh(name)) {
        if (asked != NULL)
            return kf_fail(error, KF_BAD_INPUT, "option '--write': %s is no mesh; copy the scene file", name);
        KF_TRY(kf_argument_placed(arguments, wanted.nodes, wanted.samples_per_cell, &name, error));
        return kf_scene_open(name, &wanted, scene, error);
    }
    if (asked == NULL) return kf_scene_open_placed(name, &placement, &wanted, scene, error);
    KF_TRY(kf_scene_write_placed(name, &placement, wanted.nodes, wanted.samples_per_cell, asked, error));
    const kf_scene_options as_written = {.seed = 0};
    return kf_scene_open(asked, &as_written, scene, error);
}

static kf_status print_scene(const kf_arguments *arguments, const kf_scene *scene, const char *picture) {
    const kf_scene_summary summary = kf_summarise_scene(scene);
    if (!kf_arguments_json(arguments)) {
        kf_scene_summary_print(scene, &summary, stdout);
        if (picture != NULL) printf("  picture     %s\n", picture);
        if (kf_argument_given(arguments, "--write"))
            printf("  written     %s\n", kf_argument(arguments, "--write", ""));
        return KF_OK;
    }
    cJSON *json = kf_scene_summary_json(scene, &summary);
    cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    cJSON_AddStringToObject(json, "command", "scene");
    if (picture != NULL) cJSON_AddStringToObject(json, "picture", picture);
    cJSON_AddStringToObject(json, "notes", scene->notes != NULL ? scene->notes : "");
    char *text = cJSON_Print(json);
    puts(text);
    free(text);
    cJSON_Delete(json);
    return KF_OK;
}

static kf_status show(const kf_arguments *arguments, const kf_scene *scene, kf_error *error) {
    char path[KF_PATH];
    const char *picture = NULL;
    if (scene->notes != NULL && !kf_arguments_json(arguments)) kf_info("%s", scene->notes);
    if (scene->mesh.triangle_count > 0) {
        const char *asked = kf_argument(arguments, "--picture", NULL);
        KF_TRY(kf_path(path, error, "%s%s", asked != NULL ? asked : scene->name,
                       asked != NULL ? "" : ".scene.png"));
        KF_TRY(kf_scene_view_write(scene, true, path, error));
        picture = path;
    }
    return print_scene(arguments, scene, picture);
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_scene *scene = NULL;
    if (arguments->positional_count == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "scene: FILE|NAME is missing: a mesh, a scene file, or a shipped scene ('kftune list scenes')");
    KF_TRY(open_scene(arguments, arguments->positional[0], &scene, error));
    const kf_status status = show(arguments, scene, error);
    kf_scene_free(scene);
    return status;
}

extern const kf_command kf_command_scene;
const kf_command kf_command_scene = {
    .name = "scene",
    .summary = "show what was understood of a mesh or scene",
    .synopsis = "kftune scene FILE|NAME [options]",
    .description = "Draws the solid right side up with the wind, and prints sizes, Reynolds number, what a "
                   "run costs and what its\n"
                   "grid cannot do. A mesh is placed as the options say, else by a guess from its shape; a "
                   "guess that is not sure\n"
                   "is an error that names the option. --write makes a scene file of it.",
    .example = "kftune scene ahmed",
    .options = options,
    .positional = positional,
    .run = run,
};
