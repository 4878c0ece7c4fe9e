#include "solver/output/series_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* "fields_000200.vtkhdf": true, and its step. */
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

static uint64_t *find_steps(const char *folder, const char *kind, size_t *count) {
    uint64_t *steps = NULL, step;
    size_t room = 0;
    *count = 0;
    DIR *listing = opendir(folder);
    for (const struct dirent *item; listing != NULL && (item = readdir(listing)) != NULL;) {
        if (!is_of_kind(item->d_name, kind, &step)) continue;
        if (*count == room) steps = kf_reallocate(steps, (room = 2 * room + 64) * sizeof *steps);
        steps[(*count)++] = step;
    }
    if (listing != NULL) closedir(listing);
    if (*count > 0) qsort(steps, *count, sizeof *steps, by_step);
    return steps;
}

kf_status kf_series_file_write(const char *folder, const char *kind, double time_step, kf_error *error) {
    char path[KF_PATH];
    size_t count;
    KF_TRY(kf_path(path, error, "%s/%s.vtkhdf.series", folder, kind));
    uint64_t *steps = find_steps(folder, kind, &count);
    kf_text text = {0};
    kf_text_append(&text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [");
    for (size_t i = 0; i < count; i++)
        kf_text_append(&text, "%s\n    {\"name\": \"%s_%06" PRIu64 ".vtkhdf\", \"time\": %.9g}",
                       i > 0 ? "," : "", kind, steps[i], (double)steps[i] * time_step);
    kf_text_append(&text, "\n  ]\n}\n");
    const kf_status status = kf_file_write_atomic(path, text.text, text.length, error);
    kf_text_free(&text);
    free(steps);
    return status;
}
