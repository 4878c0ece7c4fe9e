/* Finds suites by name or file. */
#include "harness/bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/bench/suite_run.h"

enum { MOST_SUITES = 64 };

/* Names of the shipped suites of comparisons, without those for nights. Each name is owned. */
typedef struct suite_names {
    char *list[MOST_SUITES];
    const char *summaries[MOST_SUITES]; /* the descriptions in the files */
    cJSON *files[MOST_SUITES];
    int count;
} suite_names;

static int compare_files(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Lists the shipped suites: those in code, and the data files that contain figures. A file that is not JSON
 * is left out. */
static kf_status list_names(suite_names *names, kf_error *error) {
    const char *data = NULL;
    char folder[KF_PATH], path[KF_PATH];
    struct dirent **entries = NULL;
    *names = (suite_names){.list = {kf_duplicate(kf_suite_search.name), kf_duplicate(kf_suite_scaling.name)},
                           .summaries = {kf_suite_search.summary, kf_suite_scaling.summary},
                           .count = 2};
    KF_TRY(kf_data_folder(&data, error));
    KF_TRY(kf_path(folder, error, "%s/suites", data));
    const int count = scandir(folder, &entries, NULL, compare_files);
    if (count < 0) return kf_fail(error, KF_MACHINE, "%s: cannot be listed: %s", folder, strerror(errno));
    kf_status status = KF_OK;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        cJSON *root = NULL;
        if (status == KF_OK && names->count < MOST_SUITES && kf_ends_in(name, ".json")) {
            status = kf_path(path, error, "%s/%s", folder, name);
            if (status == KF_OK) status = kf_json_read_known(path, &root, error);
        }
        if (cJSON_HasObjectItem(root, "figures")) {
            const char *summary = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "description"));
            names->list[names->count] = kf_duplicate(name);
            names->list[names->count][strlen(name) - strlen(".json")] = '\0';
            names->summaries[names->count] = summary != NULL ? summary : "";
            names->files[names->count++] = root;
        } else {
            cJSON_Delete(root);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static void free_names(suite_names *names) {
    for (int i = 0; i < names->count; i++) {
        free(names->list[i]);
        cJSON_Delete(names->files[i]);
    }
}

/* Refuses the name of a suite, with the reason and the known names. */
static kf_status refuse(const char *name, kf_error *error) {
    suite_names names;
    kf_text all = {0};
    const kf_status listed = list_names(&names, error);
    if (listed != KF_OK) {
        free_names(&names);
        return listed;
    }
    for (int i = 0; i < names.count; i++)
        kf_text_append(&all, "%s%s", i > 0 ? ", " : "", names.list[i]);
    const char *nearest =
        name != NULL ? kf_nearest(name, (const char *const *)names.list, names.count) : NULL;
    const kf_status status =
        name == NULL ? kf_fail(error, KF_BAD_INPUT, "which suite? give --suite NAME; there are: %s", all.text)
        : nearest != NULL
            ? kf_fail(error, KF_BAD_INPUT, "--suite %s: no such suite; did you mean %s?", name, nearest)
            : kf_fail(error, KF_BAD_INPUT, "--suite %s: no such suite; there are: %s", name, all.text);
    kf_text_free(&all);
    free_names(&names);
    return status;
}

static kf_status find_file(const char *name, char path[KF_PATH], kf_error *error) {
    const char *data = NULL;
    if (strchr(name, '/') != NULL || strstr(name, ".json") != NULL) return kf_path(path, error, "%s", name);
    KF_TRY(kf_data_folder(&data, error));
    KF_TRY(kf_path(path, error, "%s/suites/%s.json", data, name));
    return access(path, F_OK) == 0 ? KF_OK : refuse(name, error);
}

/* Opens a suite by its name or file. Suites in code are found by name; all others are read from a file. */
kf_status kf_bench_suite_open(const char *name, kf_bench_suite *suite, kf_error *error) {
    char path[KF_PATH];
    if (name == NULL) return refuse(name, error);
    *suite = strcmp(name, kf_suite_scaling.name) == 0 ? kf_suite_scaling : kf_suite_search;
    if (strcmp(name, suite->name) == 0) return KF_OK;
    *suite = (kf_bench_suite){.summary = "", .promise = "", .run = kf_suite_run};
    KF_TRY(find_file(name, path, error));
    KF_TRY(kf_suite_file_read(path, &suite->file, error));
    const kf_json_place place = {suite->file->path, ""};
    const char *title = NULL;
    kf_status status = kf_json_string(place, suite->file->root, "suite", true, &title, error);
    if (status == KF_OK)
        status = kf_json_string(place, suite->file->root, "description", false, &suite->summary, error);
    if (status == KF_OK)
        status = kf_json_string(place, suite->file->root, "promise", false, &suite->promise, error);
    if (status == KF_OK)
        kf_copy_text(suite->name, sizeof suite->name, title);
    else
        kf_bench_suite_free(suite);
    return status;
}

void kf_bench_suite_free(kf_bench_suite *suite) {
    kf_suite_file_free(suite->file);
    suite->file = NULL;
}

void kf_bench_suites_print(void) {
    suite_names names;
    kf_error why;
    if (list_names(&names, &why) != KF_OK) kf_warn("%s", why.message);
    for (int i = 0; i < names.count; i++)
        printf("  %-16s%s\n", names.list[i], names.summaries[i]);
    free_names(&names);
}
