/* The command kftune scene says what was understood of a mesh or a scene file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/cli/scene_fit.h"
#include "harness/cli/scene_summary.h"
#include "scene/document.h"
#include "solver/flow/flow_problem.h"
#include "solver/picture/scene_view.h"
#include "solver/systems.h"

static const kf_option options[] = {
    KF_PLACEMENT_OPTIONS,
    KF_GRID_OPTIONS,
    {"--device", "cuda:N|cpu", "say whether the grid fits this device's memory", KF_TEXT},
    {"--devices", "cuda:0-3|cpu,cpu", "say the same for a team that shares the grid (docs/teams.md)",
     KF_TEXT},
    {"--write", "FILE", "write a scene file that says the same", KF_TEXT},
    {"--picture", "FILE", "file of the picture (<scene>.scene.png); none: no picture", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};

static const char *const positional[] = {"FILE|NAME", NULL};

static kf_status refuse_writing(const char *name, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT,
                   "option '--write': %s is no mesh, and no option changes it; copy the scene file", name);
}

/* Refuses a scene that no system can run, or that the chosen system cannot, as kftune run does. */
static kf_status check_system(const char *name, kf_scene *scene, kf_error *error) {
    const kf_system *system = NULL;
    if (!kf_scene_is_mesh(name)) KF_TRY(kf_system_by_section(name, &system, error));
    kf_problem *problem = kf_flow_problem(system, scene, false);
    const kf_status status =
        system != NULL ? kf_system_accepts(system, problem, error) : kf_system_of_scene(problem, error);
    kf_problem_free(problem);
    return status;
}

/* Restores the former contents of the file, or removes it if it did not exist. */
static void put_back(const char *file, const char *before, size_t size) {
    kf_error ignored;
    if (before == NULL)
        (void)unlink(file);
    else if (kf_file_write_atomic(file, before, size, &ignored) != KF_OK)
        kf_warn("%s: is replaced by a scene that is refused: %s", file, ignored.message);
}

/* Writes the document and opens the written file. If no system can run the scene, the former file is
 * restored. */
static kf_status write_and_open(const cJSON *document, const char *file, const kf_scene_options *wanted,
                                kf_scene **scene, kf_error *error) {
    kf_error ignored;
    char *before = NULL;
    size_t size = 0;
    bool replaced = false;
    if (kf_file_read(file, 0, &before, &size, &ignored) != KF_OK) before = NULL;
    kf_status status = kf_scene_document_write(document, file, &replaced, error);
    if (status == KF_OK) {
        status = kf_scene_open(file, wanted, scene, error);
        if (status == KF_OK) {
            status = check_system(file, *scene, error);
            if (status != KF_OK) kf_scene_free(*scene);
        }
        if (status != KF_OK)
            put_back(file, before, size);
        else if (replaced)
            kf_info("%s: said something else, as kftune had made it of a mesh; replaced", file);
    }
    free(before);
    return status;
}

/* Writes the scene to the file of --write, and opens that file. */
static kf_status write_scene(const kf_arguments *arguments, const char *name, const char *file,
                             const kf_scene_options *wanted, kf_scene **scene, kf_error *error) {
    const kf_scene_options as_written = {.sections = wanted->sections, .described = true};
    char variant[128];
    cJSON *document = NULL;
    KF_TRY(kf_argument_document(arguments, wanted->nodes, wanted->samples_per_cell, name, NULL, &document,
                                variant, error));
    if (document == NULL && kf_ends_in(name, ".png")) KF_TRY(kf_scene_document_read(name, &document, error));
    if (document == NULL) return refuse_writing(name, error);
    const kf_status status = write_and_open(document, file, &as_written, scene, error);
    cJSON_Delete(document);
    return status;
}

/* Opens the scene with the options that place or change it. */
static kf_status open_scene(const kf_arguments *arguments, const char *name, kf_scene **scene,
                            kf_error *error) {
    kf_scene_options wanted = {.sections = kf_systems_scene_sections(), .described = true};
    kf_placement placement;
    KF_TRY(kf_argument_grid(arguments, "--grid", wanted.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", &wanted.samples_per_cell, error));
    KF_TRY(kf_argument_placement(arguments, &placement, error));
    const char *asked = kf_argument(arguments, "--write", NULL);
    if (asked != NULL) return write_scene(arguments, name, asked, &wanted, scene, error);
    if (kf_scene_is_mesh(name)) return kf_scene_open_placed(name, &placement, &wanted, scene, error);
    KF_TRY(kf_argument_placed(arguments, wanted.nodes, wanted.samples_per_cell, NULL, &name, error));
    return kf_scene_open(name, &wanted, scene, error);
}

/* Finds how much of the grid fits into the memory of the named devices. Without a named device nothing is
 * printed. */
static kf_status find_fit(const kf_arguments *arguments, const kf_scene *scene, kf_scene_fit *fit,
                          kf_error *error) {
    const char *spec = kf_argument_device(arguments, NULL);
    kf_backend *backend = NULL;
    if (spec == NULL) return KF_OK;
    KF_TRY(kf_backend_open(spec, &backend, error));
    *fit = kf_fit_scene(scene, kf_backend_device(backend));
    kf_backend_close(backend);
    return KF_OK;
}

static kf_status print_scene(const kf_arguments *arguments, const kf_scene *scene, const char *picture,
                             kf_error *error) {
    const kf_scene_summary summary = kf_summarise_scene(scene);
    const bool fits = kf_argument_device(arguments, NULL) != NULL;
    kf_scene_fit fit;
    KF_TRY(find_fit(arguments, scene, &fit, error));
    if (!kf_arguments_json(arguments)) {
        kf_scene_summary_print(scene, &summary, stdout);
        if (fits) kf_scene_fit_print(&fit, stdout);
        if (picture != NULL) printf("  picture      %s\n", picture);
        if (kf_argument_given(arguments, "--write"))
            printf("  written      %s\n", kf_argument(arguments, "--write", ""));
        return KF_OK;
    }
    cJSON *json = kf_scene_summary_json(scene, &summary);
    if (fits) cJSON_AddItemToObject(json, "fits", kf_scene_fit_json(&fit));
    if (picture != NULL) cJSON_AddStringToObject(json, "picture", picture);
    cJSON_AddStringToObject(json, "notes", scene->notes != NULL ? scene->notes : "");
    kf_json_print(json);
    return KF_OK;
}

/* Ignores the failure of a picture that was not asked for, so that the rest is still printed. */
static kf_status keep_going(const char *asked, kf_status drawn, const kf_error *error) {
    if (drawn != KF_MACHINE || asked != NULL) return drawn;
    kf_warn("no picture: %s", error->message);
    return KF_OK;
}

/* Returns whether --picture asks for no picture. */
static bool wants_no_picture(const kf_arguments *arguments) {
    return strcmp(kf_argument(arguments, "--picture", ""), "none") == 0;
}

static kf_status show(const kf_arguments *arguments, const kf_scene *scene, kf_error *error) {
    char path[KF_PATH];
    const char *picture = NULL;
    if (scene->notes != NULL && !kf_arguments_json(arguments)) kf_info("%s", scene->notes);
    const char *asked = kf_argument(arguments, "--picture", NULL);
    if (scene->mesh.triangle_count > 0 && !wants_no_picture(arguments) &&
        (asked != NULL || !kf_arguments_json(arguments))) {
        KF_TRY(kf_path(path, error, "%s%s", asked != NULL ? asked : scene->name,
                       asked != NULL ? "" : ".scene.png"));
        KF_TRY(keep_going(asked, kf_scene_view_write(scene, true, path, error), error));
        picture = error->status == KF_OK ? path : NULL;
    }
    return print_scene(arguments, scene, picture, error);
}

/* ---- Scenes of systems that are no flows: what they say of themselves ---- */

/* Prints the facts of a problem that is not a flow, as text or JSON. It warns if the problem is a program
 * that tuning would run. */
static void print_facts(const kf_arguments *arguments, const kf_problem *problem, const char *picture) {
    char text[KF_FACTS_TEXT];
    if (kf_arguments_json(arguments)) {
        cJSON *json = kf_json_answer("scene");
        cJSON_AddStringToObject(json, "scene", problem->name);
        cJSON_AddStringToObject(json, "system", problem->system->name);
        int size[3];
        (void)kf_facts_get_size(&problem->facts, size);
        cJSON_AddItemToObject(json, "grid", cJSON_CreateIntArray(size, 3));
        cJSON_AddItemToObject(json, "facts", kf_facts_to_json(&problem->facts));
        cJSON_AddItemToObject(json, "units", kf_facts_units(&problem->facts));
        cJSON_AddBoolToObject(json, "is_program", problem->system->program_ending != NULL);
        if (picture != NULL) cJSON_AddStringToObject(json, "picture", picture);
        cJSON_AddStringToObject(json, "notes", problem->notes.length > 0 ? problem->notes.text : "");
        kf_json_print(json);
        return;
    }
    printf("%s: %s, system %s\n", problem->name, kf_facts_text(&problem->facts, text), problem->system->name);
    for (int k = 0; k < problem->facts.count; k++) {
        const kf_fact *fact = &problem->facts.list[k];
        if (isnan(fact->value))
            printf("  %-22s %s\n", fact->name, fact->word);
        else if (fact->value == floor(fact->value) &&
                 fabs(fact->value) < 1e15) /* A count is printed with all its digits. */
            printf("  %-22s %.0f %s\n", fact->name, fact->value, fact->unit);
        else
            printf("  %-22s %.6g %s\n", fact->name, fact->value, fact->unit);
    }
    if (problem->system->program_ending != NULL)
        printf("  %-22s %s\n", "program",
               "a kernel that will be compiled and run: tune it only if you would run it yourself");
    if (picture != NULL) printf("  %-22s %s\n", "picture", picture);
    if (problem->notes.length > 0) kf_info("%s", problem->notes.text);
}

/* Draws the initial state of a problem; *drawn: the path of the picture. */
static kf_status draw_problem(const kf_arguments *arguments, const kf_problem *problem, char path[KF_PATH],
                              bool *drawn, kf_error *error) {
    const char *asked = kf_argument(arguments, "--picture", NULL);
    *drawn = problem->system->draw != NULL && !wants_no_picture(arguments);
    if (problem->system->draw == NULL && asked != NULL && !wants_no_picture(arguments))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--picture': there are no pictures of scenes of %s; leave the option out",
                       problem->system->name);
    if (!*drawn) return KF_OK;
    KF_TRY(kf_path(path, error, "%s%s", asked != NULL ? asked : problem->name,
                   asked != NULL ? "" : ".scene.png"));
    KF_TRY(keep_going(asked, problem->system->draw(problem, path, error), error));
    *drawn = error->status == KF_OK;
    return KF_OK;
}

/* Shows a problem that is not a flow. *shown: the file belongs to such a system. */
static kf_status show_problem(const kf_arguments *arguments, const char *name, bool *shown, kf_error *error) {
    kf_problem_options wanted = {.seed = 0};
    const kf_system *system;
    kf_problem *problem;
    *shown = false;
    if (kf_scene_is_mesh(name)) return KF_OK;
    KF_TRY(kf_system_by_section(name, &system, error));
    if (system == NULL) return KF_OK;
    cJSON *changed = NULL; /* It stays NULL, because options that change a flow are refused here. */
    char variant[128];
    KF_TRY(kf_argument_document(arguments, wanted.nodes, 0.0, name, NULL, &changed, variant, error));
    cJSON_Delete(changed);
    if (kf_argument_given(arguments, "--write")) return refuse_writing(name, error);
    KF_TRY(kf_argument_grid(arguments, "--grid", wanted.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", &wanted.samples_per_cell, error));
    KF_TRY(kf_problem_open(name, system->name, &wanted, &problem, error));
    *shown = true;
    char path[KF_PATH];
    bool drawn = false;
    const kf_status status = draw_problem(arguments, problem, path, &drawn, error);
    if (status == KF_OK) print_facts(arguments, problem, drawn ? path : NULL);
    kf_problem_free(problem);
    return status;
}

static kf_status check_samples(const kf_arguments *arguments, const kf_scene *scene, kf_error *error) {
    double samples_per_cell = 0.0;
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", &samples_per_cell, error));
    return kf_flow_check_samples(scene, samples_per_cell, error);
}

/* Runs kftune scene: shows the file as a flow's scene, otherwise as the problem of another system. If it is
 * neither, the error is that of the flow. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_scene *scene = NULL;
    bool shown;
    if (arguments->positional_count == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "scene: FILE|NAME is missing: a mesh, a scene file, or a shipped scene ('kftune list scenes')");
    KF_TRY(kf_argument_ending(arguments, "--write", ".json", error));
    KF_TRY(kf_argument_ending(arguments, "--picture", ".png", error));
    kf_error own = {KF_OK, ""};
    kf_status status = open_scene(arguments, arguments->positional[0], &scene, &own);
    if (status != KF_OK) { /* The file may belong to a system that is not a flow. */
        KF_TRY(show_problem(arguments, arguments->positional[0], &shown, error));
        if (shown) return KF_OK;
        *error = own;
        return status;
    }
    status = check_samples(arguments, scene, error);
    if (status == KF_OK) status = check_system(arguments->positional[0], scene, error);
    if (status == KF_OK) status = show(arguments, scene, error);
    kf_scene_free(scene);
    return status;
}

extern const kf_command kf_command_scene;
const kf_command kf_command_scene = {
    .name = "scene",
    .summary = "show how kftune understands a mesh or scene",
    .synopsis = "kftune scene FILE|NAME [options]",
    .description =
        "Draws the solid upright in the wind. Prints sizes, Reynolds number, the cost of a run, and what\n"
        "its grid cannot resolve. A scene of another system, without a stream, is described by its own\n"
        "facts. A mesh is placed by the options, and where none is given by a guess from its shape. An\n"
        "uncertain guess is an error that names the option to give. --write makes a scene file.",
    .example = "kftune scene ahmed",
    .options = options,
    .positional = positional,
    .run = run,
};
