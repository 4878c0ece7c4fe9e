#include "results/landscape_file.h"

#include <stdlib.h>

#include "results/landscape_read.h"

static bool is_compact(const cJSON *root) {
    return cJSON_HasObjectItem(root, "kftune_landscape");
}

static kf_status identify(kf_landscape_file *file, kf_error *error) {
    if (is_compact(file->root)) return kf_compact_identify(file, error);
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(file->root, "cache")) ||
        cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(file->root, "results")))
        return kf_foreign_identify(file, error);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: is not a landscape: neither a Kernel Tuner cache (\"cache\": {...}), nor T4 results "
                   "(\"results\": [...]), nor one that 'kftune store export --format landscape' wrote",
                   file->path);
}

kf_status kf_landscape_file_open(const char *path, kf_landscape_file *file, kf_error *error) {
    *file = (kf_landscape_file){.path = path};
    kf_status status = kf_landscape_text_read(path, &file->root, error);
    if (status == KF_OK) status = identify(file, error);
    if (status != KF_OK) kf_landscape_file_close(file);
    return status;
}

void kf_landscape_file_close(kf_landscape_file *file) {
    cJSON_Delete(file->root);
    kf_facts_free(&file->facts);
    file->root = NULL;
}

kf_status kf_landscape_file_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                                  kf_error *error) {
    return is_compact(file->root) ? kf_compact_visit(file, visit, context, error)
                                  : kf_foreign_visit(file, visit, context, error);
}
