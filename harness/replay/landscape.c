#include "harness/replay/landscape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/text.h"
#include "harness/replay/landscape_rows.h"
#include "results/landscape_file.h"

void kf_landscape_add(kf_landscape_rows *rows, const kf_landscape_row *row) {
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 256 : 2 * rows->capacity;
        rows->list = kf_reallocate(rows->list, rows->capacity * sizeof *rows->list);
    }
    rows->list[rows->count] = *row;
    if (row->state != KF_STATE_OK) rows->list[rows->count].time_us = NAN;
    rows->count++;
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
        KF_TRY(kf_space_add_preset(space, rows->preset_names[i], &rows->list[rows->preset_rows[i]].config,
                                   error));
    return KF_OK;
}

static kf_status make_space(const kf_landscape_rows *rows, kf_landscape *landscape, kf_error *error) {
    kf_config *configs = kf_allocate(rows->count * sizeof *configs);
    for (size_t i = 0; i < rows->count; i++)
        configs[i] = rows->list[i].config;
    kf_status status = kf_space_from_configs(rows->file, configs, rows->count, &landscape->space, error);
    free(configs);
    return status == KF_OK ? add_presets(rows, landscape->space, error) : status;
}

/* The samples change their owner. */
static void take_row(kf_landscape *landscape, kf_landscape_row *row) {
    uint64_t index = 0;
    (void)kf_space_index(landscape->space, &row->config, &index, NULL, 0);
    landscape->states[index] = row->state;
    landscape->times_us[index] = row->time_us;
    landscape->seconds[index] = row->seconds;
    landscape->build_seconds[index] = row->build_seconds;
    free(landscape->samples_us[index]);
    landscape->samples_us[index] = row->samples_us;
    landscape->sample_counts[index] = row->sample_count;
    row->samples_us = NULL;
}

/* From rows in order of the file to arrays in order of the space. */
static kf_status arrange(const kf_landscape_rows *rows, kf_landscape *landscape, kf_error *error) {
    KF_TRY(make_space(rows, landscape, error));
    landscape->size = kf_space_size(landscape->space);
    landscape->states = kf_allocate(landscape->size * sizeof *landscape->states);
    landscape->times_us = kf_allocate(landscape->size * sizeof *landscape->times_us);
    landscape->seconds = kf_allocate(landscape->size * sizeof *landscape->seconds);
    landscape->build_seconds = kf_allocate(landscape->size * sizeof *landscape->build_seconds);
    landscape->samples_us = kf_allocate_zeroed(landscape->size, sizeof *landscape->samples_us);
    landscape->sample_counts = kf_allocate_zeroed(landscape->size, sizeof *landscape->sample_counts);
    for (size_t i = 0; i < rows->count; i++)
        take_row(landscape, &rows->list[i]);
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
    for (size_t i = 0; i < rows.count; i++)
        free(rows.list[i].samples_us);
    free(rows.list);
    if (status == KF_OK)
        *landscape = made;
    else
        kf_landscape_free(made);
    return status;
}

bool kf_landscape_has_samples(const kf_landscape *landscape) {
    return landscape->sample_counts[landscape->optimum] > 1;
}

double kf_landscape_observe(const kf_landscape *landscape, uint64_t index, double effort) {
    int all = landscape->sample_counts[index], count = (int)ceil(effort * all);
    if (count >= all) return landscape->times_us[index];
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)landscape->samples_us[index][i];
    return sum / count;
}

void kf_landscape_free(kf_landscape *landscape) {
    if (landscape == NULL) return;
    kf_space_free(landscape->space);
    free(landscape->states);
    free(landscape->times_us);
    free(landscape->seconds);
    free(landscape->build_seconds);
    for (uint64_t i = 0; landscape->samples_us != NULL && i < landscape->size; i++)
        free(landscape->samples_us[i]);
    free(landscape->samples_us);
    free(landscape->sample_counts);
    free(landscape);
}
