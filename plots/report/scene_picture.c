/* The picture of a run's scene, which is opened again. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plots/report/sections.h"
#include "results/facts.h"
#include "scene/scene.h"
#include "solver/picture/scene_view.h"

typedef struct scene_facts {
    char source[KF_PATH];
    double samples_per_cell;
} scene_facts;

static void note_fact(void *context, const char *name, const char *value) {
    scene_facts *facts = context;
    if (strcmp(name, "file") == 0) kf_copy_text(facts->source, sizeof facts->source, value);
    if (strcmp(name, "samples a cell") == 0) facts->samples_per_cell = strtod(value, NULL);
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
    scene_facts facts = {0};
    KF_TRY(kf_store_facts(store, run->id, KF_FACTS_SCENE, note_fact, &facts, error));
    if (!may_open(facts.source))
        return kf_fail(error, KF_BAD_INPUT, "%.300s: is not there any more", facts.source);
    kf_scene_options options = {.samples_per_cell = facts.samples_per_cell};
    memcpy(options.nodes, run->nodes, sizeof options.nodes);
    kf_scene *scene = NULL;
    KF_TRY(kf_scene_open(facts.source, &options, &scene, error));
    kf_status status = KF_OK;
    if (scene->mesh.triangle_count == 0)
        status = kf_fail(error, KF_BAD_INPUT, "the scene has no solid to show");
    else
        status = kf_scene_view_write(scene, false, path, error);
    kf_scene_free(scene);
    return status;
}
