/* The picture of a run's scene, which is opened again. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plots/report/sections.h"
#include "results/facts.h"
#include "scene/scene.h"
#include "solver/picture/scene_view.h"

static void note_file(void *context, const char *name, const char *value) {
    if (strcmp(name, "file") == 0) kf_copy_text(context, KF_PATH, value);
}

/* A store may come from anybody, and so may the name in it: only ordinary files and shipped scenes are
 * opened. */
static bool may_open(const char *source) {
    struct stat information;
    if (stat(source, &information) == 0) return S_ISREG(information.st_mode);
    return source[0] != '\0' && strchr(source, '/') == NULL;
}

kf_status kf_report_scene_picture(kf_store *store, const kf_run_summary *run, const char *path,
                                  kf_error *error) {
    char source[KF_PATH] = "";
    KF_TRY(kf_store_facts(store, run->id, KF_FACTS_SCENE, note_file, source, error));
    if (!may_open(source)) return kf_fail(error, KF_BAD_INPUT, "%.300s: no longer exists", source);
    const kf_problem_options asked = kf_problem_options_of(run->facts, 0);
    kf_scene_options options = {.samples_per_cell = asked.samples_per_cell, .checked = true};
    memcpy(options.nodes, asked.nodes, sizeof options.nodes);
    kf_scene *scene = NULL;
    KF_TRY(kf_scene_open(source, &options, &scene, error));
    kf_status status = KF_OK;
    if (scene->mesh.triangle_count == 0)
        status = kf_fail(error, KF_BAD_INPUT, "the scene has no solid to show");
    else
        status = kf_scene_view_write(scene, false, path, error);
    kf_scene_free(scene);
    return status;
}
