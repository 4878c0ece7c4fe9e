#include "solver/output/series_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Says whether a file is of a kind, as "fields_000200.vtkhdf" is, and gives its step. */
static bool is_of_kind(const char *name, const char *kind, uint64_t *step) {
    const size_t length = strlen(kind);
    char *end = NULL;
    if (strncmp(name, kind, length) != 0 || name[length] != '_') return false;
    *step = strtoull(name + length + 1, &end, 10);
    return end != name + length + 1 && strcmp(end, ".vtkhdf") == 0;
}

static int by_step(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

typedef struct step_list {
    uint64_t *steps;
    size_t count, room;
} step_list;

static void add_step(step_list *list, uint64_t step) {
    if (list->count == list->room)
        list->steps = kf_reallocate(list->steps, (list->room = 2 * list->room + 64) * sizeof *list->steps);
    list->steps[list->count++] = step;
}

static kf_status add_those_before(step_list *list, const kf_series_files *files, const char *kind,
                                  kf_error *error) {
    uint64_t step;
    DIR *listing = NULL;
    if (files->first_step == 0) return KF_OK;
    KF_TRY(kf_folder_open(files->folder, &listing, error));
    for (const struct dirent *item; (item = readdir(listing)) != NULL;)
        if (is_of_kind(item->d_name, kind, &step) && step <= files->first_step) add_step(list, step);
    (void)closedir(listing);
    return KF_OK;
}

static void add_written(step_list *list, const kf_series_files *files, const char *kind) {
    uint64_t step;
    for (size_t i = 0; i < files->written_count; i++) {
        const char *slash = strrchr(files->written[i], '/');
        if (is_of_kind(slash != NULL ? slash + 1 : files->written[i], kind, &step)) add_step(list, step);
    }
}

/* By step, each once: a run may write the step again that it began from. */
static kf_status find_steps(const kf_series_files *files, const char *kind, step_list *list,
                            kf_error *error) {
    KF_TRY(add_those_before(list, files, kind, error));
    add_written(list, files, kind);
    if (list->count > 0) qsort(list->steps, list->count, sizeof *list->steps, by_step);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->steps[kept - 1] != list->steps[i]) list->steps[kept++] = list->steps[i];
    list->count = kept;
    return KF_OK;
}

kf_status kf_series_file_write(const kf_series_files *files, const char *kind, double time_step,
                               kf_error *error) {
    char path[KF_PATH];
    KF_TRY(kf_path(path, error, "%s/%s.vtkhdf.series", files->folder, kind));
    step_list list = {NULL, 0, 0};
    KF_TRY(find_steps(files, kind, &list, error));
    kf_text text = {0};
    kf_text_append(&text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [");
    for (size_t i = 0; i < list.count; i++)
        kf_text_append(&text, "%s\n    {\"name\": \"%s_%06" PRIu64 ".vtkhdf\", \"time\": %.9g}",
                       i > 0 ? "," : "", kind, list.steps[i], (double)list.steps[i] * time_step);
    kf_text_append(&text, "\n  ]\n}\n");
    const kf_status status = kf_file_write_atomic(path, text.text, text.length, error);
    kf_text_free(&text);
    free(list.steps);
    return status;
}
