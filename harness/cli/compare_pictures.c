#include "harness/cli/compare_pictures.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/run_duration.h"
#include "solver/output/vtkhdf_read.h"
#include "solver/picture/picture.h"
#include "solver/systems.h"

/* A run's scene and its last flow. */
typedef struct drawn_run {
    const char *folder;
    kf_problem *problem;
    kf_snapshot flow;
} drawn_run;

/* Finds the file KIND_000200.vtkhdf with the largest number; *found is false where there is none. */
static kf_status newest(const char *folder, const char *kind, char path[KF_PATH], bool *found,
                        kf_error *error) {
    DIR *entries = NULL;
    long most = -1;
    KF_TRY(kf_folder_open(folder, &entries, error));
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const size_t length = strlen(kind);
        char *end = NULL;
        if (strncmp(entry->d_name, kind, length) != 0 || entry->d_name[length] != '_') continue;
        const long step = strtol(entry->d_name + length + 1, &end, 10);
        if (strcmp(end, ".vtkhdf") != 0 || step <= most) continue;
        if (kf_path(path, NULL, "%s/%s", folder, entry->d_name) == KF_OK) most = step;
    }
    (void)closedir(entries);
    *found = most >= 0;
    return KF_OK;
}

/* Opens the scene in a run's folder and its newest fields of this kind ("mean" or "fields"). */
static kf_status open_run(const char *folder, const char *kind, drawn_run *run, kf_error *error) {
    char path[KF_PATH];
    const kf_problem_options options = {.samples_per_cell = 0.0};
    run->folder = folder;
    KF_TRY(kf_path(path, error, "%s/scene.json", folder));
    KF_TRY(kf_problem_open(path, NULL, &options, &run->problem, error));
    const kf_scene *scene = kf_run_scene(run->problem);
    if (scene == NULL || scene->motion.free)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--pictures': %s is not a flow around solids with a prescribed motion",
                       folder);
    bool found = false;
    KF_TRY(newest(folder, kind, path, &found, error));
    if (!found)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--pictures': %s keeps no fields; run it without --fields none", folder);
    KF_TRY(kf_vtkhdf_read(path, &run->flow, error));
    if (memcmp(run->flow.nodes, kf_scene_of_outputs(scene)->nodes, sizeof run->flow.nodes) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: has other nodes than the run's scene", path);
    return KF_OK;
}

/* Refuses flows on different grids, because their fields cannot be subtracted. */
static kf_status check_grids(const drawn_run *first, const drawn_run *run, kf_error *error) {
    const int *a = first->flow.nodes, *b = run->flow.nodes;
    if (memcmp(a, b, sizeof first->flow.nodes) == 0 &&
        fabs(first->flow.spacing[0] - run->flow.spacing[0]) <= 1e-9 * first->flow.spacing[0])
        return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "option '--pictures': %s has %dx%dx%d cells of %.4g m, %s %dx%dx%d of %.4g m; only flows "
                   "on the same grid can be subtracted",
                   first->folder, a[0], a[1], a[2], first->flow.spacing[0], run->folder, b[0], b[1], b[2],
                   run->flow.spacing[0]);
}

/* Draws one picture, or only widens the colour range of its kind. less: the first run, which is subtracted;
 * NULL: the flow itself is drawn. */
static kf_status draw(const drawn_run *run, const drawn_run *less, int letter, const char *folder,
                      kf_picture_view *view, kf_error *error) {
    const kf_scene *scene = kf_run_scene(run->problem);
    char path[KF_PATH], caption[KF_PATH + 32];
    view->minus = less != NULL ? &less->flow : NULL;
    if (!view->ranged) {
        double low, high;
        KF_TRY(kf_picture_range(scene, &run->flow, view, &low, &high, error));
        view->low = fmin(view->low, low);
        view->high = fmax(view->high, high);
        return KF_OK;
    }
    (void)snprintf(caption, sizeof caption, less != NULL ? "%c minus a" : "%c: %s", 'a' + letter,
                   run->folder);
    view->caption = caption;
    KF_TRY(kf_path(path, error, "%s/%s_%c%s.png", folder, kf_picture_fields[view->field], 'a' + letter,
                   less != NULL ? "-a" : ""));
    return kf_picture_write(path, scene, &run->flow, NULL, view, error);
}

/* Draws all runs in one colour scale, or the differences of all from the first in another one. */
static kf_status draw_kind(const drawn_run *runs, int count, bool mean, kf_picture_field field,
                           bool differences, const char *folder, kf_error *error) {
    kf_picture_view view = {.field = field, .normal = KF_AXIS_AUTO, .mean = mean};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = differences ? 1 : 0; i < count; i++)
            KF_TRY(draw(&runs[i], differences ? &runs[0] : NULL, i, folder, &view, error));
        view.ranged = true;
    }
    return KF_OK;
}

static kf_status draw_all(const drawn_run *runs, int count, bool mean, const char *folder, kf_error *error) {
    static const kf_picture_field fields[] = {KF_PICTURE_SPEED, KF_PICTURE_PRESSURE};
    for (int i = 1; i < count; i++)
        KF_TRY(check_grids(&runs[0], &runs[i], error));
    KF_TRY(kf_make_folders(folder, error));
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (int differences = 0; differences < 2; differences++)
            KF_TRY(draw_kind(runs, count, mean, fields[f], differences != 0, folder, error));
    return KF_OK;
}

/* Draws means if all runs have them, otherwise the last fields. */
kf_status kf_compare_pictures(const char *const *folders, int count, const char *folder, kf_error *error) {
    char path[KF_PATH];
    bool mean = true;
    drawn_run *runs = kf_allocate_zeroed((size_t)count, sizeof *runs);
    kf_status status = KF_OK;
    for (int i = 0; i < count && mean && status == KF_OK; i++)
        status = newest(folders[i], "mean", path, &mean, error);
    for (int i = 0; i < count && status == KF_OK; i++)
        status = open_run(folders[i], mean ? "mean" : "fields", &runs[i], error);
    if (status == KF_OK) status = draw_all(runs, count, mean, folder, error);
    for (int i = 0; i < count; i++) {
        kf_snapshot_free(&runs[i].flow);
        kf_problem_free(runs[i].problem);
    }
    free(runs);
    return status;
}
