#include "solver/output/series_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/output/vtkhdf_read.h"

/* Says whether a file is of a kind, as "fields_000200.vtkhdf" is, and gives its step. */
static bool is_of_kind(const char *name, const char *kind, uint64_t *step) {
    const size_t length = strlen(kind);
    char *end = NULL;
    if (strncmp(name, kind, length) != 0 || name[length] != '_') return false;
    *step = strtoull(name + length + 1, &end, 10);
    return end != name + length + 1 && strcmp(end, ".vtkhdf") == 0;
}

/* Holds the moment of a file. Steps of particles are of different lengths, so that none follows from another.
 */
typedef struct moment {
    uint64_t step;
    /* In seconds; NAN when it is not known yet. */
    double time;
} moment;

static int by_step(const void *left, const void *right) {
    const uint64_t a = ((const moment *)left)->step, b = ((const moment *)right)->step;
    return a < b ? -1 : a > b;
}

typedef struct step_list {
    moment *moments;
    size_t count, room;
} step_list;

static void add_moment(step_list *list, uint64_t step, double time) {
    if (list->count == list->room)
        list->moments =
            kf_reallocate(list->moments, (list->room = 2 * list->room + 64) * sizeof *list->moments);
    list->moments[list->count++] = (moment){step, time};
}

static void sort(step_list *list) {
    if (list->count > 0) qsort(list->moments, list->count, sizeof *list->moments, by_step);
}

static kf_status add_those_before(step_list *list, const kf_series_files *files, const char *kind,
                                  kf_error *error) {
    uint64_t step;
    DIR *listing = NULL;
    if (files->first_step == 0) return KF_OK;
    KF_TRY(kf_folder_open(files->folder, &listing, error));
    for (const struct dirent *item; (item = readdir(listing)) != NULL;)
        if (is_of_kind(item->d_name, kind, &step) && step <= files->first_step)
            add_moment(list, step, (double)NAN);
    (void)closedir(listing);
    return KF_OK;
}

static void add_written(step_list *list, const kf_series_files *files, const char *kind) {
    uint64_t step;
    for (size_t i = 0; i < files->written_count; i++) {
        const char *slash = strrchr(files->written[i], '/');
        if (is_of_kind(slash != NULL ? slash + 1 : files->written[i], kind, &step))
            add_moment(list, step, (double)NAN);
    }
}

/* Collects the files by step, each step once. A run may write again the step at which it started. */
static kf_status find_steps(const kf_series_files *files, const char *kind, step_list *list,
                            kf_error *error) {
    KF_TRY(add_those_before(list, files, kind, error));
    add_written(list, files, kind);
    sort(list);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->moments[kept - 1].step != list->moments[i].step)
            list->moments[kept++] = list->moments[i];
    list->count = kept;
    return KF_OK;
}

/* Reads the facts about its files from an existing list. Reads nothing when there is no list, or another
 * text. */
static void read_known(const char *path, const char *kind, step_list *known) {
    cJSON *json = NULL;
    const cJSON *item;
    kf_error ignored;
    uint64_t step;
    if (access(path, F_OK) != 0 || kf_json_read_file(path, &json, &ignored) != KF_OK) return;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "files")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(item, "time");
        if (name != NULL && cJSON_IsNumber(time) && is_of_kind(name, kind, &step))
            add_moment(known, step, time->valuedouble);
    }
    cJSON_Delete(json);
    sort(known);
}

/* Finds the time of every file but the newest, of which it is given. */
static kf_status find_times(const char *folder, const char *kind, const step_list *known,
                            const moment *newest, step_list *list, kf_error *error) {
    char path[KF_PATH];
    for (size_t i = 0; i < list->count; i++) {
        moment *one = &list->moments[i];
        const moment *before =
            known->count > 0 ? bsearch(one, known->moments, known->count, sizeof *one, by_step) : NULL;
        if (one->step == newest->step)
            one->time = newest->time;
        else if (before != NULL)
            one->time = before->time;
        if (!isnan(one->time)) continue;
        KF_TRY(kf_path(path, error, "%s/%s_%06" PRIu64 ".vtkhdf", folder, kind, one->step));
        one->time = kf_vtkhdf_read_time(path);
    }
    return KF_OK;
}

static kf_status write_list(const char *path, const char *kind, const step_list *list, kf_error *error) {
    kf_text text = {0};
    const char *comma = "";
    kf_text_append(&text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [");
    for (size_t i = 0; i < list->count; i++) {
        if (isnan(list->moments[i].time)) continue;
        kf_text_append(&text, "%s\n    {\"name\": \"%s_%06" PRIu64 ".vtkhdf\", \"time\": %.9g}", comma, kind,
                       list->moments[i].step, list->moments[i].time);
        comma = ",";
    }
    kf_text_append(&text, "\n  ]\n}\n");
    const kf_status status = kf_file_write_atomic(path, text.text, text.length, error);
    kf_text_free(&text);
    return status;
}

kf_status kf_series_file_write(const kf_series_files *files, const char *kind, uint64_t step, double time,
                               kf_error *error) {
    char path[KF_PATH];
    KF_TRY(kf_path(path, error, "%s/%s.vtkhdf.series", files->folder, kind));
    step_list list = {NULL, 0, 0}, known = {NULL, 0, 0};
    kf_status status = find_steps(files, kind, &list, error);
    read_known(path, kind, &known);
    if (status == KF_OK)
        status = find_times(files->folder, kind, &known, &(moment){step, time}, &list, error);
    if (status == KF_OK) status = write_list(path, kind, &list, error);
    free(list.moments);
    free(known.moments);
    return status;
}
