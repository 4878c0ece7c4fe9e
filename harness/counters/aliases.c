/* Finds a chip's name for a metric. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "harness/counters/metric_set.h"

/* A line of the table: on chips that match the pattern, the metric has this name; "-": the chips lack it. */
typedef struct alias {
    char *chip, *metric, *name;
} alias;

struct kf_aliases {
    char *text; /* it contains the words of all lines */
    alias *list;
    size_t count;
};

/* Reads the table of aliases. A line has a pattern for chips, a metric, and the chips' name for it. The
 * entries point into the text, so both live equally long. */
static kf_status read_table(const char *path, kf_aliases *aliases, kf_error *error) {
    char *lines = NULL;
    int number = 0;
    for (char *line = strtok_r(aliases->text, "\n", &lines); line != NULL;
         line = strtok_r(NULL, "\n", &lines)) {
        char *words = NULL;
        number++;
        if (line[0] == '#') continue;
        alias entry = {.chip = strtok_r(line, " \t\r", &words)};
        if (entry.chip == NULL) continue;
        entry.metric = strtok_r(NULL, " \t\r", &words);
        entry.name = strtok_r(NULL, " \t\r", &words);
        if (entry.name == NULL || strtok_r(NULL, " \t\r", &words) != NULL)
            return kf_fail(error, KF_BAD_INPUT, "%s: entry %d: expected CHIPS METRIC NAME", path, number);
        aliases->list = kf_reallocate(aliases->list, (aliases->count + 1) * sizeof *aliases->list);
        aliases->list[aliases->count++] = entry;
    }
    return KF_OK;
}

/* Opens the table of aliases in kftune's data folder. */
kf_status kf_aliases_open(kf_aliases **aliases, kf_error *error) {
    const char *folder;
    char path[KF_PATH];
    size_t size = 0;
    *aliases = NULL;
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(path, error, "%s/metrics/aliases.txt", folder));
    kf_aliases *made = kf_allocate_zeroed(1, sizeof *made);
    kf_status status = kf_file_read(path, 1 << 20, &made->text, &size, error);
    if (status == KF_OK) status = read_table(path, made, error);
    if (status == KF_OK)
        *aliases = made;
    else
        kf_aliases_free(made);
    return status;
}

const char *kf_alias(const kf_aliases *aliases, const char *chip, const char *metric) {
    for (size_t i = 0; i < aliases->count; i++) {
        const alias *entry = &aliases->list[i];
        if (strcmp(entry->metric, metric) == 0 && fnmatch(entry->chip, chip, 0) == 0)
            return strcmp(entry->name, "-") == 0 ? NULL : entry->name;
    }
    return metric;
}

void kf_aliases_free(kf_aliases *aliases) {
    if (aliases == NULL) return;
    free(aliases->list);
    free(aliases->text);
    free(aliases);
}
