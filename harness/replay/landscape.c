#include "harness/replay/landscape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/replay/landscape_rows.h"
#include "harness/search/space_parts.h"
#include "harness/util/text.h"
#include "results/landscape_file.h"

void kf_landscape_row(kf_landscape_rows *rows, const kf_config *config, kf_state state, double time_us,
                      double seconds) {
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 256 : 2 * rows->capacity;
        rows->configs = kf_reallocate(rows->configs, rows->capacity * sizeof *rows->configs);
        rows->states = kf_reallocate(rows->states, rows->capacity * sizeof *rows->states);
        rows->times_us = kf_reallocate(rows->times_us, rows->capacity * sizeof *rows->times_us);
        rows->seconds = kf_reallocate(rows->seconds, rows->capacity * sizeof *rows->seconds);
    }
    rows->configs[rows->count] = *config;
    rows->states[rows->count] = state;
    rows->times_us[rows->count] = state == KF_STATE_OK ? time_us : NAN;
    rows->seconds[rows->count++] = seconds;
}

/* "a/convolution-A4000.t4.json.gz" -> "convolution-A4000" */
static void base_name(const char *file, char *name, size_t size) {
    const char *slash = strrchr(file, '/');
    kf_copy_text(name, size, slash != NULL ? slash + 1 : file);
    name[strcspn(name, ".")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') *c = '_';
}

static kf_status read_root(kf_landscape_rows *rows, const cJSON *root, kf_error *error) {
    if (cJSON_HasObjectItem(root, "kftune_landscape")) return kf_landscape_read_compact(rows, root, error);
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "cache")))
        return kf_landscape_read_cache(rows, root, error);
    if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "results")))
        return kf_landscape_read_t4(rows, root, error);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: is no landscape: neither a Kernel Tuner cache (\"cache\": {...}), nor T4 results "
                   "(\"results\": [...]), nor one that 'kftune store export --format landscape' wrote",
                   rows->file);
}

static kf_status add_presets(const kf_landscape_rows *rows, kf_space *space, kf_error *error) {
    for (int i = 0; i < rows->preset_count; i++)
        KF_TRY(
            kf_space_add_preset(space, rows->preset_names[i], &rows->configs[rows->preset_rows[i]], error));
    return KF_OK;
}

/* From rows in order of the file to arrays in order of the space. */
static kf_status arrange(const kf_landscape_rows *rows, kf_landscape *landscape, kf_error *error) {
    KF_TRY(kf_space_from_configs(rows->file, rows->configs, rows->count, &landscape->space, error));
    KF_TRY(add_presets(rows, landscape->space, error));
    landscape->size = kf_space_size(landscape->space);
    landscape->states = kf_allocate(landscape->size * sizeof *landscape->states);
    landscape->times_us = kf_allocate(landscape->size * sizeof *landscape->times_us);
    landscape->seconds = kf_allocate(landscape->size * sizeof *landscape->seconds);
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t index = 0;
        (void)kf_space_index(landscape->space, &rows->configs[i], &index, NULL, 0);
        landscape->states[index] = rows->states[i];
        landscape->times_us[index] = rows->times_us[i];
        landscape->seconds[index] = rows->seconds[i];
    }
    for (uint64_t i = 0; i < landscape->size; i++) {
        if (landscape->states[i] != KF_STATE_OK) continue;
        if (landscape->ok_count++ == 0 || landscape->times_us[i] < landscape->times_us[landscape->optimum])
            landscape->optimum = i;
    }
    if (landscape->ok_count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: holds no correct result; there is nothing to find", rows->file);
}

kf_status kf_landscape_open(const char *file, kf_landscape **landscape, kf_error *error) {
    cJSON *root = NULL;
    *landscape = NULL;
    KF_TRY(kf_landscape_file_read(file, &root, error));
    kf_landscape *made = kf_allocate_zeroed(1, sizeof *made);
    base_name(file, made->name, sizeof made->name);
    kf_landscape_rows rows = {.file = file, .landscape = made};
    kf_copy_text(rows.system, sizeof rows.system, "unknown");
    kf_status status = read_root(&rows, root, error);
    cJSON_Delete(root);
    if (status == KF_OK) status = arrange(&rows, made, error);
    free(rows.configs);
    free(rows.states);
    free(rows.times_us);
    free(rows.seconds);
    if (status == KF_OK)
        *landscape = made;
    else
        kf_landscape_free(made);
    return status;
}

void kf_landscape_free(kf_landscape *landscape) {
    if (landscape == NULL) return;
    kf_space_free(landscape->space);
    free(landscape->states);
    free(landscape->times_us);
    free(landscape->seconds);
    free(landscape);
}
